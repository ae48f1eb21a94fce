"""Discounted CFR and linear CFR.

Brown & Sandholm 2019, "Solving imperfect-information games via discounted regret minimization".

    R^t = R^{t-1} d(t-1) + r^t,  d(s) = s^alpha / (s^alpha + 1) where R > 0, s^beta / (s^beta + 1)
    elsewhere; average sum S^t = S^{t-1} ((t-1)/t)^gamma + reach * policy.

Regrets are discounted before the new one is added, as in the paper; OpenSpiel discounts after.
DCFR+ (Xu et al. 2024, "Minimizing weighted counterfactual regret with optimistic online mirror
descent") clips instead of discounting negative regrets: R = [R d + r]+.
"""

from __future__ import annotations

from typing import Annotated, Any

from jaxsolve.game import Range, checked
from jaxsolve.regret import Step, regret_matching
from jaxsolve.solvers._solver import Solver, power_average
from jaxsolve.types import Array, Scalar


@checked
def dcfr(
    alpha: Scalar = 1.5,
    beta: Scalar = 0.0,
    gamma: Annotated[Scalar, Range(0)] = 2.0,
) -> Solver:
    """Returns DCFR(alpha, beta, gamma)."""
    minimizer = regret_matching((alpha, beta), discount=power_discount)
    return Solver(minimizer, power_average(gamma), "dcfr")


def lcfr() -> Solver:
    """Returns linear CFR, which is DCFR(1, 1, 1)."""
    minimizer = regret_matching((1.0, 1.0), discount=power_discount)
    return Solver(minimizer, power_average(1.0), "lcfr")


@checked
def dcfr_plus(alpha: Scalar = 1.5, gamma: Annotated[Scalar, Range(0)] = 4.0) -> Solver:
    """Returns DCFR+(alpha, gamma)."""
    minimizer = regret_matching((alpha, alpha), discount=power_discount, clip=True)
    return Solver(minimizer, power_average(gamma), "dcfr+")


def power_discount(hyper: tuple[Any, Any], step: Step, t: Array) -> tuple[Array, Array]:
    """Returns t^x / (t^x + 1) for x = alpha and beta; 0 before the first iteration."""
    alpha, beta = hyper
    return _ratio(t, alpha), _ratio(t, beta)


def _ratio(t: Array, exponent: Any) -> Array:
    # As 1 / (1 + t^-x): t^x alone overflows for large exponents. At t = 0 there is no regret yet.
    safe = t.clip(1)
    return 1 / (1 + safe**-exponent)
