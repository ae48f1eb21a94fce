"""Entries of one public state in arrays of all, and loops over them that stay loops under vmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.devices import by_platform, shared_max
from jaxsolve.types import Array

T = TypeVar("T")


def by_actor(hands: tuple[int, int], actor: Array, body: Callable[..., T], carry: T, n: Array) -> T:
    """Returns what `body` makes of `carry` for the player who acts.

    Where one player has fewer private states, a public state of theirs has a program of its own,
    which passes over no more of them than there are; on a CPU only, since a GPU would wait for each
    choice. Each program is a loop of one turn or none: a condition would copy what it changes. In a
    batch, the program for many private states is right for everybody, and runs for all where anyone
    needs it.

    Args:
        hands: private states of both players.
        actor: int32 [].
        body: (actor, private states of the actor, of who waits, carry, n) -> carry; the actor is an
            int where it is known beforehand. It reads what it needs by the n that it is given: the
            compiler takes out of a loop what the loop does not change, and both programs would run
            always but for this number, which seems to change.
        carry: a pytree of arrays.
        n: int32 [], the opened public state.
    """
    few, many = sorted(hands)
    if few == many:
        return body(actor, many, many, carry, n)
    most = hands.index(many)

    def alike() -> T:
        return body(actor, many, many, carry, n)

    def apart() -> T:
        wide = shared_max((actor == most).astype(jnp.int32))

        def run(actor: int | Array, own: int, other: int, count: Array, carry: T) -> T:
            def turn(i: Array, carry: T) -> T:
                return body(actor, own, other, carry, n + nothing(i, n))

            return jax.lax.fori_loop(0, count, turn, carry)

        return run(1 - most, few, many, 1 - wide, run(actor, many, many, wide, carry))

    return by_platform(cpu=apart, default=alike)


def nothing(number: Array, like: Array) -> Array:
    """Returns 0 for an int32 [] that is not negative, of which the compiler does not know that.

    What it is added to stays in the loop that finds the number; see `by_actor`.
    """
    return jnp.minimum(number, 0).astype(like.dtype)


def in_order(actor: Any, acts: Array, waits: Array) -> tuple[Array, Array]:
    """Returns what belongs to the actor and to who waits as that of players 0 and 1; or back."""
    if isinstance(actor, int):
        return (waits, acts) if actor else (acts, waits)
    return jnp.where(actor == 0, acts, waits), jnp.where(actor == 0, waits, acts)


def entries(array: Array, *at: Any) -> Array:
    """Returns array[*at]; indices are in bounds and not negative."""
    found: Array = array.at[at].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return found


def rows_of(arrays: Any, *at: Any, hands: int | None = None) -> Any:
    """Returns the entries at [*at, ...], in bounds; of the first private states, if not of all."""

    def one(x: Array) -> Array:
        sizes = (*x.shape[len(at) : -1], x.shape[-1] if hands is None else hands)
        start = (*at, *(0,) * (x.ndim - len(at)))
        return jax.lax.dynamic_slice(x, start, (*(1,) * len(at), *sizes)).reshape(sizes)

    return jax.tree.map(one, arrays)


def put_rows(arrays: Any, rows: Any, *at: Any) -> Any:
    """Returns the arrays with other entries from [*at, 0, ...] on, in bounds."""

    def one(x: Array, row: Array) -> Array:
        row = row.reshape(*(1,) * (x.ndim - row.ndim), *row.shape)
        return jax.lax.dynamic_update_slice(x, row, (*at, *(0,) * (x.ndim - len(at))))

    return jax.tree.map(one, arrays, rows)
