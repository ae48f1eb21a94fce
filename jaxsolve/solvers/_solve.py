"""Solving a tree or a game: a whole run of the loop, and its result."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler import compile
from jaxsolve.evaluate import expected_values, nash_conv
from jaxsolve.game import Game, Range, checked
from jaxsolve.solvers import _checkpoint
from jaxsolve.solvers._drive import drive
from jaxsolve.solvers._loop import (
    SolveState,
    average_policy,
    current_policy,
    init_state,
    run,
)
from jaxsolve.solvers._names import load_solver
from jaxsolve.solvers._result import Result
from jaxsolve.solvers._solver import Iterations, Solver
from jaxsolve.tree import Policy, PublicTree
from jaxsolve.types import Array
from jaxsolve.waiting import waiting


@checked
def solve(
    game: PublicTree | Game | str,
    solver: Solver | str = "pcfr+",
    *,
    iterations: Iterations = 1000,
    measure_every: Iterations | None = None,
    target: Annotated[float | None, Range(above=0)] = None,
    time_limit: Annotated[float | None, Range(above=0)] = None,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint_seconds: Annotated[float, Range(0)] = 2.0,
    progress: bool = True,
    callback: Callable[[int, float, float], None] | None = None,
    describe: Callable[[float], str] = "{:.3g}".format,
) -> Result:
    """Solves a game and returns policies and curve.

    Args:
        game: a tree, rules, or a game string.
        solver: a variant or its name, such as "dcfr(alpha=1.5)".
        iterations: planned; each updates every player once.
        measure_every: iterations between measurements; about ten a decade by default.
        target: stop once the exploitability is at or below this.
        time_limit: stop after so many seconds, compilation included.
        out: directory for checkpoints.
        resume: go on from the checkpoint in `out`, if there is one.
        checkpoint_seconds: longest work that a killed process can lose; longer where saving
            itself takes more than a twentieth of that.
        progress: show a bar on standard error.
        callback: called with (iteration, seconds, exploitability) at each measurement.
        describe: words for an exploitability in the bar, where the game has units of its own.

    Returns:
        A `Result`. Its curve holds every measurement and one of wherever the run stopped; the
        policies do not depend on measurements, interruptions or how calls were cut.

    Raises:
        ValueError: an argument makes no sense, the checkpoint belongs to another run, or another
            process writes to `out`.
    """
    begin = time.perf_counter()
    solver = load_solver(solver)
    tree = game if isinstance(game, PublicTree) else compile(game)
    found = drive(
        _TreeEngine(tree, solver),
        iterations=iterations,
        measure_every=measure_every,
        target=target,
        time_limit=time_limit,
        out=None if out is None else Path(out),
        resume=resume,
        checkpoint_seconds=checkpoint_seconds,
        progress=progress,
        callback=callback,
        describe=describe,
        begin=begin,
    )
    with waiting("compiling the policies", show=progress):
        average, current = _policies(tree, found.state)
    return Result(
        average=average,
        current=current,
        output=solver.output,
        tree=tree,
        solver=solver,
        **found._asdict(),
    )


class _TreeEngine:
    """The loop of `_loop` on the tensors of a tree."""

    counts_measuring = False
    any_thread = False

    def __init__(self, tree: PublicTree, solver: Solver) -> None:
        self.tree, self.solver, self.ready = tree, solver, solver

    @property
    def name(self) -> str:
        return self.solver.name

    def identity(self, iterations: int) -> dict[str, Any]:
        return _checkpoint.identity(self.tree, self.solver, iterations)

    def fresh(self) -> SolveState:
        return _init(self.tree, self.solver)

    def prepare(self, state: SolveState, horizon: int) -> SolveState:
        self.ready = self.solver.bind(self.tree)
        state = self.advance(state, 0, horizon)
        self.measure(state)
        return state

    def done(self, state: SolveState) -> int:
        return int(state.iteration)

    def advance(self, state: SolveState, count: int, horizon: int) -> SolveState:
        numbers = (jnp.asarray(n, jnp.int32) for n in (count, horizon))
        return jax.block_until_ready(run(self.tree, self.ready, state, *numbers))

    def measure(self, state: SolveState) -> tuple[float, np.ndarray]:
        gap, worth = _measured(self.tree, _common(state), self.solver.output)
        return float(gap) / self.tree.num_players, np.asarray(worth)

    def arrays(self, state: SolveState) -> list[np.ndarray]:
        return [np.asarray(x) for x in jax.tree.leaves(state)]

    def restored(self, like: SolveState, arrays: Sequence[np.ndarray]) -> SolveState:
        # Copies: the loop gives the buffers of its state away.
        copies = [jnp.array(x, copy=True) for x in arrays]
        return jax.tree.unflatten(jax.tree.structure(like), copies)


def _policies(tree: PublicTree, state: SolveState) -> tuple[Policy, Policy]:
    """Returns (average, current), with the names of the tree."""
    average, current = _both(tree, _common(state))
    return (
        dataclasses.replace(average, names=tree.names),
        dataclasses.replace(current, names=tree.names),
    )


def _common(state: SolveState) -> SolveState:
    """Returns what solvers have in common, so that they share the programs that measure."""
    return state._replace(minimizer=(), nodes=())


@functools.partial(jax.jit, static_argnames="output")
def _measured(tree: PublicTree, state: SolveState, output: str) -> tuple[Array, Array]:
    policy = current_policy(tree, state) if output == "current" else average_policy(tree, state)
    return nash_conv(tree, policy), expected_values(tree, policy)


@jax.jit
def _both(tree: PublicTree, state: SolveState) -> tuple[Policy, Policy]:
    return average_policy(tree, state), current_policy(tree, state)


_init = jax.jit(init_state)
