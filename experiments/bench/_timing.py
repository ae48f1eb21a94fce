"""Timing several solvers against each other on a machine that does other things too."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.solvers import Solver, init_state, run
from jaxsolve.tree import PublicTree

Iterations = Callable[[int], None]


class Times(NamedTuple):
    """Milliseconds an iteration of one solver, one entry per round."""

    ms: list[float]

    @property
    def median(self) -> float:
        """The reported figure."""
        return statistics.median(self.ms)

    def ratio(self, ours: Times) -> float:
        """Returns the median over rounds of this time by ours, both of the same round."""
        return statistics.median(p / o for p, o in zip(self.ms, ours.ms, strict=True))


def ours(tree: PublicTree, solver: Solver) -> Iterations:
    """Returns a function that runs iterations of a solver and waits for them; compiles first."""
    state = init_state(tree, solver)
    solver = solver.bind(tree)

    def iterations(count: int) -> None:
        nonlocal state
        state = run(tree, solver, state, jnp.int32(count), jnp.float32(1))
        jax.block_until_ready(state)

    iterations(1)
    return iterations


def interleaved(
    solvers: Mapping[str, Iterations], *, rounds: int, seconds: float
) -> dict[str, Times]:
    """Returns the times of solvers that take turns, round after round.

    Taking turns exposes all to the same other load; a ratio is formed within a round.

    Args:
        solvers: by name.
        rounds: how often each has its turn.
        seconds: length of a turn, as far as whole iterations allow.
    """
    count = {name: _calibrate(solver, seconds) for name, solver in solvers.items()}
    ms: dict[str, list[float]] = {name: [] for name in solvers}
    for turn in range(rounds):
        order = list(solvers)
        shift = turn % len(order)
        for name in order[shift:] + order[:shift]:
            ms[name].append(1e3 * _seconds(solvers[name], count[name]) / count[name])
    return {name: Times(values) for name, values in ms.items()}


def _calibrate(solver: Iterations, seconds: float) -> int:
    """Returns how many iterations take about that long, at least one."""
    count = 1
    while True:
        took = _seconds(solver, count)
        if took >= seconds / 4 or count >= 1 << 24:
            return max(1, round(count * seconds / max(took, 1e-9)))
        count *= 4


def _seconds(solver: Iterations, count: int) -> float:
    start = time.perf_counter()
    solver(count)
    return time.perf_counter() - start
