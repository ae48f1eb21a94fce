"""The sequence-form linear program of a random game, from its tables alone.

Nothing of the compiler, the trees or the solvers is used: infosets are found by a walk over the
tables in plain Python, the program is von Stengel's (1996), and HiGHS solves it in float64.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from jaxsolve.testing import RandomTables
from jaxsolve.types import CHANCE, NOTHING, TERMINAL


class Infoset(NamedTuple):
    """One decision: the sequence before it, and the first of its own; they are contiguous."""

    parent: int
    first: int
    width: int


class Walked(NamedTuple):
    """A game in sequence form (2 players).

    Attributes:
        infosets: per player, in the order of a breadth-first walk.
        sizes: sequences per player, the empty one (number 0) included.
        payoff: (sequence of player 0, sequence of player 1) -> payoff to player 0 times chance.
    """

    infosets: tuple[list[Infoset], list[Infoset]]
    sizes: tuple[int, int]
    payoff: dict[tuple[int, int], float]


def walk(tables: RandomTables) -> Walked:
    """Returns the sequence form of a game of two players."""
    t = tables
    infosets: tuple[list[Infoset], list[Infoset]] = ([], [])
    known: tuple[dict[Any, Infoset], dict[Any, Infoset]] = ({}, {})
    sizes, payoff = [1, 1], {}
    start = tuple(_seen((), -1, t, 0, i) for i in range(2))
    queue = deque([(0, start, (0, 0), 1.0)])
    while queue:
        node, seen, sequence, reach = queue.popleft()
        mover = int(t.actor[node])
        if mover == TERMINAL:
            payoff[sequence] = payoff.get(sequence, 0.0) + reach * float(t.utility[node, 0])
            continue
        actions = [a for a, child in enumerate(t.child[node]) if child >= 0]
        infoset = None
        if mover != CHANCE:
            infoset = known[mover].get(seen[mover])
            if infoset is None:
                infoset = Infoset(sequence[mover], sizes[mover], len(actions))
                known[mover][seen[mover]] = infoset
                infosets[mover].append(infoset)
                sizes[mover] += len(actions)
        for slot, action in enumerate(actions):
            child = int(t.child[node, action])
            after = tuple(
                _seen(seen[i], action if i == mover else -1, t, child, i) for i in range(2)
            )
            odds, moved = reach, list(sequence)
            if infoset is None:
                odds *= float(t.chance[node, action])
            else:
                moved[mover] = infoset.first + slot
            queue.append((child, after, (moved[0], moved[1]), odds))
    return Walked(infosets, (sizes[0], sizes[1]), payoff)


def value(game: Walked) -> float:
    """Returns the value for player 0, by linear programming."""
    (mine, theirs), (rows, columns) = game.infosets, game.sizes
    # Variables: the plan x of player 0, then the value q of each infoset of player 1; q[0] is the
    # game's. For each sequence s of player 1: q of the infoset of s <= payoffs + q of what follows.
    program = scipy.sparse.lil_matrix((columns, rows + 1 + len(theirs)))
    for (row, column), worth in game.payoff.items():
        program[column, row] -= worth
    program[0, rows] = 1.0
    for k, infoset in enumerate(theirs):
        for slot in range(infoset.width):
            program[infoset.first + slot, rows + 1 + k] += 1.0
        program[infoset.parent, rows + 1 + k] -= 1.0
    flow = scipy.sparse.lil_matrix((1 + len(mine), rows + 1 + len(theirs)))
    flow[0, 0] = 1.0
    for k, infoset in enumerate(mine):
        flow[1 + k, infoset.first : infoset.first + infoset.width] = 1.0
        flow[1 + k, infoset.parent] -= 1.0
    cost = np.zeros(rows + 1 + len(theirs))
    cost[rows] = -1.0
    found = scipy.optimize.linprog(
        cost,
        A_ub=program.tocsr(),
        b_ub=np.zeros(columns),
        A_eq=flow.tocsr(),
        b_eq=np.eye(1 + len(mine))[0],
        bounds=[(0, None)] * rows + [(None, None)] * (1 + len(theirs)),
    )
    if found.status != 0:
        raise RuntimeError(f"HiGHS did not solve a random game: {found.message}")
    return -float(found.fun)


def exploitability(game: Walked, policy: list[np.ndarray]) -> float:
    """Returns half the sum of what both best responses earn.

    Args:
        game: in sequence form.
        policy: per player the probability of every action of every infoset, in their order.
    """
    plans = []
    for infosets, size, odds in zip(game.infosets, game.sizes, policy, strict=True):
        plan, start = np.ones(size), 0
        for infoset in infosets:  # breadth first: what comes before an infoset is known
            own = slice(infoset.first, infoset.first + infoset.width)
            plan[own] = plan[infoset.parent] * odds[start : start + infoset.width]
            start += infoset.width
        plans.append(plan)
    worth = [np.zeros(size) for size in game.sizes]
    for (row, column), pays in game.payoff.items():
        worth[0][row] += pays * plans[1][column]
        worth[1][column] -= pays * plans[0][row]
    for infosets, each in zip(game.infosets, worth, strict=True):
        for infoset in reversed(infosets):
            each[infoset.parent] += each[infoset.first : infoset.first + infoset.width].max()
    return float(worth[0][0] + worth[1][0]) / 2


def _seen(before: tuple[Any, ...], own: int, t: RandomTables, node: int, player: int) -> Any:
    """Returns what a player did and was shown, after one more transition; silent ones left out."""
    shown = (*map(int, t.public[node]), *map(int, t.private[node, player]))
    silent = own < 0 and all(x == NOTHING for x in shown)
    return before if silent else (*before, (own, shown))
