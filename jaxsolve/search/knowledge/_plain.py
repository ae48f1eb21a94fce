"""PCFR+ on a tree that grows, in NumPy: the numbers of `jaxsolve/native/positions.cc`."""

from __future__ import annotations

import numpy as np

from jaxsolve.mccfr import pass_key, uniform
from jaxsolve.search.knowledge._root import Read, Roots
from jaxsolve.search.knowledge._tree import PositionTree
from jaxsolve.types import CHANCE

PRIOR = 2.0
"""Visits of an action before the first one, with worths 1 and -1."""


class PlainSolver:
    """`GrowingSolver` in NumPy; sequences are rows of `table`.

    Attributes:
        table: float64 [S, 9], of each sequence: regret, the last change of it, strategy, average,
            gain, worth to who acts, visits, mean of worth at visits and sum of squares around it.
    """

    exact = False
    REGRET, CHANGE, PLAY, AVERAGE, GAIN, WORTH, VISITS, MEAN, SQUARES = range(9)

    def __init__(self, roots: Roots, discount: float = 0.0):
        self.roots, self.num_nodes, self.iterations = roots, 0, 0
        self.discount = discount
        self.grown = 0  # iterations before the tree last grew; averages are of those since
        j = len(roots.share)
        self.enter, self.pick = np.full(j, 0.5), np.full(j, 1 / j)
        self.in_regret, self.out_regret, self.pick_regret = np.zeros(j), np.zeros(j), np.zeros(j)
        self.gain = np.zeros(j)
        self._known: dict[tuple[int, int], int] = {}
        self.infoset, self.sequence = np.zeros((2, 0), int)  # of nodes
        self.begin, self.width, self.owner = list[int](), list[int](), list[int]()  # of infosets
        self.first, self.visits = list[int](), list[float]()
        self.table = np.zeros((0, 9))

    @property
    def num_infosets(self) -> int:
        """See `GrowingSolver`."""
        return len(self.begin)

    def extend(self, tree: PositionTree) -> None:
        """See `GrowingSolver`."""
        old, n = self.num_nodes, int(tree.num_nodes)
        self.num_nodes, self.grown = n, self.iterations
        self.table[:, self.AVERAGE] = 0
        self.parent = np.asarray(tree.parent)[:n].astype(np.int64)
        self.actor = np.asarray(tree.actor)[:n].copy()
        self.odds = np.asarray(tree.odds)[:n].astype(np.float64)
        self.value = np.asarray(tree.value)[:n].astype(np.float64)
        words = np.asarray(tree.worlds.memory)[:n].astype(np.uint64)
        names = (words[..., 0] << np.uint64(32)) | words[..., 1]
        grown = np.full((2, n), -1)
        grown[:, :old] = self.infoset, self.sequence
        self.infoset, self.sequence = grown
        child = np.flatnonzero(self.parent >= 0)
        self.chooser = np.full(n, CHANCE)
        self.chooser[child] = self.actor[self.parent[child]]
        self.child, self.count = np.full(n, -1), np.bincount(self.parent[child], minlength=n)
        self.child[self.parent[child][::-1]] = child[::-1]
        for i in range(old, n):
            u = int(self.parent[i])
            if u >= 0 and self.child[u] == i and self.chooser[i] >= 0:
                self._open(int(u), int(names[u, self.actor[u]]))
        depth = np.zeros(n, int)
        for k in child:
            depth[k] = depth[self.parent[k]] + 1
        order = np.argsort(depth, kind="stable")
        self.levels = np.split(order, np.searchsorted(depth[order], np.arange(1, depth.max() + 1)))

    def _open(self, node: int, name: int) -> None:
        player, width = int(self.actor[node]), int(self.count[node])
        below = slice(self.child[node], self.child[node] + width)
        at = self._known.setdefault((name, player), len(self.begin))
        if at == len(self.begin):
            self.begin.append(len(self.table))
            self.width.append(width)
            self.owner.append(player)
            self.first.append(node)
            self.visits.append(0.0)
            made = np.zeros((width, 9))
            made[:, self.WORTH] = (1 - 2 * player) * self.value[below]
            made[:, [self.VISITS, self.SQUARES]] = PRIOR
            best = int(made[:, self.WORTH].argmax())
            made[best, [self.REGRET, self.PLAY]] = 1e-9, 1.0
            self.table = np.concatenate([self.table, made])
        self.infoset[node] = at
        fits = min(width, self.width[at])
        self.sequence[below][:fits] = self.begin[at] + np.arange(fits)

    def _kept(self) -> float:
        return (self.iterations / (self.iterations + 1)) ** self.discount

    def _edges(self) -> np.ndarray:
        if not len(self.table):
            return self.odds.copy()
        return np.where(self.sequence < 0, self.odds, self.table[self.sequence, self.PLAY])

    def _reach_of_classes(self) -> np.ndarray:
        share, kind = self.roots.share, self.roots.gadget
        if kind == "unsafe":
            return share
        if kind == "resolve":
            return share * self.enter
        if kind == "maxmargin":
            return self.pick
        most = self.enter.max()
        return most * share * self.enter + (1 - most) * self.pick

    def iterate(self, iterations: int) -> None:
        """See `GrowingSolver`."""
        for _ in range(iterations):
            for player in (0, 1):
                self._update(player)
            self.iterations += 1

    def _update(self, player: int) -> None:
        roots, sign, mine = self.roots, 1 - 2 * player, self.chooser == player
        arrives = self._reach_of_classes()[roots.klass]
        edge = self._edges()
        reach, own = np.zeros(self.num_nodes), np.zeros(self.num_nodes)
        reach[roots.node] = roots.weight * (arrives if player == roots.player else 1.0)
        own[roots.node] = 1.0 if player == roots.player else arrives
        for level in self.levels[1:]:
            up = self.parent[level]
            reach[level] = reach[up] * np.where(mine[level], 1.0, edge[level])
            own[level] = own[up] * np.where(mine[level], edge[level], 1.0)
        flow = np.where(self.child < 0, sign * reach * self.value, 0.0)
        for level in self.levels[:0:-1]:
            np.add.at(
                flow, self.parent[level], flow[level] * np.where(mine[level], edge[level], 1.0)
            )
        t, table, kept = self.iterations - self.grown + 1, self.table, self._kept()
        if len(table):
            at = mine & (self.sequence >= 0)
            table[:, self.GAIN] = np.bincount(self.sequence[at], flow[at], len(table))
            decides = self.infoset >= 0
            mass = np.bincount(self.infoset[decides], reach[decides], len(self.begin))
        for k, (begin, width, owner) in enumerate(
            zip(self.begin, self.width, self.owner, strict=True)
        ):
            if owner != player:
                continue
            rows = table[begin : begin + width]
            if mass[k] > 0:
                rows[:, self.WORTH] = rows[:, self.GAIN] / mass[k]
            rows[:, self.AVERAGE] += t**2 * own[self.first[k]] * rows[:, self.PLAY]
            rows[:, self.CHANGE] = rows[:, self.GAIN] - rows[:, self.PLAY] @ rows[:, self.GAIN]
            rows[:, self.REGRET] = np.maximum(kept * rows[:, self.REGRET] + rows[:, self.CHANGE], 0)
            rows[:, self.PLAY] = _matched(rows[:, self.REGRET] + rows[:, self.CHANGE])
        if player != roots.player:
            self._update_classes(flow)

    def _update_classes(self, flow: np.ndarray) -> None:
        roots, j, kept = self.roots, len(self.enter), self._kept()
        self.gain = np.bincount(roots.klass, flow[roots.node], j) - roots.alternative
        inside, outside = (1 - self.enter) * self.gain, -self.enter * self.gain
        change = self.gain - self.pick @ self.gain
        self.in_regret = np.maximum(kept * self.in_regret + inside, 0)
        self.out_regret = np.maximum(kept * self.out_regret + outside, 0)
        self.pick_regret = np.maximum(kept * self.pick_regret + change, 0)
        both = np.stack([self.in_regret + inside, self.out_regret + outside], -1)
        self.enter = np.array([_matched(pair)[0] for pair in both])
        self.pick = _matched(self.pick_regret + change)

    def leaves(self, explorer: int, most: int, seed: int) -> np.ndarray:
        """See `GrowingSolver`."""
        reach, found, edge = self._reach_of_classes(), list[int](), self._edges()
        total = reach.sum()
        for attempt in range(4 * most):
            if len(found) == most:
                break
            key = pass_key(seed, attempt)
            played = total > 0 and uniform(key, 0) < 0.5
            first = 1 if total > 0 else 0
            one = float(uniform(key, first)) * (total if played else 1.0)
            klass = _drawn(one, reach if played else self.roots.share)
            members = np.flatnonzero(self.roots.klass == klass)
            at = _drawn(float(uniform(key, first + 1)), self.roots.weight[members])
            node, step = int(self.roots.node[members[at]]), first + 2
            while self.child[node] >= 0:
                drawn, step = uniform(key, step), step + 1
                begin, width = self.child[node], self.count[node]
                k = self.infoset[node]
                if k >= 0 and self.owner[k] == explorer:
                    action = self._explore(k, drawn)
                else:
                    odds = edge[begin : begin + width]
                    action = _drawn(float(drawn), odds)
                    while action > 0 and odds[action] <= 0:
                        action -= 1
                node = int(begin + min(action, width - 1))
            if self.actor[node] >= CHANCE and node not in found:
                found.append(node)
        return np.array(found, np.int32)

    def _explore(self, infoset: int, drawn: np.float32) -> int:
        begin, width = self.begin[infoset], self.width[infoset]
        rows = self.table[begin : begin + width]
        self.visits[infoset] += 1
        if drawn < 0.5:
            support = np.flatnonzero(rows[:, self.PLAY] > 0)
            action = support[min(int(2 * drawn * np.float32(len(support))), len(support) - 1)]
        else:
            spread = np.sqrt(rows[:, self.SQUARES] / rows[:, self.VISITS])
            bonus = spread * np.sqrt(self.visits[infoset]) / (rows[:, self.VISITS] - PRIOR + 1)
            action = (rows[:, self.WORTH] + bonus).argmax()
        row = rows[action]
        row[self.VISITS] += 1
        off = row[self.WORTH] - row[self.MEAN]
        row[self.MEAN] += off / row[self.VISITS]
        row[self.SQUARES] += off * (row[self.WORTH] - row[self.MEAN])
        return int(action)

    def restore(self, regret: np.ndarray, strategy: np.ndarray) -> None:
        """See `GrowingSolver`."""
        at = np.flatnonzero((self.sequence >= 0) & ~np.isnan(regret))
        self.table[self.sequence[at], self.REGRET] = regret[at]
        self.table[self.sequence[at], self.PLAY] = strategy[at]

    def read(self) -> Read:
        """See `GrowingSolver`."""
        edge, average, regret = self._edges(), self._edges(), np.zeros(self.num_nodes)
        at = np.flatnonzero(self.sequence >= 0)
        mean = np.zeros(len(self.table))
        for begin, width in zip(self.begin, self.width, strict=True):
            rows = self.table[begin : begin + width]
            total = rows[:, self.AVERAGE].sum()
            played = rows[:, self.AVERAGE] / total if total > 0 else rows[:, self.PLAY]
            mean[begin : begin + width] = played
        average[at] = mean[self.sequence[at]]
        regret[at] = self.table[self.sequence[at], self.REGRET]
        infoset = self.infoset.astype(np.int32)
        return Read(edge, average, regret, infoset, self.enter, self.pick, self.gain)


def _matched(regret: np.ndarray) -> np.ndarray:
    """Returns a strategy in proportion to positive regrets, uniform where there are none."""
    positive = np.maximum(regret, 0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(regret), 1 / len(regret))


def _drawn(number: float, weight: np.ndarray) -> int:
    """Returns the first place up to which weights sum to more than a number, at most the last."""
    for k in range(len(weight) - 1):
        number -= weight[k]
        if number < 0:
            return k
    return len(weight) - 1
