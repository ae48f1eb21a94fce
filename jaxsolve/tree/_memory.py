"""How much memory a tree and a solver on it take, and the refusal of what does not fit.

This is an estimate from sizes alone, before anything is allocated and before a solver is chosen.
`jaxsolve.solvers.memory` counts a chosen solver's arrays one by one.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

import jax

from jaxsolve.tree._gather import float_type

log = logging.getLogger("jaxsolve")

SOLVER_ARRAYS = 9
"""Arrays [S, H] that a run holds: regrets, policy, reach, mean and its rounding error, and
intermediate values (four of them in hold'em as XLA of JAX 0.10.2 allocates them)."""


def run_bytes(entries: int, *, tensors: int = 0) -> int:
    """Returns the bytes that a tree and a solver on it take on a device.

    Args:
        entries: S x H, sequences times hands, of all players together.
        tensors: bytes of the tree's own arrays.
    """
    return tensors + SOLVER_ARRAYS * entries * int(float_type().itemsize)


def check_fits(name: str, needed: int, *, what: str, instead: str) -> None:
    """Logs how much something needs (logger "jaxsolve", level INFO) and refuses what is too large.

    Args:
        name: what needs the memory.
        needed: bytes.
        what: its size in words, for the message.
        instead: what to do where it does not fit, a sentence.

    Raises:
        MemoryError: the first local device has less memory free.
    """
    log.info("%s needs about %.2f MiB (%s)", name, needed / 2**20, what)
    free = free_bytes()
    if free is not None and needed > free:
        device = jax.local_devices()[0].device_kind
        raise MemoryError(
            f"{name} needs about {needed / 2**30:.2f} GiB ({what}) on {device}, which has "
            f"{free / 2**30:.2f} GiB free. {instead}"
        )


def free_bytes() -> int | None:
    """Returns the free memory of the first local device, None where it cannot be told."""
    device = jax.local_devices()[0]
    if device.platform == "cpu":
        with contextlib.suppress(OSError):
            for line in Path("/proc/meminfo").read_text().splitlines():
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return None
    stats = device.memory_stats() or {}
    if "bytes_limit" not in stats:
        return None
    return int(stats["bytes_limit"]) - int(stats.get("bytes_in_use", 0))
