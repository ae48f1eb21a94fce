"""Strength of five, six or seven cards, by bit arithmetic alone: no tables, no gathers.

A set of cards is four masks of 13 bits, one per suit. Ranks held at least once, twice, three and
four times are ands and ors of the four; straights are five shifts of one mask; a kicker is the
highest bit of what is left. A strength is `category << 26 | main << 13 | kickers`, where `main`
and `kickers` are masks of ranks: masks with equally many bits compare like their ranks, highest
first. So the numbers are in the order of the hands, and equal exactly for hands that tie.

The rules are those of high poker. `tests/holdem/test_strength.py` compares every five-card hand
with phevaluator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxsolve.holdem._cards import HANDS
from jaxsolve.types import Array

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
"""Names of `category(strength)`."""

_CHUNK = 64
"""Boards at a time in NumPy: some 85,000 hands."""

_BITS = 13
_ALL = (1 << _BITS) - 1


@jax.jit
def strength(cards: Array) -> Array:
    """Returns how strong the best five of some cards are: larger is better, equal is a tie.

    Args:
        cards: int [..., k], k = 5, 6 or 7 different cards, in any order.

    Returns:
        int32 [...], not negative.

    Raises:
        ValueError: there are fewer than five or more than seven cards.
    """
    return _strength(jnp.asarray(cards))


def category(value: Array) -> Array:
    """Returns the row of `CATEGORIES` of a strength, int32 of its shape; -1 of -1."""
    return value >> 2 * _BITS


@jax.jit
def strengths_on_board(board: Array) -> Array:
    """Returns the strength of every two-card hand with a board.

    Args:
        board: int [k], k = 3, 4 or 5 different cards.

    Returns:
        int32 [1326] in the order of `HANDS`, -1 where a hand has a card of the board.
    """
    return _on_boards(jnp.asarray(board, jnp.int32)[None], jnp.asarray(HANDS))[0]


def strengths(hands: np.ndarray, boards: np.ndarray | Sequence[Sequence[int]]) -> np.ndarray:
    """Returns int32 [B, H], the strength of hands on boards, -1 where they meet; in NumPy.

    Args:
        hands: int [H], numbers of hands.
        boards: of 3, 4 or 5 cards each.
    """
    table = np.asarray(boards, np.int32)
    parts = [_on_boards(table[k : k + _CHUNK], HANDS[hands]) for k in range(0, len(table), _CHUNK)]
    return np.concatenate(parts)


def _on_boards(boards: Any, hands: Any) -> Any:
    """Returns int32 [B, H] of boards [B, k] and cards of hands [H, 2]."""
    xp = _arrays(boards)
    shape = (len(boards), len(hands))
    cards = xp.concatenate(
        [
            xp.broadcast_to(hands.astype(xp.int32), (*shape, 2)),
            xp.broadcast_to(boards[:, None], (*shape, boards.shape[1])),
        ],
        2,
    )
    meets = (hands[:, :, None] == boards[:, None, None]).any((2, 3))
    return xp.where(meets, xp.int32(-1), _strength(cards))


def _strength(cards: Any) -> Any:
    """Returns `strength`, in NumPy of an array of NumPy."""
    xp, count = _arrays(cards), cards.shape[-1]
    if not 5 <= count <= 7:
        raise ValueError(f"strength() needs 5, 6 or 7 cards on the last axis, not {count}.")
    spare = count - 5
    bit = xp.int32(1) << (cards // 4).astype(xp.int32)
    c, d, h, s = (
        xp.where(cards % 4 == suit, bit, xp.int32(0)).sum(-1, dtype=xp.int32) for suit in range(4)
    )
    once = c | d | h | s
    twice = (c & d) | (h & s) | ((c | d) & (h | s))
    thrice = (c & d & (h | s)) | (h & s & (c | d))

    # From the weakest category to the strongest: a later one replaces an earlier one.
    result = _drop_lowest(once, spare)
    pair = _highest(twice)
    result = xp.where(twice > 0, _value(1, pair, _drop_lowest(once ^ pair, spare)), result)
    second = _highest(twice ^ pair)
    result = xp.where(second > 0, _value(2, pair | second, _highest(once ^ pair ^ second)), result)
    triple = _highest(thrice)
    result = xp.where(triple > 0, _value(3, triple, _drop_lowest(once ^ triple, spare)), result)
    straight = _straight(once)
    result = xp.where(straight > 0, _value(4, straight), result)
    for suit in (c, d, h, s):  # at most one of them has five cards
        result = xp.where(_count(suit) >= 5, _value(5, _five_highest(suit, spare)), result)
    full = _highest(twice ^ triple)
    result = xp.where((triple > 0) & (full > 0), _value(6, triple, full), result)
    four = c & d & h & s
    result = xp.where(four > 0, _value(7, four, _highest(once ^ four)), result)
    for suit in (c, d, h, s):
        top = _straight(suit)
        result = xp.where(top > 0, _value(8, top), result)
    return result


def _arrays(array: Any) -> Any:
    return jnp if isinstance(array, jax.Array) else np


def _value(category: int, main: Any, kickers: Any = 0) -> Any:
    return (category << 2 * _BITS) | (main << _BITS) | kickers


def _highest(mask: Any) -> Any:
    """Returns the highest bit of a mask of fewer than 24, 0 of an empty one."""
    if isinstance(mask, jax.Array):
        return jnp.where(mask > 0, jnp.int32(1) << (31 - lax.clz(mask | 1)), 0)
    places = np.frexp(mask.astype(np.float32))[1]  # of a float32, exact
    return np.where(mask > 0, np.int32(1) << np.maximum(places - 1, 0), np.int32(0))


def _count(mask: Any) -> Any:
    """Returns how many bits are set."""
    return lax.population_count(mask) if isinstance(mask, jax.Array) else np.bitwise_count(mask)


def _drop_lowest(mask: Any, count: int) -> Any:
    """Returns a mask without its `count` lowest bits."""
    for _ in range(count):
        mask = mask & (mask - 1)
    return mask


def _five_highest(mask: Any, spare: int) -> Any:
    """Returns the five highest bits of a mask with five to 5 + spare of them."""
    for _ in range(spare):
        mask = _arrays(mask).where(_count(mask) > 5, mask & (mask - 1), mask)
    return mask


def _straight(mask: Any) -> Any:
    """Returns the bit of the highest card of the best straight in a mask of ranks, 0 if none."""
    low_ace = (mask << 1) | (mask >> _BITS - 1)  # 14 bits, the ace below the two as well
    run = low_ace & (low_ace << 1) & (low_ace << 2) & (low_ace << 3) & (low_ace << 4)
    return _highest((run >> 1) & _ALL)
