"""GT-CFR in games of perfect information: against minimax, and in matches against plain UCT."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import public, search
from jaxsolve.types import Array

BOARD = "tic_tac_toe"
SMALL = "tic_tac_toe(columns=2)"
PAPER = js.cfr_plus().simultaneous()

Agent = Callable[[Any, np.ndarray, Array], np.ndarray]
"""(worlds, classes [B], key) -> place [B] of an action among the legal ones."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Known:
    """A value function that is a table: payoffs to player 0 by class."""

    payoff: Array  # [K]

    def __call__(self, subgame_class: Array, beliefs: Array) -> Array:
        first = self.payoff[subgame_class]
        return jnp.stack([first, -first], -1)[..., None]


@functools.cache
def table(name: str) -> public.PublicTable:
    return public.public_table(games.load(name))


def uniform_play(name: str) -> Known:
    """What everybody gets who goes on at random: the mean of all playouts."""
    return Known(jnp.asarray(table(name).uniform_payoffs()[:, 0, 0, 0], jnp.float32))


def untrained(name: str) -> Known:
    """Values that mean nothing, as a network's before training."""
    return Known(jax.random.uniform(jax.random.key(5), (table(name).num_classes,), minval=-1))


@functools.cache
def minimax(name: str) -> np.ndarray:
    """float [K, A], what each action is worth to whoever acts, if all goes on perfectly."""
    rows = table(name).transitions
    worth = np.full(rows.legal.shape[:2], -np.inf)
    value = np.zeros(len(worth))  # to player 0
    for k in np.argsort(rows.size, kind="stable"):
        sign = 1 - 2 * rows.actor[k]
        for place in np.flatnonzero(rows.legal[k, :, 0]):
            below = follow(name, k, place)
            worth[k, place] = sign * (value[below] if below >= 0 else rows.payoff[k, place].sum())
        value[k] = sign * worth[k].max()
    return worth


def follow(name: str, subgame_class: int, place: int) -> int:
    """The subgame_class after an action, -1 if it ends the game."""
    rows = table(name).transitions
    child = int(rows.child_of_action[subgame_class, place, 0, 0]) // rows.num_hands
    return int(rows.child[subgame_class, child]) if child < rows.num_children else -1


@functools.cache
def grower(name: str) -> Callable[..., Array]:
    """One program for all numbers of simulations."""
    room = search.growing_search(table(name), PAPER, simulations=320, top=1).capacity

    def policies(options: Any, value: Known, classes: Array, key: Array) -> Array:
        def one(subgame_class: Array, key: Array) -> Array:
            found = search.gt_cfr(options, value, subgame_class, jnp.ones((2, 1)), key)
            return found.policy[:, 0]

        return jax.vmap(one)(classes, jax.random.split(key, len(classes)))

    run = jax.jit(policies)

    def call(value: Known, classes: np.ndarray, key: Array, simulations: int) -> Array:
        options = search.growing_search(
            table(name), PAPER, simulations=simulations, top=1, capacity=room
        )
        return run(options, value, jnp.asarray(classes), key)

    return call


def losses(name: str, simulations: int, count: int) -> tuple[float, float]:
    """Mean loss against perfect play of the policy and of its best action, where one can lose."""
    worth = minimax(name)
    legal = np.isfinite(worth)
    best, least = worth.max(1), np.where(legal, worth, np.inf).min(1)
    classes = np.flatnonzero(best > least)
    classes = np.random.default_rng(0).permutation(classes)[:count]
    policy = np.asarray(grower(name)(uniform_play(name), classes, jax.random.key(1), simulations))
    gained = (policy * np.where(legal, worth, 0)[classes]).sum(1)
    greedy = worth[classes, policy.argmax(1)]
    return float((best[classes] - gained).mean()), float((best[classes] - greedy).mean())


