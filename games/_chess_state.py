"""One world state of dark chess, its key and its material."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array

PLAYING, DRAW, CAPPED = -1, 2, 3
"""Results besides the winner's number: not over, a draw, over at the cap on plies."""

OVER = 2
"""The public observation is who is to move, or OVER + result."""

VALUES = (1.0, 3.0, 3.0, 5.0, 9.0, 0.0)
"""Pawns that a pawn, knight, bishop, rook, queen and king are worth."""


class State(NamedTuple):
    """One world state.

    Attributes:
        pieces: uint32 [2, 6, 2], squares of each side's pawns, knights, bishops, rooks, queens and
            king: bit 8 rank + file of two words.
        turn: int8 [], who is to move.
        castling: uint8 [], bits K, Q, k, q.
        en_passant: int8 [], the square on which a pawn may take en passant now, -1 for none.
        clock: int16 [], plies since a pawn moved or a piece was taken; 0 where no rule asks.
        plies: int16 [], plies so far; 0 where no rule asks.
        result: int8 [], PLAYING, the winner, DRAW or CAPPED.
        history: uint32 [H, 2], keys of the positions since the clock was 0; H is 0 without
            the rule of repetition.
    """

    pieces: Array
    turn: Array
    castling: Array
    en_passant: Array
    clock: Array
    plies: Array
    result: Array
    history: Array


def material(state: State) -> Array:
    """Returns float []: White's pieces less Black's, in pawns."""
    count = jax.lax.population_count(state.pieces).sum(-1).astype(float)
    return (count[0] - count[1]) @ jnp.array(VALUES, count.dtype)


def position_key(state: State) -> Array:
    """Returns uint32 [2]: a key of board, side to move, castling rights and en passant."""
    rest = (
        state.turn.astype(jnp.uint32)
        | state.castling.astype(jnp.uint32) << 1
        | (state.en_passant + 1).astype(jnp.uint32) << 8
    )
    words = jnp.append(state.pieces.reshape(-1), rest)
    keys = []
    for odd in (0x9E3779B1, 0x85EBCA77):
        # Sums of words that are mixed with their places, as in multiply-xorshift hashing.
        x = (words ^ jnp.asarray(_PLACES, jnp.uint32)) * jnp.uint32(odd)
        x = (x ^ (x >> 15)) * jnp.uint32(0xC2B2AE3D)
        x = (x ^ (x >> 13)) * jnp.uint32(0x27D4EB2F)
        keys.append((x ^ (x >> 16)).sum(dtype=jnp.uint32))
    return jnp.stack(keys)


def sides(state: State) -> tuple[Array, Array]:
    """Returns the pieces of the side to move and of the other, uint32 [6, 2] each."""
    first = state.turn == 0
    return (
        jnp.where(first, state.pieces[0], state.pieces[1]),
        jnp.where(first, state.pieces[1], state.pieces[0]),
    )


_PLACES = np.random.default_rng(0).integers(1, 2**32, 25, dtype=np.uint32)
