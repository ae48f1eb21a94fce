"""One program for one device: what is counted in it, and the least time an iteration can take."""

from __future__ import annotations

import re
import time
from typing import Any

from experiments.devices._compile import DEVICES, Device, compile_for
from experiments.devices._hlo import Counts, count, cycles, has_loop
from experiments.devices._programs import PROGRAMS


def measure(program: str, device: str) -> dict[str, Any]:
    """Returns the row of a program on a device.

    Args:
        program: a key of `PROGRAMS`.
        device: a key of `DEVICES`.

    Raises:
        ImportError: the plug-in of the device is not installed; says what installs it.
    """
    chip = DEVICES[device]
    function, arguments = PROGRAMS[program].make(chip.platform)
    begin = time.perf_counter()
    compiled = compile_for(chip, function, arguments)
    seconds = time.perf_counter() - begin
    text = compiled.as_text() or ""
    found = count(text)
    ticks = cycles(text)
    estimate = compiled.cost_analysis()["optimal_seconds"] if chip.clock else None
    if estimate is not None and estimate < 0:  # XLA knows no time of some instruction
        estimate = None
    memory = compiled.memory_analysis()
    kinds = found.kinds
    return {
        "program": program,
        "device": device,
        "counted": "an iteration" if has_loop(text) else "all",
        "kernels": found.kernels,
        "fusions": kinds.get("fusion", 0),
        "products": kinds.get("product", 0),
        "copies": kinds.get("copy", 0),
        "collectives": kinds.get("collective", 0),
        "custom_calls": kinds.get("custom call", 0),
        "in_command_buffers": found.recorded,
        "bytes": found.read + found.written,
        "bytes_read": found.read,
        "bytes_written": found.written,
        "flops": found.flops + found.half_flops,
        "flops_16_bits": found.half_flops,
        "argument_bytes": memory.argument_size_in_bytes,
        "temp_bytes": memory.temp_size_in_bytes,
        **floor(found, chip),
        "estimate_ms": None if estimate is None else 1e3 * estimate,
        "cycles_ms": _over(ticks or 0, chip.clock if ticks else None),
        "numbers_of_64_bits": len(re.findall(r"\b(?:f64|s64|u64)\[\d", text)),
        "peer": PROGRAMS[program].peer,
        "peer_ms": PROGRAMS[program].peer_ms,
        "compile_seconds": seconds,
    }


def floor(found: Counts, chip: Device) -> dict[str, Any]:
    """Returns the milliseconds that launches, bytes and flops take at least, and their largest.

    Launches come one after the other, so they count in full; bytes and flops of one kernel overlap,
    and are compared as if those of all kernels did.
    """
    times: dict[str, float | None] = {
        "launches": _over(found.kernels * (chip.launch_us or 0), chip.launch_us and 1e6),
        "bytes": _over(found.read + found.written, chip.bandwidth),
        "flops": _over(found.half_flops, chip.half_flops),
    }
    if times["flops"] is not None:
        times["flops"] += _over(found.flops, chip.flops or chip.half_flops) or 0
    known = {name: t for name, t in times.items() if t is not None}
    most = max(known, key=lambda name: known[name]) if known else None
    return {
        **{f"{name}_ms": t for name, t in times.items()},
        "floor_ms": None if most is None else known[most],
        "bound_by": most,
    }


def _over(amount: float, rate: float | None) -> float | None:
    """Returns milliseconds."""
    return None if not rate else 1e3 * amount / rate
