"""The linear program of a tree of positions: what P should play, exactly.

x are P's realisation weights, v_I what an infoset I of O is worth to O, V_J what a class J is
worth to O per unit of its weight, alt_J what O has for staying out:

    v_I >= payoffs under (I, a) + v of the infosets under (I, a)     for each action a
    maxmargin   min t                       V_J - alt_J <= t
    resolve     min sum share_J e_J         V_J - alt_J <= e_J, e_J >= 0
    unsafe      min sum share_J e_J         V_J - alt_J <= e_J

"both" is maxmargin if its t is not positive, and resolve otherwise. O's strategy is dual.

Source: Zhang & Sandholm 2021, appendix D; Koller, Megiddo & von Stengel 1994.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from jaxsolve.search.knowledge._host import (
    Positions,
    best_response,
    positions_of,
    reach_of,
    values_of,
)
from jaxsolve.search.knowledge._root import Read, Roots
from jaxsolve.search.knowledge._tree import PositionTree


class LinearSolver:
    """A `GrowingSolver` that solves a linear program whenever the tree has grown.

    It knows nothing of earlier strategies, and what it plays where neither chance nor O's strategy
    leads is whatever optimum HiGHS returns.

    Args:
        roots: how the roots are reached.
    """

    exact = True

    def __init__(self, roots: Roots):
        self.roots, self.num_nodes = roots, 0
        self._nodes: Positions | None = None
        self._opened = np.zeros(0, bool)
        self._read: Read | None = None

    def extend(self, tree: PositionTree) -> None:
        """See `GrowingSolver`."""
        self._nodes, self._read = positions_of(tree), None
        self.num_nodes = len(self._nodes.parent)
        self._opened = np.array(tree.opened)[: self.num_nodes]

    def iterate(self, iterations: int) -> None:
        """Solves the tree, unless that has been done."""
        if self._read is None:
            self._read = self._solved()

    def leaves(self, explorer: int, most: int, seed: int) -> np.ndarray:
        """Nothing is drawn.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a linear program draws no leaves; grow by deepening")

    def restore(self, regret: np.ndarray, strategy: np.ndarray) -> None:
        """Does nothing: there are no regrets."""

    def read(self) -> Read:
        """See `GrowingSolver`; both strategies are the same, and regrets are 0."""
        self.iterate(1)
        assert self._read is not None
        return self._read

    @property
    def num_infosets(self) -> int:
        """See `GrowingSolver`."""
        assert self._nodes is not None
        kept = self._nodes.actor[self._opened], self._nodes.memory[self._opened]
        return sum(len(np.unique(kept[1][kept[0] == i, i])) for i in (0, 1))

    def _solved(self) -> Read:
        assert self._nodes is not None
        nodes, roots, gadget = self._nodes, self.roots, self.roots.gadget
        own, other = (_sequences(nodes, self._opened, i) for i in (roots.player, 1 - roots.player))
        tried = "maxmargin" if gadget == "both" else gadget
        x, dual, worst = _program(nodes, self._opened, roots, own, other, tried)
        if gadget == "both" and worst > 0:
            tried = "resolve"
            x, dual, _ = _program(nodes, self._opened, roots, own, other, tried)
        count = len(roots.share)
        chosen = dual[-count:]
        start = np.zeros(len(nodes.parent))
        start[roots.node] = roots.weight
        edge = nodes.odds.copy()
        edge[own.edges] = own.behaviour(x)[0][own.last[own.edges]]
        edge[other.edges] = 0
        answer = best_response(nodes, edge, 1 - roots.player, start=start)
        play, reached = other.behaviour(np.concatenate([[1.0], dual[:-count]]))
        sequence = other.last[other.edges]
        edge[other.edges] = np.where(reached[sequence], play[sequence], answer[other.edges])
        worth = (2 * roots.player - 1) * values_of(nodes, answer)[roots.node]
        gain = np.bincount(roots.klass, roots.weight * worth, count) - roots.alternative
        enter, pick = np.ones(count), np.full(count, 1 / count)
        if tried == "maxmargin":
            enter, pick = np.zeros(count), chosen / chosen.sum()
        if tried == "resolve":
            enter = np.divide(chosen, roots.share, out=np.zeros(count), where=roots.share > 0)
        infoset = np.full(len(edge), -1, np.int32)
        infoset[own.at] = own.infoset
        infoset[other.at] = other.infoset + len(own.parent)
        return Read(edge, edge, np.zeros(len(edge)), infoset, enter, pick, gain)


