"""How long an iteration of a batch takes, in iterations of one member alone."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax

import games
import jaxsolve as js
from experiments._report import Report
from experiments.bench._timing import ours
from jaxsolve.solvers import Solver

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


def main(
    quick: bool,
    out: Path,
    *,
    game: str = "leduc",
    sizes: Sequence[int] | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per size of the batch and kind of difference, after saving them in `out`.

    Args:
        quick: smaller batches and fewer repeats.
        out: folder for result.json and batch.md.
        game: as `games.load` takes it.
        sizes: members of each batch.
        record: also write the files of this device in `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and sizes is None) if record is None else record
    sizes = sizes or ((4, 16) if quick else (16, 64, 256))
    rounds, seconds = (3, 0.05) if quick else (9, 0.5)
    tree = js.compile(games.load(game), keep_states=False)
    rows = []
    for size in sizes:
        for differ, trees, solvers in members(tree, size):
            row = {"game": game, "members": size, "differ in": differ}
            rows.append(row | ratio(trees, solvers, rounds, seconds))
            say(f"{size} x {game}, other {differ}: {rows[-1]['ratio']:.4g} times as long as one")
    report = Report("batch", quick, time.perf_counter() - begin, rows)
    report.save(out)
    if record:
        report.record(RESULTS)
    return report


Members = list[tuple[str, list[js.PublicTree], list[Solver]]]


def members(tree: js.PublicTree, size: int) -> Members:
    """Returns two batches of CFR+ and DCFR runs: other payoffs, other hyper-parameters."""
    scale = [1 + k / size for k in range(size)]
    trees = [tree.replace(leaves=tuple(x.with_scale(s) for x in tree.leaves)) for s in scale]
    discounts = [js.dcfr(alpha=1.5 * s, beta=0.0, gamma=2 * s) for s in scale]
    return [("payoffs", trees, [js.cfr_plus()]), ("discounts", [tree], discounts)]


def ratio(
    trees: list[js.PublicTree], solvers: list[Solver], rounds: int, seconds: float
) -> dict[str, Any]:
    """Returns the times of an iteration, and the median over rounds of their ratio."""
    alone = ours(trees[0], solvers[0])
    many = trees if len(trees) > 1 else trees[0]
    variants = solvers if len(solvers) > 1 else solvers[0]

    def together(count: int) -> float:
        return js.solve_batch(many, variants, iterations=count).seconds

    first = together(1)
    few = _enough(lambda n: together(1 + n) - together(1), seconds)
    single = _enough(lambda n: _seconds(alone, n), seconds)
    pairs = []
    for _ in range(rounds):
        one = _seconds(alone, single) / single
        batch = (together(1 + few) - together(1)) / few
        pairs.append((one, batch))
    return {
        "one_ms_per_iteration": 1e3 * statistics.median(a for a, _ in pairs),
        "batch_ms_per_iteration": 1e3 * statistics.median(b for _, b in pairs),
        "ratio": statistics.median(b / a for a, b in pairs),
        "first_call_seconds": first,
        "devices": len(jax.local_devices()),
    }


def _enough(run: Callable[[int], float], seconds: float) -> int:
    """Returns how many iterations take about that long."""
    count = 4
    while (took := run(count)) < seconds / 4:
        count *= 4
    return max(1, round(count * seconds / took))


def _seconds(run: Callable[[int], None], count: int) -> float:
    start = time.perf_counter()
    run(count)
    return time.perf_counter() - start
