"""What the states at a depth limit are worth under each continuation.

Values are expected payoffs in the game's units, [L, k_0, ..., k_{n-1}, n]: world states at the
limit, the continuation of each player, whose payoff. All continuations are evaluated in one pass
over the terminals below the limit.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.tree import (
    Blocks,
    GatherSum,
    Policy,
    PublicTree,
    StateTable,
    build,
    last_sequences,
    listed,
    reach_of,
    split_blocks,
)
from jaxsolve.types import Array, pytree
from jaxsolve.values._limit import DepthLimit


@pytree
@dataclasses.dataclass(frozen=True)
class Below:
    """The part of a game below a limit, ready to be evaluated. A pytree.

    Attributes:
        free: per player, blocks bool [A, N]: the rows below the limit.
        terminals: for each player whose payoff is summed, leaf <- (last sequences of all players,
            the last player's first; payoff times chance below).
        total: the sum of all payoffs if it is constant: the last player's follow from the others'
            and are not summed. None in general-sum games.
    """

    free: tuple[Blocks, ...]
    terminals: tuple[GatherSum, ...]
    total: float | None = dataclasses.field(metadata={"static": True})


def below(tree: PublicTree, limit: DepthLimit) -> Below:
    """Returns the part of a compiled tree below a limit.

    Args:
        tree: the whole game.
        limit: of that game.
    """
    info = listed(tree)
    table = info.states
    free = []
    for i, player in enumerate(tree.players):
        place = info.players[i]
        entry = np.repeat(limit.below[place.public], np.diff(place.offset))
        flat = np.zeros(player.num_sequences, bool)
        flat[place.position] = entry
        free.append(split_blocks(player, jnp.asarray(flat)))
    leaf = _leaf_above(table, limit)[table.terminal]
    some = leaf >= 0
    at = table.terminal[some]
    sequences = []
    for i, place in enumerate(info.players):
        position = np.concatenate([np.arange(place.roots), place.position])
        sequences.append(position[last_sequences(table, i)[some]])
    odds = table.chance[at] / table.chance[limit.leaf[leaf[some]]]
    summed = len(info.players) - (info.utility_sum is not None)
    terminals = tuple(
        # The last player's continuations are the last axis: long vectors come first.
        build(leaf[some], sequences[::-1], limit.num_leaves, weight=table.utility[some, i] * odds)
        for i in range(summed)
    )
    return Below(tuple(free), jax.device_put(terminals), info.utility_sum)


def exact_values(tree: PublicTree, part: Below, policies: Sequence[Sequence[Blocks]]) -> Array:
    """Returns float [L, k_0, ..., k_{n-1}, n], expected payoffs; works under jit and vmap.

    Args:
        tree: the whole game.
        part: of it, below the limit.
        policies: per player, the blocks [A, N] of each continuation.
    """
    reach = []
    for player, free, mine in zip(tree.players, part.free, policies, strict=True):
        stacked = jax.tree.map(lambda *x: jnp.stack(x), *mine)

        def alone(blocks: Blocks, player=player, free=free) -> Array:  # type: ignore[no-untyped-def]
            odds = tuple(jnp.where(f, b, 1) for f, b in zip(free, blocks, strict=True))
            return reach_of(player, odds)

        reach.append(jax.vmap(alone, out_axes=-1)(stacked))  # [S, k], 1 at the limit
    size = tuple(r.shape[-1] for r in reach)
    spread = []
    for i, r in enumerate(reach):
        own = [r.shape[-1] if j == i else 1 for j in range(len(size))]
        spread.append(jnp.broadcast_to(r.reshape(len(r), *own), (len(r), *size)))
    values = [terminals(*spread[::-1]) for terminals in part.terminals]
    if part.total is not None:
        values.append(part.total - functools.reduce(operator.add, values))
    return jnp.stack(values, -1)


_exact_values = jax.jit(exact_values)


def values_at(
    tree: PublicTree,
    limit: DepthLimit,
    policies: Sequence[Sequence[Policy]],
    *,
    part: Below | None = None,
) -> Array:
    """Returns float [L, k_0, ..., k_{n-1}, n], expected payoffs at each state of a limit.

    Args:
        tree: a compiled game.
        limit: of it.
        policies: per player, the continuations.
        part: `below(tree, limit)`, if it is at hand.
    """
    blocks = tuple(tuple(p.players[i] for p in mine) for i, mine in enumerate(policies))
    part = below(tree, limit) if part is None else part
    return _exact_values(tree.replace(names=None), part, blocks)


def weaken(
    values: Array,
    belief: Sequence[Array],
    group: Sequence[Array],
    counts: Sequence[int],
    choosers: Sequence[int],
) -> Array:
    """Returns values with no continuation better against the blueprint than the blueprint.

    At each infostate of a chooser the values of a continuation are lowered, all alike, to that of
    the first one where they exceed it on average over what the chooser believes.

    Args:
        values: float [L, k_0, k_1, 2], payoffs that sum to a constant: what a chooser loses, the
            other wins.
        belief: per player, float [L]: reach of chance and of the *other* player at each state
            under the blueprint.
        group: per player, int32 [L], infostates at the limit, numbered from 0.
        counts: per player, how many of these there are.
        choosers: whose values are lowered.

    Source: Brown, Sandholm and Amos 2018, section 4.
    """
    out = values
    for i in choosers:
        # Against the blueprint, [L, k].
        mine = values[:, :, 0, 0] if i == 0 else values[:, 0, :, 1]
        weight = belief[i]
        total = jax.ops.segment_sum(weight, group[i], counts[i])
        mean = jax.ops.segment_sum(weight[:, None] * mine, group[i], counts[i])
        mean = mean / jnp.where(total > 0, total, 1)[:, None]
        excess = jnp.maximum(mean - mean[:, :1], 0)[group[i]]  # [L, k]
        lost = jnp.expand_dims(excess, 2 - i)
        out = out.at[..., i].add(-lost).at[..., 1 - i].add(lost)
    return out


def _leaf_above(table: StateTable, limit: DepthLimit) -> np.ndarray:
    """Returns int64 [X], the leaf at or above each state, -1 where there is none."""
    out = np.full(table.num_states, -1)
    out[limit.leaf] = np.arange(limit.num_leaves)
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = out[table.parent[lo:hi]]
        out[lo:hi] = np.where(up >= 0, up, out[lo:hi])
    return out
