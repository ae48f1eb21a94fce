"""Solving spots: one, or many that share a betting tree."""

from __future__ import annotations

import functools
import logging
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from jaxsolve.evaluate import expected_values, exploitability
from jaxsolve.game import Range, checked
from jaxsolve.holdem._engine import SpotEngine, spot_engine
from jaxsolve.holdem._parts import PartsEngine, shared_by
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._safe_root import SafeRoot
from jaxsolve.holdem._solution import OnTensors, Solution, averages
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, hands_in, spot_tree
from jaxsolve.hosts import processors
from jaxsolve.solvers import (
    Curve,
    Iterations,
    Run,
    Solver,
    drive,
    load_solver,
    measurement_points,
    solve_batch,
)
from jaxsolve.solvers import solve as solve_tree
from jaxsolve.tree import Policy, check_fits, run_bytes
from jaxsolve.waiting import waiting

log = logging.getLogger("jaxsolve")


@checked
def solve(
    spot: Spot | SpotTree | str | Path,
    *,
    target: str | float | None = "0.1%",
    solver: Solver | str = "dcfr",
    iterations: Iterations = 10_000,
    measure_every: Iterations | None = None,
    time_limit: Annotated[float | None, Range(above=0)] = None,
    out: str | Path | None = None,
    resume: bool = False,
    checkpoint_seconds: Annotated[float, Range(0)] = 2.0,
    progress: bool = True,
    callback: Callable[[int, float, float], None] | None = None,
    bits: int | None = None,
    threads: Annotated[int | None, Range(1)] = None,
    root: SafeRoot | None = None,
) -> SpotResult:
    """Solves a spot: on a CPU with a compiler in C++, elsewhere in JAX.

    In JAX, devices that share batches (`jaxsolve.devices.use`) share the boards of a spot.

    Args:
        spot: a spot, its tree (with locks, say), or the path of a SPOT.toml.
        target: stop at this exploitability: "0.1%" of the pot, or chips; None to run on.
        solver: a variant or its name.
        iterations: at most.
        measure_every: iterations between measurements; about ten a decade by default.
        time_limit: stop after so many seconds, tables and measuring included.
        out: directory for checkpoints.
        resume: go on from the checkpoint in `out`, if there is one.
        checkpoint_seconds: longest work that a killed process can lose; longer where saving
            itself takes more than a twentieth of that.
        progress: show a bar with the exploitability in chips and in percent of the pot.
        callback: called with (iteration, seconds, exploitability in chips) at each measurement.
        bits: of each number that C++ keeps, 32 or 16; 16 by default where 32 do not fit.
        threads: of C++; all processors by default, and one where there is one board.
        root: what one player's hands get for staying out of the spot; the other one's strategy
            then is safe, and exploitability is that of the game with this choice. What reports
            say of that player's reach is as if no hand stayed out.

    Raises:
        ValueError: an argument makes no sense.
        MemoryError: it does not fit; says how much it needs.
    """
    begin = time.perf_counter()
    if isinstance(spot, str | Path):
        spot = Spot.load(spot)
    # What a safe root promises or believes may differ between hands that ranges leave alike.
    ready = spot_tree(spot, symmetric=root is None) if isinstance(spot, Spot) else spot
    pot = ready.spot.pot
    chosen = load_solver(solver)
    options: dict[str, Any] = {
        "iterations": iterations,
        "measure_every": measure_every,
        "target": parse_target(target, pot),
        "time_limit": time_limit,
        "out": None if out is None else Path(out),
        "resume": resume,
        "checkpoint_seconds": checkpoint_seconds,
        "progress": progress,
        "callback": callback,
        "describe": lambda chips: f"{chips:.3g} chips = {100 * chips / pot:.3g}% of the pot",
    }
    engine = spot_engine(ready, chosen, bits=bits, threads=threads, root=root)
    if engine is None and (mesh := shared_by(ready)) is not None:
        start = time.perf_counter()
        with waiting("cutting the boards into parts", show=progress):
            parts = PartsEngine(ready, chosen, mesh)
        built = time.perf_counter() - start
        run = drive(parts, **options, begin=begin)
        return _result(parts.spot, parts.averages(run.state), run, built)
    if engine is None:
        result = solve_tree(ready.tree, chosen, **options)
        built = ready.tree.info.build_seconds
        return _result(ready, OnTensors(ready, result.policy), result, built)
    if shared_by(ready) is not None:
        log.info("C++ solves this spot on the threads of the processor, not on devices of JAX")
    start = time.perf_counter()
    with waiting("making tables of boards", show=progress):
        ready.tables  # noqa: B018  # made when first asked for
    built = time.perf_counter() - start
    run = drive(engine, **options, begin=begin)
    return _result(ready, averages(engine, run.state), run, built)


def _result(spot: SpotTree, solution: Solution, found: Any, built: float) -> SpotResult:
    return SpotResult(
        spot=spot,
        solution=solution,
        curve=found.curve,
        values=(float(found.values[0]), float(found.values[1])),
        status=found.status,
        iterations=found.iterations,
        seconds=found.seconds,
        compile_seconds=found.compile_seconds,
        build_seconds=built,
    )


