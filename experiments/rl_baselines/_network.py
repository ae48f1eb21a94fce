"""The multilayer perceptrons of both seats, and how they are trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import optax

from jaxsolve.types import Array, PRNGKey, PyTree


class Network(nn.Module):
    """ReLU layers and a linear one.

    Attributes:
        outputs: of the last layer.
        hidden: units of each other layer.
    """

    outputs: int
    hidden: tuple[int, ...]

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Returns [..., outputs] for features [..., F]."""
        for width in self.hidden:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.outputs)(x)


def init_both(network: Network, features: Array, key: PRNGKey) -> PyTree:
    """Returns parameters [2, ...], a network for each seat; features are [2, I, F]."""
    return jax.vmap(network.init)(jax.random.split(key, 2), features)


def apply_both(network: Network, params: PyTree, features: Array) -> Array:
    """Returns [2, I, outputs], of every infostate of both seats."""
    return jax.vmap(network.apply)(params, features)


def descend(
    loss: Callable[[PyTree], Array],
    optimizer: optax.GradientTransformation,
    params: PyTree,
    moments: Any,
) -> tuple[PyTree, Any]:
    """Returns parameters and the optimizer's state after one step down a loss."""
    change, moments = optimizer.update(jax.grad(loss)(params), moments, params)
    return optax.apply_updates(params, change), moments
