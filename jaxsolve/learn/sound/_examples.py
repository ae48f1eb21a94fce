"""Examples for training: decisions of episodes, and solved queries."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from jaxsolve.learn._data import Examples
from jaxsolve.learn.sound._play import Trajectory
from jaxsolve.nets import Net
from jaxsolve.public import PublicState
from jaxsolve.search.growing import Grown
from jaxsolve.types import Array, PyTree

Told = Callable[[PyTree], tuple[PyTree, PublicState]]
"""Public states as searches start from them -> (`Examples.public`, what a network is given)."""


def of_episodes(told: Told, net: Net, before: Trajectory, td1: Array, rooted: Array) -> Examples:
    """Returns decisions of the episodes as examples.

    The policy counts, and the outcome with `td1`, or else the search's value with `rooted`.
    """
    public, state = told(before.root)
    met = before.pair[..., None] == jnp.arange(before.beliefs.shape[-1])
    sign = jnp.asarray([1, -1], before.outcome.dtype)
    ended = before.scored * td1
    searched = (1 - ended) * rooted * before.made
    own = before.seat[:, None] == jnp.arange(2)
    worth = jnp.where(
        ended[:, None] > 0, before.outcome[:, None] * sign, before.worth[:, None] * own
    )
    # Counterfactual values hold the chance of meeting the opponent's beliefs.
    values = worth[..., None] * before.against
    weight = (ended[:, None] + searched[:, None] * own)[..., None] * met
    return Examples(
        public,
        before.beliefs,
        jnp.where(met, values, 0) / net.unit(state)[:, None, None],
        before.policy,
        weight,
        before.made,
    )


def of_queries(
    told: Told, net: Net, solved: Grown, roots: PyTree, beliefs: Array, works: Array
) -> Examples:
    """Returns what solvers found as examples, of weight 0 where a solver has no query."""
    public, state = told(roots)
    weight = works.astype(beliefs.dtype)
    values = solved.root_values / net.unit(state)[:, None, None]
    # What an idle solver finds must not stop a run.
    values = jnp.where(works[:, None, None], values, 0)
    every = jnp.broadcast_to(weight[:, None, None], values.shape)
    return Examples(public, beliefs, values, solved.average[:, 0], every, weight)
