"""Solving a forest of subgames: all at once by CFR, or one linear program after the other."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate import behaviour_of, max_min
from jaxsolve.solvers import (
    Solver,
    SolveState,
    average_policy,
    current_policy,
    init_state,
    load_solver,
    run,
)
from jaxsolve.subgame._floor import floored, with_floor
from jaxsolve.subgame._forest import Forest, owners
from jaxsolve.tree import (
    Blocks,
    DecisionRows,
    PlayerTree,
    PublicTree,
    SequenceForm,
    SequenceLayout,
    assemble,
    leaf_values,
    reach_of,
    values_of,
)
from jaxsolve.types import Array

LP = "lp"

SHRINK_CELLS = 200_000_000
"""Payoff entries times iterations after which unfinished subgames may get a program of their own.

About the price of compiling it: 3 s at 15 ns an entry (measured on 2 cores, JAX 0.10.2).
"""


class ForestSolution(NamedTuple):
    """Strategies of the player who re-solves (seat 0) in every subgame of a forest.

    Attributes:
        behaviour: float64 [C].
        gap: float64 [B], upper less lower bound of the value of each subgame, in the game's units:
            what a better strategy could still gain. 0 for the linear program.
        iterations: of CFR.
        seconds: compilation included.
    """

    behaviour: np.ndarray
    gap: np.ndarray
    iterations: int
    seconds: float


def solve_forest(
    form: SequenceForm,
    solver: str | Solver,
    *,
    floor: np.ndarray | None = None,
    unit: np.ndarray | None = None,
    target: float = 1e-6,
    iterations: int = 20_000,
    measure_every: int = 200,
    rng: np.random.Generator | None = None,
    method: str = "highs",
) -> ForestSolution:
    """Returns solutions of all subgames of a forest.

    Args:
        form: the forest, the re-solving player in seat 0.
        solver: "lp", or a variant of CFR or its name.
        floor: float64 [C], the least probability of each action of seat 0.
        unit: float64 [B], payoffs of each subgame per payoff of the game; 1 by default.
        target: CFR stops once the gap of every subgame is at or below this. Of the average and the
            current strategies that were measured, the best of each subgame is kept.
        iterations: at most so many of CFR.
        measure_every: iterations between two looks at the gaps.
        rng: shuffles each linear program; see `max_min`.
        method: of the linear program.
    """
    begin = time.perf_counter()
    if solver == LP:
        behaviour = _by_lp(form, floor, rng, method)
        gap = np.zeros(form.rows[0].roots)
        return ForestSolution(behaviour, gap, 0, time.perf_counter() - begin)
    variant = load_solver(solver)
    unit = np.ones(form.rows[0].roots) if unit is None else unit
    return _by_cfr(form, variant, floor, unit, target, iterations, measure_every, begin)


def _by_cfr(
    form: SequenceForm,
    solver: Solver,
    floor: np.ndarray | None,
    unit: np.ndarray,
    target: float,
    iterations: int,
    measure_every: int,
    begin: float,
) -> ForestSolution:
    """Runs all subgames, then those that are not done yet, in a smaller forest, and so on.

    A few subgames may need a hundred times the iterations of the others.
    """
    solver = dataclasses.replace(solver, minimizer=floored(solver.minimizer))
    forest = Forest.of(form)
    best = np.zeros(len(forest.owner[0]) - forest.count)
    gap, left, done = np.full(forest.count, np.inf), np.arange(forest.count), 0
    while len(left) and done < iterations:
        part, entries = forest.take(left)
        low = None if floor is None else floor[entries]
        sizes = np.bincount(owners(part.rows[0])[part.sequence[:, 0]], minlength=len(left))
        stop = functools.partial(_smaller, sizes, target)
        behaviour, gaps, count = _run(
            part, solver, low, unit[left], iterations - done, measure_every, stop, target
        )
        best[entries], gap[left], done = behaviour, gaps, done + count
        left = left[gaps > target]
    return ForestSolution(best, gap, done, time.perf_counter() - begin)


def _smaller(sizes: np.ndarray, target: float, done: int, gap: np.ndarray) -> bool:
    """Returns whether it pays to compile a program for the unfinished subgames alone.

    Args:
        sizes: int64 [B], payoff entries of each subgame.
        target: a subgame is finished at this gap.
        done: iterations so far.
        gap: float64 [B].
    """
    cells = int(sizes.sum())
    return cells * done >= SHRINK_CELLS and 4 * int(sizes[gap > target].sum()) <= cells


def _run(
    form: SequenceForm,
    solver: Solver,
    floor: np.ndarray | None,
    unit: np.ndarray,
    iterations: int,
    measure_every: int,
    stop: Callable[[int, np.ndarray], bool],
    target: float,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Returns (float64 [C] strategies of seat 0, float64 [B] gaps, iterations done)."""
    host, where = assemble(form)
    tree: PublicTree = jax.device_put(host)
    low = tuple(
        _spread(player, where[i], floor if i == 0 else None)
        for i, player in enumerate(tree.players)
    )
    state = _start(tree, solver, low)
    horizon, done = jnp.asarray(iterations, jnp.int32), 0
    rows = form.rows[0]
    owner = owners(rows)[rows.roots :]
    worth, bound = np.full(rows.roots, -np.inf), np.full(rows.roots, np.inf)
    best = np.zeros(len(owner))
    while True:
        count = min(measure_every, iterations - done)
        state = run(tree, solver, state, jnp.asarray(count, jnp.int32), horizon)
        done += count
        blocks, *bounds = _measure(tree, _public(state), low)
        mine = np.concatenate([np.asarray(b, np.float64).reshape(2, -1) for b in blocks], 1)
        for flat, lower, upper in zip(mine, *(np.asarray(b) for b in bounds), strict=True):
            found = _normalised(rows, flat[where[0].sequence[rows.roots :] - rows.roots])
            better = lower > worth
            best = np.where(better[owner], found, best)
            worth, bound = np.where(better, lower, worth), np.minimum(bound, upper)
        gap = np.maximum(bound - worth, 0) / unit
        if not np.isfinite(gap).all():
            raise FloatingPointError("CFR on a subgame left the finite numbers")
        if done >= iterations or (gap <= target).all() or stop(done, gap):
            return best, gap, done


