"""Index tables of boards: which hands are possible, and their order of strength.

A group of B boards extends one root board by the same number of cards and shares its hand axis:
the H hands that do not meet the root board. All tables are numpy arrays made once per spot.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import numpy as np

from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._strength import strengths_on_board

CARDS = 52
OTHERS = 51
"""A card is in 51 hands, one per other card."""


@dataclasses.dataclass(frozen=True)
class BoardTables:
    """Tables of B boards for showdowns with card removal (H hands).

    Hands are ranked by strength on each board. A hand's tie group takes places `low` to `high` - 1
    of the order; among the hands that hold one of its cards it takes places `card_low` to
    `card_high` - 1. Hands that meet the board come after all others.

    Attributes:
        cards: int32 [H, 2], the two cards of each hand.
        live: bool [B, H], the hand does not meet the board.
        order: int32 [B, H], hands by strength.
        low, high: int32 [B, H], 0..H.
        card_order: int32 [B, 52, 51], hands that hold each card, by strength; H where there is
            none.
        card_low, card_high: int32 [B, H, 2], 0..51, for the lower and the higher card.
    """

    cards: np.ndarray
    live: np.ndarray
    order: np.ndarray
    low: np.ndarray
    high: np.ndarray
    card_order: np.ndarray
    card_low: np.ndarray
    card_high: np.ndarray


def hands_of(board: Sequence[int]) -> np.ndarray:
    """Returns int32 [H], the numbers of the hands that do not meet a board."""
    return np.flatnonzero(~np.isin(HANDS, list(board)).any(1)).astype(np.int32)


def live_hands(hands: np.ndarray, boards: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns bool [B, H], which of the hands do not meet each board."""
    return np.stack([~np.isin(HANDS[hands], list(b)).any(1) for b in boards])


def board_tables(hands: np.ndarray, boards: Sequence[Sequence[int]]) -> BoardTables:
    """Returns the tables of complete boards for a list of hands."""
    parts = [_one(hands, strength) for strength in strengths(hands, boards)]
    stacked = [np.stack(columns) for columns in zip(*parts, strict=True)]
    return BoardTables(HANDS[hands], live_hands(hands, boards), *stacked)


def strengths(hands: np.ndarray, boards: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns int32 [B, H], the strength of hands on complete boards, -1 where they meet."""
    return np.asarray(_strengths(np.asarray(boards, np.int32)))[:, hands]


def showdown_matrix(hands: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Returns int8 [H, H]: 1 where the row's hand wins, -1 where it loses, 0 for a tie.

    0 also where one of the hands meets the board (strength -1), or both share a card.
    """
    live = strength >= 0
    both = live[:, None] & live[None] & compatible(hands)
    return (np.sign(strength[:, None] - strength[None]) * both).astype(np.int8)


def compatible(hands: np.ndarray) -> np.ndarray:
    """Returns bool [H, H], whether two hands share no card."""
    cards = HANDS[hands]
    return ~(cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))


_strengths = jax.jit(jax.vmap(strengths_on_board))


def _one(hands: np.ndarray, strength: np.ndarray) -> tuple[np.ndarray, ...]:
    key = np.where(strength >= 0, strength, np.iinfo(np.int32).max)
    order = np.argsort(key, kind="stable").astype(np.int32)
    low, high = _ties(key, key[order])
    cards, size = HANDS[hands], len(hands)
    card_order = np.full((CARDS, OTHERS), size, np.int32)
    card_low, card_high = np.zeros((2, size, 2), np.int32)
    for card in range(CARDS):
        holds = (cards[order] == card).any(1)
        mine = order[holds]
        card_order[card, : len(mine)] = mine
        for which in range(2):
            with_card = np.flatnonzero(cards[:, which] == card)
            least, most = _ties(key[with_card], key[mine])
            card_low[with_card, which], card_high[with_card, which] = least, most
    return order, low, high, card_order, card_low, card_high


def _ties(key: np.ndarray, ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low = np.searchsorted(ordered, key, "left").astype(np.int32)
    return low, np.searchsorted(ordered, key, "right").astype(np.int32)
