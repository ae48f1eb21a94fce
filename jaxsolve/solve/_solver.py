"""A solver: a minimizer, how iterates are averaged, and who updates when."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from jax.tree_util import Partial

from jaxsolve.regret import Minimizer, Step
from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Solver:
    """One named variant. A pytree: hyper-parameters are leaves, the rest is static.

    Attributes:
        minimizer: regret update.
        decay: step -> factor of the running sum of reaches before this iteration's is added;
            ((t - 1) / t)^gamma weighs iteration t by t^gamma.
        name: the row of SOLVERS it comes from; hyper-parameters are not part of it, so that
            sweeping them compiles nothing.
        alternating: players update one after the other and see each other's news; otherwise all
            at once from the same policies.
        output: which policy the solver stands for, "average" or "current".
        scheduled: it reads the planned number of iterations, which then cannot change.
    """

    minimizer: Minimizer
    decay: Callable[[Step], Array]
    name: str = dataclasses.field(metadata={"static": True})
    alternating: bool = dataclasses.field(default=True, metadata={"static": True})
    output: str = dataclasses.field(default="average", metadata={"static": True})
    scheduled: bool = dataclasses.field(default=False, metadata={"static": True})

    def simultaneous(self) -> Solver:
        """Returns the same variant with simultaneous updates."""
        return dataclasses.replace(self, alternating=False)


class Variant(NamedTuple):
    """A row of the table of solvers.

    Attributes:
        build: hyper-parameters -> Solver.
        summary: one line.
        source: paper.
    """

    build: Callable[..., Solver]
    summary: str
    source: str


def power_average(gamma: Any) -> Partial:
    """Returns the decay that weighs iteration t by t^gamma (0 uniform, 1 linear, 2 quadratic)."""
    return Partial(_power, gamma)


def _power(gamma: Any, step: Step) -> Array:
    return ((step.t - 1) / step.t) ** gamma
