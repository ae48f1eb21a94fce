"""Hyper-parameter schedules (HS): discounts that change over a planned number of iterations n.

Zhang, McAleer & Sandholm 2024, "Faster game solving via hyperparameter schedules".

    hs-dcfr(g)   DCFR with alpha = 1 + 3 t/n, beta = -1 - 2 t/n, gamma = g - 5 t/n
    hs-pcfr+(g)  PCFR+ with that gamma only

t is clamped to n, so running past the plan keeps the last values.
"""

from __future__ import annotations

from typing import Annotated

from jax.tree_util import Partial

from jaxsolve.game import Range, checked
from jaxsolve.regret import Step, regret_matching
from jaxsolve.solvers._solver import Solver
from jaxsolve.solvers.variants.dcfr import power_discount
from jaxsolve.types import Array, Scalar


@checked
def hs_dcfr(start: Annotated[Scalar, Range(5)] = 30.0) -> Solver:
    """Returns scheduled DCFR; `start` is gamma at the first iteration, usually 30 or 15."""
    minimizer = regret_matching((), discount=_scheduled_discount)
    return Solver(minimizer, Partial(_scheduled_decay, start), "hs-dcfr", scheduled=True)


@checked
def hs_pcfr_plus(start: Annotated[Scalar, Range(5)] = 30.0) -> Solver:
    """Returns PCFR+ whose averaging exponent falls from `start` by 5."""
    minimizer = regret_matching(clip=True, prediction=1.0)
    return Solver(minimizer, Partial(_scheduled_decay, start), "hs-pcfr+", scheduled=True)


def _progress(step: Step) -> Array:
    return (step.t / step.horizon).clip(0, 1)


def _scheduled_discount(hyper: tuple[()], step: Step, t: Array) -> tuple[Array, Array]:
    x = _progress(step)
    return power_discount((1 + 3 * x, -1 - 2 * x), step, t)


def _scheduled_decay(start: Scalar, step: Step) -> Array:
    return ((step.t - 1) / step.t) ** (start - 5 * _progress(step))
