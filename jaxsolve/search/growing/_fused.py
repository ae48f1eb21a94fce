"""Both passes of an iteration over a growing tree as operators in C++, for CPUs.

A pass visits opened public states one after another, and of what JAX compiles for one of them some
twenty operations take one to two microseconds each, for arrays of a few kilobytes. The operators of
`jaxsolve/native/growing.cc` do the same in one call, and pass over illegal pairs. They are for
float32, solvers known by their coefficients and payoffs in blocks; all else, and every other
device, takes the loops of `_reach` and `_update`, which are what they are tested against.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve import native
from jaxsolve.public import DensePayoffs, Transitions, as_table
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
    found: T = jax.lax.platform_dependent(cpu=fused, default=looped)
    return found


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
    transitions: Transitions, growth: Growth, start: Array, policy: Array, action_reach: Array
) -> Array:
    """Returns what `action_reach_of` does."""
    shape = jax.ShapeDtypeStruct(action_reach.shape, action_reach.dtype)
    tree = _tree(transitions, growth)
    found: Array = _call(
        transitions, native.DOWN, shape, {len(tree) + 2: 0}, *tree, start, policy, action_reach
    )
    return found


def fused_reach(
    transitions: Transitions,
    growth: Growth,
    action_reach: Array,
    up: Array,
    child: Array,
    numbers: Array | None,
) -> Array:
    """Returns float [T, 2, N], own reaches at T leaves; see `reach_at`."""
    some = jnp.zeros((len(up), 2, 0), jnp.int32) if numbers is None else numbers
    size = some.shape[-1] or transitions.num_hands
    shape = jax.ShapeDtypeStruct((len(up), 2, size), action_reach.dtype)
    operands = *_tree(transitions, growth), action_reach, up, child, some
    found: Array = _call(transitions, native.REACH, shape, {}, *operands)
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
    tree = _tree(transitions, growth)
    read = (
        *(mine, growth.allowed, growth.inside, decay),
        jnp.stack([jnp.asarray(x, regret.dtype) for x in numbers(step)]),
        *(transitions.factor, payoffs.pairs, state.action_reach),
    )
    first = len(tree) + len(read)
    regret, *others, value = _call(
        transitions,
        native.UP,
        [*shapes, jax.ShapeDtypeStruct(state.root_value_sum.shape, regret.dtype)],
        {first + k: k for k in range(len(changed))},
        *(*tree, *read, *changed),
    )
    policy, total, values, value_sum, child_values = others
    minimizer = jax.tree.unflatten(form, [regret])
    return (minimizer, policy, total, values, value_sum, child_values), value


def _tree(transitions: Transitions, growth: Growth) -> tuple[Array, ...]:
    """Returns the operands that both passes have."""
    parents, kind = as_table(transitions.parents_of)
    promised = transitions.renumbers
    return (
        *(growth.num_opened, growth.row, growth.up, growth.step, transitions.actor, kind),
        transitions.legal,
        jnp.zeros(0, bool) if promised is None else promised,
        *(parents, as_table(transitions.child_of_action)[0]),
        as_table(transitions.child_of_waiting)[0],
    )


def _call(
    transitions: Transitions, name: str, shape: Any, aliases: dict[int, int], *operands: Array
) -> Any:
    """Calls an operator; searches of a batch are one call."""
    call = jax.ffi.ffi_call(name, shape, vmap_method="expand_dims", input_output_aliases=aliases)
    first, second = transitions.weights.hands
    return call(*operands, first=first, second=second)
