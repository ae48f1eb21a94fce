"""Index tables of boards: which hands are possible, and their order of strength.

A group of B boards extends one root board by the same number of cards and shares its hand axis:
the H hands that do not meet the root board. All tables are numpy arrays made once per spot.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from jaxsolve.holdem._cards import HANDS

CARDS = 52
OTHERS = 51
"""A card is in 51 hands, one per other card."""


@dataclasses.dataclass(frozen=True)
class Order:
    """Hands by strength on each of B boards (H hands).

    A hand's tie group takes places `low` to `high` - 1 of the order. Hands that meet the board come
    after all others.

    Attributes:
        live: bool [B, H], the hand does not meet the board.
        order: int32 [B, H], hands by place.
        low, high: int32 [B, H], by place: where the tie group of the hand there begins and ends.
    """

    live: np.ndarray
    order: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def by_hand(self, places: np.ndarray) -> np.ndarray:
        """Returns values [B, H] given by place in the order of hands instead."""
        out = np.empty_like(places)
        np.put_along_axis(out, self.order, places, 1)
        return out


@dataclasses.dataclass(frozen=True)
class CardOrder:
    """The same among the hands that hold one card, for card removal.

    Attributes:
        order: int32 [B, 52, 51], hands that hold each card, by strength; H where there is none.
        low, high: int32 [B, H, 2], 0..51, tie groups among the hands that hold the lower and the
            higher card of each hand.
    """

    order: np.ndarray
    low: np.ndarray
    high: np.ndarray


def hands_of(board: Sequence[int]) -> np.ndarray:
    """Returns int32 [H], the numbers of the hands that do not meet a board."""
    return np.flatnonzero(~np.isin(HANDS, list(board)).any(1)).astype(np.int32)


def live_hands(hands: np.ndarray, boards: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns bool [B, H], which of the hands do not meet each board."""
    return np.stack([~np.isin(HANDS[hands], list(b)).any(1) for b in boards])


def strength_order(strength: np.ndarray) -> Order:
    """Returns the order of hands of given strength int [B, H], -1 where a hand meets the board."""
    live = strength >= 0
    key = np.where(live, strength, np.iinfo(np.int32).max)
    order = np.argsort(key, axis=1, kind="stable").astype(np.int32)
    key = np.take_along_axis(key, order, 1)
    place = np.broadcast_to(np.arange(key.shape[1], dtype=np.int32), key.shape)
    other = key[:, 1:] != key[:, :-1]
    edge = np.ones((len(key), 1), bool)
    low = np.maximum.accumulate(np.where(np.concatenate([edge, other], 1), place, 0), axis=1)
    ends = np.where(np.concatenate([other, edge], 1), place + 1, key.shape[1])
    high = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return Order(live, order, low.astype(np.int32), high.astype(np.int32))


def card_order(hands: np.ndarray, order: Order) -> CardOrder:
    """Returns the orders of the hands that hold each card."""
    parts = [
        _of_cards(HANDS[hands], first, low)
        for first, low in zip(order.order, order.by_hand(order.low), strict=True)
    ]
    return CardOrder(*(np.stack(columns) for columns in zip(*parts, strict=True)))


def showdown_signs(strength: np.ndarray) -> np.ndarray:
    """Returns int8 [H, H]: 1 where the row's hand wins, -1 where it loses, 0 for a tie.

    0 also where one of the hands meets the board (strength -1); that two hands can share a card is
    left to `compatible`.
    """
    rank = np.unique(strength, return_inverse=True)[1].astype(np.int16)
    live = strength >= 0
    signs = (rank[:, None] > rank[None]).astype(np.int8)
    signs -= rank[:, None] < rank[None]
    signs[~live] = 0
    signs[:, ~live] = 0
    return signs


def showdown_matrix(hands: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Returns int8 [H, H], signs of the showdown of hands that share no card, else 0."""
    return showdown_signs(strength) * compatible(hands)


def compatible(hands: np.ndarray) -> np.ndarray:
    """Returns bool [H, H], whether two hands share no card."""
    cards = HANDS[hands]
    return ~(cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))


def compatible_reach(reach: np.ndarray) -> np.ndarray:
    """Returns float [..., 1326], the reach of all hands that share no card with each hand."""
    held = _held(reach.dtype.char)
    total = reach.sum(-1, keepdims=True)
    return np.asarray(total - (reach @ held.T) @ held + reach)


@functools.cache
def _held(dtype: str) -> np.ndarray:
    """Returns [52, 1326], 1 where a hand holds a card."""
    out = np.zeros((CARDS, len(HANDS)), dtype)
    out[HANDS.T, np.arange(len(HANDS))] = 1
    return out


@functools.cache
def hands_fit() -> np.ndarray:
    """Returns float32 [1326, 1326], 1 for hands that share no card."""
    return compatible(np.arange(len(HANDS))).astype(np.float32)


def _of_cards(
    cards: np.ndarray, order: np.ndarray, rank: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns one board of `CardOrder`, from hands by place and a rank of each hand."""
    size = len(cards)
    by_card = np.full((CARDS, OTHERS), size, np.int32)
    low, high = np.zeros((2, size, 2), np.int32)
    for card in range(CARDS):
        mine = order[(cards[order] == card).any(1)]
        by_card[card, : len(mine)] = mine
        for which in range(2):
            held = np.flatnonzero(cards[:, which] == card)
            low[held, which] = np.searchsorted(rank[mine], rank[held], "left")
            high[held, which] = np.searchsorted(rank[mine], rank[held], "right")
    return by_card, low, high
