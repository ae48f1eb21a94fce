"""Connect four of pgx with boards as planes, positions of games, and the exact solver."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import PgxGame, load_pgx
from jaxsolve.public import RulesModel, Worlds, made_model
from jaxsolve.types import Array

ROWS, COLUMNS = 6, 7
PLANES = (ROWS, COLUMNS, 3)
"""Stones of player 0 and of player 1, and who is to move."""


@dataclasses.dataclass(frozen=True)
class ConnectFour(PgxGame):
    """The rules of pgx with features that do not turn with the mover, as values of players do."""

    def public_features(self, state: Any) -> Array:
        """Returns float [6 * 7 * 3]; see `PLANES`."""
        with jax.enable_x64(False):
            seen = self.env.observe(state.inner).astype(float)
        second = (state.inner.current_player - self.first) % 2 == 1
        stones = jnp.where(second, seen[..., ::-1], seen)
        turn = jnp.broadcast_to(second, (ROWS, COLUMNS, 1)).astype(stones.dtype)
        return jnp.concatenate([stones, turn], -1).reshape(-1)


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
