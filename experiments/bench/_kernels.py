"""What one iteration is on the device, read from the optimised program.

A GPU runs one kernel per instruction of the loop body, a few microseconds each whatever it does, so
small games are limited by how many there are. The same holds on a CPU with tenths of microseconds.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import jax.numpy as jnp

from jaxsolve.solvers import Solver, init_state, run
from jaxsolve.tree import PublicTree

_FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
"""Instructions that run nothing."""

_TRANSFERS = {"infeed", "outfeed", "send", "recv"}

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*?\) -> .*?\{\n(.*?)^\}", re.M | re.S)
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([a-z][\w\-]*)\(", re.M)
_CALLED = re.compile(r"(?:calls|to_apply|body|condition)=%?([\w.\-]+)")
_HOST = re.compile(r'custom_call_target="[^"]*(?:callback|host)[^"]*"', re.I)


class LoopBody(NamedTuple):
    """The instructions of one iteration.

    Attributes:
        kinds: how often each kind of instruction that runs something occurs.
        inside: how often each kind occurs in the body or in anything it calls, fusions included.
        host: number of calls back to the host.
    """

    kinds: dict[str, int]
    inside: dict[str, int]
    host: int

    @property
    def kernels(self) -> int:
        """Instructions that run something, copies of loop variables included."""
        return sum(self.kinds.values())

    @property
    def scatters(self) -> int:
        """Scatters, fused or not."""
        return self.inside.get("scatter", 0)

    @property
    def transfers(self) -> int:
        """Exchanges with the host, callbacks included."""
        return self.host + sum(self.inside.get(kind, 0) for kind in _TRANSFERS)


def loop_body(tree: PublicTree, solver: Solver) -> LoopBody:
    """Returns what one iteration of a solver on a tree compiles to on this device."""
    state = init_state(tree, solver)
    solver = solver.bind(tree)
    compiled = run.lower(tree, solver, state, jnp.int32(1), jnp.float32(1)).compile()
    return read(compiled.as_text() or "")


def read(text: str) -> LoopBody:
    """Returns the body of the longest loop of an optimised HLO module.

    Raises:
        ValueError: the module has no loop.
    """
    computations = dict(_COMPUTATION.findall(text))
    bodies = re.findall(r" while\(.*?body=%?([\w.\-]+)", text)
    if not bodies:
        raise ValueError("the compiled program has no loop")
    name = max(bodies, key=lambda b: len(computations[b]))
    kinds: Counter[str] = Counter()
    _count(computations, name, kinds)
    reachable = _reachable(computations, name)
    inside: Counter[str] = Counter()
    for part in reachable:
        inside.update(_INSTRUCTION.findall(computations[part]))
    host = sum(len(_HOST.findall(computations[part])) for part in reachable)
    return LoopBody(dict(kinds), dict(inside), host)


def _count(computations: dict[str, str], name: str, kinds: Counter[str]) -> None:
    """Counts the kernels of a computation; a call (of recorded launches, say) by its content."""
    for line in computations[name].splitlines():
        found = _INSTRUCTION.match(line)
        if not found or found[1] in _FREE or found[1].endswith("-done"):
            continue
        called = _CALLED.findall(line)
        if found[1] == "call" and called:
            for part in called:
                _count(computations, part, kinds)
        else:
            kinds[found[1].removesuffix("-start")] += 1


def _reachable(computations: dict[str, str], name: str) -> set[str]:
    found, todo = set(), [name]
    while todo:
        part = todo.pop()
        if part not in found and part in computations:
            found.add(part)
            todo += _CALLED.findall(computations[part])
    return found
