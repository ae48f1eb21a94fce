"""Whole runs: iterate, measure, report, save, stop."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

from jaxsolve.evaluate import nash_conv, values
from jaxsolve.game import Game
from jaxsolve.solve import _checkpoint
from jaxsolve.solve._curve import Curve, measurement_points
from jaxsolve.solve._loop import SolveState, average_policy, current_policy, init_state, run
from jaxsolve.solve._names import load_solver
from jaxsolve.solve._solver import Solver
from jaxsolve.solve.sampling import nodes_touched
from jaxsolve.tree._compile import compile
from jaxsolve.tree._policy import Policy
from jaxsolve.tree._public_tree import PublicTree
from jaxsolve.types import Array

CHUNK_SECONDS = 0.5
"""Longest time in one call, so that limits and Ctrl-C are heard."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        average: the average policy.
        current: the policy of the next iteration.
        output: "average" or "current", what the solver stands for and the curve measures.
        curve: exploitability by iteration and time.
        values: float [n], expected payoffs under `policy`, in the game's units.
        status: "iteration limit", "target", "time limit", "interrupted" or "non-finite".
        iterations: done in all.
        seconds: spent in iterations, without compiling and measuring.
        compile_seconds: spent compiling.
        tree: the game.
        solver: the variant.
        state: everything, to go on from.
    """

    average: Policy
    current: Policy
    output: str
    curve: Curve
    values: np.ndarray
    status: str
    iterations: int
    seconds: float
    compile_seconds: float
    tree: PublicTree
    solver: Solver
    state: SolveState

    @property
    def policy(self) -> Policy:
        """The policy that the solver stands for."""
        return self.average if self.output == "average" else self.current

    @property
    def exploitability(self) -> float:
        """The last measurement."""
        return float(self.curve.exploitability[-1])

    @property
    def nodes(self) -> int:
        """World states touched: by the samples, or the whole game for each player's update."""
        return nodes_touched(self.tree, self.state)

    def plot(self) -> Any:
        """Returns a matplotlib figure of the curve (needs the extra `plot`)."""
        from jaxsolve.plot import curve

        return curve({self.solver.name: self.curve}, title=self._name)

    @property
    def _name(self) -> str:
        return self.tree.info.name if self.tree.info is not None else "game"

    def __repr__(self) -> str:
        return (
            f"Result({self._name}, {self.solver.name}, {self.iterations} iterations, "
            f"exploitability {self.exploitability:.6g}, {self.status}, {self.seconds:.2f} s + "
            f"{self.compile_seconds:.2f} s compiling)"
        )

    def _repr_html_(self) -> str:
        import html

        facts = {
            "game": self._name,
            "solver": self.solver.name,
            "iterations": f"{self.iterations:,}",
            "exploitability": f"{self.exploitability:.6g}",
            "values": ", ".join(f"{x:.6g}" for x in self.values),
            "stopped by": self.status,
            "seconds": f"{self.seconds:.2f} (compiling {self.compile_seconds:.2f})",
        }
        rows = "".join(
            f"<tr><th style='text-align:left'>{k}</th><td>{html.escape(v)}</td></tr>"
            for k, v in facts.items()
        )
        return f"<table><caption>Result</caption>{rows}</table>"


