"""What a player of dark chess sees, as sets of squares and as the words of an observation."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array

from . import _chess_boards as boards
from ._chess_boards import Bits
from ._chess_state import State


def view(state: State, player: int, size: int) -> tuple[Bits, ...]:
    """Returns five sets: seen, own, and bits 0 to 2 of 1 + kind of what is seen."""
    own, other = state.pieces[player], state.pieces[1 - player]
    mine, enemy = boards.occupied(own), boards.occupied(other)
    may_take = (state.turn == player) & (state.en_passant >= 0)
    square = state.en_passant.astype(jnp.int32)
    target = boards.square_bit(jnp.where(may_take, square, -1))
    victim = boards.square_bit(jnp.where(may_take, square - (8 - 16 * player), -1))
    seen = mine | target | victim | boards.targets_of(own, enemy, player, size)
    both = own | other
    one = boards.unstack(both[0] | both[2] | both[4])
    two = boards.unstack(both[1] | both[2] | both[5])
    four = boards.unstack(both[3] | both[4] | both[5])
    return seen, mine, one & seen, two & seen, four & seen


def packed(sets: Sequence[Bits], size: int) -> list[Array]:
    """Returns int32 [] words of two ranks each."""
    words = []
    for bits in sets:
        quarters = [bits.lo & 0xFFFF, bits.lo >> 16, bits.hi & 0xFFFF, bits.hi >> 16]
        words += [quarter.astype(jnp.int32) for quarter in quarters[: (size + 1) // 2]]
    return words


def unpacked(private: Array, size: int) -> list[Bits]:
    """Returns the five sets that `packed` wrote."""
    per = (size + 1) // 2
    words = private[:-1].reshape(5, per).astype(jnp.uint32)
    words = jnp.pad(words, ((0, 0), (0, 4 - per)))
    return [Bits(w[0] | w[1] << 16, w[2] | w[3] << 16) for w in words]


def view_codes(private: np.ndarray, size: int) -> np.ndarray:
    """Returns what a private observation shows, int [size, size], rank 1 first.

    -1 hidden, 0 empty, 1 + kind for one's own pieces, 7 + kind for the other's.
    """
    per = (size + 1) // 2
    words = np.asarray(private)[:-1].reshape(5, per)
    bits = (words[:, :, None] >> np.arange(16)) & 1
    seen, own, one, two, four = bits.reshape(5, 2 * per, 8)[:, :size, :size]
    kind = one + 2 * two + 4 * four
    return np.where(seen == 0, -1, np.where(kind == 0, 0, kind + np.where(own == 1, 0, 6)))


def coloured(codes: np.ndarray, player: int) -> np.ndarray:
    """Returns `view_codes` with White's pieces as 1 to 6 and Black's as 7 to 12."""
    swapped = np.where(codes > 6, codes - 6, codes + 6)
    return codes if player == 0 else np.where(codes > 0, swapped, codes)
