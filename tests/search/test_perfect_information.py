"""GT-CFR in games of perfect information: against minimax, and in matches against plain UCT.

Trees grow from the rules. A table of all histories of tic-tac-toe would take gigabytes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from games.tic_tac_toe import PLAYING, State, winning_lines
from jaxsolve import public, search
from jaxsolve.types import Array, pytree

PAPER = js.cfr_plus().simultaneous()

Agent = Callable[[Any, Array], np.ndarray]
"""(worlds, key) -> place [B] of an action among the legal ones."""


class Board(games.TicTacToe):
    """Tic-tac-toe that describes its public states: marks by cell."""

    def public_features(self, state: State) -> Array:
        return state.board.astype(float)


WHOLE, SMALL = Board(), Board(columns=2)


class Position(NamedTuple):
    """Payoffs to player 0 from a position: by uniform play, and after each action by minimax."""

    uniform: float
    perfect: tuple[float, ...]


@functools.cache
def positions(game: Board) -> dict[tuple[int, ...], Position]:
    """Every position that somebody moves in, by plain recursion."""
    lines = winning_lines(game.rows, game.columns, game.line)
    found: dict[tuple[int, ...], Position] = {}

    def visit(board: tuple[int, ...]) -> None:
        turn = sum(cell > 0 for cell in board) % 2
        uniform, perfect = [], []
        for cell in (k for k, mark in enumerate(board) if not mark):
            after = (*board[:cell], turn + 1, *board[cell + 1 :])
            if any(all(after[k] == turn + 1 for k in line) for line in lines):
                below = Position(1 - 2 * turn, (1 - 2 * turn,))
            elif all(after):
                below = Position(0, (0,))
            else:
                if after not in found:
                    visit(after)
                below = found[after]
            uniform.append(below.uniform)
            # Below, the other player chooses.
            perfect.append(min(below.perfect) if turn == 0 else max(below.perfect))
        found[board] = Position(float(np.mean(uniform)), tuple(perfect))

    visit((0,) * game.num_actions)
    return found


def states(boards: np.ndarray) -> State:
    """World states [B] of boards [B, cells] in which nobody has won."""
    count = len(boards)
    return State(
        jnp.asarray(boards, jnp.int8),
        jnp.full(count, -1, jnp.int8),
        jnp.full(count, PLAYING, jnp.int8),
    )


@pytree
@dataclasses.dataclass(frozen=True)
class Known:
    """A value function that is a table: payoffs to player 0 by board, read in base 3."""

    payoff: Array

    def __call__(self, state: public.PublicState, beliefs: Array) -> Array:
        code = state.features.astype(jnp.int32) @ 3 ** jnp.arange(state.features.shape[-1])
        first = self.payoff[code]
        return jnp.stack([first, -first], -1)[..., None]


def uniform_play(game: Board) -> Known:
    """What everybody gets who goes on at random: the mean of all playouts."""
    payoff = np.zeros(3**game.num_actions, np.float32)
    for board, position in positions(game).items():
        payoff[np.array(board) @ 3 ** np.arange(game.num_actions)] = position.uniform
    return Known(jnp.asarray(payoff))


def untrained(game: Board) -> Known:
    """Values that mean nothing, as a network's before training."""
    return Known(jax.random.uniform(jax.random.key(5), (3**game.num_actions,), minval=-1))


@functools.cache
def grower(game: Board) -> Callable[..., Array]:
    """One program for all numbers of simulations."""
    cells = game.num_actions
    model, _ = public.rules_model(game, depth=cells, worlds=1, hands=1, children=cells)
    room = search.growing_search(model, PAPER, simulations=320, top=1).capacity

    def policies(options: Any, value: Known, states: State, key: Array) -> Array:
        def one(state: State, key: Array) -> Array:
            alone = jax.tree.map(lambda x: x[None], state)
            root = public.Worlds(alone, jnp.ones(1), jnp.zeros((1, 2), jnp.int32))
            found = search.gt_cfr(options, value, root, jnp.ones((2, 1)), key)
            return jnp.where(found.status == 0, found.policy[:, 0], jnp.nan)

        return jax.vmap(one)(states, jax.random.split(key, len(states.last)))

    run = jax.jit(policies)

    def call(value: Known, states: State, key: Array, simulations: int) -> Array:
        options = search.growing_search(model, PAPER, simulations=simulations, top=1, capacity=room)
        return run(options, value, states, key)

    return call


