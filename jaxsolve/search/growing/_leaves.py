"""The leaves of a tree that grows: what they are worth, and when the value function is asked.

A loop takes some leaves at a time. In a game of perfect information a leaf is asked about once.
Otherwise all are asked about in each iteration, or in every so many (`ask_every`), and new ones at
once; in between an answer is kept, which is per unit of the opponent's reach.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.devices import shared_max
from jaxsolve.public import DescribesSome, PublicState, Transitions
from jaxsolve.search.growing._fused import fused_or, fused_reach
from jaxsolve.search.growing._prepared import first_numbers, places, sizes_of, with_prepared
from jaxsolve.search.growing._reach import reach_at
from jaxsolve.search.growing._state import GrowingSearch, Known, SearchProblem, SearchState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.types import Array
from jaxsolve.values import ValueFunction, normalised, scaled_values

T = TypeVar("T")


class Leaves(NamedTuple):
    """Some leaves of a tree, one after another (T of them).

    Attributes:
        up: int32 [T], the parent.
        child: int32 [T], which child of it.
        row: int32 [T], of the parent.
        public: int32 [T], number of the public state.
        into: int32 [T], the parent, and one that is not there where no leaf is left.
        renumbers: bool [], see `reach_at`.
    """

    up: Array
    child: Array
    row: Array
    public: Array
    into: Array
    renumbers: Array | None

    def reach(
        self,
        search: GrowingSearch,
        growth: Growth,
        action_reach: Array,
        numbers: Array | None = None,
    ) -> Array:
        """Returns float [T, 2, H], own reaches; of private states int32 [T, 2, N], if given."""
        transitions = search.model.transitions(growth.store)

        def fused() -> Array:
            return fused_reach(transitions, growth, action_reach, self.up, self.child, numbers)

        def looked_up() -> Array:
            return self._looked_up(transitions, action_reach, numbers)

        return fused_or(search, transitions, action_reach.dtype, fused, looked_up)

    def _looked_up(
        self, transitions: Transitions, action_reach: Array, numbers: Array | None
    ) -> Array:
        """Returns what `reach` does, by gathers."""

        def one(up: Array, row: Array, child: Array, some: Array | None) -> Array:
            return reach_at(transitions, action_reach, up, row, child, self.renumbers, some)

        return jax.vmap(one)(self.up, self.row, self.child, numbers)


def leaf_values(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with the values of the leaves under the reaches of the moment."""
    if search.ask_every is not None and state.total.shape[-1] > 1:
        again = state.iteration % search.ask_every == 0
        state = ask(search, problem, state, jnp.where(again, 0, state.growth.fresh))
    growth = state.growth
    transitions = search.model.transitions(growth.store)

    def one(leaves: Leaves, child_values: Array) -> Array:
        if state.known is not None:
            reach = leaves.reach(search, growth, state.action_reach)
            possible = transitions.possible[leaves.public]
            mass = jnp.where(possible, reach, 0).sum(-1)[:, ::-1, None]
            found = state.known.values[leaves.up, :, leaves.child] * mass
        else:
            found = answers(search, problem, state, leaves, scaled_values)
        found = found * transitions.factor[leaves.row, leaves.child][:, None, None]
        return child_values.at[leaves.into, :, leaves.child].set(found, mode="drop")

    child_values = _over_leaves(transitions, growth, None, search.tile, one, state.child_values)
    asked = growth.num_leaves if state.known is None else 0
    return state._replace(child_values=child_values, asked=state.asked + asked)


def answers(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    leaves: Leaves,
    ask: Callable[[ValueFunction, PublicState, Array], Array],
) -> Array:
    """Returns float [T, 2, H], what the value function says of leaves.

    In a large game few private states are possible in most public states: of London's 199 stations
    19 in the mean, at most 64 in 94 % of positions. Where the value function can pass over the
    others, a program for the next larger of `SIZES` runs, chosen for a batch as a whole; on a CPU
    only, since a GPU would wait for each choice. These programs find leaves prepared.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        leaves: some leaves.
        ask: (value function, public states [T], own reaches [T, 2, N]) -> float [T, 2, N], 0 where
            not possible.
    """
    model, store = search.model, state.growth.store
    transitions, public = model.transitions(store), leaves.public
    sizes = sizes_of(model, problem.value)

    def every() -> Array:
        reach = leaves.reach(search, state.growth, state.action_reach)
        value = problem.value if sizes else with_prepared(problem, state, public)
        return ask(value, model.public_state(store, public), reach)

    def few(size: int) -> Array:
        assert isinstance(model, DescribesSome)
        numbers = first_numbers(model, store, public, size)
        reach = leaves.reach(search, state.growth, state.action_reach, numbers)
        value = with_prepared(problem, state, public, size)
        found = ask(value, model.public_state(store, public, numbers), reach)
        at = jnp.minimum(places(model, store, public), size - 1)
        found = jnp.take_along_axis(found, at, 2, mode="promise_in_bounds")
        return jnp.where(transitions.possible[public], found, 0)

    if not sizes:
        return every()

    def chosen() -> Array:
        most = shared_max(transitions.possible[public].sum(-1).max())
        number = sum((most > n).astype(jnp.int32) for n in sizes)
        branches: list[Callable[[], Array]] = [*(functools.partial(few, n) for n in sizes), every]
        found: Array = jax.lax.switch(number, branches)
        return found

    found: Array = jax.lax.platform_dependent(cpu=chosen, default=every)
    return found


