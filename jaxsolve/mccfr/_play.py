"""Hands played by a table of a strategy, many at a time: what each player wins with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve import native
from jaxsolve.mccfr._game import Deals, PotPayoffs, SampledGame, TablePayoffs
from jaxsolve.mccfr._native import pots_native
from jaxsolve.mccfr._tables import as_float
from jaxsolve.mccfr._tree import ActionTree


class SeatTable(NamedTuple):
    """What one player plays by.

    Attributes:
        row: int64 [P + 1], where the entries of each node begin, see `ActionTree.rows`.
        sums: [E], of its policy.
    """

    row: np.ndarray
    sums: np.ndarray


def play_hands(
    game: SampledGame, sums: np.ndarray, deals: Deals, rng: np.random.Generator
) -> np.ndarray:
    """Returns float32 [D, n], what each player wins when all play by one strategy.

    Args:
        game: the game (n players).
        sums: of the policy, [sequence, bucket]: `Tables.average`, or `Tables.regret` for the
            current policy.
        deals: D of them, such as `game.deal` makes; each is played once.
        rng: draws the actions.

    Raises:
        ValueError: the table is of another size.
    """
    tree, rows = game.tree, game.tree.rows(game.num_buckets)
    if len(sums) != int(rows[-1]):
        raise ValueError(f"a table of {len(sums):,} entries is not of {game.name}")
    seats = [SeatTable(rows, sums)] * tree.num_players
    node = play_to_ends(tree, seats, deals.bucket, rng)
    return payoffs_at(game.payoffs, tree.end_number[node], deals.outcome)


def play_to_ends(
    tree: ActionTree,
    seats: Sequence[SeatTable],
    bucket: np.ndarray,
    rng: np.random.Generator,
    start: int = 0,
) -> np.ndarray:
    """Returns int64 [D], the end to which each hand is played.

    Args:
        tree: the public actions.
        seats: the table of each player.
        bucket: uint16 [D, n, G], of each player in the buckets of its own table.
        rng: draws the actions.
        start: the node where all hands are.
    """
    node = np.full(len(bucket), start, np.int64)
    playing = np.arange(len(node))
    while len(playing := playing[tree.count[node[playing]] > 0]):
        here = node[playing]
        policy = policies_at(tree, seats, here, bucket[playing])
        # The last action that is possible takes what rounding leaves.
        below = policy.cumsum(1) <= rng.random(len(here))[:, None] * policy.sum(1)[:, None]
        last = policy.shape[1] - 1 - (policy[:, ::-1] > 0).argmax(1)
        node[playing] = tree.child[here] + np.minimum(below.sum(1), last)
    return node


def policies_at(
    tree: ActionTree, seats: Sequence[SeatTable], node: np.ndarray, bucket: np.ndarray
) -> np.ndarray:
    """Returns float64 [K, A], what the players who act at some nodes play; padding is 0.

    Args:
        tree: the public actions.
        seats: the table of each player.
        node: int [K], decisions.
        bucket: uint16 [K, n, G].
    """
    count, actor = tree.count[node], tree.actor[node]
    known = bucket[np.arange(len(node)), actor, tree.stage[node]].astype(np.int64)
    column = np.arange(count.max(initial=1))
    there = column < count[:, None]
    entries = np.zeros(there.shape, np.float32)
    for i, (row, sums) in enumerate(seats):
        mine = np.flatnonzero(actor == i)
        first = row[node[mine]] + known[mine] * count[mine]
        last = count[mine, None] - 1
        entries[mine] = as_float(sums[first[:, None] + np.minimum(column, last)])
    return _matched_rows(entries, there)


def _matched_rows(entries: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Returns the positive parts of sums [K, A] as probabilities; uniform without any.

    Args:
        entries: float [K, A].
        there: bool [K, A], False in padding, which gets 0.
    """
    positive = np.where(there, np.maximum(entries, 0), 0).astype(np.float64)
    nothing = ~positive.any(1)
    positive[nothing] = there[nothing]
    return positive / positive.sum(1, keepdims=True)


def payoffs_at(
    payoffs: PotPayoffs | TablePayoffs, end: np.ndarray, outcome: np.ndarray
) -> np.ndarray:
    """Returns float32 [D, n], what each player wins at ends int [D]."""
    if isinstance(payoffs, TablePayoffs):
        return payoffs.table[outcome[:, 0], end]
    if native.host_library("mccfr") is not None:
        return pots_native(payoffs, end, outcome)
    each = [payoffs(int(e), ranks) for e, ranks in zip(end, outcome, strict=True)]
    return np.array(each, np.float32).reshape(outcome.shape)
