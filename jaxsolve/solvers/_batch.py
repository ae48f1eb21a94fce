"""Many variants of one game in one compiled call.

The members of a batch share shapes; whatever differs between them (payoffs, chance weights, root
ranges, hyper-parameters) gets a leading batch axis, whatever is equal is stored once. On a CPU the
batch is worked through in chunks whose working set stays in cache; across devices the batch axis
is sharded.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxsolve.devices import AXIS, Devices, chosen, fetch, make_mesh, split
from jaxsolve.evaluate import root_values
from jaxsolve.game import Range, checked
from jaxsolve.solvers._loop import SolveState, average_policy, current_policy, init_state, run
from jaxsolve.solvers._names import load_solver
from jaxsolve.solvers._solver import Iterations, Solver
from jaxsolve.tree import Policy, PublicTree
from jaxsolve.types import Array

CACHE_BYTES = 4 << 20
"""Working set of a chunk on a CPU: 256 Leducs took 13.0, 8.1, 6.9, 6.7 and 12.9 ms an iteration in
chunks of 11, 16, 32, 64 and 128 (90 kB each; AMD EPYC, 2 cores, JAX 0.10.2)."""


@dataclasses.dataclass(frozen=True)
class BatchResult:
    """What a batched run found (B members, M measurements, n players).

    Attributes:
        iterations: int [M], where it was measured.
        exploitability: float [M, B], NashConv / n of each solver's output policy.
        values: float [B, n], expected payoffs under the last policies.
        policies: blocks [B, A, N, ...] of the solver's output policy.
        seconds: time of the iterations and measurements, compilation included.
        tree: a member tree, for names.
    """

    iterations: np.ndarray
    exploitability: np.ndarray
    values: np.ndarray
    policies: Policy
    seconds: float
    tree: PublicTree

    def policy(self, member: int) -> Policy:
        """Returns the policy of one member."""
        one = jax.tree.map(lambda x: x[member], self.policies)
        return dataclasses.replace(one, names=self.tree.names)

    def __repr__(self) -> str:
        last = self.exploitability[-1]
        return (
            f"BatchResult({len(last)} members, {self.iterations[-1]} iterations, exploitability "
            f"{last.min():.3g} to {last.max():.3g}, {self.seconds:.1f} s)"
        )


class _Spec(NamedTuple):
    """Static facts of a batch: how to put members together again, and how to cut the work.

    Attributes:
        treedef: of one member, (tree, solver).
        batched: per leaf of a member, whether members differ in it.
        wide: the members of a chunk lie along a last axis instead of being vmapped.
        single: chunks have one member each.
    """

    treedef: Any
    batched: tuple[bool, ...]
    wide: bool
    single: bool


@checked
def solve_batch(
    trees: PublicTree | Sequence[PublicTree],
    solvers: Solver | str | Sequence[Solver | str],
    *,
    iterations: Iterations,
    measure_every: Iterations | None = None,
    chunk: Annotated[int | None, Range(1)] = None,
    devices: Devices | None = None,
) -> BatchResult:
    """Solves B variants at once; a single tree or solver stands for B equal ones.

    Members that differ in numbers only (payoffs, chance, ranges, hyper-parameters) lie along the
    last axis of every array, so that each gather moves whole vectors; members whose rows differ
    or that sample (a batch of seeds) are vmapped.

    Args:
        trees: B trees of equal shape, or one.
        solvers: B solvers of one family, or one, or their names, such as "dcfr(gamma=4)";
            their hyper-parameters may differ.
        iterations: of each member.
        measure_every: iterations between measurements; only the end is measured by default.
        chunk: members worked on together per device; chosen by cache size on a CPU, all
            elsewhere.
        devices: how many share the batch, "all", or which; those of `devices.use` by default,
            and all local ones outside of it.

    Raises:
        ValueError: members differ in shape or family, counts do not match, or an argument makes
            no sense.
    """
    members = _members(trees, solvers)
    if devices is not None:
        mesh = make_mesh(devices)
    else:
        mesh = chosen() or make_mesh(jax.local_devices())
    with jax.set_mesh(mesh):
        return _solve(members, iterations, measure_every, chunk, mesh)


def _solve(
    members: list[tuple[PublicTree, Solver]],
    iterations: int,
    measure_every: int | None,
    chunk: int | None,
    mesh: Mesh,
) -> BatchResult:
    size, tree, start = len(members), members[0][0], time.perf_counter()
    if chunk is None:
        chunk = _default_chunk(tree, mesh.devices.flat[0].platform)
    chunk = max(1, min(chunk, -(-size // mesh.size)))
    padded = -(-size // (mesh.size * chunk)) * mesh.size * chunk
    stacked, shared, spec = _stack(members, padded, chunk, mesh)

    state = _init(stacked, shared, spec)
    step = measure_every or iterations
    points = [*range(step, iterations, step), iterations]
    curve, done = [], 0
    for point in points:
        counts = jnp.asarray([point - done, iterations], jnp.int32)
        state = _advance(stacked, shared, state, counts, spec)
        done = point
        policies, gap, worth = _measure(stacked, shared, state, spec)
        curve.append(_flat(gap, spec)[:size] / tree.num_players)
    return BatchResult(
        iterations=np.asarray(points),
        exploitability=np.stack(curve),
        values=_flat(worth, spec)[:size],
        policies=jax.tree.map(lambda x: _flat(x, spec)[:size], policies),
        seconds=time.perf_counter() - start,
        tree=tree,
    )


def _members(
    trees: PublicTree | Sequence[PublicTree], solvers: Solver | str | Sequence[Solver | str]
) -> list[tuple[PublicTree, Solver]]:
    many_trees = [trees] if isinstance(trees, PublicTree) else list(trees)
    listed = [solvers] if isinstance(solvers, Solver | str) else list(solvers)
    many_solvers = [load_solver(x) for x in listed]
    size = max(len(many_trees), len(many_solvers))
    for name, given in (("trees", many_trees), ("solvers", many_solvers)):
        if len(given) not in (1, size):
            raise ValueError(f"{len(given)} {name} do not pair with a batch of {size}")
    if size == 0:
        raise ValueError("an empty batch")
    pairs = [
        (many_trees[k % len(many_trees)], many_solvers[k % len(many_solvers)]) for k in range(size)
    ]
    members = [(tree, solver.bind(tree)) for tree, solver in pairs]
    first: Any = jax.tree.structure(members[0])
    shapes = [jnp.shape(x) for x in jax.tree.leaves(members[0])]
    for k, member in enumerate(members):
        if jax.tree.structure(member) != first:
            raise ValueError(
                f"members 0 and {k} of the batch are of different kinds: "
                f"{_kind(members[0])} and {_kind(member)}"
            )
        for a, b in zip(shapes, jax.tree.leaves(member), strict=True):
            if a != jnp.shape(b):
                raise ValueError(
                    f"members 0 and {k} of the batch differ in shape, {a} and {jnp.shape(b)}; "
                    "compile them with bucket=jaxsolve.tree.coarse, or in separate batches"
                )
    return members


def _kind(member: tuple[PublicTree, Solver]) -> str:
    tree, solver = member
    name = tree.names.name if tree.names is not None else "a tree"
    levels = [len(p.levels) for p in tree.players]
    return f"{name} with own levels {levels} under {solver.name}"


def _stack(
    members: list[tuple[PublicTree, Solver]], padded: int, chunk: int, mesh: Mesh
) -> tuple[list[Array], list[Array], _Spec]:
    """Splits the members' leaves into batched ones, cut in chunks, and shared ones.

    A batched leaf is [chunks, ..., chunk] if members lie along the last axis, else
    [chunks, chunk, ...].
    """
    columns = list(zip(*(jax.tree.leaves(m) for m in members), strict=True))
    differs = tuple(
        any(x is not c[0] and not np.array_equal(x, c[0]) for x in c[1:]) for c in columns
    )
    tree, solver = members[0]
    floating = solver.sampler is None and all(
        jnp.issubdtype(jnp.result_type(c[0]), jnp.floating)
        for c, d in zip(columns, differs, strict=True)
        if d
    )
    wide = floating and all(p.root_reach.ndim == 1 for p in tree.players)
    spread = NamedSharding(mesh, PartitionSpec(AXIS))
    everywhere = NamedSharding(mesh, PartitionSpec())
    stacked, shared = [], []
    for column, differ in zip(columns, differs, strict=True):
        if not differ:
            shared.append(jax.device_put(jnp.asarray(column[0]), everywhere))
            continue
        full = np.stack([np.asarray(x) for x in (*column, *(column[-1],) * (padded - len(column)))])
        cut = full.reshape(-1, chunk, *full.shape[1:])
        cut = np.moveaxis(cut, 1, -1) if wide else cut
        stacked.append(jax.device_put(cut, spread))
    # One batched leaf is always there, so that a batch of equal members still has an axis.
    stacked.append(jax.device_put(np.zeros((padded // chunk, chunk)), spread))
    return (
        stacked,
        shared,
        _Spec(jax.tree.structure(members[0]), differs, wide, chunk == 1 and not wide),
    )


def _flat(x: Array, spec: _Spec) -> Any:
    """Returns [padded, ...] of an output cut in chunks."""
    array = np.asarray(fetch(x))
    if spec.wide:
        array = np.moveaxis(array, -1, 1)
    return array.reshape(-1, *array.shape[2:])


def _member(own: list[Array], shared: list[Array], spec: _Spec) -> tuple[PublicTree, Solver]:
    """Puts one member, or the members of a chunk along a last axis, together."""
    mine, common = iter(own), iter(shared)
    leaves = [next(mine) if d else next(common) for d in spec.batched]
    tree, solver = jax.tree.unflatten(spec.treedef, leaves)
    return (_widen(tree, own[-1].shape[0]) if spec.wide else tree), solver


def _widen(tree: PublicTree, size: int) -> PublicTree:
    """Gives the players of a tree a last axis of that size."""
    players = []
    for p in tree.players:
        levels = tuple(
            tuple(dataclasses.replace(b, legal=b.legal[..., None]) for b in level)
            for level in p.levels
        )
        reach = p.root_reach if p.root_reach.ndim > 1 else p.root_reach[:, None]
        reach = jnp.broadcast_to(reach, (len(reach), size))
        players.append(dataclasses.replace(p, levels=levels, root_reach=reach))
    return tree.replace(players=tuple(players))


def _each(spec: _Spec, function: Any, shared: Any, *batched: Any) -> Any:
    """Maps a function of members over the chunks of a batch, sharded over the devices."""

    def local(*batched: Any) -> Any:
        one = functools.partial(function, shared)
        chunk = one if spec.wide else jax.vmap(one)
        if spec.single:
            return _single(one, batched)
        return jax.lax.map(lambda args: chunk(*args), batched)

    return split(local)(*batched)


def _single(function: Any, batched: Any) -> Any:
    """Maps over chunks of one member without a batch axis, which native operators would copy."""
    bare = jax.tree.map(lambda x: x.squeeze(1), batched)
    found = jax.lax.map(lambda args: function(*args), bare)
    return jax.tree.map(lambda x: x[:, None], found)


@functools.partial(jax.jit, static_argnames="spec")
def _init(stacked: list[Array], shared: list[Array], spec: _Spec) -> SolveState:
    def one(shared: list[Array], own: list[Array]) -> SolveState:
        return init_state(*_member(own, shared, spec))

    return _each(spec, one, shared, stacked)


@functools.partial(jax.jit, static_argnames="spec", donate_argnames="state")
def _advance(
    stacked: list[Array], shared: list[Array], state: SolveState, counts: Array, spec: _Spec
) -> SolveState:
    def one(common: Any, own: list[Array], state: SolveState) -> SolveState:
        leaves, (iterations, horizon) = common
        tree, solver = _member(own, leaves, spec)
        return run(tree, solver, state, iterations, horizon)

    return _each(spec, one, (shared, counts), stacked, state)


@functools.partial(jax.jit, static_argnames="spec")
def _measure(
    stacked: list[Array], shared: list[Array], state: SolveState, spec: _Spec
) -> tuple[Policy, Array, Array]:
    """Returns (policies, NashConv, values of the players [n]) of each member."""

    def one(shared: list[Array], own: list[Array], state: SolveState) -> Any:
        tree, solver = _member(own, shared, spec)
        pick = current_policy if solver.output == "current" else average_policy
        policy = pick(tree, state)
        now, best = (
            jnp.stack([x.sum(0) if spec.wide else x.sum() for x in values])
            for values in root_values(tree, policy.players)
        )
        return policy, (best - now).sum(0), now

    return _each(spec, one, shared, stacked, state)


def _default_chunk(tree: PublicTree, platform: str) -> int:
    if platform != "cpu":
        return 1 << 30
    cells = sum(x.size for x in jax.tree.leaves(tree) if jnp.issubdtype(x.dtype, jnp.floating))
    fits = CACHE_BYTES // (4 * max(cells, 1))
    return max(8, fits - fits % 16)  # whole SIMD vectors
