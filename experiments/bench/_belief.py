"""Exact infosets of dark chess along random games: how fast they move on, and what a cap costs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import games
from jaxsolve.game import State
from jaxsolve.public import Infoset, advance_infoset, start_infoset

LARGE = 1_000
"""Positions from which on a ply is timed: below, the dispatch of a program is most of its time."""


class Ply(NamedTuple):
    """One transition of a game as one player meets it."""

    state: State
    player: int
    action: int
    public: np.ndarray
    private: np.ndarray


class Rules(NamedTuple):
    """The rules, jitted for one game, and how many moves each of N positions leaves possible."""

    game: games.DarkChess
    step: Any
    look: Any
    legal: Any
    candidates: Any


def make_rules(game: games.DarkChess) -> Rules:
    """Returns them."""

    def candidates(states: State, player: int, private: jax.Array) -> jax.Array:
        words = jax.vmap(lambda s: game.possible_words(s, player, private))(states)
        return jax.lax.population_count(words).astype(jnp.int32).sum(-1)

    look, legal = jax.jit(game.observe), jax.jit(game.legal)
    return Rules(game, jax.jit(game.step), look, legal, jax.jit(candidates, static_argnums=1))


def random_game(rules: Rules, seed: int, plies: int) -> Iterator[Ply]:
    """Yields a game of uniform moves as White, for an even seed, or Black meets it."""
    rng, state, player = np.random.default_rng(seed), rules.game.init(), seed % 2
    for _ in range(plies):
        possible = np.flatnonzero(rules.legal(state))
        if not len(possible):
            return
        move = int(rng.choice(possible))
        own = int(rules.game.actor(state)) == player
        state = rules.step(state, jnp.int32(move))
        public, private = jax.device_get(rules.look(state))
        yield Ply(jax.device_get(state), player, move if own else -1, public, private[player])


def holds(infoset: Infoset, state: State) -> bool:
    """Returns whether a state is among those of an infoset."""
    same = np.ones(infoset.num_states, bool)
    for listed, true in zip(jax.tree.leaves(infoset.states), jax.tree.leaves(state), strict=True):
        equal = np.asarray(listed)[: infoset.num_states] == np.asarray(true)
        same &= equal.all(axis=tuple(range(1, equal.ndim)))
    return bool(same.any())


def speed(
    rules: Rules, seeds: list[int], plies: int, cap: int, *, least: int = LARGE
) -> dict[str, Any]:
    """Returns the row of plies with at least so many positions, each timed after a first call.

    A candidate is a move that the rules' filter leaves for the step and the comparison of views; on
    the player's own plies that is one move of each position, and those plies are not counted.
    """
    seconds, wall, candidates, positions, found, slowest = [], [], [], [], [], (0.0, 0, 0)
    for seed in seeds:
        infoset = start_infoset(rules.game)
        for ply in random_game(rules, seed, plies):
            given = (ply.player, ply.action, ply.public, ply.private)
            before = infoset
            infoset = advance_infoset(rules.game, before, *given, max_states=cap)
            if ply.action >= 0 or before.num_states < least:
                continue
            counts = rules.candidates(before.states, ply.player, ply.private)
            begun, began = time.process_time(), time.perf_counter()
            again = advance_infoset(rules.game, before, *given, max_states=cap)
            jax.block_until_ready(again.states)
            seconds.append(time.process_time() - begun)
            wall.append(time.perf_counter() - began)
            candidates.append(int(np.asarray(counts)[: before.num_states].sum()))
            positions.append(before.num_states)
            found.append(infoset.num_states)
            slowest = max(slowest, (seconds[-1], before.num_states, infoset.num_states))
    return {
        "what": "belief",
        "plies": len(seconds),
        "positions": sum(positions),
        "candidates": sum(candidates),
        "found": sum(found),
        "candidates_per_core_second": sum(candidates) / sum(seconds),
        "positions_per_core_second": sum(positions) / sum(seconds),
        "candidates_per_second": sum(candidates) / sum(wall),
        "candidates_per_position": sum(candidates) / sum(positions),
        "slowest_core_seconds": slowest[0],
        "slowest_before": slowest[1],
        "slowest_after": slowest[2],
    }


def followed(rules: Rules, seed: int, plies: int, cap: int) -> dict[str, Any]:
    """Returns what became of the true position along one game, with one cap.

    Raises:
        RuntimeError: an infoset that says that it is exact lacks the true position.
    """
    infoset, sizes, exact, kept = start_infoset(rules.game), [], 0, 0
    for ply in random_game(rules, seed, plies):
        given = (ply.player, ply.action, ply.public, ply.private)
        infoset = advance_infoset(rules.game, infoset, *given, max_states=cap, seed=seed)
        there = holds(infoset, ply.state)
        if infoset.exact and not there:
            raise RuntimeError(f"game {seed} has lost its position at ply {len(sizes)}.")
        sizes.append(infoset.num_states)
        exact, kept = exact + infoset.exact, kept + there
        if not infoset.num_states:
            break
    return {
        "game": seed,
        "cap": cap,
        "plies": len(sizes),
        "exact_plies": exact,
        "plies_with_true_position": kept,
        "median_positions": statistics.median(sizes),
        "most_positions": max(sizes),
        "nothing_left": infoset.num_states == 0,
    }
