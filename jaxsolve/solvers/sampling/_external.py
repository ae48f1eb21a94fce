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

from jaxsolve.solvers.sampling._shared import action_values, bound, check_rules, draws
from jaxsolve.tree import (
    Blocks,
    HistoryTree,
    Node,
    Odds,
    PublicTree,
    StateTable,
    history_tree,
    listed,
    take,
)
from jaxsolve.types import TERMINAL, Array, pytree

SEARCH_ALL = 4096
"""Parents are found by comparing all pairs up to this many, by binary search beyond."""


@pytree
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
        table = listed(tree).states
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
        odds = history.odds(policy)
        start = history.start(policy, player)
        sizes = self.capacity[player]
        uniform = draws(self.seed, iteration, player, (self.batch, sum(sizes)), odds.each)
        seen = jax.vmap(lambda u: external(history, odds, player, sizes, u))(uniform)
        index = jnp.where(seen.position < 0, -1, seen.position - start)
        values = action_values(tree.players[player], index, seen.value / self.batch)
        return values, seen.nodes.sum().astype(jnp.uint32)


class Visits(NamedTuple):
    """One tree of trajectories (E own actions, padding included).

    Attributes:
        position: int32 [E], of an own action in `Odds`, -1 in padding.
        value: float [E], its sampled counterfactual value.
        nodes: int32 [], states visited, the initial and the terminal ones included.
        root: float [], the sampled value of the game to the player.
    """

    position: Array
    value: Array
    nodes: Array
    root: Array


class _Depth(NamedTuple):
    """The frontier of one depth (C places).

    Attributes:
        node: rows of the states, each [C].
        real: bool [C], False in empty places.
        own: bool [C], the updating player acts.
        below: int32 [C], place of the first visited child at the next depth.
    """

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
    history: HistoryTree, odds: Odds, player: int, capacity: Sequence[int], uniform: Array
) -> Visits:
    """Returns one sampled tree of trajectories and what its own actions are worth.

    Args:
        history: states.
        odds: probabilities of all children (`HistoryTree.odds`).
        player: who updates.
        capacity: of each depth (`capacities`).
        uniform: float [sum of the capacities], numbers in [0, 1), one for each place.
    """
    depths = _frontiers(history, odds, player, capacity, uniform)
    all_nodes = Node(*(jnp.concatenate(x) for x in zip(*(d.node for d in depths), strict=True)))
    row = jnp.where(all_nodes.actor == TERMINAL, all_nodes.first, 0)
    payoff = take(history.utility[:, player], row)  # anything where not terminal
    widths = [w[player] for w in history.widths]
    acting = [depth for depth, w in zip(depths, widths, strict=True) if w]
    position = _own_positions(acting, max(widths))
    weight = take(odds.each, jnp.maximum(position, 0))

    gains: list[Array] = []
    stop, low = len(payoff), len(position)
    value = payoff
    for d in reversed(range(len(depths))):
        depth, size = depths[d], len(depths[d].real)
        start, low = stop - size, low - (size if widths[d] else 0)
        ends = payoff[start:stop]
        if d + 1 == len(depths):
            value = ends
        else:
            lanes = jnp.arange(max(widths) if widths[d] else 1)
            place = depth.below[:, None] + lanes
            visited = take(value, jnp.minimum(place, len(value) - 1))  # [C, A]
            value = jnp.where(depth.node.children > 0, visited[:, 0], ends)
            if widths[d]:
                here = slice(low, low + size)
                gain = jnp.where(position[here] < 0, 0, visited)
                gains.append(gain)
                value = jnp.where(depth.own, (weight[here] * gain).sum(1), value)
        stop = start
    nodes = sum((d.real.sum() for d in depths), start=jnp.int32(0))
    gained = jnp.concatenate(gains[::-1]) if gains else jnp.zeros_like(weight)
    return Visits(position.reshape(-1), gained.reshape(-1), nodes, value[0])


def _frontiers(
    history: HistoryTree, odds: Odds, player: int, capacity: Sequence[int], uniform: Array
) -> list[_Depth]:
    """Returns the visited states of all depths."""
    state, real = jnp.zeros(1, jnp.int32), jnp.ones(1, bool)
    depths: list[_Depth] = []
    used = 0
    for d, size in enumerate(capacity):
        node = history.node(state)
        own = real & (node.actor == player)
        width = max((w for i, w in enumerate(history.widths[d]) if i != player), default=0)
        drawn = jnp.zeros_like(state)
        if width > 1:
            drawn = odds.draw(node, width, uniform[used : used + size])
        fan = jnp.where(real, jnp.where(own, node.children, jnp.minimum(node.children, 1)), 0)
        start = _sums_before(fan)
        depths.append(_Depth(node, real, own, start))
        used += size
        if d + 1 < len(capacity):
            # Of an own state, place p below holds child p - start.
            first = jnp.where(own, node.first - start, node.first + drawn)
            state = _children(first, own, start, fan, capacity[d + 1])
            real = jnp.arange(capacity[d + 1]) < start[-1] + fan[-1]
    return depths


def _sums_before(fan: Array) -> Array:
    """Returns int32 [C], the sum of the entries before each."""
    size = len(fan)
    if size * size > SEARCH_ALL:
        return jnp.cumsum(fan) - fan
    at = jnp.arange(size)
    return jnp.where(at[None, :] < at[:, None], fan[None, :], 0).sum(1)


def _children(first: Array, own: Array, start: Array, fan: Array, size: int) -> Array:
    """Returns int32 [size], the states of the next depth, 0 in empty places."""
    place = jnp.arange(size, dtype=jnp.int32)
    if size * len(first) > SEARCH_ALL:
        parent = jnp.searchsorted(start + fan, place, side="right", method="scan_unrolled")
        parent = jnp.minimum(parent, len(first) - 1)
        child = take(first, parent) + jnp.where(take(own, parent), place, 0)
        return jnp.where(place < start[-1] + fan[-1], child, 0)
    mine = (start <= place[:, None]) & (place[:, None] < start + fan)
    return jnp.where(mine, first + own * place[:, None], 0).sum(1, dtype=jnp.int32)


def _own_positions(depths: Sequence[_Depth], width: int) -> Array:
    """Returns int32 [places of depths with own states, A], -1 where there is no own action."""
    lanes = jnp.arange(width)
    parts = [jnp.zeros((0, width), jnp.int32)]
    for depth in depths:
        node = depth.node
        there = depth.own[:, None] & (lanes < node.children[:, None])
        at = node.base[:, None] + lanes * node.stride[:, None]
        parts.append(jnp.where(there, at, -1))
    return jnp.concatenate(parts)
