"""External sampling: every action of the updating player, one of everybody else (Lanctot et al.
2009, section 3.2).

A trajectory is a tree: chance and the other players take one sampled action, the updating player
all of them. The value of a visited state is that of the sampled child, or the mean of all children
under the own policy, and the sampled counterfactual value of an own action is the value of its
child: a state is visited with exactly the probability that weighs it in a counterfactual value.

The tree grows depth by depth in a frontier of fixed capacity, the most states of a depth that any
sample can visit; values come back up the same arrays. Two states of one infostate of another
player draw their actions independently, as in OpenSpiel; the paper draws one action for both.
Both are unbiased.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.solve.sampling._shared import action_values, batch_keys, bound, check_rules, pick
from jaxsolve.tree._gather import take
from jaxsolve.tree._history import HistoryTree, Node, history_tree, states_of
from jaxsolve.tree._public_tree import Blocks, PublicTree
from jaxsolve.tree._states import StateTable
from jaxsolve.types import TERMINAL, Array, PRNGKey

SEARCH_ALL = 4096
"""Parents are found by comparing all pairs up to this many, by binary search beyond."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ExternalSampling:
    """Estimates counterfactual values from B independent trees of trajectories.

    Attributes:
        seed: of all keys.
        batch: B.
        history: the states of the game, None until `bind`.
        capacity: per player and depth, the most states a sample visits there.
    """

    seed: Any
    batch: int = dataclasses.field(metadata={"static": True})
    history: HistoryTree | None = None
    capacity: tuple[tuple[int, ...], ...] = dataclasses.field(default=(), metadata={"static": True})

    def bind(self, tree: PublicTree) -> ExternalSampling:
        """Returns the sampler of a game."""
        check_rules(tree)
        table, _ = states_of(tree)
        sizes = tuple(capacities(table, i) for i in range(tree.num_players))
        return dataclasses.replace(self, history=history_tree(tree), capacity=sizes)

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        policy: Sequence[Blocks],
        reach: Sequence[Array],
        iteration: Array,
    ) -> tuple[Blocks, Array]:
        """See `Sampler`."""
        history = bound(self.history)
        joint = history.joint(policy)
        start = history.start(policy, player)
        keys = batch_keys(self.seed, iteration, player, self.batch)
        sizes = self.capacity[player]
        seen = jax.vmap(lambda key: external(history, joint, player, sizes, key))(keys)
        index = jnp.where(seen.position < 0, -1, seen.position - start)
        values = action_values(tree.players[player], index, seen.value / self.batch)
        return values, seen.nodes.sum().astype(jnp.uint32)


class Visits(NamedTuple):
    """One tree of trajectories (E own actions, padding included).

    Attributes:
        position: int32 [E], of an own action in the joint vector, -1 in padding.
        value: float [E], its sampled counterfactual value.
        nodes: int32 [], states visited, the initial and the terminal ones included.
        root: float [], the sampled value of the game to the player.
    """

    position: Array
    value: Array
    nodes: Array
    root: Array


class _Depth(NamedTuple):
    """The frontier of one depth (C states): rows, who is real, own states, first slot below."""

    node: Node
    real: Array
    own: Array
    below: Array


def capacities(table: StateTable, player: int) -> tuple[int, ...]:
    """Returns, per depth, the most states that external sampling for a player can visit there."""
    out = []
    for depth in range(len(table.depth_start) - 1):
        lo, hi = table.depth_start[depth : depth + 2]
        most = np.ones(hi - lo, np.int64)
        for d in range(depth, 0, -1):
            lo, hi = table.depth_start[d - 1 : d + 1]
            parent = table.parent[hi : table.depth_start[d + 1]] - lo
            summed = np.bincount(parent, most, hi - lo).astype(np.int64)
            largest = np.zeros(hi - lo, np.int64)
            np.maximum.at(largest, parent, most)
            most = np.where(table.actor[lo:hi] == player, summed, largest)
        out.append(int(most[0]))
    return tuple(out)


