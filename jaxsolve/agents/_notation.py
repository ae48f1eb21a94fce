"""Moves of pgx's chess and Go in the words of UCI and GTP, and games as PGN and SGF.

Chess actions are numbered as in AlphaZero, from the mover's side: 73 planes for each square, of
which the first nine are promotions to rook, bishop and knight. Go actions are points row by row
from the top, then the pass.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

PIECES = "PNBRQK"


class Notation(Protocol):
    """The words of a game's moves."""

    def words(self, state: Any, legal: np.ndarray) -> dict[str, int]:
        """Returns {word: action} of the legal moves of a state."""
        ...

    def find(self, state: Any, words: dict[str, int], move: str) -> str | None:
        """Returns the word of a legal move that PGN or SGF writes so, None if there is none."""
        ...

    def record(self, names: tuple[str, str], game: Sequence[str], result: str, why: str) -> str:
        """Returns a game as text, PGN or SGF."""
        ...


@functools.cache
def _squares() -> tuple[np.ndarray, np.ndarray]:
    """Returns (to square [64, 73], -1 off the board; piece promoted to, "" for none) of actions."""
    to = np.full((64, 73), -1)
    under = np.full((64, 73), "", dtype="<U1")
    steps = _steps()
    for a in range(64):
        row, column = a % 8, a // 8
        for plane in range(73):
            if plane < 9:
                if row != 6:
                    continue
                r, c = 7, column + (0, 1, -1)[plane % 3]
                under[a, plane] = "rbn"[plane // 3]
            else:
                dr, dc = steps[plane - 9]
                r, c = row + dr, column + dc
            if 0 <= r < 8 and 0 <= c < 8:
                to[a, plane] = c * 8 + r
    return to, under


def _steps() -> list[tuple[int, int]]:
    """Returns (rows, columns) of planes 9 to 72: queens' moves, then knights'."""
    back, on = list(range(-7, 0)), list(range(1, 8))
    rows = [*back, *on, *[0] * 14, *back, *on, *on[::-1], *back[::-1]]
    columns = [*[0] * 14, *back, *on, *back, *on, *back, *on]
    rows += [-1, 1, -2, 2] * 2
    columns += [-2, -2, -1, -1, 2, 2, 1, 1]
    return list(zip(rows, columns, strict=True))


class ChessNotation:
    """Moves of `pgx:chess` as UCI writes them."""

    def words(self, state: Any, legal: np.ndarray) -> dict[str, int]:
        """Returns {word: action}; see `Notation`."""
        to, under = _squares()
        board, black = np.asarray(state.inner._x.board), int(state.inner._x.color) == 1
        out = {}
        for action in np.flatnonzero(legal):
            a, plane = divmod(int(action), 73)
            b, piece = int(to[a, plane]), str(under[a, plane])
            if not piece and board[a] == 1 and b % 8 == 7:
                piece = "q"
            out[_square(a, black) + _square(b, black) + piece] = int(action)
        return out

    def find(self, state: Any, words: dict[str, int], move: str) -> str | None:
        """Returns the word of a move; see `Notation`."""
        plain = move.rstrip("+#!?").replace("0-0", "O-O").replace("O-0", "O-O")
        return next((w for w in words if self.short(state, words, w, "") == plain), None)

    def record(self, names: tuple[str, str], game: Sequence[str], result: str, why: str) -> str:
        """Returns a game as PGN, moves in short algebraic notation; White is `names[0]`."""
        tags = {"White": names[0], "Black": names[1], "Result": result, "Termination": why}
        head = "".join(f'[{k} "{v}"]\n' for k, v in tags.items())
        moves = " ".join(
            (f"{k // 2 + 1}. " if k % 2 == 0 else "") + word for k, word in enumerate(game)
        )
        return f"{head}\n{moves} {result}".rstrip() + "\n"

    def short(self, state: Any, words: dict[str, int], word: str, check: str) -> str:
        """Returns a move in short algebraic notation.

        Args:
            state: before the move.
            words: of all legal moves.
            word: of the move.
            check: "+", "#" or "", what it gives.
        """
        board, black = np.asarray(state.inner._x.board), int(state.inner._x.color) == 1

        def piece(text: str) -> int:
            column, row = "abcdefgh".index(text[0]), int(text[1]) - 1
            return int(board[column * 8 + (7 - row if black else row)])

        mine, start, end = piece(word[:2]), word[:2], word[2:4]
        if mine == 6 and abs(ord(start[0]) - ord(end[0])) == 2:
            return ("O-O" if end[0] == "g" else "O-O-O") + check
        takes = "x" if piece(end) < 0 or (mine == 1 and start[0] != end[0]) else ""
        if mine == 1:
            promoted = f"={word[4].upper()}" if len(word) > 4 else ""
            return (start[0] if takes else "") + takes + end + promoted + check
        others = [w for w in words if w[2:4] == end and w != word and piece(w[:2]) == mine]
        apart = ""
        if others:
            if all(w[0] != start[0] for w in others):
                apart = start[0]
            else:
                apart = start[1] if all(w[1] != start[1] for w in others) else start
        return PIECES[mine - 1] + apart + takes + end + check


def in_check(state: Any) -> bool:
    """Returns whether the mover of a chess position is in check."""
    board = np.asarray(state.inner._x.board).reshape(8, 8)  # [column, row], the mover's side first
    column, row = (int(x[0]) for x in np.nonzero(board == 6))

    def at(c: int, r: int) -> int:
        return int(board[c, r]) if 0 <= c < 8 and 0 <= r < 8 else 0

    jumps = [(a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
    if any(at(column + a, row + b) == -2 for a, b in jumps):
        return True
    if any(at(column + a, row + 1) == -1 for a in (-1, 1)):
        return True
    for a, b in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]:
        sliders = (-3, -5) if a and b else (-4, -5)
        for far in range(1, 8):
            found = at(column + far * a, row + far * b)
            if found in sliders or (far == 1 and found == -6):
                return True
            if found:
                break
    return False


def _square(number: int, black: bool) -> str:
    column, row = divmod(number, 8)
    return "abcdefgh"[column] + str((8 - row) if black else row + 1)


class GoNotation:
    """Moves of pgx's Go as GTP writes them.

    Attributes:
        size: of the board.
        komi: points for White.
    """

    COLUMNS = "ABCDEFGHJKLMNOPQRST"

    def __init__(self, size: int, komi: float):
        self.size, self.komi = size, komi

    def words(self, state: Any, legal: np.ndarray) -> dict[str, int]:
        """Returns {word: action}; see `Notation`."""
        out = {}
        for action in np.flatnonzero(legal):
            row, column = divmod(int(action), self.size)
            last = int(action) == self.size**2
            out["pass" if last else f"{self.COLUMNS[column]}{self.size - row}"] = int(action)
        return out

    def find(self, state: Any, words: dict[str, int], move: str) -> str | None:
        """Returns the word of a move; see `Notation`. Boards up to 19 write a pass as "tt", too."""
        plain = "" if move == "tt" else move
        return next((w for w in words if self.point(w) == plain), None)

    def record(self, names: tuple[str, str], game: Sequence[str], result: str, why: str) -> str:
        """Returns a game as SGF; Black is `names[0]`."""
        head = f"(;GM[1]FF[4]SZ[{self.size}]KM[{self.komi:g}]PB[{_text(names[0])}]"
        head += f"PW[{_text(names[1])}]RE[{result}]C[{_text(why)}]"
        return (
            head + "".join(f";{'BW'[k % 2]}[{self.point(w)}]" for k, w in enumerate(game)) + ")\n"
        )

    def point(self, word: str) -> str:
        """Returns a move as SGF writes it, "" for a pass."""
        if word == "pass":
            return ""
        column, row = self.COLUMNS.index(word[0]), self.size - int(word[1:])
        return "abcdefghijklmnopqrs"[column] + "abcdefghijklmnopqrs"[row]


def _text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
