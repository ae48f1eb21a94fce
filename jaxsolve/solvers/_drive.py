"""A whole run of anything that iterates: measure, report, save, stop, go on."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from tqdm import tqdm

from jaxsolve.files import claim, uninterrupted
from jaxsolve.solvers import _checkpoint
from jaxsolve.solvers._curve import Curve, measurement_points
from jaxsolve.waiting import say, waiting

CHUNK_SECONDS = 0.5
"""Longest time in one call, so that limits and Ctrl-C are heard."""

CHECKPOINT = _checkpoint.NAME
"""File of a checkpoint in the folder of a run."""

State = TypeVar("State")


class Engine(Protocol[State]):
    """What a run drives. States may be changed in place.

    Attributes:
        name: of the solver.
        counts_measuring: whether the seconds of a run include measuring.
        any_thread: whether `advance` may run in another thread than the rest. JAX's settings
            belong to a thread.
    """

    @property
    def name(self) -> str: ...

    @property
    def counts_measuring(self) -> bool: ...

    @property
    def any_thread(self) -> bool: ...

    def identity(self, iterations: int) -> dict[str, Any]:
        """Returns what two runs must share for one to continue the other."""
        ...

    def fresh(self) -> State:
        """Returns the state before the first iteration."""
        ...

    def prepare(self, state: State, horizon: int) -> State:
        """Compiles what a run needs; returns the state."""
        ...

    def done(self, state: State) -> int:
        """Returns the iterations that are in a state."""
        ...

    def advance(self, state: State, count: int, horizon: int) -> State:
        """Returns the state after further iterations of `horizon` planned ones."""
        ...

    def measure(self, state: State) -> tuple[float, np.ndarray]:
        """Returns (exploitability, expected payoffs [n]) of the solver's policy."""
        ...

    def arrays(self, state: State) -> Sequence[np.ndarray]:
        """Returns all numbers of a state, for a checkpoint."""
        ...

    def restored(self, like: State, arrays: Sequence[np.ndarray]) -> State:
        """Returns the state of such arrays, whose shapes are those of `like`."""
        ...


class Run(NamedTuple):
    """What a run came to.

    Attributes:
        state: the last one.
        curve: exploitability by iteration and time.
        values: float [n], expected payoffs at the end.
        status: "iteration limit", "target", "time limit", "interrupted" or "non-finite".
        iterations: done in all.
        seconds: spent in iterations, and in measuring if the engine counts that; those of a
            resumed run include what came before.
        compile_seconds: spent compiling.
    """

    state: Any
    curve: Curve
    values: np.ndarray
    status: str
    iterations: int
    seconds: float
    compile_seconds: float


