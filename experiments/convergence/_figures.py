"""The study's figures: curves, a table in colour, and what each choice changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Rows = Sequence[Mapping[str, Any]]

STYLES = {
    "cfr": ("0.45", "o"),
    "cfr+": ("0.1", "s"),
    "lcfr": ("0.6", "v"),
    "modicum-cfr+": ("tab:brown", "P"),
    "mmd": ("tab:pink", "X"),
    "dcfr": ("tab:blue", "o"),
    "dcfr+": ("tab:cyan", "s"),
    "hs-dcfr(30)": ("navy", "^"),
    "hs-dcfr(15)": ("royalblue", "v"),
    "pcfr+": ("tab:red", "o"),
    "sapcfr+": ("tab:orange", "s"),
    "apcfr+": ("gold", "D"),
    "pdcfr+": ("tab:purple", "o"),
    "hs-pcfr+(30)": ("darkred", "^"),
}
"""Colour and marker by solver: greys without prediction, blues discounted, warm predictive."""

FLOOR = 1e-12
"""Curves end here: what is below differs by rounding errors."""

SOLVED = 1e-8
"""Below this a ratio compares rounding errors, and is not shown."""


def short(game: str) -> str:
    """Returns "leduc 5" for "leduc(ranks=5)": the name and its first number."""
    name = game.split("(")[0].replace("liars_dice", "liar's dice")
    number = re.search(r"(?:ranks|cards|sides)=(\d+)", game)
    return f"{name} {number[1]}" if number else f"{name} 3" if name == "leduc" else name


def select(rows: Rows, **wanted: Any) -> list[Mapping[str, Any]]:
    """Returns the rows with these values; of payoff scale 1 and honest plans unless said."""
    wanted = {"payoff_scale": 1.0} | wanted
    honest = "planned" not in wanted
    return [
        r
        for r in rows
        if all(r[k] == v for k, v in wanted.items() if k != "planned")
        and (not honest or r["planned"] == r["iterations"])
    ]


def curves(rows: Rows) -> list[Any]:
    """Returns figures of exploitability against iterations, two games each, alternating updates."""
    games = list(dict.fromkeys(r["game"] for r in rows))
    return [_curves(rows, games[k : k + 2]) for k in range(0, len(games), 2)]


def _curves(rows: Rows, games: list[str]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(games), 4.6), layout="constrained")
    panels = figure.subplots(1, len(games), squeeze=False)[0]
    for game, axes in zip(games, panels, strict=True):
        wide = select(rows, game=game, updates="alternating", dtype="float64")
        mine = wide or select(rows, game=game, updates="alternating", dtype="float32")
        for solver in _solvers(mine):
            points = [
                (r["iterations"], max(r["exploitability"], FLOOR))
                for r in mine
                if r["solver"] == solver
            ]
            colour, marker = STYLES.get(solver, ("black", "."))
            axes.loglog(
                *zip(*sorted(points), strict=True),
                color=colour,
                marker=marker,
                markersize=4.5,
                linewidth=1.1,
                label=solver,
            )
        axes.set_title(f"{short(game)} ({mine[0]['dtype']})", fontsize=10)
        axes.set_xticks(sorted({r["iterations"] for r in mine}))
        axes.minorticks_off()
        axes.grid(color="0.9")
        axes.tick_params(labelsize=9)
        axes.set_xlabel("iterations (every player updates once in each)", fontsize=9)
    panels[0].set_ylabel("exploitability, in the game's units", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, fontsize=9, frameon=False)
    return figure


def heat(rows: Rows, iterations: int) -> Any:
    """Returns exploitability after that many alternating float32 iterations, solvers x games."""
    from matplotlib.figure import Figure

    mine = select(rows, updates="alternating", dtype="float32", iterations=iterations)
    games, solvers = list(dict.fromkeys(r["game"] for r in mine)), _solvers(mine)
    table = np.full((len(solvers), len(games)), np.nan)
    for r in mine:
        table[solvers.index(r["solver"]), games.index(r["game"])] = r["exploitability"]
    excess = np.log10(table / np.nanmin(table, axis=0))
    figure = Figure(figsize=(2.2 + 0.95 * len(games), 1.6 + 0.33 * len(solvers)))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    image = axes.imshow(excess, cmap="YlOrRd", vmin=0, vmax=3, aspect="auto")
    for (y, x), value in np.ndenumerate(table):
        axes.text(
            x,
            y,
            "" if np.isnan(value) else f"{value:.1e}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if excess[y, x] > 2 else "black",
            fontweight="bold" if excess[y, x] == 0 else "normal",
        )
    axes.set_xticks(range(len(games)), [short(g) for g in games], rotation=30, ha="right")
    axes.set_yticks(range(len(solvers)), solvers)
    axes.set_title(f"exploitability after {iterations:,} alternating iterations, float32")
    bar = figure.colorbar(image, label="times the best of the game", ticks=[0, 1, 2, 3])
    bar.ax.set_yticklabels(["1", "10", "100", "1,000"])
    return figure


def choices(rows: Rows, iterations: int) -> Any:
    """Returns what updates, precision, payoff scale and a wrong plan do, a line per solver.

    What was not run has no panel; None if nothing was.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    solvers = _solvers(rows)
    base = {"updates": "alternating", "dtype": "float32", "iterations": iterations}
    early = {"updates": "alternating", "dtype": "float64", "iterations": 100}
    drift: list[tuple[str, str, float]] = []
    for scale in (10.0, 100.0):
        pairs = _ratios(rows, early | {"payoff_scale": scale}, early)
        drift += [(g, s, max(abs(x - 1), 1e-16)) for g, s, x in pairs]
    simultaneous = _ratios(rows, base | {"updates": "simultaneous"}, base)
    narrow = _ratios(rows, base, base | {"dtype": "float64"})
    short_plan, long_plan = (_misled(rows, base, factor) for factor in (0.5, 2.0))
    every = (
        ("simultaneous / alternating", iterations, [(simultaneous, "o", None)]),
        ("float32 / float64", iterations, [(narrow, "o", None)]),
        ("|payoffs x 10 or 100 / payoffs - 1|", 100, [(drift, "o", None)]),
        ("wrong plan / right plan", iterations, [(short_plan, "<", 0.5), (long_plan, ">", 2.0)]),
    )
    shown = [panel for panel in every if any(points for points, _, _ in panel[2])]
    if not shown:
        return None
    size = 1.6 + 2.85 * len(shown), 1.7 + 0.3 * len(solvers)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, (label, when, series) in zip(panels, shown, strict=True):
        for points, marker, plan in series:
            _dots(axes, solvers, points, label, marker, plan)
        axes.set_title(f"N = {when:,}", fontsize=10)
        axes.set_xscale("log")
        axes.grid(axis="both", color="0.92")
        axes.set_axisbelow(True)
        if when == iterations:
            axes.axvline(1, color="0.5", linewidth=0.8)
            low, high = axes.get_xlim()
            axes.set_xlim(min(low, 0.09), max(high, 11))
            axes.xaxis.set_minor_formatter(NullFormatter())
        if series[0][2] is not None:
            axes.legend(fontsize=8, loc="upper right")
    panels[0].set_yticks(range(len(solvers)), solvers)
    panels[0].set_ylim(len(solvers) - 0.5, -0.5)
    handles, labels = panels[0].get_legend_handles_labels()
    if shown[0][2][0][2] is None:
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=9)
    return figure


