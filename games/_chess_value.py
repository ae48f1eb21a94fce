"""What a position of dark chess is worth by material, captures, mobility and the kings' safety."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array

from . import _chess_boards as boards
from ._chess_boards import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Bits
from ._chess_state import VALUES, State, material

MOBILITY, RING, TAKEN = 0.05, 0.1, 20.0
"""Pawns for a square that one's pieces attack, for one of them beside the other's king, and for a
king that can be taken now."""

SCALE = 6.0
"""Pawns whose value is tanh 1."""

ATTACKERS = (1.0, 3.0, 5.0, 9.0, 20.0)
"""Pawns that who takes puts at risk: a pawn, a minor piece, a rook, a queen, the king."""


def evaluation(state: State, size: int) -> Array:
    """Returns float []: tanh of White's advantage in pawns by 6.

    The side to move is credited with the capture that wins most, at what it wins if the piece that
    takes is taken where the square is defended.

    Args:
        state: not over.
        size: of the board.
    """
    own = [boards.occupied(pieces) for pieces in state.pieces]
    empty = boards.constant(boards.area(size)) & ~(own[0] | own[1])
    attacks = [attacked(state.pieces[i], empty, i, size) for i in (0, 1)]
    reach = [functools.reduce(Bits.__or__, sets) for sets in attacks]
    kings = [boards.unstack(pieces[KING]) for pieces in state.pieces]

    def score(i: int) -> Array:
        beside = boards.joined(boards.spread(kings[1 - i], boards.DIRECTIONS, size))
        free, ring = (reach[i] & ~own[i]).count(), (reach[i] & beside).count()
        won = best_capture(attacks[i], reach[1 - i], state.pieces[1 - i])
        won = jnp.where((reach[i] & kings[1 - i]).any(), TAKEN, won)
        return MOBILITY * free + RING * ring + jnp.where(state.turn == i, won, 0.0)

    return jnp.tanh((material(state) + score(0) - score(1)) / SCALE)


def king_in_reach(state: State, size: int) -> Array:
    """Returns bool [], whether the side to move attacks the other's king.

    Args:
        state: not over.
        size: of the board.
    """
    sides = [boards.occupied(pieces) for pieces in state.pieces]
    empty = boards.constant(boards.area(size)) & ~(sides[0] | sides[1])

    def can(i: int) -> Array:
        reach = functools.reduce(Bits.__or__, attacked(state.pieces[i], empty, i, size))
        return (reach & boards.unstack(state.pieces[1 - i, KING])).any()

    return jnp.where(state.turn == 0, can(0), can(1))


def features(state: State, size: int) -> Array:
    """Returns float [12 size^2], `DarkChess.position_features`."""
    bits = (state.pieces[..., None] >> jnp.arange(32, dtype=jnp.uint32)) & 1
    board = bits.reshape(2, 6, 8, 8)[:, :, :size, :size]
    turned = board[::-1, :, ::-1]
    return jnp.where(state.turn == 0, board, turned).reshape(-1).astype(float)


def attacked(own: Array, empty: Bits, player: int, size: int) -> list[Bits]:
    """Returns what a side attacks or defends with pawns, minor pieces, rooks, queens and king.

    Args:
        own: uint32 [6, 2], its pieces.
        empty: squares without a piece.
        player: whose they are.
        size: ranks and files.
    """

    def farther(carry: tuple, _: None) -> tuple:
        front, reached = (boards.unstack(x) for x in carry)
        front = boards.spread(front, boards.DIRECTIONS, size)
        return ((front & empty).stack(), (reached | front).stack()), None

    def slid(from_each: Array) -> Bits:
        none = jnp.zeros_like(from_each)
        (_, reached), _ = jax.lax.scan(farther, (from_each, none), None, length=size - 1)
        return boards.unstack(reached)

    lines = slid(jnp.stack([own[ROOK], own[BISHOP]])[np.arange(8) % 2])
    queens = slid(jnp.broadcast_to(own[QUEEN], (8, 2)))
    pawns, up = boards.unstack(own[PAWN]), 1 - 2 * player
    taken = [boards.stepped(pawns, size, files, up) for files in (-1, 1)]
    jumps = boards.joined(boards.spread(boards.unstack(own[KNIGHT]), boards.JUMPS, size))
    steps = boards.joined(boards.spread(boards.unstack(own[KING]), boards.DIRECTIONS, size))
    rook, bishop = (_every_other(lines, k) for k in (0, 1))
    return [taken[0] | taken[1], jumps | bishop, rook, boards.joined(queens), steps]


def best_capture(attacks: list[Bits], defended: Bits, other: Array) -> Array:
    """Returns float []: pawns that the best capture wins, 0 without a good one; kings apart.

    Args:
        attacks: of who takes, by `ATTACKERS`.
        defended: what the other side defends.
        other: uint32 [6, 2], its pieces.
    """
    reach, won = functools.reduce(Bits.__or__, attacks), jnp.zeros(())
    for kind in (PAWN, KNIGHT, BISHOP, ROOK, QUEEN):
        there = boards.unstack(other[kind])
        free = (there & ~defended & reach).any()
        won = jnp.maximum(won, jnp.where(free, VALUES[kind], 0.0))
        for set_, price in zip(attacks, ATTACKERS, strict=True):
            if VALUES[kind] > price:
                good = VALUES[kind] - price
                won = jnp.maximum(won, jnp.where((there & set_).any(), good, 0.0))
    return won


def _every_other(sets: Bits, first: int) -> Bits:
    """Returns the union of every second of eight sets."""
    return functools.reduce(Bits.__or__, [Bits(sets.lo[k], sets.hi[k]) for k in range(first, 8, 2)])
