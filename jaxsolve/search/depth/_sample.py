"""Solvers that draw the values at a depth limit anew at each iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.solvers import Solver
from jaxsolve.tree import Blocks, PublicTree, leaf_values, values_of
from jaxsolve.types import Array, pytree
from jaxsolve.values import MultiValued


@pytree
@dataclasses.dataclass(frozen=True)
class SampledValues:
    """A `Sampler`: exact counterfactual values, given values at the limit that are drawn.

    Attributes:
        draw: key -> float [L, k_0, ..., k_{n-1}, n], payoffs; a pytree, such as `values.Rollouts`.
        seed: of all keys.
    """

    draw: Any
    seed: Any

    @property
    def batch(self) -> int:
        """Draws of each estimate."""
        return 1

    def bind(self, tree: PublicTree) -> SampledValues:
        """Returns itself.

        Raises:
            ValueError: the tree has no depth limit.
        """
        if not isinstance(tree.leaves[-1], MultiValued):
            raise ValueError(
                "this tree has no depth limit whose values could be drawn; see "
                "jaxsolve.values.continuations. For gadgets draw the values before: "
                "values.set_values(tree, draw(key))"
            )
        return self

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        policy: Sequence[Blocks],
        reach: Sequence[Array],
        iteration: Array,
    ) -> tuple[Blocks, Array]:
        """See `Sampler`; both players of an iteration see values of their own."""
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(self.seed), iteration), player)
        drawn = self.draw(key)
        leaves = (*tree.leaves[:-1], tree.leaves[-1].with_values(drawn))
        gain = leaf_values(tree.replace(leaves=leaves), player, reach)
        mine = policy[player]
        values, _ = values_of(tree.players[player], gain, lambda k, q: (mine[k] * q).sum(0))
        return values, jnp.asarray(drawn[..., 0].size, jnp.uint32)


def with_sampled_values(
    solver: Solver, draw: Callable[[Array], Array] | Any, *, seed: int = 0
) -> Solver:
    """Returns a solver that draws the values at a depth limit anew at each iteration.

    The exploitability of a curve is measured on the tree's own values.

    Args:
        solver: a variant of CFR.
        draw: key -> float [L, k_0, ..., k_{n-1}, n], payoffs, unbiased; a pytree, such as
            `values.rollouts(...)`, or a `jax.tree_util.Partial` of a function.
        seed: of all keys.
    """
    sampler = SampledValues(draw, jnp.asarray(seed, jnp.uint32))
    return dataclasses.replace(solver, sampler=sampler)
