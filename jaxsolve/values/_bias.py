"""Continuations that lean towards one kind of action.

The blueprint's probabilities of one class of actions are multiplied by a factor and renormalised,
at every infoset: x10 in Modicum (Brown, Sandholm and Amos 2018), x5 in Pluribus (Brown and Sandholm
2019). If the blueprint is an equilibrium, so that every action it plays is a best one, each of
these is a best response to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jaxsolve.tree import Policy, PublicTree, TreeInfo, policy_from_probabilities
from jaxsolve.values._info import named

MODICUM = 10.0
"""Factor of Modicum."""

PLURIBUS = 5.0
"""Factor of Pluribus."""

ActionClass = Callable[[str], str | None] | Mapping[str, str]
"""The class of an action, by the action's name; None for an action that is never favoured."""


def poker_class(action: str) -> str:
    """Returns "fold", "call" or "raise" of an action's name; everything else is a raise."""
    word = action.lower().split(" ")[0]
    if word == "fold":
        return "fold"
    return "call" if word in ("call", "check", "pass") else "raise"


def biased(
    tree: PublicTree,
    blueprint: Policy,
    *,
    classes: ActionClass | None = None,
    factor: float = MODICUM,
) -> list[Policy]:
    """Returns the blueprint, then one policy for each class of actions, biased towards it.

    Args:
        tree: the whole game.
        blueprint: of it.
        classes: the class of an action by its name, such as `poker_class`; by default every action
            is a class of its own.
        factor: what the probabilities of the class are multiplied by, before they are renormalised.

    Raises:
        ValueError: the factor is not positive.
    """
    if not 0 < factor < np.inf:
        raise ValueError(f"a bias needs a positive factor, not {factor}")
    info = tree.info
    words = [_words(info, i, classes) for i in range(len(info.players))]
    kinds = list(dict.fromkeys(w for mine in words for w in mine if w is not None))
    out = [named(blueprint, info)]
    for kind in kinds:
        parts = []
        for i, p in enumerate(info.players):
            odds = out[0].probabilities(i).astype(np.float64)
            odds = odds * np.where([w == kind for w in words[i]], factor, 1.0)
            row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
            parts.append(odds / np.bincount(row, odds, p.num_infosets)[row])
        out.append(policy_from_probabilities(tree, parts))
    return out


def _words(info: TreeInfo, player: int, classes: ActionClass | None) -> list[str | None]:
    """Returns the class of each entry of a player."""
    action = info.players[player].action
    unique = np.unique(action)
    if classes is None:
        known: dict[int, str | None] = {int(a): str(int(a)) for a in unique}
    else:
        find = classes.get if isinstance(classes, Mapping) else classes
        known = {int(a): find(info.action_name(player, int(a))) for a in unique}
    return [known[int(a)] for a in action]
