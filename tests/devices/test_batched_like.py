"""What a loop is given so that JAX does not look for the axis of a batch again and again."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.devices import batched_like
from jaxsolve.types import Array


def test_nothing_changes_but_how_often_a_loop_is_traced():
    """Of three numbers the last comes to have the axis after two turns."""
    traced = []

    def summed(number: Array, like: Array | None) -> Array:
        start: tuple[Array, ...] = (number, jnp.int32(0), jnp.int32(0))
        if like is not None:
            start = batched_like(start, like)

        @jax.custom_batching.custom_vmap
        def seen(x: Array) -> Array:
            return x

        @seen.def_vmap
        def _(size: int, batched: list[bool], x: Array) -> tuple[Array, bool]:
            traced.append(batched[0])
            return x, batched[0]

        def turn(_: Array, carry: tuple[Array, ...]) -> tuple[Array, ...]:
            first, second, third = carry
            return first, second + first, seen(third + second)

        return jax.lax.fori_loop(0, 5, turn, start)[2]

    numbers, other = jnp.arange(4), jnp.int32(1)
    for like in (None, numbers):
        traced.clear()
        found = jax.vmap(lambda x, like=like: summed(x, None if like is None else x))(numbers)
        np.testing.assert_array_equal(found, 10 * numbers)
        assert traced[-1]
        assert (len(traced) == 1) == (like is not None)
    assert int(summed(numbers[3], other)) == 30
    traced.clear()
    jax.vmap(lambda _: summed(numbers[3], other))(numbers)
    assert not traced  # nothing has the axis where neither has
