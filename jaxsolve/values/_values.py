"""What the states at a depth limit are worth under each continuation.

Values are player 0's expected payoffs in the game's units, [L, k_0, k_1]: world states at the
limit, player 0's continuation, player 1's. All continuations are evaluated in one pass over the
terminals below the limit.
"""

from __future__ import annotations

import dataclasses
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
from jaxsolve.types import Array
from jaxsolve.values._limit import DepthLimit


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Below:
    """The part of a game below a limit, ready to be evaluated. A pytree.

    Attributes:
        free: per player, blocks bool [A, N]: the rows below the limit.
        terminals: leaf <- (player 0's last sequence, player 1's, payoff times chance below).
    """

    free: tuple[Blocks, ...]
    terminals: GatherSum


def below(tree: PublicTree, limit: DepthLimit) -> Below:
    """Returns the part of a compiled tree below a limit.

    Args:
        tree: the whole game, two players.
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
    for i in range(2):
        place = info.players[i]
        position = np.concatenate([np.arange(place.roots), place.position])
        sequences.append(position[last_sequences(table, i)[some]])
    odds = table.chance[at] / table.chance[limit.leaf[leaf[some]]]
    terminals = build(
        leaf[some],
        # Player 1's continuations are the last axis: long vectors come first.
        [sequences[1], sequences[0]],
        limit.num_leaves,
        weight=table.utility[some, 0] * odds,
    )
    return Below(tuple(free), jax.tree.map(jnp.asarray, terminals))


def exact_values(tree: PublicTree, part: Below, policies: Sequence[Sequence[Blocks]]) -> Array:
    """Returns float [L, k_0, k_1], player 0's expected payoffs; works under jit and vmap.

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
    size = (reach[0].shape[-1], reach[1].shape[-1])
    second = jnp.broadcast_to(reach[1][:, None, :], (len(reach[1]), *size))
    first = jnp.broadcast_to(reach[0][:, :, None], (len(reach[0]), *size))
    return part.terminals(second, first)


_exact_values = jax.jit(exact_values)


def values_at(
    tree: PublicTree,
    limit: DepthLimit,
    policies: Sequence[Sequence[Policy]],
    *,
    part: Below | None = None,
) -> Array:
    """Returns float [L, k_0, k_1], player 0's expected payoff at each state of a limit.

    Args:
        tree: a compiled two-player game.
        limit: of it.
        policies: per player, the continuations.
        part: `below(tree, limit)`, if it is at hand.
    """
    blocks = tuple(tuple(p.players[i] for p in policies[i]) for i in range(2))
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
        values: float [L, k_0, k_1], of player 0.
        belief: per player, float [L]: probability that chance and the *other* player come to the
            state under the blueprint.
        group: per player, int32 [L], infostates at the limit, numbered from 0.
        counts: per player, how many of these there are.
        choosers: whose values are lowered.

    Source: Brown, Sandholm and Amos 2018, section 4.
    """
    out = values
    for i in choosers:
        mine = values[:, :, 0] if i == 0 else -values[:, 0, :]  # against the blueprint, [L, k]
        weight = belief[i]
        total = jax.ops.segment_sum(weight, group[i], counts[i])
        mean = jax.ops.segment_sum(weight[:, None] * mine, group[i], counts[i])
        mean = mean / jnp.where(total > 0, total, 1)[:, None]
        excess = jnp.maximum(mean - mean[:, :1], 0)[group[i]]  # [L, k]
        out = out - excess[:, :, None] if i == 0 else out + excess[:, None, :]
    return out


def _leaf_above(table: StateTable, limit: DepthLimit) -> np.ndarray:
    """Returns int64 [X], the leaf at or above each state, -1 where there is none."""
    out = np.full(table.num_states, -1)
    out[limit.leaf] = np.arange(limit.num_leaves)
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = out[table.parent[lo:hi]]
        out[lo:hi] = np.where(up >= 0, up, out[lo:hi])
    return out