def drive(
    engine: Engine[Any],
    *,
    iterations: int,
    measure_every: int | None = None,
    target: float | None = None,
    time_limit: float | None = None,
    out: Path | None = None,
    resume: bool = False,
    checkpoint_seconds: float = 2.0,
    progress: bool = True,
    callback: Callable[[int, float, float], None] | None = None,
    describe: Callable[[float], str] = "{:.3g}".format,
    begin: float | None = None,
) -> Run:
    """Returns what a run came to; arguments as of `solve`.

    Args:
        engine: what iterates.
        begin: `time.perf_counter()` from which the time limit counts; now by default.

    Raises:
        ValueError: the checkpoint belongs to another run, or another process writes to `out`.
    """
    begin = time.perf_counter() if begin is None else begin
    if resume and out is None:
        raise ValueError("resume=True needs out=, the directory of the run to continue")
    with claim(out):
        points = measurement_points(iterations, measure_every)
        with waiting(f"compiling {engine.name}", show=progress):
            state, rows, seconds, identity = _open(engine, out, iterations, resume)
            start = time.perf_counter()
            state = engine.prepare(state, iterations)
            compile_seconds = time.perf_counter() - start
        done, status = engine.done(state), "iteration limit"
        worth: np.ndarray | None = None
        if rows and rows[-1][0] == done and target is not None and rows[-1][2] <= target:
            status = "target"  # reached before this run was resumed

        def measured() -> tuple[float, np.ndarray]:
            """Adds a row to the curve; returns exploitability and values."""
            nonlocal seconds
            start = time.perf_counter()
            gap, worth = engine.measure(state)
            if engine.counts_measuring:
                seconds += time.perf_counter() - start
            rows.append((done, seconds, gap))
            if callback is not None:
                callback(*rows[-1])
            return gap, worth

        kept, pace, interval = time.perf_counter(), 0.0, checkpoint_seconds
        bar = tqdm(
            total=iterations, initial=done, disable=not progress, desc=engine.name, unit="it"
        )
        with bar, uninterrupted() as interrupted:
            while done < iterations and status == "iteration limit":
                stop = next(p for p in points if p > done)
                count = _chunk(stop - done, pace)
                start = time.perf_counter()
                work = functools.partial(engine.advance, state, count, iterations)
                aside = engine.any_thread and count == 1
                state = _aside(work, interrupted, progress) if aside else work()
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
                if out is not None and time.perf_counter() - kept >= interval:
                    start = time.perf_counter()
                    _save(engine, out, identity, state, rows, seconds, iterations)
                    kept = time.perf_counter()
                    interval = max(checkpoint_seconds, 20 * (kept - start))
            if not rows or rows[-1][0] != done:  # nothing was left to do
                _, worth = measured()
            elif worth is None:
                _, worth = engine.measure(state)
            if out is not None and status != "non-finite":
                planned = done if status == "target" else iterations
                _save(engine, out, identity, state, rows, seconds, planned)
    return Run(state, Curve.of(rows), worth, status, done, seconds, compile_seconds)


def _aside(work: Callable[[], State], interrupted: Callable[[], bool], progress: bool) -> State:
    """Returns what is worked out in a thread, so that Ctrl-C is answered before it ends."""
    with ThreadPoolExecutor(1) as pool:
        future, told = pool.submit(work), not progress
        while not future.done():
            wait([future], timeout=0.2)
            if interrupted() and not told and not future.done():
                say("stopping after the iteration that runs")
                told = True
        return future.result()


def _open(
    engine: Engine[Any], out: Path | None, iterations: int, resume: bool
) -> tuple[Any, list[tuple[int, float, float]], float, dict[str, Any]]:
    """Returns (state to start from, rows of its curve, its seconds, identity of the run)."""
    state = engine.fresh()
    if out is None:
        return state, [], 0.0, {}
    identity = engine.identity(iterations)
    if resume:
        with contextlib.suppress(FileNotFoundError):
            saved = _checkpoint.load(out, identity, engine.arrays(state))
            state = engine.restored(state, saved.arrays)
            if engine.done(state) > iterations:
                raise ValueError(
                    f"{out} already holds {engine.done(state)} iterations, more "
                    f"than the {iterations} asked for"
                )
            return state, saved.rows, saved.seconds, identity
    elif (left := _checkpoint.unfinished(out)) is not None:
        raise ValueError(
            f"{out} holds an unfinished run ({left[0]} of {left[1]} iterations): resume it "
            f"(--resume), remove {out / _checkpoint.NAME}, or choose another directory"
        )
    (out / _checkpoint.NAME).unlink(missing_ok=True)  # of a finished run
    return state, [], 0.0, identity


def _save(
    engine: Engine[Any],
    out: Path,
    identity: dict[str, Any],
    state: Any,
    rows: list[tuple[int, float, float]],
    seconds: float,
    planned: int,
) -> None:
    arrays = engine.arrays(state)
    _checkpoint.save(out, identity, arrays, engine.done(state), rows, seconds, planned)


def _chunk(left: int, pace: float) -> int:
    """Returns how many iterations to run in one call; the outcome does not depend on it."""
    return max(1, min(left, int(CHUNK_SECONDS / pace))) if pace > 0 else 1
