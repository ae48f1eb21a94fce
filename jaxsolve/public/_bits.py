"""Which entries of a table of flags are set, without a pass over all of them for each.

Flags are packed in words of 32 bits; counts up to each word lead to the bit of a given number.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.types import Array


def words_of(flags: Array) -> Array:
    """Returns uint32 [..., W], flags [..., K] as bits of words, the lowest first."""
    flags = jnp.pad(flags, [*[(0, 0)] * (flags.ndim - 1), (0, -flags.shape[-1] % 32)])
    bits = flags.reshape(*flags.shape[:-1], -1, 32).astype(jnp.uint32)
    return (bits << jnp.arange(32, dtype=jnp.uint32)).sum(-1, dtype=jnp.uint32)


class ListedBits(NamedTuple):
    """Bits of words [N, W], numbered row by row.

    Attributes:
        words: uint32 [N, W].
        upto: int32 [N, W], bits of a row up to and with a word.
        ends: int32 [N], bits up to and with a row.
        total: int32 [].
    """

    words: Array
    upto: Array
    ends: Array
    total: Array

    @classmethod
    def of(cls, words: Array) -> ListedBits:
        """Counts them."""
        upto = jnp.cumsum(jax.lax.population_count(words).astype(jnp.int32), axis=-1)
        ends = jnp.cumsum(upto[:, -1])
        return cls(words, upto, ends, ends[-1])

    def find(self, number: Array) -> tuple[Array, Array]:
        """Returns row and place of the bit of each number, int32 [M]; of the last one beyond."""
        number = jnp.minimum(number, self.total - 1)
        row = jnp.minimum(jnp.searchsorted(self.ends, number, side="right"), len(self.ends) - 1)
        rank = number - (self.ends - self.upto[:, -1])[row]
        low = jnp.zeros_like(number)
        high = jnp.full_like(number, self.words.shape[1] - 1)
        for _ in range(max(self.words.shape[1] - 1, 1).bit_length()):
            middle = (low + high) // 2
            beyond = self.upto[row, middle] <= rank
            low, high = jnp.where(beyond, middle + 1, low), jnp.where(beyond, high, middle)
        word = self.words[row, low]
        below = self.upto[row, low] - jax.lax.population_count(word).astype(jnp.int32)
        return row, 32 * low + _selected(word, rank - below)


def _selected(word: Array, rank: Array) -> Array:
    """Returns int32 [...]: the number of the bit of a word before which `rank` bits are set."""
    bit = jnp.zeros_like(rank)
    for width in (16, 8, 4, 2, 1):
        part = (word >> bit.astype(jnp.uint32)) & jnp.uint32((1 << width) - 1)
        below = jax.lax.population_count(part).astype(jnp.int32)
        up = rank >= below
        rank, bit = jnp.where(up, rank - below, rank), jnp.where(up, bit + width, bit)
    return bit
