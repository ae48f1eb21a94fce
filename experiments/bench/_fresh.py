"""One game in a process of its own: what a user waits for, from nothing to a policy.

`python -m experiments.bench._fresh` reads a `Job` as JSON on standard input and prints a `Fresh`
as JSON in the last line of its output.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_FIRST, _GROWTH = 16, 1.2
"""Iterations before the first measurement, and the factor to the next."""


@dataclasses.dataclass(frozen=True)
class Job:
    """What to do.

    Attributes:
        game: our game string.
        max_states: limit for the compiler.
        solver: such as cfr+.
        target: exploitability to reach, in the game's units.
        time_limit: seconds of solving after which to give up.
        started: `time.time()` when the process was started.
    """

    game: str
    max_states: int
    solver: str
    target: float
    time_limit: float
    started: float = 0.0


@dataclasses.dataclass(frozen=True)
class Fresh:
    """What it took.

    Attributes:
        states: world states, None where they are not enumerated.
        infosets: of all players.
        import_seconds: from the start of the process to the first line of work.
        build_seconds: rules to tensors.
        compile_seconds: the first state, the loop and the measurement of exploitability.
        target_seconds: from the start of the process until the target was seen to be reached,
            None where the time limit came first.
        iterations: done by then.
        ms_per_iteration: of all of them together, measurements not counted.
        tree_bytes: tensors of the tree.
        device_bytes: tensors, solver state and intermediate values of the loop.
        peak_bytes: largest resident size of the process.
        cache_entries: programs found in the compilation cache at the start.
    """

    states: int | None
    infosets: int
    import_seconds: float
    build_seconds: float
    compile_seconds: float
    target_seconds: float | None
    iterations: int
    ms_per_iteration: float
    tree_bytes: int
    device_bytes: int
    peak_bytes: int
    cache_entries: int


def cold_and_warm(job: Job) -> tuple[Fresh, Fresh]:
    """Returns the same job in a process with an empty compilation cache, then with a full one."""
    with tempfile.TemporaryDirectory() as cache:
        return in_process(job, Path(cache)), in_process(job, Path(cache))


def alone(job: Job) -> Fresh:
    """Returns a job in one process with an empty compilation cache."""
    with tempfile.TemporaryDirectory() as cache:
        return in_process(job, Path(cache))


def in_process(job: Job, cache: Path) -> Fresh:
    """Returns the outcome of a job in a new process.

    Args:
        job: what to do; `started` is filled in.
        cache: folder of compiled programs.

    Raises:
        RuntimeError: the process failed; with the end of what it wrote.
    """
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        # This process and that one share a GPU.
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    command = [sys.executable, "-m", "experiments.bench._fresh"]
    order = json.dumps(dataclasses.asdict(dataclasses.replace(job, started=time.time())))
    done = subprocess.run(
        command, input=order, capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{job.game} in a new process failed:\n{done.stderr[-2000:]}")
    return Fresh(**json.loads(done.stdout.splitlines()[-1]))


def work(job: Job) -> Fresh:
    """Returns the outcome of a job in this process."""
    import jax
    import jax.numpy as jnp

    import games
    import jaxsolve as js
    from jaxsolve.solvers import SolveState, average_policy, init_state, run

    cache = os.environ.get("JAX_COMPILATION_CACHE_DIR", "")
    entries = len(list(Path(cache).glob("*-cache"))) if cache else 0
    solver = js.load_solver(job.solver)
    begin = time.time()
    tree = js.compile(games.load(job.game), max_states=job.max_states, keep_states=False)
    jax.block_until_ready(tree)
    built = time.time()
    horizon = jnp.float32(1)

    @jax.jit
    def measure(tree: js.PublicTree, state: SolveState) -> jax.Array:
        return js.exploitability(tree, average_policy(tree, state))

    state = jax.jit(init_state)(tree, solver)
    solver = solver.bind(tree)
    loop = run.lower(tree, solver, state, jnp.int32(1), horizon).compile()
    gauge = measure.lower(tree, state).compile()
    compiled = time.time()

    done, due, reached, busy = 0, _FIRST, None, 0.0
    while time.time() - compiled < job.time_limit:
        begun = time.perf_counter()
        state = jax.block_until_ready(loop(tree, solver, state, jnp.int32(due - done), horizon))
        busy += time.perf_counter() - begun
        done, due = due, int(due * _GROWTH) + 1
        if float(gauge(tree, state)) <= job.target:
            reached = time.time() - job.started
            break
    memory = loop.memory_analysis()
    assert memory is not None
    return Fresh(
        states=tree.info.num_states,
        infosets=sum(tree.info.num_infosets),
        import_seconds=begin - job.started,
        build_seconds=built - begin,
        compile_seconds=compiled - built,
        target_seconds=reached,
        iterations=done,
        ms_per_iteration=1e3 * busy / done,
        tree_bytes=sum(x.nbytes for x in jax.tree.leaves(tree)),
        device_bytes=memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        - memory.alias_size_in_bytes
        + memory.temp_size_in_bytes,
        peak_bytes=peak_bytes(),
        cache_entries=entries,
    )


def peak_bytes() -> int:
    """Returns the largest resident size of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


if __name__ == "__main__":
    print(json.dumps(dataclasses.asdict(work(Job(**json.load(sys.stdin))))))
