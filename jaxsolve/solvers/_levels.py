"""Iterations for accelerators, a whole own level at a time.

An accelerator runs one kernel after another, each for microseconds whatever it does, and is
otherwise bound by the bytes that kernels exchange with memory. `_loop` has arrays per block, of
which a level has one for each number of actions: exact blocks are many kernels, and few blocks
are padding. Here a quantity is one array over all sequences, rows find their actions by gathers,
and what can be recomputed is not kept: of a player the cumulative regret [E, H], the own reach
[S, H] and its mean [S, H] (E sequences without the empty ones). The policy follows from the regret.

Per player an iteration takes values up, one pass for the rows of each level, then updates all
regrets in one pass and takes reaches down. With hands
the mean is a plain one: float32 is enough for the thousands of iterations that such trees get (see
docs/precision.md), and compensation would double the bytes of the average. Trees without hands are
small, and their mean is compensated as in `_loop`.

No array of the carry is copied: each is written by one kernel that reads of its old value only the
entry it writes, so the kernel can write in place. A policy that is kept cannot: each entry needs
the old ones of its whole row, and XLA then writes it elsewhere and copies it back.

Example: rows of 2, 3 and 2 actions on one level are blocks [2, 2] and [3, 1], and its sequences are
a0 b0 a1 b1 c0 c1 c2 (row and action). `slots` is [[0, 2, 2], [1, 3, 3], [4, 5, 6]], `there` is 0 at
the last entry of the first two rows, and `row` is [0, 1, 0, 1, 2, 2, 2].
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.regret import Coefficients, Step, follows_from_regret
from jaxsolve.solvers._solver import Solver
from jaxsolve.tree import (
    Block,
    Blocks,
    PlayerTree,
    PublicTree,
    leaf_values,
    mean_over,
    split_blocks,
    take,
    total_over_devices,
)
from jaxsolve.types import Array


class Carry(NamedTuple):
    """What an iteration changes (per player).

    Attributes:
        regret: [E, H], cumulative.
        reach: [S, H], own reach under the policy that follows from it.
        mean: [S, H], weighted mean of own reaches.
        lost: [S, H], the rounding error of `mean`; () where it is not carried along.
        weight: float [], total weight of the means in units of the last iteration's.
    """

    regret: tuple[Array, ...]
    reach: tuple[Array, ...]
    mean: tuple[Array, ...]
    lost: tuple[Any, ...]
    weight: Array


class _Level(NamedTuple):
    """Rows and sequences of one own level of one player (N rows, E sequences, W actions at most).

    Attributes:
        blocks: of the tree.
        start: its first sequence, without the empty ones.
        slots: int32 [N, W], the sequences of each row, counted within the level; where a row has
            fewer than W, its last again.
        there: float [N, W], 0 at those and at padding.
        legal: float [E], 0 at padding; None where there is none.
        row: int32 [E], the row of each sequence.
        parent: int32 [E], the sequence above it, counted within the level above.
        one_hot: how entries are looked up, see `take`.
    """

    blocks: tuple[Block, ...]
    start: int
    slots: Array
    there: Array
    legal: Array | None
    row: Array
    parent: Array
    one_hot: bool


def sweeps_levels(tree: PublicTree, solver: Solver) -> bool:
    """Returns whether this module iterates: a tree that is meant for it (`laid_out`), no locks,
    exact values, and a policy that follows from the regrets."""
    meant = all((p.unpadded or p.by_levels) and p.levels for p in tree.players)
    free = all(b.locked is None for p in tree.players for b in p.blocks)
    return meant and free and solver.sampler is None and follows_from_regret(solver.minimizer)


def iterate_levels(
    tree: PublicTree,
    solver: Solver,
    carry: Carry,
    first: Array,
    iterations: Array | int,
    horizon: Array,
) -> Carry:
    """Returns what further iterations make of a carry.

    Args:
        tree: one for which `sweeps_levels`.
        solver: one for which `sweeps_levels`.
        carry: before them.
        first: int32 [], iterations done.
        iterations: int32 [], how many.
        horizon: planned number of iterations.
    """
    levels = [_levels(p) for p in tree.players]
    one = functools.partial(_iterate, tree, solver, levels, first, horizon)
    return jax.lax.fori_loop(0, iterations, one, carry)


def policy_of(player: PlayerTree, regret: Array) -> Blocks:
    """Returns the policy [A, N, H] per block that follows from cumulative regrets [E, H]."""
    levels = _levels(player)
    return split_blocks(player, jnp.concatenate([player.root_reach, _policy(levels, regret)]))


def _iterate(
    tree: PublicTree,
    solver: Solver,
    levels: Sequence[list[_Level]],
    first: Array,
    horizon: Array,
    k: Array,
    carry: Carry,
) -> Carry:
    dtype = tree.players[0].root_reach.dtype
    step = Step((first + k + 1).astype(dtype), jnp.asarray(horizon, dtype))
    weight = carry.weight * jnp.asarray(solver.decay(step), dtype) + 1
    mean, lost = [], []
    for m, e, r in zip(carry.mean, carry.lost, carry.reach, strict=True):
        change = (r - m) / weight
        if len(e):
            change = change - e
        mean.append(m + change)
        lost.append((mean[-1] - m) - change if len(e) else e)
    assert solver.minimizer.coefficients is not None
    numbers = solver.minimizer.coefficients(step)
    regret, reach = list(carry.regret), list(carry.reach)
    for i, player in enumerate(tree.players):
        gain = leaf_values(tree, i, reach if solver.alternating else carry.reach)
        regret[i] = _update(player, levels[i], numbers, regret[i], gain)
        reach[i] = _reach(player, levels[i], regret[i])
    return Carry(tuple(regret), tuple(reach), tuple(mean), tuple(lost), weight)


def _update(
    player: PlayerTree, levels: list[_Level], numbers: Coefficients, regret: Array, gain: Array
) -> Array:
    """Returns the cumulative regrets [E, H] after the values `gain` [S, H] of leaves."""
    gain = gain[player.root_reach.shape[0] :]
    gained: list[Array] = []
    below: Array | None = None
    for depth in reversed(range(len(levels))):
        level = levels[depth]
        values = gain[level.start : level.start + len(level.row)]
        if below is not None:
            padded = jnp.concatenate([below, jnp.zeros_like(below[:1])])
            values = values + player.children[depth + 1](padded)
        values = _over_images(level.blocks, values)
        weights = _weights(level, regret)
        actions = [take(values, level.slots[:, k], level.one_hot) for k in range(len(weights))]
        total = _sum(weights)
        if level.legal is not None:  # a row of padding has no action
            total = jnp.where(total > 0, total, 1)
        mean = _sum([w * q for w, q in zip(weights, actions, strict=True)]) / total
        # Otherwise the pass that updates regrets would compute it again from the old ones, and
        # could then not write over them.
        below = jax.lax.optimization_barrier(mean)
        more = values - take(below, level.row, level.one_hot)
        gained.insert(0, more if level.legal is None else more * _along(level.legal, more))
    kept = regret * jnp.where(regret > 0, numbers.positive, numbers.negative)
    return jnp.maximum(numbers.least, kept + _total(player, levels, jnp.concatenate(gained)))


def _total(player: PlayerTree, levels: list[_Level], gained: Array) -> Array:
    """Returns what sequences gained, summed over devices where the tree is one of several parts.

    All is linear in the values of leaves once the policy is known, so one sum at the end will do.
    """
    if player.shared is None:
        return gained
    pairs = zip(player.shared, levels, strict=True)
    # Of arrays without entries the compiler of JAX 0.11.2 for CPUs dies in a `shard_map`.
    some = [of.sequence + level.start for of, level in pairs if len(of.sequence)]
    return total_over_devices(gained, jnp.concatenate(some)) if some else gained


def _reach(player: PlayerTree, levels: list[_Level], regret: Array) -> Array:
    """Returns [S, H], own reach of every sequence under the policy of cumulative regrets."""
    policy = _policy(levels, regret)
    above = player.root_reach
    parts = [above]
    for level in levels:
        above = policy[level.start : level.start + len(level.row)] * take(
            above, level.parent, level.one_hot
        )
        parts.append(above)
    return jnp.concatenate(parts)


def _policy(levels: list[_Level], regret: Array) -> Array:
    """Returns [E, H], positive regrets over their sums; uniform where none is positive."""
    most, one_hot = max(level.slots.shape[1] for level in levels), levels[0].one_hot
    first = [0]
    for level in levels:
        first.append(first[-1] + len(level.slots))
    slots = jnp.concatenate([_wide(level.slots + level.start, most, True) for level in levels])
    there = jnp.concatenate([_wide(level.there, most, False) for level in levels])
    row = jnp.concatenate([level.row + n for level, n in zip(levels, first, strict=False)])
    lanes = [_along(there[:, k], regret) for k in range(most)]
    positive = [jnp.maximum(take(regret, slots[:, k], one_hot), 0) * lanes[k] for k in range(most)]
    total = take(_sum(positive), row, one_hot)
    count = _along(take(there.sum(1), row, one_hot), regret)
    safe = jnp.where(total > 0, total, 1)
    if levels[0].legal is None:
        return jnp.where(total > 0, jnp.maximum(regret, 0) / safe, 1 / count)
    legal = _along(jnp.concatenate([x.legal for x in levels if x.legal is not None]), regret)
    equal = legal / jnp.maximum(count, 1)
    return jnp.where(total > 0, jnp.maximum(regret, 0) / safe, equal) * legal


def _weights(level: _Level, regret: Array) -> list[Array]:
    """Returns W arrays [N, H] proportional to the policy of each row, with a sum above 0."""
    slots, number = level.slots + level.start, range(level.slots.shape[1])
    lanes = [_along(level.there[:, k], regret) for k in number]
    picked = [take(regret, slots[:, k], level.one_hot) for k in number]
    positive = [jnp.maximum(x, 0) * lane for x, lane in zip(picked, lanes, strict=True)]
    total = _sum(positive)
    return [jnp.where(total > 0, x, lane) for x, lane in zip(positive, lanes, strict=True)]


def _levels(player: PlayerTree) -> list[_Level]:
    """Returns the levels of a player; numbers that depend on sizes only, and on parents."""
    out, start = [], 0
    for blocks in player.levels:
        most = max(b.legal.shape[0] for b in blocks)
        slots, there, row, parent, legal = [], [], [], [], []
        at, rows = 0, 0
        for block in blocks:
            width, count = block.legal.shape[:2]
            lanes, here = jnp.arange(most), jnp.arange(count)
            slots.append(at + jnp.minimum(lanes, width - 1) * count + here[:, None])
            actions = block.legal.reshape(width, count)
            filled = jnp.pad(actions.T, ((0, 0), (0, most - width)))
            exact = jnp.broadcast_to(lanes < width, (count, most))
            there.append(exact if player.unpadded else filled)
            legal.append(actions.reshape(-1))
            row.append(rows + jnp.tile(here, width))
            parent.append(jnp.tile(block.parent, width))
            at, rows = at + width * count, rows + count
        dtype = player.root_reach.dtype
        out.append(
            _Level(
                blocks=blocks,
                start=start,
                slots=jnp.concatenate(slots).astype(jnp.int32),
                there=jnp.concatenate(there).astype(dtype),
                legal=None if player.unpadded else jnp.concatenate(legal).astype(dtype),
                row=jnp.concatenate(row).astype(jnp.int32),
                parent=jnp.concatenate(parent).astype(jnp.int32),
                one_hot=player.one_hot,
            )
        )
        start += at
    return out


def _over_images(blocks: Sequence[Block], values: Array) -> Array:
    """Returns values [E, H], averaged over the images of hands where chance was put together."""
    if all(b.orbit is None for b in blocks):
        return values
    parts, at = [], 0
    for block in blocks:
        size = block.legal.shape[0] * block.legal.shape[1]
        part = values[at : at + size]
        parts.append(part if block.orbit is None else mean_over(block.orbit, part))
        at += size
    return jnp.concatenate(parts)


def _wide(table: Array, width: int, repeat: bool) -> Array:
    """Returns [N, width], padded by the last column or by zeros."""
    more = ((0, 0), (0, width - table.shape[1]))
    return jnp.pad(table, more, mode="edge" if repeat else "constant")


def _along(x: Array, like: Array) -> Array:
    """Returns x with an axis of length 1 for every axis that another array has after its own."""
    return x.reshape(x.shape + (1,) * (like.ndim - x.ndim))


def _sum(terms: Sequence[Array]) -> Array:
    return functools.reduce(operator.add, terms)