def external(
    history: HistoryTree, joint: Array, player: int, capacity: Sequence[int], key: PRNGKey
) -> Visits:
    """Returns one sampled tree of trajectories and what its own actions are worth.

    Args:
        history: states.
        joint: probabilities of all children (`HistoryTree.joint`).
        player: who updates.
        capacity: of each depth (`capacities`).
        key: of this tree.
    """
    uniform = jax.random.uniform(key, (sum(capacity),), joint.dtype)
    state, real = jnp.zeros(1, jnp.int32), jnp.ones(1, bool)
    depths: list[_Depth] = []
    used = 0
    for d, size in enumerate(capacity[1:]):
        width = max((w for i, w in enumerate(history.widths[d]) if i != player), default=0)
        draws = uniform[used : used + capacity[d]]
        used += capacity[d]
        depth, state, real = _expand(history, joint, player, width, size, state, real, draws)
        depths.append(depth)
    node = history.node(state)
    value = _payoff(history, node, player)
    nodes = real.sum()
    index, gains = [], []
    for d, depth in reversed(list(enumerate(depths))):
        position, gain, value = _back_up(history, joint, player, history.widths[d], depth, value)
        index.append(position)
        gains.append(gain)
        nodes = nodes + depth.real.sum()
    if not index:
        empty = jnp.zeros(0, joint.dtype)
        return Visits(empty.astype(jnp.int32), empty, nodes, value[0])
    return Visits(jnp.concatenate(index), jnp.concatenate(gains), nodes, value[0])


def _expand(
    history: HistoryTree,
    joint: Array,
    player: int,
    width: int,
    size: int,
    state: Array,
    real: Array,
    uniform: Array,
) -> tuple[_Depth, Array, Array]:
    """Returns (this depth, states of the next, which of them are real)."""
    node = history.node(state)
    own = node.actor == player
    drawn = jnp.zeros_like(state)
    if width > 1:
        lanes = jnp.arange(width)
        there = (lanes < node.children[:, None]) & ~own[:, None]
        at = node.base[:, None] + jnp.where(there, lanes * node.stride[:, None], 0)
        drawn = pick(jnp.where(there, take(joint, at), 0), uniform)
    fan = jnp.where(real, jnp.where(own, node.children, jnp.minimum(node.children, 1)), 0)
    end = jnp.cumsum(fan)
    start = end - fan
    slot = jnp.arange(size)
    method = "compare_all" if size * len(state) <= SEARCH_ALL else "scan_unrolled"
    parent = jnp.searchsorted(end, slot, side="right", method=method).astype(jnp.int32)
    here = slot < end[-1]
    parent = jnp.where(here, parent, 0)
    child = take(jnp.where(own, node.first - start, node.first + drawn), parent)
    child = child + jnp.where(take(own, parent), slot, 0)
    return _Depth(node, real, own & real, start), jnp.where(here, child, 0), here


def _back_up(
    history: HistoryTree,
    joint: Array,
    player: int,
    widths: Sequence[int],
    depth: _Depth,
    below: Array,
) -> tuple[Array, Array, Array]:
    """Returns (positions of own actions [C * A], their values, values of the states [C])."""
    node = depth.node
    first = jnp.minimum(depth.below, len(below) - 1)
    value = jnp.where(node.children > 0, take(below, first), _payoff(history, node, player))
    if not widths[player]:
        return jnp.zeros(0, jnp.int32), jnp.zeros(0, below.dtype), value
    lanes = jnp.arange(widths[player])
    there = depth.own[:, None] & (lanes < node.children[:, None])
    step = jnp.where(there, lanes, 0)
    position = node.base[:, None] + step * node.stride[:, None]
    gain = jnp.where(there, take(below, first[:, None] + step), 0)
    mean = (jnp.where(there, take(joint, position), 0) * gain).sum(1)
    value = jnp.where(depth.own, mean, value)
    return jnp.where(there, position, -1).reshape(-1), gain.reshape(-1), value


def _payoff(history: HistoryTree, node: Node, player: int) -> Array:
    """Returns float [C], payoffs at terminal states, anything elsewhere."""
    row = jnp.where(node.actor == TERMINAL, node.first, 0)
    return take(history.utility[:, player], row)
