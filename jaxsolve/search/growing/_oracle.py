"""Solving subgames of a table to the end, on the trees that searches grow: all is opened at once.

This is the reference for value functions, and CFR on a whole game: with the same solver its
iterates are those of `js.solve`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.public import PublicTable
from jaxsolve.search.fixed import Gadget
from jaxsolve.search.growing._expand import open_leaf
from jaxsolve.search.growing._solve import Grown, begin, finish, growing_search
from jaxsolve.search.growing._state import GrowingSearch, Run
from jaxsolve.search.growing._update import shared_max, update
from jaxsolve.solvers import Solver
from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class TableOracle:
    """A `ValueFunction` that solves the subgame below each leaf, from scratch at every call.

    Attributes:
        search: options; those of simulations are not used.
        iterations: int32 [], of CFR.
    """

    search: GrowingSearch
    iterations: Array

    def __call__(self, kind: Array, beliefs: Array) -> Array:
        """See `ValueFunction`."""

        def one(kind: Array, beliefs: Array) -> Array:
            return solve_whole(self.search, kind, beliefs, self.iterations).root_values

        return jax.vmap(one)(kind, beliefs)


def table_oracle(
    table: PublicTable, solver: Solver, *, iterations: int, below: bool = True
) -> TableOracle:
    """Returns the value function that solves subgames to the end.

    A batch takes as long as its largest subgame: ask it about one leaf at a time (`tile=1`).

    Args:
        table: public states of the game.
        solver: variant of CFR.
        iterations: of each subgame.
        below: leaves are not the first public state, so that there is room for less.
    """
    size = int(table.below[1:].max(initial=1)) if below else int(table.below[0])
    search = growing_search(table, solver, simulations=table.below[0])
    return TableOracle(dataclasses.replace(search, capacity=size), jnp.int32(iterations))


def solve_whole(
    search: GrowingSearch,
    kind: Array,
    ranges: Array,
    iterations: Array,
    *,
    gadget: Gadget | None = None,
) -> Grown:
    """Returns the solution of one subgame; vmap it for a batch.

    Args:
        search: options with room for the whole subgame; those of simulations are not used.
        kind: int32 [], which subgame.
        ranges: float [2, H], own reaches of both players at the root.
        iterations: int32 [], of CFR.
        gadget: the constraint of re-solving.
    """
    run, task = begin(search, _nothing, kind, ranges, gadget, None, None)
    task = task._replace(horizon=iterations)
    pair = jnp.zeros(2, jnp.int32)

    def more(_: Any, run: Run) -> Run:
        growth = run.growth
        up, child = jnp.divmod(growth.leaf[0], growth.num_children)
        return open_leaf(search, task, run, up, child, pair, growth.num_leaves > 0, every=True)

    size = shared_max(search.ground.table.size[kind])
    run = jax.lax.fori_loop(1, size, more, run)
    run = jax.lax.fori_loop(0, iterations, lambda _, run: update(search, task, run), run)
    return finish(search, task, run)


def _nothing(kind: Array, beliefs: Array) -> Array:
    """There are no leaves."""
    return jnp.zeros_like(beliefs)
