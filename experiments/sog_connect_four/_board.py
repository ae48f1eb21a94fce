"""Connect four of pgx with boards as planes, positions of games, and the exact solver."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import PgxGame, load_pgx
from jaxsolve.public import RulesModel, Worlds, made_model
from jaxsolve.types import Array

ROWS, COLUMNS = 6, 7
PLANES = (ROWS, COLUMNS, 7)
"""Stones of player 0 and of player 1; empty squares where a stone would be the fourth of either;
squares that can be filled next; every second row; who is to move."""

WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Directions of four in a row."""


@dataclasses.dataclass(frozen=True)
class ConnectFour(PgxGame):
    """The rules of pgx with features that do not turn with the mover, as values of players do."""

    def public_features(self, state: Any) -> Array:
        """Returns float [6 * 7 * 7]; see `PLANES`."""
        with jax.enable_x64(False):
            seen = self.env.observe(state.inner).astype(float)
        second = (state.inner.current_player - self.first) % 2 == 1
        stones = jnp.where(second, seen[..., ::-1], seen)
        empty = 1 - stones.sum(-1, keepdims=True)
        under = jnp.concatenate([empty[1:], jnp.zeros_like(empty[:1])])
        every_second = jnp.broadcast_to((jnp.arange(ROWS) % 2)[:, None, None], empty.shape)
        turn = jnp.broadcast_to(second, empty.shape)
        planes = (stones, fourths(stones), empty * (1 - under), every_second, turn)
        return jnp.concatenate(planes, -1, dtype=stones.dtype).reshape(-1)


def fourths(stones: Array) -> Array:
    """Returns float [6, 7, 2], 1 at empty squares that would complete four of a player.

    Args:
        stones: float [6, 7, 2], 1 where a player has one.
    """
    lines = _lines()
    flat = stones.reshape(-1, 2)
    count = lines @ flat
    three = (count == 3) & (count[:, ::-1] == 0)
    found: Array = (lines.T @ three.astype(flat.dtype) > 0) & (flat.sum(-1, keepdims=True) == 0)
    return found.reshape(stones.shape).astype(stones.dtype)


@functools.cache
def _lines() -> np.ndarray:
    """Returns float32 [69, 42], the squares of each four in a row."""
    out = []
    for row, column, (down, right) in itertools.product(range(ROWS), range(COLUMNS), WAYS):
        squares = [(row + k * down, column + k * right) for k in range(4)]
        if all(0 <= i < ROWS and 0 <= j < COLUMNS for i, j in squares):
            line = np.zeros((ROWS, COLUMNS), np.float32)
            line[tuple(zip(*squares, strict=True))] = 1
            out.append(line.reshape(-1))
    return np.stack(out)


@functools.cache
def connect_four() -> ConnectFour:
    """Returns the game."""
    game = load_pgx("connect_four")
    return ConnectFour(**{f.name: getattr(game, f.name) for f in dataclasses.fields(game)})


@functools.cache
def board_model() -> tuple[RulesModel, Worlds]:
    """Returns the public states of connect four, and the first one."""
    return made_model(connect_four())


def root_of(state: Any) -> Worlds:
    """Returns a position as a public state."""
    one = jax.tree.map(lambda x: jnp.asarray(x)[None], state)
    return Worlds(one, jnp.ones(1), jnp.zeros((1, 2), jnp.int32))


@functools.partial(jax.jit, static_argnames="plies")
def replay(moves: Array, *, plies: int = ROWS * COLUMNS) -> Any:
    """Returns the state after moves (int32 [plies], -1 after the last)."""
    game = connect_four()

    def one(state: Any, move: Array) -> tuple[Any, None]:
        after = game.step(state, jnp.maximum(move, 0))
        keep = functools.partial(jnp.where, move >= 0)
        return jax.tree.map(keep, after, state), None

    return jax.lax.scan(one, game.init(), moves, length=plies)[0]


def cut(games: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns one position of each game, int32 [G, 42] of moves: any before the last move.

    Args:
        games: int32 [G, 42], moves, -1 after the last.
        rng: draws how many moves are left.
    """
    lengths = (games >= 0).sum(1)
    kept = rng.integers(0, lengths)
    return np.where(np.arange(games.shape[1]) < kept[:, None], games, -1)


def exact_values(positions: np.ndarray) -> np.ndarray:
    """Returns int8 [P, 7], the value of each move to the mover, 1, 0 or -1; 9 where not legal.

    Args:
        positions: int32 [P, 42], moves that led there, -1 after the last.

    Raises:
        ImportError: the solver is not installed; says how to install it.
    """
    try:
        from bitbully import BitBully, Board
    except ImportError as error:
        raise ImportError(
            f"positions are judged by BitBully ({error}): pip install bitbully bitbully-databases"
        ) from None
    solver = BitBully()
    out = np.full((len(positions), COLUMNS), 9, np.int8)
    for row, moves in zip(out, positions, strict=True):
        board = Board([int(m) for m in moves if m >= 0])
        for column, score in solver.score_all_moves(board).items():
            row[column] = np.sign(score)
    return out
