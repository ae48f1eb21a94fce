"""The betting of each street as rows and sequences, the same on all of its boards.

Sequences (a decision and one of its actions) are numbered through a street, player by player.
What a street begins with hangs from sequences of the street before: its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting_tree import BettingTree, Kind
from jaxsolve.holdem._leaf_groups import LeafGroup
from jaxsolve.holdem._payoffs import Pays

PART_BYTES = 2_000_000
"""Rows of reaches and values of a part of the last street, so that they stay in a core's cache."""


class StreetRows(NamedTuple):
    """The betting of one street (per player: R rows, Q sequences, E entries).

    Attributes:
        node: per player, int [R], betting node of each row; parents before children.
        first, width: per player, int [R], sequences of each row.
        parent: per player, int [R], the sequence before, or -1 - entry.
        entry: per player, int [E], sequences of the street before.
        sequences: per player, Q.
        leaf: int [L, 2], sequence of each player, -1 for the empty one.
        amount: float [L, 2], chips of each player.
        parts: int [P, 14]: rows begin and end, sequences begin and end (of either player), leaves
            begin and end (of each kind); in the order of `SpotPart`.
    """

    node: tuple[np.ndarray, np.ndarray]
    first: tuple[np.ndarray, np.ndarray]
    width: tuple[np.ndarray, np.ndarray]
    parent: tuple[np.ndarray, np.ndarray]
    entry: tuple[np.ndarray, np.ndarray]
    sequences: tuple[int, int]
    leaf: np.ndarray
    amount: np.ndarray
    parts: np.ndarray

    @property
    def has_all_ins(self) -> bool:
        """Whether bets can end before the last card."""
        first, last = 8 + int(Pays.ALL_IN), 11 + int(Pays.ALL_IN)
        return bool((self.parts[:, last] > self.parts[:, first]).any())


class BettingRows(NamedTuple):
    """How the decisions of a betting tree are numbered (P nodes).

    Attributes:
        streets: the betting of each street.
        row: int [P], number of a decision among the rows of who acts there, on its street.
        first: int [P], its first sequence.
        last: int [2, P], each player's last sequence before a node, -1 for the empty one.
        where: int [2, P], the street of that sequence, -1 likewise.
    """

    streets: list[StreetRows]
    row: np.ndarray
    first: np.ndarray
    last: np.ndarray
    where: np.ndarray


def betting_rows(
    betting: BettingTree, groups: Sequence[LeafGroup], hands: Sequence[int]
) -> BettingRows:
    """Returns the betting of each street as rows.

    Args:
        betting: the tree.
        groups: its leaves.
        hands: how many each player has, for the size of parts.
    """
    parent, actor, street = betting.parent, betting.actor, betting.street
    count = betting.num_nodes
    first_child, width = betting.first_child, betting.num_children
    levels = _levels(parent)
    root = np.arange(count)  # the first node of the street on the way to each
    for nodes in levels[1:]:
        same = street[nodes] == street[parent[nodes]]
        root[nodes] = np.where(same, root[parent[nodes]], nodes)
    order = np.lexsort((np.arange(count), root, street))
    decision = betting.kind == Kind.DECISION
    rows = [
        [order[(decision & (actor == p) & (street == s))[order]] for p in range(2)]
        for s in range(betting.num_streets)
    ]
    start = np.zeros(count, np.int64)  # first sequence of each decision
    row = np.full(count, -1)
    sequences = []
    for pair in rows:
        sizes = [width[nodes] for nodes in pair]
        for nodes, size in zip(pair, sizes, strict=True):
            start[nodes] = np.cumsum(size) - size
            row[nodes] = np.arange(len(nodes))
        sequences.append((int(sizes[0].sum()), int(sizes[1].sum())))
    # Per player, the last own sequence before each node, and its street.
    last = np.full((2, count), -1)
    where = np.full((2, count), -1)
    for nodes in levels[1:]:
        above = parent[nodes]
        number = start[above] + nodes - first_child[above]
        for p in range(2):
            mine = actor[above] == p
            last[p, nodes] = np.where(mine, number, last[p, above])
            where[p, nodes] = np.where(mine, street[above], where[p, above])
    streets = []
    for s, pair in enumerate(rows):
        parents, entries = [], []
        for p, nodes in enumerate(pair):
            here = where[p, nodes] == s
            assert (here | (where[p, nodes] == s - 1)).all()  # both act on every street
            starts = np.flatnonzero((root == np.arange(count)) & (street == s))
            entry = np.unique(last[p, starts]) if s > 0 else np.zeros(1, np.int64)
            number = np.searchsorted(entry, last[p, nodes]) if s > 0 else 0
            parents.append(np.where(here, last[p, nodes], -1 - number))
            entries.append(entry)
        leaves = _Leaves.of([g for g in groups if g.street == s])
        hangs = last[:, leaves.node].T
        assert ((where[:, leaves.node] == s) | (where[:, leaves.node] == -1)).all()
        cut = s == betting.num_streets - 1 and not (s == 0 and (hangs < 0).any())
        part_of = _parts(root, order, street == s, width * decision, hands, cut)
        by_part = np.lexsort((leaves.kind, part_of[leaves.node]))
        streets.append(
            StreetRows(
                node=(pair[0], pair[1]),
                first=(start[pair[0]], start[pair[1]]),
                width=(width[pair[0]], width[pair[1]]),
                parent=(parents[0], parents[1]),
                entry=(entries[0], entries[1]),
                sequences=sequences[s],
                leaf=hangs[by_part],
                amount=leaves.amount[by_part],
                parts=_bounds(
                    [part_of[nodes] for nodes in pair],
                    [start[nodes] for nodes in pair],
                    sequences[s],
                    part_of[leaves.node][by_part] * 3 + leaves.kind[by_part],
                ),
            )
        )
    return BettingRows(streets, row, start, last, where)


