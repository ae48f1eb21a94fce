"""Boards of chess as lines of text and as SVG, with fog."""

from __future__ import annotations

import numpy as np

from ._chess_fen import piece_letter

SYMBOLS = "♟♞♝♜♛♚"


def as_text(board: np.ndarray, joint: str = "\n") -> str:
    """Returns the last rank first: "?" unseen, "." empty, capitals for codes 1 to 6.

    Args:
        board: int [size, size], rank 1 first; -1 unseen, 0 empty, 1 to 12 pieces.
        joint: what separates ranks; with a new line, ranks and files are named.
    """
    lines = ["".join(_mark(int(code)) for code in rank) for rank in board[::-1]]
    if joint != "\n":
        return joint.join(lines)
    size = len(board)
    named = [f"{size - k} {' '.join(line)}" for k, line in enumerate(lines)]
    return "\n".join([*named, "  " + " ".join("abcdefgh"[:size])])


def as_svg(board: np.ndarray, *, flipped: bool = False, pixels: int = 40) -> str:
    """Returns a picture of the board.

    Args:
        board: int [size, size], rank 1 first; -1 unseen, 0 empty, 1 to 6 White's, 7 to 12 Black's.
        flipped: whether Black sits below.
        pixels: of a square's side.
    """
    size = len(board)
    whole = size * pixels
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" '
        f'width="{whole}" height="{whole}" font-size="{0.8 * pixels:g}" text-anchor="middle">'
    ]
    for rank in range(size):
        for file in range(size):
            code = int(board[rank, file])
            column, row = (size - 1 - file, rank) if flipped else (file, size - 1 - rank)
            x, y = column * pixels, row * pixels
            light = (rank + file) % 2
            fill = ("#555c66", "#6a717c")[light] if code < 0 else ("#b58863", "#f0d9b5")[light]
            parts.append(
                f'<rect x="{x}" y="{y}" width="{pixels}" height="{pixels}" fill="{fill}"/>'
            )
            if code > 0:
                colour = "#fff" if code <= 6 else "#000"
                parts.append(
                    f'<text x="{x + pixels / 2:g}" y="{y + 0.8 * pixels:g}" fill="{colour}" '
                    f'stroke="#000" stroke-width="0.5">{SYMBOLS[(code - 1) % 6]}</text>'
                )
    return "\n".join([*parts, "</svg>"])


def _mark(code: int) -> str:
    return "?" if code < 0 else "." if code == 0 else piece_letter(code)