def _dots(
    axes: Any,
    solvers: Sequence[str],
    points: Iterable[tuple[str, str, float]],
    label: str,
    marker: str = "o",
    plan: float | None = None,
) -> None:
    points = list(points)
    games = list(dict.fromkeys(g for g, _, _ in points))
    for k, game in enumerate(games):
        mine = [(x, solvers.index(s)) for g, s, x in points if g == game]
        named = None if plan is not None and k else f"planned {plan:g} N" if plan else short(game)
        axes.plot(
            *zip(*mine, strict=True),
            linestyle="",
            marker=marker,
            markersize=5,
            color=f"C{k}" if plan is None else ("tab:blue" if plan < 1 else "tab:red"),
            alpha=0.8,
            label=named,
        )
    axes.set_xlabel(label)


def _ratios(
    rows: Rows, over: Mapping[str, Any], under: Mapping[str, Any]
) -> list[tuple[str, str, float]]:
    """Returns (game, solver, ratio of exploitabilities) where both were run and say something."""
    below = {(r["game"], r["solver"]): r["exploitability"] for r in select(rows, **under)}
    return [
        (r["game"], r["solver"], r["exploitability"] / below[r["game"], r["solver"]])
        for r in select(rows, **over)
        if below.get((r["game"], r["solver"]), 0) > SOLVED
    ]


def _misled(rows: Rows, base: Mapping[str, Any], factor: float) -> list[tuple[str, str, float]]:
    right = {(r["game"], r["solver"]): r["exploitability"] for r in select(rows, **base)}
    return [
        (r["game"], r["solver"], r["exploitability"] / right[r["game"], r["solver"]])
        for r in select(rows, **base, planned=None)
        if r["planned"] == factor * r["iterations"] and right[r["game"], r["solver"]] > SOLVED
    ]


def _solvers(rows: Rows) -> list[str]:
    found = {r["solver"] for r in rows}
    return [s for s in STYLES if s in found] + sorted(found - set(STYLES))
