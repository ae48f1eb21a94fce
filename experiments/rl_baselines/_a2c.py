"""Advantage actor-critic (Mnih et al. 2016, synchronous), an actor and a critic for each seat.

The advantage is the payoff of the game less the critic's value, as in OpenSpiel's policy gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from experiments.rl_baselines._network import Network, apply_both, descend, init_both
from experiments.rl_baselines._selfplay import Env, Method, play
from jaxsolve.types import Array, PRNGKey, PyTree


class State(NamedTuple):
    """What has been learned: parameters and the optimizer's state, of actors and critics."""

    actor: PyTree
    actor_moments: Any
    critic: PyTree
    critic_moments: Any


def a2c(
    env: Env,
    *,
    hidden: tuple[int, ...] = (64, 64),
    actor_rate: float = 1e-3,
    critic_rate: float = 1e-2,
    critic_steps: int = 4,
    entropy: float = 0.1,
    batch: int = 128,
) -> Method:
    """Returns the learner; what is measured is what it plays.

    Args:
        env: the game.
        hidden: units of each layer.
        actor_rate: learning rate of the actors' Adam.
        critic_rate: of the critics'.
        critic_steps: steps of the critics before each step of the actors.
        entropy: weight of the entropy, against payoffs in units of the largest one.
        batch: games of an update.
    """
    actors, critics = Network(env.legal.shape[-1], hidden), Network(1, hidden)
    of_actor, of_critic = optax.adam(actor_rate), optax.adam(critic_rate)

    def init(key: PRNGKey) -> State:
        key_actor, key_critic = jax.random.split(key)
        actor = init_both(actors, env.features, key_actor)
        critic = init_both(critics, env.features, key_critic)
        return State(actor, of_actor.init(actor), critic, of_critic.init(critic))

    def update(state: State, key: PRNGKey) -> State:
        games = play(env, policy(state), key, batch)
        made = (games.actor >= 0).astype(games.payoff.dtype)
        at = (jnp.maximum(games.actor, 0), games.row)

        def critic_loss(params: PyTree) -> Array:
            error = (value(params)[at] - games.payoff) ** 2
            return (made * error).sum() / made.sum()

        def learn(carry: Any, _: None) -> tuple[Any, None]:
            return descend(critic_loss, of_critic, *carry), None

        (critic, critic_moments), _ = jax.lax.scan(
            learn, (state.critic, state.critic_moments), None, critic_steps
        )
        advantage = games.payoff - value(critic)[at]

        def actor_loss(params: PyTree) -> Array:
            log = logs(params)[at]
            taken = jnp.take_along_axis(log, games.action[..., None], -1)[..., 0]
            spread = -(jnp.exp(log) * jnp.where(env.legal[at], log, 0)).sum(-1)
            return -(made * (taken * advantage + entropy * spread)).sum() / made.sum()

        actor, actor_moments = descend(actor_loss, of_actor, state.actor, state.actor_moments)
        return State(actor, actor_moments, critic, critic_moments)

    def logs(params: PyTree) -> Array:
        out = apply_both(actors, params, env.features)
        return jax.nn.log_softmax(jnp.where(env.legal, out, -1e9), -1)

    def value(params: PyTree) -> Array:
        return apply_both(critics, params, env.features)[..., 0]

    def policy(state: State) -> Array:
        return jnp.exp(logs(state.actor))

    return Method(init, update, policy, batch)
