"""Sets of squares as two 32-bit words, and where the pieces of one side can go.

Square (rank, file) of a board of at most 8 x 8 is bit 8 rank + file, for every size, counted from
White's left corner. Bits 0 to 31 are in `lo`, 32 to 63 in `hi`: no 64-bit numbers are needed.

A move is a *plane* and the square that it starts from. The planes are the distances 1 to size - 1
times eight directions, then eight knight's moves, then nine underpromotions (to the left,
straight or to the right, times knight, bishop and rook). A pawn's move to the last rank in one of
the first planes makes a queen; a king's move by two files is castling.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
LETTERS = "pnbrqk"
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (-1, 1), (0, -1), (-1, -1), (-1, 0), (1, -1))
"""(files, ranks) of a step. The first four lead to higher bits; the odd ones are diagonals."""
JUMPS = ((1, 2), (2, 1), (-2, 1), (-1, 2), (-1, -2), (-2, -1), (2, -1), (1, -2))
"""(files, ranks) of a knight's move, the first four to higher bits."""
NORTH, EAST, SOUTH, WEST = 0, 2, 4, 6
UNDERPROMOTIONS = (KNIGHT, BISHOP, ROOK)


@dataclasses.dataclass(frozen=True, eq=False)
class Bits:
    """A set of squares.

    Attributes:
        lo: uint32 [...], squares of the first four ranks.
        hi: uint32 [...], of the others.
    """

    lo: Any
    hi: Any

    def __and__(self, other: Bits) -> Bits:
        return Bits(self.lo & other.lo, self.hi & other.hi)

    def __or__(self, other: Bits) -> Bits:
        return Bits(self.lo | other.lo, self.hi | other.hi)

    def __invert__(self) -> Bits:
        return Bits(~self.lo, ~self.hi)

    def shifted(self, by: int) -> Bits:
        """Returns the set with `by` added to every bit's number; what leaves 0 to 63 is dropped."""
        if by == 0:
            return self
        zero = jnp.zeros_like(self.lo)
        if by > 0:
            up = Bits(zero, self.lo) if by >= 32 else self
            k = by % 32
            return up if k == 0 else Bits(up.lo << k, (up.hi << k) | (up.lo >> (32 - k)))
        down = Bits(self.hi, zero) if -by >= 32 else self
        k = -by % 32
        return down if k == 0 else Bits((down.lo >> k) | (down.hi << (32 - k)), down.hi >> k)

    def where(self, condition: Any) -> Bits:
        """Returns the set where `condition` (bool [...]) holds, the empty one elsewhere."""
        return Bits(jnp.where(condition, self.lo, 0), jnp.where(condition, self.hi, 0))

    def any(self) -> Array:
        """Returns bool [...]: whether there is a square in the set."""
        return (self.lo | self.hi) != 0

    def stack(self) -> Array:
        """Returns uint32 [..., 2]."""
        return jnp.stack([self.lo, self.hi], axis=-1)

    def count(self) -> Array:
        """Returns int32 [...]: how many squares."""
        ones = jax.lax.population_count(self.lo) + jax.lax.population_count(self.hi)
        return ones.astype(jnp.int32)


def unstack(words: Array) -> Bits:
    """Returns the set that uint32 [..., 2] holds."""
    return Bits(words[..., 0], words[..., 1])


def constant(bits: int) -> Bits:
    """Returns the set that a number of 64 bits describes."""
    return Bits(np.uint32(bits & 0xFFFFFFFF), np.uint32(bits >> 32))


def square_bit(square: Array) -> Bits:
    """Returns the set of one square (int32 [...], 0 to 63); the empty one for a negative number."""
    one = jnp.uint32(1) << (square & 31).astype(jnp.uint32)
    low = (square >= 0) & (square < 32)
    return Bits(jnp.where(low, one, 0), jnp.where(square >= 32, one, 0))


def rank_bits(size: int, rank: int) -> int:
    """Returns a rank of a board as a number of 64 bits."""
    return ((1 << size) - 1) << 8 * rank


@functools.cache
def area(size: int, files: int = 0, ranks: int = 0) -> int:
    """Returns the squares of a board that a step (files, ranks) can lead to."""
    return sum(
        1 << 8 * r + f
        for r in range(size)
        for f in range(size)
        if 0 <= r - ranks < size and 0 <= f - files < size
    )


def stepped(bits: Bits, size: int, files: int, ranks: int) -> Bits:
    """Returns where a step leads from a set of squares, without leaving the board."""
    return bits.shifted(8 * ranks + files) & constant(area(size, files, ranks))


def occupied(pieces: Array) -> Bits:
    """Returns the squares of uint32 [6, 2], the pieces of one side."""
    words = pieces[0]
    for kind in range(1, 6):
        words = words | pieces[kind]
    return unstack(words)


