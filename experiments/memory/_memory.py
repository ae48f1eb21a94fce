"""Processes of their own: dry runs, and runs whose peak is read when they have ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments._report import Report

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""

COLUMNS = (
    *("game", "states", "device_mb", "announced_mb", "peak_mb", "ratio"),
    *("cached_announced_mb", "cached_peak_mb", "cached_ratio"),
)
"""What the table shows; rows have times too, which other work on the machine lengthens."""

_LARGE = 10
"""GiB from which a game is not run a second time, with the programs in the cache."""

_PROGRAM = "from jaxsolve.cli import main; main()"


class Case(NamedTuple):
    """One game.

    Attributes:
        game: our game string.
        gib: memory that has to be free; the game is left out where it is not.
    """

    game: str
    gib: float = 2


CASES = (
    Case("leduc"),
    Case("liars_dice"),
    Case("goofspiel(cards=5,order=descending)"),
    Case("goofspiel(cards=6,order=descending)", gib=4),
    Case("goofspiel(cards=7,order=descending)", gib=13),
)


def main(
    quick: bool,
    out: Path,
    *,
    cases: Sequence[Case] | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per game, after saving them in `out`.

    Args:
        quick: Leduc only.
        out: folder for result.json and memory.md.
        cases: games; those of the table by default.
        record: also write the files of this device in `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and cases is None) if record is None else record
    rows = []
    for case in cases or (CASES[:1] if quick else CASES):
        free = _free_gib()
        if free is not None and free < case.gib:
            say(f"{case.game} is left out: {free:.1f} GiB free, {case.gib} needed")
            continue
        rows.append(measure(case))
        say(
            f"{case.game}: {rows[-1]['announced_mb']:.0f} MB announced, "
            f"{rows[-1]['peak_mb']:.0f} taken"
        )
    report = Report("memory", quick, time.perf_counter() - begin, rows, columns=COLUMNS)
    report.save(out)
    if record:
        report.record(RESULTS)
    return report


def measure(case: Case) -> dict[str, Any]:
    """Returns what was announced and what was taken, each from an empty compilation cache.

    Where programs come from the cache, both are smaller by what compiling takes; small games are
    run that way too.
    """
    solve = ["solve", case.game, "--solver", "cfr+", "--json"]
    dry, run = [*solve, "--dry-run"], [*solve, "--iterations", "20", "--measure-every", "10"]
    row: dict[str, Any] = {"game": case.game}
    with tempfile.TemporaryDirectory() as cache:
        announced = json.loads(_run(dry, cache).text)
        row["states"] = announced["states"]
        row["device_mb"] = announced["bytes"]["peak: device"] / 1e6
        again = json.loads(_run(dry, cache).text) if case.gib < _LARGE else None
    with tempfile.TemporaryDirectory() as cache:
        begin = time.perf_counter()
        taken = _run(run, cache)
        row["process_seconds"] = time.perf_counter() - begin
        cached = _run(run, cache) if case.gib < _LARGE else None
    last = json.loads(taken.text.splitlines()[-1])
    row["ms_per_iteration"] = 1e3 * last["seconds"] / last["iteration"]
    row |= _compared("", announced, taken)
    if again is not None and cached is not None:
        row |= _compared("cached_", again, cached)
    return row


class _Process(NamedTuple):
    """What a process wrote, and the peak of its resident size in bytes."""

    text: str
    peak: int


def _compared(prefix: str, announced: dict[str, Any], taken: _Process) -> dict[str, float]:
    size = announced["bytes"]["peak: process"]
    return {
        f"{prefix}announced_mb": size / 1e6,
        f"{prefix}peak_mb": taken.peak / 1e6,
        f"{prefix}ratio": size / taken.peak,
    }


def _run(arguments: list[str], cache: str) -> _Process:
    """Runs `jaxsolve` in a new process."""
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": cache,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    with tempfile.TemporaryFile("w+") as text, tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-c", _PROGRAM, *arguments]
        child = subprocess.Popen(command, stdout=text, stderr=errors, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            raise RuntimeError(f"jaxsolve {' '.join(arguments)} failed:\n{errors.read()[-2000:]}")
        return _Process(text.read(), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def _free_gib() -> float | None:
    """Returns the memory that is available, None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [int(x.split()[1]) / 2**20 for x in lines if x.startswith("MemAvailable")]
    return found[0] if found else None
