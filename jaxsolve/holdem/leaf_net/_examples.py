"""Examples for a leaf network: what later betting adds for hands against a few hands.

An example is a flop, an end of its betting in the blueprint, and 48 hands of the opponent that are
about as strong as each other. The blueprint and its continuations play on over sampled runouts; a
showdown without bets on the same runouts is taken away, and with it most of their luck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting import start_at
from jaxsolve.holdem._boards import hands_fit
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem.leaf_net._features import FLOP, betting_features, hand_features
from jaxsolve.holdem.limited import Beyond, SearchBegin, continuation_values

OPPONENTS = 48
"""Hands of the opponent in an example."""

TARGETS = 256
"""Hands whose values are kept."""

PER_FLOP = 32
"""Examples with one flop."""

NARROW, WIDE = 0.03, 0.3
"""Spread of the opponent's hands, in places among all hands; its logarithm is even."""

RESIZE = 0.3
"""Chips are the blueprint's, or for half of the examples so much larger or smaller (logarithm)."""


class LeafExamples(NamedTuple):
    """N examples (T hands, U hands of the opponent, k continuations).

    Attributes:
        board: uint8 [N, 3].
        betting: float32 [N, B], see `betting_features`.
        hand: int16 [N, T], of the player who chooses.
        other: int16 [N, U], of the opponent.
        value: float32 [N, T, k], what betting adds, in pots; a mean over those hands of the
            opponent that share no card. NaN where there are none.
    """

    board: np.ndarray
    betting: np.ndarray
    hand: np.ndarray
    other: np.ndarray
    value: np.ndarray


def leaf_examples(
    after: Beyond, *, seed: int, flops: int, runouts: int = 16, per_flop: int = PER_FLOP
) -> LeafExamples:
    """Returns `flops * per_flop` examples; equal seeds give equal ones.

    Args:
        after: a blueprint of two players and its continuations.
        seed: of flops, ends, hands and runouts.
        flops: how many.
        runouts: of each example.
        per_flop: examples with each flop.

    Raises:
        ValueError: more than two players, or a menu that never ends a flop.
    """
    ends = flop_ends(after)
    rng = np.random.default_rng([seed, 0x1EAF])
    made = []
    for _ in range(flops):
        board = tuple(sorted(rng.choice(NUM_CARDS, FLOP, replace=False).tolist()))
        made += [_example(after, ends, board, runouts, rng) for _ in range(per_flop)]
    return LeafExamples(*(np.stack(x) for x in zip(*made, strict=True)))


def flop_ends(after: Beyond) -> np.ndarray:
    """Returns int [L], nodes of a blueprint's menu at which the turn begins."""
    tree = after.view.tree
    if tree.num_players != 2:
        raise ValueError(f"a leaf network is for two players, not {tree.num_players}")
    above = np.maximum(tree.parent, 0)
    ends = np.flatnonzero((tree.count > 0) & (tree.stage == 2) & (tree.stage[above] == 1))
    if not len(ends):
        raise ValueError("the menu has no bets after the flop, so a search needs no values there")
    return ends


class LeafSpot(NamedTuple):
    """An end of a flop's betting.

    Attributes:
        board: three cards.
        node: of the blueprint's menu, where the turn begins.
        spent: chips that either player has put in.
        chooser: seat of the player who chooses a continuation.
    """

    board: tuple[int, ...]
    node: int
    spent: int
    chooser: int


def leaf_spot(
    after: Beyond, ends: np.ndarray, board: tuple[int, ...], rng: np.random.Generator
) -> LeafSpot:
    """Returns one of some ends, drawn."""
    node, chooser = int(rng.choice(ends)), int(rng.integers(2))
    spent = float(after.view.spent[node].max())
    if rng.random() < 0.5:
        most = 0.9 * after.game.menu.stack
        spent = np.clip(spent * np.exp(rng.uniform(-RESIZE, RESIZE)), 1, most)
    return LeafSpot(board, node, round(spent), chooser)


def some_hands(board: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Returns int [U], hands about as strong as each other."""
    live = np.flatnonzero(possible(board))
    place = hand_features(board)[live, 0]
    width = np.exp(rng.uniform(np.log(NARROW), np.log(WIDE)))
    near = np.exp(-(((place - rng.random()) / width) ** 2)) + 1e-9
    return rng.choice(live, OPPONENTS, replace=False, p=near / near.sum())


def some_runouts(board: tuple[int, ...], count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns uint8 [count, 5], complete boards."""
    rest = np.setdiff1d(np.arange(NUM_CARDS), board)
    cards = np.stack([rng.choice(rest, 2, replace=False) for _ in range(count)])
    return np.concatenate([np.tile(board, (count, 1)), cards], 1).astype(np.uint8)


def added_by_betting(
    after: Beyond,
    spot: LeafSpot,
    hand: np.ndarray,
    weights: np.ndarray,
    boards: np.ndarray,
) -> np.ndarray:
    """Returns float64 [T, k], what later betting adds for hands against a range, in pots.

    Args:
        after: the blueprint and its continuations.
        spot: where the flop ends.
        hand: int [T], of the player who chooses.
        weights: float [1326], the other's range.
        boards: uint8 [R, 5], over which means are taken.
    """
    stack = after.game.menu.stack
    ranges = np.zeros((2, NUM_HANDS))
    ranges[spot.chooser] = possible(spot.board)
    ranges[1 - spot.chooser] = weights
    state = start_at(after.game.menu.rules, 2, (spot.spent,) * 2, stack)
    begin = SearchBegin(state, spot.board, ranges, spot.node)
    won = continuation_values(begin, after, boards, spot.chooser)[:, hand] * len(boards)
    met, shown = _checked_down(boards, hand, weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = (won - shown * spot.spent) / (2 * spot.spent * met)
    return np.where(met > 0, value, np.nan).T


def _example(
    after: Beyond,
    ends: np.ndarray,
    board: tuple[int, ...],
    runouts: int,
    rng: np.random.Generator,
) -> LeafExamples:
    spot = leaf_spot(after, ends, board, rng)
    other = some_hands(board, rng)
    hand = rng.choice(np.flatnonzero(possible(board)), TARGETS, replace=False)
    weights = np.zeros(NUM_HANDS)
    weights[other] = 1
    boards = some_runouts(board, runouts, rng)
    value = added_by_betting(after, spot, hand, weights, boards)
    where = np.array([spot.node]), np.array([spot.spent])
    betting = betting_features(after, *where, after.game.menu.stack, spot.chooser)[0]
    hands = hand.astype(np.int16), other.astype(np.int16)
    return LeafExamples(np.array(board, np.uint8), betting, *hands, value.astype(np.float32))


def _checked_down(
    boards: np.ndarray, hand: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (weight that hands meet on some runouts, what they win of it), float [T], sums."""
    other = np.flatnonzero(weights)
    fit = hands_fit()[np.ix_(hand, other)] * weights[other]
    met, won = np.zeros((2, len(hand)))
    for mine, theirs in zip(strengths(hand, boards), strengths(other, boards), strict=True):
        there = fit * (mine[:, None] >= 0) * (theirs >= 0)
        met += there.sum(1)
        won += (there * np.sign(mine[:, None] - theirs)).sum(1)
    return met, won