def num_planes(size: int) -> int:
    """Returns the number of planes: 73 on a board of 8 x 8."""
    return 8 * (size - 1) + 8 + 9


def plane_of(direction: int, distance: int) -> int:
    """Returns the plane of a straight move."""
    return 8 * (distance - 1) + direction


@functools.cache
def action_table(size: int) -> np.ndarray:
    """Returns int32 [A, 3]: square from, square to (-1 off the board), kind of an underpromotion.

    Action plane x size^2 + size x rank + file; kind 0 where the move is no underpromotion. An
    underpromotion leads up the board from its upper half and down from its lower half.
    """
    rows = []
    for plane in range(num_planes(size)):
        straight, rest = 8 * (size - 1), plane - 8 * (size - 1)
        for square in range(size * size):
            rank, file = divmod(square, size)
            kind = 0
            if plane < straight:
                distance, way = divmod(plane, 8)
                files, ranks = (x * (distance + 1) for x in DIRECTIONS[way])
            elif rest < 8:
                files, ranks = JUMPS[rest]
            else:
                side, piece = divmod(rest - 8, 3)
                kind = UNDERPROMOTIONS[piece]
                files, ranks = side - 1, 1 if rank == size - 2 else -1
                if rank not in (1, size - 2):
                    ranks = size
            f, r = file + files, rank + ranks
            inside = 0 <= f < size and 0 <= r < size
            rows.append((8 * rank + file, 8 * r + f if inside else -1, kind))
    return np.array(rows, np.int32)


def pawn_moves(pawns: Bits, empty: Bits, enemy: Bits, size: int, up: int) -> Iterator[tuple]:
    """Yields (direction, distance, targets) of the pawns of one side; `up` is 1 or -1."""
    ahead = NORTH if up > 0 else SOUTH
    one = stepped(pawns, size, 0, up) & empty
    yield ahead, 1, one
    if size == 8:
        rank = rank_bits(size, 2 if up > 0 else 5)
        yield ahead, 2, stepped(one & constant(rank), size, 0, up) & empty
    for files in (-1, 1):
        yield DIRECTIONS.index((files, up)), 1, stepped(pawns, size, files, up) & enemy


def castling_moves(
    king: Bits, rooks: Bits, empty: Bits, castling: Array, turn: Array
) -> Iterator[tuple[int, Bits]]:
    """Yields (direction, squares from which the king may castle that way)."""
    home = Bits(
        jnp.where(turn == 0, np.uint32(16), 0), jnp.where(turn == 1, np.uint32(16 << 24), 0)
    )
    rights = castling >> (2 * turn).astype(castling.dtype)
    for right, way, step, rook in ((1, EAST, 1, 3), (2, WEST, -1, 4)):
        free = king & home & rooks.shifted(-step * rook)
        for k in range(1, rook):
            free = free & empty.shifted(-step * k)
        yield way, free.where((rights & right) != 0)


def spread(bits: Bits, steps: Sequence[tuple[int, int]], size: int, back: bool = False) -> Bits:
    """Returns words [8]: a set moved by each of eight steps, four to higher bits first.

    Args:
        bits: words [] or [8], a set for each step.
        steps: `DIRECTIONS` or `JUMPS`.
        size: ranks and files; what would leave the board is dropped.
        back: whether to return where the steps come from, instead of where they lead to.
    """
    sign = -1 if back else 1
    inside = [area(size, sign * files, sign * ranks) for files, ranks in steps]
    low = np.array([x & 0xFFFFFFFF for x in inside], np.uint32)
    high = np.array([x >> 32 for x in inside], np.uint32)
    by = np.array([8 * ranks + files for files, ranks in steps[:4]], np.uint32)
    lo, hi = jnp.broadcast_to(bits.lo, 8), jnp.broadcast_to(bits.hi, 8)
    up, down = (slice(4, 8), slice(0, 4)) if back else (slice(0, 4), slice(4, 8))
    higher = (lo[up] << by, (hi[up] << by) | (lo[up] >> (32 - by)))
    lower = ((lo[down] >> by) | (hi[down] << (32 - by)), hi[down] >> by)
    first, second = (lower, higher) if back else (higher, lower)
    words = [jnp.concatenate(pair) for pair in zip(first, second, strict=True)]
    return Bits(words[0] & low, words[1] & high)


def joined(bits: Bits) -> Bits:
    """Returns the union over the last axis."""
    return Bits(
        functools.reduce(jnp.bitwise_or, [bits.lo[k] for k in range(8)]),
        functools.reduce(jnp.bitwise_or, [bits.hi[k] for k in range(8)]),
    )


def sliders(own: Array) -> Bits:
    """Returns words [8]: the pieces that slide in each of the directions."""
    both = jnp.stack([own[ROOK] | own[QUEEN], own[BISHOP] | own[QUEEN]])
    return unstack(both[np.arange(8) % 2])


