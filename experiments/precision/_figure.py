"""The noise band of float64 runs and where float32 runs lie, per game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def bands(rows: Sequence[Mapping[str, Any]], iterations: int) -> Any:
    """Returns a figure: a line per solver, after that many iterations."""
    from matplotlib.figure import Figure

    chosen = [r for r in rows if r["iterations"] == iterations]
    games = list(dict.fromkeys(r["game"] for r in chosen))
    solvers = list(dict.fromkeys(r["solver"] for r in chosen))
    figure = Figure(figsize=(1.5 + 3.6 * len(games), 1.8 + 0.28 * len(solvers)))
    figure.set_layout_engine("constrained")
    grid = figure.subplots(1, len(games), sharey=True, squeeze=False)[0]
    marks = (
        ("float32_plain_average", "x", "tab:red", "float32, plain sum as average", 7, 5),
        ("float32_float64_average", "o", "tab:blue", "float32, average in float64", 8, 3),
        ("float32", ".", "tab:orange", "float32, compensated average (the library)", 7, 4),
    )
    for game, axes in zip(games, grid, strict=True):
        mine = {r["solver"]: r for r in chosen if r["game"] == game}
        at = [solvers.index(s) for s in mine]
        low = [r["float64_lowest"] for r in mine.values()]
        high = [r["float64_highest"] for r in mine.values()]
        axes.hlines(
            at, low, high, color="0.75", linewidth=7, label="float64: runs 1e-7 apart at the start"
        )
        axes.plot([r["float64"] for r in mine.values()], at, "|", color="0.3", markersize=9)
        for key, mark, colour, label, size, order in marks:
            points = [(r[key], y) for r, y in zip(mine.values(), at, strict=True) if r[key]]
            axes.plot(
                *zip(*points, strict=True),
                linestyle="",
                marker=mark,
                color=colour,
                label=label,
                markersize=size,
                markerfacecolor="none" if mark == "o" else colour,
                zorder=order,
            )
        axes.set_xscale("log")
        axes.set_title(game, fontsize=10)
        axes.set_xlabel(f"exploitability after {iterations:,} iterations,\nin the game's units")
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
    grid[0].set_yticks(range(len(solvers)), solvers)
    grid[0].invert_yaxis()
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    return figure
