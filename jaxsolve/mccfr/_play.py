"""Hands played by a table of a strategy, many at a time: what each player wins with it."""

from __future__ import annotations

import numpy as np

from jaxsolve import native
from jaxsolve.mccfr._game import Deals, PotPayoffs, SampledGame, TablePayoffs
from jaxsolve.mccfr._native import pots_native
from jaxsolve.mccfr._tables import as_float


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
    node = np.zeros(len(deals.bucket), np.int64)
    playing = np.arange(len(node))
    while len(playing := playing[tree.count[node[playing]] > 0]):
        here = node[playing]
        count = tree.count[here]
        bucket = deals.bucket[playing, tree.actor[here], tree.stage[here]].astype(np.int64)
        policy = _policies(sums, rows[here] + bucket * count, count)
        # The last action that is possible takes what rounding leaves.
        below = policy.cumsum(1) <= rng.random(len(here))[:, None] * policy.sum(1)[:, None]
        last = policy.shape[1] - 1 - (policy[:, ::-1] > 0).argmax(1)
        node[playing] = tree.child[here] + np.minimum(below.sum(1), last)
    end_of = np.full(tree.num_nodes, -1, np.int32)
    end_of[tree.ends] = np.arange(len(tree.ends))
    return _won(game.payoffs, end_of[node], deals.outcome)


def _policies(sums: np.ndarray, first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Returns float64 [D, A], policies whose entries begin at `first`; padding is 0."""
    column = np.arange(count.max())
    there = column < count[:, None]
    entries = as_float(sums[first[:, None] + np.minimum(column, count[:, None] - 1)])
    positive = np.where(there, np.maximum(entries, 0), 0).astype(np.float64)
    nothing = ~positive.any(1)
    positive[nothing] = there[nothing]
    return positive


def _won(payoffs: PotPayoffs | TablePayoffs, end: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    if isinstance(payoffs, TablePayoffs):
        return payoffs.table[outcome[:, 0], end]
    if native.host_library("mccfr") is not None:
        return pots_native(payoffs, end, outcome)
    each = [payoffs(int(e), ranks) for e, ranks in zip(end, outcome, strict=True)]
    return np.array(each, np.float32).reshape(outcome.shape)
