"""Policies between a whole game and the same game with a depth limit."""

from __future__ import annotations

import numpy as np

from jaxsolve.tree import Policy, PublicTree, policy_from_probabilities, with_probabilities
from jaxsolve.values._info import entries_of, limited_info, named


def restrict(tree: PublicTree, policy: Policy) -> Policy:
    """Returns a policy of the whole game in the game with a limit; choosers choose the first.

    Args:
        tree: from `continuations`.
        policy: of the whole game.
    """
    info = limited_info(tree)
    parts = []
    for i, p in enumerate(info.players):
        chooses = np.repeat(info.chooses(i), np.diff(p.offset))
        found = np.zeros(len(p.action))
        first = np.zeros(len(p.action), bool)
        first[p.offset[:-1]] = True
        mine = named(policy, info.whole).probabilities(i).astype(np.float64)
        source = entries_of(info, info.whole, i)
        found[~chooses] = mine[source[~chooses]]
        found[chooses] = first[chooses]
        # Actions that were left out (`keep`) take their probability with them.
        total = np.add.reduceat(found, p.offset[:-1]) if len(found) else found
        row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
        even = 1 / np.diff(p.offset)[row]
        found = np.where(total[row] > 0, found / np.where(total > 0, total, 1)[row], even)
        parts.append(found)
    return policy_from_probabilities(tree, parts)


def extend(tree: PublicTree, solution: Policy, blueprint: Policy) -> Policy:
    """Returns a policy of the whole game: a solution above the limit, the blueprint elsewhere.

    Args:
        tree: from `continuations`.
        solution: of it.
        blueprint: of the whole game.
    """
    info = limited_info(tree)
    before = named(blueprint, info.whole)
    parts = []
    for i, p in enumerate(info.players):
        keeps = ~np.repeat(info.chooses(i), np.diff(p.offset))
        mine = before.probabilities(i).astype(np.float64)
        source = entries_of(info, info.whole, i)[keeps]
        whole = info.whole.players[i]
        row = np.repeat(np.arange(whole.num_infosets), np.diff(whole.offset))
        touched = np.zeros(whole.num_infosets, bool)
        touched[row[source]] = True
        mine[touched[row]] = 0  # actions that were left out
        mine[source] = named(solution, info).probabilities(i)[keeps]
        parts.append(mine)
    return with_probabilities(before, parts)