class _Sequences(NamedTuple):
    """A player's K infosets and S sequences, the empty one first."""

    at: np.ndarray  # int64 [D], nodes where the player decides
    infoset: np.ndarray  # int64 [D], of each of them
    parent: np.ndarray  # int64 [K], the sequence that leads to an infoset
    first: np.ndarray  # int64 [K], a node of each infoset
    edges: np.ndarray  # int64 [E], nodes that the player's actions lead to
    last: np.ndarray  # int64 [N], the player's last sequence at each node
    of: np.ndarray  # int64 [S], the infoset of each sequence, -1 of the empty one

    def behaviour(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns (float64 [S], probabilities of actions; bool [S], where weights are not 0)."""
        total = np.bincount(self.of[1:], np.maximum(weight[1:], 0), len(self.parent))[self.of[1:]]
        width = np.bincount(self.of[1:], minlength=len(self.parent))[self.of[1:]]
        reached = np.concatenate([[True], total > 1e-12])
        play = np.maximum(weight[1:], 0) / np.where(reached[1:], total, 1)
        return np.concatenate([[1.0], np.where(reached[1:], play, 1 / width)]), reached


def _sequences(nodes: Positions, opened: np.ndarray, player: int) -> _Sequences:
    at = np.flatnonzero(opened & (nodes.actor == player))
    _, first, infoset = np.unique(nodes.memory[at, player], return_index=True, return_inverse=True)
    number = np.full(len(opened), -1)
    number[at] = infoset.reshape(-1)
    edges = np.flatnonzero(nodes.chooser == player)
    width = int(nodes.action.max()) + 1
    names, sequence = np.unique(
        number[nodes.parent[edges]] * width + nodes.action[edges], return_inverse=True
    )
    last = np.zeros(len(opened), np.int64)
    last[edges] = sequence.reshape(-1) + 1
    for level in nodes.levels[1:]:
        up = last[nodes.parent[level]]
        last[level] = np.where(nodes.chooser[level] == player, last[level], up)
    of = np.concatenate([[-1], names // width])
    return _Sequences(at, number[at], last[at[first]], at[first], edges, last, of)


def _program(
    nodes: Positions,
    opened: np.ndarray,
    roots: Roots,
    own: _Sequences,
    other: _Sequences,
    gadget: str,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Returns (x [S], duals of O's sequences but the empty one and of classes, the optimum)."""
    size, count = len(nodes.parent), len(roots.share)
    start, klass = np.zeros(size), np.full(size, -1)
    start[roots.node], klass[roots.node] = roots.weight, roots.klass
    for level in nodes.levels[1:]:
        klass[level] = klass[nodes.parent[level]]
    reach = reach_of(nodes, nodes.odds, start=start)
    num_x, num_v, num_y = len(own.of), len(other.parent), len(other.of) - 1
    margin = num_x + num_v + (np.zeros(count, int) if gadget == "maxmargin" else np.arange(count))
    columns = int(margin.max()) + 1

    def row(sequence: np.ndarray, node: np.ndarray) -> np.ndarray:
        return np.where(sequence > 0, sequence - 1, num_y + klass[node])

    leaf = np.flatnonzero(~opened & (nodes.value != 0))
    pays = (2 * roots.player - 1) * reach[leaf] * nodes.value[leaf]
    part = [
        (row(other.last[leaf], leaf), own.last[leaf], pays),
        (row(other.parent, other.first), num_x + np.arange(num_v), np.ones(num_v)),
        (np.arange(num_y), num_x + other.of[1:], -np.ones(num_y)),
        (num_y + np.arange(count), margin, -np.ones(count)),
    ]
    above = _sparse(part, (num_y + count, columns))
    equal = _sparse(
        [
            (own.of[1:], np.arange(1, num_x), np.ones(num_x - 1)),
            (np.arange(len(own.parent)), own.parent, -np.ones(len(own.parent))),
            (np.array([len(own.parent)]), np.zeros(1, int), np.ones(1)),
        ],
        (len(own.parent) + 1, columns),
    )
    cost = np.zeros(columns)
    cost[margin] = 1.0 if gadget == "maxmargin" else roots.share
    low = np.full(columns, -np.inf)
    low[:num_x] = 0
    if gadget == "resolve":
        low[margin] = 0
    found: Any = scipy.optimize.linprog(
        cost,
        A_ub=above,
        b_ub=np.concatenate([np.zeros(num_y), roots.alternative]),
        A_eq=equal,
        b_eq=np.append(np.zeros(len(own.parent)), 1.0),
        bounds=np.stack([low, np.full(columns, np.inf)], 1),
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"the linear program of {size} positions failed: {found.message}")
    return found.x[:num_x], np.maximum(-found.ineqlin.marginals, 0), float(found.fun)


def _sparse(parts: list[Any], shape: tuple[int, int]) -> Any:
    row, column, value = (np.concatenate(x) for x in zip(*parts, strict=True))
    return scipy.sparse.csr_array((value, (row, column)), shape=shape)
