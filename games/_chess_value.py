"""What a position of dark chess is worth by material, mobility and the safety of the kings."""

from __future__ import annotations

import jax.numpy as jnp

from jaxsolve.types import Array

from . import _chess_boards as boards
from ._chess_state import State, material

MOBILITY, RING, TAKEN = 0.05, 0.1, 20.0
"""Pawns for a square that one's pieces reach, for one of them beside the other's king, and for a
king that can be taken now."""

SCALE = 6.0
"""Pawns whose value is tanh 1."""


def evaluation(state: State, size: int) -> Array:
    """Returns float []: tanh of White's advantage in pawns by 6; the pieces that stand decide.

    Args:
        state: not over.
        size: of the board.
    """
    squares = [boards.occupied(pieces) for pieces in state.pieces]
    reach = [
        boards.targets_of(state.pieces[i], squares[1 - i], i, size) & ~squares[i] for i in (0, 1)
    ]
    kings = [boards.unstack(pieces[boards.KING]) for pieces in state.pieces]
    beside = [boards.joined(boards.spread(k, boards.DIRECTIONS, size)) for k in kings]

    def score(i: int) -> Array:
        free, ring = reach[i].count(), (reach[i] & beside[1 - i]).count()
        takes = (reach[i] & kings[1 - i]).any() & (state.turn == i)
        return MOBILITY * free + RING * ring + jnp.where(takes, TAKEN, 0.0)

    return jnp.tanh((material(state) + score(0) - score(1)) / SCALE)
