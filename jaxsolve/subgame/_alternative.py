"""Alternative values: what a gadget offers O in place of each class of a subgame.

Arrays hold counterfactual values to P, weighted by the reach of chance and P; O's value per unit of
that reach is minus the quotient. They are computed from the payoffs that the gadget itself holds,
those of the strategy that P frees and those that stay fixed, with the same weights. Safety needs
this: line 21 of the pseudocode of Zhang & Sandholm 2021 divides by another sum than line 16.

Sources: Burch, Johanson & Bowling 2014; Brown & Sandholm 2017, sections 5 to 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.evaluate import payoff_matrix, realization
from jaxsolve.subgame._core import Core, sweep
from jaxsolve.subgame._index import GameIndex


class Base(NamedTuple):
    """The strategies that subgames start from (C entries of P, S sequences).

    Attributes:
        mine: float64 [C] or [B, C], P's probabilities, one row for each subgame.
        plan: float64 [S] or [B, S], their realization plan.
        theirs: float64 [C of O], O's probabilities; None where only best responses matter.
    """

    mine: np.ndarray
    plan: np.ndarray
    theirs: np.ndarray | None

    @property
    def answer(self) -> np.ndarray:
        """float64 [C of O], O's probabilities.

        Raises:
            ValueError: they were not given.
        """
        if self.theirs is None:
            raise ValueError("this needs the opponent's part of the blueprint, theirs=...")
        return self.theirs

    def take(self, members: np.ndarray) -> Base:
        """Returns the strategies of some of the subgames."""
        if self.mine.ndim == 1:
            return self
        return Base(self.mine[members], self.plan[members], self.theirs)


def base_of(index: GameIndex, player: int, mine: np.ndarray, theirs: np.ndarray | None) -> Base:
    """Returns the strategies with the realization plan of P's."""
    rows = index.seats[player].rows
    plan = realization(rows, mine) if mine.ndim == 1 else _plans(index, player, mine)
    return Base(mine, plan, theirs)


def local(core: Core, mine: np.ndarray) -> np.ndarray:
    """Returns float64 [C], P's probabilities at the entries of the forest."""
    return mine[core.source[0]] if mine.ndim == 1 else mine[core.owner, core.source[0]]


def class_values(core: Core, base: Base, kind: str) -> np.ndarray:
    """Returns float64 [M], what each class is worth to P at the blueprint.

    Args:
        core: the subgames.
        base: the blueprint.
        kind: "exact", O answers best; "estimate", O plays the blueprint too.
    """
    if kind == "exact":
        return core.class_values(local(core, base.mine))
    return core.played_values(local(core, base.mine), base.answer[core.source[1]])


def gifts(index: GameIndex, core: Core, base: Base, kind: str) -> np.ndarray:
    """Returns float64 [M] >= 0, what O gave up above each class, in the units of `core`.

    Per unit of the reach of chance and P this is the sum, over O's decisions above the class, of
    the value of the best action less that of the action taken. Taken per unit, every class below an
    action may be raised by all of it: their reaches add up to at most that of the action.

    Args:
        index: the game.
        core: the subgames.
        base: the blueprint.
        kind: "exact" or "estimate", as in `class_values`.
    """
    where = core.where
    theirs = index.seats[1 - where.player]
    rows = theirs.rows
    before = np.repeat(theirs.before[where.classes], core.copies)
    if base.plan.ndim == 1:
        total = _given_up(index, where.player, base.plan, base, kind)
        return total[before] * core.whole
    out = np.zeros(len(before))
    for b in range(where.count):
        mine = core.class_of == b
        if (before[mine] >= rows.roots).any():
            total = _given_up(index, where.player, base.plan[b], base, kind)
            out[mine] = total[before[mine]] * core.whole[mine]
    return out


def _given_up(index: GameIndex, player: int, plan: np.ndarray, base: Base, kind: str) -> np.ndarray:
    """Returns float64 [S of O], the sum of what O gave up along each sequence, per unit."""
    mine, theirs = index.seats[player], index.seats[1 - player]
    rows = theirs.rows
    matrix = payoff_matrix(index.info.form)  # player 0's payoffs
    gain = -(matrix.T @ plan) if player == 0 else matrix @ plan
    value = sweep(rows, gain, base.answer if kind == "estimate" else None)
    best = np.maximum.reduceat(value[rows.roots :], rows.offset[:-1] - rows.roots)
    which, state = theirs.entries.pick(rows.infostate.astype(np.int64))
    x = plan[mine.before[index.table.infostate[state, player]]]
    reach = np.bincount(which, index.table.chance[state] * x, rows.num_rows)
    lost = np.maximum(best[rows.row_of] - value[rows.roots :], 0)
    per_unit = np.where(reach[rows.row_of] > 0, lost / np.maximum(reach[rows.row_of], 1e-300), 0)
    total = np.zeros(rows.num_sequences)
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        entries = np.flatnonzero(rows.level[rows.row_of] == depth)
        total[rows.roots + entries] = total[rows.parent[rows.row_of[entries]]] + per_unit[entries]
    return total


def _plans(index: GameIndex, player: int, mine: np.ndarray) -> np.ndarray:
    """Returns float64 [B, S], realization plans of many strategies [B, C]."""
    rows = index.seats[player].rows
    plan = np.ones((len(mine), rows.num_sequences))
    level = rows.level[rows.row_of]
    for depth in range(int(rows.level.max(initial=-1)) + 1):
        entries = np.flatnonzero(level == depth)
        above = rows.parent[rows.row_of[entries]]
        plan[:, rows.roots + entries] = mine[:, entries] * plan[:, above]
    return plan
