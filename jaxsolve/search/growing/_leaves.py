"""The leaves of a tree that grows: what they are worth, and when the value function is asked.

In a game of perfect information a leaf is asked about once. Otherwise all are asked about in each
iteration, or in every so many (`ask_every`), and new ones at once; in between an answer is kept,
which is per unit of the opponent's reach.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from jaxsolve.public import DescribesSome, PublicState
from jaxsolve.search.growing._groups import Leaves, over_leaves
from jaxsolve.search.growing._prepared import first_numbers, sized, with_prepared
from jaxsolve.search.growing._state import GrowingSearch, Known, SearchProblem, SearchState
from jaxsolve.types import Array
from jaxsolve.values import ValueFunction, normalised, scaled_values


def leaf_values(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with the values of the leaves under the reaches of the moment."""
    if search.ask_every is not None and state.total.shape[-1] > 1:
        again = state.iteration % search.ask_every == 0
        state = ask(search, problem, state, jnp.where(again, 0, state.growth.fresh))
    growth = state.growth
    transitions = search.model.transitions(growth.store)

    def one(leaves: Leaves, child_values: Array) -> Array:
        numbers = None
        if state.known is not None:
            reach = leaves.reach(search, growth, state.action_reach)
            possible = transitions.possible[leaves.public]
            mass = jnp.where(possible, reach, 0).sum(-1)[:, ::-1, None]
            found = state.known.values[leaves.up, :, leaves.child] * mass
        else:
            found, numbers = answers(search, problem, state, leaves, scaled_values)
        found = found * transitions.factor[leaves.row, leaves.child][:, None, None]
        return leaves.put(search, growth, child_values, found, numbers)

    sizes = None if state.known is not None else sized(search, problem, state)
    child_values = over_leaves(
        search, growth, jnp.int32(0), search.tile, sizes, one, state.child_values
    )
    asked = growth.num_leaves if state.known is None else 0
    return state._replace(child_values=child_values, asked=state.asked + asked)


def answers(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    leaves: Leaves,
    ask: Callable[[ValueFunction, PublicState, Array], Array],
) -> tuple[Array, Array | None]:
    """Returns (float [T, 2, N], what the value function says of leaves, int32 [T, 2, N]).

    The second are private states, the possible ones among them; None if they are all.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        leaves: some leaves.
        ask: (value function, public states [T], own reaches [T, 2, N]) -> float [T, 2, N], 0 where
            not possible.
    """
    model, store, public = search.model, state.growth.store, leaves.public
    value = with_prepared(search, problem, state, public, leaves.size)
    if leaves.size is None:
        reach = leaves.reach(search, state.growth, state.action_reach)
        return ask(value, model.public_state(store, public), reach), None
    assert isinstance(model, DescribesSome)
    numbers = first_numbers(model, store, public, leaves.size)
    reach = leaves.reach(search, state.growth, state.action_reach, numbers)
    return ask(value, model.public_state(store, public, numbers), reach), numbers


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
    sizes = sized(search, problem, state)
    tile = search.tile if hands > 1 else min(search.tile, search.top or search.tile)
    sure = jnp.ones((tile, 2, 1), state.total.dtype)

    def normal(value: ValueFunction, asked: PublicState, reach: Array) -> Array:
        beliefs, _ = normalised(reach, asked.possible)
        return jnp.where(asked.possible, value(asked, beliefs), 0)

    def one(leaves: Leaves, carry: tuple[Known, Array]) -> tuple[Known, Array]:
        known, count = carry
        return answered(leaves, known), count + (leaves.into < len(growth.row)).sum()

    def answered(leaves: Leaves, known: Known) -> Known:
        if hands > 1:
            found, numbers = answers(search, problem, state, leaves, normal)
            return Known(leaves.put(search, growth, known.values, found, numbers), None)
        at = leaves.into, slice(None), leaves.child
        asked = search.model.public_state(growth.store, leaves.public)
        found = jnp.where(asked.possible, problem.value(asked, sure), 0)
        values = known.values.at[at].set(found, mode="drop")
        if problem.prior is None or known.prior is None:
            return Known(values, None)
        # Of a network that is both, the compiler makes one pass.
        given = problem.prior(asked, sure)[:, : known.prior.shape[1], 0]
        return Known(values, known.prior.at[at].set(given, mode="drop"))

    start = state.known, jnp.zeros_like(first)
    known, count = over_leaves(search, growth, first, tile, sizes, one, start)
    growth = growth._replace(fresh=first + count)
    return state._replace(known=known, growth=growth, asked=state.asked + count)
