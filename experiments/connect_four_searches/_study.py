"""The searches of `sog_connect_four` again, with the network that it has recorded.

Differences of half a point are within what 2,000 positions tell apart, and options of searches were
looked at on those. Here are 4,000 random ones and 4,000 of self-play, of another seed, and no
training.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments import sog_connect_four
from experiments._report import Report
from experiments.sog_connect_four._board import COLUMNS, ROWS, exact_values
from experiments.sog_connect_four._figure import figure_of
from experiments.sog_connect_four._judged import COLUMNS_SHOWN, judge_searches
from experiments.sog_connect_four._mirror import both_ways
from experiments.sog_connect_four._positions import kinds
from jaxsolve import nets

RESULTS = Path(__file__).parent / "results"
NETWORK = Path(sog_connect_four.__file__).parent / "results" / "network-intel-xeon-2-cores.npz"
BATCH = 50
"""Searches side by side."""

SEED = 101
"""Of games, and of which positions they are cut at; that of `sog_connect_four` is 1."""


def main(
    quick: bool,
    out: Path,
    *,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row for each kind of positions, search and number of simulations.

    Args:
        quick: 50 positions and 16 simulations.
        out: folder; a run that was stopped goes on where it was.
        record: also write the result to the study's folder; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = not quick if record is None else record
    count, simulations = (50, (16,)) if quick else (4_000, (1, 16, 64, 256))
    rows: list[dict[str, Any]] = []
    report = Report("connect_four_searches", quick, 0.0, rows, columns=COLUMNS_SHOWN)
    report.extra = {"network": NETWORK.name, "complete": False}
    earlier, spent = report.earlier(out, same=("network",))
    begin -= spent
    exact_values(np.full((1, ROWS * COLUMNS), -1))  # the solver is missing before any work
    out.mkdir(parents=True, exist_ok=True)
    net = both_ways(nets.load_net(NETWORK))

    def save() -> None:
        report.seconds = time.perf_counter() - begin
        report.save(out)

    made = kinds(net, count, out, simulations=32, batch=BATCH, seed=SEED)
    judge_searches(rows, net, made, simulations, BATCH, out, earlier=earlier, after=save, say=say)
    report.extra["complete"] = True
    save()
    report.save(out, figure=figure_of(rows))
    if record:
        report.record(RESULTS)
    return report
