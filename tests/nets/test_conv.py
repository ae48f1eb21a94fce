"""Convolutions on boards against Flax's, their gradients against those that JAX derives."""

from __future__ import annotations

import flax.linen as nn
import jax
import numpy as np
import pytest

from jaxsolve.nets._conv import Conv


@pytest.mark.parametrize("shape", [(6, 7, 3), (2, 4, 4, 2), (2, 3, 5, 5, 1)])
def test_convolutions_and_gradients_are_those_of_flax(shape: tuple[int, ...]) -> None:
    ours, theirs = Conv(4), nn.Conv(4, (3, 3))
    x = jax.random.normal(jax.random.key(0), shape)
    params = ours.init(jax.random.key(1), x)
    assert jax.tree.map(np.shape, params) == jax.tree.map(
        np.shape, theirs.init(jax.random.key(1), x)
    )

    def loss(module: nn.Module) -> object:
        return jax.value_and_grad(lambda p, x: (module.apply(p, x) ** 3).sum(), (0, 1))

    found, expected = loss(ours)(params, x), loss(theirs)(params, x)
    for one, two in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-4)
