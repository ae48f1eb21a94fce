"""PCFR+ on a tree of positions, in one compiled program for every tree of its capacity.

Strategies belong to sequences: nodes reached by one action from one infoset share a number. Reach
goes down and values come up depth by depth over the whole arrays.

Source: Farina, Kroer & Sandholm 2021 (predictive regret matching+), averages weighted by t^2.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.search.knowledge._tree import PositionTree
from jaxsolve.types import Array


class PositionSolution(NamedTuple):
    """Strategies on a tree of N places.

    Attributes:
        average: float [N], probability of the action above each node; 1 where no player chose it.
        current: float [N], the last iterate, alike.
        infoset: int32 [N], equal where an acting player cannot tell nodes apart; N at other nodes.
        num_infosets: int32 [], how many.
        value: float [], player 0's, of the average strategies.
    """

    average: Array
    current: Array
    infoset: Array
    num_infosets: Array
    value: Array


@jax.jit
def solve_positions(tree: PositionTree, iterations: Array | int) -> PositionSolution:
    """Returns strategies after some iterations of alternating PCFR+.

    Args:
        tree: of positions; its leaves are worth what `value` says.
        iterations: how many; no new program for another number.
    """
    size = len(tree.parent)
    infoset, num_infosets = _infosets(tree)
    child = (tree.parent >= 0) & (jnp.arange(size) < tree.num_nodes)
    up = jnp.maximum(tree.parent, 0)
    row = jnp.where(child, infoset[up], size)  # of whoever chose the action above
    sequence = _numbered((row, tree.action), row < size)[0]
    first = jnp.full(size + 1, size).at[sequence].min(row)[:size]  # the infoset of a sequence
    width = jnp.bincount(first, length=size + 1)
    chooser = jnp.where(row < size, tree.actor[up], -1)
    depths = tree.depth.max()

    def strategy_of(weight: Array) -> Array:
        """Normalises weights [N] of sequences over each infoset; uniform where all are 0."""
        total = jax.ops.segment_sum(weight, first, size + 1)
        uniform = 1 / jnp.maximum(width, 1)[first]
        return jnp.where(total[first] > 0, weight / jnp.maximum(total[first], 1e-30), uniform)

    def edges(strategy: Array) -> Array:
        return jnp.where(chooser >= 0, jnp.append(strategy, 1.0)[sequence], tree.odds)

    def values_of(edge: Array) -> Array:
        def step(k: Array, value: Array) -> Array:
            here = child & (tree.depth == depths - k)
            return value + jax.ops.segment_sum(jnp.where(here, edge * value, 0), up, size)

        return jax.lax.fori_loop(0, depths, step, tree.value)

    def reach_of(edge: Array) -> Array:
        def step(k: Array, reach: Array) -> Array:
            here = child & (tree.depth == k + 1)
            return jnp.where(here, reach[up] * edge, reach)

        return jax.lax.fori_loop(0, depths, step, jnp.ones_like(edge))

    def regrets(strategy: Array, player: int) -> tuple[Array, Array]:
        """Returns float [N], regrets of a player's sequences, and the player's reach of each."""
        edge = edges(strategy)
        others = reach_of(jnp.where(chooser == player, 1.0, edge))
        own = reach_of(jnp.where(chooser == player, edge, 1.0))
        sign = 1.0 - 2.0 * player
        mine = chooser == player
        gain = jnp.where(mine, sign * others[up] * values_of(edge), 0)
        gain = jax.ops.segment_sum(gain, sequence, size + 1)[:size]
        mean = jax.ops.segment_sum(strategy * gain, first, size + 1)[first]
        arrival = jnp.zeros(size + 1, edge.dtype).at[sequence].max(jnp.where(mine, own[up], 0))
        return gain - mean, arrival[:size]

    def iterate(t: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
        total, strategy, average = carry
        for player in (0, 1):
            of_player = jnp.zeros(size + 1, bool).at[sequence].max(chooser == player)[:size]
            instant, arrival = regrets(strategy, player)
            weight = (t + 1.0) ** 2
            average = average + jnp.where(of_player, weight * arrival * strategy, 0)
            total = jnp.where(of_player, jnp.maximum(total + instant, 0), total)
            predicted = strategy_of(jnp.maximum(total + instant, 0))
            strategy = jnp.where(of_player, predicted, strategy)
        return total, strategy, average

    zero = jnp.zeros(size, tree.value.dtype)
    carry = (zero, strategy_of(zero), zero)
    _, current, average = jax.lax.fori_loop(0, iterations, iterate, carry)
    edge = edges(strategy_of(average))
    return PositionSolution(
        average=jnp.where(chooser >= 0, edge, 1.0),
        current=jnp.where(chooser >= 0, edges(current), 1.0),
        infoset=infoset,
        num_infosets=num_infosets,
        value=values_of(edge)[0],
    )


def _infosets(tree: PositionTree) -> tuple[Array, Array]:
    """Returns (int32 [N] numbers of the infosets of opened nodes, N elsewhere; how many)."""
    decides = tree.opened & (tree.actor >= 0)
    seat = jnp.maximum(tree.actor, 0)
    memory = jnp.take_along_axis(tree.worlds.memory, seat[:, None, None], 1)[:, 0]
    return _numbered((tree.actor, memory[:, 0], memory[:, 1]), decides)


def _numbered(keys: tuple[Array, ...], use: Array) -> tuple[Array, Array]:
    """Returns (int32 [N], equal numbers where all keys are equal, N where not used; how many)."""
    size = len(use)
    order = jnp.lexsort((*keys, ~use))
    new = jnp.zeros(size, bool).at[0].set(True)
    for key in keys:
        new |= jnp.concatenate([jnp.ones(1, bool), key[order][1:] != key[order][:-1]])
    new &= use[order]
    number = jnp.where(use[order], jnp.cumsum(new) - 1, size).astype(jnp.int32)
    return jnp.zeros(size, jnp.int32).at[order].set(number), new.sum(dtype=jnp.int32)
