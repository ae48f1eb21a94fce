"""Canonical boards against counts that are known and a slow canonical form in plain Python."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from few import few

from jaxsolve import holdem

BOARDS = {3: 1_755, 4: 16_432, 5: 134_459}
"""Boards up to suits, without order."""

HANDS = {3: 1_286_792, 4: 13_960_050, 5: 123_156_254}
"""Pairs of a board and a hand up to suits, without order on the board."""

PERMUTATIONS = list(itertools.permutations(range(4)))


def random_boards(count: int, cards: int, seed: int) -> np.ndarray:
    """Returns boards of different cards, in random order."""
    rng = np.random.default_rng(seed)
    return rng.random((count, 52)).argpartition(cards, 1)[:, :cards]


def renamed(cards: tuple[int, ...], suits: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(4 * (c // 4) + suits[c % 4] for c in cards))


def least(cards: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the least of the boards that are equal up to suits."""
    return min(renamed(cards, p) for p in PERMUTATIONS)


@pytest.mark.parametrize("cards", BOARDS)
def test_counts(cards: int) -> None:
    found = holdem.canonical_boards(cards)
    assert found.boards.shape == (BOARDS[cards], cards)
    assert found.count.sum() == len(found.code) == math.comb(52, cards)
    assert holdem.canonical_boards(cards) is found


@pytest.mark.parametrize("cards", BOARDS)
def test_every_board_maps_to_its_canonical_one(cards: int) -> None:
    """The permutation that is found moves the cards onto those of the row."""
    found = holdem.canonical_boards(cards)
    boards = random_boards(2000, cards, seed=cards)
    row, permutation = found.find(boards)
    for board, r, p in zip(boards.tolist(), row, permutation, strict=True):
        assert renamed(tuple(board), PERMUTATIONS[p]) == tuple(found.boards[r].tolist())
    assert (found.find(found.boards)[0] == np.arange(len(found.boards))).all()
    assert not found.find(found.boards)[1].any()


@pytest.mark.parametrize("cards", BOARDS)
def test_rows_are_equal_where_a_slow_canonical_form_is(cards: int) -> None:
    found = holdem.canonical_boards(cards)
    boards = random_boards(1500, cards, seed=10 + cards)
    forms = [least(tuple(board)) for board in boards.tolist()]
    rows = found.find(boards)[0].tolist()
    assert len(set(zip(forms, rows, strict=True))) == len(set(forms)) == len(set(rows))
    for form, row in zip(forms[:50], rows, strict=False):
        orbit = {renamed(form, p) for p in PERMUTATIONS}
        assert found.count[row] == len(orbit)


@pytest.mark.parametrize("cards", few(BOARDS, lambda cards: cards == 3))
def test_hands_up_to_suits(cards: int) -> None:
    """Hands on a canonical board, up to the permutations that leave the board alone."""
    found, after = holdem.canonical_boards(cards), holdem.hand_after()
    total = 0
    for boards in np.array_split(found.boards, max(1, len(found.boards) // 2000)):
        live = ~(holdem.HANDS[None, :, :, None] == boards[:, None, None]).any((2, 3))
        first = np.full(live.shape, holdem.NUM_HANDS, np.uint16)
        own = holdem.board_number(boards)
        for p, suits in enumerate(np.asarray(PERMUTATIONS)):
            moved = 4 * (boards // 4) + suits[boards % 4]
            fixed = holdem.board_number(moved) == own
            first[fixed] = np.minimum(first[fixed], after[p])
        total += int((live & (first == np.arange(holdem.NUM_HANDS))).sum())
    assert total == HANDS[cards]


def test_hands_move_with_their_cards() -> None:
    after = holdem.hand_after()
    for p, hand in itertools.product(range(24), range(0, holdem.NUM_HANDS, 97)):
        cards = renamed(tuple(holdem.HANDS[hand].tolist()), PERMUTATIONS[p])
        assert tuple(holdem.HANDS[after[p, hand]].tolist()) == cards


def test_preflop_classes() -> None:
    classes, names = holdem.preflop_classes(), holdem.CELL_NAMES
    assert len(np.unique(classes)) == 169
    for name, cards in (("AA", "AhAd"), ("AKs", "AcKc"), ("AKo", "KdAs"), ("22", "2c2s")):
        found = int(classes[holdem.hand_index(*holdem.parse_cards(cards))])
        assert names[found // 13][found % 13] == name


def test_numbers_of_boards_are_all_different() -> None:
    boards = np.array(list(itertools.combinations(range(52), 3)))
    assert sorted(holdem.board_number(boards[:, ::-1]).tolist()) == list(range(22_100))


def test_only_boards_from_the_flop_on() -> None:
    with pytest.raises(ValueError, match="3, 4 or 5 cards, not 2"):
        holdem.canonical_boards(2)
