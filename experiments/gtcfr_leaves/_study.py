"""Exploitability of re-solving with growing trees, between the worst leaves and the best.

GT-CFR(s, 1) at every decision, under the gadget, composed into one policy and measured exactly.
Leaves are worth 0, or are solved from scratch whenever they are asked about, with the paper's
updates (simultaneous, linear averaging), with alternating ones (quadratic averaging), which ask
about every leaf twice in an iteration, and with those, averages of weight t ** 4 and simulations
that pass by what is open to its ends. What a network can give lies in between. Units: mbb/h in
Leduc (thousandths of a chip), the game's own on the map "glasses" (1 for a win, -1 for a loss).

Source: Schmid et al. 2023 (Student of Games), figure 3: its untrained network beside leaves worth
0, its last one beside solved leaves.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table
from jaxsolve.search import growing_resolver, resolve_game, table_oracle

PAPER: dict[tuple[str, str], dict[int, float]] = {
    ("leduc", "zero"): {33: 854.0, 100: 774.0, 300: 540.0, 1000: 145.0},
    ("leduc", "solved"): {33: 202.0, 100: 109.0, 300: 61.0, 1000: 24.0},
    ("scotland_yard", "zero"): {33: 0.413, 100: 0.188, 300: 0.164, 1000: 0.045},
    ("scotland_yard", "solved"): {33: 0.131, 100: 0.051, 300: 0.031, 1000: 0.016},
}
"""SoG(s, 1), read off the plot: before training, and after it."""

UNITS = {"leduc": 1000.0}
UPDATES = {
    "paper": (js.cfr_plus().simultaneous(), False),
    "alternating": (js.cfr_plus(2.0), False),
    "skip_solved": (js.cfr_plus(4.0), True),
}
"""Solver, and whether simulations are skip_solved."""

RESULTS = Path(__file__).parent / "results"
"""Committed results, by device and version of JAX."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        games: strings of games.
        zero: s of searches whose leaves are worth 0.
        zero_seeds: searches of the whole game for each.
        solved: s of searches with solved leaves.
        solved_seeds: likewise.
        iterations: of PCFR+ below each solved leaf.
        updates: keys of `UPDATES`.
    """

    games: tuple[str, ...] = ("leduc", "scotland_yard")
    zero: tuple[int, ...] = (33, 100, 300)
    zero_seeds: int = 5
    solved: tuple[int, ...] = (33, 100)
    solved_seeds: int = 2
    iterations: int = 15
    updates: tuple[str, ...] = ("paper", "alternating", "skip_solved")


QUICK = Settings(zero=(33, 100), zero_seeds=3, solved=())


def nothing(state: Any, beliefs: Any) -> Any:
    """Every leaf is worth 0."""
    return jnp.zeros_like(beliefs)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per game, kind of leaves, updates and number of simulations.

    Args:
        quick: leaves that are worth 0, few simulations and seeds.
        out: folder.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    report = Report("gtcfr_leaves", quick, 0.0, rows)
    for leaves, counts, seeds in (
        ("zero", chosen.zero, chosen.zero_seeds),
        ("solved", chosen.solved, chosen.solved_seeds),
    ):
        for name in chosen.games:
            table = public_table(games.load(name))
            for updates in chosen.updates:
                for simulations in counts:
                    gaps = _gaps(table, leaves, updates, simulations, seeds, chosen.iterations)
                    rows.append(_row(name, leaves, updates, simulations, gaps))
                    mean = rows[-1]["exploitability_mean"]
                    say(f"{name}, {leaves}, {updates}, s = {simulations}: {mean:.4g}")
                    report.seconds = time.perf_counter() - begin
                    report.save(out)
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def _gaps(
    table: PublicTable, leaves: str, updates: str, simulations: int, seeds: int, iterations: int
) -> list[float]:
    """Returns the exploitability of the composed policy of each seed, in the game's units."""
    solved = leaves == "solved"
    value: Any = jax.tree_util.Partial(nothing)
    if solved:
        value = table_oracle(table, js.pcfr_plus(), iterations=iterations)
    # A batch of subgames takes as long as the largest of them.
    sizes = {"batch": 1, "tile": 1} if solved else {}
    solver, skip_solved = UPDATES[updates]
    resolver = growing_resolver(
        table,
        solver,
        simulations=simulations,
        skip_solved=skip_solved,
        capacity=table.below[0],
        **sizes,
    )
    keys = [jax.random.key(k) for k in range(seeds)]
    return [respond(table, resolve_game(resolver, value, key)).exploitability for key in keys]


def _row(
    name: str, leaves: str, updates: str, simulations: int, gaps: list[float]
) -> dict[str, Any]:
    scaled = [UNITS.get(name, 1.0) * gap for gap in gaps]
    return {
        "game": name,
        "leaves": leaves,
        "updates": updates,
        "leaf_passes": 2 if UPDATES[updates][0].alternating else 1,
        "simulations": simulations,
        "seeds": len(gaps),
        "exploitability_mean": float(np.mean(scaled)),
        "exploitability_min": min(scaled),
        "exploitability_max": max(scaled),
        "exploitability_paper": PAPER.get((name, leaves), {}).get(simulations),
    }


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: exploitability by simulations, a panel for each game."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(r["game"] for r in rows))
    figure = Figure(figsize=(4.6 * len(names), 3.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        lines = dict.fromkeys((r["leaves"], r["updates"]) for r in rows if r["game"] == name)
        for leaves, updates in lines:
            mine = [
                r for r in rows if (r["game"], r["leaves"], r["updates"]) == (name, leaves, updates)
            ]
            x = [r["simulations"] for r in mine]
            y = [r["exploitability_mean"] for r in mine]
            axes.plot(x, y, "o-", label=f"{leaves} leaves, {updates}")
        for leaves, label in (("zero", "untrained"), ("solved", "trained")):
            paper = PAPER.get((name, leaves), {})
            axes.plot(list(paper), list(paper.values()), "--", color="gray", label=f"SoG, {label}")
        axes.set(xscale="log", yscale="log", xlabel="simulations", title=name)
        axes.set_ylabel("exploitability" + (", mbb/h" if name in UNITS else ""))
        axes.legend(fontsize=6)
    return figure
