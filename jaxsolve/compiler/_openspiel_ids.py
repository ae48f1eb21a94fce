"""Infostates and public states of an OpenSpiel game, from the strings it gives at every state."""

from __future__ import annotations

import itertools

import numpy as np

from jaxsolve.compiler._components import by_appearance, with_public
from jaxsolve.compiler._ids import IdTable
from jaxsolve.tree import StateTable


def infostate_ids(
    parent: np.ndarray,
    action: np.ndarray,
    actor: np.ndarray,
    depth_start: np.ndarray,
    text: np.ndarray,
    player: int,
) -> np.ndarray:
    """Returns int32 [X], a player's infostate at every state, before public states split it.

    At a decision: the string. In between: the sequence of own actions and of strings since, as
    long as that splits no decision infostate; otherwise the last own action alone.
    """
    ids = np.zeros(len(parent), np.int32)
    table = IdTable()
    for lo, hi in itertools.pairwise(depth_start):
        up = parent[lo:hi]
        root = up[0] < 0
        turn = actor[lo:hi] == player
        mine = np.zeros(hi - lo, bool) if root else actor[up] == player
        same = np.zeros(hi - lo, bool) if root else text[lo:hi] == text[up]
        before = np.full(hi - lo, -1) if root else ids[up].astype(np.int64)
        own = np.where(mine, action[lo:hi], -1)
        waits = same & ~mine
        # Their turn comes and the string stays: a sibling of the infostate they waited in, so
        # that how long they waited makes no difference.
        called = np.flatnonzero(waits & turn)
        if len(called):
            table.persists = True
            own[called] = np.concatenate(table.action)[before[called]]
            before[called] = np.concatenate(table.parent)[before[called]]
        saw = np.stack([text[lo:hi], turn], 1).astype(np.int32)
        ids[lo:hi] = table.assign(before, own, saw, waits & ~turn)
    turn = actor == player
    strings, found = len(np.unique(text[turn])), len(np.unique(ids[turn]))
    if strings == found == _count_pairs(text[turn], ids[turn]):
        return ids
    last = np.zeros(len(parent), np.int64)  # the last own sequence
    for lo, hi in itertools.pairwise(depth_start[1:]):
        up = parent[lo:hi]
        sequence = text[up].astype(np.int64) * (int(action.max()) + 1) + action[lo:hi] + 1
        last[lo:hi] = np.where(actor[up] == player, sequence, last[up])
    return by_appearance(np.where(turn, -1 - text, last))[0]


def with_observed(table: StateTable, shown: np.ndarray | None) -> StateTable | None:
    """Returns the table with public states from observations, None if those split an infoset."""
    if shown is None:
        return None
    public = np.zeros(table.num_states, np.int32)
    ids = IdTable()
    for lo, hi in itertools.pairwise(table.depth_start):
        up = table.parent[lo:hi]
        before = np.full(hi - lo, -1) if up[0] < 0 else public[up].astype(np.int64)
        none = np.full(hi - lo, -1)
        saw = shown[lo:hi, None]
        public[lo:hi] = ids.assign(before, none, saw, np.zeros(hi - lo, bool))
    for player, before in enumerate(table.infostate.T):
        turn = table.actor == player
        if _count_pairs(before[turn], public[turn]) > len(np.unique(before[turn])):
            return None
    return with_public(table, public)


def _count_pairs(a: np.ndarray, b: np.ndarray) -> int:
    """Returns the number of distinct pairs of non-negative numbers."""
    return len(np.unique(a.astype(np.int64) * (int(b.max(initial=0)) + 1) + b))
