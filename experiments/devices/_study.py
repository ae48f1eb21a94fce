"""The table of programs and devices; every cell is compiled in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax

from experiments._report import Report
from experiments.devices._compile import DEVICES, check_plugin, environment
from experiments.devices._programs import PROGRAMS

ROOT = Path(__file__).parent.parent.parent
RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per machine and version of JAX."""

COLUMNS = (
    *("program", "device", "counted", "kernels", "fusions", "products", "copies", "collectives"),
    *("custom calls", "in command buffers", "MB read", "MB written", "GFLOP", "MB temporary"),
    *("floor ms", "bound by", "XLA's estimate ms", "XLA's cycles ms", "peer ms"),
)


def main(
    quick: bool,
    out: Path,
    *,
    devices: Sequence[str] = ("h100", "v5e", "cpu"),
    programs: Sequence[str] | None = None,
    large: bool = False,
    record: bool = False,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row for each program and device, after saving them in `out`.

    A run that was stopped goes on with the rows that it left.

    Args:
        quick: Kuhn and the rivers.
        out: folder for result.json and devices.md.
        devices: keys of `DEVICES`.
        programs: keys of `PROGRAMS`; all that are not large by default.
        large: also programs that take many GB of memory to make.
        record: also write the files of this machine in `RESULTS`.
        say: receives progress, a line at a time.

    Raises:
        ValueError: a device or program is not known; the known ones are listed.
        ImportError: a plug-in is not installed; says what installs it.
        RuntimeError: a program does not compile; says which, and why.
    """
    begin = time.perf_counter()
    # A TPU's plug-in in this process would hold the lock that those of the programs need.
    jax.config.update("jax_platforms", "cpu")
    named = [n for n, p in PROGRAMS.items() if (p.quick or not quick) and (large or not p.large)]
    chosen = named if programs is None else list(programs)
    for kind, given, known in (("device", devices, DEVICES), ("program", chosen, PROGRAMS)):
        for name in given:
            if name not in known:
                raise ValueError(f"unknown {kind} {name!r}; known: {', '.join(known)}")
    for device in devices:
        check_plugin(DEVICES[device])
    report = Report("devices", quick, 0.0, [])
    report.extra = {"devices": list(devices), "programs": chosen, "complete": False}
    report.rows, earlier = report.earlier(out, same=("devices", "programs"))
    done = {(row["program"], row["device"]) for row in report.rows}
    for device in devices:
        for program in chosen:
            if (program, device) in done:
                continue
            report.rows.append(_in_process(program, device))
            last = report.rows[-1]
            say(
                f"{program} on {device}: {last['kernels']} kernels, {last['bytes'] / 1e6:.1f} MB "
                f"an iteration"
            )
            report.seconds = earlier + time.perf_counter() - begin
            report.shown = [shown(row) for row in report.rows]
            report.save(out)
    report.extra["complete"] = True
    report.shown = [shown(row) for row in report.rows]
    report.save(out)
    if record:
        report.record(RESULTS)
    return report


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the line of a row in the table."""
    values = {
        **row,
        "MB read": row["bytes_read"] / 1e6,
        "MB written": row["bytes_written"] / 1e6,
        "GFLOP": row["flops"] / 1e9,
        "MB temporary": row["temp_bytes"] / 1e6,
        "custom calls": row["custom_calls"],
        "in command buffers": row["in_command_buffers"],
        "floor ms": row["floor_ms"],
        "bound by": row["bound_by"],
        "XLA's estimate ms": row["estimate_ms"],
        "XLA's cycles ms": row["cycles_ms"],
        "peer ms": row["peer_ms"],
    }
    return {key: values[key] for key in COLUMNS}


def _in_process(program: str, device: str) -> dict[str, Any]:
    """Returns the row of a program on a device; the plug-ins want variables before JAX is there."""
    job = json.dumps({"program": program, "device": device})
    command = [sys.executable, "-m", "experiments.devices", "--job", job]
    env = {**os.environ, **environment(DEVICES[device])}
    made = subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT)
    if made.returncode:
        last = made.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"{program} on {device}: {last[0]}")
    row: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return row
