"""Blueprints: where re-solving starts from.

A policy from a file (`js.load_policy`) or of a coarser game (`js.lift`) is a blueprint as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.evaluate import behaviour_of, max_min, seen_from
from jaxsolve.solvers import Solver, solve
from jaxsolve.subgame import index_of, named_floor
from jaxsolve.tree import DecisionRows, Policy, PublicTree, uniform_policy, with_probabilities


class FlooredBlueprint(NamedTuple):
    """The least exploitable policy above a floor.

    Attributes:
        policy: of both players.
        values: per player, what their part is worth against a best response, in the game's units.
        floors: per player, float64 [C], the floor; None where there is none.
    """

    policy: Policy
    values: tuple[float, float]
    floors: tuple[np.ndarray | None, np.ndarray | None]


def lp_blueprint(
    tree: PublicTree,
    *,
    epsilon: float = 0.0,
    action: str | None = None,
    player: int | None = None,
    floors: Sequence[np.ndarray | None] | None = None,
    method: str = "highs",
) -> FlooredBlueprint:
    """Returns the least exploitable policy that plays actions with at least epsilon / m.

    m is the number of actions of an infoset. Such a policy is weak in a systematic way (Zhang &
    Sandholm 2021, section 7).

    Args:
        tree: a compiled two-player constant-sum game.
        epsilon: 0 makes it an equilibrium.
        action: the name of the only action with a floor, wherever legal; every action by default.
        player: whose actions have the floor; both players' by default.
        floors: per player, float64 [C] or None, other floors instead of those of epsilon
            (`subgame.action_floor` makes one to change).
        method: of the linear program.

    Raises:
        ValueError: epsilon is not in 0..1, no action has that name, or the game is not of two
            players and constant sum.
    """
    index = index_of(tree)
    parts, values, used = [], [], []
    for i in range(2):
        form = seen_from(index.info.form, i)
        floor = None if floors is None else floors[i]
        if floors is None and epsilon > 0 and player in (None, i):
            floor = named_floor(index, epsilon, i, action)
        found = max_min(form, floor=floor, method=method)
        behaviour = behaviour_of(form.rows[0], found.plan)
        parts.append(behaviour if floor is None else _above(form.rows[0], behaviour, floor))
        values.append(found.value)
        used.append(floor)
    policy = with_probabilities(uniform_policy(tree), parts)
    return FlooredBlueprint(policy, (values[0], values[1]), (used[0], used[1]))


def cfr_blueprint(tree: PublicTree, *, iterations: int, solver: str | Solver = "cfr+") -> Policy:
    """Returns the policy of a solver after so many iterations.

    Args:
        tree: the game.
        iterations: of the solver.
        solver: the variant or its name.
    """
    result = solve(tree, solver, iterations=iterations, measure_every=iterations, progress=False)
    return dataclasses.replace(result.policy, names=tree.info)


def _above(rows: DecisionRows, behaviour: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Returns a behaviour with the digits that rounding took below the floor put back."""
    free = 1 - np.bincount(rows.row_of, floor, rows.num_rows)[rows.row_of]
    extra = np.maximum(behaviour - floor, 0)
    total = np.bincount(rows.row_of, extra, rows.num_rows)[rows.row_of]
    even = 1 / rows.width[rows.row_of]
    share = np.where(total > 0, extra / np.where(total > 0, total, 1), even)
    return floor + free * share
