"""Magnetic mirror descent on counterfactual values; the last iterate is the answer.

Sokota et al. 2023, "A unified approach to reinforcement learning, quantal response equilibria,
and two-player zero-sum games". With a fixed temperature alpha it converges to a quantal response
equilibrium, whose exploitability falls with alpha.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxsolve.regret import mirror_descent
from jaxsolve.solve._solver import Solver, power_average


def mmd(eta: Any = 0.1, alpha: Any = 0.05) -> Solver:
    """Returns magnetic mirror descent with step size eta and temperature alpha."""
    solver = Solver(mirror_descent(eta=eta, alpha=alpha), power_average(0.0), "mmd")
    return dataclasses.replace(solver, output="current")