class _Leaves(NamedTuple):
    node: np.ndarray
    kind: np.ndarray
    amount: np.ndarray

    @classmethod
    def of(cls, groups: Sequence[LeafGroup]) -> _Leaves:
        if not groups:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 2)))
        return cls(
            np.concatenate([g.nodes for g in groups]),
            np.concatenate([np.full(len(g.nodes), int(g.pays)) for g in groups]),
            np.concatenate([g.amount for g in groups]),
        )


def _levels(parent: np.ndarray) -> list[np.ndarray]:
    """Returns the nodes of each depth; nodes are in breadth-first order."""
    depth = np.zeros(len(parent), np.int64)
    begin, end = 0, 1
    out = [np.zeros(1, np.int64)]
    while end < len(parent):
        begin, end = end, int(np.searchsorted(parent, end, "left"))
        depth[begin:end] = len(out)
        out.append(np.arange(begin, end))
    return out


def _parts(
    root: np.ndarray,
    order: np.ndarray,
    here: np.ndarray,
    width: np.ndarray,
    hands: Sequence[int],
    cut: bool,
) -> np.ndarray:
    """Returns int [nodes], the part of each node of a street; 0 elsewhere."""
    part = np.zeros(len(root), np.int64)
    if not cut:
        return part
    nodes = order[here[order]]
    starts, group = np.unique(root[nodes], return_inverse=True)
    size = np.bincount(group, width[nodes]) * 2 * max(hands) * 4
    number, used = np.zeros(len(starts), np.int64), 0.0
    for k in range(1, len(starts)):
        used += size[k - 1]
        full = used + size[k] > PART_BYTES
        number[k] = number[k - 1] + full
        used = 0.0 if full else used
    part[nodes] = number[group]
    return part


def _bounds(
    parts: Sequence[np.ndarray],
    first: Sequence[np.ndarray],
    sequences: Sequence[int],
    leaves: np.ndarray,
) -> np.ndarray:
    """Returns `StreetRows.parts`; `leaves` ascend, 3 x part + kind."""
    count = 1 + max((int(p.max()) for p in parts if len(p)), default=0)
    number = np.arange(count)
    columns = []
    for side in ("left", "right"):
        for p in parts:
            columns.append(np.searchsorted(p, number, side))
    ends = [np.append(f, n) for f, n in zip(first, sequences, strict=True)]
    rows = columns
    columns = [rows[0], rows[1], rows[2], rows[3]]
    columns += [ends[0][rows[0]], ends[1][rows[1]], ends[0][rows[2]], ends[1][rows[3]]]
    for side in ("left", "right"):
        for kind in range(3):
            columns.append(np.searchsorted(leaves, 3 * number + kind, side))  # type: ignore[call-overload]
    return np.stack(columns, 1)
