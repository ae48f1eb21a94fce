"""Which infostate of a compiled tree a player is in, from what the player is shown.

An infostate follows another by the player's own action and an observation. A tracker numbers the
infostates of all players in one row (first one for each player, before anything was shown), and
holds for each the ones that follow it. Kuhn poker, player 0: "start" is followed, by no action and
the observation "dealt K", by the infostate "K"; that one by the action bet and what it shows
everybody.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Observation
from jaxsolve.tree import Infostates, TreeInfo
from jaxsolve.types import NOTHING, Array


class Tracker(NamedTuple):
    """The infostates of all players (Z of them, E links between them), on the host.

    Attributes:
        first: int32 [Z + 1], links first[s] to first[s + 1] - 1 lead from infostate s.
        key: int32 [E, 1 + p + m], own action (-1 if none), public and private entries.
        after: int32 [E], the infostate that a link leads to.
        infoset: int32 [Z], number among the player's infosets, -1 where the player waits.
        widest: the most links that one infostate has.
    """

    first: np.ndarray
    key: np.ndarray
    after: np.ndarray
    infoset: np.ndarray
    widest: int


def tracker(info: TreeInfo) -> Tracker:
    """Returns the infostates of a tree's players.

    Raises:
        ValueError: the tree does not say what players see.
    """
    n = len(info.players)
    before, key, infoset = [], [], [np.full(n, -1)]
    count = n
    for i, player in enumerate(info.players):
        states = player.states
        if states is None or not states.observation.shape[1]:
            raise ValueError(
                f"{info.name}: the tree does not say what players see, so its policies are played "
                "on its states only: evaluate.arena(js.compile(game))"
            )
        number, links, keys = _numbered(states, i, count)
        found = np.full(len(links), -1)
        at = number[player.infostate]
        infoset[0][at[at < n]] = np.flatnonzero(at < n)
        found[at[at >= n] - count] = np.flatnonzero(at >= n)
        before.append(links)
        key.append(keys)
        infoset.append(found)
        count += len(links)
    up = np.concatenate(before)
    order = np.argsort(up, kind="stable")
    first = np.searchsorted(up[order], np.arange(count + 1)).astype(np.int32)
    return Tracker(
        first,
        np.concatenate(key)[order].astype(np.int32),
        (n + order).astype(np.int32),
        np.concatenate(infoset).astype(np.int32),
        int(np.diff(first).max()),
    )


def follow(tracker: Tracker, state: Array, seen: Observation) -> Array:
    """Returns int32 [], the infostate of a player who is to act; -1 if the tree has none such.

    Args:
        tracker: of the tree.
        state: int32 [], the infostate at the player's last decision; at first the player's number.
        seen: what they learned since.

    Raises:
        ValueError: observations have another size than the tree's.
    """
    first, key = jnp.asarray(tracker.first), jnp.asarray(tracker.key)
    after = jnp.asarray(tracker.after)
    rows = jnp.concatenate([seen.public, seen.private], 1)
    if rows.shape[1] + 1 != key.shape[1]:
        raise ValueError(
            f"observations of {rows.shape[1]} entries, where the policy's tree has "
            f"{key.shape[1] - 1}: the policy is one of other rules than the arena"
        )

    def step(state: Array, number: Array) -> tuple[Array, None]:
        own = jnp.where(number == 0, seen.action, -1)
        link = first[state] + jnp.arange(tracker.widest)
        there = link < first[state + 1]
        link = jnp.where(there, link, 0)
        same = there & (key[link] == jnp.append(own, rows[number])).all(1)
        found = jnp.where(same.any(), after[link[same.argmax()]], -1)
        return jnp.where((number < seen.length) & (state >= 0), found, state), None

    return jax.lax.scan(step, state, jnp.arange(len(rows)))[0]


def _numbered(
    states: Infostates, player: int, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns numbers of a player's infostates, and the links to those after the first.

    Infostates that follow their parent without anything shown or done are the parent.

    Args:
        states: of the player.
        player: the number of the first infostate.
        count: the number of the next one.

    Returns:
        (number of each infostate, [E] where each link comes from, [E, 1 + p + m] its key); link e
        leads to infostate count + e.
    """
    content = np.concatenate([states.action[:, None], states.observation], 1)
    parent = states.parent
    root = parent < 0
    silent = ~root & (content == NOTHING).all(1)
    base = np.where(silent, parent, np.arange(len(parent)))
    while silent[base].any():
        base = base[base]
    up = np.where(root, -1, base[np.maximum(parent, 0)])
    depth, at = np.zeros(len(parent), np.int64), up
    while (at >= 0).any():
        depth += at >= 0
        at = np.where(at >= 0, up[at], -1)
    _, kind = np.unique(content, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    number = np.full(len(parent), player)
    before, keys = [], []
    for level in range(1, int(depth.max()) + 1):
        here = np.flatnonzero((depth == level) & ~silent)
        pairs = np.stack([number[up[here]], kind[here]], 1)
        unique, first, group = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        number[here] = count + group.reshape(-1)
        count += len(unique)
        before.append(unique[:, 0])
        keys.append(content[here[first]])
    width = content.shape[1]
    return (
        number[base],
        np.concatenate([np.zeros(0, np.int64), *before]),
        np.concatenate([np.zeros((0, width), np.int32), *keys]),
    )
