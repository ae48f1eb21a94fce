"""The study: cells in order of cost, saved as they come, then drawn."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax

from experiments._report import Report, device_name
from experiments.convergence._cells import PARTS, QUICK, SOLVERS, Part, cells
from experiments.convergence._conventions import conventions
from experiments.convergence._figures import choices, curves, heat, select, short
from experiments.convergence._measure import measure, scale_free
from jaxsolve.files import write_figure

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


def main(
    quick: bool,
    out: Path,
    *,
    parts: Sequence[Part] | None = None,
    solvers: tuple[str, ...] = SOLVERS,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns the measurements, after saving them in `out`; partial ones are saved as they come.

    Ctrl-C stops the study: what was measured is kept, and the report is not `complete`. The next
    run with the same `out`, on the same device and version of JAX, goes on from there.

    Args:
        quick: Kuhn with payoffs scaled, and Leduc, to 1,000 iterations.
        out: folder for result.json, convergence.md and the figures.
        parts: games and what to run on them.
        solvers: as `js.load_solver` takes them.
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    kept = _unfinished(out, quick)
    begin = time.perf_counter() - kept.get("seconds", 0)
    record = (not quick and parts is None) if record is None else record
    parts = tuple(parts if parts is not None else QUICK if quick else PARTS)
    rows: list[dict[str, Any]] = kept.get("rows", [])
    done: list[str] = []
    extra: dict[str, Any] = {k: kept[k] for k in ("scale_free", "conventions") if k in kept}

    def report() -> Report:
        return _report(quick, begin, rows, done, parts, extra)

    try:
        if "scale_free" not in extra:
            extra["scale_free"] = {s: scale_free(parts[0].game, s, 1_000) for s in solvers}
        if not quick and "conventions" not in extra:
            extra["conventions"] = conventions(starts=17)
            say(f"scales and conventions after {time.perf_counter() - begin:.0f} s")
        for part in parts:
            jax.clear_caches()
            for cell in cells(part, solvers):
                if sum(map(cell.holds, rows)) == cell.size:
                    continue
                rows += measure(cell)
                report().save(out)
            done.append(part.game)
            say(f"{part.game}: {len(rows)} rows after {time.perf_counter() - begin:.0f} s")
    except KeyboardInterrupt:
        say(f"interrupted after {len(done)} of {len(parts)} parts")
        if not done:
            raise
    report().save(out)
    draw(rows, out)
    if record:
        report().record(RESULTS)
    return report()


def _unfinished(out: Path, quick: bool) -> dict[str, Any]:
    """Returns what a stopped study of this device and version of JAX left, {} if there is none."""
    try:
        content: dict[str, Any] = json.loads((out / "result.json").read_text())
    except FileNotFoundError:
        return {}
    here = {"quick": quick, "device": device_name(), "jax": jax.__version__, "complete": False}
    return content if all(content.get(k) == v for k, v in here.items()) else {}


def draw(rows: list[dict[str, Any]], out: Path) -> list[Path]:
    """Writes the figures of the rows; returns their paths."""
    last = max(r["iterations"] for r in rows)
    middle = 1_000 if any(r["iterations"] == 1_000 for r in rows) else last
    drawn = {
        **{f"convergence_{k + 1}": figure for k, figure in enumerate(curves(rows))},
        "convergence_table": heat(rows, middle),
        "convergence_choices": choices(rows, middle),
    }
    paths = []
    for name, figure in drawn.items():
        if figure is None:
            continue
        paths.append(out / f"{name}.png")
        write_figure(paths[-1], figure, dpi=110, bbox_inches="tight")
    return paths


def _report(
    quick: bool,
    begin: float,
    rows: list[dict[str, Any]],
    done: Sequence[str],
    parts: Sequence[Part],
    extra: dict[str, Any],
) -> Report:
    """Returns the report so far; its table is alternating float32, solvers x games."""
    common = min(max(part.iterations) for part in parts)
    lines: dict[str, dict[str, Any]] = {}
    for r in select(rows, updates="alternating", dtype="float32", iterations=common):
        line = lines.setdefault(r["solver"], {"solver": r["solver"], "iterations": common})
        line[short(r["game"])] = r["exploitability"]
    return Report(
        "convergence",
        quick,
        time.perf_counter() - begin,
        list(rows),
        extra={"games": list(done), "complete": len(done) == len(parts)} | extra,
        shown=list(lines.values()),
    )
