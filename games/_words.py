"""Words that the situations of several games share."""

from __future__ import annotations

import numpy as np


def seat_name(seat: int, player: int) -> str:
    """Returns "you" for the player who is told, "player 1" and so on for the others."""
    return "you" if seat == player else f"player {seat}"


def drawing(board: np.ndarray, marks: str = ".xo") -> str:
    """Returns a board [rows, columns] as lines of text, with numbers of rows and columns.

    Args:
        board: whole numbers, the places of marks.
        marks: a character each.
    """
    width = len(str(max(board.shape) - 1))
    lines = [" " * width + "".join(f" {c:>{width}}" for c in range(board.shape[1]))]
    for number, row in enumerate(board):
        lines.append(f"{number:>{width}}" + "".join(f" {marks[int(x)]:>{width}}" for x in row))
    return "\n".join(lines)
