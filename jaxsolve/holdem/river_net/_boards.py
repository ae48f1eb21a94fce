"""Complete boards inside a compiled program: hands by strength, and buckets of strength.

On a complete board 1,081 hands are possible. Here they come in order of strength, so that a range
is a function of a place from 0 to 1. The K buckets of a network lie evenly on that line: a hand
counts for the two buckets next to it, in shares that add up to 1. With K = 3, buckets are at 1/6,
1/2 and 5/6, and a hand at 1/4 counts 3/4 for the first and 1/4 for the second.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp

from jaxsolve.holdem._boards import CARDS
from jaxsolve.holdem._cards import HANDS, NUM_HANDS
from jaxsolve.holdem._strength import strengths_on_board
from jaxsolve.types import Array

LIVE = (CARDS - 5) * (CARDS - 6) // 2
"""Hands that do not meet a complete board, 1,081."""


class RiverBoard(NamedTuple):
    """The hands of one complete board, weakest first (H = 1,081).

    Attributes:
        hands: int32 [H], rows of `HANDS`.
        pair: uint8 [H, 2], their cards.
        low, high: int32 [H], the hands equally strong are those from `low` to `high` - 1.
        place: float32 [H], middle of those among all, in (0, 1).
    """

    hands: Array
    pair: Array
    low: Array
    high: Array
    place: Array


def river_board(board: Array) -> RiverBoard:
    """Returns the hands of a complete board, int [5]; board by board under `vmap`."""
    strength = strengths_on_board(board)
    order = jnp.argsort(strength, stable=True)[NUM_HANDS - LIVE :].astype(jnp.int32)
    ranked = strength[order]
    low, high = (
        jnp.searchsorted(ranked, ranked, side=side).astype(jnp.int32) for side in ("left", "right")
    )
    place = (low + high).astype(jnp.float32) / (2 * LIVE)
    return RiverBoard(order, jnp.asarray(HANDS, jnp.uint8)[order], low, high, place)


def bucket_shares(place: Array, buckets: int) -> Array:
    """Returns float [..., K], the shares of hands at places [...] in K buckets."""
    at = jnp.clip(place * buckets - 0.5, 0, buckets - 1)
    return jnp.maximum(1 - jnp.abs(at[..., None] - jnp.arange(buckets)), 0).astype(place.dtype)


def ties(board: RiverBoard, shares: Array) -> Array:
    """Returns float [K], the share of all hands that a hand of each bucket ties with.

    Args:
        board: the hands.
        shares: [H, K], see `bucket_shares`.
    """
    equal = (board.high - board.low).astype(shares.dtype) / LIVE
    total = shares.sum(0)
    return (equal @ shares) / jnp.where(total > 0, total, 1)
