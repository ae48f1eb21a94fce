"""Public states of a game that shows nothing in public: the finest correct partition.

What is public is what nobody can doubt: states that some player confuses belong to one public
state. The public states must also form a tree, so that one of them with all that follows is a
game of its own: if the states of one follow two others, those two are one, and so are those on a
cycle. Merging until nothing changes gives the finest partition with these properties (Kovarik et
al. 2022, section 3, take the connected components of each depth; here an infostate may last for
several depths, while others move unseen, and is not split by them).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxsolve.tree import Infostates

if TYPE_CHECKING:
    from jaxsolve.tree import StateTable


def public_components(parent: np.ndarray, infostate: np.ndarray) -> np.ndarray:
    """Returns int32 [X], the public state of each state, numbered by first appearance.

    Args:
        parent: int [X], -1 for the initial state; states in breadth-first order.
        infostate: int [X, n], of every player at every state.
    """
    label = np.arange(len(parent))
    for ids in infostate.T:
        _, first, group = np.unique(ids, return_index=True, return_inverse=True)
        label = _merge(label, label, label[first][group.reshape(-1)])
    while True:
        up, down = label[parent[1:]], label[1:]
        pairs = np.unique(np.stack([down, up], 1)[up != down], axis=0)
        child, above = pairs.T
        _, first, group = np.unique(child, return_index=True, return_inverse=True)
        same = above[first][group.reshape(-1)]
        if (same != above).any():
            label = _merge(label, above, same)
            continue
        size = int(label.max()) + 1
        cycle = _connected(above, child, size, directed=True)
        if len(np.unique(cycle)) == size:
            return by_appearance(label)[0]
        label = cycle[label]


def with_public(table: StateTable, public: np.ndarray) -> StateTable:
    """Returns a table with other public states.

    An infostate that lies in several of them while its player waits becomes one in each: the
    player knows what is public. Decision infosets must lie in one public state.

    Args:
        table: an enumerated game.
        public: int [X], numbered by first appearance.
    """
    ids, first = by_appearance(public)
    entries = np.zeros((len(first), 0), np.int32)
    public_states = tree_of_ids(table.parent, table.action, ids, first, entries, acts=None)
    columns, infostates = [], []
    for player, old in enumerate(table.infostates):
        before = table.infostate[:, player]
        now, first = by_appearance(before.astype(np.int64) * len(entries) + ids)
        above = before[np.maximum(table.parent[first], 0)]
        new = (before[first] != above) | (table.parent[first] < 0)
        saw = np.where(new[:, None], old.observation[before[first]], -1)
        acts = table.actor == player
        infostates.append(tree_of_ids(table.parent, table.action, now, first, saw, acts=acts))
        columns.append(now)
    return dataclasses.replace(
        table,
        public=ids,
        infostate=np.stack(columns, 1),
        infostates=tuple(infostates),
        public_states=public_states,
    )


def tree_of_ids(
    parent: np.ndarray,
    action: np.ndarray,
    ids: np.ndarray,
    first: np.ndarray,
    observation: np.ndarray,
    *,
    acts: np.ndarray | None,
) -> Infostates:
    """Returns infostates with the links of the first state of each.

    Args:
        parent: int [X], the parent of each state.
        action: int [X], what led to each state.
        ids: int [X], numbered by first appearance.
        first: int [I], the first state of each id.
        observation: int32 [I, k].
        acts: bool [X], whose actions are the player's own; None for public states.
    """
    up = parent[first]
    own = np.zeros(len(first), bool) if acts is None else (up >= 0) & acts[up]
    return Infostates(
        np.where(up >= 0, ids[up], -1).astype(np.int32),
        np.where(own, action[first], -1).astype(np.int32),
        observation.astype(np.int32),
    )


def by_appearance(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (int32 ids by first appearance, first position of each id)."""
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(first), np.int32)
    rank[order] = np.arange(len(first), dtype=np.int32)
    return rank[group.reshape(-1)], first[order]


def _merge(label: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns labels 0..P-1 in which a[k] and b[k] are the same for each k."""
    return _connected(a, b, int(label.max()) + 1, directed=False)[label]


def _connected(a: np.ndarray, b: np.ndarray, size: int, *, directed: bool) -> np.ndarray:
    """Returns int [size], the (strongly) connected component of each node, of edges a -> b."""
    from scipy.sparse import csr_matrix  # here: importing it takes a quarter of a second
    from scipy.sparse.csgraph import connected_components

    graph = csr_matrix((np.ones(len(a)), (a, b)), (size, size))
    components: np.ndarray
    _, components = connected_components(graph, directed=directed, connection="strong")
    return components