def move_planes(
    own: Array, enemy: Bits, turn: Array, castling: Array, en_passant: Array, size: int
) -> Array:
    """Returns uint32 [planes, 2]: the squares from which each plane is a move.

    Args:
        own: uint32 [6, 2], the pieces of the side to move.
        enemy: squares of the other side.
        turn: int [], 0 for White.
        castling: uint8 [], bits K, Q, k, q.
        en_passant: int [], square that a pawn may take on, or -1.
        size: ranks and files.
    """
    mine = occupied(own)
    empty = constant(area(size)) & ~(mine | enemy)

    def farther(carry: tuple, _: None) -> tuple:
        # Of each square: what lies so many steps ahead is no own piece, and empty.
        clear, open_, free = (unstack(x) for x in carry)
        open_, free = (spread(x, DIRECTIONS, size, back=True) for x in (open_, free))
        carry = tuple(x.stack() for x in (clear & free, open_, free))
        return carry, (clear & open_).stack()

    def eight(bits: Bits) -> Array:
        return jnp.broadcast_to(bits.stack(), (8, 2))

    start = (sliders(own).stack(), eight(~mine), eight(empty))
    straight: Array = jax.lax.scan(farther, start, None, length=size - 1)[1]
    king = unstack(own[KING])
    near = spread(~mine, DIRECTIONS, size, back=True)
    extra = [(near & king).stack(), jnp.zeros((8, 2), jnp.uint32)]
    knights = spread(~mine, JUMPS, size, back=True) & unstack(own[KNIGHT])
    special: dict[tuple[int, int], Bits] = {}
    under = {files: constant(0) for files in (-1, 0, 1)}
    targets = enemy | square_bit(en_passant)
    for up in (1, -1):
        pawns = unstack(own[PAWN]).where(turn == (0 if up > 0 else 1))
        last = constant(rank_bits(size, size - 1 if up > 0 else 0))
        for way, distance, to in pawn_moves(pawns, empty, targets, size, up):
            files, ranks = (x * distance for x in DIRECTIONS[way])
            special[distance, way] = to.shifted(-(8 * ranks + files))
            under[files] = under[files] | (to & last).shifted(-(8 * ranks + files))
    if size == 8:
        rooks = unstack(own[ROOK])
        for way, squares in castling_moves(king, rooks, empty, castling, turn):
            special[2, way] = squares
    none = Bits(jnp.uint32(0), jnp.uint32(0))
    for distance in (1, 2):
        row = [special.get((distance, way), none).stack() for way in range(8)]
        extra[distance - 1] = extra[distance - 1] | jnp.stack(row)
    straight = straight.at[:2].set(straight[:2] | jnp.stack(extra))
    promotions = jnp.stack([under[files].stack() for files in (-1, 0, 1) for _ in range(3)])
    return jnp.concatenate([straight.reshape(-1, 2), knights.stack(), promotions])


def targets_of(own: Array, enemy: Bits, player: int, size: int) -> Bits:
    """Returns the squares that the moves of one side lead to, own squares excluded.

    Without taking en passant; castling leads to squares that a rook sees anyway.

    Args:
        own: uint32 [6, 2], the pieces of that side.
        enemy: squares of the other side.
        player: whose they are, 0 for White.
        size: ranks and files.
    """
    mine = occupied(own)
    empty = constant(area(size)) & ~(mine | enemy)

    def farther(carry: tuple, _: None) -> tuple:
        front, reached = (unstack(x) for x in carry)
        front = spread(front, DIRECTIONS, size)
        return ((front & empty).stack(), (reached | front).stack()), None

    near = spread(unstack(own[KING]), DIRECTIONS, size)
    near = near | spread(unstack(own[KNIGHT]), JUMPS, size)
    start = (sliders(own).stack(), near.stack())
    (_, reached), _ = jax.lax.scan(farther, start, None, length=size - 1)
    found = joined(unstack(reached))
    pawns = unstack(own[PAWN])
    for _, _, to in pawn_moves(pawns, empty, enemy, size, 1 - 2 * player):
        found = found | to
    return found & ~mine


def can_move(own: Array, enemy: Bits, turn: Array, en_passant: Array, size: int) -> Array:
    """Returns bool []: whether the side to move has any move."""
    mine = occupied(own)
    empty = constant(area(size)) & ~(mine | enemy)
    near = spread(sliders(own) | unstack(own[KING]), DIRECTIONS, size)
    near = near | spread(unstack(own[KNIGHT]), JUMPS, size)
    found = (joined(near) & ~mine).any()
    targets = enemy | square_bit(en_passant)
    for up in (1, -1):
        pawns = unstack(own[PAWN]).where(turn == (0 if up > 0 else 1))
        for _, _, to in pawn_moves(pawns, empty, targets, size, up):
            found = found | to.any()
    return found
