"""The one strategy that a player's choices among continuations amount to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxsolve.tree import Policy
from jaxsolve.values._info import LimitedInfo, named


def chosen_below(
    info: LimitedInfo, player: int, choice: np.ndarray, policies: Sequence[Policy]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the strategy that a player's choices at a limit amount to in the whole game.

    By Kuhn's theorem: the average of the continuations, weighted by how likely each was chosen and
    by the player's own reach since.

    Args:
        info: of a game with a limit.
        player: who chooses.
        choice: float [C], the player's probabilities in the game with the limit.
        policies: the continuations.

    Returns:
        (float64 [C of the whole game], bool [C of the whole game] where it is defined: below the
        limit, where the choice leads).
    """
    whole, p = info.whole, info.players[player]
    q, states = whole.players[player], whole.states.infostates[player]
    # The infostate at the limit above each row.
    top = np.full(len(states.parent), -1)
    leaf = np.unique(info.leaves.infostate[:, player])
    top[leaf] = leaf
    for i, parent in enumerate(states.parent):  # parents come first
        if top[i] < 0 and parent >= 0:
            top[i] = top[parent]
    row = np.repeat(np.arange(q.num_infosets), np.diff(q.offset))
    above = top[q.infostate[row]]
    weights = np.zeros((len(states.parent), len(policies)))
    chooses = np.flatnonzero(info.chooses(player))
    for r in chooses:
        weights[p.infostate[r]] = choice[p.offset[r] : p.offset[r + 1]]
    below = (above >= 0) & info.limit.below[q.public[row]]
    total = np.zeros(len(q.action))
    for c, policy in enumerate(policies):
        odds = np.where(below, named(policy, whole).probabilities(player).astype(np.float64), 1.0)
        total += weights[above, c] * _reach(info, player, odds)
    total *= below
    mass = np.bincount(row, total, q.num_infosets)[row]
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1), 0.0), below & (mass > 0)


def _reach(info: LimitedInfo, player: int, odds: np.ndarray) -> np.ndarray:
    """Returns float64 [C], the product of the odds of each entry and of those above it."""
    rows = info.whole.form.rows[player]
    plan = np.ones(rows.num_sequences)
    level = rows.level[rows.row_of]
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        entries = np.flatnonzero(level == depth)
        plan[rows.roots + entries] = odds[entries] * plan[rows.parent[rows.row_of[entries]]]
    return plan[rows.roots :]
