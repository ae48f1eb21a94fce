"""The least time that one iteration can take on this device, and by which of three limits.

An iteration has to read every tensor of the tree once and to read and write the solver's state once
(bytes), to look up every entry of the padded lists (gathers), and to start its kernels one after
the other (launches). Each is counted exactly and priced by a loop that does only that, at the
same size, so that caches count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.bench._kernels import loop_body, read
from jaxsolve.solvers import Solver, init_state
from jaxsolve.tree import PublicTree
from jaxsolve.tree._gather import GatherSum, take

_LARGEST = 1 << 25
"""Bytes and gathers are priced at sizes up to this one."""


class Limits(NamedTuple):
    """What an iteration needs at least.

    Attributes:
        bytes: tensors of the tree, and twice the solver's state.
        gathers: numbers looked up by index.
        kernels: see `LoopBody.kernels`.
        bytes_ms: time to stream that many bytes.
        gathers_ms: time to look up that many numbers in vectors of that length.
        launches_ms: time to start that many kernels.
    """

    bytes: int
    gathers: int
    kernels: int
    bytes_ms: float
    gathers_ms: float
    launches_ms: float

    @property
    def floor_ms(self) -> float:
        """The largest of the three."""
        return max(self[3:])

    @property
    def reason(self) -> str:
        """Which of them it is."""
        times = {"bytes": self.bytes_ms, "gathers": self.gathers_ms, "launches": self.launches_ms}
        return max(times, key=lambda k: times[k])


def limits(tree: PublicTree, solver: Solver) -> Limits:
    """Returns the limits of one iteration, counted and priced on this device."""
    state = sum(x.nbytes for x in jax.tree.leaves(init_state(tree, solver)))
    size = sum(x.nbytes for x in jax.tree.leaves(tree)) + 2 * state
    gathers = count_gathers(tree)
    kernels = loop_body(tree, solver).kernels
    longest = max(p.num_sequences * p.num_hands for p in tree.players)
    return Limits(
        size,
        gathers,
        kernels,
        1e3 * size * _seconds_per_byte(size),
        1e3 * gathers * _seconds_per_gather(gathers, longest),
        1e3 * kernels * _seconds_per_kernel(),
    )


def count_gathers(tree: PublicTree) -> int:
    """Returns how many numbers one iteration looks up: leaves, children and parents."""
    total = 0
    lists = [x for x in _nodes(tree) if isinstance(x, GatherSum)]
    for player in tree.players:
        total += player.num_hands * sum(b.parent.size for b in player.blocks)
    for g in lists:
        total += max(p.num_hands for p in tree.players) * sum(i.size for i in g.index)
        total += 0 if g.order is None else g.order.size
    return total


def _nodes(tree: PublicTree) -> list[Any]:
    return jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, GatherSum))


def _seconds_per_byte(size: int) -> float:
    """Streams a vector: each pass reads and writes half of the bytes."""
    x = jnp.zeros(max(min(size, _LARGEST) // 8, 1), jnp.float32)
    return _per_pass(lambda x: x * 0.5 + 1, x) / (2 * x.nbytes)


def _seconds_per_gather(count: int, length: int) -> float:
    """Adds up numbers looked up in ascending order, the kindest one to caches."""
    count = min(count, _LARGEST)
    index = jnp.asarray(np.sort(np.random.default_rng(0).integers(0, length, count)), jnp.int32)

    def step(x: jax.Array) -> jax.Array:
        return x + take(x, index).sum() * 1e-9

    return _per_pass(step, jnp.zeros(length, jnp.float32)) / count


def _seconds_per_kernel() -> float:
    """Runs a chain of sums over eight numbers, which cannot be fused into each other."""

    def step(x: jax.Array) -> jax.Array:
        for _ in range(32):
            x = x + x.sum()
        return x

    x = jnp.zeros(8, jnp.float32)
    loop = jax.jit(_loop(step))
    kernels = read(loop.lower(x, 1).compile().as_text() or "").kernels
    return _per_pass(step, x) / kernels


def _per_pass(step: Callable[[jax.Array], jax.Array], x: jax.Array) -> float:
    """Returns seconds of one application of `step`, the fastest of a few runs of many."""
    loop = jax.jit(_loop(step))
    jax.block_until_ready(loop(x, 1))
    count, best = 1, float("inf")
    while True:
        start = time.perf_counter()
        jax.block_until_ready(loop(x, count))
        took = time.perf_counter() - start
        if took > 0.02:
            break
        count *= 2
    for _ in range(5):
        start = time.perf_counter()
        jax.block_until_ready(loop(x, count))
        best = min(best, time.perf_counter() - start)
    return best / count


def _loop(step: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array, int], jax.Array]:
    return lambda x, n: jax.lax.fori_loop(0, n, lambda _, y: step(y), x)
