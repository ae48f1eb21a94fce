"""Public states along random play, for searches to start from."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.public import PublicModel
from jaxsolve.types import Array


def along(model: PublicModel, root: Any, key: Array, steps: Array) -> Any:
    """Returns a public state so many steps after another one, as likely as chance makes it.

    Each step goes to a child by the chance of its private states, whatever players would do, and
    stays where the game is over.

    Args:
        model: the public states.
        root: where to begin.
        key: draws the children.
        steps: int32 [].
    """

    def step(number: Array, here: Any) -> Any:
        store, public = model.start(here, 1, jnp.zeros(()).dtype)
        store, row = model.open(store, public, jnp.int32(0), jnp.bool_(True))
        transitions = model.transitions(store)
        factor = transitions.factor[row]
        over = factor.sum() <= 0
        draw = jax.random.fold_in(key, number)
        child = jax.random.categorical(draw, jnp.log(jnp.where(over, 1, factor)))
        below = model.root_of(store, jnp.maximum(transitions.child[row, child], 0))
        return jax.tree.map(lambda x, y: jnp.where(over, x, y), here, below)

    return jax.lax.fori_loop(0, steps, step, root)
