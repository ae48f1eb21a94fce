"""Agents that play a policy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._protocol import Agent, Decision, View
from jaxsolve.tree import Policy, pick
from jaxsolve.types import Array, PRNGKey


def fixed(policy: Policy, *, name: str = "policy") -> Agent:
    """Returns an agent that plays a policy in any seat.

    Args:
        policy: of the tree on which matches are played.
        name: for tables of results.

    Raises:
        ValueError: the policy came out of jit or vmap and has no names.
    """
    info = policy.info
    if info.game is None:
        raise ValueError(f"{info.name} has no rules, so no matches are played on it")
    most = max(p.num_infosets for p in info.players)
    table = np.zeros((len(info.players), most, info.game.num_actions))
    for i, player in enumerate(info.players):
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        table[i, row, player.action] = policy.probabilities(i)
    return by_table(jnp.asarray(table, float), name=name)


def uniform(*, name: str = "uniform") -> Agent:
    """Returns an agent that plays every legal action alike."""

    def act(state: Any, view: View, key: PRNGKey) -> tuple[Decision, Any]:
        policy = view.legal / jnp.maximum(view.legal.sum(), 1)
        return decide(policy, key), state

    return Agent(_nothing, act, name)


def by_table(table: Array, *, name: str = "policy") -> Agent:
    """Returns an agent that plays table[seat, infoset, action]."""

    def act(state: Any, view: View, key: PRNGKey) -> tuple[Decision, Any]:
        return decide(table[view.player, view.infoset], key), state

    return Agent(_nothing, act, name)


def decide(policy: Array, key: PRNGKey) -> Decision:
    """Returns a decision drawn from a policy [A]."""
    return Decision(pick(policy, jax.random.uniform(key)), policy)


def _nothing(seat: Array, key: PRNGKey) -> tuple[()]:
    return ()
