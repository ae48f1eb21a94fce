"""What a value function makes of public states whatever the ranges, made once and kept.

A leaf is asked about in each iteration, under other ranges, and its features stay: in London they
took nine tenths of the time of asking. Where trees grow from rules, the children of a public state
are prepared when it is opened. Public states of a table are shared by all searches of a batch, so
that keeping something of each would take more than it saves.

Of a value function that passes over private states, what is kept is a row for each possible one,
public state after public state: in London 20 MB, where room for 72 of 199 stations took 55 MB.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.devices import shared_max
from jaxsolve.public import DescribesSome, PublicModel, PublicState
from jaxsolve.search.growing._fused import fused_or, fused_rows
from jaxsolve.search.growing._rows import nothing
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem, SearchState
from jaxsolve.types import Array
from jaxsolve.values import Prepares, ValueFunction, takes_few

SIZES = (6, 12, 24, 48, 96)
"""Numbers of private states for which leaves have programs."""

PREPARED = (24, 72)
"""Numbers of private states for which preparing has programs."""

ROWS = 24
"""Possible private states of a public state, in the mean, for which there are rows."""

TOGETHER = 24
"""Private states asked about at once, for each leaf of a tile."""


class Rows(NamedTuple):
    """Part of what is kept, of possible private states.

    Attributes:
        entries: [P + H, ...], those of a public state one after another.
    """

    entries: Array


class Prepared(NamedTuple):
    """What is kept of public states (Q of them).

    Attributes:
        each: a pytree with the leading axis Q, or `Rows`.
        begin: int32 [Q], the first of a public state's rows, -1 if it has none; None without rows.
        used: int32 [], rows in use.
    """

    each: Any
    begin: Array | None
    used: Array | None


class Sized(NamedTuple):
    """Programs for so many private states, and how many a public state has (Q of them).

    Attributes:
        sizes: in order; static.
        counts: int32 [Q], more than the last where what is prepared has found no room.
    """

    sizes: list[int]
    counts: Array


def sizes_of(model: PublicModel, value: ValueFunction) -> list[int]:
    """Returns sizes of programs that pass over private states; of all, if they are prepared."""
    if not (isinstance(model, DescribesSome) and takes_few(value)):
        return []
    most = max(model.hands)
    return [n for n in SIZES if n < most] + [most] * isinstance(value, Prepares)


def sized(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> Sized | None:
    """Returns which program a public state has to be asked about by; None if there is only one."""
    model, sizes = search.model, sizes_of(search.model, problem.value)
    if not sizes:
        return None
    assert isinstance(model, DescribesSome)
    counts = model.ranked(state.growth.store).counts
    if state.prepared is not None:
        counts = jnp.where(state.prepared.begin < 0, max(model.hands) + 1, counts)
    return Sized(sizes, counts)


def at_once(tile: int, size: int | None) -> int:
    """Returns leaves asked about at once, of which so many private states are; None for all.

    More where these are few, so that a program has enough to do, and few enough in all that what
    it passes from one operation to the next stays in the nearest caches.
    """
    return tile if size is None else max(1, min(TOGETHER * tile // size, 2 * tile))


def first_numbers(model: DescribesSome, store: Any, public: Array, size: int) -> Array:
    """Returns int32 [T, 2, size], the first private states of each player, possible ones first."""
    order, few = model.ranked(store).order, jnp.arange(size)
    first = jax.vmap(lambda q: jax.lax.dynamic_slice(order, (q, 0), (1, size))[0])(public)
    both = [jnp.broadcast_to(few, first.shape)] * 2
    both[model.hands.index(max(model.hands))] = first.astype(few.dtype)
    return jnp.stack(both, 1)


def nothing_prepared(model: PublicModel, value: ValueFunction, store: Any) -> Prepared | None:
    """Returns what is kept before anything is opened; None if nothing will be.

    Args:
        model: the public states that trees grow into.
        value: worth of leaves.
        store: of the model; None for a table.
    """
    if store is None or max(model.hands) == 1 or not isinstance(value, Prepares):
        return None
    sizes = sizes_of(model, value)
    if sizes and jax.default_backend() != "cpu":
        return None  # programs that pass over private states are for CPUs, see `over_leaves`
    count, one = len(model.transitions(store).scale), jnp.zeros(1, jnp.int32)

    def shape(size: int | None) -> Any:
        return jax.eval_shape(lambda: _prepare(model, value, store, one, size))

    def by_public(x: Any) -> Array:
        return jnp.zeros((count, *x.shape[1:]), x.dtype)

    if not sizes:
        return Prepared(jax.tree.map(by_public, shape(None)), None, None)

    def either(few: Any, many: Any) -> Array | Rows:
        if few.shape == many.shape:
            return by_public(few)
        return Rows(jnp.zeros((int(count * ROWS) + sizes[-1], *few.shape[2:]), few.dtype))

    each = jax.tree.map(either, shape(1), shape(sizes[-1]))
    return Prepared(each, jnp.full(count, -1, jnp.int32), jnp.zeros((), jnp.int32))


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
    kept = state.prepared
    if kept is None:
        return state
    model, value, store = search.model, problem.value, state.growth.store
    child = model.transitions(store).child[row]
    assert isinstance(value, Prepares)
    there, public = go & (child >= 0), jnp.maximum(child, 0)

    def put(old: Array, new: Array) -> Array:
        return old.at[jnp.where(there, child, len(old))].set(new, mode="drop")

    if kept.begin is None:
        each = jax.tree.map(put, kept.each, _prepare(model, value, store, public, None))
        return state._replace(prepared=kept._replace(each=each))
    assert isinstance(model, DescribesSome)
    counts = jnp.where(there, model.ranked(store).counts[public], 0)
    ends, room = kept.used + jnp.cumsum(counts), int(len(kept.begin) * ROWS)
    fits = ends <= room
    begin = jnp.where(there & fits, ends - counts, -1)

    def write(each: Any, found: Any) -> Any:
        def one(c: Array, each: Any) -> Any:
            # Rows beyond the last possible one are of the next public state, which comes after.
            at = jnp.where(begin[c] < 0, room, begin[c])

            def into(old: Rows | Array, new: Array) -> Rows | Array:
                if not isinstance(old, Rows):
                    return old
                return Rows(jax.lax.dynamic_update_slice_in_dim(old.entries, new[c], at, 0))

            return jax.tree.map(into, each, found, is_leaf=_is_rows)

        each = jax.lax.fori_loop(0, len(child), one, each)
        return jax.tree.map(
            lambda old, new: old if isinstance(old, Rows) else put(old, new),
            each,
            found,
            is_leaf=_is_rows,
        )

    # A program for few private states, or for more: loops of one turn or none, see `by_actor`.
    most, least, each = shared_max(counts.max()), 0, kept.each
    for size in (*(n for n in PREPARED if n < max(model.hands)), max(model.hands)):

        def turn(i: Array, each: Any, size: int = size) -> Any:
            some = public + nothing(i, public)
            return write(each, _prepare(model, value, store, some, size))

        wanted = (most > least) & (most <= size)
        each, least = jax.lax.fori_loop(0, wanted.astype(jnp.int32), turn, each), size
    used = kept.used + jnp.where(fits, counts, 0).sum()
    return state._replace(prepared=Prepared(each, put(kept.begin, begin), used))


def with_prepared(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    public: Array,
    size: int | None,
) -> ValueFunction:
    """Returns the value function, for which some public states are prepared.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        public: int32 [T], the public states.
        size: the first private states that will be asked about; all if None, of which no rows are
            kept.
    """
    value, kept = problem.value, state.prepared
    if kept is None or (size is None and kept.begin is not None):
        return value
    assert isinstance(value, Prepares)

    def some(x: Rows | Array) -> Array:
        if not isinstance(x, Rows):
            return x[public]
        assert size is not None
        assert begin is not None
        return _lists(search, state, x.entries, begin, size)

    begin = None if kept.begin is None else kept.begin[public]
    known = jax.tree.map(some, kept.each, is_leaf=_is_rows)

    def answer(asked: PublicState, beliefs: Array) -> Array:
        return value.answer(known, asked, beliefs)

    return answer


def _lists(
    search: GrowingSearch, state: SearchState, entries: Array, begin: Array, size: int
) -> Array:
    """Returns [T, size, ...], lists of rows [P, ...] that begin at int32 [T]."""

    def sliced() -> Array:
        return jax.vmap(lambda at: jax.lax.dynamic_slice_in_dim(entries, at, size))(begin)

    transitions = search.model.transitions(state.growth.store)
    copied = functools.partial(fused_rows, entries, begin, size)
    return fused_or(search, transitions, entries.dtype, copied, sliced)


def _is_rows(x: Any) -> bool:
    return isinstance(x, Rows)


def _prepare(
    model: PublicModel, value: Prepares, store: Any, public: Array, size: int | None
) -> Any:
    """Returns what is kept of public states, int32 [T]; of the first private states, if not all."""
    if size is None:
        return value.prepare(model.public_state(store, public))
    assert isinstance(model, DescribesSome)
    numbers = first_numbers(model, store, public, size)
    return value.prepare(model.public_state(store, public, numbers))
