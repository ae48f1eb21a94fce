"""Left for right: half of the examples of a source are mirrored, at random."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from experiments.sog_connect_four._board import PLANES, ROWS
from jaxsolve.learn import Examples, Source
from jaxsolve.nets import Net
from jaxsolve.types import Array, PRNGKey


def mirrored(source: Source) -> Source:
    """Returns a source that mirrors each example of another one with probability 1/2."""

    def sample(net: Net, state: Any, key: PRNGKey) -> tuple[Examples, Any]:
        made, flips = jax.random.split(key)
        examples, state = source.sample(net, state, made)
        turns = jax.random.bernoulli(flips, shape=(len(examples.beliefs),))
        return jax.tree.map(
            lambda x, y: jnp.where(turns.reshape(-1, *(1,) * (x.ndim - 1)), x, y),
            mirror(examples),
            examples,
        ), state

    return source._replace(sample=sample, settings=f"{source.settings}, mirrored")


def mirror(examples: Examples) -> Examples:
    """Returns examples with columns in the opposite order, policies by place among the legal."""
    boards = examples.public.features.reshape(-1, *PLANES)
    features = boards[:, :, ::-1].reshape(examples.public.features.shape)
    open_columns = (boards[..., :2].sum((1, 3)) < ROWS).sum(1)

    def turned(policy: Array, legal: Array) -> Array:
        places = jnp.arange(len(policy))
        return jnp.where((places < legal)[:, None], policy[(legal - 1 - places) % len(policy)], 0)

    public = examples.public._replace(features=features)
    return examples._replace(public=public, policy=jax.vmap(turned)(examples.policy, open_columns))
