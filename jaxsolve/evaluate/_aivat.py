"""AIVAT: estimates of matches with most of the luck taken out, unbiased whatever the opponents do.

Burch, Schmid, Moravcik, Morrill & Bowling 2018, "AIVAT: a new variance reduction technique for
agent evaluation in imperfect information games". One agent's policy is known. All world states
that the other players cannot tell apart count together, each as likely as chance and the known
policy make it. At every move of chance or of the agent the estimate gains what a value function
expected before and loses what it says after; both are exact expectations given what the others
know, so any value function leaves the mean alone, and a good one takes away most of the variance.

Game-agnostic: everything is a table over the world states of a compiled game. Differs from the
paper: the value function is one number per world state, whoever acts there.
"""

from __future__ import annotations

import itertools

import numpy as np

from jaxsolve.tree import Policy, StateTable, listed, state_entries
from jaxsolve.types import TERMINAL


def state_values(policy: Policy, player: int = 0) -> np.ndarray:
    """Returns float64 [X], a player's expected payoff from every world state under a policy.

    Args:
        policy: of a compiled tree with world states.
        player: whose payoff.

    Raises:
        ValueError: the tree's world states were not kept.
    """
    table = listed(policy).states
    odds = _odds(policy, table)
    worth = np.zeros(table.num_states)
    worth[table.terminal] = table.utility[:, player]
    for lo, hi in reversed(list(itertools.pairwise(table.depth_start))[1:]):
        np.add.at(worth, table.parent[lo:hi], (odds * worth)[lo:hi])
    return worth


def outcome_probabilities(policy: Policy) -> np.ndarray:
    """Returns float64 [X], the probability that play comes to each world state."""
    table = listed(policy).states
    odds = _odds(policy, table)
    reach = np.ones(table.num_states)
    for lo, hi in list(itertools.pairwise(table.depth_start))[1:]:
        reach[lo:hi] = reach[table.parent[lo:hi]] * odds[lo:hi]
    return reach


def aivat(policy: Policy, values: np.ndarray, *, player: int = 0) -> np.ndarray:
    """Returns float64 [X], the estimate of a match that ends in each world state; 0 elsewhere.

    Args:
        policy: what the evaluated player plays; the other parts are not read.
        values: float [X], what each world state is thought to be worth to the player
            (`state_values` of any policies).
        player: who is evaluated.

    Raises:
        ValueError: the tree's world states were not kept, there is not a value for each, or the
            others cannot tell whether a match is over.
    """
    table = listed(policy).states
    if np.shape(values) != (table.num_states,):
        raise ValueError(
            f"values have shape {np.shape(values)}; {table.game.name} has {table.num_states} world "
            "states, and each needs one (evaluate.state_values)"
        )
    worth = np.array(values, np.float64)
    worth[table.terminal] = table.utility[:, player]
    entry = state_entries(policy.info, table)[player]
    mine = entry >= 0
    odds = np.ones(table.num_states)
    odds[1:] = table.chance[1:] / table.chance[table.parent[1:]]
    odds[mine] = policy.probabilities(player)[entry[mine]]
    ours = np.ones(table.num_states)  # reach of chance and the player
    for lo, hi in list(itertools.pairwise(table.depth_start))[1:]:
        ours[lo:hi] = ours[table.parent[lo:hi]] * odds[lo:hi]
    group = _groups(table, player)
    count = int(group.max()) + 1
    weight = np.bincount(group, ours, count)
    safe = np.where(weight > 0, weight, 1)
    after = np.bincount(group, ours * worth, count) / safe  # mean worth of what the others see
    known = (table.actor < 0) | (table.actor == player)
    up = table.parent[1:]
    step = np.where(known[up], (ours * worth)[1:], 0)
    before = np.bincount(group[up], step, count) / safe  # the same, one known move ahead
    gained = np.zeros(table.num_states)
    for lo, hi in list(itertools.pairwise(table.depth_start))[1:]:
        above = table.parent[lo:hi]
        change = before[group[above]] - after[group[lo:hi]]
        gained[lo:hi] = gained[above] + np.where(known[above], change, 0)
    out = np.zeros(table.num_states)
    out[table.terminal] = (after[group] + gained)[table.terminal]
    return out


def _groups(table: StateTable, player: int) -> np.ndarray:
    """Returns int [X], equal for states of one depth that the other players cannot tell apart.

    Raises:
        ValueError: some of them are terminal and some are not.
    """
    depth = np.repeat(np.arange(len(table.depth_start) - 1), np.diff(table.depth_start))
    others = np.delete(table.infostate, player, 1)
    _, group = np.unique(np.column_stack([depth, others]), axis=0, return_inverse=True)
    group = group.reshape(-1)
    over = table.actor == TERMINAL
    ends = np.bincount(group, over)
    if ((ends > 0) & (ends < np.bincount(group))).any():
        raise ValueError(
            f"{table.game.name}: the other players cannot tell whether a match is over, so there "
            "is no estimate of it from what they know"
        )
    return group


def _odds(policy: Policy, table: StateTable) -> np.ndarray:
    """Returns float64 [X], the probability of the move into each world state."""
    odds = np.ones(table.num_states)
    odds[1:] = table.chance[1:] / table.chance[table.parent[1:]]
    for i, entry in enumerate(state_entries(policy.info, table)):
        mine = entry >= 0
        odds[mine] = policy.probabilities(i)[entry[mine]]
    return odds
