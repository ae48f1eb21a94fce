"""Dark hex: Hex in which nobody sees the other's stones.

Player 0 (x) connects the top and the bottom of a board of hexagons, player 1 (o) the left and the
right. Cell (row, column) touches its neighbours in the row and the column, (row - 1, column + 1)
and (row + 1, column - 1). A player names a cell whose content they do not know. If the opponent's
stone is there they learn so, and name another one (`gameversion=cdh`, classical) or lose the turn
(`adh`, abrupt). In the classical game the opponent does not notice such a try, unless
`obstype=reveal-numturns`; in the abrupt game turns alternate, so `obstype` changes nothing. The
connection wins 1, the other player loses 1; there are no draws.

Source: OpenSpiel `dark_hex`. Differs from it in the classical game with `reveal-nothing`: OpenSpiel
puts the number of moves into the infostate, and so tells both players how many tries failed (and,
as it shows only the latest count, loses perfect recall on boards larger than 2x2). Here the failed
tries stay hidden. With `reveal-numturns`, and in the abrupt game, both agree.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import Array

from ._hidden_board import HiddenBoard
from ._params import name_of

NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))


@checked
@dataclasses.dataclass(frozen=True)
class DarkHex(HiddenBoard):
    """Rules.

    Attributes:
        board_size: rows and columns of the board, where the next two do not say otherwise.
        num_rows: rows of the board.
        num_cols: columns of the board.
        gameversion: "cdh" (a failed try keeps the turn) or "adh" (it loses the turn).
        obstype: "reveal-nothing", or "reveal-numturns" for an opponent who hears every try.
    """

    board_size: Annotated[int, Range(2, 11)] = 3
    num_rows: Annotated[int | None, Range(2, 60)] = None
    num_cols: Annotated[int | None, Range(2, 60)] = None
    gameversion: Literal["cdh", "adh"] = "cdh"
    obstype: Literal["reveal-nothing", "reveal-numturns"] = "reveal-nothing"

    def __post_init__(self) -> None:
        if self.num_actions > 121:
            rows, columns = self.shape
            raise ValueError(f"the board must have at most 121 cells, not {rows}x{columns}.")

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("dark_hex", self)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        rows = self.board_size if self.num_rows is None else self.num_rows
        return rows, self.board_size if self.num_cols is None else self.num_cols

    @property
    def classical(self) -> bool:
        """Whether a failed try keeps the turn."""
        return self.gameversion == "cdh"

    @property
    def reveal_tries(self) -> bool:
        """Whether the opponent hears of a failed try that keeps the turn."""
        return self.obstype == "reveal-numturns"

    def wins(self, own: Array, player: Array) -> Array:
        """Returns bool []: whether `own` (bool [cells]) connects the two sides of `player`."""
        row, column = np.indices(self.shape).reshape(2, -1)
        last_row, last_column = self.shape[0] - 1, self.shape[1] - 1
        start = jnp.where(player == 0, row == 0, column == 0)
        goal = jnp.where(player == 0, row == last_row, column == last_column)
        apart = np.stack([row - row[:, None], column - column[:, None]], axis=-1)
        touching = np.any([np.all(apart == way, axis=-1) for way in NEIGHBOURS], axis=0)

        def grow(_: Array, reached: Array) -> Array:
            return own & (reached | jnp.any(touching & reached, axis=-1))

        # A connection visits no cell twice, so this many steps reach all that can be reached.
        reached = jax.lax.fori_loop(0, self.num_actions - 1, grow, own & start)
        return jnp.any(reached & goal)


ENTRY = Entry(
    make=DarkHex,
    summary="Hex with unseen stones, classical or abrupt",
    references=(
        Reference(
            "board_size=2,gameversion=adh",
            471,
            (59, 35),
            0.5,
            "sizes: Zhang and Sandholm 2021, table 2; sequence-form LP",
            "dark_hex(board_size=2,gameversion=adh)",
            public_states=12,
        ),
        Reference("board_size=2", 441, (17, 53), 1.0, "sequence-form LP", public_states=6),
        Reference(
            "board_size=2,obstype=reveal-numturns",
            441,
            (33, 101),
            1.0,
            "sequence-form LP",
            "dark_hex(board_size=2,gameversion=cdh,obstype=reveal-numturns)",
            public_states=31,
        ),
    ),
    instead="a smaller board",
)
