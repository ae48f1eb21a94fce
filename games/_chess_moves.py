"""Making a move of dark chess, and the moves that what a player saw leaves possible."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array

from . import _chess_boards as boards
from ._chess_boards import EAST, KING, PAWN, QUEEN, ROOK, WEST, Bits
from ._chess_state import State, sides
from ._chess_views import unpacked

_RIGHTS = np.zeros(64, np.uint8)
_RIGHTS[[0, 4, 7, 56, 60, 63]] = [2, 3, 1, 8, 12, 4]


def moved(state: State, move: Array, size: int) -> tuple[State, Array, Array]:
    """Returns the state after a move, clocks and result left as they were.

    Args:
        state: before it.
        move: int32 [3], a row of `action_table`.
        size: ranks and files.

    Returns:
        The state; whether a pawn moved or a piece was taken; whether the king was.
    """
    source, to, under = move[0], move[1], move[2]
    own, other = sides(state)
    turn = state.turn.astype(jnp.int32)
    start, end = boards.square_bit(source).stack(), boards.square_bit(to).stack()
    kind = jnp.any((own & start) != 0, axis=-1)
    pawn = kind[PAWN]
    promotes = pawn & (to // 8 == jnp.where(turn == 0, size - 1, 0))
    promoted = jnp.arange(6) == jnp.where(under > 0, under, QUEEN)
    placed = jnp.where(promotes, promoted, kind)
    own = (own & ~start) | jnp.where(placed[:, None], end, 0)
    castles = kind[KING] & (jnp.abs(to - source) == 2)
    corner = jnp.where(to > source, source + 3, source - 4)
    rook = boards.square_bit(corner) | boards.square_bit((source + to) // 2)
    own = own.at[ROOK].set(own[ROOK] ^ jnp.where(castles, rook.stack(), 0))
    taken = jnp.any((other & end) != 0)
    other = other & ~end
    forward = 8 - 16 * turn
    passing = pawn & (to == state.en_passant)
    victim = boards.square_bit(jnp.where(passing, to - forward, -1))
    other = other.at[PAWN].set(other[PAWN] & ~victim.stack())
    # A right is lost when anything leaves or enters the king's or the rook's square.
    touched = jnp.asarray(_RIGHTS)[source] | jnp.asarray(_RIGHTS)[to]
    two = pawn & (jnp.abs(to - source) == 16)
    beside = boards.square_bit(to)
    beside = (beside.shifted(1) & boards.constant(boards.area(8, 1, 0))) | (
        beside.shifted(-1) & boards.constant(boards.area(8, -1, 0))
    )
    takes = two & (beside & boards.unstack(other[PAWN])).any()
    first = turn == 0
    after = state._replace(
        pieces=jnp.stack([jnp.where(first, own, other), jnp.where(first, other, own)]),
        turn=(1 - turn).astype(jnp.int8),
        castling=state.castling & ~touched,
        en_passant=jnp.where(takes, (source + to) // 2, -1).astype(jnp.int8),
    )
    return after, pawn | taken, ~jnp.any(other[KING] != 0)


def possible_sources(state: State, player: int, private: Array, size: int) -> Array:
    """Returns uint32 [planes, 2]: squares from which a move of each plane may show `private`.

    The opponent moved. What is seen now and held a piece that is gone is where the move started; a
    piece that is seen now and was not there is what moved. Otherwise the move led to a hidden
    square, or took what the player lost. Castling moves two pieces and is held to less.

    Args:
        state: before the move.
        player: who saw.
        private: int32 [m], what the move showed to that player.
        size: ranks and files.
    """
    enemy = state.pieces[1 - player]
    seen, kept, *code = unpacked(private, size)
    shown = [seen & ~kept & _kind(code, kind) for kind in range(6)]
    occupied = boards.occupied(jnp.stack([bits.stack() for bits in shown]))
    came = [bits & ~boards.unstack(enemy[kind]) for kind, bits in enumerate(shown)]
    arrived = boards.occupied(jnp.stack([bits.stack() for bits in came]))
    left = boards.occupied(enemy) & seen & ~occupied
    lost = boards.occupied(state.pieces[player]) & ~kept
    # Taken en passant: the taker stands behind the pawn.
    passed = lost.shifted(-8 if player == 0 else 8)
    passed = passed & boards.square_bit(state.en_passant.astype(jnp.int32))
    taking = lost | passed | _all_where(~lost.any())
    target = _chosen(arrived.any(), arrived, ~seen) & taking
    # Only a piece of the kind that was seen to arrive can have moved, or a pawn that became one.
    last = boards.constant(boards.rank_bits(size, 0 if player == 0 else size - 1))
    kinds = [boards.unstack(enemy[kind]).where(bits.any()) for kind, bits in enumerate(came)]
    kinds.append(boards.unstack(enemy[PAWN]).where((arrived & last).any()))
    movers = boards.occupied(jnp.stack([bits.stack() for bits in kinds[:6]])) | kinds[6]
    source = _chosen(left.any(), left, ~seen | ~occupied)
    source = source & (movers | _all_where(~arrived.any()))

    # Where each plane's moves come from, distance by distance.
    def farther(ahead: Array, _: None) -> tuple[Array, Array]:
        ahead = boards.spread(boards.unstack(ahead), boards.DIRECTIONS, size, back=True).stack()
        return ahead, ahead

    start = jnp.broadcast_to(target.stack(), (8, 2))
    straight = jax.lax.scan(farther, start, None, length=size - 1)[1].reshape(-1, 2)
    jumps = boards.spread(target, boards.JUMPS, size, back=True).stack()
    forward = 8 if player == 1 else -8  # the opponent's pawns move the other way
    under = [target.shifted(-forward - files).stack() for files in (-1, 0, 1)]
    promotions = jnp.repeat(jnp.stack(under), 3, axis=0, total_repeat_length=9)
    mask = jnp.concatenate([straight, jumps, promotions]) & source.stack()
    if size == 8:
        castling = enemy[KING] & jnp.where(lost.any(), jnp.uint32(0), ~occupied.stack())
        planes = np.array([boards.plane_of(way, 2) for way in (EAST, WEST)])
        mask = mask.at[planes].set(mask[planes] | castling)
    return mask


def _kind(code: list[Bits], kind: int) -> Bits:
    """Returns the squares whose three bits say 1 + kind."""
    found = code[0] if (kind + 1) & 1 else ~code[0]
    for bit in (1, 2):
        found = found & (code[bit] if (kind + 1) >> bit & 1 else ~code[bit])
    return found


def _chosen(condition: Array, first: Bits, second: Bits) -> Bits:
    """Returns one of two sets by a bool []."""
    return first.where(condition) | second.where(~condition)


def _all_where(condition: Array) -> Bits:
    """Returns all squares where `condition` (bool []) holds, else none."""
    word = jnp.where(condition, jnp.uint32(0xFFFFFFFF), jnp.uint32(0))
    return Bits(word, word)
