"""CFR+ as Modicum ran it.

Brown, Sandholm & Amos 2018, "Depth-limited solving for imperfect-information games", appendix A:
for the first 30 iterations the regrets are multiplied by sqrt(t) / (sqrt(t) + 1) after each, and
the first half of the planned iterations is left out of the (uniform) average.
"""

from __future__ import annotations

from typing import Annotated, Any

import jax.numpy as jnp
from jax.tree_util import Partial

from jaxsolve.game import Range, checked
from jaxsolve.regret import Step, regret_matching
from jaxsolve.solvers._solver import Solver
from jaxsolve.types import Array, Scalar


@checked
def modicum_cfr_plus(warmup: Annotated[Scalar, Range(0)] = 30.0) -> Solver:
    """Returns CFR+ with discounted first iterations and a late average."""
    minimizer = regret_matching((warmup,), discount=_early_discount, clip=True)
    return Solver(minimizer, Partial(_second_half), "modicum-cfr+", scheduled=True)


def _early_discount(hyper: tuple[Any], step: Step, t: Array) -> tuple[Array, Array]:
    # Multiplying after iteration t equals multiplying before t + 1, and a common factor of all
    # regrets of an infoset does not change the policy in between.
    root = jnp.sqrt(t.clip(1))
    factor = jnp.where(t <= hyper[0], root / (root + 1), 1)
    return factor, factor


def _second_half(step: Step) -> Array:
    return jnp.where(step.t - 1 <= step.horizon // 2, 0.0, 1.0).astype(step.t.dtype)
