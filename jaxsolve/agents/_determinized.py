"""A baseline: every sampled position is searched as if it were seen, and the means are compared."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._beliefs import Mind, positions_of, with_beliefs
from jaxsolve.game import Agent, EvaluatesPositions, Game, State
from jaxsolve.public import ListedBits, words_of
from jaxsolve.search.knowledge import ValueFunction
from jaxsolve.types import TERMINAL, Array

ROOM = 8192
"""Positions that are made together."""


def determinized(
    game: Game,
    *,
    positions: int = 64,
    depth: int = 1,
    value_fn: ValueFunction | None = None,
    max_states: int = 50_000,
    opening: int = 0,
    name: str | None = None,
) -> Agent:
    """Returns an agent that takes the move with the best mean over sampled positions.

    In each position a move is worth what the position after it looks like (depth 1), or what it
    does after the reply that is best there (depth 2).

    Args:
        game: the rules, of two players and without a chance start.
        positions: sampled at each decision.
        depth: 1 or 2.
        value_fn: what leaves are worth; the game's own (`EvaluatesPositions`) by default.
        max_states: of the infoset that is followed exactly.
        opening: first moves that are random.
        name: for tables of results.

    Raises:
        ValueError: no such game, no values, or an argument out of range.
    """
    if depth not in (1, 2) or positions < 1:
        raise ValueError(f"depth={depth} must be 1 or 2, positions={positions} at least 1")
    rules = positions_of(game)
    if value_fn is None:
        if not isinstance(rules, EvaluatesPositions):
            raise ValueError(f"{game.name} has no values of positions; give value_fn")
        value_fn = rules.evaluate
    leaf = value_fn

    def worth(state: State) -> Array:
        over = jnp.asarray(rules.actor(state)) == TERMINAL
        return jnp.where(over, jnp.asarray(rules.utility(state), float)[0], leaf(state))

    @jax.jit
    def children(states: State, used: Array, first: Array) -> tuple[State, Array, Array, Array]:
        """Returns states that follow, who they follow, by which action, and how many there are."""
        legal = jax.vmap(rules.legal)(states) & used[:, None]
        listed = ListedBits.of(words_of(legal))
        which, action = listed.find(first + jnp.arange(ROOM, dtype=jnp.int32))
        before = jax.tree.map(lambda x: x[which], states)
        made = jax.vmap(rules.step)(before, action)
        return made, which, action, listed.total

    @jax.jit
    def values(states: State) -> tuple[Array, Array]:
        return jax.vmap(worth)(states), jax.vmap(rules.actor)(states)

    def replied(states: State, count: int, sign: float) -> np.ndarray:
        """Returns float [count], to player 0, after the best reply of who is to move."""
        best, over = (np.asarray(x)[:count] for x in values(states))
        best = best.copy()
        open_ = over != TERMINAL
        if not open_.any():
            return best
        best[open_] = sign * np.inf  # the one who replies wants the lowest of sign times it
        first, used = 0, jnp.asarray(np.resize(open_, ROOM) & (np.arange(ROOM) < count))
        while True:
            made, which, _, total = children(states, used, jnp.int32(first))
            size = min(int(total) - first, ROOM)
            worths = np.asarray(values(made)[0])[:size]
            lowest = np.minimum if sign > 0 else np.maximum
            lowest.at(best, np.asarray(which)[:size], worths)
            first += ROOM
            if first >= int(total):
                return best

    def choose(mind: Mind, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        states, sign = mind.drawn(positions, rng), 1.0 - 2.0 * mind.seat
        many = len(jax.tree.leaves(states)[0])
        states = jax.tree.map(lambda x: np.resize(x, (positions, *x.shape[1:])), states)
        total, times, first = np.zeros(rules.num_actions), np.zeros(rules.num_actions), 0
        while True:
            used = jnp.arange(positions) < many
            made, _, action, listed = children(states, used, jnp.int32(first))
            size = min(int(listed) - first, ROOM)
            found = replied(made, size, sign) if depth == 2 else np.asarray(values(made)[0])[:size]
            np.add.at(total, np.asarray(action)[:size], sign * found)
            np.add.at(times, np.asarray(action)[:size], 1)
            first += ROOM
            if first >= int(listed):
                break
        # Positions that were made up may lack a move.
        score = np.where(times > 0, total / np.maximum(times, 1), -np.inf)[legal]
        best = np.flatnonzero(score >= score.max() - 1e-9)
        return np.isin(np.arange(len(legal)), best) / len(best)

    return with_beliefs(
        game,
        choose,
        name=name or f"determinized-{depth}",
        max_states=max_states,
        opening=opening,
    )
