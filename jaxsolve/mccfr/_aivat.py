"""AIVAT for hands of any number of players whose tables are known.

The form of `evaluate.aivat` (Burch, Schmid, Moravcik, Morrill & Bowling 2018): at every move of
chance and of a player the estimate gains what a value function expected before and loses what it
says after. Here every policy is known, so each move is corrected with all cards open, and nothing
is left to average over states that somebody cannot tell apart. Both terms of a move have equal
means given all that came before, so any value function that was fixed before leaves the mean alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from jaxsolve.mccfr._play import SeatTable, policies_at
from jaxsolve.mccfr._tree import ActionTree


class DealValues(Protocol):
    """A value function of some deals (n players)."""

    def value(self, node: np.ndarray, deal: np.ndarray, seen: bool) -> np.ndarray:
        """Returns float [K, n], what the players are thought to win.

        Args:
            node: int [K], public nodes.
            deal: int [K], the deal of each.
            seen: whether the cards of a node's own stage are out. If not, nothing of these may be
                read; it matters at the first node of a stage alone.
        """
        ...

    def expected(self, node: np.ndarray, deal: np.ndarray) -> np.ndarray:
        """Returns float [K, n], the mean of `value(node, ..., seen=True)` over the next cards.

        Or an estimate with this mean, drawn independently of the cards that came.

        Args:
            node: int [K], the first nodes of stages.
            deal: int [K], whose cards of the stages before are out.
        """
        ...


def aivat_corrections(
    tree: ActionTree,
    seats: Sequence[SeatTable],
    bucket: np.ndarray,
    end: np.ndarray,
    values: DealValues,
) -> np.ndarray:
    """Returns float64 [D, n], what AIVAT adds to the payoffs of hands; 0 on average.

    Args:
        tree: the public actions.
        seats: the table that each player played by.
        bucket: uint16 [D, n, G], see `play_to_ends`.
        end: int64 [D], where the hands ended.
        values: of these deals.
    """
    out = np.zeros((len(end), tree.num_players))
    deals = np.arange(len(end))
    node = np.array(end)
    while len(deals := deals[tree.parent[node[deals]] >= 0]):
        here = node[deals]
        up = tree.parent[here]
        dealt = tree.stage[here] > tree.stage[up]
        out[deals[dealt]] += _dealt(values, here[dealt], deals[dealt])
        policy = policies_at(tree, seats, up, bucket[deals])
        column = np.minimum(np.arange(policy.shape[1]), tree.count[up][:, None] - 1)
        child = tree.child[up][:, None] + column
        worth = values.value(child.reshape(-1), np.repeat(deals, policy.shape[1]), False)
        worth = worth.reshape(*policy.shape, -1)
        taken = worth[np.arange(len(deals)), here - tree.child[up]]
        out[deals] += (policy[..., None] * worth).sum(1) - taken
        node[deals] = up
    return out + _dealt(values, node, np.arange(len(end)))


def _dealt(values: DealValues, node: np.ndarray, deal: np.ndarray) -> np.ndarray:
    return np.asarray(values.expected(node, deal) - values.value(node, deal, True))