def _public(state: SolveState) -> SolveState:
    return state._replace(minimizer=(), nodes=())


def _spread(player: PlayerTree, where: SequenceLayout, floor: np.ndarray | None) -> Blocks:
    """Returns a floor as blocks [A, N]."""
    flat = np.zeros(player.num_sequences, player.root_reach.dtype)
    if floor is not None:
        flat[where.sequence[len(where.sequence) - len(floor) :]] = floor
    flat, out = flat[len(player.root_reach) :], []
    for legal in player.legal:
        out.append(jnp.asarray(flat[: legal.size].reshape(legal.shape)))
        flat = flat[legal.size :]
    return tuple(out)


@jax.jit
def _start(tree: PublicTree, solver: Solver, low: tuple[Blocks, ...]) -> SolveState:
    state = init_state(tree, solver)
    minimizer = tuple(
        tuple(with_floor(s, f) for s, f in zip(states, floors, strict=True))
        for states, floors in zip(state.minimizer, low, strict=True)
    )
    return jax.tree.map(jnp.copy, state._replace(minimizer=minimizer))


@jax.jit
def _measure(
    tree: PublicTree, state: SolveState, low: tuple[Blocks, ...]
) -> tuple[Blocks, Array, Array]:
    """Returns, of the average and of the current policy, what brackets the values of subgames.

    Returns:
        (blocks [2, A, N] of seat 0, float [2, B] what they are worth against a best response,
        float [2, B] what seat 0 can get against seat 1).
    """

    def one(players: tuple[Blocks, ...]) -> tuple[Blocks, Array, Array]:
        reach = [reach_of(p, b) for p, b in zip(tree.players, players, strict=True)]
        best = []
        for i, player in enumerate(tree.players):
            gain = leaf_values(tree, i, reach)
            best.append(values_of(player, gain, _best(player.legal, low[i]))[1])
        return players[0], -best[1], best[0]

    both = average_policy(tree, state).players, current_policy(tree, state).players
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *both)
    return jax.lax.map(one, stacked)  # one after the other: half the program


def _best(legal: Blocks, low: Blocks) -> Callable[[int, Array], Array]:
    """Returns the row value of a best response above a floor."""

    def row_value(k: int, q: Array) -> Array:
        top = jnp.where(legal[k], q, -jnp.inf).max(0)
        top = jnp.where(legal[k].any(0), top, 0)
        return (low[k] * q).sum(0) + (1 - low[k].sum(0)) * top

    return row_value


def _by_lp(
    form: SequenceForm,
    floor: np.ndarray | None,
    rng: np.random.Generator | None,
    method: str,
) -> np.ndarray:
    forest, out = Forest.of(form), np.zeros(len(form.rows[0].action))
    for b in range(forest.count):
        one, entries = forest.take(np.array([b]))
        low = None if floor is None else floor[entries]
        found = max_min(one, floor=low, rng=rng, method=method)
        out[entries] = behaviour_of(one.rows[0], found.plan)
    return out


def _normalised(rows: DecisionRows, behaviour: np.ndarray) -> np.ndarray:
    """Returns probabilities [C] that sum to 1 in float64."""
    behaviour = np.maximum(behaviour, 0)
    total = np.bincount(rows.row_of, behaviour, rows.num_rows)
    return behaviour / total[rows.row_of]
