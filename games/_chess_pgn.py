"""Games of dark chess as PGN: moves in short algebraic notation without signs of check."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._chess_boards import KING, LETTERS, PAWN


def short_move(board: np.ndarray, word: str, words: Sequence[str]) -> str:
    """Returns a move as PGN writes it.

    Args:
        board: int [size, size] before the move, 1 + kind for White, 7 + kind for Black.
        word: the move by its squares, such as "e7e8" (a queen) or "e7e8n".
        words: of all legal moves.
    """

    def square(text: str) -> tuple[int, int]:
        return int(text[1]) - 1, ord(text[0]) - ord("a")

    def kind(text: str) -> int:
        return (int(board[square(text)]) - 1) % 6

    start, end, under = word[:2], word[2:4], word[4:]
    mine = kind(start)
    if mine == KING and abs(square(start)[1] - square(end)[1]) == 2:
        return "O-O" if square(end)[1] > square(start)[1] else "O-O-O"
    takes = "x" if board[square(end)] else ""
    if mine == PAWN:
        takes = "x" if start[0] != end[0] else ""
        last = square(end)[0] in (0, len(board) - 1)
        promoted = f"={(under or 'q').upper()}" if last else ""
        return (start[0] if takes else "") + takes + end + promoted
    others = [w for w in words if w[2:4] == end and w[:2] != start and kind(w[:2]) == mine]
    apart = ""
    if others:
        if all(w[0] != start[0] for w in others):
            apart = start[0]
        else:
            apart = start[1] if all(w[1] != start[1] for w in others) else start
    return LETTERS[mine].upper() + apart + takes + end


def record(
    moves: Sequence[str], names: tuple[str, str], result: str, *, fen: str | None, turn: int
) -> str:
    """Returns a game as PGN.

    Args:
        moves: in short notation.
        names: of White and Black.
        result: "1-0", "0-1", "1/2-1/2" or "*".
        fen: where it began, None for the usual start.
        turn: who moved first, 0 for White.
    """
    tags = {"Event": "Dark chess", "White": names[0], "Black": names[1], "Result": result}
    if fen is not None:
        tags |= {"SetUp": "1", "FEN": fen}
    words = []
    for k, move in enumerate(moves):
        ply = k + turn
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        elif k == 0:
            words.append(f"{ply // 2 + 1}...")
        words.append(move)
    lines, line = list[str](), ""
    for word in [*words, result]:
        if len(line) + len(word) > 79:
            lines, line = [*lines, line], ""
        line += (" " if line else "") + word
    head = "".join(f'[{key} "{value}"]\n' for key, value in tags.items())
    return f"{head}\n" + "\n".join([*lines, line]) + "\n"
