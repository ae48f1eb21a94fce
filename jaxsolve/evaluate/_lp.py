"""Exact equilibria of two-player zero-sum games by the sequence-form linear program.

    max over x, q of f.q   subject to   E x = e, x >= 0, F^T q <= A^T x

where x is player 0's realization plan, q the value of every infoset of player 1, and A the payoff
matrix over pairs of sequences; player 1's plan is the dual of the inequalities (von Stengel 1996,
Koller, Megiddo & von Stengel 1996). Solved by HiGHS, in float64 on the host.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jaxsolve.tree import (
    DecisionRows,
    Policy,
    PublicTree,
    SequenceForm,
    compiled,
    policy_from_probabilities,
)

if TYPE_CHECKING:
    import scipy.sparse


class LPResult(NamedTuple):
    """An exact solution.

    Attributes:
        value: player 0's value, in the game's units.
        gap: best response to player 1's plan minus best response to player 0's, computed afresh
            from the two policies; the value lies within it.
        policy: an equilibrium, behaviour policies of both players.
        seconds: time of the solver.
    """

    value: float
    gap: float
    policy: Policy
    seconds: float


def solve_lp(tree: PublicTree, *, method: str = "highs") -> LPResult:
    """Returns an exact equilibrium of a two-player constant-sum game.

    Args:
        tree: a tree with its sequence form on the host (every compiled tree has one).
        method: of `scipy.optimize.linprog`; "highs-ipm" is often faster on large games.

    Raises:
        ValueError: the game is not of two players and constant sum, or has no sequence form.
    """
    import scipy.optimize  # here and below: importing it takes a quarter of a second
    import scipy.sparse

    form = _zero_sum_form(tree)
    start = time.perf_counter()
    mine, theirs = form.rows
    payoff = payoff_matrix(form)
    e_matrix, e = flow_constraints(mine)
    f_matrix, f = flow_constraints(theirs)
    size = mine.num_sequences
    solution = scipy.optimize.linprog(
        c=np.concatenate([np.zeros(size), -f]),
        A_ub=scipy.sparse.hstack([-payoff.T, f_matrix.T]).tocsr(),
        b_ub=np.zeros(theirs.num_sequences),
        A_eq=scipy.sparse.hstack([e_matrix, scipy.sparse.csr_matrix((len(e), len(f)))]).tocsr(),
        b_eq=e,
        bounds=[(0, None)] * size + [(None, None)] * len(f),
        method=method,
    )
    if solution.status != 0:
        raise RuntimeError(f"HiGHS did not solve the sequence-form LP: {solution.message}")
    plans = [solution.x[:size], -solution.ineqlin.marginals]
    behaviour = [behaviour_of(r, x) for r, x in zip(form.rows, plans, strict=True)]
    x, y = (realization(r, b) for r, b in zip(form.rows, behaviour, strict=True))
    lower = -best_value(theirs, -(payoff.T @ x))
    upper = best_value(mine, payoff @ y)
    policy = policy_from_probabilities(tree, behaviour)
    seconds = time.perf_counter() - start
    return LPResult((lower + upper) / 2, upper - lower, policy, seconds)


def payoff_matrix(form: SequenceForm) -> scipy.sparse.csr_matrix:
    """Returns player 0's expected payoffs over pairs of sequences [S0, S1]."""
    import scipy.sparse

    shape = (form.rows[0].num_sequences, form.rows[1].num_sequences)
    entries = (form.payoff[:, 0], (form.sequence[:, 0], form.sequence[:, 1]))
    return scipy.sparse.csr_matrix(entries, shape)


def flow_constraints(rows: DecisionRows) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Returns (E, e) such that E x = e, x >= 0 are the realization plans of a player."""
    import scipy.sparse

    count, roots = rows.num_rows, rows.roots
    row = np.concatenate([np.arange(roots), roots + rows.row_of, roots + np.arange(count)])
    column = np.concatenate([np.arange(rows.num_sequences), rows.parent])
    value = np.concatenate([np.ones(rows.num_sequences), -np.ones(count)])
    matrix = scipy.sparse.csr_matrix((value, (row, column)), (roots + count, rows.num_sequences))
    return matrix, np.concatenate([rows.root_reach, np.zeros(count)])


def realization(rows: DecisionRows, probabilities: np.ndarray) -> np.ndarray:
    """Returns float64 [S], the realization plan of a behaviour policy [S - roots]."""
    plan = np.concatenate([rows.root_reach, np.zeros(rows.num_sequences - rows.roots)])
    for _, actions in rows_by_level(rows):
        plan[rows.roots + actions] = (
            probabilities[actions] * plan[rows.parent[rows.row_of[actions]]]
        )
    return plan


def behaviour_of(rows: DecisionRows, plan: np.ndarray) -> np.ndarray:
    """Returns float64 [S - roots], the behaviour policy of a plan; uniform where unreached."""
    weight = np.maximum(plan[rows.roots :], 0)
    total = np.bincount(rows.row_of, weight, rows.num_rows)[rows.row_of]
    even = 1 / rows.width[rows.row_of]
    return np.where(total > 1e-12, weight / np.maximum(total, 1e-300), even)


def best_value(rows: DecisionRows, gain: np.ndarray) -> float:
    """Returns the value of a best response to sequence gains [S], by a sweep up the rows."""
    value = gain.copy()
    starts = rows.offset[:-1]
    for members, _ in reversed(rows_by_level(rows)):
        lengths = rows.width[members]
        spots = np.repeat(starts[members] - np.cumsum(lengths) + lengths, lengths)
        spots = spots + np.arange(lengths.sum())
        first = np.cumsum(lengths) - lengths
        best = np.maximum.reduceat(value[spots], first)
        np.add.at(value, rows.parent[members], best)
    return float(rows.root_reach @ value[: rows.roots])


def rows_by_level(rows: DecisionRows) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns (rows, their entries in the list of actions) of each own level."""
    level_of_action = rows.level[rows.row_of]
    return [
        (np.flatnonzero(rows.level == d), np.flatnonzero(level_of_action == d))
        for d in range(int(rows.level.max(initial=-1)) + 1)
    ]


def _zero_sum_form(tree: PublicTree) -> SequenceForm:
    info = compiled(tree)
    if tree.num_players != 2 or info.utility_sum is None:
        raise ValueError(
            f"{info.name} is not a two-player constant-sum game, so no linear program solves it"
        )
    return info.form
