"""What sharing would cost on 8 and 256 GPUs, from floors of programs and bytes that are exchanged.

Nothing here has been measured on several GPUs. A step takes the largest of three times of
`experiments/devices` for an H100, of which bytes and products are shared and launches are not, and
then exchanges sums: an all-reduce in a ring moves 2 (D - 1) / D of its bytes through the link of
each device, after a latency.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).parents[1] / "devices" / "results"


class Link(NamedTuple):
    """What connects devices; published figures, and round ones for latency.

    Attributes:
        devices: of the run.
        gigabytes: a second and direction, of each device.
        microseconds: of one collective, however small.
    """

    devices: int
    gigabytes: float
    microseconds: float


LINKS = (Link(8, 450, 10), Link(256, 50, 40))
"""NVLink 4 in one machine of eight; 400 Gb/s InfiniBand for each GPU between 32 of them."""


class Exchange(NamedTuple):
    """What devices exchange in a step.

    Attributes:
        program: its name in `experiments.devices`.
        collectives: sums.
        bytes: of all of them together.
        weak: whether larger batches exist.
    """

    program: str
    collectives: int
    bytes: int
    weak: bool = True


def modelled(exchanges: list[Exchange], floors: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows: milliseconds of a step and the efficiency, strong and weak.

    Args:
        exchanges: of each program.
        floors: rows of `experiments.devices` for an H100, by program.
    """
    rows = []
    for program, collectives, size, weak in exchanges:
        row = floors[program]
        launches = row["launches_ms"]
        shared = max(row["bytes_ms"], row["flops_ms"])
        alone = max(launches, shared)
        for link in LINKS:
            ring = 2 * (link.devices - 1) / link.devices * size / (1e6 * link.gigabytes)
            moved = collectives * link.microseconds / 1e3 + ring
            for scaling in ("strong", "weak") if weak else ("strong",):
                own = max(launches, shared / link.devices) if scaling == "strong" else alone
                ideal = alone / link.devices if scaling == "strong" else alone
                rows.append(
                    {
                        "program": program,
                        "scaling": scaling,
                        "devices": link.devices,
                        "one_device_ms": alone,
                        "exchanged_bytes": size,
                        "exchange_ms": moved,
                        "step_ms": own + moved,
                        "efficiency": ideal / (own + moved),
                    }
                )
    return rows


def recorded_floors() -> dict[str, dict[str, Any]]:
    """Returns the recorded rows for an H100, by program."""
    path = sorted(RECORDED.glob("*.json"))[-1]
    rows = json.loads(path.read_text())["rows"]
    return {row["program"]: row for row in rows if row["device"] == "h100"}
