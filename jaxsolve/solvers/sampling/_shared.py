"""What the samplers share: random numbers, and sums that come out the same every time.

Scatter-adds of floats depend on the order of threads on a GPU. There the entries are sorted by
position first and each run is summed by a scan, so that equal seeds give equal bits. On a CPU a
scatter-add is sequential, hence as reproducible and about ten times faster than sorting.
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate import expected_values
from jaxsolve.regret import normalise
from jaxsolve.tree import (
    Blocks,
    PlayerTree,
    Policy,
    PublicTree,
    listed,
    payoffs_by_states,
    split_blocks,
)
from jaxsolve.types import Array

T = TypeVar("T")


def bound(data: T | None) -> T:
    """Returns what a sampler's `bind` attached.

    Raises:
        ValueError: nothing is attached.
    """
    if data is None:
        raise ValueError(
            "this sampled solver knows no game yet: call solver.bind(tree) first and use the "
            "solver it returns, as in solver = jaxsolve.es_mccfr().bind(tree)"
        )
    return data


def check_rules(tree: PublicTree) -> None:
    """Checks that an arbitrary policy is worth the same in the tensors and by the rules.

    Raises:
        ValueError: the leaves of the tree are not those of its rules.
    """
    table = listed(tree).states
    policy = _arbitrary(tree)
    got, want = np.asarray(expected_values(tree, policy)), payoffs_by_states(tree, policy.players)
    largest = abs(table.utility).max(initial=1e-9)
    if (abs(got - want) > 1e-4 * largest).any():
        raise ValueError(
            f"the payoffs of this tree are not those of the rules of {table.game.name} (an "
            f"arbitrary policy is worth {got.tolist()} here and {want.tolist()} by the rules). "
            "Sampling plays by the rules: change the game's parameters, not the tree's leaves."
        )


def draws(seed: Any, iteration: Array, player: int, shape: tuple[int, int], like: Array) -> Array:
    """Returns uniform numbers in [0, 1) for a player's samples in an iteration, [B, ...].

    They follow from the seed and the iteration alone, so a resumed run goes on like an
    uninterrupted one.
    """
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), iteration), player)
    return jax.random.uniform(key, shape, like.dtype)


def action_values(player: PlayerTree, index: Array, value: Array) -> Blocks:
    """Returns blocks [A, N] with entries added up, 0 where there are none.

    Args:
        player: whose sequences.
        index: int32 [...], position in the blocks, negative for nothing.
        value: float [...].
    """
    size = player.num_sequences - player.root_reach.shape[0]
    flat = add_at(index.reshape(-1), value.reshape(-1), size)
    return split_blocks(player, jnp.concatenate([jnp.zeros_like(player.root_reach), flat]))


def add_at(index: Array, value: Array, size: int) -> Array:
    """Returns float [size], sums of the values [E] by index [E]; negative indices are dropped."""
    index = jnp.where(index < 0, size, index)
    return jax.lax.platform_dependent(
        index,
        value,
        cpu=lambda i, v: add_scattered(i, v, size),
        default=lambda i, v: add_sorted(i, v, size),
    )


def add_scattered(index: Array, value: Array, size: int) -> Array:
    """Returns the sums by a scatter; indices of `size` or more are dropped."""
    return jnp.zeros(size, value.dtype).at[index].add(value, mode="drop")


def add_sorted(index: Array, value: Array, size: int) -> Array:
    """Returns the sums in an order that does not depend on the device's threads."""
    index, value = jax.lax.sort((index, value), num_keys=1, is_stable=True)
    before = jnp.concatenate([jnp.full(1, -1, index.dtype), index[:-1]])
    after = jnp.concatenate([index[1:], jnp.full(1, size + 1, index.dtype)])
    _, total = jax.lax.associative_scan(_join_runs, (index != before, value))
    last = jnp.where(index != after, index, size)
    # Each position is written at most once, by the last entry of its run.
    return jnp.zeros(size, value.dtype).at[last].set(total, mode="drop")


def _join_runs(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
    """Joins two stretches of (does a run start in it, sum of its last run)."""
    starts, total = right
    return left[0] | starts, jnp.where(starts, total, left[1] + total)


def _arbitrary(tree: PublicTree) -> Policy:
    """Returns a policy in which no two actions are alike."""
    random = np.random.default_rng(0)
    players = []
    for player in tree.players:
        weights = [random.uniform(0.5, 1.5, x.shape) for x in player.legal]
        players.append(
            tuple(
                normalise(jnp.asarray(w, player.root_reach.dtype) * legal, legal)
                for w, legal in zip(weights, player.legal, strict=True)
            )
        )
    return Policy(tuple(players), tree.names)
