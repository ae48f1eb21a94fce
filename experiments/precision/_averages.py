"""Three ways to keep an average, side by side on the same iterates.

CFR is chaotic: two runs that differ in one rounding are different runs after a hundred iterations.
So the averages are not compared between runs but within one: `Averages` takes the place of the
loop's average and keeps all three.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxsolve.solvers import Solver, SolveState, init_state
from jaxsolve.solvers._loop import Mean
from jaxsolve.tree import PublicTree
from jaxsolve.types import Array


class Plain(NamedTuple):
    """A sum in the precision of the run: S = S * decay + reach."""

    mean: Array

    def add(self, value: Array, decay: Array) -> Plain:
        """Returns the sum with one more value."""
        return Plain(self.mean * decay + value)


class Wide(NamedTuple):
    """The same sum in float64; needs `jax.enable_x64`."""

    mean: Array

    def add(self, value: Array, decay: Array) -> Wide:
        """Returns the sum with one more value."""
        return Wide(self.mean * decay.astype(jnp.float64) + value.astype(jnp.float64))


class Averages(NamedTuple):
    """All three: the library's compensated mean, the plain sum and the float64 sum."""

    compensated: Mean
    plain: Plain
    wide: Wide

    def add(self, value: Array, decay: Array) -> Averages:
        """Returns all three with one more value."""
        return Averages(
            self.compensated.add(value, decay),
            self.plain.add(value, decay),
            self.wide.add(value, decay),
        )


KINDS = Averages._fields


def started(tree: PublicTree, solver: Solver, kind: str | None = None) -> SolveState:
    """Returns the first state of a run that keeps the averages of one kind, or all three."""
    state = init_state(tree, solver)

    def begin(mean: Mean) -> Any:
        zero = jnp.zeros_like(mean.mean)
        every = Averages(mean, Plain(zero), Wide(zero.astype(jnp.float64)))
        return every if kind is None else getattr(every, kind)

    return state._replace(average=tuple(begin(m) for m in state.average))


def pick(state: SolveState, kind: str) -> SolveState:
    """Returns the state with the average of one kind, as `average_policy` reads it."""
    chosen = tuple(getattr(a, kind) for a in state.average)
    return state._replace(average=chosen)
