"""The tree of a turn: what the tree of the turn before says about now, and positions drawn anew.

P is to move and has seen an observation sequence, whose fingerprint is `memory`. Of the old tree
stay the nodes I with this fingerprint, all nodes of O's infostates J that meet I, and what is
below them; J is a class of roots, inside which nodes are as likely as chance and P made them. O may
stay out of J for what J was worth there, and what O gave up on the way. Where the old tree has too
few of the positions that P holds possible, more are drawn from these, each a class of its own.

Sources: Zhang & Sandholm 2021, appendix D (`frozen`: P's play outside of I stays), and 2025
(arXiv 2506.01242; P's play is free). Gifts are divided by the reach of the others where O gave, so
that several infostates below do not get the same gift twice.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import State
from jaxsolve.search.ismcts import World
from jaxsolve.search.knowledge._host import (
    Positions,
    given_up,
    positions_of,
    reach_of,
    values_of,
)
from jaxsolve.search.knowledge._root import Read, Roots
from jaxsolve.search.knowledge._tree import PositionTree
from jaxsolve.types import CHANCE, TERMINAL


class Turn(NamedTuple):
    """What a search begins with.

    Attributes:
        tree: of positions; all nodes without a parent are roots.
        roots: how they are reached.
        own: int64 [I], the roots that P holds possible.
        regret: float64 [N], of the action above each node in the old tree; NaN for new nodes.
        strategy: float64 [N], likewise.
        carried: nodes of the old tree.
        drawn: positions that were added.
    """

    tree: PositionTree
    roots: Roots
    own: np.ndarray
    regret: np.ndarray
    strategy: np.ndarray
    carried: int
    drawn: int


class Before(NamedTuple):
    """The search of the turn before.

    Attributes:
        tree: of positions.
        roots: its roots.
        read: strategies, regrets included.
        edge: float64 [N], those that were played.
        value: what the turn was worth to P, None if unknown.
    """

    tree: PositionTree
    roots: Roots
    read: Read
    edge: np.ndarray
    value: float | None


def begin_turn(
    player: int,
    memory: np.ndarray,
    states: State,
    values: np.ndarray,
    before: Before | None,
    *,
    capacity: int,
    wanted: int = 256,
    most: int | None = None,
    gadget: str = "both",
    frozen: bool = False,
    seed: int = 0,
) -> Turn:
    """Returns the tree of a turn.

    Args:
        player: P, who is to move.
        memory: uint32 [2], the fingerprint of what P did and saw.
        states: leaves [S, ...], positions that P holds possible, in random order.
        values: float [S], what they look like to player 0.
        before: the search of P's last turn, None where there is none.
        capacity: N, places for nodes.
        wanted: positions of I; where the old tree has fewer, drawn ones are added.
        most: positions of I after which no more infostates of O stay of the old tree, those first
            that O is likeliest to come to; None for all of them.
        gadget: one of `GADGETS`.
        frozen: P's play stays in nodes that are not in I, and below.
        seed: of fingerprints of drawn positions.

    Raises:
        ValueError: there is neither a position nor a node of the old tree.
    """
    sign = 1.0 - 2.0 * player
    most = capacity if most is None else most
    old = None if before is None else _cut(before, player, memory, capacity // 2, most)
    kept = np.zeros(0, np.int64) if old is None else old.kept
    have = 0 if old is None else len(old.own)
    known = set() if old is None else old.states()
    fresh = [k for k, name in enumerate(_names(states)) if name not in known]
    fresh = fresh[: max(0, min(wanted - have, len(fresh)))]
    if not have and not fresh:
        raise ValueError("no position fits what the player saw")
    carried, drawn = len(kept), len(fresh)

    nothing = np.zeros((len(values), 2, 2), np.uint32)  # on the device a program for each length
    parts = World(states, nothing)  # type: ignore[arg-type]
    worlds = parts if before is None else before.tree.worlds

    def joined(x: jax.Array, new: jax.Array) -> jax.Array:
        both = np.concatenate([np.asarray(x)[kept], np.asarray(new)[fresh]])
        out = np.zeros((capacity, *both.shape[1:]), np.asarray(x).dtype)
        out[: len(both)] = both
        return jnp.asarray(out)

    made: World = jax.tree.map(joined, worlds, parts)
    memories = np.array(made.memory)
    rng = np.random.default_rng(seed)
    memories[carried : carried + drawn, player] = memory
    memories[carried : carried + drawn, 1 - player] = rng.integers(
        2**32, size=(drawn, 2), dtype=np.uint32
    )
    size = carried + drawn
    parent, action = np.full(capacity, -1, np.int32), np.full(capacity, -1, np.int32)
    actor = np.full(capacity, TERMINAL, np.int32)
    depth, opened = np.zeros(capacity, np.int32), np.zeros(capacity, bool)
    odds, value = np.ones(capacity, np.float32), np.zeros(capacity, np.float32)
    regret, strategy = np.full(size, np.nan), np.full(size, np.nan)
    actor[carried:size], value[carried:size] = player, values[fresh]
    own, classes = np.arange(carried, size), np.arange(drawn)
    node, klass, weight = own, classes, np.ones(drawn)
    worth = -sign * np.asarray(values, np.float64)[fresh]  # to O
    if before is not None and before.value is not None:
        worth = np.maximum(worth, -before.value)
    alternative, arrives = worth, np.zeros(drawn)
    if old is not None:
        used = slice(0, carried)
        parent[used], action[used] = old.parent, old.nodes.action[kept]
        actor[used], depth[used] = old.nodes.actor[kept], old.depth
        odds[used], value[used] = old.nodes.odds[kept], old.nodes.value[kept]
        opened[used] = old.opened
        regret[used], strategy[used] = old.regret, old.strategy
        if frozen:
            held = old.held
            actor[used] = np.where(held, CHANCE, actor[used])
            below = (old.parent >= 0) & held[old.parent]
            odds[used] = np.where(below, old.edge, odds[used])
        action[old.root] = -1
        node = np.concatenate([old.root, node])
        klass = np.concatenate([old.klass, len(old.alternative) + classes])
        weight = np.concatenate([old.weight, weight])
        alternative = np.concatenate([old.alternative, alternative])
        arrives = np.concatenate([old.arrives, arrives])
        own = np.concatenate([old.own, own])
    count = len(alternative)
    share = np.full(count, 1 / count)
    if arrives.sum() > 0:
        share = 0.5 * (share + arrives / arrives.sum())
    tree = PositionTree(
        worlds=made._replace(memory=jnp.asarray(memories)),
        parent=jnp.asarray(parent),
        action=jnp.asarray(action),
        actor=jnp.asarray(actor),
        depth=jnp.asarray(depth),
        odds=jnp.asarray(odds, jnp.zeros(0).dtype),
        value=jnp.asarray(value, jnp.zeros(0).dtype),
        opened=jnp.asarray(opened),
        num_nodes=jnp.int32(size),
        full=jnp.asarray(False),
    )
    roots = Roots(player, gadget, node, klass.astype(np.int32), weight, alternative, share)
    return Turn(tree, roots, own, regret, strategy, carried, drawn)


class _Old(NamedTuple):
    """What stays of an old tree: M nodes, of them R roots in J classes."""

    nodes: Positions
    kept: np.ndarray  # int64 [M]
    parent: np.ndarray  # int32 [M]
    depth: np.ndarray
    opened: np.ndarray
    held: np.ndarray  # bool [M], P's decisions that are not below I
    edge: np.ndarray
    regret: np.ndarray
    strategy: np.ndarray
    root: np.ndarray  # int64 [R], among the M
    own: np.ndarray  # int64, the roots in I
    klass: np.ndarray
    weight: np.ndarray
    alternative: np.ndarray  # float64 [J]
    arrives: np.ndarray  # float64 [J]
    worlds: State

    def states(self) -> set[bytes]:
        """Returns names of the states of I."""
        at = self.kept[self.own]
        return set(_names(jax.tree.map(lambda x: np.asarray(x)[at], self.worlds)))


def _cut(before: Before, player: int, memory: np.ndarray, room: int, most: int) -> _Old | None:
    """Returns what an old tree says about an infoset, None where it has no node of it.

    It has at most `room` nodes, and no class that begins after `most` positions of the infoset.
    """
    nodes, other = positions_of(before.tree), 1 - player
    name = np.uint64(memory[0]) << np.uint64(32) | np.uint64(memory[1])
    mine = (nodes.memory[:, player] == name) & (nodes.actor == player)
    if not mine.any():
        return None
    start = _of_roots(before, before.roots.weight)
    reach = reach_of(nodes, before.edge, player, start=start)
    classes = np.unique(nodes.memory[mine, other])
    top = np.isin(nodes.memory[:, other], classes) & (nodes.actor != TERMINAL)
    root = np.flatnonzero(nodes.tops(top))
    _, klass = np.unique(nodes.memory[root, other], return_inverse=True)
    mass = np.bincount(klass, reach[root], len(classes))
    value = -(1 - 2 * player) * values_of(nodes, before.edge)
    worth = value + given_up(nodes, before.edge, other, start=start)
    total = np.bincount(klass, reach[root] * worth[root], len(classes))
    coming = reach_of(
        nodes, np.where(nodes.chooser == other, before.edge, 1.0), other, start=_come(before)
    )
    arrives = np.zeros(len(classes))
    np.maximum.at(arrives, klass, coming[root] * (reach[root] > 0))
    # Classes that chance and P do not reach are not possible; of too many the likely ones stay.
    below = nodes.below(_set(nodes, root))
    size = np.bincount(_class_of(nodes, root, klass)[below], minlength=len(classes))
    order = np.lexsort((-arrives, mass <= 0))
    own = np.bincount(klass[mine[root]], minlength=len(classes))[order]
    fits = (np.cumsum(size[order]) <= room) & (np.cumsum(own) - own < most) & (mass[order] > 0)
    stays = np.zeros(len(classes), bool)
    stays[order[fits]] = True
    root, klass = root[stays[klass]], klass[stays[klass]]
    if not mine[root].any():
        return None
    number = np.cumsum(stays) - 1
    kept = np.flatnonzero(nodes.below(_set(nodes, root)))
    place = np.full(len(nodes.parent), -1)
    place[kept] = np.arange(len(kept))
    up = np.where(nodes.parent[kept] >= 0, place[nodes.parent[kept]], -1)
    depth = np.asarray(before.tree.depth)[: len(nodes.parent)]
    first = np.zeros(len(nodes.parent), np.int64)
    first[root] = depth[root]
    for level in nodes.levels[1:]:
        inside = place[nodes.parent[level]] >= 0
        first[level[inside]] = first[nodes.parent[level[inside]]]
    is_root = np.zeros(len(kept), bool)
    is_root[place[root]] = True
    free = nodes.below(_set(nodes, root[mine[root]]))
    chosen = nodes.chooser[kept] >= 0
    return _Old(
        nodes=nodes,
        kept=kept,
        parent=np.where(is_root, -1, up).astype(np.int32),
        depth=(depth - first)[kept].astype(np.int32),
        opened=np.asarray(before.tree.opened)[: len(nodes.parent)][kept],
        held=((nodes.actor == player) & ~free)[kept],
        edge=before.edge[kept],
        regret=np.where(chosen & ~is_root, before.read.regret[kept], np.nan),
        strategy=np.where(chosen & ~is_root, before.read.current[kept], np.nan),
        root=place[root],
        own=place[root[mine[root]]],
        klass=number[klass],
        weight=reach[root] / mass[klass],
        alternative=(total / np.where(mass > 0, mass, 1))[stays],
        arrives=arrives[stays],
        worlds=before.tree.worlds.state,
    )


def _of_roots(before: Before, weight: np.ndarray) -> np.ndarray:
    """Returns float64 [N] with weights [R] at the roots of a tree, 0 elsewhere."""
    out = np.zeros(int(before.tree.num_nodes))
    out[before.roots.node] = weight
    return out


def _come(before: Before) -> np.ndarray:
    """Returns float64 [N], how O came to the roots of a tree."""
    roots, read = before.roots, before.read
    most = read.enter.max()
    reach = most * roots.share * read.enter + (1 - most) * read.pick
    return _of_roots(before, reach[roots.klass])


def _set(nodes: Positions, at: np.ndarray) -> np.ndarray:
    out = np.zeros(len(nodes.parent), bool)
    out[at] = True
    return out


def _class_of(nodes: Positions, root: np.ndarray, klass: np.ndarray) -> np.ndarray:
    """Returns int64 [N], the class that each node is below, -1 for none."""
    out = np.full(len(nodes.parent), -1)
    out[root] = klass
    for level in nodes.levels[1:]:
        out[level] = np.where(out[level] < 0, out[nodes.parent[level]], out[level])
    return out


def _names(states: State) -> list[bytes]:
    """Returns bytes that are equal for equal states, [S]."""
    leaves = [np.asarray(x) for x in jax.tree.leaves(states)]
    if not len(leaves[0]):
        return []
    rows = [np.ascontiguousarray(x.reshape(len(x), -1)).view(np.uint8) for x in leaves if x.size]
    return [row.tobytes() for row in np.concatenate(rows, 1)]
