"""A real hand as one menu sees it: chips at its nodes, own actions made real, others' translated.

A bet that the menu does not have is taken for one of its neighbours by the pseudo-harmonic mapping
(Ganzfried & Sandholm 2013), as fractions of the pot, drawn by chance; beyond the smallest or the
largest bet there is one neighbour. Own bets are made real as the same fraction of the real pot.
Where the chips at the node are the real ones, nothing changes. A hand that has no counterpart any
more, such as a raise after the menu's last, has left the menu.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._hand_values import levels
from jaxsolve.search import pseudo_harmonic

LEFT = -1
"""In place of a node: the hand has left the menu."""


class Table(NamedTuple):
    """Real hands at a decision (K hands, n seats).

    Attributes:
        actor: int [K].
        street: int [K].
        spent: int [K, n], chips over the whole hand.
        fold: bool [K], whether folding is allowed.
        call: int [K], the total of a call or check.
        low, high: int [K], least and largest total of a raise; no raise if low > high.
    """

    actor: np.ndarray
    street: np.ndarray
    spent: np.ndarray
    fold: np.ndarray
    call: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def bet(self) -> np.ndarray:
        """int [K], the largest total."""
        return np.asarray(self.spent.max(1))

    @property
    def pot(self) -> np.ndarray:
        """int [K], after calling."""
        return _pot(self.spent, self.actor)

    def rows(self, rows: np.ndarray) -> Table:
        """Returns some of the hands."""
        return Table(*(x[rows] for x in self))


class MenuView:
    """The public actions of a menu with the chips at every node."""

    def __init__(self, game: HoldemGame) -> None:
        """Counts the chips."""
        self.game, self.tree, tree = game, game.tree, game.tree
        self.spent = np.zeros((tree.num_nodes, game.menu.players), np.int32)
        self.spent[0] = game.menu.rules.blinds
        for below in levels(tree):
            above = tree.parent[below]
            self.spent[below] = self.spent[above]
            to, seat = tree.action[below], tree.actor[above]
            paid = to != FOLD
            self.spent[below[paid], seat[paid]] = to[paid]

    def follows(self, node: np.ndarray, actor: np.ndarray, street: np.ndarray) -> np.ndarray:
        """Returns bool [K], whether nodes are decisions of the seats that really act."""
        here = np.maximum(node, 0)
        tree = self.tree
        same = (tree.actor[here] == actor) & (tree.stage[here] == street)
        return np.asarray((node != LEFT) & (tree.count[here] > 0) & same)

    def real_totals(self, node: np.ndarray, table: Table) -> np.ndarray:
        """Returns int [K, A], the real total, or FOLD, of each action at decisions int [K]."""
        child, there = self._children(node)
        total = self.tree.action[child].astype(np.int64)
        fraction = self._fractions(node, total)
        own = np.rint(table.bet[:, None] + fraction * table.pot[:, None]).astype(np.int64)
        same = (self.spent[node] == table.spent).all(1, keepdims=True)
        own = np.where(same, total, own)
        own = np.where(total >= self.game.menu.stack, table.high[:, None], own)
        call = table.call[:, None]
        raised = np.clip(own, table.low[:, None], np.maximum(table.high, table.low)[:, None])
        raised = np.where((table.low <= table.high)[:, None], raised, call)
        out = np.where(there & self._raises(node, total), raised, call)
        return np.where((total == FOLD) & table.fold[:, None], FOLD, out)

    def seen_as(
        self, node: np.ndarray, table: Table, to: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns what real actions are taken for.

        Args:
            node: int [K], decisions of the seats that really act.
            table: before the actions.
            to: int [K], real totals, or FOLD.

        Returns:
            (smaller, larger, share): nodes int [K], or LEFT, and the probability of the first.
        """
        child, there = self._children(node)
        total = self.tree.action[child].astype(np.int64)
        raises = there & self._raises(node, total)
        first = np.arange(len(node))
        fold = np.where(total[:, 0] == FOLD, child[:, 0], LEFT)
        call = child[first, (total[:, 0] == FOLD).astype(int)]
        fraction = np.where(raises, self._fractions(node, total), np.inf)
        x = (to - table.bet) / table.pot
        count = raises.sum(1)
        skip = np.where(raises, 0, there).sum(1)  # fold and call come first
        smaller = skip + np.maximum((fraction <= x[:, None]).sum(1) - 1, 0)
        larger = skip + np.minimum((fraction < x[:, None]).sum(1), np.maximum(count - 1, 0))
        same = (self.spent[node] == table.spent).all(1, keepdims=True) & raises
        exact = same & (total == to[:, None])
        known = exact.any(1)
        smaller = np.where(known, exact.argmax(1), np.minimum(smaller, child.shape[1] - 1))
        larger = np.where(known, exact.argmax(1), np.minimum(larger, child.shape[1] - 1))
        share = np.ones(len(node))
        between = np.flatnonzero((smaller != larger) & (count > 0) & (to > table.bet))
        ends = [fraction[between, k[between]] for k in (smaller, larger)]
        share[between] = pseudo_harmonic(x[between], *ends)
        out = []
        for which in (smaller, larger):
            raised = np.where(count > 0, child[first, which], LEFT)
            out.append(np.where(to == FOLD, fold, np.where(to > table.bet, raised, call)))
        return out[0], out[1], share

    def follow(
        self, node: np.ndarray, table: Table, to: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Returns int64 [K], the nodes after real actions, or LEFT; `rng` draws translations.

        Args:
            node: int [K], nodes or LEFT.
            table: before the actions.
            to: int [K], real totals, or FOLD.
            rng: used for the hands that the menu follows.
        """
        on = np.flatnonzero(self.follows(node, table.actor, table.street))
        after = np.full(len(node), LEFT, np.int64)
        smaller, larger, share = self.seen_as(node[on], table.rows(on), to[on])
        after[on] = np.where(rng.random(len(on)) < share, smaller, larger)
        return after

    def _children(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int [K, A] children, bool [K, A] whether they are there)."""
        count = self.tree.count[node][:, None]
        column = np.arange(int(count.max(initial=2)))
        return self.tree.child[node][:, None] + np.minimum(column, count - 1), column < count

    def _raises(self, node: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.asarray(total > self.spent[node].max(1)[:, None])

    def _fractions(self, node: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Returns float [K, A], raises as fractions of the pot after calling."""
        spent = self.spent[node]
        pot = _pot(spent, self.tree.actor[node])
        return np.asarray((total - spent.max(1)[:, None]) / pot[:, None])


def _pot(spent: np.ndarray, actor: np.ndarray) -> np.ndarray:
    own = spent[np.arange(len(spent)), actor]
    return np.asarray(spent.sum(1) + spent.max(1) - own)
