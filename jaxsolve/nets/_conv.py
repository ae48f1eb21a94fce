"""Convolutions on boards, 3 x 3, whose gradients are fast within loops on CPUs, too.

Compiled for a CPU, the kernel's gradient of a convolution takes ten to twenty times as long inside
a loop, such as the steps of a training, as outside (JAX 0.10, `experiments/bench/board_net.py`).
Here it is one product of matrices on CPUs.
"""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxsolve.types import Array

SIDE = 3
"""Rows and columns of a kernel."""


class Conv(nn.Module):
    """A convolution that keeps the board's size, as `flax.linen.Conv(width, (3, 3))`.

    Attributes:
        width: channels of the result.
    """

    width: int

    @nn.compact
    def __call__(self, x: Array) -> Array:
        """Returns [..., rows, columns, width] for [..., rows, columns, planes]."""
        shape = (SIDE, SIDE, x.shape[-1], self.width)
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape, x.dtype)
        bias = self.param("bias", nn.initializers.zeros_init(), (self.width,), x.dtype)
        found: Array = convolve(x.reshape(-1, *x.shape[-3:]), kernel)
        return found.reshape(*x.shape[:-1], self.width) + bias


def _convolve(x: Array, kernel: Array) -> Array:
    """Returns [B, rows, columns, W] for [B, rows, columns, P] and a kernel [3, 3, P, W]."""
    return jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


convolve = jax.custom_vjp(_convolve)


def _forward(x: Array, kernel: Array) -> tuple[Array, tuple[Array, Array]]:
    return convolve(x, kernel), (x, kernel)


def _backward(kept: tuple[Array, Array], change: Array) -> tuple[Array, Array]:
    found: tuple[Array, Array] = jax.lax.platform_dependent(
        *kept, change, cpu=_products, default=_derived
    )
    return found


def _products(x: Array, kernel: Array, change: Array) -> tuple[Array, Array]:
    """Returns the gradients of both arguments."""
    rows, columns = x.shape[1:3]
    wide = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    seen = [wide[:, i : i + rows, j : j + columns] for i in range(SIDE) for j in range(SIDE)]
    flat = jnp.concatenate(seen, -1).reshape(-1, kernel[..., 0].size)
    found = flat.T @ change.reshape(-1, change.shape[-1])
    turned = kernel[::-1, ::-1].swapaxes(2, 3)
    return convolve(change, turned), found.reshape(kernel.shape)


def _derived(x: Array, kernel: Array, change: Array) -> tuple[Array, Array]:
    """Returns them as JAX derives them."""
    _, back = jax.vjp(_convolve, x, kernel)
    found: tuple[Array, Array] = back(change)
    return found


convolve.defvjp(_forward, _backward)
