"""Phantom tic-tac-toe: tic-tac-toe in which nobody sees the other's marks.

A player names a cell whose content they do not know. If the opponent's mark is there they learn so,
and name another one (`gameversion=classical`) or lose the turn (`abrupt`). In the classical game
the opponent does not notice such a try, unless `obstype=reveal-numturns`; in the abrupt game turns
alternate, so `obstype` changes nothing. Lines, draws and payoffs are those of `tic_tac_toe`.

The full board has far too many states to list; smaller ones are for exact work.

Source: OpenSpiel `phantom_ttt`, which has the full board only; infostates as there (a player's
own tries in order, and what came of each).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import Array

from ._hidden_board import HiddenBoard
from ._params import name_of
from .tic_tac_toe import check_board, has_line, winning_lines


@checked
@dataclasses.dataclass(frozen=True)
class PhantomTicTacToe(HiddenBoard):
    """Rules.

    Attributes:
        rows: rows of the board.
        columns: columns of the board.
        line: how many cells in a line win.
        gameversion: "classical" (a failed try keeps the turn) or "abrupt" (it loses the turn).
        obstype: "reveal-nothing", or "reveal-numturns" for an opponent who hears every try.
    """

    rows: Annotated[int, Range(1, 121)] = 3
    columns: Annotated[int, Range(1, 121)] = 3
    line: Annotated[int, Range(1, 121)] = 3
    gameversion: Literal["classical", "abrupt"] = "classical"
    obstype: Literal["reveal-nothing", "reveal-numturns"] = "reveal-nothing"

    def __post_init__(self) -> None:
        check_board(self.rows, self.columns, self.line)

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("phantom_ttt", self)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows, self.columns

    @property
    def classical(self) -> bool:
        """Whether a failed try keeps the turn."""
        return self.gameversion == "classical"

    @property
    def reveal_tries(self) -> bool:
        """Whether the opponent hears of a failed try that keeps the turn."""
        return self.obstype == "reveal-numturns"

    def wins(self, own: Array, player: Array) -> Array:
        """Returns bool []: whether `own` (bool [cells]) holds a line."""
        return has_line(own, winning_lines(self.rows, self.columns, self.line))


ENTRY = Entry(
    make=PhantomTicTacToe,
    summary="tic-tac-toe with unseen marks, classical or abrupt",
    references=(
        Reference(
            "rows=2,columns=3,line=2", 4405, (109, 117), 1.0, "sequence-form LP", public_states=8
        ),
        Reference("rows=1,columns=5", 12691, (406, 171), 0.0, "sequence-form LP", public_states=7),
        Reference(
            "rows=1,columns=5,gameversion=abrupt",
            16077,
            (988, 505),
            51 / 152,
            "sequence-form LP",
            public_states=19,
        ),
    ),
    instead="a smaller board",
)
