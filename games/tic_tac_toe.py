"""Tic-tac-toe on a board of any size: the first to own a full line wins.

Player 0 (x) and player 1 (o) mark empty cells in turn. A line is `line` adjacent cells in a row, a
column or a diagonal. A full board without a line is a draw. Winning pays 1, losing -1, a draw 0.
Everything is public. Cells are numbered row by row.

Source: OpenSpiel `tic_tac_toe` (the defaults) and `mnk` (other boards: m columns, n rows, k in a
line).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import NOTHING, TERMINAL, Array

from ._params import name_of
from ._words import drawing

PLAYING, DRAW = -1, 2


class State(NamedTuple):
    """One world state.

    Attributes:
        board: int8 [cells], 1 + the player whose mark stands there, 0 where empty.
        last: int8 [], the cell marked last, -1 at the start.
        result: int8 [], PLAYING, the winner, or DRAW.
    """

    board: Array
    last: Array
    result: Array


@checked
@dataclasses.dataclass(frozen=True)
class TicTacToe:
    """Rules.

    Attributes:
        rows: rows of the board.
        columns: columns of the board.
        line: how many cells in a line win.
    """

    rows: Annotated[int, Range(1, 121)] = 3
    columns: Annotated[int, Range(1, 121)] = 3
    line: Annotated[int, Range(1, 121)] = 3

    def __post_init__(self) -> None:
        check_board(self.rows, self.columns, self.line)

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("tic_tac_toe", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """One per cell."""
        return self.rows * self.columns

    def init(self) -> State:
        """Returns the empty board."""
        board = jnp.zeros(self.num_actions, jnp.int8)
        return State(board=board, last=jnp.int8(-1), result=jnp.int8(PLAYING))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        turn = jnp.sum(state.board > 0) % 2
        return jnp.where(state.result == PLAYING, turn, TERMINAL).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [A]: the empty cells."""
        return (state.board == 0) & (state.result == PLAYING)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a mark."""
        player = self.actor(state)
        board = jnp.where(jnp.arange(self.num_actions) == action, player + 1, state.board)
        won = has_line(board == player + 1, winning_lines(self.rows, self.columns, self.line))
        result = jnp.where(won, player, jnp.where(jnp.all(board > 0), DRAW, PLAYING))
        return State(
            board=board.astype(jnp.int8),
            last=jnp.asarray(action, jnp.int8),
            result=result.astype(jnp.int8),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: the cell just marked; private [2, 0]."""
        return state.last.astype(jnp.int32)[None], jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]: 1 for the winner, -1 for the loser, zeros for a draw."""
        return result_utility(state.result)

    def public_features(self, state: State) -> Array:
        """Returns float [2 cells + 2]: the marks of each player, and whose turn it is."""
        turn = jnp.arange(2) == self.actor(state)
        return jnp.concatenate([state.board == 1, state.board == 2, turn]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the mark and its place, e.g. "x(0,2)"."""
        return "xo"[actor] + cell_name(action, self.columns)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns the place of the mark just made."""
        return cell_name(public[0], self.columns) if public[0] != NOTHING else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns the board."""
        cells = [int(public[0]) for _, public, _ in seen if public[0] != NOTHING]
        board = np.zeros(self.num_actions, int)
        board[cells] = 1 + np.arange(len(cells)) % 2
        return f"you are {'xo'[player]}\n{drawing(board.reshape(self.rows, self.columns))}"


def check_board(rows: int, columns: int, line: int) -> None:
    """Raises a ValueError where no line fits the board, or the board is too large."""
    if line > max(rows, columns):
        raise ValueError(f"a line of {line} does not fit on a board of {rows}x{columns} cells.")
    if rows * columns > 121:
        raise ValueError(f"the board must have at most 121 cells, not {rows}x{columns}.")


def winning_lines(rows: int, columns: int, line: int) -> np.ndarray:
    """Returns int [L, line]: the cells of every winning line."""
    lines = []
    for row, column in np.ndindex(rows, columns):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            cells = [(row + i * down, column + i * right) for i in range(line)]
            if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                lines.append([r * columns + c for r, c in cells])
    return np.array(lines)


def has_line(own: Array, lines: np.ndarray) -> Array:
    """Returns bool []: whether `own` (bool [cells]) holds all cells of one of the lines."""
    return jnp.any(jnp.all(own[lines], axis=-1))


def result_utility(result: Array) -> Array:
    """Returns float [2]: payoffs of a result (0 or 1: the winner; DRAW)."""
    first = jnp.where(result == DRAW, 0.0, 1.0 - 2.0 * result)
    return jnp.stack([first, -first])


def cell_name(cell: int, columns: int) -> str:
    """Returns "(row,column)"."""
    return f"({cell // columns},{cell % columns})"


ENTRY = Entry(
    make=TicTacToe,
    summary="three in a row, on boards of any size",
    references=(
        Reference(
            "",
            549946,
            (180361, 114417),
            0.0,
            "both players can force a draw",
            "tic_tac_toe",
            public_states=549946,
        ),
        Reference(
            "rows=3,columns=2",
            1885,
            (391, 774),
            0.0,
            "sequence-form LP",
            "mnk(m=2,n=3,k=3)",
            public_states=1885,
        ),
        Reference(
            "rows=2,columns=2,line=2",
            41,
            (13, 4),
            1.0,
            "any two marks win",
            "mnk(m=2,n=2,k=2)",
            public_states=41,
        ),
    ),
)
