"""Equity: the share of the pot that a hand wins if both players check down to the river."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._boards import hands_of
from jaxsolve.holdem._cards import HANDS, NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._range import check_weights
from jaxsolve.holdem._strength import strengths

_COMPLETE = 5
"""Cards of a complete board."""


def equity(weights: Any, board: Sequence[int], *, hands: np.ndarray | None = None) -> np.ndarray:
    """Returns the equity of hands against a range, float64 [1326] in [0, 1].

    Every pair of hands that share no card counts on every runout, a tie as half of the pot. A hand
    that meets the board, or against which no hand of the range is possible, has NaN.

    Args:
        weights: float [1326], the range of the opponent.
        board: three, four or five cards.
        hands: int [H], rows of `HANDS`: all that count, the range among them; the others have NaN.
            By default every hand. Few hands are faster on a flop.

    Raises:
        ValueError: another number of cards, or weights that are no range.
    """
    if not 3 <= len(board) <= _COMPLETE:
        raise ValueError(f"equity is counted from the flop on; the board has {len(board)} cards")
    every = hands_of(board)
    hands = every if hands is None else np.intersect1d(hands, every)
    against = check_weights(weights)[hands]
    left = [card for card in range(NUM_CARDS) if card not in board]
    boards = [(*board, *cards) for cards in itertools.combinations(left, _COMPLETE - len(board))]
    won, met = np.zeros((2, len(hands)))
    for ranked in strengths(hands, boards):
        wins, pairs = _on_board(HANDS[hands], ranked, against)
        won += wins
        met += pairs
    out = np.full(NUM_HANDS, np.nan)
    some = met > 1e-12 * max(met.max(initial=0.0), 1e-300)
    out[hands[some]] = np.clip(won[some] / met[some], 0, 1)
    return out


def _on_board(
    cards: np.ndarray, ranked: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (weight that each hand beats, weight that it meets), both float [H], on one board.

    Args:
        cards: int [H, 2].
        ranked: int [H], strengths; -1 where a hand meets the board.
        weights: float [H], the range of the opponent.
    """
    order = np.argsort(ranked, kind="stable")
    sorted_ranks = ranked[order]
    there = np.where(ranked >= 0, weights, 0.0)
    # Weight of the first k hands by strength, and of those among them that hold each card.
    total = np.concatenate([[0.0], np.cumsum(there[order])])
    by_card = np.zeros((len(order) + 1, NUM_CARDS))
    place = np.arange(1, len(order) + 1)
    for side in range(2):
        by_card[place, cards[order, side]] += there[order]
    by_card = by_card.cumsum(0)

    def below(k: Any) -> np.ndarray:
        blocked = by_card[k, cards[:, 0]] + by_card[k, cards[:, 1]]
        return np.asarray(total[k] - blocked)

    weaker = below(np.searchsorted(sorted_ranks, ranked, "left"))
    # The hand itself holds both of its cards, so it was taken away once too often.
    not_stronger = below(np.searchsorted(sorted_ranks, ranked, "right")) + there
    pairs = below(np.full(len(order), len(order))) + there
    live = ranked >= 0
    return live * (weaker + not_stronger) / 2, live * pairs
