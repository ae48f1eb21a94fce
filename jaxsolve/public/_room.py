"""How much room a model of the rules needs, for games small enough to be listed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxsolve.compiler import MAX_STATES
from jaxsolve.game import Game
from jaxsolve.public._table import public_table
from jaxsolve.public._walk import enumerate_states, groups_of
from jaxsolve.types import CHANCE


def room_for(game: Game) -> dict[str, Any]:
    """Returns the arguments of `rules_model` that a game needs, found by listing its states.

    A larger game has no such list: there, its author knows the numbers. Kuhn poker, for example,
    has 6 worlds, 3 private states of each player, 2 children and actions, 3 decisions.

    Raises:
        ValueError: the game has no public states that a search could start from; says why.
    """
    listed = public_table(game, cards=False)
    transitions = listed.transitions
    table, labels, _ = enumerate_states(game, MAX_STATES)
    group, acts = groups_of(table), np.flatnonzero(table.actor >= 0)
    known = table.infostate if labels is None else labels
    pairs = np.stack([group[acts], *(known[acts, i] for i in range(2))], 1)
    if labels is None:
        worlds, hands = np.bincount(group[acts]).max(), []
        for i in range(2):
            own = np.unique(pairs[:, [0, 1 + i]], axis=0)
            hands.append(int(np.bincount(own[:, 0]).max()))
    else:  # one history stands for all that lead to a pair of private states
        worlds = np.bincount(np.unique(pairs, axis=0)[:, 0]).max()
        hands = [int(labels[acts, i].max()) + 1 for i in range(2)]
    later = np.zeros(table.num_states, bool)  # below a decision
    for lo, hi in zip(table.depth_start[1:-1], table.depth_start[2:], strict=True):
        up = table.parent[lo:hi]
        later[lo:hi] = later[up] | (table.actor[up] >= 0)
    up = table.parent[1:]
    drawn = table.action[1:][later[up] & (table.actor[up] == CHANCE)]
    return {
        "depth": listed.depth,
        "worlds": int(worlds),
        "hands": (hands[0], hands[1]),
        "children": transitions.num_children,
        "actions": transitions.num_actions,
        "merged": transitions.parents_of.shape[-1],
        "branches": transitions.child_of_action.shape[-1],
        "outcomes": int(drawn.max(initial=-1)) + 1,
        "scale": float(np.abs(table.utility).max()),
    }
