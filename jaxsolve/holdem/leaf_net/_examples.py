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


def _example(
    after: Beyond,
    ends: np.ndarray,
    board: tuple[int, ...],
    runouts: int,
    rng: np.random.Generator,
) -> LeafExamples:
    node, chooser = int(rng.choice(ends)), int(rng.integers(2))
    stack = after.game.menu.stack
    spent = float(after.view.spent[node].max())
    if rng.random() < 0.5:
        spent = np.clip(spent * np.exp(rng.uniform(-RESIZE, RESIZE)), 1, 0.9 * stack)
    spent, pot = round(spent), 2 * round(spent)
    live = np.flatnonzero(possible(board))
    place = hand_features(board)[live, 0]
    width = np.exp(rng.uniform(np.log(NARROW), np.log(WIDE)))
    near = np.exp(-(((place - rng.random()) / width) ** 2)) + 1e-9
    other = rng.choice(live, OPPONENTS, replace=False, p=near / near.sum())
    hand = rng.choice(live, TARGETS, replace=False)
    rest = np.setdiff1d(np.arange(NUM_CARDS), board)
    cards = np.stack([rng.choice(rest, 2, replace=False) for _ in range(runouts)])
    boards = np.concatenate([np.tile(board, (runouts, 1)), cards], 1).astype(np.uint8)

    ranges = np.zeros((2, NUM_HANDS))
    ranges[chooser] = possible(board)
    ranges[1 - chooser, other] = 1
    state = start_at(after.game.menu.rules, 2, (spent, spent), stack)
    begin = SearchBegin(state, board, ranges, node)
    won = continuation_values(begin, after, boards, chooser)[:, hand] * runouts
    met, shown = _checked_down(boards, hand, other)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(met > 0, (won - shown * spent) / (pot * met), np.nan)
    betting = betting_features(after, np.array([node]), np.array([spent]), stack, chooser)[0]
    cards_of = np.array(board, np.uint8)
    hands = hand.astype(np.int16), other.astype(np.int16)
    return LeafExamples(cards_of, betting, *hands, value.T.astype(np.float32))


def _checked_down(
    boards: np.ndarray, hand: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (pairs that meet on some runouts, what they win: 1 or -1), float [T], sums."""
    fit = hands_fit()[np.ix_(hand, other)]
    mine, theirs = (strengths(x, boards) for x in (hand, other))
    there = fit * (mine[:, :, None] >= 0) * (theirs[:, None] >= 0)
    signs = np.sign(mine[:, :, None] - theirs[:, None])
    return there.sum((0, 2)), (there * signs).sum((0, 2))
