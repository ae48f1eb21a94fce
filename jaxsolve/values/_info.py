"""Names of a game with a depth limit, and which entry of the whole game each of its entries is."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.tree import ListedInfo, Policy, PublicTree, StateTable, TreeInfo, listed
from jaxsolve.values._limit import DepthLimit


@dataclasses.dataclass(frozen=True)
class LeafStates:
    """The world states at a depth limit (L states).

    Attributes:
        state: int64 [L], their numbers in the whole game.
        public: int64 [L], public states.
        infostate: int64 [L, n], infostates of each player.
        chance: float64 [L], reach of chance.
    """

    state: np.ndarray
    public: np.ndarray
    infostate: np.ndarray
    chance: np.ndarray

    def groups(self, player: int) -> tuple[np.ndarray, int]:
        """Returns (int32 [L] infostates of a player numbered from 0, how many)."""
        unique, group = np.unique(self.infostate[:, player], return_inverse=True)
        return group.reshape(-1).astype(np.int32), len(unique)


@dataclasses.dataclass(frozen=True)
class LimitedInfo(ListedInfo):
    """What a tree with a depth limit is a tree of (Z terminals).

    Attributes:
        whole: names of the whole game.
        limit: where it is cut.
        leaves: the states there.
        choosers: the players who choose.
        values: float64 [L, k_0, ..., k_{n-1}, n], payoffs in the game's units.
        value_of: int64 [Z], which of the values [L, k_0, ..., k_{n-1}] (flattened) each terminal
            pays, -1 where the game itself ends.
    """

    whole: ListedInfo
    limit: DepthLimit
    leaves: LeafStates
    choosers: tuple[int, ...]
    values: np.ndarray
    value_of: np.ndarray

    def chooses(self, player: int) -> np.ndarray:
        """Returns bool [R], which rows of a player are choices of a continuation."""
        p = self.players[player]
        return p.action[p.offset[:-1]] >= self.whole.game.num_actions


def leaf_states(tree: PublicTree, limit: DepthLimit) -> LeafStates:
    """Returns the world states at a limit, in the order of the values there."""
    table = listed(in_rows(tree)).states
    return LeafStates(
        limit.leaf,
        table.public[limit.leaf].astype(np.int64),
        table.infostate[limit.leaf].astype(np.int64),
        table.chance[limit.leaf],
    )


def limited_info(tree: PublicTree) -> LimitedInfo:
    """Returns the names of a tree with a limit.

    Raises:
        ValueError: it has none.
    """
    info = tree.info
    if not isinstance(info, LimitedInfo):
        raise ValueError("this tree has no depth limit; see jaxsolve.values.continuations")
    return info


def named(policy: Policy, info: TreeInfo) -> Policy:
    """Returns a policy with names."""
    return policy if policy.names is not None else dataclasses.replace(policy, names=info)


def entries_of(info: TreeInfo, whole: TreeInfo, player: int) -> np.ndarray:
    """Returns int64 [C], the entry of the whole game behind each entry of a part of it, -1 if none.

    Args:
        info: names of a game with a limit, or of a pruned one.
        whole: names of the game it was made from.
        player: whose entries.
    """
    p, q = info.players[player], whole.players[player]
    row = np.full(int(max(q.infostate.max(initial=0), p.infostate.max(initial=0))) + 1, -1)
    row[q.infostate] = np.arange(q.num_infosets)
    of = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
    base = int(max(q.action.max(initial=0), p.action.max(initial=0))) + 1
    key = np.repeat(np.arange(q.num_infosets), np.diff(q.offset)) * base + q.action
    want = row[p.infostate[of]] * base + p.action
    found = np.minimum(np.searchsorted(key, want), len(key) - 1)
    return np.where((row[p.infostate[of]] >= 0) & (key[found] == want), found, -1)


def entry_of_state(table: StateTable, info: TreeInfo) -> np.ndarray:
    """Returns int64 [X], the entry of the acting player that leads to each state, 0 for chance."""
    out = np.zeros(table.num_states, np.int64)
    up = np.maximum(table.parent, 0)
    for i, p in enumerate(info.players):
        moved = np.flatnonzero((table.actor[up] == i) & (table.parent >= 0))
        row = np.full(len(table.infostates[i].parent), -1)
        row[p.infostate] = np.arange(p.num_infosets)
        base = int(p.action.max(initial=0)) + 1
        key = np.repeat(np.arange(p.num_infosets), np.diff(p.offset)) * base + p.action
        want = row[table.infostate[up[moved], i]] * base + table.action[moved]
        out[moved] = np.searchsorted(key, want)
    return out
