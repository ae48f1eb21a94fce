"""What a value function makes of public states whatever the ranges, made once and kept.

A leaf is asked about in each iteration, under other ranges, and its features stay: in London they
took nine tenths of the time of asking. Where trees grow from rules, the children of a public state
are prepared when it is opened. Public states of a table are shared by all searches of a batch, so
that keeping something of each would take more than it saves.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.public import DescribesSome, PublicModel, PublicState
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem, SearchState
from jaxsolve.types import Array
from jaxsolve.values import Prepares, ValueFunction, takes_few

SIZES = (6, 12, 24, 48, 72)
"""Numbers of private states for which leaves have programs; what is prepared is of the last."""


def sizes_of(model: PublicModel, value: ValueFunction) -> list[int]:
    """Returns the sizes of programs that pass over some private states."""
    if not (isinstance(model, DescribesSome) and takes_few(value)):
        return []
    return [n for n in SIZES if n < max(model.hands)]


def at_once(tile: int, size: int | None) -> int:
    """Returns leaves asked about at once, of which so many private states are; None for all.

    More where these are few, so that a program has enough to do.
    """
    return tile if size is None else tile * min(max(SIZES) // size, 8)


def first_numbers(model: DescribesSome, store: Any, public: Array, size: int) -> Array:
    """Returns int32 [T, 2, size], the first private states of each player, possible ones first."""

    def some(order: Array | None) -> Array:
        if order is None:
            return jnp.broadcast_to(jnp.arange(size), (len(public), size))
        found = jax.vmap(lambda q: jax.lax.dynamic_slice(order, (q, 0), (1, size))[0])(public)
        return found.astype(jnp.int32)

    return jnp.stack([some(order) for order in model.ranked(store).order], 1)


def possible_count(model: DescribesSome, store: Any) -> Array:
    """Returns int32 [Q], possible private states of the player who has most."""
    counts = model.ranked(store).counts
    found: Array = counts[model.hands.index(max(model.hands))]
    return found


def nothing_prepared(model: PublicModel, value: ValueFunction, store: Any) -> Any:
    """Returns what is kept before anything is opened, zeros [Q, ...]; None if nothing will be.

    Args:
        model: the public states that trees grow into.
        value: worth of leaves.
        store: of the model; None for a table.
    """
    if store is None or max(model.hands) == 1 or not isinstance(value, Prepares):
        return None
    if sizes_of(model, value) and jax.default_backend() != "cpu":
        return None  # programs that pass over private states are for CPUs, see `answers`
    count = len(model.transitions(store).scale)
    one = jax.eval_shape(lambda: _prepare(model, value, store, jnp.zeros(1, jnp.int32)))
    return jax.tree.map(lambda x: jnp.zeros((count, *x.shape[1:]), x.dtype), one)


def with_children(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, row: Array, go: Array
) -> SearchState:
    """Returns the search with what is kept of the children of a public state that was opened.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        row: int32 [], of the public state.
        go: bool [], False leaves all as it is.
    """
    if state.prepared is None:
        return state
    model, value, store = search.model, problem.value, state.growth.store
    child = model.transitions(store).child[row]
    assert isinstance(value, Prepares)

    def put(old: Array, new: Array) -> Array:
        at = jnp.where(go & (child >= 0), child, len(old))
        return old.at[at].set(new, mode="drop")

    found = _prepare(model, value, store, jnp.maximum(child, 0))
    return state._replace(prepared=jax.tree.map(put, state.prepared, found))


def with_prepared(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    public: Array,
    size: int | None = None,
) -> ValueFunction:
    """Returns the value function, for which some public states are prepared.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        public: int32 [T], the public states.
        size: the first private states that will be asked about; all if None, of which more may be
            possible than are prepared.
    """
    value = problem.value
    if state.prepared is None or (size is None and sizes_of(search.model, value)):
        return value
    assert isinstance(value, Prepares)

    def some(x: Array) -> Array:
        if size is None:
            return x[public]
        shape = 1, min(size, x.shape[1]), *x.shape[2:]
        zeros = [0] * (x.ndim - 1)
        return jax.vmap(lambda q: jax.lax.dynamic_slice(x, (q, *zeros), shape)[0])(public)

    known = jax.tree.map(some, state.prepared)

    def answer(asked: PublicState, beliefs: Array) -> Array:
        return value.answer(known, asked, beliefs)

    return answer


def _prepare(model: PublicModel, value: Prepares, store: Any, public: Array) -> Any:
    """Returns what is kept of public states, int32 [T]."""
    few = sizes_of(model, value)
    if not few:
        return value.prepare(model.public_state(store, public))
    assert isinstance(model, DescribesSome)
    numbers = first_numbers(model, store, public, few[-1])
    return value.prepare(model.public_state(store, public, numbers))
