"""Agents that play a policy."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._track import Tracker, follow, tracker
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.tree import ListedInfo, Policy, pick
from jaxsolve.types import Array, PRNGKey


def fixed(policy: Policy, *, name: str = "policy") -> Agent:
    """Returns an agent that plays a policy in any seat.

    Where the arena says the number of the infoset, the agent looks it up in the policy; elsewhere
    it follows its observations through the infostates of the policy's tree.

    Args:
        policy: of a compiled tree.
        name: for tables of results.

    Raises:
        ValueError: the policy came out of jit or vmap and has no names, or its tree has no rules.
    """
    info = policy.info
    if info.game is None:
        raise ValueError(f"{info.name} has no rules, so no matches are played on it")
    most = max(p.num_infosets for p in info.players)
    table = np.zeros((len(info.players), most, info.game.num_actions))
    for i, player in enumerate(info.players):
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        table[i, row, player.action] = policy.probabilities(i)
    # Only the whole game, listed, has the infosets of `evaluate.arena`, in their order.
    numbered = type(info) is ListedInfo
    rows = jnp.asarray(table, float)

    @functools.cache
    def where() -> Tracker:
        return tracker(info)

    def init(seat: Array, key: PRNGKey) -> Array:
        return jnp.asarray(seat, jnp.int32)  # infostates begin with the first ones of the players

    def act(state: Array, seen: Observation, key: PRNGKey) -> tuple[Decision, Array]:
        if numbered and seen.infoset is not None:
            return decide(rows[seen.player, seen.infoset], key), state
        state = follow(where(), state, seen)
        infoset = jnp.asarray(where().infoset)[state]
        # Probabilities of nothing stand for no action, which is refused where the match is played.
        return decide(jnp.where(infoset < 0, 0, rows[seen.player, infoset]), key), state

    return Agent(init, act, name, info.name)


def uniform(*, name: str = "uniform") -> Agent:
    """Returns an agent that plays every legal action alike, in any game."""

    def init(seat: Array, key: PRNGKey) -> tuple[()]:
        return ()

    def act(state: tuple[()], seen: Observation, key: PRNGKey) -> tuple[Decision, tuple[()]]:
        return decide(seen.legal / jnp.maximum(seen.legal.sum(), 1), key), state

    return Agent(init, act, name)


def decide(policy: Array, key: PRNGKey) -> Decision:
    """Returns a decision drawn from a policy [A]; A stands for no action where all are 0."""
    return Decision(pick(policy, jax.random.uniform(key)), policy)
