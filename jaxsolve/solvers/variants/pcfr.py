"""Predictive CFR+ and its relatives.

Farina, Kroer & Sandholm 2021, "Faster game solving via predictive Blackwell approachability"
(PCFR+); Xu et al. 2024, "Minimizing weighted counterfactual regret with optimistic online mirror
descent" (PDCFR+); "Asymmetric predictive CFR+", arXiv 2503.12770 (SAPCFR+, APCFR+).

    pcfr+    R^{t+1} = [R^t + r^t]+        play [R^t + r^{t-1}]+               weight t^2
    sapcfr+  as pcfr+                      play [R^t + r^{t-1} / 3]+           weight t^2
    apcfr+   as pcfr+                      play [R^t + r^{t-1} / (1 + a_t)]+   weight t^2
    pdcfr+   R = [R d + r]+                play [R d + r]+ once more           weight t^gamma

a_t = min(sqrt(sum |r^s - r^{s-1}|^2 / sum |R^{s+1} - R^s|^2), 5), per infoset.
"""

from __future__ import annotations

from typing import Annotated

from jaxsolve.game import Range, checked
from jaxsolve.regret import adaptive_regret_matching, regret_matching
from jaxsolve.solvers._solver import Solver, power_average
from jaxsolve.solvers.variants.dcfr import power_discount
from jaxsolve.types import Scalar


@checked
def pcfr_plus(gamma: Annotated[Scalar, Range(0)] = 2.0) -> Solver:
    """Returns PCFR+ with quadratic averaging."""
    return Solver(regret_matching(clip=True, prediction=1.0), power_average(gamma), "pcfr+")


@checked
def sapcfr_plus(gamma: Annotated[Scalar, Range(0)] = 2.0) -> Solver:
    """Returns simple asymmetric PCFR+: a third of the last regret is predicted."""
    minimizer = regret_matching(clip=True, prediction=1.0 / 3.0)
    return Solver(minimizer, power_average(gamma), "sapcfr+")


@checked
def apcfr_plus(
    gamma: Annotated[Scalar, Range(0)] = 2.0, longest: Annotated[Scalar, Range(0)] = 5.0
) -> Solver:
    """Returns asymmetric PCFR+, which adapts the prediction per infoset."""
    return Solver(adaptive_regret_matching(longest=longest), power_average(gamma), "apcfr+")


@checked
def pdcfr_plus(alpha: Scalar = 2.3, gamma: Annotated[Scalar, Range(0)] = 5.0) -> Solver:
    """Returns predictive discounted CFR+(alpha, gamma)."""
    minimizer = regret_matching(
        (alpha, alpha),
        discount=power_discount,
        clip=True,
        prediction=1.0,
        discount_prediction=True,
    )
    return Solver(minimizer, power_average(gamma), "pdcfr+")
