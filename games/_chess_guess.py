"""Positions of dark chess that look as a player sees them, made up where nothing else is known."""

from __future__ import annotations

import numpy as np

from ._chess_boards import KING, PAWN

KEPT = 0.5
"""How likely a piece that is not seen is to be on the board still; the king always is."""


def guessed_boards(
    seen: np.ndarray, start: np.ndarray, player: int, count: int, seed: int
) -> np.ndarray:
    """Returns int [count, size, size], boards with the other's unseen pieces on hidden squares.

    Args:
        seen: int [size, size], -1 hidden, 0 empty, 1 + kind White's, 7 + kind Black's.
        start: int [size, size], where the game began: how many pieces of each kind there were.
        player: who sees.
        count: how many.
        seed: of the draws.
    """
    rng, size, base = np.random.default_rng(seed), len(seen), 7 - 6 * player
    hidden = np.flatnonzero(seen.reshape(-1) < 0)
    inner = hidden[(hidden // size > 0) & (hidden // size < size - 1)]  # where pawns may stand
    missing = [
        max(int((start == base + kind).sum() - (seen == base + kind).sum()), 0) for kind in range(6)
    ]
    boards = np.broadcast_to(np.maximum(seen, 0), (count, size, size)).copy()
    for board in boards.reshape(count, -1):
        free = rng.permutation(hidden).tolist()
        for kind in (KING, *(k for k in range(5, -1, -1) if k != KING)):
            for _ in range(missing[kind]):
                if not free or (kind != KING and rng.random() > KEPT):
                    continue
                at = next((s for s in free if kind != PAWN or s in inner), None)
                if at is not None:
                    board[at] = base + kind
                    free.remove(at)
    return boards