def parse_target(target: str | float | None, pot: float) -> float | None:
    """Returns chips, from "0.1%" of the pot, "0.2" or a number of chips.

    Raises:
        ValueError: it is none of these, or not positive.
    """
    if target is None:
        return None
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(%?)\s*", str(target))
    try:
        number = float(match.group(1)) if match else float("nan")
    except ValueError:
        number = float("nan")
    if not number > 0 or not np.isfinite(number):
        raise ValueError(f'target is {target!r}; write "0.1%" (of the pot) or a number of chips')
    return number / 100 * pot if match and match.group(2) else number


@checked
def solve_spots(
    spots: Sequence[Spot | SpotTree],
    *,
    solver: Solver | str = "dcfr",
    iterations: Iterations = 1000,
    measure_every: Iterations | None = None,
    chunk: int | None = None,
    threads: Annotated[int | None, Range(1)] = None,
) -> list[SpotResult]:
    """Solves many spots at once: in C++ one on each thread, elsewhere in one vmapped call.

    Boards, ranges, pots, stacks and rake may differ. The vmapped call needs betting trees of one
    shape, and does not put suits together, because that changes the number of boards. What it
    takes is logged first.

    Args:
        spots: to solve.
        solver: a variant or its name.
        iterations: of each.
        measure_every: iterations between measurements; about ten a decade by default.
        chunk: spots at a time of the vmapped call.
        threads: of C++; all processors by default.

    Raises:
        ValueError: two spots differ in shape, in a vmapped call; names both.
        MemoryError: it does not fit; says how much it needs.
    """
    if not spots:
        raise ValueError("no spots to solve")
    ready = load_solver(solver)
    trees = [spot_tree(s) if isinstance(s, Spot) else s for s in spots]
    engines = [spot_engine(t, ready, threads=1) for t in trees]
    points = measurement_points(iterations, measure_every)
    if all(e is not None for e in engines):
        workers = min(len(trees), threads or processors())
        with ThreadPoolExecutor(workers) as pool:
            run = functools.partial(_iterate, points=points, iterations=iterations)
            return list(pool.map(run, engines))
    return _solve_batch(spots, ready, iterations, measure_every, chunk)


def _iterate(engine: SpotEngine, points: Sequence[int], iterations: int) -> SpotResult:
    start = time.perf_counter()
    engine.tables  # noqa: B018  # made when first asked for
    built, start = time.perf_counter() - start, time.perf_counter()
    state, rows, values = engine.fresh(), [], np.zeros(2)
    for point in points:
        state = engine.advance(state, point - state.iteration, iterations)
        gap, values = engine.measure(state)
        rows.append((point, time.perf_counter() - start, gap))
    seconds = rows[-1][1]
    found = Run(state, Curve.of(rows), values, "iteration limit", iterations, seconds, 0.0)
    return _result(engine.spot, averages(engine, state), found, built)


def _solve_batch(
    spots: Sequence[Spot | SpotTree],
    solver: Solver,
    iterations: int,
    measure_every: int | None,
    chunk: int | None,
) -> list[SpotResult]:
    room = max(len(hands_in(s)) if isinstance(s, Spot) else len(s.hands) for s in spots)
    trees = [
        spot_tree(s, symmetric=False, num_hands=room) if isinstance(s, Spot) else s for s in spots
    ]
    _same_betting(trees)
    first = trees[0].tree
    each = sum(p.num_sequences * p.num_hands for p in first.players)
    check_fits(
        f"{len(trees)} spots" if len(trees) > 1 else "one spot",
        run_bytes(each * len(trees)),
        what=f"{each:,} actions and hands each",
        instead="Solve fewer at once.",
    )
    batch = solve_batch(
        [t.tree for t in trees],
        solver,
        iterations=iterations,
        measure_every=measure_every,
        chunk=chunk,
    )
    share = batch.seconds / len(batch.iterations)
    out = []
    for k, tree in enumerate(trees):
        rows = [
            (int(i), share * (m + 1), float(gaps[k]))
            for m, (i, gaps) in enumerate(zip(batch.iterations, batch.exploitability, strict=True))
        ]
        values = np.asarray(batch.values[k])
        found = Run(None, Curve.of(rows), values, "iteration limit", iterations, batch.seconds, 0.0)
        solution = OnTensors(tree, batch.policy(k))
        out.append(_result(tree, solution, found, tree.tree.info.build_seconds))
    return out


def _same_betting(trees: Sequence[SpotTree]) -> None:
    first = trees[0]
    for k, other in enumerate(trees[1:], 1):
        same = all(
            np.array_equal(getattr(first.betting, name), getattr(other.betting, name))
            for name in ("parent", "kind", "actor", "street")
        ) and len(first.hands) == len(other.hands)
        if not same:
            raise ValueError(
                f"spots 0 and {k} have different betting trees ({first.spot!r} with "
                f"{first.betting.num_nodes} nodes, {other.spot!r} with "
                f"{other.betting.num_nodes}), so they cannot be solved in one call"
            )


def measure(spot: SpotTree, policy: Policy) -> tuple[float, float, float]:
    """Returns (EV of oop, EV of ip, exploitability), all in chips, of any policy."""
    worth = np.asarray(expected_values(spot.tree, policy)) + spot.spot.pot / 2
    return float(worth[0]), float(worth[1]), float(exploitability(spot.tree, policy))
