"""Knowledge-limited subgames of a tree of positions: KLSS and KLUSS, tree -> tree.

P is the player who re-solves at an infoset I, O the opponent. The subgame holds what O can still
reach from the infostates J that O may have in I (or in I^k), with a gadget on top. Where P's
strategy stays as it is (KLSS: outside of I^k and below), P's nodes become chance nodes. So the
outcome is an ordinary tree of positions, which grows and is solved like any other. An offset of
maxmargin is a leaf beside the states of its class.

Kuhn, P = player 0 holds J, passed, and O bet; maxmargin:

    0 O chooses a class      1 O holds Q      2 O holds K      3, 4 less their alternative values
    below 1: 3 and the deals JQ and KQ;  below 2: 4, JK and QK;  P's nodes with K and Q are chance

Sources: Zhang & Sandholm 2021, section 4 and appendix E; 2025 (arXiv 2506.01242) for KLUSS.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from jaxsolve.search.knowledge._host import (
    Positions,
    best_response,
    given_up,
    positions_of,
    reach_of,
    values_of,
)
from jaxsolve.search.knowledge._tree import PositionTree
from jaxsolve.types import CHANCE, TERMINAL

LEAST_REACH = 1e-9
"""A subgame is skipped if the reach of chance and P there is at most this."""

GADGETS = ("unsafe", "resolve", "maxmargin")
ALTERNATIVES = ("exact", "estimate")

_MARK = np.uint32(0x5BD1E995)
"""Tells O's infosets in the gadget from those below, whose fingerprints they borrow."""


class PositionSubgame(NamedTuple):
    """A subgame of a tree of N nodes.

    Attributes:
        tree: the gadget's nodes first, then the nodes of the subgame.
        source: int64 [M], the node behind each used place; -1 in the gadget.
        free: bool [N], nodes at or below which P's strategy is free.
        classes: uint64 [J], fingerprints of O's infostates.
        alternative: float64 [J], their alternative values to player 0, per unit of `weight`; 0 in
            unsafe subgames.
        weight: float64 [J], reach of chance and P at the states of I^k in each class.
    """

    tree: PositionTree
    source: np.ndarray
    free: np.ndarray
    classes: np.ndarray
    alternative: np.ndarray
    weight: np.ndarray


def knowledge_subgame(
    tree: PositionTree,
    edge: np.ndarray,
    player: int,
    infostate: int | np.uint64,
    *,
    gadget: str = "maxmargin",
    knowledge: int = 1,
    frozen: bool = True,
    alternative: str = "exact",
    reach: str | None = None,
    capacity: int | None = None,
    before: PositionTree | None = None,
) -> PositionSubgame | None:
    """Returns the subgame at an infoset, None where chance and P do not reach it.

    Args:
        tree: of positions.
        edge: float64 [N], the blueprint of both players: the probability of the action above each
            used node, odds of chance included.
        player: P.
        infostate: P's fingerprint there (`positions_of(tree).memory[node, player]`).
        gadget: "unsafe", "resolve" or "maxmargin".
        knowledge: k, odd.
        frozen: False for KLUSS: P's strategy is free in all of the subgame.
        alternative: "exact", O answers the blueprint best; "estimate", O plays it, too.
        reach: raise alternative values by what O gave up on the way, "exact" or "estimate"; None
            does not.
        capacity: of the new tree; the next power of 2 by default.
        before: a beginning of the tree that holds the infostate, where alternative values come
            from; what is not free ends where it does. The tree itself by default.

    Raises:
        ValueError: an option is not one of the choices, there is no such infostate, or the subgame
            does not fit, or the earlier tree ends above it.
    """
    _check(player, gadget, knowledge, frozen, alternative, reach)
    nodes = positions_of(tree)
    if np.shape(edge) != (len(nodes.parent),):
        raise ValueError(f"edge has shape {np.shape(edge)}; the tree has {len(nodes.parent)} nodes")
    if not (nodes.memory[:, player] == np.uint64(infostate)).any():
        raise ValueError(f"player {player} has no infostate {infostate} in this tree")
    cut = _cut(nodes, np.asarray(edge), player, np.uint64(infostate), knowledge, frozen)
    if cut is None:
        return None
    known = nodes if before is None else positions_of(before)
    if len(known.parent) <= cut.roots.max():
        raise ValueError(f"the earlier tree of {len(known.parent)} nodes ends above the infostate")
    value = _alternative(known, edge[: len(known.parent)], player, cut, alternative, reach)
    if before is not None:
        tree, nodes, cut = _kept_short(tree, nodes, cut, before)
    return _assembled(tree, nodes, edge, player, cut, gadget, value, capacity)


