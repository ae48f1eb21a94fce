"""What an agent plays, as a policy of a compiled game, so that its exploitability is exact.

The agent acts once at every infoset. Its memory there is the one that it kept at the player's
decision before, and its observation is what a match would show.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate._listed_arena import ListedArena, arena
from jaxsolve.game import Agent, Observation
from jaxsolve.tree import ListedInfo, Policy, PublicTree, listed, policy_from_probabilities
from jaxsolve.types import Array, PRNGKey, PyTree

BATCH = 16
"""Infosets at a time; one program serves all."""


def agent_policy(tree: PublicTree, agent: Agent, key: PRNGKey) -> Policy:
    """Returns what an agent plays at every infoset of a game, in one match's state of mind.

    Args:
        tree: the game, compiled with its world states.
        agent: pure functions; what it draws at `init` is the same at all infosets, so that it
            plays one policy.
        key: for `init`.

    Raises:
        ValueError: the agent is of another game, is plain Python, or gives no distribution over
            legal actions somewhere (it does not find its way, or has no room).
    """
    info = listed(tree)
    if agent.game not in (None, info.name):
        raise ValueError(f"the agent {agent.name!r} plays {agent.game}, not {info.name}")
    if agent.host:
        raise ValueError(f"the agent {agent.name!r} is plain Python and cannot be asked in batches")
    place = arena(tree)
    probabilities = []
    for player in range(len(info.players)):
        start = agent.init(jnp.int32(player), jax.random.fold_in(key, player))
        rows = _played(info, place, agent, player, start)
        own = info.players[player]
        row = np.repeat(np.arange(own.num_infosets), np.diff(own.offset))
        found = rows[row, own.action]
        total = np.zeros(own.num_infosets)
        np.add.at(total, row, found)
        if (np.abs(total - 1) > 1e-3).any():
            bad = int(np.argmax(np.abs(total - 1)))
            raise ValueError(
                f"the agent {agent.name!r} plays legal actions with probability {total[bad]:.3g} "
                f"at infoset {bad} of player {player} ({info.label(player, bad)})"
            )
        probabilities.append(found / total[row])
    return policy_from_probabilities(tree, probabilities)


@functools.partial(jax.jit, static_argnames="player")
def _seen(place: ListedArena, positions: Array, *, player: int) -> Observation:
    """Returns what a player is shown at some world states [B], as on the rules (no infosets)."""
    shown = jax.vmap(place.observation, in_axes=(0, None))(positions, player)
    return shown._replace(infoset=None)


@functools.partial(jax.jit, static_argnames="agent")
def _ask(memory: PyTree, seen: Observation, *, agent: Agent) -> tuple[Array, PyTree]:
    """Returns (policies [B, A], memories) of an agent; one program serves all seats."""

    def one(memory: PyTree, seen: Observation) -> tuple[Array, PyTree]:
        decision, after = agent.act(memory, seen, jax.random.key(0))
        return decision.policy, after

    return jax.vmap(one)(memory, seen)


def _played(
    info: ListedInfo, place: ListedArena, agent: Agent, player: int, start: PyTree
) -> np.ndarray:
    """Returns float64 [I, A], what the agent plays at each infoset of a player."""
    sample, before = _decisions(info, player)
    depth = np.zeros(len(before), int)
    for k in np.argsort(sample):  # states come after those that lead to them
        depth[k] = depth[before[k]] + 1 if before[k] >= 0 else 0
    out = np.zeros((len(sample), info.game.num_actions))
    memory: dict[int, Any] = {-1: start}
    for level in range(int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        after: dict[int, Any] = {}
        for low in range(0, len(here), BATCH):
            some = here[low : low + BATCH]
            pick = np.concatenate([some, np.repeat(some[-1:], BATCH - len(some))])
            minds = jax.tree.map(lambda *x: jnp.stack(x), *(memory[int(before[k])] for k in pick))
            at = jnp.asarray(sample[pick], jnp.int32)
            policy, minds = _ask(minds, _seen(place, at, player=player), agent=agent)
            out[some] = np.asarray(policy)[: len(some)]
            for j, k in enumerate(some):
                after[int(k)] = jax.tree.map(lambda x, j=j: x[j], minds)
        memory = {-1: start} | after
    return out


def _decisions(info: ListedInfo, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (a world state of each infoset, the player's infoset before it or -1), int [I]."""
    table, own = info.states, info.players[player]
    number = np.full(int(table.infostate[:, player].max()) + 1, -1)
    number[own.infostate] = np.arange(own.num_infosets)
    acts = np.flatnonzero(table.actor == player)
    mine = np.full(table.num_states, -1)
    mine[acts] = number[table.infostate[acts, player]]
    last = np.full(table.num_states, -1)
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = table.parent[lo:hi]
        last[lo:hi] = np.where(mine[up] >= 0, mine[up], last[up])
    sample = np.zeros(own.num_infosets, int)
    sample[mine[acts[::-1]]] = acts[::-1]
    return sample, last[sample]
