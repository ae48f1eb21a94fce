"""The processes of a run on several hosts: how they meet, agree, and notice that one is gone.

Everything is JAX's own: `jax.distributed` and collectives over all hosts. With one process nothing
here does anything.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

HEARTBEAT_SECONDS = 20
"""A host that was silent for so long is lost, and the others end."""


def start(timeout: int = 60) -> None:
    """Joins the processes of a run on several hosts by `jax.distributed.initialize`.

    JAX finds the coordinator, the number of processes and this process's own on clusters that it
    knows (Slurm, Open MPI, Kubernetes, Cloud TPU); elsewhere they come from the variables
    JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID.

    Args:
        timeout: seconds to wait for the other processes.

    Raises:
        ValueError: one of them is missing or not a number; says what to set.
        OSError: the coordinator, or another process, did not answer in time.
    """
    address = os.environ.get("JAX_COORDINATOR_ADDRESS")
    given = {
        name: os.environ.get(f"JAX_{name.upper()}") for name in ("num_processes", "process_id")
    }
    try:
        numbers = {name: int(text) for name, text in given.items() if text is not None}
    except ValueError:
        raise ValueError(
            f"JAX_NUM_PROCESSES={given['num_processes']} and JAX_PROCESS_ID={given['process_id']} "
            "must be whole numbers, such as 2, and 0 or 1"
        ) from None
    try:
        jax.distributed.initialize(
            address,
            numbers.get("num_processes"),
            numbers.get("process_id"),
            initialization_timeout=timeout,
            heartbeat_timeout_seconds=HEARTBEAT_SECONDS,
            shutdown_timeout_seconds=HEARTBEAT_SECONDS,
        )
    except ValueError as error:
        raise ValueError(
            f"no run of several hosts: {error} On every host set "
            "JAX_COORDINATOR_ADDRESS=HOST:PORT (of process 0), JAX_NUM_PROCESSES and JAX_PROCESS_ID"
        ) from None
    except jax.errors.JaxRuntimeError as error:
        raise OSError(
            f"process {given['process_id']} of {given['num_processes']}: no answer through the "
            f"coordinator {address} in {timeout} s; is it up, and does the network reach it? "
            f"({str(error).splitlines()[0]})"
        ) from None


def is_first() -> bool:
    """Returns whether this process is the one that writes files and shows progress."""
    return jax.process_index() == 0


def wait_for_all(name: str) -> None:
    """Waits until all hosts are here: collectives give up after 30 s, compilers take longer.

    Args:
        name: of the place.
    """
    if jax.process_count() > 1:
        from orbax.checkpoint import multihost

        multihost.get_barrier_sync_fn()(key=name, timeout_ms=3_600_000)


def agreed(number: float) -> float:
    """Returns the number of the first host, so that all decide alike."""
    if jax.process_count() == 1:
        return number
    from jax.experimental import multihost_utils

    return float(multihost_utils.broadcast_one_to_all(np.float32(number)))


@contextlib.contextmanager
def naming_lost() -> Iterator[None]:
    """Ends this process with an error that names the host that was lost in the block, if one was.

    A collective fails, or waits, as soon as a process of the run is gone. Which one is known to
    JAX's coordinator when its heartbeats have stopped for `HEARTBEAT_SECONDS`; the runtime then
    ends all others with a message that has the number of the task. So an error waits for that.

    Raises:
        OSError: a collective failed, but no host was lost.
    """
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if jax.process_count() == 1:
            raise
        here = f"process {jax.process_index()} of {jax.process_count()}"
        sys.stderr.write(
            f"{here}: another process is gone ({str(error).splitlines()[0][:200]}); JAX names it "
            f"within {2 * HEARTBEAT_SECONDS} s. Start all again with --resume\n"
        )
        sys.stderr.flush()
        time.sleep(2 * HEARTBEAT_SECONDS)
        raise OSError(f"{here}: a collective failed, and all processes live: {error}") from None


def check_same_run(facts: Mapping[str, Any]) -> None:
    """Compares versions, code and settings of all hosts before work starts.

    Args:
        facts: of the run by name; equal ones have equal `repr`.

    Raises:
        ValueError: two hosts differ; names both and what differs.
    """
    if jax.process_count() == 1:
        return
    from jax.experimental import multihost_utils

    known = {"JAX": jax.__version__, "code of jaxsolve": _code(), **facts}
    digests = [hashlib.sha256(repr(x).encode()).digest()[:8] for x in known.values()]
    # One row of fixed size, so that hosts with other facts still meet in one collective.
    row = np.zeros(16 * 8 + 64, np.uint8)
    row[: 8 * len(digests)] = np.frombuffer(b"".join(digests), np.uint8)
    name = platform.node().encode()[:64]
    row[128 : 128 + len(name)] = np.frombuffer(name, np.uint8)
    rows = np.asarray(multihost_utils.process_allgather(row))
    names = [bytes(r[128:]).rstrip(b"\0").decode(errors="replace") for r in rows]
    for other in range(1, len(rows)):
        parts = rows[[0, other], :128].reshape(2, 16, 8)
        wrong = (parts[0] != parts[1]).any(-1)
        if wrong.any():
            what = [key for key, bad in zip(known, wrong, strict=False) if bad]
            raise ValueError(
                f"process {other} on {names[other]} and process 0 on {names[0]} are not of one "
                f"run: {', '.join(what) or 'facts'} differ. Start the same code with the same "
                "settings on every host"
            )


def _code() -> str:
    """Returns a digest of this package's source."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def processors() -> int:
    """Returns how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
