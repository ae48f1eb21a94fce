"""Agents that leave out what they would hardly ever do.

Averages of few iterations still hold what the first ones tried. Leaving out unlikely actions costs
safety in theory and has paid in practice.

Source: Ganzfried & Sandholm 2012 (Tartanian5), thresholding and, for `least` = 1, purification.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxsolve.agents._fixed import decide
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.types import Array, PRNGKey, PyTree


def thresholded(agent: Agent, least: float = 0.15, *, name: str | None = None) -> Agent:
    """Returns an agent that plays only the likely actions of another one's policy.

    Args:
        agent: whose policies; it learns of what was played as it learns of its own actions.
        least: actions with a smaller probability are left out, unless none is likelier; the others
            keep their proportions. 1 leaves the likeliest action, or equals.
        name: for tables of results.

    Raises:
        ValueError: `least` is not a probability.
    """
    if not 0 <= least <= 1:
        raise ValueError(f"least={least} must be a probability, 0 to 1")

    def act(state: PyTree, seen: Observation, key: PRNGKey) -> tuple[Decision, PyTree]:
        inner, drawn = jax.random.split(key)
        decision, state = agent.act(state, seen, inner)
        return decide(likely(jnp.asarray(decision.policy), least), drawn), state

    return agent._replace(act=act, name=name or f"{agent.name}, at least {least:g}")


def likely(policy: Array, least: float) -> Array:
    """Returns a policy [..., A] without the actions below `least`; zeros stay zeros."""
    best = policy.max(-1, keepdims=True)
    # Equals differ by rounding.
    kept = jnp.where(policy >= jnp.minimum(least, best) * (1 - 1e-5), policy, 0)
    total = kept.sum(-1, keepdims=True)
    return kept / jnp.where(total > 0, total, 1)
