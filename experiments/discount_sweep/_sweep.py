"""The sweep: one call of `js.solve_batch` per game, in which hyper-parameters are the batch."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from experiments.discount_sweep._figure import landscape

GAMES = ("kuhn", "leduc", "liars_dice(sides=4)")

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


@dataclasses.dataclass(frozen=True)
class Grid:
    """Every combination of these, whose published setting is (1.5, 0, 2).

    Attributes:
        alpha: discount of positive regrets, t^alpha / (t^alpha + 1).
        beta: discount of negative regrets.
        gamma: weight of iteration t in the average, t^gamma.
        iterations: of every member.
    """

    alpha: tuple[float, ...] = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0)
    beta: tuple[float, ...] = (-5.0, -2.0, -0.5, 0.0, 0.5, 1.0)
    gamma: tuple[float, ...] = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
    iterations: int = 1_000

    @property
    def settings(self) -> list[tuple[float, float, float]]:
        """All (alpha, beta, gamma), beta slowest and gamma fastest."""
        product = itertools.product(self.beta, self.alpha, self.gamma)
        return [(alpha, beta, gamma) for beta, alpha, gamma in product]


QUICK = Grid((1.0, 1.5, 2.0), (-2.0, 0.0), (1.0, 2.0, 4.0, 8.0), 100)


def main(
    quick: bool,
    out: Path,
    *,
    names: Sequence[str] = GAMES,
    grid: Grid | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per game and setting, after saving them and their landscape in `out`.

    Args:
        quick: 24 settings for 100 iterations.
        out: folder for result.json, discount_sweep.md (the best of each game) and the figure.
        names: as `games.load` takes them.
        grid: settings and iterations.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and grid is None and tuple(names) == GAMES) if record is None else record
    grid = grid or (QUICK if quick else Grid())
    rows: list[dict[str, Any]] = []
    timing: list[dict[str, Any]] = []
    for name in names:
        found, cost = sweep(name, grid)
        rows += found
        timing.append(cost)
        say(f"{name}: {cost['members']} settings in {cost['seconds']:.1f} s")
    report = Report(
        "discount_sweep",
        quick,
        time.perf_counter() - begin,
        rows,
        extra={"calls": timing},
        shown=[_summary(rows, cost) for cost in timing],
    )
    report.save(out, figure=landscape(rows))
    if record:
        report.record(RESULTS)
    return report


def sweep(name: str, grid: Grid) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Returns the rows of a game, and what the call cost.

    A call of one iteration comes first and takes the time of compilation.
    """
    tree = js.compile(games.load(name), keep_states=False)
    settings = grid.settings
    solvers = [js.dcfr(alpha=a, beta=b, gamma=c) for a, b, c in settings]
    first = js.solve_batch(tree, solvers, iterations=1).seconds
    batch = js.solve_batch(tree, solvers, iterations=grid.iterations)
    gaps = np.asarray(batch.exploitability[-1], np.float64)
    rows = [
        {
            "game": name,
            "alpha": alpha,
            "beta": beta,
            "gamma": gamma,
            "iterations": grid.iterations,
            "exploitability": float(gap),
        }
        for (alpha, beta, gamma), gap in zip(settings, gaps, strict=True)
    ]
    each = batch.seconds / (len(settings) * grid.iterations)
    cost = {
        "game": name,
        "members": len(settings),
        "iterations": grid.iterations,
        "seconds": round(batch.seconds, 3),
        "first_call_seconds": round(first, 3),
        "ms_per_member_iteration": each * 1e3,
    }
    return rows, cost


def _summary(rows: list[dict[str, Any]], cost: dict[str, Any]) -> dict[str, Any]:
    mine = [r for r in rows if r["game"] == cost["game"]]
    best = min(mine, key=lambda r: r["exploitability"])
    paper = [r for r in mine if (r["alpha"], r["beta"], r["gamma"]) == (1.5, 0.0, 2.0)]
    return {
        "game": cost["game"],
        "best (alpha, beta, gamma)": f"({best['alpha']:g}, {best['beta']:g}, {best['gamma']:g})",
        "exploitability": best["exploitability"],
        "at (1.5, 0, 2)": paper[0]["exploitability"] if paper else None,
        "settings": cost["members"],
        "iterations": cost["iterations"],
        "seconds of the call": cost["seconds"],
        "ms per member and iteration": cost["ms_per_member_iteration"],
    }
