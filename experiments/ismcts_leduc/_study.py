"""Exploitability of IS-MCTS on Leduc, searched at each infostate on its own.

Everything that the paper leaves open is as in OpenSpiel, with which it was made: payoffs in chips,
one random playout from the infostate that a simulation opens, untried actions first, the
determinization drawn from the cards alone, statistics for the infostates of whoever acts. Searches
of 10,000 simulations go on from those of 1,000 and so on, and the three policies are read off the
same searches, so figures of one construction are not independent of each other. Unit: mbb/h,
thousandths of a chip; exploitability is half of NashConv.

Source: Schmid et al. 2023 (Student of Games), supplement, table S5.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from experiments.ismcts_leduc._paper import BEST, PAPER, POLICIES, paper
from jaxsolve import search

RESULTS = Path(__file__).parent / "results"
"""Where the full run is recorded."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        simulations: of each search, ascending.
        constants: of UCT, in chips.
        constructions: policies behind each mean.
        game: another variant of Leduc, for trying things out.
    """

    simulations: tuple[int, ...] = tuple(sorted({s for s, _ in PAPER}))
    constants: tuple[float, ...] = tuple(sorted({c for _, c in PAPER}))
    constructions: int = 5
    game: str = "leduc"


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per number of simulations, constant and policy.

    Args:
        quick: one construction of each policy in place of five.
        out: folder.
        settings: instead of those of the full or the quick run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    chosen = settings or Settings(constructions=1 if quick else 5)
    tree = js.compile(games.load(chosen.game))
    beliefs = search.infostate_beliefs(tree)
    rows: list[dict[str, Any]] = []
    report = Report("ismcts_leduc", quick, 0.0, rows, {"best_paper": BEST})
    for c in chosen.constants:
        found = [
            _measure(tree, beliefs, chosen.simulations, c, seed)
            for seed in range(chosen.constructions)
        ]
        gaps = np.array(found)  # [constructions, simulations, policies]
        for k, simulations in enumerate(chosen.simulations):
            for j, policy in enumerate(POLICIES):
                rows.append(_row(simulations, c, policy, gaps[:, k, j]))
        rows.sort(key=lambda r: (r["sims"], r["uct_c"]))
        report.extra["best"] = min(r["exploitability_mbb"] for r in rows)
        report.shown = _shown(rows)
        report.seconds = time.perf_counter() - begin
        report.save(out)
        say(f"C = {c:g}: {gaps[:, -1].mean(0).round()} mbb/h, {report.seconds:.0f} s")
    report.save(out, figure=_figure(rows))
    if settings is None and not quick:
        report.record(RESULTS)
    return report


def _measure(
    tree: js.PublicTree,
    beliefs: search.InfostateBeliefs,
    simulations: Sequence[int],
    uct_c: float,
    seed: int,
) -> list[list[float]]:
    """Returns the exploitability in mbb/h by simulations and policy, of one construction."""
    key = jax.random.fold_in(jax.random.key(seed), round(1000 * uct_c))
    found = search.ismcts_everywhere(
        tree, key, simulations=simulations, uct_c=uct_c, beliefs=beliefs
    )
    return [
        [
            1000 * float(js.exploitability(tree, search.ismcts_policy(tree, root, kind)))
            for kind in POLICIES
        ]
        for root in found
    ]


def _row(simulations: int, uct_c: float, policy: str, gaps: np.ndarray) -> dict[str, Any]:
    return {
        "sims": simulations,
        "uct_c": uct_c,
        "policy": policy,
        "constructions": len(gaps),
        "exploitability_mbb": float(gaps.mean()),
        "least": float(gaps.min()),
        "most": float(gaps.max()),
        "exploitability_paper": paper(simulations, uct_c, policy),
    }


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a line per number of simulations and constant: ours, and the paper's in brackets."""
    lines: dict[tuple[int, float], dict[str, Any]] = {}
    for r in rows:
        at = r["sims"], r["uct_c"]
        theirs = r["exploitability_paper"]
        beside = "" if theirs is None else f" ({theirs})"
        line = lines.setdefault(at, {"sims": r["sims"], "uct_c": r["uct_c"]})
        line[f"{r['policy']}, mbb/h (paper)"] = f"{r['exploitability_mbb']:.0f}{beside}"
    return list(lines.values())


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a panel per policy: exploitability by constant, a line per number of simulations."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    panels = figure.subplots(1, len(POLICIES), sharey=True)
    for axes, policy in zip(panels, POLICIES, strict=True):
        mine = [r for r in rows if r["policy"] == policy]
        for k, simulations in enumerate(sorted({r["sims"] for r in mine})):
            line = [r for r in mine if r["sims"] == simulations]
            x = [r["uct_c"] for r in line]
            label = f"{simulations:,} simulations"
            axes.plot(x, [r["exploitability_mbb"] for r in line], "o-", color=f"C{k}", label=label)
            theirs = [(r["uct_c"], r["exploitability_paper"]) for r in line]
            theirs = [pair for pair in theirs if pair[1] is not None]
            if theirs:
                axes.plot(*zip(*theirs, strict=True), "x--", color=f"C{k}", alpha=0.6)
        axes.set(title=policy.replace("_", " "), xlabel="UCT constant, chips", yscale="log")
    panels[0].set_ylabel("exploitability, mbb/h (x: paper)")
    panels[0].legend(fontsize=7)
    return figure
