"""Tabular Q-learning (Watkins 1989), a table for each seat."""

from __future__ import annotations

import jax.numpy as jnp

from experiments.rl_baselines._selfplay import Env, Method, explore, greedy, play
from jaxsolve.types import Array, PRNGKey


def qlearning(env: Env, *, step_size: float = 0.1, epsilon: float = 0.2, batch: int = 16) -> Method:
    """Returns the learner; what is measured is greedy.

    Args:
        env: the game.
        step_size: of an update. Games of a batch that meet in an action move it by their mean.
        epsilon: how often an action is drawn uniformly while learning.
        batch: games of an update.
    """

    def init(key: PRNGKey) -> Array:
        return jnp.zeros(env.legal.shape)

    def update(values: Array, key: PRNGKey) -> Array:
        games = play(env, explore(env, greedy(env, values), epsilon), key, batch)
        seat = jnp.maximum(games.actor, 0)
        ahead = jnp.where(env.legal, values, -jnp.inf).max(-1)[seat, jnp.maximum(games.after, 0)]
        target = jnp.where(games.after < 0, games.payoff, ahead)
        at = (seat, games.row, games.action)
        made = (games.actor >= 0).astype(values.dtype)
        count = jnp.zeros_like(values).at[at].add(made)
        error = jnp.zeros_like(values).at[at].add(made * (target - values[at]))
        return values + step_size * error / jnp.maximum(count, 1)

    return Method(init, update, lambda values: greedy(env, values), batch)
