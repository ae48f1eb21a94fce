"""What a chess program thinks of the leaves of a search, asked over UCI.

The program knows open chess, where nobody leaves a king in check: positions without a king, and
those in which the side to move can take one, are never shown to it.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._engine import UciEngine
from jaxsolve.game import State
from jaxsolve.types import TERMINAL, Array

SCALE = 6.0
"""Pawns that are worth tanh 1."""

SURE = 0.999
"""What a king that can be taken now is worth."""

REMEMBERED = 1 << 18
"""Positions whose values are kept."""


@runtime_checkable
class PlaysChess(Protocol):
    """Rules of chess that write their positions as FEN."""

    @property
    def board_size(self) -> int:
        """Ranks and files."""
        ...

    def actor(self, state: State) -> Array:
        """Returns int32 [], who moves."""
        ...

    def can_take_king(self, state: State) -> Array:
        """Returns bool [], whether the side to move can take the other's king."""
        ...

    def fen_of(self, state: State) -> str:
        """Returns the FEN of a state with NumPy leaves."""
        ...


class EngineValues:
    """A value function of states, tanh of the program's pawns by 6; hand it to an agent.

    Batches of leaves leave the device and are asked one by one, each position once. A program does
    some thousands a second, a hundredth of what `game.evaluate` does.

    Args:
        game: chess on 8 x 8.
        command: that starts the program.
        limit: of a position, in words of "go".
        options: "setoption" names and values.
        seconds: until an answer must be there.

    Raises:
        ValueError: the rules are not of chess on 8 x 8, the command cannot be started, or what it
            starts does not speak UCI.
    """

    def __init__(
        self,
        game: object,
        command: str,
        *,
        limit: str = "depth 1",
        options: dict[str, object] | None = None,
        seconds: float = 10.0,
    ):
        if not isinstance(game, PlaysChess) or game.board_size != 8:
            raise ValueError(f"{game}: chess programs value positions of chess on 8 x 8")
        self.game = game
        self.engine = UciEngine(command, options=options or {}, limit=limit, seconds=seconds)
        self._known: dict[str, float] = {}
        self.close = weakref.finalize(self, self.engine.close)

    def __call__(self, state: State) -> Array:
        """Returns float [], what a state is worth to White; 0 where the game is over."""
        over = self.game.actor(state) == TERMINAL
        mover = 1.0 - 2.0 * jnp.asarray(self.game.actor(state), float)
        taken = self.game.can_take_king(state)
        shape = jax.ShapeDtypeStruct((), jnp.zeros(()).dtype)
        asked = jax.pure_callback(
            self._ask, shape, state, ~over & ~taken, vmap_method="broadcast_all"
        )
        return jnp.where(over, 0.0, jnp.where(taken, SURE * mover, asked))

    def _ask(self, states: Any, wanted: Any) -> np.ndarray:
        """Returns float [...], what positions are worth to White, 0 where none is wanted."""
        wanted = np.asarray(wanted)
        leaves = jax.tree.map(np.asarray, states)
        out = np.zeros(wanted.shape, jnp.zeros(()).dtype)
        for place in zip(*np.nonzero(np.atleast_1d(wanted)), strict=True):
            place = place if wanted.ndim else ()
            one = jax.tree.map(lambda x, place=place: x[place], leaves)
            out[place] = self._worth(self.game.fen_of(one))
        return out

    def _worth(self, fen: str) -> float:
        if fen not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            board, side = fen.split()[:2]
            # Places of a batch that hold no position of the game are not shown to the program.
            ends = board.split("/")[0] + board.split("/")[-1]
            real = board.count("K") == board.count("k") == 1 and "p" not in ends.lower()
            pawns = self.engine.pawns(fen) if real else 0.0
            worth = np.tanh(pawns / SCALE) * (1 if side == "w" else -1)
            self._known[fen] = float(np.clip(worth, -SURE, SURE))
        return self._known[fen]
