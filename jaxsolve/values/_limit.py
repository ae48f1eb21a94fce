"""Depth limits: the public states at which a game is cut.

Infostates are finer than public states, so a cut at public states never goes through an infoset. A
count of actions does where actions are hidden; such a limit is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from jaxsolve.compiler import in_rows
from jaxsolve.tree import PublicTree, StateTable, describe_path, listed
from jaxsolve.types import CHANCE, TERMINAL


@dataclasses.dataclass(frozen=True)
class DepthLimit:
    """Where a game is cut (N public states, X world states).

    Attributes:
        name: in words, for people.
        below: bool [N], public states at or below the limit.
        leaf: int64 [L], the first world states at or below the limit on each path, terminal ones
            excepted.
    """

    name: str
    below: np.ndarray
    leaf: np.ndarray

    @property
    def num_leaves(self) -> int:
        """L, world states at the limit."""
        return len(self.leaf)


def at_public_states(tree: PublicTree, public_states: Iterable[int]) -> DepthLimit:
    """Returns the limit at some public states; of two on one path the upper one counts.

    Args:
        tree: a compiled game.
        public_states: their numbers.

    Raises:
        ValueError: there is no such public state, or the tree has no world states.
    """
    info = listed(in_rows(tree))
    table = info.states
    numbers = np.unique(np.asarray(list(public_states), np.int64))
    size = len(table.public_states.parent)
    bad = numbers[(numbers < 0) | (numbers >= size)]
    if len(bad):
        raise ValueError(f"{info.name} has public states 0 to {size - 1}; there is no {bad[0]}")
    if len(numbers) == 1:
        name = f"cut at public state {numbers[0]}"
    else:
        name = f"cut at {len(numbers)} public states"
    return _limit(table, name, numbers)


def after_actions(tree: PublicTree, actions: int) -> DepthLimit:
    """Returns the limit after so many actions of players, counted from the start of the game.

    Args:
        tree: a compiled game.
        actions: how many.

    Raises:
        ValueError: a public state does not say how many actions were taken, so that the limit would
            go through an infoset; the public state is named.
    """
    info = listed(in_rows(tree))
    table = info.states
    if actions < 0:
        raise ValueError(f"a limit after {actions} actions; it must be 0 or more")
    count = count_along(table, table.actor >= 0)
    numbers = np.unique(table.public[count == actions])
    inside = np.isin(table.public, numbers) & (count < actions)
    if inside.any():
        state = int(np.flatnonzero(inside)[0])
        raise ValueError(
            f"{info.name}: a limit after {actions} actions goes through "
            f"{describe_public(table, int(table.public[state]))}: some of its states come after "
            f"{count[state]} actions, and players there cannot tell. Cut at public states instead "
            "(values.at_public_states)"
        )
    return _limit(table, f"cut after {actions} actions", numbers)


def after_round(tree: PublicTree, rounds: int = 1) -> DepthLimit:
    """Returns the limit at the end of a betting round, before chance opens the next in public.

    Args:
        tree: a compiled game.
        rounds: how many rounds are played in full.

    Raises:
        ValueError: no such round ends with a public chance event.
    """
    info = listed(in_rows(tree))
    table = info.states
    ends = _ends_round(table)
    before = count_along(table, ends)
    numbers = np.unique(table.public[ends & (before == rounds - 1)])
    if not len(numbers):
        raise ValueError(
            f"{info.name} has {int(before.max(initial=0))} betting rounds that end with a public "
            f"chance event; there is no limit after round {rounds}"
        )
    return _limit(table, f"cut after round {rounds}", numbers)


def round_of(tree: PublicTree) -> np.ndarray:
    """Returns int64 [N], the betting round of each public state, 1 being the first.

    The public state in which a round ends belongs to it; the next one begins with the public chance
    event that follows.
    """
    table = listed(in_rows(tree)).states
    before = count_along(table, _ends_round(table))
    out = np.zeros(len(table.public_states.parent), np.int64)
    np.maximum.at(out, table.public, before + 1)
    return out


def count_along(table: StateTable, counted: np.ndarray) -> np.ndarray:
    """Returns int64 [X], how many of the states above each one are counted (bool [X])."""
    count = np.zeros(table.num_states, np.int64)
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = table.parent[lo:hi]
        count[lo:hi] = count[up] + counted[up]
    return count


def describe_public(table: StateTable, public: int) -> str:
    """Returns a public state in words: its number, and the actions that lead to it."""
    state = int(np.flatnonzero(table.public == public)[0])
    path = describe_path(table.game, table, state)
    return f"public state {public} (for one, after {path or 'nothing'})"


def public_below(table: StateTable, numbers: np.ndarray) -> np.ndarray:
    """Returns bool [N], the public states at or below some of them."""
    below = np.zeros(len(table.public_states.parent), bool)
    below[numbers] = True
    parent = table.public_states.parent
    while True:
        more = below | (below[np.maximum(parent, 0)] & (parent >= 0))
        if (more == below).all():
            return below
        below = more


def _limit(table: StateTable, name: str, numbers: np.ndarray) -> DepthLimit:
    below = public_below(table, numbers)
    inside = below[table.public]
    above = np.concatenate([[False], inside[table.parent[1:]]])
    leaf = np.flatnonzero(inside & ~above & (table.actor != TERMINAL))
    return DepthLimit(name, below, leaf)


def _ends_round(table: StateTable) -> np.ndarray:
    """Returns bool [X]: a player has just acted, and chance goes on to show something in public."""
    chance = table.actor == CHANCE
    shows = np.zeros(table.num_states, bool)  # chance does, here or before a player acts again
    for lo, hi in reversed(list(zip(table.depth_start[1:-1], table.depth_start[2:], strict=True))):
        up = table.parent[lo:hi]
        new = table.public[lo:hi] != table.public[up]
        shows[up[chance[up] & (new | shows[lo:hi])]] = True
    up = np.maximum(table.parent, 0)
    return shows & (table.parent >= 0) & (table.actor[up] >= 0)
