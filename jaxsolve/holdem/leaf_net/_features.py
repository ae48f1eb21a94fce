"""What a leaf network is told of cards and betting.

A hand is told by the places it takes among all hands on the rivers that may come: their mean and
eight quantiles. A flop by its cards' ranks, suits and pairs. The betting by chips and by who bet
last. Modicum's network had 34 numbers of a state; these are 17 of hand and board and 9 of betting,
for either player.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem.limited import Beyond
from jaxsolve.mccfr import Kind

FLOP = 3
"""Cards on the board."""

QUANTILES = (0.05, 0.15, 0.3, 0.45, 0.55, 0.7, 0.85, 0.95)
STRIDE = 9
"""Of all runouts each ninth is looked at; they are 130."""

CARD_FEATURES = 1 + len(QUANTILES) + 8
BETTING_FEATURES = 9


def runouts_of(board: Sequence[int]) -> np.ndarray:
    """Returns uint8 [R, 5], all complete boards that begin with a flop, in the order of cards."""
    left = [card for card in range(NUM_CARDS) if card not in board]
    more = itertools.combinations(left, 5 - len(board))
    return np.array([(*board, *cards) for cards in more], np.uint8)


@functools.lru_cache(maxsize=512)
def hand_features(board: tuple[int, ...]) -> np.ndarray:
    """Returns float32 [1326, 17], hands and the flop they are on; zeros for hands that meet it.

    Raises:
        ValueError: the board has not three cards.
    """
    if len(board) != FLOP:
        raise ValueError(f"a leaf network knows flops, and the board has {len(board)} cards")
    ranked = strengths(np.arange(NUM_HANDS), runouts_of(board)[::STRIDE])
    live = ranked >= 0
    ordered = np.sort(ranked, 1)
    place = np.empty(ranked.shape, np.float32)
    for row, (all_hands, mine) in enumerate(zip(ordered, ranked, strict=True)):
        below, upto = (np.searchsorted(all_hands, mine, side) for side in ("left", "right"))
        place[row] = (below + upto) / 2
    dead = (~live).sum(1, keepdims=True)
    place = np.where(live, (place - dead) / live.sum(1, keepdims=True), 0)
    count = live.sum(0)
    mean = place.sum(0) / np.maximum(count, 1)
    spread = np.quantile(np.where(live, place, mean), QUANTILES, axis=0).T
    ranks, suits = np.sort(np.array(board) // 4)[::-1], np.array(board) % 4
    most = np.bincount(suits).max()
    texture = [*(ranks / 12), most == 1, most == 2, most == 3, *(ranks[:-1] == ranks[1:])]
    out = np.concatenate([mean[:, None], spread, np.tile(texture, (NUM_HANDS, 1))], 1)
    return np.where(count[:, None] > 0, out, 0).astype(np.float32)


def betting_features(
    after: Beyond, nodes: np.ndarray, spent: np.ndarray, stack: float, chooser: int
) -> np.ndarray:
    """Returns float32 [L, 9], ends of a flop.

    Args:
        after: the blueprint.
        nodes: int [L], its nodes where the turn begins.
        spent: float [L], chips that either player has really put in.
        stack: chips that each player had.
        chooser: seat of the player who chooses a continuation.
    """
    columns = [np.log2(1 + (stack - spent) / (2 * spent)) / 3, spent / stack]
    for street in range(2):
        bets, last = _bets(after, nodes, street)
        columns += [bets / 3, last == 0, last == 1]
    columns.append(np.full(len(nodes), float(chooser)))
    return np.stack(columns, 1).astype(np.float32)


def _bets(after: Beyond, nodes: np.ndarray, street: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (bets and raises on a street before some nodes, who made the last; -1 for nobody)."""
    tree = after.view.tree
    bets, last = np.zeros(len(nodes), int), np.full(len(nodes), -1)
    node = np.array(nodes)
    while (node > 0).any():
        above = np.maximum(tree.parent[node], 0)
        raised = (node > 0) & (after.kind[node] == Kind.RAISE) & (tree.stage[above] == street)
        last = np.where(raised & (last < 0), tree.actor[above], last)
        bets += raised
        node = above
    return bets, last
