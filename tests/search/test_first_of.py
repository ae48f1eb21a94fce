"""Functions of the entries that are there, a block at a time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsolve.public._worlds import BLOCK, first_of


def squared(x: jax.Array, y: jax.Array) -> dict[str, jax.Array]:
    """Returns two numbers of each entry, none of them 0."""
    return {"sum": x.sum() + 1, "square": y * y + 1}


@pytest.mark.parametrize("last", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 5])
def test_entries_that_are_there_are_those_of_all(last: int):
    size = 3 * BLOCK + 5
    x, y = jnp.arange(2.0 * size).reshape(size, 2), jnp.arange(size)
    there = (y < last) & (y % 3 != 1)
    got = jax.jit(lambda there: first_of(squared, there, x, y))(there)
    expected = jax.vmap(squared)(x, y)
    for name, right in expected.items():
        found = np.asarray(got[name])
        np.testing.assert_array_equal(found[np.asarray(there)], right[there])
    if jax.default_backend() == "cpu" and last + 2 * BLOCK <= size:
        assert not np.asarray(got["square"])[last + BLOCK :].any(), "more was done than needed"


def test_a_batch_goes_as_far_as_any_of_it():
    size = 4 * BLOCK
    y = jnp.arange(size)
    there = y < jnp.array([3, 2 * BLOCK, 0])[:, None]
    got = jax.vmap(lambda there: first_of(lambda y: y + 1, there, y))(there)
    for row, some in zip(np.asarray(got), np.asarray(there), strict=True):
        np.testing.assert_array_equal(row[some], (np.arange(size) + 1)[some])
    if jax.default_backend() == "cpu":
        assert not np.asarray(got)[:, 2 * BLOCK :].any()
