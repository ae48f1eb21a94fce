"""All parts one after another, each for its share of the minutes."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments._report import Report
from experiments.reliability._inputs import inputs
from experiments.reliability._kills import kills
from experiments.reliability._random_games import random_games
from experiments.reliability._sanitizers import sanitizers
from experiments.reliability._server import server

PARTS: dict[str, tuple[float, Callable[[float], dict[str, Any]]]] = {
    "games": (0.3, random_games),
    "inputs": (0.2, inputs),
    "solve": (0.1, lambda minutes: kills("solve", minutes)),
    "train": (0.1, lambda minutes: kills("train", minutes)),
    "blueprint": (0.1, lambda minutes: kills("blueprint", minutes)),
    "match": (0.05, lambda minutes: kills("match", minutes)),
    "server": (0.05, server),
    "sanitizers": (0.1, sanitizers),
}
"""Share of the minutes, and what runs for them."""


def main(
    quick: bool,
    out: Path,
    *,
    minutes: float | None = None,
    parts: tuple[str, ...] = tuple(PARTS),
) -> Report:
    """Returns a row per part, after saving them in `out`.

    Args:
        quick: two minutes in all.
        out: folder for result.json and reliability.md.
        minutes: in all; 60 by default. A part ends what it has begun.
        parts: names in `PARTS`; they share the minutes in the proportions of that table.

    Raises:
        ValueError: no such part.
    """
    if unknown := [name for name in parts if name not in PARTS]:
        raise ValueError(f"unknown parts {unknown}; choose from {', '.join(PARTS)}")
    minutes = (2 if quick else 60) if minutes is None else minutes
    whole = sum(PARTS[name][0] for name in parts)
    begin, rows = time.perf_counter(), []
    for name in parts:
        share, run = PARTS[name]
        start = time.perf_counter()
        row = run(minutes * share / whole)
        rows.append(row | {"seconds": time.perf_counter() - start})
        columns = ("part", "count", "faults", "seconds", "detail")
        report = Report("reliability", quick, time.perf_counter() - begin, rows, columns=columns)
        report.save(out)
    return report
