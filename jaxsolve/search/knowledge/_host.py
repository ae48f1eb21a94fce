"""Sweeps over a tree of positions on the host: reach, values, best responses, and gifts.

Subgames are cut between two solves, when shapes change; NumPy needs no program for each shape.
Edge arrays hold, at each node, the probability of the action above it: of a player by a strategy,
of chance by the rules.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.search.knowledge._tree import PositionTree


class Positions(NamedTuple):
    """The N used nodes of a tree of positions, on the host.

    Attributes:
        parent: int64 [N], -1 at roots.
        action: int64 [N].
        actor: int64 [N].
        chooser: int64 [N], the actor above each node; -1 at roots.
        odds: float64 [N], chance probability of the edge above, 1 for a player's.
        value: float64 [N], player 0's.
        memory: uint64 [N, 2], fingerprints of both players' infostates.
        depth: int64 [N], edges above.
        levels: int64 arrays, the nodes of each depth from 0.
    """

    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    chooser: np.ndarray
    odds: np.ndarray
    value: np.ndarray
    memory: np.ndarray
    depth: np.ndarray
    levels: tuple[np.ndarray, ...]

    def above(self, x: np.ndarray) -> np.ndarray:
        """Returns what an array [N] holds at parents; at roots its last entry."""
        return x[self.parent]

    def below(self, mask: np.ndarray) -> np.ndarray:
        """Returns bool [N], which nodes are in a set or below one that is."""
        mask = mask.copy()
        for level in self.levels[1:]:
            mask[level] |= mask[self.parent[level]]
        return mask

    def tops(self, mask: np.ndarray) -> np.ndarray:
        """Returns bool [N], which nodes are in a set and their parents are not."""
        return mask & ~((self.parent >= 0) & self.above(mask))


def positions_of(tree: PositionTree) -> Positions:
    """Returns the used nodes of a tree on the host."""
    count = int(tree.num_nodes)
    parent, action, actor = (
        np.asarray(x)[:count].astype(np.int64) for x in (tree.parent, tree.action, tree.actor)
    )
    words = np.asarray(tree.worlds.memory)[:count].astype(np.uint64)
    depth = np.asarray(tree.depth)[:count].astype(np.int64)
    order = np.argsort(depth, kind="stable")
    ends = np.searchsorted(depth[order], np.unique(depth)[1:])
    return Positions(
        parent=parent,
        action=action,
        actor=actor,
        chooser=np.where(parent >= 0, actor[parent], -1),
        odds=np.asarray(tree.odds)[:count].astype(np.float64),
        value=np.asarray(tree.value)[:count].astype(np.float64),
        memory=(words[..., 0] << np.uint64(32)) | words[..., 1],
        depth=depth,
        levels=tuple(np.split(order, ends)),
    )


def reach_of(
    nodes: Positions, edge: np.ndarray, *players: int, start: np.ndarray | None = None
) -> np.ndarray:
    """Returns float64 [N], the reach of each node by chance and some of the players.

    Args:
        nodes: of the tree.
        edge: float64 [N], probability of the edge above each.
        players: whose choices count.
        start: float64 [N], the reach of roots; 1 by default.
    """
    kept = (nodes.chooser < 0) | np.isin(nodes.chooser, players)
    factor = np.where(kept, edge, 1.0)
    reach = np.ones(len(edge)) if start is None else np.array(start, np.float64)
    for level in nodes.levels[1:]:
        reach[level] = reach[nodes.parent[level]] * factor[level]
    return reach


def values_of(nodes: Positions, edge: np.ndarray) -> np.ndarray:
    """Returns float64 [N], what each node is worth to player 0."""
    value = nodes.value.copy()
    for level in reversed(nodes.levels[1:]):
        np.add.at(value, nodes.parent[level], edge[level] * value[level])
    return value


def best_response(
    nodes: Positions, edge: np.ndarray, player: int, *, start: np.ndarray | None = None
) -> np.ndarray:
    """Returns the edges [N] with those of a player replaced by a best response to the rest.

    Args:
        nodes: of the tree.
        edge: float64 [N], probability of the edge above each.
        player: who responds.
        start: float64 [N], the reach of roots by the others; 1 by default.
    """
    mine = np.flatnonzero(nodes.chooser == player)
    if not len(mine):
        return edge
    edge, up, sign = edge.copy(), nodes.parent[mine], 1 - 2 * player
    reach = reach_of(nodes, edge, 1 - player, start=start)[up]
    _, sequence, first = _sequences(nodes, mine, player)
    acted = np.zeros(len(edge), np.int64)
    for level in nodes.levels[1:]:
        acted[level] = acted[nodes.parent[level]] + (nodes.chooser[level] == player)
    for depth in range(int(acted.max()), 0, -1):  # the player's own decisions, last ones first
        at = acted[mine] == depth
        gain = sign * reach[at] * values_of(nodes, edge)[mine[at]]
        total = np.bincount(sequence[at], gain, len(first))
        order = np.lexsort((-total, first))
        lead = np.ones(len(order), bool)
        lead[1:] = first[order][1:] != first[order][:-1]
        best = np.zeros(len(first), bool)
        best[order[lead]] = True
        edge[mine[at]] = best[sequence[at]]
    return edge


def given_up(
    nodes: Positions, edge: np.ndarray, player: int, *, start: np.ndarray | None = None
) -> np.ndarray:
    """Returns float64 [N], what a player gave up on the way to each node.

    It is the sum, over the player's decisions above, of the value of the best action less that of
    the action taken, per unit of the reach of the others.

    Args:
        nodes: of the tree.
        edge: float64 [N], probability of the edge above each.
        player: who gave up.
        start: float64 [N], the reach of roots by the others; 1 by default.
    """
    mine = np.flatnonzero(nodes.chooser == player)
    lost = np.zeros(len(edge))
    if len(mine):
        up, sign = nodes.parent[mine], 1 - 2 * player
        reach = reach_of(nodes, edge, 1 - player, start=start)
        infoset, sequence, first = _sequences(nodes, mine, player)
        gain = np.bincount(sequence, sign * reach[up] * values_of(nodes, edge)[mine], len(first))
        best = np.full(int(infoset.max()) + 1, -np.inf)
        np.maximum.at(best, first, gain)
        begins = nodes.parent < 0
        known = nodes.memory[:, player]
        begins |= nodes.above(known) != known
        names, place = np.unique(known, return_inverse=True)
        mass = np.bincount(place, np.where(begins, reach, 0.0), len(names))[place][up]
        worse = np.maximum(best[first] - gain, 0)[sequence]
        lost[mine] = np.divide(worse, mass, out=np.zeros(len(mine)), where=mass > 0)
    for level in nodes.levels[1:]:
        lost[level] += lost[nodes.parent[level]]
    return lost


def _sequences(
    nodes: Positions, mine: np.ndarray, player: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (infoset and sequence of each of a player's edges, infoset of each sequence)."""
    known = nodes.memory[nodes.parent[mine], player]
    infoset = np.unique(known, return_inverse=True)[1].reshape(-1)
    width = int(nodes.action.max()) + 1
    names, sequence = np.unique(infoset * width + nodes.action[mine], return_inverse=True)
    return infoset, sequence.reshape(-1), names // width
