"""Exploitability of a weak blueprint, and of what re-solving at every infoset makes of it.

Player 0 re-solves; exploitability is one-sided, the value of the game less what the strategy is
worth against a best response, over the largest payoff. The optimum of a subgame is seldom unique,
and what is left depends on which one a solver finds: so there is a figure for each of several
vertices of the linear programs, and one for CFR. With common knowledge there is a subgame for each
public state. Everything is float64.
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
from experiments.klss_table1._games import LINES, Line, blueprint
from jaxsolve import search

TOLERANCE = 1e-6
"""Gap at which CFR leaves a subgame, in units of the largest payoff."""

ITERATIONS = 20_000
"""At most so many iterations of CFR a level."""

SHUFFLES = 3
"""Vertices besides the one that the solver finds first."""

SHOWN = (
    "label",
    "blueprint_paper",
    "blueprint",
    "klss_paper",
    "klss_lp",
    "klss_cfr",
    "ck_maxmargin",
    "ck_resolve",
    "ratio",
    "seconds",
)


def main(quick: bool, out: Path) -> Report:
    """Returns the table, after saving rows, table and picture in `out`.

    Args:
        quick: the small games only, and one shuffle.
        out: folder.
    """
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("klss_table1", quick, 0.0, rows, columns=SHOWN)
    with jax.enable_x64(True):
        for line in LINES:
            if line.quick or not quick:
                rows.append(measure(line, shuffles=1 if quick else SHUFFLES))
                report.seconds = time.perf_counter() - begin
                report.shown = [_shown(row) for row in rows]
                report.save(out)
                print(f"{line.label}: {rows[-1]['seconds']:.1f} s", flush=True)
    report.save(out, figure=_figure(rows))
    return report


def measure(line: Line, *, shuffles: int) -> dict[str, Any]:
    """Returns one row of the result."""
    tree = js.compile(games.load(line.game))
    info = tree.info
    value = js.solve_lp(tree).value
    weak = blueprint(tree, line)
    spent: dict[str, float] = {}

    def after(**options: Any) -> tuple[float, search.Nested]:
        result = search.nested(tree, weak.policy, players=0, floor=weak.floors[0], **options)
        return (value - result.worst_case[0]) / line.unit, result

    begin = time.perf_counter()
    vertices = [after()[0]]
    spent["klss_lp"] = time.perf_counter() - begin
    for seed in range(shuffles):
        vertices.append(after(rng=np.random.default_rng(seed))[0])
    begin = time.perf_counter()
    cfr, found = after(
        solver="pcfr+", target=TOLERANCE * line.unit, iterations=ITERATIONS, measure_every=100
    )
    spent["klss_cfr"] = time.perf_counter() - begin
    begin = time.perf_counter()
    maxmargin, _ = after(knowledge="common")
    spent["ck_maxmargin"] = time.perf_counter() - begin
    begin = time.perf_counter()
    resolve, _ = after(knowledge="common", gadget="resolve")
    spent["ck_resolve"] = time.perf_counter() - begin
    before = (value - weak.values[0]) / line.unit
    return {
        "game": line.game if line.action is None else f"{line.game}, floor under {line.action}",
        "label": line.label,
        "states": info.num_states,
        "infosets": sum(info.num_infosets),
        "blueprint": before,
        "klss_lp": vertices,
        "klss_cfr": cfr,
        "klss_cfr_gap": found.gap / line.unit,
        "ck_maxmargin": maxmargin,
        "ck_resolve": resolve,
        "ratio": before / cfr if cfr > 1e-5 else None,
        "subgames": found.solved,
        "skipped": found.skipped,
        "seconds": sum(spent.values()),
        "seconds_each": spent,
        "blueprint_paper": line.blueprint_paper,
        "klss_paper": line.klss_paper,
    }


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row as the table shows it, five digits after the point."""
    low, high = min(row["klss_lp"]), max(row["klss_lp"])
    span = f"{abs(low):.5f}" if high - low < 5e-6 else f"{abs(low):.5f} to {high:.5f}"
    digits = ("blueprint", "klss_cfr", "ck_maxmargin", "ck_resolve")
    return {**row, "klss_lp": span, **{k: f"{abs(row[k]):.5f}" for k in digits}}


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns exploitability by game: paper, linear programs, CFR, common knowledge."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawing = Figure(figsize=(9, 0.5 * len(rows) + 1.5))
    axes = drawing.subplots()
    at = np.arange(len(rows))[::-1]
    marks = (
        ("blueprint", "blueprint", "s", "0.6"),
        ("klss_paper", "1-KLSS, paper", "x", "k"),
        ("klss_cfr", "1-KLSS, CFR", "o", "C0"),
        ("ck_maxmargin", "common knowledge, maxmargin", "^", "C2"),
        ("ck_resolve", "common knowledge, resolve", "v", "C3"),
    )
    for k, row in zip(at, rows, strict=True):
        axes.plot([min(row["klss_lp"]), max(row["klss_lp"])], [k, k], color="C1", lw=5, alpha=0.5)
    axes.plot([], [], color="C1", lw=5, alpha=0.5, label="1-KLSS, vertices of the LP")
    for key, name, mark, colour in marks:
        axes.plot([row[key] for row in rows], at, mark, color=colour, label=name, ls="none")
    axes.set_yticks(at, [row["label"] for row in rows])
    axes.set_xscale("symlog", linthresh=1e-3)
    axes.set_xlim(left=0)
    axes.set_xlabel("exploitability of player 0 (units of the largest payoff)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    drawing.tight_layout()
    return drawing
