"""Deep Q-learning (Mnih et al. 2015), a network, a target network and a replay buffer per seat.

Transitions of both seats lie in one ring; each is learned by the network of its seat.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from experiments.rl_baselines._network import Network, apply_both, descend, init_both
from experiments.rl_baselines._selfplay import Env, Episodes, Method, explore, greedy, play
from jaxsolve.types import Array, PRNGKey, PyTree


class State(NamedTuple):
    """What has been learned (M moves in the ring).

    Attributes:
        params: of the networks.
        target: of the target networks.
        moments: of the optimizer.
        ring: transitions, each [M]; the actor is negative where there is none.
        updates: int32 [], batches of games so far.
    """

    params: PyTree
    target: PyTree
    moments: Any
    ring: Episodes
    updates: Array


def dqn(
    env: Env,
    *,
    hidden: tuple[int, ...] = (64, 64),
    learning_rate: float = 1e-3,
    decay: int = 1000,
    epsilon: float = 0.3,
    capacity: int = 100_000,
    steps: int = 2,
    sample: int = 128,
    refresh: int = 50,
    batch: int = 32,
) -> Method:
    """Returns the learner; what is measured is greedy.

    Args:
        env: the game.
        hidden: units of each layer.
        learning_rate: of Adam.
        decay: updates over which exploration falls from 1 to `epsilon`.
        epsilon: how often an action is drawn uniformly from then on.
        capacity: moves in the ring, of which those of chance are empty; rounded down to batches.
        steps: gradient steps of an update.
        sample: moves of a gradient step.
        refresh: updates between copies to the target networks.
        batch: games of an update.
    """
    network = Network(env.legal.shape[-1], hidden)
    optimizer = optax.adam(learning_rate)
    moves = env.arena.max_moves * batch
    size = max(capacity // moves, 1) * moves

    def init(key: PRNGKey) -> State:
        params = init_both(network, env.features, key)
        whole = jnp.zeros(size, jnp.int32)
        ring = Episodes(whole - 1, whole, whole, whole, jnp.zeros(size))
        return State(params, params, optimizer.init(params), ring, jnp.int32(0))

    def update(state: State, key: PRNGKey) -> State:
        chance = jnp.maximum(epsilon, 1 - (1 - epsilon) * state.updates / decay)
        table = explore(env, policy(state), chance)
        fresh = play(env, table, jax.random.fold_in(key, 0), batch)
        start = (state.updates * moves) % size
        ring = jax.tree.map(
            lambda old, new: jax.lax.dynamic_update_slice(old, new.reshape(-1), (start,)),
            state.ring,
            fresh,
        )
        filled = jnp.minimum((state.updates + 1) * moves, size)

        def learn(carry: tuple[PyTree, Any], step: Array) -> tuple[tuple[PyTree, Any], None]:
            drawn = jax.random.randint(jax.random.fold_in(key, step), (sample,), 0, filled)
            some = jax.tree.map(lambda x: x[drawn], ring)
            return descend(lambda p: loss(p, state.target, some), optimizer, *carry), None

        begin = state.params, state.moments
        (params, moments), _ = jax.lax.scan(learn, begin, 1 + jnp.arange(steps))
        copies = (state.updates + 1) % refresh == 0
        target = jax.tree.map(lambda a, b: jnp.where(copies, a, b), params, state.target)
        return State(params, target, moments, ring, state.updates + 1)

    def loss(params: PyTree, target: PyTree, some: Episodes) -> Array:
        made = some.actor >= 0
        seat, after = jnp.maximum(some.actor, 0), jnp.maximum(some.after, 0)
        ahead = jnp.where(env.legal[seat, after], at(target, seat, after), -jnp.inf).max(-1)
        wanted = jnp.where(some.after < 0, some.payoff, ahead)
        now = jnp.take_along_axis(at(params, seat, some.row), some.action[:, None], 1)[:, 0]
        return jnp.where(made, (now - wanted) ** 2, 0).sum() / jnp.maximum(made.sum(), 1)

    def at(params: PyTree, seat: Array, row: Array) -> Array:
        both = jax.vmap(network.apply, (0, None))(params, env.features[seat, row])
        return jnp.where((seat == 0)[:, None], both[0], both[1])

    def policy(state: State) -> Array:
        return greedy(env, apply_both(network, state.params, env.features))

    return Method(init, update, policy, batch)