class _Cut(NamedTuple):
    """What a subgame holds: masks [N], classes [J] and reaches."""

    free: np.ndarray
    inside: np.ndarray
    roots: np.ndarray  # int64 [R]
    klass: np.ndarray  # int64 [R], the class of each root
    classes: np.ndarray
    weight: np.ndarray  # float64 [J], of the states of I^k
    reach: np.ndarray  # float64 [N], of chance and P


def _cut(
    nodes: Positions,
    edge: np.ndarray,
    player: int,
    infostate: np.uint64,
    knowledge: int,
    frozen: bool,
) -> _Cut | None:
    mine, theirs = nodes.memory[:, player], nodes.memory[:, 1 - player]
    alive = nodes.actor != TERMINAL
    own = np.array([infostate], np.uint64)
    for _ in range((knowledge - 1) // 2):
        shared = np.unique(theirs[alive & np.isin(mine, own)])
        own = np.unique(mine[alive & np.isin(theirs, shared)])
    reach = reach_of(nodes, edge, player)
    at = np.flatnonzero(nodes.tops(nodes.below(np.isin(mine, own))))
    own, which = np.unique(mine[at], return_inverse=True)
    mass = np.bincount(which.reshape(-1), reach[at], len(own))
    if not mass.sum() > LEAST_REACH:
        return None
    own = own[mass > 0]
    free = nodes.below(np.isin(mine, own))
    tops = np.flatnonzero(nodes.tops(free))
    inside = nodes.below(np.isin(theirs, np.unique(theirs[tops])))
    roots = np.flatnonzero(nodes.tops(inside))
    classes, klass = np.unique(theirs[roots], return_inverse=True)
    klass = klass.reshape(-1)
    if not frozen:
        free, tops = inside, roots
    of = np.full(len(edge), -1)
    of[roots] = klass
    for level in nodes.levels[1:]:
        of[level] = np.where(of[level] < 0, of[nodes.parent[level]], of[level])
    weight = np.bincount(of[tops], reach[tops], len(classes))
    return _Cut(free, inside, roots, klass, classes, weight, reach)


def _alternative(
    nodes: Positions, edge: np.ndarray, player: int, cut: _Cut, kind: str, reach: str | None
) -> np.ndarray:
    """Returns float64 [J], player 0's counterfactual value of each class at the blueprint."""
    answered = {"estimate": edge}
    if "exact" in (kind, reach):
        answered["exact"] = best_response(nodes, edge, 1 - player)
    roots, count = cut.roots, len(cut.classes)
    value = cut.reach[roots] * values_of(nodes, answered[kind])[roots]
    if reach is not None:
        gift = given_up(nodes, answered[reach], 1 - player)[roots]
        value = value - (1 - 2 * player) * cut.reach[roots] * gift
    return np.bincount(cut.klass, value, count)


def _kept_short(
    tree: PositionTree, nodes: Positions, cut: _Cut, before: PositionTree
) -> tuple[PositionTree, Positions, _Cut]:
    """Returns tree and cut where the leaves of an earlier tree stay leaves outside of what is free.

    P's strategy below them is not known.
    """
    size = int(before.num_nodes)
    ends = np.zeros(len(nodes.parent), bool)
    ends[:size] = ~np.asarray(before.opened)[:size] & (nodes.actor[:size] != TERMINAL)
    ends &= ~cut.free
    value = nodes.value.copy()
    value[:size] = np.where(ends[:size], np.asarray(before.value)[:size], value[:size])
    opened = np.asarray(tree.opened).copy()
    opened[: len(ends)] &= ~ends
    return (
        tree._replace(opened=jax.numpy.asarray(opened)),
        nodes._replace(value=value),
        cut._replace(inside=cut.inside & ~(nodes.below(ends) & ~ends)),
    )


def _assembled(
    tree: PositionTree,
    nodes: Positions,
    edge: np.ndarray,
    player: int,
    cut: _Cut,
    gadget: str,
    alternative: np.ndarray,
    capacity: int | None,
) -> PositionSubgame:
    """Puts the gadget on top of the nodes of a subgame."""
    count, other = len(cut.classes), 1 - player
    kept = np.flatnonzero(cut.inside)
    number = np.full(len(edge), -1)
    head = 1 + {"unsafe": 1, "maxmargin": 2, "resolve": 3}[gadget] * count
    number[kept] = head + np.arange(len(kept))
    size = head + len(kept)
    capacity = 1 << (size - 1).bit_length() if capacity is None else capacity
    if capacity < size:
        raise ValueError(f"capacity={capacity}: this subgame has {size} nodes")
    entry = 1 + np.arange(count)
    if gadget == "resolve":
        entry = count + 2 * entry  # beside the leaf of staying out
    per_class = _per_class(nodes, edge, player, cut, gadget)

    parent = np.full(capacity, -1)
    action = np.full(capacity, -1)
    actor = np.full(capacity, TERMINAL)
    depth = np.zeros(capacity, int)
    odds, value = np.ones(capacity), np.zeros(capacity)
    opened = np.zeros(capacity, bool)
    parent[1 : 1 + count], action[1 : 1 + count], depth[1 : 1 + count] = 0, np.arange(count), 1
    actor[0], actor[entry], opened[0], opened[entry] = CHANCE, CHANCE, True, True
    worth = alternative * per_class
    if gadget == "maxmargin":
        offset = entry + count
        actor[0], value[offset] = other, -worth
        parent[offset], action[offset], depth[offset] = entry, len(cut.roots), 2
    if gadget == "resolve":
        decide, leave = 1 + np.arange(count), entry - 1
        actor[decide], opened[decide] = other, True
        for option, at in enumerate((leave, entry)):
            parent[at], action[at], depth[at] = decide, option, 2
        value[leave] = worth
    used = slice(head, size)
    parent[used] = number[nodes.parent[kept]]
    action[used], actor[used] = nodes.action[kept], nodes.actor[kept]
    depth[used] = np.asarray(tree.depth)[kept] + 3
    odds[used], value[used] = nodes.odds[kept], nodes.value[kept]
    opened[used] = np.asarray(tree.opened)[kept]
    held = (nodes.actor == player) & ~cut.free & np.asarray(tree.opened)[: len(edge)]
    actor[used][held[kept]] = CHANCE
    fixed = kept[(nodes.parent[kept] >= 0) & nodes.above(held)[kept]]
    odds[number[fixed]] = edge[fixed]
    top = number[cut.roots]
    parent[top], action[top] = entry[cut.klass], np.arange(len(top))
    odds[top] = cut.reach[cut.roots] * per_class[cut.klass]

    source = np.concatenate([np.full(head, -1), kept])
    at = np.concatenate([np.maximum(source, 0), np.zeros(capacity - size, int)])
    worlds = jax.tree.map(lambda x: np.asarray(x)[at], tree.worlds)
    memory = worlds.memory.copy()
    memory[:head, other] = _MARK
    if gadget == "resolve":
        first = cut.roots[np.unique(cut.klass, return_index=True)[1]]
        memory[1 : 1 + count, other] = np.asarray(tree.worlds.memory)[first, other] ^ _MARK
    like = {f: np.asarray(getattr(tree, f)).dtype for f in PositionTree._fields if f != "worlds"}
    fields = {
        "parent": parent,
        "action": action,
        "actor": actor,
        "depth": depth,
        "odds": odds,
        "value": value,
        "opened": opened,
        "num_nodes": np.asarray(size),
        "full": np.asarray(False),
    }
    made = PositionTree(
        worlds=jax.tree.map(jax.numpy.asarray, worlds._replace(memory=memory)),
        **{name: jax.numpy.asarray(x.astype(like[name])) for name, x in fields.items()},
    )
    mean = np.divide(alternative, cut.weight, out=np.zeros(count), where=cut.weight > 0)
    shown = np.zeros(count) if gadget == "unsafe" else mean
    return PositionSubgame(made, source, cut.free, cut.classes, shown, cut.weight)


def _per_class(
    nodes: Positions, edge: np.ndarray, player: int, cut: _Cut, gadget: str
) -> np.ndarray:
    """Returns float64 [J], payoffs of the gadget per counterfactual payoff of each class."""
    if gadget == "maxmargin":
        return 1 / cut.weight
    if gadget == "resolve":
        return np.full(len(cut.classes), 1 / cut.weight.sum())
    arrival = np.zeros(len(cut.classes))
    arrival[cut.klass] = _own_reach(nodes, edge, 1 - player)[cut.roots]
    if not (arrival * cut.weight).sum() > 0:
        arrival[:] = 1  # O does not come here
    return arrival / (arrival * cut.weight).sum()


def _own_reach(nodes: Positions, edge: np.ndarray, player: int) -> np.ndarray:
    """Returns float64 [N], a player's own reach of each node."""
    return reach_of(nodes, np.where(nodes.chooser == player, edge, 1.0), player)


def _check(
    player: int, gadget: str, knowledge: int, frozen: bool, alternative: str, reach: str | None
) -> None:
    if player not in (0, 1):
        raise ValueError(f"player must be 0 or 1, not {player!r}")
    if gadget not in GADGETS:
        raise ValueError(f"gadget must be one of {', '.join(GADGETS)}; got {gadget!r}")
    if isinstance(knowledge, bool) or knowledge < 1 or knowledge % 2 == 0:
        raise ValueError(f"knowledge must be an odd number k (1, 3, 5, ...), not {knowledge!r}")
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative must be one of {', '.join(ALTERNATIVES)}; got {alternative!r}"
        )
    if reach is not None and reach not in ALTERNATIVES:
        raise ValueError(f"reach must be None or one of {', '.join(ALTERNATIVES)}; got {reach!r}")
    if not frozen and reach is not None:
        raise ValueError("frozen=False goes without reach=, as in search.nested")
