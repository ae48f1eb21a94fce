"""A solver: a minimizer, how iterates are averaged, and who updates when."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

from jax.tree_util import Partial

from jaxsolve.game import Range
from jaxsolve.regret import Minimizer, Step
from jaxsolve.tree import Blocks, PublicTree
from jaxsolve.types import Array, pytree

Iterations = Annotated[int, Range(1, 2**31 - 1)]
"""A number of iterations; they are counted in 32 bits."""


class Sampler(Protocol):
    """Estimates counterfactual values. A pytree: seed and exploration are leaves.

    Attributes:
        batch: samples of each estimate.
    """

    @property
    def batch(self) -> int: ...

    def bind(self, tree: PublicTree) -> Sampler:
        """Returns the sampler with what it needs of a game, to be used on that game only."""
        ...

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        policy: Sequence[Blocks],
        reach: Sequence[Array],
        iteration: Array,
    ) -> tuple[Blocks, Array]:
        """Returns estimates whose expectation is exact, and what they cost.

        Args:
            tree: the game that the sampler is bound to.
            player: whose values.
            policy: blocks of every player.
            reach: [S, ...], own reaches of every player under that policy.
            iteration: int32 [], iterations done, of which the keys are made.

        Returns:
            (counterfactual action values [A, N], world states touched, uint32 []).
        """
        ...


@pytree
@dataclasses.dataclass(frozen=True)
class Solver:
    """One named variant. A pytree: hyper-parameters are leaves, the rest is static.

    Attributes:
        minimizer: regret update.
        decay: step -> factor of the running sum of reaches before this iteration's is added;
            ((t - 1) / t)^gamma weighs iteration t by t^gamma.
        name: the row of SOLVERS or SAMPLERS it comes from; hyper-parameters are not part of it,
            so that sweeping them compiles nothing.
        alternating: players update one after the other, each against the others' newest policies;
            otherwise all update at once against the policies before the iteration.
        output: which policy the solver stands for, "average" or "current".
        scheduled: it reads the planned number of iterations, which then cannot change.
        sampler: what estimates the counterfactual values; None for exact ones.
    """

    minimizer: Minimizer
    decay: Callable[[Step], Array]
    name: str = dataclasses.field(metadata={"static": True})
    alternating: bool = dataclasses.field(default=True, metadata={"static": True})
    output: str = dataclasses.field(default="average", metadata={"static": True})
    scheduled: bool = dataclasses.field(default=False, metadata={"static": True})
    sampler: Any = None

    def simultaneous(self) -> Solver:
        """Returns the same variant with simultaneous updates."""
        return dataclasses.replace(self, alternating=False)

    def bind(self, tree: PublicTree) -> Solver:
        """Returns the solver ready for a game: itself, unless it samples."""
        if self.sampler is None:
            return self
        return dataclasses.replace(self, sampler=self.sampler.bind(tree))


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