@pytest.mark.slow  # seconds of compiling
def test_comes_to_perfect_play_on_a_small_board():
    few, _ = losses(SMALL, 5, 40)
    many, greedy = losses(SMALL, 300, 40)
    assert few > 0.02
    assert many < 0.001
    assert greedy == 0
    keys = (jax.random.key(4) for _ in range(2))
    a, b = (grower(SMALL)(untrained(SMALL), np.arange(20), key, 20) for key in keys)
    np.testing.assert_array_equal(a, b)


@pytest.mark.slow  # a minute to list the public states
@pytest.mark.timeout(900)
def test_more_simulations_lose_less():
    found = {s: losses(BOARD, s, 200) for s in (20, 80, 320)}
    assert found[20][0] > 1.5 * found[80][0] > 3 * found[320][0]
    assert found[320][0] < 0.02
    assert found[320][1] < 0.01


@pytest.mark.slow  # a minute to list the public states
@pytest.mark.timeout(900)
@pytest.mark.parametrize("value", [uniform_play, untrained])
def test_beats_plain_uct(value: Callable[[str], Known]):
    """Of equal simulations; UCT's constant makes no difference between 0.3 and 2."""
    count, pairs = 20, 100
    net = value(BOARD)

    def growing(worlds: Any, classes: np.ndarray, key: Array) -> np.ndarray:
        return np.asarray(grower(BOARD)(net, classes, key, count)).argmax(1)

    scores = match((growing, uct(BOARD, count, 1.0)), pairs, seed=1)
    error = scores.std(ddof=1) / np.sqrt(pairs)
    assert scores.mean() - 1.96 * error > 0


def uct(name: str, count: int, uct_c: float) -> Agent:
    """Plain UCT with one random playout a simulation; `test_ismcts` holds it to a slow one."""
    game = games.load(name)

    def one(world: Any, key: Array) -> Array:
        root, _ = search.ismcts(
            game, search.certain(world), key, simulations=count, uct_c=uct_c, max_steps=9
        )
        # Places count legal actions; a search at the end of a game is not looked at.
        return (jnp.cumsum(root.legal) - 1)[jnp.argmax(root.policy("max_visits"))]

    run = jax.jit(jax.vmap(one))
    return lambda worlds, classes, key: np.asarray(run(worlds, jax.random.split(key, len(classes))))


def match(agents: tuple[Agent, Agent], pairs: int, seed: int) -> np.ndarray:
    """Mean payoff [pairs] of the first agent in both seats, after one random move."""
    game = games.load(BOARD)
    after = jax.jit(jax.vmap(lambda world, action: search.next_world(game, world, action)))
    look = jax.jit(jax.vmap(lambda w: (game.legal(w.state), game.utility(w.state))))
    opening = np.random.default_rng(seed).integers(0, 9, pairs)
    payoffs = np.zeros((2, pairs))
    for seat in (0, 1):
        worlds = jax.tree.map(
            lambda x: jnp.broadcast_to(x, (pairs, *x.shape)), search.first_world(game)
        )
        classes, playing = np.zeros(pairs, int), np.ones(pairs, bool)
        for turn in range(9):
            legal, _ = map(np.asarray, look(worlds))
            place = opening
            if turn:
                key = jax.random.fold_in(jax.random.key(seed), 9 * seat + turn)
                place = agents[(turn + seat) % 2](worlds, np.maximum(classes, 0), key)
            cells = [
                np.flatnonzero(ok)[k] if ok.any() else 0 for ok, k in zip(legal, place, strict=True)
            ]
            moved = after(worlds, jnp.asarray(cells, jnp.int32))
            classes = np.array(
                [
                    follow(BOARD, *x) if on else -1
                    for *x, on in zip(classes, place, playing, strict=True)
                ]
            )
            worlds = jax.tree.map(
                lambda x, y, on=playing: jnp.where(on.reshape(-1, *[1] * (x.ndim - 1)), x, y),
                moved,
                worlds,
            )
            playing = classes >= 0
        payoffs[seat] = np.asarray(look(worlds)[1])[:, seat]
    return payoffs.mean(0)
