"""Passes over a growing tree, and what its leaves read and write, as operators in C++, for CPUs.

A pass visits opened public states one after another, and of what JAX compiles for one of them some
twenty operations take one to two microseconds each, for arrays of a few kilobytes. The operators of
`jaxsolve/native/growing.cc` do the same in one call, and pass over illegal pairs and, where a model
`DescribesSome`, over private states that are not possible. They are for float32, solvers known by
their coefficients and payoffs in blocks; all else, and every other device, takes the loops of
`_reach`, `_update` and `_groups`, which are what they are tested against.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.devices import by_platform
from jaxsolve.public import DensePayoffs, DescribesSome, Transitions, as_table
from jaxsolve.regret import Step
from jaxsolve.search.growing._state import GrowingSearch, SearchState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.types import Array

T = TypeVar("T")

CODES = (jnp.int16, jnp.int32)
"""Types of the lists of `Transitions` that there are operators for."""


def fused_or(
    search: GrowingSearch,
    transitions: Transitions,
    dtype: Any,
    fused: Callable[[], T],
    looped: Callable[[], T],
) -> T:
    """Returns what an operator finds where there is one, and elsewhere what loops of JAX find.

    Args:
        search: options.
        transitions: of the model.
        dtype: of the search.
        fused: calls operators.
        looped: finds the same without.
    """
    if not _is_fused(search, transitions, dtype):
        return looped()
    return by_platform(cpu=fused, default=looped)


def _is_fused(search: GrowingSearch, transitions: Transitions, dtype: Any) -> bool:
    """Returns whether there are operators for a search on this machine."""
    lists = transitions.parents_of, transitions.child_of_action, transitions.child_of_waiting
    kinds = {as_table(x)[0].dtype for x in lists}
    return (
        dtype == jnp.float32
        and isinstance(transitions.payoffs, DensePayoffs)
        and search.solver.minimizer.coefficients is not None
        and len(kinds) == 1
        and kinds.pop() in CODES
        and native.available("growing")
    )


def fused_down(
    search: GrowingSearch, growth: Growth, start: Array, policy: Array, action_reach: Array
) -> Array:
    """Returns what `action_reach_of` does."""
    shape = jax.ShapeDtypeStruct(action_reach.shape, action_reach.dtype)
    found: Array = _call(search, growth, native.DOWN, shape, {2: 0}, start, policy, action_reach)
    return found


def fused_reach(
    search: GrowingSearch,
    growth: Growth,
    action_reach: Array,
    up: Array,
    child: Array,
    numbers: Array | None,
) -> Array:
    """Returns float [T, 2, N], own reaches at T leaves; see `reach_at`."""
    some = _no_numbers(up) if numbers is None else numbers
    size = some.shape[-1] or action_reach.shape[-1]
    shape = jax.ShapeDtypeStruct((len(up), 2, size), action_reach.dtype)
    found: Array = _call(search, growth, native.REACH, shape, {}, action_reach, up, child, some)
    return found


def fused_up(
    search: GrowingSearch, state: SearchState, mine: Array, step: Step, decay: Array
) -> tuple[tuple[Any, Array, Array, Array, Array, Array], Array]:
    """Returns (the fields of `Sums` after an iteration, float [2, H] values at the root)."""
    growth = state.growth
    transitions = search.model.transitions(growth.store)
    numbers = search.solver.minimizer.coefficients
    payoffs = transitions.payoffs
    assert numbers is not None
    assert isinstance(payoffs, DensePayoffs)
    (regret,), form = jax.tree.flatten(state.minimizer)
    changed = regret, state.policy, state.total, state.values, state.value_sum, state.child_values
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in changed]
    read = (
        *(mine, growth.allowed, growth.inside, decay),
        jnp.stack([jnp.asarray(x, regret.dtype) for x in numbers(step)]),
        *(transitions.factor, payoffs.pairs, state.action_reach),
    )
    regret, *others, value = _call(
        search,
        growth,
        native.UP,
        [*shapes, jax.ShapeDtypeStruct(state.root_value_sum.shape, regret.dtype)],
        {len(read) + k: k for k in range(len(changed))},
        *(*read, *changed),
    )
    policy, total, values, value_sum, child_values = others
    minimizer = jax.tree.unflatten(form, [regret])
    return (minimizer, policy, total, values, value_sum, child_values), value


def fused_put(
    search: GrowingSearch,
    growth: Growth,
    values: Array,
    found: Array,
    numbers: Array | None,
    into: Array,
    child: Array,
) -> Array:
    """Returns float [I, 2, C + 1, H], values with those of T leaves in them.

    Args:
        search: options.
        growth: the tree.
        values: of children of opened public states.
        found: float [T, 2, N], of leaves.
        numbers: int32 [T, 2, N], private states, none of them twice; the first ones if None.
        into: int32 [T], their parents; I or more leaves a leaf out.
        child: int32 [T], which children they are.
    """
    some = _no_numbers(into) if numbers is None else numbers
    shape = jax.ShapeDtypeStruct(values.shape, values.dtype)
    operands = values, found, some, into, child
    new: Array = _call(search, growth, native.PUT, shape, {0: 0}, *operands)
    return new


def fused_rows(entries: Array, begin: Array, size: int) -> Array:
    """Returns float32 [T, size, ...], lists of rows [P, ...] that begin at int32 [T]."""
    flat = entries.reshape(len(entries), -1)
    shape = jax.ShapeDtypeStruct((len(begin), size, flat.shape[1]), flat.dtype)
    call = jax.ffi.ffi_call(native.ROWS, shape, vmap_method="expand_dims")
    found: Array = call(flat, begin)
    return found.reshape(len(begin), size, *entries.shape[1:])


def fused_sort(
    search: GrowingSearch, growth: Growth, first: Array, sizes: Sequence[int], counts: Array
) -> tuple[Array, Array]:
    """Returns (leaves by group, where each group begins and the last ends); see `_groups`.

    Groups are those of public states that count at most sizes[0], at most sizes[1] and so on, and
    the others.
    """
    shapes = [
        jax.ShapeDtypeStruct(growth.leaf.shape, jnp.int32),
        jax.ShapeDtypeStruct((len(sizes) + 2,), jnp.int32),
    ]
    operands = growth.leaf, first, growth.num_leaves, counts
    leaf, begin = _call(
        search, growth, native.SORT, shapes, {}, *operands, sizes=np.asarray(sizes, np.int64)
    )
    return leaf, begin


def _no_numbers(leaves: Array) -> Array:
    """Returns what stands for the private states of leaves where it is all."""
    return jnp.zeros((len(leaves), 2, 0), jnp.int32)


def _call(
    search: GrowingSearch,
    growth: Growth,
    name: str,
    shape: Any,
    aliases: dict[int, int],
    *operands: Array,
    **attributes: Any,
) -> Any:
    """Calls an operator with its operands and those of the tree; a batch is one call."""
    model = search.model
    transitions = model.transitions(growth.store)
    parents, kind = as_table(transitions.parents_of)
    promised = transitions.renumbers
    order, count = jnp.zeros((0, 0), parents.dtype), jnp.zeros(0, jnp.int32)
    first, second = model.hands
    if isinstance(model, DescribesSome):
        order, count = model.ranked(growth.store)
        assert order.dtype == parents.dtype
    tree = (
        *(growth.num_opened, growth.row, growth.public, growth.up, growth.step),
        *(transitions.actor, kind, transitions.child, transitions.legal),
        jnp.zeros(0, bool) if promised is None else promised,
        *(order, count, parents, as_table(transitions.child_of_action)[0]),
        as_table(transitions.child_of_waiting)[0],
    )
    call = jax.ffi.ffi_call(name, shape, vmap_method="expand_dims", input_output_aliases=aliases)
    return call(*operands, *tree, first=first, second=second, **attributes)
