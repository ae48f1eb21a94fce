"""Policies as tables: one row per action of an infoset, with reach and values."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxsolve.tree._info import listed
from jaxsolve.tree._states import StateTable

if TYPE_CHECKING:
    from jaxsolve.tree._info import PlayerInfo, TreeInfo
    from jaxsolve.tree._policy import Policy


class InfosetValues(NamedTuple):
    """Reach and values of one player's infosets under a policy (I infosets, C actions in all).

    Attributes:
        reach: float64 [I], the probability that play reaches the infoset.
        value: float64 [I], the player's expected payoff from there, in the game's units; NaN
            where chance and the other players never let it be reached.
        action_value: float64 [C], the same after each action, in canonical order.
    """

    reach: np.ndarray
    value: np.ndarray
    action_value: np.ndarray


def policy_table(policy: Policy, *, values: bool = False, wide: bool = False) -> Any:
    """Returns a policy as a `pandas.DataFrame`; see `Policy.table`."""
    try:
        import pandas
    except ImportError:
        raise ImportError('tables need pandas: pip install "jaxsolve[plot]"') from None
    info = policy.info
    found = infoset_values(policy) if values else None
    parts = [_columns(policy, info, i, found) for i in range(len(info.players))]
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    if not wide:
        return pandas.DataFrame(columns)
    names, column = np.unique(columns["action"].astype(str), return_inverse=True)
    width = np.concatenate([np.diff(p.offset) for p in info.players])
    row = np.repeat(np.arange(len(width)), width)
    cells = np.full((len(width), len(names)), np.nan)
    cells[row, column] = columns["probability"]
    _, shown = np.unique(column, return_index=True)  # actions in order of appearance
    order = np.argsort(shown)
    head = np.cumsum(width) - width
    keep = ("player", "infoset", "reach", "value")
    out = {key: columns[key][head] for key in keep if key in columns}
    return pandas.DataFrame(out).join(pandas.DataFrame(cells[:, order], columns=names[order]))


def _columns(
    policy: Policy, info: TreeInfo, i: int, found: tuple[InfosetValues, ...] | None
) -> dict[str, np.ndarray]:
    """Returns the columns of the long table for one player."""
    p = info.players[i]
    width = np.diff(p.offset)
    out = {
        "player": np.full(len(p.action), i),
        "infoset": np.repeat(np.array(info.labels[i], object), width),
        "action": np.array([info.action_name(i, int(a)) for a in p.action], object),
        "probability": policy.probabilities(i).astype(np.float64),
    }
    if found is not None:
        out["reach"] = np.repeat(found[i].reach, width)
        out["value"] = np.repeat(found[i].value, width)
        out["action_value"] = found[i].action_value
    return out


def infoset_values(policy: Policy) -> tuple[InfosetValues, ...]:
    """Returns reach and values of every infoset, per player, in float64.

    Raises:
        ValueError: the tree's world states were not kept.
    """
    info = listed(policy)
    table = info.states
    parent, n = table.parent, table.game.num_players
    entry = state_entries(info, table)
    step = np.ones(table.num_states)
    step[1:] = table.chance[1:] / table.chance[parent[1:]]
    for i in range(n):
        mine = entry[i] >= 0
        step[mine] = policy.probabilities(i)[entry[i][mine]]

    depths = list(itertools.pairwise(table.depth_start))
    own = np.ones((n, table.num_states))
    for lo, hi in depths[1:]:
        up = parent[lo:hi]
        for i in range(n):
            own[i, lo:hi] = own[i, up] * np.where(table.actor[up] == i, step[lo:hi], 1)
    expected = np.zeros((table.num_states, n))
    expected[table.terminal] = table.utility
    for lo, hi in reversed(depths[1:]):
        first = parent[lo]
        size = int(parent[hi - 1]) + 1 - first
        for i in range(n):
            weighted = step[lo:hi] * expected[lo:hi, i]
            expected[first : first + size, i] += np.bincount(parent[lo:hi] - first, weighted, size)

    out = []
    for i, p in enumerate(info.players):
        others = table.chance * np.prod(np.delete(own, i, 0), axis=0)
        row = _rows_of_states(p, table, i)
        here = np.flatnonzero(row >= 0)
        there = np.flatnonzero(entry[i] >= 0)
        weight = np.bincount(row[here], others[here], p.num_infosets)
        reach = np.bincount(row[here], (others * own[i])[here], p.num_infosets)
        value = np.bincount(row[here], (others * expected[:, i])[here], p.num_infosets)
        action_value = np.bincount(entry[i][there], (others * expected[:, i])[there], len(p.action))
        with np.errstate(invalid="ignore"):
            out.append(
                InfosetValues(
                    reach, value / weight, action_value / np.repeat(weight, np.diff(p.offset))
                )
            )
    return tuple(out)


def _rows_of_states(player: PlayerInfo, table: StateTable, i: int) -> np.ndarray:
    """Returns int [X], the infoset in which player i acts at each state, -1 elsewhere."""
    infoset = np.full(int(table.infostate[:, i].max()) + 1, -1)
    infoset[player.infostate] = np.arange(player.num_infosets)
    return np.where(table.actor == i, infoset[table.infostate[:, i]], -1)


def state_entries(info: TreeInfo, table: StateTable) -> list[np.ndarray]:
    """Returns per player int [X], the entry of the action that led to each state, or -1."""
    out = []
    first = np.zeros(table.num_states, np.int64)  # first child
    parents, at = np.unique(table.parent[1:], return_index=True)
    first[parents] = at + 1
    slot = np.arange(table.num_states) - first[table.parent]
    for i, p in enumerate(info.players):
        row = _rows_of_states(p, table, i)[table.parent]
        row[0] = -1
        out.append(np.where(row >= 0, p.offset[row] + slot, -1))
    return out