def solve(
    game: PublicTree | Game | str,
    solver: Solver | str = "pcfr+",
    *,
    iterations: int = 1000,
    measure_every: int | None = None,
    target: float | None = None,
    time_limit: float | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint_seconds: float = 2.0,
    progress: bool = True,
    callback: Callable[[int, float, float], None] | None = None,
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

    Raises:
        ValueError: an argument makes no sense, or the checkpoint belongs to another run.
    """
    begin = time.perf_counter()
    _check(iterations, measure_every, target, time_limit)
    solver = load_solver(solver) if isinstance(solver, str) else solver
    tree = game if isinstance(game, PublicTree) else compile(game)
    directory = None if out is None else Path(out)
    if resume and directory is None:
        raise ValueError("resume=True needs out=, the directory of the run to continue")
    saved, identity = _open(tree, solver, directory, iterations, resume)
    ready = solver.bind(tree)

    points = measurement_points(iterations, measure_every)
    state, rows, seconds = saved.state, saved.rows, saved.seconds
    done, status = int(state.iteration), "iteration limit"
    horizon = jnp.asarray(iterations, jnp.int32)
    start = time.perf_counter()
    state = jax.block_until_ready(run(tree, ready, state, jnp.asarray(0, jnp.int32), horizon))
    gap, worth = _measure(tree, solver, state)
    worth.block_until_ready()
    compile_seconds = time.perf_counter() - start

    kept, pace, interval = time.perf_counter(), 0.0, checkpoint_seconds
    bar = tqdm(total=iterations, initial=done, disable=not progress, desc=solver.name, unit="it")
    with bar, _interruptible() as interrupted:
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
            if done == stop:
                gap, worth = _measure(tree, solver, state)
                exploitability = float(gap) / tree.num_players
                rows.append((done, seconds, exploitability))
                bar.set_postfix(exploitability=f"{exploitability:.3g}", refresh=False)
                if callback is not None:
                    callback(*rows[-1])
                if not np.isfinite(exploitability):
                    status = "non-finite"
                elif target is not None and exploitability <= target:
                    status = "target"
            if status == "iteration limit" and done < iterations:
                if interrupted():
                    status = "interrupted"
                elif time_limit is not None and time.perf_counter() - begin >= time_limit:
                    status = "time limit"
            if directory is not None and time.perf_counter() - kept >= interval:
                start = time.perf_counter()
                _checkpoint.save(directory, identity, state, rows, seconds, iterations)
                kept = time.perf_counter()
                interval = max(checkpoint_seconds, 20 * (kept - start))
    if not rows or rows[-1][0] != done:
        gap, worth = _measure(tree, solver, state)
        rows.append((done, seconds, float(gap) / tree.num_players))
    if directory is not None and status != "non-finite":
        planned = done if status == "target" else iterations
        _checkpoint.save(directory, identity, state, rows, seconds, planned)
    average, current = (dataclasses.replace(p, info=tree.info) for p in _policies(tree, state))
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
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"{directory} is a file, not a directory for the results")
    directory.mkdir(parents=True, exist_ok=True)
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
    return fresh, identity


@jax.jit
def _measure(tree: PublicTree, solver: Solver, state: SolveState) -> tuple[Array, Array]:
    """Returns (NashConv, values [n]) of the policy that the solver stands for."""
    pick = current_policy if solver.output == "current" else average_policy
    policy = pick(tree, state)
    return nash_conv(tree, policy), values(tree, policy)


@jax.jit
def _policies(tree: PublicTree, state: SolveState) -> tuple[Policy, Policy]:
    return average_policy(tree, state), current_policy(tree, state)


_init = jax.jit(init_state)


def _chunk(left: int, pace: float) -> int:
    """Returns how many iterations to run in one call; the outcome does not depend on it."""
    return max(1, min(left, int(CHUNK_SECONDS / pace))) if pace > 0 else 1


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Turns the first Ctrl-C into a flag, so that no state is lost in the middle of a call."""
    heard = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield heard.is_set
        return

    def listen(*_: Any) -> None:
        if heard.is_set():
            raise KeyboardInterrupt
        heard.set()

    previous = signal.signal(signal.SIGINT, listen)
    try:
        yield heard.is_set
    finally:
        signal.signal(signal.SIGINT, previous)


def _check(
    iterations: int, measure_every: int | None, target: float | None, time_limit: float | None
) -> None:
    for name, number in (("iterations", iterations), ("measure_every", measure_every)):
        if number is not None and (number <= 0 or number != int(number)):
            raise ValueError(f"{name} must be a positive whole number, not {number}")
    for name, limit in (("target", target), ("time_limit", time_limit)):
        if limit is not None and not limit > 0:
            raise ValueError(f"{name} must be positive, not {limit}")
