"""Positions of chess as text: FEN on boards of 4 x 4 to 8 x 8."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._chess_boards import KING, LETTERS, PAWN

STARTS = {
    4: "r1kr/pppp/PPPP/R1KR w - - 0 1",
    5: "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1",
    6: "rnqknr/pppppp/6/6/PPPPPP/RNQKNR w - - 0 1",
    7: "rnbqkbn/ppppppp/7/7/7/PPPPPPP/RNBQKBN w - - 0 1",
    8: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
}
"""Where the game starts on a board of each size."""


class Setup(NamedTuple):
    """A position as FEN describes it.

    Attributes:
        board: int [size, size], 0 empty, 1 + kind for White, 7 + kind for Black; rank 1 first.
        turn: 0 for White, 1 for Black.
        castling: bits K, Q, k, q.
        en_passant: square 8 rank + file that a pawn may take on, -1 for none.
        clock: plies since a pawn moved or a piece was taken.
        move: number of the move, from 1.
    """

    board: np.ndarray
    turn: int
    castling: int
    en_passant: int
    clock: int
    move: int


def read_fen(text: str) -> Setup:
    """Returns the position that FEN describes; what is left out at its end has its usual value.

    The square for taking en passant is dropped where no pawn can take on it.

    Raises:
        ValueError: the text is no FEN, a king is missing, or castling or taking en passant do not
            fit the board; says where.
    """
    words = text.split()
    if not 1 <= len(words) <= 6:
        raise ValueError(_wrong(text, "it has 1 to 6 words: board, w or b, castling, ..."))
    rows = words[0].split("/")
    size = len(rows)
    if not 4 <= size <= 8:
        raise ValueError(_wrong(text, f"the board has {size} ranks; sizes are 4 to 8"))
    board = np.zeros((size, size), int)
    for row, line in enumerate(rows):
        rank = size - 1 - row
        codes: list[int] = []
        for letter in line:
            if letter.isdigit():
                codes += [0] * int(letter)
            elif letter.lower() in LETTERS:
                codes.append(1 + LETTERS.index(letter.lower()) + 6 * letter.islower())
            else:
                raise ValueError(_wrong(text, f"{letter!r} in rank {rank + 1} is no piece"))
        if len(codes) != size:
            raise ValueError(
                _wrong(text, f"rank {rank + 1} ({line!r}) has {len(codes)} squares, not {size}")
            )
        board[rank] = codes
    for code, side in ((1 + KING, "White"), (7 + KING, "Black")):
        kings = int((board == code).sum())
        if kings != 1:
            raise ValueError(_wrong(text, f"{side} has {kings or 'no'} king{'s' * (kings > 1)}"))
    ends = board[[0, size - 1]]
    if ((ends == 1 + PAWN) | (ends == 7 + PAWN)).any():
        raise ValueError(_wrong(text, "a pawn stands on the first or the last rank"))
    side = words[1] if len(words) > 1 else "w"
    if side not in ("w", "b"):
        raise ValueError(_wrong(text, f"the second word is w or b, not {side!r}"))
    turn = "wb".index(side)
    castling = _castling(text, board, words[2] if len(words) > 2 else "-")
    en_passant = _en_passant(text, board, turn, words[3] if len(words) > 3 else "-")
    numbers = []
    for word, least in zip([*words[4:], *("0", "1")[len(words[4:]) :]], (0, 1), strict=True):
        if not word.isdigit() or not least <= int(word) <= 10_000:
            raise ValueError(_wrong(text, f"{word!r} is no count of plies or moves"))
        numbers.append(int(word))
    return Setup(board, turn, castling, en_passant, numbers[0], numbers[1])


def write_fen(setup: Setup) -> str:
    """Returns the FEN of a position."""
    size = len(setup.board)
    rows = []
    for rank in setup.board[::-1]:
        line, gap = "", 0
        for code in [*rank, -1]:
            if code == 0:
                gap += 1
                continue
            line, gap = line + (str(gap) if gap else ""), 0
            if code > 0:
                line += piece_letter(int(code))
        rows.append(line)
    castling = "".join(c for k, c in enumerate("KQkq") if setup.castling >> k & 1) or "-"
    square = square_name(setup.en_passant) if setup.en_passant >= 0 else "-"
    assert size == len(rows)
    board = "/".join(rows)
    return f"{board} {'wb'[setup.turn]} {castling} {square} {setup.clock} {setup.move}"


def piece_letter(code: int) -> str:
    """Returns the letter of a piece: capital for White (1 to 6), small for Black (7 to 12)."""
    letter = LETTERS[(code - 1) % 6]
    return letter.upper() if code <= 6 else letter


def square_name(square: int) -> str:
    """Returns the name of square 8 rank + file, e.g. "e4"."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def _castling(text: str, board: np.ndarray, word: str) -> int:
    rights = 0
    for letter in word if word != "-" else "":
        if letter not in "KQkq":
            raise ValueError(_wrong(text, f"castling is made of K, Q, k and q, not {letter!r}"))
        if len(board) < 8:
            raise ValueError(_wrong(text, "only boards of 8 x 8 have castling"))
        k = "KQkq".index(letter)
        rank, colour = board[7 * (k // 2)], 6 * (k // 2)
        if rank[4] != 6 + colour or rank[0 if k % 2 else 7] != 4 + colour:
            raise ValueError(
                _wrong(text, f"castling {letter} needs king and rook where they start")
            )
        rights |= 1 << k
    return rights


def _en_passant(text: str, board: np.ndarray, turn: int, word: str) -> int:
    if word == "-":
        return -1
    names = [square_name(40 + f) if turn == 0 else square_name(16 + f) for f in range(8)]
    if len(board) < 8 or word not in names:
        raise ValueError(
            _wrong(text, f"{word!r} is no square behind a double step of the side that moved last")
        )
    file, rank = names.index(word), 5 if turn == 0 else 2
    back = -1 if turn == 0 else 1
    pawn, enemy = (1, 7) if turn == 0 else (7, 1)
    if board[rank, file] or board[rank - back, file] or board[rank + back, file] != enemy:
        raise ValueError(_wrong(text, f"no double step led over {word}"))
    beside = [f for f in (file - 1, file + 1) if 0 <= f < 8]
    can_take = any(board[rank + back, f] == pawn for f in beside)
    return 8 * rank + file if can_take else -1


def _wrong(text: str, why: str) -> str:
    return f"{text!r} is no position of dark chess: {why}. An example: {STARTS[4]!r}."
