"""Moving an assembled tree to the device, after saying how large it is."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path

import jax
import jax.numpy as jnp

from jaxsolve.tree._gather import float_type
from jaxsolve.tree._public_tree import PublicTree

log = logging.getLogger("jaxsolve")


def place(tree: PublicTree, name: str) -> PublicTree:
    """Returns a tree of numpy arrays as one of device arrays.

    Logs the size first (logger "jaxsolve", level INFO).

    Raises:
        MemoryError: the device has less memory free; says how much is needed.
    """
    sequences = sum(p.num_sequences * p.num_hands for p in tree.players)
    item = float_type().itemsize
    tensors = sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree))
    solver = 8 * sequences * item  # regrets, policy, reach, mean and its error, temporaries
    log.info(
        "%s: %s sequences; tensors take %.2f MiB, a solver about %.2f MiB more",
        name,
        f"{sequences:,}",
        tensors / 2**20,
        solver / 2**20,
    )
    free = free_bytes()
    if free is not None and tensors + solver > free:
        raise MemoryError(
            f"{name} needs {(tensors + solver) / 2**30:.2f} GiB on "
            f"{jax.local_devices()[0].device_kind}, which has {free / 2**30:.2f} GiB free. Choose "
            "smaller parameters, or a device with more memory."
        )
    return jax.tree.map(jnp.asarray, tree)


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
