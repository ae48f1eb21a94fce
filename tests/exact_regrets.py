"""Counterfactual regrets of a listed game, by a walk over all its world states."""

from __future__ import annotations

import numpy as np

from jaxsolve import mccfr
from jaxsolve.tree import ListedInfo
from jaxsolve.types import CHANCE


def exact(game: mccfr.ListedGame, tables: mccfr.Tables) -> tuple[np.ndarray, np.ndarray]:
    """Counterfactual regrets, and own reach times policy, by a walk over all world states."""
    assert isinstance(game.compiled.info, ListedInfo)
    states, n = game.compiled.info.states, game.tree.num_players
    policy = {
        int(p): mccfr.matched(mccfr.entries_of(game.tree, tables, tables.regret, int(p)))
        for p in np.flatnonzero(game.tree.count)
    }
    reach = np.ones((states.num_states, n + 1))  # of each player, and of chance
    share = np.ones(states.num_states)
    for x in range(1, states.num_states):
        up = states.parent[x]
        reach[x] = reach[up]
        if states.actor[up] == CHANCE:
            reach[x, n] = states.chance[x]
            share[x] = states.chance[x] / states.chance[up]
        else:
            i = states.actor[up]
            a = game.node[x] - game.tree.child[game.node[up]]
            share[x] = policy[int(game.node[up])][game.known[up, i], a]
            reach[x, i] *= share[x]
    value = np.zeros((states.num_states, n))
    value[states.terminal] = states.utility
    regret, average = np.zeros((2, len(tables.regret)))
    for x in range(states.num_states - 1, 0, -1):
        value[states.parent[x]] += share[x] * value[x]
    for x in range(1, states.num_states):
        up, i = states.parent[x], states.actor[states.parent[x]]
        if i < 0:
            continue
        p = int(game.node[up])
        a = game.node[x] - game.tree.child[p]
        at = tables.row[p] + game.known[up, i] * game.tree.count[p] + a
        others = np.delete(reach[up], i).prod()
        regret[at] += others * (value[x, i] - value[up, i])
        average[at] += reach[up, n] * reach[x, i]
    return regret, average
