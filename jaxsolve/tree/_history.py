"""The world states of a game on the device: what a sampled trajectory walks through.

A state is one row of five integers, so that a step of a trajectory is one gather; its children are
neighbours, because states lie in breadth-first order. Every state that is not terminal has a
distribution over its children in one vector of probabilities: chance outcomes first (equal
distributions are stored once), then the policy of each player in the order of its blocks.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np

from jaxsolve.tree._gather import take
from jaxsolve.tree._info import listed
from jaxsolve.tree._public_tree import Blocks, PublicTree
from jaxsolve.tree._states import StateTable
from jaxsolve.types import CHANCE, Array, pytree

T = TypeVar("T")

SUMS_UNROLLED = 16
"""Up to so many actions, running sums are written out, which compiles to a single kernel."""


class Node(NamedTuple):
    """What is stored of a state, each int32 [...].

    Attributes:
        actor: player, CHANCE or TERMINAL.
        children: how many there are, 0 at a terminal.
        first: first child; at a terminal its row among the payoffs.
        base: position of the first child's probability in `Odds`.
        stride: distance to the next child's.
    """

    actor: Array
    children: Array
    first: Array
    base: Array
    stride: Array


class Odds(NamedTuple):
    """Probabilities of the children of all states: chance, then the players' blocks in order.

    Attributes:
        each: float [C + ...].
        upto: float [C + ...], sums over a state's children up to each: exactly 1 from the last
            child of positive probability on.
    """

    each: Array
    upto: Array

    def draw(self, node: Node, width: int, uniform: Array) -> Array:
        """Returns int32 [...], the number of a child drawn at each state.

        Args:
            node: rows of the states; where they have no children, anything is returned.
            width: the most children that matter.
            uniform: float [...], numbers in [0, 1).
        """
        lanes = jnp.arange(width)
        there = lanes < node.children[..., None]
        at = node.base[..., None] + jnp.where(there, lanes * node.stride[..., None], 0)
        return (there & (take(self.upto, at) <= uniform[..., None])).sum(-1, dtype=jnp.int32)


@pytree
@dataclasses.dataclass(frozen=True)
class HistoryTree:
    """World states (X states of which Z terminal, n players, D depths).

    Attributes:
        nodes: int32 [X, 5], rows of `Node`.
        chance: the distinct chance distributions, one after the other: `Odds` of [C].
        utility: float [Z, n], payoffs at terminal states.
        widths: per depth, the most children of a state in which (player 0, ..., player n - 1,
            chance) acts; 0 where they never act at that depth.
    """

    nodes: Array
    chance: Odds
    utility: Array
    widths: tuple[tuple[int, ...], ...] = dataclasses.field(metadata={"static": True})

    def node(self, state: Array) -> Node:
        """Returns the rows of states [...]."""
        rows = self.nodes.at[state].get(mode="promise_in_bounds", wrap_negative_indices=False)
        return Node(*(rows[..., k] for k in range(5)))

    def odds(self, policy: Sequence[Blocks]) -> Odds:
        """Returns the probabilities of all children under a policy of every player."""
        every = [b for blocks in policy for b in blocks]
        upto = [_running_sum(b).reshape(-1) for b in every]
        return Odds(
            jnp.concatenate([self.chance.each, *(b.reshape(-1) for b in every)]),
            jnp.concatenate([self.chance.upto, *upto]),
        )

    def start(self, policy: Sequence[Blocks], player: int) -> int:
        """Returns where a player's blocks begin in the probabilities of all children."""
        return self.chance.each.size + sum(b.size for blocks in policy[:player] for b in blocks)

    @property
    def num_depths(self) -> int:
        """D."""
        return len(self.widths)


def once_per_tree(build: Callable[[PublicTree], T]) -> Callable[[PublicTree], T]:
    """Remembers what was built for a tree as long as the tree is there."""
    known: dict[int, tuple[weakref.ref[PublicTree], T]] = {}

    @functools.wraps(build)
    def call(tree: PublicTree) -> T:
        at = id(tree)
        if at not in known or known[at][0]() is not tree:
            known[at] = (weakref.ref(tree, lambda _: known.pop(at, None)), build(tree))
        return known[at][1]

    return call


