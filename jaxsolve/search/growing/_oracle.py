"""Solving subgames of a table to the end, on the trees that searches grow: all is opened at once.

This is the reference for value functions, and CFR on a whole game: with the same solver its
iterates are those of `js.solve`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.devices import shared_max
from jaxsolve.public import Described, ListedModel, PublicState, PublicTable
from jaxsolve.search.growing._expand import open_leaf
from jaxsolve.search.growing._solve import Grown, begin, finish, growing_search
from jaxsolve.search.growing._state import GrowingSearch, SearchState
from jaxsolve.search.growing._update import update
from jaxsolve.search.resolving import Gadget
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, pytree
from jaxsolve.values import check_classes


@pytree
@dataclasses.dataclass(frozen=True)
class TableOracle:
    """A `ValueFunction` that solves the subgame below each leaf, from scratch at every call.

    Attributes:
        search: options; those of simulations are not used.
        iterations: int32 [], of CFR.
    """

    search: GrowingSearch
    iterations: Array

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        """See `ValueFunction`."""

        def one(subgame_class: Array, beliefs: Array) -> Array:
            return solve_whole(self.search, subgame_class, beliefs, self.iterations).root_values

        return jax.vmap(one)(state.subgame_class, beliefs)

    def check(self, game: Described) -> None:
        """Refuses public states whose subgames this function does not list; see `ChecksGame`."""
        mine = self.search.model.format
        check_classes(mine.game, mine.num_classes, game)


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
    subgame_class: Array,
    ranges: Array,
    iterations: Array,
    *,
    gadget: Gadget | None = None,
) -> Grown:
    """Returns the solution of one subgame; vmap it for a batch.

    Args:
        search: options with room for the whole subgame; those of simulations are not used.
        subgame_class: int32 [], which subgame.
        ranges: float [2, H], own reaches of both players at the root.
        iterations: int32 [], of CFR.
        gadget: the constraint of re-solving.
    """
    state, problem = begin(search, _nothing, subgame_class, ranges, gadget, None, None)
    problem = problem._replace(horizon=iterations)
    pair = jnp.zeros(2, jnp.int32)

    def more(_: Any, state: SearchState) -> SearchState:
        growth = state.growth
        up, child = jnp.divmod(growth.leaf[0], growth.num_children)
        return open_leaf(search, problem, state, up, child, pair, growth.num_leaves > 0, every=True)

    if not isinstance(search.model, ListedModel):
        raise ValueError("a subgame is solved whole in a table: use public.public_table(game)")
    size = shared_max(search.model.table.size[subgame_class])
    state = jax.lax.fori_loop(1, size, more, state)
    state = jax.lax.fori_loop(0, iterations, lambda _, state: update(search, problem, state), state)
    return finish(search, problem, state)


def _nothing(state: PublicState, beliefs: Array) -> Array:
    """There are no leaves."""
    return jnp.zeros_like(beliefs)
