"""Which boards follow a board, and which of them are equal by symmetry of suits.

Suits have no rank, so a permutation of suits that leaves the board and both ranges alone maps the
game onto itself. Of the next cards that it maps onto each other one is enough, counted as often as
there are such cards; what a hand is worth is then the mean over its images.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from jaxsolve.holdem._cards import HANDS

LAST = 5
"""Cards of a complete board."""

Permutation = tuple[int, int, int, int]
"""Where each of the four suits goes."""

SUITS: tuple[Permutation, ...] = tuple(itertools.permutations(range(4)))  # type: ignore[arg-type]
"""All 24, the identity first."""


@dataclasses.dataclass(frozen=True)
class Runouts:
    """The boards of one street (B boards).

    Attributes:
        boards: cards of each, in the order they were dealt.
        parent: int32 [B], the board of the street before.
        weight: float64 [B], probability of the board given two hands that do not meet it,
            multiplied by the number of equivalent boards.
        group: per board, the permutations of suits that still leave everything alone.
    """

    boards: tuple[tuple[int, ...], ...]
    parent: np.ndarray
    weight: np.ndarray
    group: tuple[tuple[Permutation, ...], ...]


def runouts(
    board: Sequence[int], ranges: np.ndarray, *, last: int = LAST, symmetric: bool = True
) -> list[Runouts]:
    """Returns the boards of the present street and of each later one.

    Args:
        board: cards on the table.
        ranges: float [2, 1326].
        last: cards of a complete board.
        symmetric: put equivalent boards together.
    """
    group = symmetries(board, ranges) if symmetric else SUITS[:1]
    streets = [Runouts((tuple(board),), np.zeros(1, np.int32), np.ones(1), (group,))]
    while len(streets[-1].boards[0]) < last:
        streets.append(_next(streets[-1]))
    return streets


def cut_runouts(streets: Sequence[Runouts], parts: int) -> list[list[Runouts]]:
    """Returns equal parts of the boards after the first street, which every part has.

    Boards of the second street that are short of a multiple are its last one again, with
    probability 0: 49 turns on four devices are 13 each.

    Args:
        streets: as of `runouts`, at least two.
        parts: how many.
    """
    count = len(streets[1].boards)
    share = -(-count // parts)
    cut = []
    for part in range(parts):
        number = part * share + np.arange(share)
        out, above = [streets[0]], np.minimum(number, count - 1)
        real, parent = number < count, np.zeros(share, np.int32)
        for depth in range(1, len(streets)):
            outs = streets[depth]
            if depth > 1:
                below = [np.flatnonzero(outs.parent == b) for b in above]
                parent = np.repeat(np.arange(len(above)), [len(b) for b in below]).astype(np.int32)
                above, real = np.concatenate(below), real[parent]
            boards = tuple(outs.boards[b] for b in above)
            groups = tuple(outs.group[b] for b in above)
            out.append(Runouts(boards, parent, np.where(real, outs.weight[above], 0), groups))
        cut.append(out)
    return cut


def symmetries(board: Sequence[int], ranges: np.ndarray) -> tuple[Permutation, ...]:
    """Returns the permutations of suits that leave the board and both ranges alone."""
    return tuple(
        p
        for p in SUITS
        if set(permuted_cards(board, p)) == set(board)
        and all(np.array_equal(r, r[permuted_hands(p)]) for r in ranges)
    )


def permuted_cards(cards: Sequence[int], suits: Permutation) -> tuple[int, ...]:
    """Returns the cards with their suits exchanged."""
    return tuple(4 * (c // 4) + suits[c % 4] for c in cards)


def permuted_hands(suits: Permutation) -> np.ndarray:
    """Returns int32 [1326], the number of each hand's image."""
    cards = 4 * (HANDS // 4) + np.asarray(suits)[HANDS % 4]
    number = np.zeros((52, 52), np.int32)
    number[HANDS[:, 0], HANDS[:, 1]] = number[HANDS[:, 1], HANDS[:, 0]] = np.arange(len(HANDS))
    return number[cards[:, 0], cards[:, 1]]


def _next(street: Runouts) -> Runouts:
    boards, parent, weight, groups = [], [], [], []
    for k, (board, group) in enumerate(zip(street.boards, street.group, strict=True)):
        count = 1 if board else 3  # the flop comes at once
        unseen = 52 - 4 - len(board)  # of somebody who sees all four private cards
        images: dict[tuple[int, ...], int] = {}
        left = [card for card in range(52) if card not in board]
        for cards in itertools.combinations(left, count):
            first = min(tuple(sorted(permuted_cards(cards, p))) for p in group)
            images[first] = images.get(first, 0) + 1
        for cards, number in images.items():
            boards.append((*board, *cards))
            parent.append(k)
            weight.append(street.weight[k] * number / math.comb(unseen, count))
            groups.append(tuple(p for p in group if set(permuted_cards(cards, p)) == set(cards)))
    return Runouts(tuple(boards), np.asarray(parent, np.int32), np.asarray(weight), tuple(groups))
