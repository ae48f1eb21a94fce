"""Loops over leaves of a tree that grows, some at a time, in groups with programs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.devices import by_platform, shared_max
from jaxsolve.search.growing._fused import fused_or, fused_put, fused_reach, fused_sort
from jaxsolve.search.growing._prepared import Sized, at_once
from jaxsolve.search.growing._reach import reach_at
from jaxsolve.search.growing._state import GrowingSearch
from jaxsolve.search.growing._tree import Growth
from jaxsolve.types import Array

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
        size: static, no more private states of a player are possible; None: all may be.
    """

    up: Array
    child: Array
    row: Array
    public: Array
    into: Array
    renumbers: Array | None
    size: int | None

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
            return fused_reach(search, growth, action_reach, self.up, self.child, numbers)

        def one(up: Array, row: Array, child: Array, some: Array | None) -> Array:
            return reach_at(transitions, action_reach, up, row, child, self.renumbers, some)

        def looked_up() -> Array:
            return jax.vmap(one)(self.up, self.row, self.child, numbers)

        return fused_or(search, transitions, action_reach.dtype, fused, looked_up)

    def put(
        self,
        search: GrowingSearch,
        growth: Growth,
        values: Array,
        found: Array,
        numbers: Array | None = None,
    ) -> Array:
        """Returns float [I, 2, C + 1, H], values with those of leaves [T, 2, N] in them.

        Those are of private states int32 [T, 2, N], if given, and the others are worth 0.
        """
        transitions = search.model.transitions(growth.store)

        def fused() -> Array:
            return fused_put(search, growth, values, found, numbers, self.into, self.child)

        def scattered() -> Array:
            every = found
            if numbers is not None:
                each = jnp.arange(len(found))[:, None, None], jnp.arange(2)[:, None], numbers
                every = jnp.zeros((*found.shape[:2], values.shape[-1]), found.dtype)
                every = every.at[each].set(found)
            return values.at[self.into, :, self.child].set(every, mode="drop")

        return fused_or(search, transitions, values.dtype, fused, scattered)


class Group(NamedTuple):
    """Leaves with a program of their own.

    Attributes:
        leaf: int32 [L], codes as in `Growth`.
        begin: int32 [], where they begin in it.
        end: int32 [], and end.
        size: see `Leaves`; static.
        renumbers: see `Leaves`; static.
    """

    leaf: Array
    begin: Array
    end: Array
    size: int | None = None
    renumbers: bool | None = None


def over_leaves(
    search: GrowingSearch,
    growth: Growth,
    first: Array,
    tile: int,
    sizes: Sized | None,
    one: Callable[[Leaves, T], T],
    carry: T,
) -> T:
    """Returns the carry of a loop over the leaves from number `first` on, a tile at a time.

    In a large game few private states are possible in most public states: of London's 199 stations
    15 in the mean along random play. On a CPU, leaves of which a program for few private states can
    be asked come first, in a loop of their own, then those of a program for more, and so on.
    """
    transitions = search.model.transitions(growth.store)
    every = Group(growth.leaf, first, growth.num_leaves)

    def sorted_() -> list[Group]:
        if sizes is None:
            return [every]
        leaf, begin = fused_sort(search, growth, first, sizes.sizes, sizes.counts)
        return [Group(leaf, begin[k], begin[k + 1], n) for k, n in enumerate([*sizes.sizes, None])]

    def loops(groups: Sequence[Group]) -> T:
        done = carry
        for group in groups:
            done = _over_group(search, growth, group, tile, one, done)
        return done

    def looped() -> T:
        if sizes is None and transitions.renumbers is None:
            return loops([every])
        return by_platform(
            cpu=lambda: loops(_groups(search, growth, first, sizes)), default=lambda: loops([every])
        )

    return fused_or(search, transitions, transitions.factor.dtype, lambda: loops(sorted_()), looped)


def _over_group(
    search: GrowingSearch,
    growth: Growth,
    group: Group,
    tile: int,
    one: Callable[[Leaves, T], T],
    carry: T,
) -> T:
    """Returns the carry of a loop over some leaves."""
    transitions, width = search.model.transitions(growth.store), growth.num_children
    tile = at_once(tile, group.size)
    renumbers = None if group.renumbers is None else jnp.bool_(group.renumbers)

    def some(t: Array, carry: T) -> T:
        at = group.begin + t * tile + jnp.arange(tile)
        codes = group.leaf[jnp.minimum(at, len(group.leaf) - 1)]
        up, child = jax.lax.div(codes, width), jax.lax.rem(codes, width)  # none is negative
        row = growth.row[up]
        public = jnp.maximum(transitions.child[row, child], 0)
        into = jnp.where(at < group.end, up, len(growth.row))
        return one(Leaves(up, child, row, public, into, renumbers, group.size), carry)

    tiles = shared_max((group.end - group.begin + tile - 1) // tile)
    return jax.lax.fori_loop(0, tiles, some, carry)


def _groups(
    search: GrowingSearch, growth: Growth, first: Array, sized: Sized | None
) -> list[Group]:
    """Returns the leaves from number `first` on by the program that they are asked about by.

    Where rows say so, they are also grouped by whether private states get new numbers.
    """
    transitions, number = search.model.transitions(growth.store), jnp.arange(len(growth.leaf))
    row = growth.row[growth.leaf // growth.num_children]
    sizes = [] if sized is None else sized.sizes
    each: list[tuple[int | None, bool | None]] = [(n, None) for n in [*sizes, None]]
    group = jnp.zeros(len(number), jnp.int32)
    if sized is not None:
        public = transitions.child[row, growth.leaf % growth.num_children]
        group = (sized.counts[public][:, None] > jnp.array(sizes)).sum(1)
    if transitions.renumbers is not None:
        group = 2 * group + transitions.renumbers[row]
        each = [(n, does) for n, _ in each for does in (False, True)]
    there = (number >= first) & (number < growth.num_leaves)
    hit = (group == jnp.arange(len(each))[:, None]) & there
    before = jnp.cumsum(hit, 1)
    end = jnp.cumsum(before[:, -1])
    begin = end - before[:, -1]
    at = jnp.where(there, (hit * (begin[:, None] + before - 1)).sum(0), len(number))
    leaf = jnp.zeros_like(growth.leaf).at[at].set(growth.leaf, mode="drop")
    return [Group(leaf, begin[k], end[k], *kind) for k, kind in enumerate(each)]
