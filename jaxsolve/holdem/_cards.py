"""Cards and two-card hands of hold'em: numbers, names, and reading them.

A card is `4 * rank + suit` with ranks 0..12 = 2..A and suits 0..3 = c, d, h, s, as in the ACPC
protocol's own code and OpenSpiel's universal_poker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from jaxsolve.game import pointing

RANKS = "23456789TJQKA"
"""Ranks, lowest first."""

SUITS = "cdhs"
"""Clubs, diamonds, hearts, spades."""

NUM_CARDS = len(RANKS) * len(SUITS)
"""Cards in the deck, 52."""

HANDS: np.ndarray = np.array(
    [(low, high) for low in range(NUM_CARDS) for high in range(low + 1, NUM_CARDS)], np.int32
)
"""int32 [1326, 2]: the two cards of every hand, the lower first, in lexicographic order."""

NUM_HANDS = len(HANDS)
"""Two-card hands, 1326."""

HANDS.flags.writeable = False


def hand_index(a: Any, b: Any) -> Any:
    """Returns the row of `HANDS` with two different cards, in either order.

    Args:
        a, b: ints or integer arrays of one shape, of NumPy or JAX.

    Returns:
        int32, of the arguments' shape.
    """
    a, b = a + np.int32(0), b + np.int32(0)  # int8 would overflow
    low = (a + b - abs(a - b)) // 2
    high = a + b - low
    return low * (2 * NUM_CARDS - 1 - low) // 2 + high - low - 1


def card_name(card: int) -> str:
    """Returns the name of a card, e.g. "Ah"."""
    rank, suit = divmod(int(card), len(SUITS))
    return RANKS[rank] + SUITS[suit]


def cards_name(cards: Iterable[int]) -> str:
    """Returns the names of several cards, in the given order, e.g. "Td9d6h"."""
    return "".join(card_name(card) for card in cards)


def hand_name(hand: int) -> str:
    """Returns the name of a row of `HANDS`, the higher card first, e.g. "AhKd"."""
    low, high = HANDS[int(hand)]
    return card_name(high) + card_name(low)


def parse_cards(text: str) -> tuple[int, ...]:
    """Returns the cards that a string names, in its order, e.g. "Td9d6hQc2s" or "Td 9d 6h".

    Raises:
        ValueError: points at what is not a card, or at a card that came before.
    """
    cards: list[int] = []
    i = 0
    while i < len(text):
        if text[i].isspace():
            i += 1
            continue
        cards.append(card_at(text, i, cards))
        i += 2
    return tuple(cards)


def card_at(text: str, i: int, before: Collection[int] = (), *, kind: str = "card") -> int:
    """Returns the card that is named from character `i` of a string on.

    Args:
        text: the whole string.
        i: where the card is.
        before: cards that it must not be.
        kind: what the whole string is, for messages.

    Raises:
        ValueError: points at what is not a card, or at a card that is in `before`.
    """
    rank, suit = text[i : i + 1], text[i + 1 : i + 2]
    if not rank or rank not in RANKS:
        raise ValueError(pointing(kind, text, i, f"expected a rank, one of {RANKS}"))
    if not suit or suit not in SUITS:
        raise ValueError(pointing(kind, text, i + 1, f"expected a suit, one of {SUITS}"))
    card = len(SUITS) * RANKS.index(rank) + SUITS.index(suit)
    if card in before:
        raise ValueError(pointing(kind, text, i, f"{card_name(card)} is there twice"))
    return card
