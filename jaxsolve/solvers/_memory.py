"""How much memory a run of one solver takes, part by part, before it is started.

`jaxsolve.tree.run_bytes` estimates the same from sizes alone. Here tensors and solver state follow
from shapes. Intermediate values are XLA's decision, so they are read from its buffer assignment of
the programs that `solve` runs: compiling allocates none of them, and with the persistent cache of
compiled programs on, the run then finds its loop there.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate import expected_values, nash_conv
from jaxsolve.solvers._loop import SolveState, average_policy, current_policy, init_state, run
from jaxsolve.solvers._solver import Solver
from jaxsolve.tree import CompiledInfo, ListedInfo, PublicTree, TreeInfo
from jaxsolve.types import Array


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes that a run needs.

    Attributes:
        tree: tensors of the tree by part.
        state: arrays of the solver by part.
        iterating: intermediate values of the loop.
        measuring: intermediate values of an exploitability measurement, taken between two loops.
        host: tables on the host by part.
        process: resident size of this process when its peak is expected, None where the system
            does not tell. On a CPU the tensors are part of it.
    """

    tree: dict[str, int]
    state: dict[str, int]
    iterating: int
    measuring: int
    host: dict[str, int]
    process: int | None

    @property
    def device(self) -> int:
        """Peak on the device: tensors, state, and the larger set of intermediate values."""
        return (
            sum(self.tree.values()) + sum(self.state.values()) + max(self.iterating, self.measuring)
        )

    def rows(self) -> list[tuple[str, str, int]]:
        """Returns (where, what, bytes) of every part and of the peaks."""
        out = [("tree", part, size) for part, size in self.tree.items()]
        out += [("solver", part, size) for part, size in self.state.items()]
        out.append(("intermediate", "iterations", self.iterating))
        out.append(("intermediate", "measurements", self.measuring))
        out.append(("peak", "device", self.device))
        out += [("host", part, size) for part, size in self.host.items()]
        if self.process is not None:
            out.append(("peak", "process", self.process))
        return out


def memory(tree: PublicTree, solver: Solver) -> Memory:
    """Returns what `solve(tree, solver)` needs, without allocating any of it.

    Args:
        tree: the game, whose own tensors are there already.
        solver: the variant.
    """
    state: SolveState = jax.eval_shape(init_state, tree, solver)
    count = jax.ShapeDtypeStruct((), jnp.int32)
    loop = run.lower(tree, solver.bind(tree), state, count, count).compile()
    gauge = _measure.lower(tree, solver.output, state).compile()
    parts = {
        "regrets": _bytes(state.minimizer),
        "policy": _bytes(state.policy),
        "reach": _bytes(state.reach),
        "average": _bytes(state.average),
    }
    parts["other"] = _bytes(state) - sum(parts.values())
    iterating, measuring = _temporary(loop), _temporary(gauge)
    grows = sum(parts.values()) + max(iterating, measuring)
    return Memory(
        tree={
            "payoff lists": _bytes(tree.leaves),
            "children lists": _bytes([p.children for p in tree.players]),
            "parents": _bytes([b.parent for p in tree.players for b in p.blocks]),
            "legal actions": _bytes([b.legal for p in tree.players for b in p.blocks]),
            "root reach": _bytes([p.root_reach for p in tree.players]),
        },
        state=parts,
        iterating=iterating,
        measuring=measuring,
        host=_host(tree.names),
        process=_process(grows if jax.default_backend() == "cpu" else 0),
    )


@functools.partial(jax.jit, static_argnames="output")
def _measure(tree: PublicTree, output: str, state: SolveState) -> tuple[Array, Array]:
    """As `solve` measures: (NashConv, values [n])."""
    policy = (current_policy if output == "current" else average_policy)(tree, state)
    return nash_conv(tree, policy), expected_values(tree, policy)


def _temporary(program: Any) -> int:
    """Returns the bytes that a compiled program allocates beside its arguments.

    An output that takes the place of a donated argument is no allocation.
    """
    sizes = program.memory_analysis()
    if sizes is None:  # a backend that does not tell
        return 0
    new = max(sizes.output_size_in_bytes - sizes.alias_size_in_bytes, 0)
    return int(sizes.temp_size_in_bytes + new)


def _bytes(tree: Any) -> int:
    return sum(int(np.prod(x.shape)) * x.dtype.itemsize for x in jax.tree.leaves(tree))


def _host(info: TreeInfo | None) -> dict[str, int]:
    """Returns the bytes of the tables on the host; one that several share counts once."""
    if info is None:
        return {}
    seen: set[int] = set()
    states = info.states if isinstance(info, ListedInfo) else None
    form = info.form if isinstance(info, CompiledInfo) else None
    return {
        "world states": _tables(states, seen),
        "sequence form": _tables(form, seen),
        "infosets": _tables(info.players, seen),
    }


def _tables(value: Any, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        base = value if value.base is None else value.base
        if base is not value and id(base) in seen:
            return 0
        seen.add(id(base))
        return value.nbytes
    if isinstance(value, (tuple, list)):
        return sum(_tables(v, seen) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return sum(_tables(getattr(value, f.name), seen) for f in fields if f.name != "game")
    return 0


def _process(grows: int) -> int | None:
    """Returns the larger of this process's peak so far and its size after growing."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak
    return max(peak, pages * resource.getpagesize() + grows)
