"""Counterfactual regret minimization and CFR+.

Zinkevich, Johanson, Bowling & Piccione 2007, "Regret minimization in games with incomplete
information"; Tammelin 2014, "Solving large imperfect information games using CFR+".

    cfr   R = R + r              play [R]+             average weight 1
    cfr+  R = [R + r]+           play R                average weight t
"""

from __future__ import annotations

from typing import Annotated

from jaxsolve.game import Range, checked
from jaxsolve.regret import regret_matching
from jaxsolve.solvers._solver import Solver, power_average
from jaxsolve.types import Scalar


def cfr() -> Solver:
    """Returns vanilla CFR."""
    return Solver(regret_matching(), power_average(0.0), "cfr")


@checked
def cfr_plus(gamma: Annotated[Scalar, Range(0)] = 1.0) -> Solver:
    """Returns CFR+, iteration t averaged with weight t^gamma."""
    return Solver(regret_matching(clip=True), power_average(gamma), "cfr+")
