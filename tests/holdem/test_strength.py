"""Hand strength against phevaluator and against counts that everybody knows."""

from __future__ import annotations

import functools
import itertools

import jax
import numpy as np
import pytest

from jaxsolve import holdem
from jaxsolve.holdem._strength import strengths

phevaluator = pytest.importorskip("phevaluator", reason="phevaluator is the oracle of strengths")

COUNTS = {
    "high card": 1_302_540,
    "pair": 1_098_240,
    "two pair": 123_552,
    "three of a kind": 54_912,
    "straight": 10_200,
    "flush": 5_108,
    "full house": 3_744,
    "four of a kind": 624,
    "straight flush": 40,
}
"""Five-card hands of each category; the royal flush is a straight flush."""

DISTINCT = 7462
"""Five-card hands that differ in strength."""


@functools.cache
def five_card_hands() -> tuple[np.ndarray, np.ndarray]:
    """All 2,598,960 hands, and their strength."""
    cards = np.asarray(list(itertools.combinations(range(52), 5)), np.int32)
    return cards, np.asarray(holdem.strength(cards))


def ranks_of(cards: np.ndarray) -> np.ndarray:
    """Returns phevaluator's rank of each hand: 1 the best, 7462 the worst."""
    return np.asarray([phevaluator.evaluate_cards(*hand) for hand in cards.tolist()])


def random_cards(count: int, cards: int, seed: int) -> np.ndarray:
    """Returns `count` hands of different cards, in random order."""
    rng = np.random.default_rng(seed)
    return rng.random((count, 52)).argpartition(cards, 1)[:, :cards].astype(np.int32)


def rank_table() -> np.ndarray:
    """Returns the 7462 strengths of five cards, so that phevaluator's rank r is entry -r."""
    return np.unique(five_card_hands()[1])


def same_order(strengths: np.ndarray, ranks: np.ndarray) -> bool:
    """Returns whether each strength is the one that belongs to its rank."""
    table = rank_table()
    return len(table) == DISTINCT and bool((table[DISTINCT - ranks] == strengths).all())


def test_categories_have_the_known_counts():
    _, strengths = five_card_hands()
    counts = np.bincount(np.asarray(holdem.category(strengths)))
    assert dict(zip(holdem.CATEGORIES, counts.tolist(), strict=True)) == COUNTS
    assert strengths.min() >= 0
    assert len(rank_table()) == DISTINCT


def test_one_hand_of_every_strength_has_its_rank():
    cards, strengths = five_card_hands()
    _, first = np.unique(strengths, return_index=True)
    np.testing.assert_array_equal(ranks_of(cards[first]), np.arange(DISTINCT, 0, -1))


@pytest.mark.parametrize("count", [6, 7])
def test_more_cards_have_the_rank_of_their_best_five(count: int):
    cards = random_cards(25_000, count, seed=count)
    assert same_order(np.asarray(holdem.strength(cards)), ranks_of(cards))


@pytest.mark.slow
def test_every_five_card_hand_has_its_rank():
    cards, strengths = five_card_hands()
    assert same_order(strengths, ranks_of(cards))


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 7])
def test_a_million_hands_of_more_cards_have_their_rank(count: int):
    cards = random_cards(1_000_000, count, seed=100 + count)
    assert same_order(np.asarray(holdem.strength(cards)), ranks_of(cards))


def test_seven_cards_are_worth_their_best_five():
    cards = random_cards(500, 7, seed=3)
    subsets = np.stack([cards[:, list(c)] for c in itertools.combinations(range(7), 5)], 1)
    np.testing.assert_array_equal(holdem.strength(cards), holdem.strength(subsets).max(1))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("AsKsQsJsTs 2c2d", "9s8s7s6s5s AcAd"),
        ("5h4h3h2hAh KcKd", "KsKhKcKd2c AdQd"),  # the steel wheel is a straight flush
        ("6c5d4h3s2c AcAd", "5d4h3s2cAc KdQd"),  # the wheel is the lowest straight
        ("AcAdAhKsKd 2c3d", "AcAdAhQsQd KcJd"),
        ("2c2d2h3s3d 3cAd", "2c2d2hAsAd 3cKd"),  # the higher of two triples counts
        ("AcAdKhKsQd QcJd", "AcAdKhKsJd JcTd"),  # of three pairs the third is a kicker
    ],
)
def test_close_comparisons(better: str, worse: str):
    assert holdem.strength(np.asarray(holdem.parse_cards(better))) > holdem.strength(
        np.asarray(holdem.parse_cards(worse))
    )


def test_ties_are_equal_and_order_does_not_matter():
    board = "QcJdTh3s2c"
    hands = [holdem.parse_cards(hand + board) for hand in ("AcKd", "AhKs", "KsAh")]
    assert len(set(np.asarray(holdem.strength(np.asarray(hands))).tolist())) == 1
    cards = random_cards(100, 7, seed=4)
    np.testing.assert_array_equal(holdem.strength(cards), holdem.strength(cards[:, ::-1]))


@pytest.mark.parametrize("board", ["Td9d6h", "Td9d6hQc", "Td9d6hQc2s"])
def test_every_hand_on_a_board(board: str):
    cards = holdem.parse_cards(board)
    strengths = np.asarray(holdem.strengths_on_board(np.asarray(cards)))
    left = 52 - len(cards)
    assert (strengths >= 0).sum() == left * (left - 1) // 2
    free = strengths >= 0
    np.testing.assert_array_equal(free, ~np.isin(holdem.HANDS, cards).any(1))
    both = np.column_stack([holdem.HANDS[free], np.tile(cards, (free.sum(), 1))])
    np.testing.assert_array_equal(strengths[free], holdem.strength(both))
    many = jax.vmap(holdem.strengths_on_board)(np.asarray([cards, cards[::-1]]))
    np.testing.assert_array_equal(many, [strengths, strengths])


@pytest.mark.parametrize("count", [4, 8])
def test_refuses_other_numbers_of_cards(count: int):
    with pytest.raises(ValueError, match=f"5, 6 or 7 cards on the last axis, not {count}"):
        holdem.strength(np.arange(count))


def test_strength_in_64_bits():
    """Sums of int32 become int64 there, and a highest bit is then found elsewhere."""
    cards = np.random.default_rng(5).permuted(np.tile(np.arange(52), (500, 1)), axis=1)[:, :7]
    narrow = np.asarray(holdem.strength(cards))
    with jax.enable_x64(True):
        wide = holdem.strength(cards)
        assert wide.dtype == np.int32
        np.testing.assert_array_equal(wide, narrow)


@pytest.mark.parametrize("cards", [3, 4, 5])
def test_numpy_and_jax_give_the_same_strengths(cards: int):
    rng = np.random.default_rng(cards)
    boards = np.stack([rng.choice(52, cards, replace=False) for _ in range(70)])
    hands = rng.choice(1326, 200, replace=False)
    ours = strengths(hands, boards.tolist())
    assert ours.dtype == np.int32
    for board, mine in zip(boards, ours, strict=True):
        np.testing.assert_array_equal(mine, np.asarray(holdem.strengths_on_board(board))[hands])
