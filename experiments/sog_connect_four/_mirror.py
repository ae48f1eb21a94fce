"""Left for right: half of the examples of a source are mirrored, and networks asked both ways."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from experiments.sog_connect_four._board import PLANES, ROWS
from jaxsolve.learn import Examples, Source
from jaxsolve.nets import Net, Output
from jaxsolve.public import PublicState
from jaxsolve.types import Array, PRNGKey, PyTree, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class BothWays(Net):
    """A network whose output is the mean over a board and its mirror image."""

    def prepare(self, state: PublicState) -> tuple[PyTree, PyTree]:
        """Returns what is known of both; see `Net.prepare`."""
        return super().prepare(state), super().prepare(_other_way(state))

    def output(self, state: PublicState, beliefs: Array, prepared: PyTree = None) -> Output:
        """Returns values and logits, means of both; see `Net.output`."""
        first, second = (None, None) if prepared is None else prepared
        one = super().output(state, beliefs, first)
        two = super().output(_other_way(state), beliefs, second)
        legal = open_columns(state.features)[..., None, None]
        here = jnp.arange(one.policy_logits.shape[-2])[:, None] < legal
        back = turned(two.policy_logits, legal)
        logits = jnp.where(here, (one.policy_logits + back) / 2, one.policy_logits)
        return Output((one.values + two.values) / 2, logits)


def _other_way(state: PublicState) -> PublicState:
    return state._replace(features=mirrored_boards(state.features))


def both_ways(net: Net) -> BothWays:
    """Returns the network that is asked about mirror images, too."""
    return BothWays(net.params, net.module, net.format)


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
    features = examples.public.features
    legal = open_columns(features)[:, None, None]
    here = jnp.arange(examples.policy.shape[1])[:, None] < legal
    policy = jnp.where(here, turned(examples.policy, legal), 0)
    public = examples.public._replace(features=mirrored_boards(features))
    return examples._replace(public=public, policy=policy)


def turned(policy: Array, legal: Array) -> Array:
    """Returns policies [..., A, H] with the legal actions in the opposite order.

    Args:
        policy: by place among the legal.
        legal: int [..., 1, 1], how many there are; what stands after them means nothing.
    """
    places = jnp.arange(policy.shape[-2])[:, None]
    return jnp.take_along_axis(policy, (legal - 1 - places) % len(places), -2)


def mirrored_boards(features: Array) -> Array:
    """Returns features [..., 6 * 7 * 7] with columns in the opposite order."""
    boards = features.reshape(*features.shape[:-1], *PLANES)
    return boards[..., ::-1, :].reshape(features.shape)


def open_columns(features: Array) -> Array:
    """Returns int [...], how many columns of features [..., 6 * 7 * 7] are not full."""
    boards = features.reshape(*features.shape[:-1], *PLANES)
    return (boards[..., :2].sum((-3, -1)) < ROWS).sum(-1)