def losses(game: Board, simulations: int, count: int) -> tuple[float, float]:
    """Mean loss against perfect play of the policy and of its best action, where one can lose."""
    open_ = {b: p.perfect for b, p in positions(game).items() if len(set(p.perfect)) > 1}
    boards = np.random.default_rng(0).permutation(np.array(list(open_)))[:count]
    value = uniform_play(game)
    found = np.asarray(grower(game)(value, states(boards), jax.random.key(1), simulations))
    assert np.isfinite(found).all()
    mean, greedy = [], []
    for board, policy in zip(boards, found, strict=True):
        worth = np.array(open_[tuple(board.tolist())]) * (1 - 2 * ((board > 0).sum() % 2))
        policy = policy[: len(worth)]
        mean.append(worth.max() - policy @ worth)
        greedy.append(worth.max() - worth[policy.argmax()])
    return float(np.mean(mean)), float(np.mean(greedy))


@pytest.mark.long  # seconds of compiling
def test_comes_to_perfect_play_on_a_small_board():
    few, _ = losses(SMALL, 5, 40)
    many, greedy = losses(SMALL, 300, 40)
    assert few > 0.02
    assert many < 0.001
    assert greedy == 0
    some = states(np.array(list(positions(SMALL))[:40]))
    keys = (jax.random.key(4) for _ in range(2))
    a, b = (grower(SMALL)(untrained(SMALL), some, key, 20) for key in keys)
    np.testing.assert_array_equal(a, b)


@pytest.mark.long  # minutes of simulations
@pytest.mark.timeout(900)
def test_more_simulations_lose_less():
    found = {s: losses(WHOLE, s, 200) for s in (20, 80, 320)}
    assert found[20][0] > 1.5 * found[80][0] > 3 * found[320][0]
    assert found[320][0] < 0.02
    assert found[320][1] < 0.01


@pytest.mark.slow  # hundreds of games
@pytest.mark.timeout(900)
@pytest.mark.parametrize("value", [uniform_play, untrained])
def test_beats_plain_uct(value: Callable[[Board], Known]):
    """Of equal simulations; UCT's constant makes no difference between 0.3 and 2."""
    count, pairs = 20, 100
    net = value(WHOLE)

    def growing(worlds: Any, key: Array) -> np.ndarray:
        return np.asarray(grower(WHOLE)(net, worlds.state, key, count)).argmax(1)

    scores = match((growing, uct(WHOLE, count, 1.0)), pairs, seed=1)
    error = scores.std(ddof=1) / np.sqrt(pairs)
    assert scores.mean() - 1.96 * error > 0


def uct(game: Board, count: int, uct_c: float) -> Agent:
    """Plain UCT with one random playout a simulation; `test_ismcts` holds it to a slow one."""

    def one(world: Any, key: Array) -> Array:
        root, _ = search.ismcts(
            game, search.certain(world), key, simulations=count, uct_c=uct_c, max_steps=9
        )
        # Places count legal actions; a search at the end of a game is not looked at.
        return (jnp.cumsum(root.legal) - 1)[jnp.argmax(root.policy("max_visits"))]

    run = jax.jit(jax.vmap(one))
    return lambda worlds, key: np.asarray(
        run(worlds, jax.random.split(key, len(worlds.state.last)))
    )


def match(agents: tuple[Agent, Agent], pairs: int, seed: int) -> np.ndarray:
    """Mean payoff [pairs] of the first agent in both seats, after one random move."""
    after = jax.jit(jax.vmap(lambda world, action: search.next_world(WHOLE, world, action)))
    look = jax.jit(jax.vmap(lambda w: (WHOLE.legal(w.state), WHOLE.utility(w.state))))
    opening = np.random.default_rng(seed).integers(0, 9, pairs)
    payoffs = np.zeros((2, pairs))
    for seat in (0, 1):
        worlds = jax.tree.map(
            lambda x: jnp.broadcast_to(x, (pairs, *x.shape)), search.first_world(WHOLE)
        )
        for turn in range(9):
            legal = np.asarray(look(worlds)[0])
            playing, place = legal.any(1), opening
            if turn:
                key = jax.random.fold_in(jax.random.key(seed), 9 * seat + turn)
                place = agents[(turn + seat) % 2](worlds, key)
            cells = [
                np.flatnonzero(ok)[k] if ok.any() else 0 for ok, k in zip(legal, place, strict=True)
            ]
            moved = after(worlds, jnp.asarray(cells, jnp.int32))
            worlds = jax.tree.map(
                lambda x, y, on=playing: jnp.where(on.reshape(-1, *[1] * (x.ndim - 1)), x, y),
                moved,
                worlds,
            )
        payoffs[seat] = np.asarray(look(worlds)[1])[:, seat]
    return payoffs.mean(0)
