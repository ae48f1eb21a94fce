"""Boards up to names of suits: 1,755 flops, 16,432 turns and 134,459 rivers.

Suits have no rank, so boards that differ by a permutation of suits alone are one board to the game;
the order in which cards came does not count here. Of equal boards the *canonical* one is that whose
clubs, diamonds, hearts and spades hold ranks in falling order, as masks of 13 bits. Tables of hands
need a row per canonical board only:

    Td 9d 6h        masks of ranks  c 0, d T9, h 6, s 0, so the falling order is d, h, c, s
    Tc 9c 6d        its canonical board, row 528; permutation (2, 0, 1, 3): c -> h, d -> c, h -> d
    Ah Kd           the hand there is Ad Kc
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import HANDS, NUM_CARDS, SUITS, card_name
from jaxsolve.holdem._cells import CELL
from jaxsolve.holdem._runouts import SUITS as PERMUTATIONS
from jaxsolve.holdem._runouts import permuted_hands

STREETS = {3: "flop", 4: "turn", 5: "river"}
"""Streets by the number of cards on the board."""

PERMUTATION_BITS = 5
"""Bits of `CanonicalBoards.code` that hold the permutation of suits."""


@dataclasses.dataclass(frozen=True)
class CanonicalBoards:
    """The canonical boards of a street (R rows, k cards).

    Attributes:
        boards: uint8 [R, k], cards of each, the lowest first.
        count: int32 [R], boards that are equal to each up to suits, itself included.
        code: uint32 [C(52, k)], of the board with each `board_number`: `row << 5 | permutation`,
            where the permutation of suits, a row of `hand_after`, maps the board to `boards[row]`.
    """

    boards: np.ndarray
    count: np.ndarray
    code: np.ndarray

    def find(self, cards: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns (row, permutation of suits) of boards, int32 [...] each.

        Args:
            cards: int [..., k], different cards in any order.
        """
        code = self.code[board_number(cards)]
        row = code >> np.uint32(PERMUTATION_BITS)
        permutation = code & np.uint32((1 << PERMUTATION_BITS) - 1)
        return row.astype(np.int32), permutation.astype(np.int32)

    def __repr__(self) -> str:
        rows, cards = self.boards.shape
        return f"CanonicalBoards({rows:,} {STREETS[cards]}s)"


@functools.cache
def canonical_boards(cards: int) -> CanonicalBoards:
    """Returns the canonical boards with 3, 4 or 5 cards; about a second, kept in memory.

    Raises:
        ValueError: another number of cards.
    """
    if cards not in STREETS:
        raise ValueError(f"a board has 3, 4 or 5 cards, not {cards}")
    every = _every_board(cards)
    rank, suit = every // len(SUITS), every % len(SUITS)
    # Masks of ranks of each suit, and the suits in falling order of them.
    bit = np.int32(1) << rank.astype(np.int32)
    masks = [(bit * (suit == s)).sum(0, dtype=np.int32) for s in range(len(SUITS))]
    falling = _sorted([((1 << 13) - mask) << 2 | s for s, mask in enumerate(masks)])
    order = sum((key & 3) << 2 * (3 - place) for place, key in enumerate(falling))
    permutation = _number_of_order()[order]
    image = np.asarray(PERMUTATIONS, np.uint8)
    moved = [image[permutation, s] + 4 * r for s, r in zip(suit, rank, strict=True)]
    number = _number_of_sorted(_sorted(moved))
    canonical = np.flatnonzero(number == np.arange(len(number)))
    row = np.zeros(len(number), np.uint32)
    row[canonical] = np.arange(len(canonical))
    row = row[number]
    out = CanonicalBoards(
        boards=np.ascontiguousarray(every[:, canonical].T),
        count=np.bincount(row).astype(np.int32),
        code=row << np.uint32(PERMUTATION_BITS) | permutation,
    )
    for array in (out.boards, out.count, out.code):
        array.flags.writeable = False
    return out


