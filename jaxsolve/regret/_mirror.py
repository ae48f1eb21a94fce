"""Magnetic mirror descent: the policy itself is the state, drawn to a magnet.

The update is pi proportional to [pi * rho^(eta alpha) * exp(eta q)]^(1 / (1 + eta alpha)) with
step size eta, temperature alpha and a uniform magnet rho; its last iterate converges to a quantal
response equilibrium (Sokota et al. 2023, "A unified approach to reinforcement learning, quantal
response equilibria, and two-player zero-sum games").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.tree_util import Partial

from jaxsolve.regret._minimizer import Minimizer, Step, check_shapes
from jaxsolve.types import Array


class LogPolicy(NamedTuple):
    """State of `mirror_descent`: logarithm of the policy [A, ...], any value where illegal."""

    log_policy: Array


def mirror_descent(*, eta: Any, alpha: Any) -> Minimizer:
    """Returns magnetic mirror descent with a uniform magnet.

    Args:
        eta: step size.
        alpha: temperature of the magnet; 0 gives plain entropic mirror descent.
    """
    return Minimizer(Partial(_init), Partial(_update, eta, alpha))


def _init(policy: Array) -> LogPolicy:
    return LogPolicy(jnp.log(jnp.maximum(policy, jnp.finfo(policy.dtype).tiny)))


def _update(
    eta: Any,
    alpha: Any,
    state: LogPolicy,
    step: Step,
    values: Array,
    policy: Array,
    legal: Array,
) -> tuple[LogPolicy, Array]:
    check_shapes(state.log_policy, values, policy, legal)
    # A uniform magnet adds the same to every legal action and cancels in the softmax.
    logits = (state.log_policy + eta * values) / (1 + eta * alpha)
    masked = jnp.where(legal, logits, -jnp.inf)
    top = jnp.where(legal.any(0), masked.max(0), 0)
    weight = jnp.where(legal, jnp.exp(masked - top), 0)
    total = jnp.where(legal.any(0), weight.sum(0), 1)
    log_policy = jnp.where(legal, logits - top - jnp.log(total), 0)
    return LogPolicy(log_policy), weight / total
