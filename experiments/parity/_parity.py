"""Exploitability of CFR and CFR+ on Leduc poker: ours in three arithmetics, and OpenSpiel's.

All four compute the same algorithm, so they differ by rounding alone. One of ours plays for a
third of the chips (payoffs divided by 3, results multiplied by 3), which changes nothing but
roundings: where it parts from the unscaled run, that arithmetic has no more digits to give.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report

GAME, OPENSPIEL_GAME = "leduc", "leduc_poker"

SOLVERS = ("cfr", "cfr+")

TABLE = (1, 10, 100, 300)
"""Iterations that the table shows."""

RECORDED = {
    "cfr": {1: 2.373611, 10: 0.888579, 100: 0.095716, 300: 0.035524},
    "cfr+": {1: 2.373611, 10: 0.610439, 100: 0.013416, 300: 0.002290},
}
"""OpenSpiel 2.0.2, C++ solvers, in the same four points."""

SERIES = {
    "openspiel": "OpenSpiel, float64",
    "float64": "float64",
    "float64_third": "float64, payoffs / 3",
    "float32": "float32",
}
"""Keys of the rows, and their names in the picture."""


def main(quick: bool, out: Path) -> Report:
    """Returns exploitability by iteration, after saving rows, table and picture in `out`.

    Args:
        quick: up to 100 iterations.
        out: folder.
    """
    begin = time.perf_counter()
    last = 100 if quick else TABLE[-1]
    points = sorted({*np.unique(np.geomspace(1, last, 40).round().astype(int)).tolist(), *TABLE})
    points = [p for p in points if p <= last]
    rows: list[dict[str, Any]] = []
    for solver in SOLVERS:
        theirs = openspiel(solver, points)
        curves = {
            "float64": ours(solver, last, x64=True),
            "float64_third": ours(solver, last, x64=True, scale=1 / 3),
            "float32": ours(solver, last, x64=False),
        }
        for k, point in enumerate(points):
            row: dict[str, Any] = {"solver": solver, "iterations": point}
            row["openspiel"] = theirs[k] if theirs else None
            row |= {name: curve[point - 1] for name, curve in curves.items()}
            row["openspiel_recorded"] = RECORDED[solver].get(point)
            rows.append(row)
    report = Report("parity", quick, time.perf_counter() - begin, rows)
    report.shown = [
        {k: f"{v:.7f}" if isinstance(v, float) else v for k, v in row.items()}
        for row in rows
        if row["iterations"] in TABLE
    ]
    report.save(out, figure=_figure(rows))
    return report


def ours(solver: str, iterations: int, *, x64: bool, scale: float = 1.0) -> list[float]:
    """Returns the exploitability after every iteration, in chips.

    Args:
        solver: name in SOLVERS.
        iterations: how many.
        x64: compute in float64.
        scale: multiplies the payoffs while solving; the result is divided by it.
    """
    with jax.enable_x64(x64):
        tree = js.compile(games.load(GAME))
        tree = tree.replace(leaves=tuple(leaf.with_scale(scale) for leaf in tree.leaves))
        result = js.solve(tree, solver, iterations=iterations, measure_every=1, progress=False)
        return [float(x) / scale for x in result.curve.exploitability]


def openspiel(solver: str, points: list[int]) -> list[float] | None:
    """Returns OpenSpiel's exploitability after so many iterations; None if not installed."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(OPENSPIEL_GAME)
    kind = {"cfr": pyspiel.CFRSolver, "cfr+": pyspiel.CFRPlusSolver}[solver]
    running, done, out = kind(game), 0, []
    for point in points:
        for _ in range(point - done):
            running.evaluate_and_update_policy()
        done = point
        out.append(pyspiel.exploitability(game, running.average_policy()))
    return out


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns two panels: exploitability, and relative distance to our float64 run."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawing = Figure(figsize=(10, 4))
    left, right = drawing.subplots(1, 2)
    colours = {"openspiel": "C0", "float64_third": "C2", "float32": "C3"}
    for solver, style in zip(SOLVERS, ("--", "-"), strict=True):
        mine = [r for r in rows if r["solver"] == solver]
        at = [r["iterations"] for r in mine]
        left.plot(at, [r["float64"] for r in mine], style, color="C1", label=f"{solver}, float64")
        for name, colour in colours.items():
            known = [(r["iterations"], r[name], r["float64"]) for r in mine if r[name] is not None]
            far = [max(abs(x / y - 1), 1e-17) for _, x, y in known]
            right.plot([p for p, _, _ in known], far, style, color=colour)
    for name, colour in colours.items():
        right.plot([], [], color=colour, label=SERIES[name])
    left.set_ylabel("exploitability (chips, NashConv / 2)")
    right.set_ylabel("relative distance to our float64 run")
    right.set_title("solid: CFR+, dashed: CFR", fontsize=10)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("iterations")
        axes.grid(alpha=0.3)
        axes.legend()
    drawing.suptitle("Leduc poker")
    drawing.tight_layout()
    return drawing
