"""Telling a game that is far too large from one that may fit, before it is walked.

Source: Knuth, "Estimating the efficiency of backtrack programs", 1975. Along a path of random
choices, the product of the numbers of choices so far is an unbiased estimate of how many states of
that depth there are, and the sum of the products of how many there are in all. So, by Markov's
inequality, the mean of any number of such sums reaches c times the true number with probability 1/c
at most: a game within a limit is refused once in a million times, and, because the seed is fixed,
then always or never.
"""

from __future__ import annotations

import random
from typing import Any

from jaxsolve.compiler._watch import CERTAIN

PROBES = 16
"""Random paths."""


def far_too_large(spiel: Any, max_states: int) -> bool:
    """Returns whether a `pyspiel.Game` has more states than the limit, beyond reasonable doubt.

    Where the answer is no, it may have more all the same.
    """
    choose, total = random.Random(0), 1.0
    for _ in range(PROBES):
        state, product = spiel.new_initial_state(), 1.0
        while not state.is_terminal():
            if state.is_chance_node():
                actions = [a for a, p in state.chance_outcomes() if p > 0]
            else:
                actions = state.legal_actions()
            product *= len(actions)
            total += product
            if total / PROBES > CERTAIN * max_states:
                return True
            state.apply_action(choose.choice(actions))
    return False
