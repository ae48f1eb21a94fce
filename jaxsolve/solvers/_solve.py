"""Whole runs: iterate, measure, report, save, stop."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from jaxsolve.compiler import compile
from jaxsolve.evaluate import expected_values, nash_conv
from jaxsolve.files import claim, uninterrupted
from jaxsolve.game import Game, Range, checked
from jaxsolve.solvers import _checkpoint
from jaxsolve.solvers._curve import Curve, measurement_points
from jaxsolve.solvers._loop import (
    SolveState,
    average_policy,
    current_policy,
    init_state,
    run,
    sweep_of,
)
from jaxsolve.solvers._names import load_solver
from jaxsolve.solvers._result import Result
from jaxsolve.solvers._solver import Iterations, Solver
from jaxsolve.solvers._sweep import HasSweep
from jaxsolve.tree import Policy, PublicTree
from jaxsolve.types import Array
from jaxsolve.waiting import waiting

CHUNK_SECONDS = 0.5
"""Longest time in one call, so that limits and Ctrl-C are heard."""


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
    solver = load_solver(solver) if isinstance(solver, str) else solver
    tree = game if isinstance(game, PublicTree) else compile(game)
    directory = None if out is None else Path(out)
    if resume and directory is None:
        raise ValueError("resume=True needs out=, the directory of the run to continue")
    with claim(directory):
        points = measurement_points(iterations, measure_every)
        horizon = jnp.asarray(iterations, jnp.int32)
        with waiting(f"compiling {solver.name}", show=progress):
            saved, identity = _open(tree, solver, directory, iterations, resume)
            ready = solver.bind(tree)
            start = time.perf_counter()
            nothing = jnp.asarray(0, jnp.int32)
            state = jax.block_until_ready(run(tree, ready, saved.state, nothing, horizon))
            _, worth = jax.block_until_ready(_measure(tree, solver, state))
            compile_seconds = time.perf_counter() - start
        rows, seconds = saved.rows, saved.seconds
        done, status = int(state.iteration), "iteration limit"
        if rows and rows[-1][0] == done and target is not None and rows[-1][2] <= target:
            status = "target"  # reached before this run was resumed

        def measured() -> tuple[float, Array]:
            """Adds a row to the curve; returns exploitability and values."""
            gap, worth = _measure(tree, solver, state)
            rows.append((done, seconds, float(gap) / tree.num_players))
            if callback is not None:
                callback(*rows[-1])
            return rows[-1][2], worth

        kept, pace, interval = time.perf_counter(), 0.0, checkpoint_seconds
        bar = tqdm(
            total=iterations, initial=done, disable=not progress, desc=solver.name, unit="it"
        )
        with bar, uninterrupted() as interrupted:
            while done < iterations and status == "iteration limit":
                stop = next(p for p in points if p > done)
                count = _chunk(stop - done, pace)
                start = time.perf_counter()
                state = run(tree, ready, state, jnp.asarray(count, jnp.int32), horizon)
                jax.block_until_ready(state.iteration)
                pace = (time.perf_counter() - start) / count
                seconds += pace * count
                done += count
                bar.update(count)
                if interrupted():
                    status = "interrupted"
                elif time_limit is not None and time.perf_counter() - begin >= time_limit:
                    status = "time limit"
                if done == stop or status != "iteration limit":
                    exploitability, worth = measured()
                    bar.set_postfix(exploitability=describe(exploitability), refresh=False)
                    if not np.isfinite(exploitability):
                        status = "non-finite"
                    elif target is not None and exploitability <= target:
                        status = "target"
                    elif done == iterations:
                        status = "iteration limit"
                if directory is not None and time.perf_counter() - kept >= interval:
                    start = time.perf_counter()
                    _checkpoint.save(directory, identity, state, rows, seconds, iterations)
                    kept = time.perf_counter()
                    interval = max(checkpoint_seconds, 20 * (kept - start))
            if not rows or rows[-1][0] != done:  # nothing was left to do
                _, worth = measured()
            if directory is not None and status != "non-finite":
                planned = done if status == "target" else iterations
                _checkpoint.save(directory, identity, state, rows, seconds, planned)
            with waiting("compiling the policies", show=progress):
                average, current = _policies(tree, state)
    return Result(
        average=average,
        current=current,
        output=solver.output,
        curve=Curve.of(rows),
        values=np.asarray(worth),
        status=status,
        iterations=done,
        seconds=seconds,
        compile_seconds=compile_seconds,
        tree=tree,
        solver=solver,
        state=state,
    )


def _open(
    tree: PublicTree, solver: Solver, directory: Path | None, iterations: int, resume: bool
) -> tuple[_checkpoint.Saved, dict[str, Any]]:
    """Returns the state to start from, and the identity of the run."""
    state = _init(tree, solver)
    fresh = _checkpoint.Saved(state, [], 0.0)
    if directory is None:
        return fresh, {}
    identity = _checkpoint.identity(tree, solver, iterations)
    if resume:
        with contextlib.suppress(FileNotFoundError):
            saved = _checkpoint.load(directory, identity, state)
            if int(saved.state.iteration) > iterations:
                raise ValueError(
                    f"{directory} already holds {int(saved.state.iteration)} iterations, more "
                    f"than the {iterations} asked for"
                )
            return saved, identity
    elif (left := _checkpoint.unfinished(directory)) is not None:
        raise ValueError(
            f"{directory} holds an unfinished run ({left[0]} of {left[1]} iterations): resume it "
            f"(--resume), remove {directory / _checkpoint.NAME}, or choose another directory"
        )
    (directory / _checkpoint.NAME).unlink(missing_ok=True)  # of a finished run
    return fresh, identity


def _measure(tree: PublicTree, solver: Solver, state: SolveState) -> tuple[Array, Array]:
    """Returns (NashConv, values [n]) of the average or of the current policy."""
    if solver.output == "average" and sweep_of(tree, solver) is not None:
        return _swept(tree, [mean.mean for mean in state.average])
    return _measured(tree, _common(state), solver.output)


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


@jax.jit
def _swept(tree: PublicTree, means: list[Array]) -> tuple[Array, Array]:
    (leaf,) = tree.leaves
    assert isinstance(leaf, HasSweep)
    assert leaf.sweep is not None
    payoffs, more = leaf.sweep.payoffs(tree, means)
    return more.sum(), payoffs


@functools.partial(jax.jit, static_argnames="output")
def _measured(tree: PublicTree, state: SolveState, output: str) -> tuple[Array, Array]:
    policy = current_policy(tree, state) if output == "current" else average_policy(tree, state)
    return nash_conv(tree, policy), expected_values(tree, policy)


@jax.jit
def _both(tree: PublicTree, state: SolveState) -> tuple[Policy, Policy]:
    return average_policy(tree, state), current_policy(tree, state)


_init = jax.jit(init_state)


def _chunk(left: int, pace: float) -> int:
    """Returns how many iterations to run in one call; the outcome does not depend on it."""
    return max(1, min(left, int(CHUNK_SECONDS / pace))) if pace > 0 else 1