@functools.cache
def hand_after() -> np.ndarray:
    """Returns uint16 [24, 1326], the number of each hand after each permutation of suits."""
    table = np.stack([permuted_hands(p) for p in PERMUTATIONS]).astype(np.uint16)
    table.flags.writeable = False
    return table


@functools.cache
def preflop_classes() -> np.ndarray:
    """Returns uint16 [1326], the class of each hand before the flop, 0..168.

    Hands are of one class where they are equal up to suits. Classes are the cells of the 13 x 13
    table, row by row: AA is 0, AKs 1, 22 is 168.
    """
    table = CELL.astype(np.uint16)
    table.flags.writeable = False
    return table


def live_on(boards: np.ndarray) -> np.ndarray:
    """Returns which hands share no card with boards int [B, k], bool [B, 1326]."""
    return np.asarray(~_holds()[boards].any(1))


def board_number(cards: Any) -> np.ndarray:
    """Returns the number of boards among all of k cards, int32 [...] in 0..C(52, k) - 1.

    The sum of C(c, i + 1) over the cards c in rising order, i = 0, 1, ... (the combinatorial
    number system).

    Args:
        cards: int [..., k], different cards in any order.
    """
    return _number_of_sorted(list(np.moveaxis(np.sort(np.asarray(cards), -1), -1, 0)))


def check_board(board: Sequence[int]) -> tuple[int, ...]:
    """Returns the cards of a board as ints.

    Raises:
        ValueError: not 3, 4 or 5 different cards, or not cards at all.
    """
    cards = tuple(int(card) for card in board)
    if len(cards) not in STREETS:
        raise ValueError(f"a board has 3, 4 or 5 cards, not {len(cards)}")
    for k, card in enumerate(cards):
        if not 0 <= card < NUM_CARDS:
            raise ValueError(f"a card is a number from 0 to {NUM_CARDS - 1}, not {card}")
        if card in cards[:k]:
            raise ValueError(f"{card_name(card)} is on the board twice")
    return cards


def _every_board(cards: int) -> np.ndarray:
    """Returns uint8 [cards, C(52, cards)], every board by its `board_number`, lowest cards first.

    Boards whose highest card is c are the boards of one card less that are numbered below C(c, k).
    """
    boards = np.zeros((0, 1), np.uint8)
    for k in range(cards):
        count = [math.comb(highest, k) for highest in range(NUM_CARDS)]
        highest = np.repeat(np.arange(NUM_CARDS, dtype=np.uint8), count)
        boards = np.concatenate([boards[:, :n] for n in count], 1)
        boards = np.concatenate([boards, highest[None]])
    return boards


def _sorted(columns: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns k arrays with the numbers of each place in rising order; fast where k is small."""
    out = list(columns)
    for last in range(len(out) - 1, 0, -1):
        for k in range(last):
            out[k], out[k + 1] = np.minimum(out[k], out[k + 1]), np.maximum(out[k], out[k + 1])
    return out


def _number_of_sorted(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Returns `board_number` of k columns of cards, the lowest cards first."""
    choose = np.array([[math.comb(c, i) for c in range(NUM_CARDS)] for i in range(6)], np.int32)
    total = choose[1][columns[0]]
    for i, cards in enumerate(columns[1:], 2):
        total = total + choose[i][cards]
    return np.asarray(total)


@functools.cache
def _holds() -> np.ndarray:
    """Returns bool [52, 1326], which hands hold each card."""
    return (HANDS[None] == np.arange(NUM_CARDS)[:, None, None]).any(2)


def _number_of_order() -> np.ndarray:
    """Returns uint8 [256]: by suits (a, b, c, d) as 64 a + 16 b + 4 c + d, which permutation maps a
    to 0, b to 1, c to 2 and d to 3."""
    out = np.zeros(4**4, np.uint8)
    for order in itertools.permutations(range(4)):
        out[np.dot(order, [64, 16, 4, 1])] = PERMUTATIONS.index(tuple(np.argsort(order).tolist()))
    return out
