"""The layer in which beliefs join what is known of a public state without them."""

from __future__ import annotations

import flax.linen as nn
import jax.numpy as jnp

from jaxsolve.types import Array


class Dense(nn.Module):
    """`flax.linen.Dense` of two inputs, one after the other, whose first part may be known already.

    Parameters have its names, which follow from the name of the class, and its shapes.

    Attributes:
        width: units.
    """

    width: int

    @nn.compact
    def __call__(
        self, stays: Array, varies: Array, prepared: Array | None = None, *, prepare: bool = False
    ) -> Array:
        """Returns float [..., width].

        Args:
            stays: float [..., F], what does not depend on beliefs.
            varies: float [..., B], what does.
            prepared: float [..., width], to take in place of what `stays` adds.
            prepare: return that.
        """
        size = stays.shape[-1]
        shape = size + varies.shape[-1], self.width
        kernel = self.param("kernel", nn.initializers.lecun_normal(), shape)
        bias = self.param("bias", nn.initializers.zeros_init(), (self.width,))
        if prepare:
            return stays @ kernel[:size] + bias
        if prepared is not None:
            return prepared + varies @ kernel[size:]
        return jnp.concatenate([stays, varies], -1) @ kernel + bias
