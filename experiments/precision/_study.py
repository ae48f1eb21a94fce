"""The study: solver by solver on three games, saved as it goes, then drawn."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from experiments._report import Report
from experiments.convergence import SOLVERS
from experiments.precision._figure import bands
from experiments.precision._measure import costs, measure

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is run.

    Attributes:
        games: as `games.load` takes them.
        solvers: as `js.load_solver` takes them.
        iterations: each is a run of its own.
        nudged: float64 runs of the noise band, besides the one from exactly uniform.
        longer: (game, solver, iterations) of single longer runs, with one nudged run.
        timed: (iterations, repeats) of the cost of an average, on every game.
    """

    games: tuple[str, ...] = ("kuhn", "leduc", "goofspiel(cards=4)")
    solvers: tuple[str, ...] = SOLVERS
    iterations: tuple[int, ...] = (100, 1_000, 10_000)
    nudged: int = 4
    longer: tuple[tuple[str, str, int], ...] = tuple(
        ("leduc", s, 100_000) for s in ("cfr", "cfr+", "dcfr", "pcfr+", "hs-pcfr+(30)")
    )
    timed: tuple[int, int] = (2_000, 7)


QUICK = Plan(("kuhn", "leduc"), ("cfr", "cfr+", "dcfr", "pcfr+"), (100, 1_000), 2, (), (500, 3))


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per game, solver and number of iterations, after saving them in `out`.

    Args:
        quick: four solvers on Kuhn and Leduc to 1,000 iterations.
        out: folder for result.json, precision.md and the figure.
        plan: what is run instead.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and plan is None) if record is None else record
    plan = plan or (QUICK if quick else Plan())
    rows: list[dict[str, Any]] = []
    cost: list[dict[str, Any]] = []

    def report(complete: bool) -> Report:
        extra = {"complete": complete, "costs": cost}
        shown = lines(rows, max(plan.iterations))
        seconds = time.perf_counter() - begin
        return Report("precision", quick, seconds, list(rows), extra, shown=shown)

    for game in plan.games:
        for solver in plan.solvers:
            rows += measure(game, solver, plan.iterations, plan.nudged)
            report(False).save(out)
        cost += costs(game, "pcfr+", *plan.timed)
        say(f"{game}: {len(rows)} rows after {time.perf_counter() - begin:.0f} s")
        jax.clear_caches()
    for game, solver, iterations in plan.longer:
        rows += measure(game, solver, (iterations,), 1)
        report(False).save(out)
        say(f"{game}, {solver}, {iterations} iterations: {time.perf_counter() - begin:.0f} s")
    last = report(True)
    last.save(out, figure=bands(rows, max(plan.iterations)))
    if record:
        last.record(RESULTS)
    return last


def lines(rows: Sequence[Mapping[str, Any]], least: int) -> list[dict[str, Any]]:
    """Returns the table: the rows of at least so many iterations, under short titles."""
    return [
        {
            "game": r["game"],
            "solver": r["solver"],
            "iterations": r["iterations"],
            "float64, from 1e-7 apart": f"{r['float64_lowest']:.3g} to {r['float64_highest']:.3g}",
            "float32": r["float32"],
            "plain sum": r["float32_plain_average"],
            "float64 average": r["float32_float64_average"],
        }
        for r in rows
        if r["iterations"] >= least
    ]