def _over_leaves(
    transitions: Transitions,
    growth: Growth,
    first: Array | None,
    tile: int,
    one: Callable[[Leaves, T], T],
    carry: T,
) -> T:
    """Returns the carry of a loop over the leaves from number `first` on, a tile at a time."""
    width, size = growth.num_children, len(growth.leaf)
    leaf, late = growth.leaf, jnp.zeros_like(growth.num_leaves)
    early = growth.num_leaves if first is None else growth.num_leaves - first
    if transitions.renumbers is not None:
        leaf, late = _parted(transitions, growth, first)
        first, early = None, early - late
    first_tiles, last_tiles = (shared_max((n + tile - 1) // tile) for n in (early, late))

    def some(t: Array, carry: T) -> T:
        low, renumbers = t * tile, None
        there = low + jnp.arange(tile) < early
        if transitions.renumbers is not None:
            renumbers = t >= first_tiles
            low = jnp.where(renumbers, size - (t - first_tiles + 1) * tile, low)
            there = jnp.where(renumbers, low + jnp.arange(tile) >= size - late, there)
        if first is None:
            codes = jax.lax.dynamic_slice_in_dim(leaf, low, tile)
        else:
            codes = leaf[jnp.minimum(first + low + jnp.arange(tile), size - 1)]
        up, child = codes // width, codes % width
        row = growth.row[up]
        public = jnp.maximum(transitions.child[row, child], 0)
        into = jnp.where(there, up, len(growth.row))
        return one(Leaves(up, child, row, public, into, renumbers), carry)

    return jax.lax.fori_loop(0, first_tiles + last_tiles, some, carry)


def _parted(transitions: Transitions, growth: Growth, first: Array | None) -> tuple[Array, Array]:
    """Returns the leaves from number `first` on in another order, and how many are at the end.

    Those are the ones below rows that renumber private states; the others come first.
    """
    size = len(growth.leaf)
    some = jnp.arange(size) < growth.num_leaves
    if first is not None:
        some &= jnp.arange(size) >= first
    late = transitions.renumbers[growth.row[growth.leaf // growth.num_children]] & some
    at = jnp.where(late, size - jnp.cumsum(late), jnp.cumsum(some & ~late) - 1)
    at = jnp.where(some, at, size)
    return jnp.zeros_like(growth.leaf).at[at].set(growth.leaf, mode="drop"), late.sum()


def ask_once(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with what is known of new leaves, where no range changes it."""
    if state.known is None or state.total.shape[-1] > 1:
        return state
    return ask(search, problem, state, state.growth.fresh)


def ask(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, first: Array
) -> SearchState:
    """Returns the search with answers about the leaves from number `first` on."""
    growth, hands = state.growth, state.total.shape[-1]
    assert state.known is not None
    transitions = search.model.transitions(growth.store)
    tile = search.tile if hands > 1 else min(search.tile, search.top or search.tile)
    sure = jnp.ones((tile, 2, 1), state.total.dtype)

    def normal(value: ValueFunction, asked: PublicState, reach: Array) -> Array:
        beliefs, _ = normalised(reach, asked.possible)
        return jnp.where(asked.possible, value(asked, beliefs), 0)

    def one(leaves: Leaves, carry: tuple[Known, Array]) -> tuple[Known, Array]:
        known, count = carry
        return answered(leaves, known), count + (leaves.into < len(growth.row)).sum()

    def answered(leaves: Leaves, known: Known) -> Known:
        at = leaves.into, slice(None), leaves.child
        if hands > 1:
            found = answers(search, problem, state, leaves, normal)
            return Known(known.values.at[at].set(found, mode="drop"), None)
        asked = search.model.public_state(growth.store, leaves.public)
        found = jnp.where(asked.possible, problem.value(asked, sure), 0)
        values = known.values.at[at].set(found, mode="drop")
        if problem.prior is None or known.prior is None:
            return Known(values, None)
        # Of a network that is both, the compiler makes one pass.
        given = problem.prior(asked, sure)[:, : known.prior.shape[1], 0]
        return Known(values, known.prior.at[at].set(given, mode="drop"))

    start = state.known, jnp.zeros_like(first)
    known, count = _over_leaves(transitions, growth, first, tile, one, start)
    growth = growth._replace(fresh=first + count)
    return state._replace(known=known, growth=growth, asked=state.asked + count)