@once_per_tree
def history_tree(tree: PublicTree) -> HistoryTree:
    """Returns the world states of a compiled tree.

    Raises:
        ValueError: the tree has no table of states.
    """
    info = listed(tree)
    table = info.states
    total = table.num_states
    parent = table.parent[1:]
    count = np.bincount(parent, minlength=total)
    first = 1 + np.searchsorted(parent, np.arange(total))
    first[table.terminal] = np.arange(len(table.terminal))
    base = np.zeros(total, np.int64)
    stride = np.zeros(total, np.int64)
    chance, upto = _chance_rows(table, first, count, base, stride)
    start = len(chance)
    for i, player in enumerate(tree.players):
        acts = np.flatnonzero(table.actor == i)
        place = info.players[i]
        infoset = np.full(len(table.infostates[i].parent), -1)
        infoset[place.infostate] = np.arange(place.num_infosets)
        entry = place.offset[infoset[table.infostate[acts, i]]]
        base[acts] = start + place.position[entry] - place.roots
        more = np.minimum(entry + 1, len(place.position) - 1)
        stride[acts] = np.where(count[acts] > 1, place.position[more] - place.position[entry], 0)
        start += player.num_sequences - place.roots
    rows = np.stack([table.actor, count, first, base, stride], 1)
    dtype = tree.players[0].root_reach.dtype
    return HistoryTree(
        nodes=jnp.asarray(rows, jnp.int32),
        chance=Odds(jnp.asarray(chance, dtype), jnp.asarray(upto, dtype)),
        utility=jnp.asarray(table.utility, dtype),
        widths=_widths(table, count),
    )


def payoffs_by_states(tree: PublicTree, policy: Sequence[Blocks]) -> np.ndarray:
    """Returns float64 [n], expected payoffs of a policy, from the table of states on the host."""
    table = listed(tree).states
    history = history_tree(tree)
    odds, nodes = np.asarray(history.odds(policy).each, np.float64), np.asarray(history.nodes)
    reach = np.ones(len(nodes))
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = Node(*nodes[table.parent[lo:hi]].T)
        slot = np.arange(lo, hi) - up.first
        reach[lo:hi] = reach[table.parent[lo:hi]] * odds[up.base + slot * up.stride]
    return reach[table.terminal] @ table.utility


def _chance_rows(
    table: StateTable, first: np.ndarray, count: np.ndarray, base: np.ndarray, stride: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the distinct distributions [C] and their running sums [C].

    Points every chance state at its own.
    """
    at = np.flatnonzero(table.actor == CHANCE)
    stride[at] = 1
    rows, sums, filled = [np.zeros(0)], [np.zeros(0)], 0
    for width in np.unique(count[at]):
        members = at[count[at] == width]
        children = first[members][:, None] + np.arange(width)
        odds = table.chance[children] / table.chance[members][:, None]
        _, sample, which = np.unique(odds.round(12), axis=0, return_index=True, return_inverse=True)
        base[members] = filled + which.reshape(-1) * width
        upto = odds[sample].cumsum(1)
        rows.append(odds[sample].reshape(-1))
        sums.append((upto / upto[:, -1:]).reshape(-1))
        filled += len(sample) * width
    return np.concatenate(rows), np.concatenate(sums)


def _running_sum(block: Array) -> Array:
    """Returns [A, N], sums over the actions up to each, the last exactly 1 (0 in padding)."""
    few = len(block) <= SUMS_UNROLLED
    upto = jnp.stack(list(itertools.accumulate(block))) if few else jnp.cumsum(block, 0)
    return upto / jnp.where(upto[-1] > 0, upto[-1], 1)


def _widths(table: StateTable, count: np.ndarray) -> tuple[tuple[int, ...], ...]:
    players = [*range(table.game.num_players), CHANCE]
    out = []
    for lo, hi in zip(table.depth_start[:-1], table.depth_start[1:], strict=True):
        here, width = table.actor[lo:hi], count[lo:hi]
        out.append(tuple(int(width[here == a].max(initial=0)) for a in players))
    return tuple(out)
