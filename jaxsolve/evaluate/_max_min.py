"""The least exploitable strategy of one player, with floors under its actions, by a linear program.

    max f.v   subject to   E x = e, x >= 0, F^T v <= A^T x, x(Ia) >= floor(a) x(I)

x is the player's realization plan, v the value of every infoset of the opponent (von Stengel 1996;
floors: Zhang & Sandholm 2021, section 7). Solved by HiGHS, in float64 on the host.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.evaluate._lp import best_value, flow_constraints, payoff_matrix, realization
from jaxsolve.tree import SequenceForm


class MaxMin(NamedTuple):
    """A least exploitable strategy.

    Attributes:
        plan: float64 [S], the realization plan.
        value: what it is worth against a best response.
    """

    plan: np.ndarray
    value: float


def max_min(
    form: SequenceForm,
    *,
    floor: np.ndarray | None = None,
    method: str = "highs",
    rng: np.random.Generator | None = None,
) -> MaxMin:
    """Returns the strategy of the player in seat 0 that is worth most against a best response.

    Args:
        form: two players, constant sum.
        floor: float64 [C], the least probability of each action of seat 0; none by default.
        method: of `scipy.optimize.linprog`.
        rng: shuffles variables and constraints, so that another optimal vertex may be found.

    Raises:
        RuntimeError: HiGHS did not solve the program.
    """
    import scipy.optimize  # here: importing it takes a quarter of a second
    import scipy.sparse

    mine, theirs = form.rows
    size = mine.num_sequences
    e_matrix, e = flow_constraints(mine)
    f_matrix, f = flow_constraints(theirs)
    payoff = payoff_matrix(form)
    above = scipy.sparse.hstack([-payoff.T, f_matrix.T])
    if floor is not None and (floor > 0).any():
        low = np.flatnonzero(floor > 0)
        row = np.concatenate([np.arange(len(low))] * 2)
        column = np.concatenate([mine.roots + low, mine.parent[mine.row_of[low]]])
        value = np.concatenate([np.full(len(low), -1.0), floor[low]])
        shape = (len(low), size + len(f))
        above = scipy.sparse.vstack([above, scipy.sparse.csr_matrix((value, (row, column)), shape)])
    above = scipy.sparse.csr_matrix(above)
    flow = scipy.sparse.hstack([e_matrix, scipy.sparse.csr_matrix((len(e), len(f)))]).tocsr()
    cost = np.concatenate([np.zeros(size), -f])
    bounds = np.array([(0.0, np.inf)] * size + [(-np.inf, np.inf)] * len(f))
    columns = np.arange(len(cost))
    if rng is not None:
        columns = rng.permutation(len(cost))
        above = above[rng.permutation(above.shape[0])]
    solution = scipy.optimize.linprog(
        c=cost[columns],
        A_ub=above[:, columns],
        b_ub=np.zeros(above.shape[0]),
        A_eq=flow[:, columns],
        b_eq=e,
        bounds=bounds[columns],
        method=method,
    )
    if solution.status != 0:
        raise RuntimeError(f"HiGHS did not solve the max-min LP: {solution.message}")
    x = np.empty(len(columns))
    x[columns] = solution.x
    plan = np.maximum(x[:size], 0)
    return MaxMin(plan, -best_value(theirs, -(payoff.T @ plan)))


def worst_case(form: SequenceForm, behaviour: np.ndarray) -> float:
    """Returns the value of a strategy of seat 0 [C] against a best response."""
    plan = realization(form.rows[0], behaviour)
    return -best_value(form.rows[1], -(payoff_matrix(form).T @ plan))


def seen_from(form: SequenceForm, player: int) -> SequenceForm:
    """Returns a two-player game with a player in seat 0."""
    if player == 0:
        return form
    return SequenceForm(form.rows[::-1], form.sequence[:, ::-1], form.payoff[:, ::-1])
