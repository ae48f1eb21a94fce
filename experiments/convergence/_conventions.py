"""Which convention explains that published figures differ from ours: the candidates, each run.

Two implementations of one algorithm may differ in who updates first, in whether an iteration's
policy enters the average before or after its update, in counting the discount from t or t - 1, and
in the order of floating-point sums. The last is no convention, but CFR amplifies it: each
candidate is therefore run from several starts that differ by a rounding, and its spread is given.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

import jaxsolve as js
from experiments.convergence._measure import compiled, exploitability64
from jaxsolve.regret import Step, normalise
from jaxsolve.solvers import Solver, SolveState, average_policy, init_state
from jaxsolve.tree import PublicTree
from jaxsolve.tree._public_tree import Blocks, leaf_values, reach_of, values_of
from jaxsolve.types import Array

NUDGE = 1e-7
"""Relative change of the starting policy: about one rounding in float32."""

CONVENTIONS: dict[str, dict[str, Any]] = {
    "ours": {},
    "player 1 updates first": {"order": (1, 0)},
    "averaged after the update": {"late": True},
    "discount counted from t": {"shift": 1},
    "simultaneous": {"alternating": False},
    "an iteration updates one player": {"share": 2},
}

SCHEDULED = {"weight exponent falls to 0": {"slope": 15.0}}
"""Of HS-DCFR(15) only: gamma = 15 - 15 t/n, where the schedule as we know it has 15 - 5 t/n."""

PUBLISHED = (
    ("dcfr", 1.80e-4),
    ("hs-dcfr(15)", 1.34e-4),
)
"""Leduc, 1,000 alternating iterations (Zhang, McAleer & Sandholm)."""


def conventions(
    starts: int,
    iterations: int = 1_000,
    *,
    game: str = "leduc",
    published: Sequence[tuple[str, float]] = PUBLISHED,
) -> list[dict[str, Any]]:
    """Returns a row per published figure and convention: least, median and largest of the starts.

    Args:
        starts: runs of each, all but the first from a start off by `NUDGE`.
        iterations: of each run.
        game: as `games.load` takes it.
        published: solvers and their published exploitability.
    """
    rows = []
    for name, figure in published:
        candidates = CONVENTIONS | (SCHEDULED if name == "hs-dcfr(15)" else {})
        for convention, options in candidates.items():
            gaps = sorted(_gap(game, name, iterations, k, **options) for k in range(starts))
            rows.append(
                {
                    "game": game,
                    "solver": name,
                    "iterations": iterations,
                    "convention": convention,
                    "starts": starts,
                    "lowest": gaps[0],
                    "median": statistics.median(gaps),
                    "highest": gaps[-1],
                    "exploitability_paper": figure,
                }
            )
    return rows


def nudged(tree: PublicTree, seed: int) -> js.Policy:
    """Returns the uniform policy, off by `NUDGE` unless seed is 0."""
    uniform = js.uniform_policy(tree)
    if seed == 0:
        return uniform
    random = np.random.default_rng(seed)
    players = tuple(
        tuple(
            normalise(p * (1 + NUDGE * random.standard_normal(p.shape)), legal)
            for p, legal in zip(blocks, player.legal, strict=True)
        )
        for blocks, player in zip(uniform.players, tree.players, strict=True)
    )
    return js.Policy(players)


def _gap(
    game: str,
    name: str,
    iterations: int,
    seed: int,
    *,
    order: tuple[int, ...] = (0, 1),
    late: bool = False,
    shift: int = 0,
    alternating: bool = True,
    share: int = 1,
    slope: float | None = None,
) -> float:
    with jax.enable_x64(True):
        tree = compiled(game, "float64")
        solver = js.load_solver(name, simultaneous=not alternating)
        if slope is not None:
            solver = dataclasses.replace(solver, decay=Partial(_falling, 15.0, slope))
        state = init_state(tree, solver, nudged(tree, seed))
        state = _run(tree, solver, state, iterations // share, order=order, late=late, shift=shift)
        return exploitability64(game, average_policy(tree, state))


def _mean(policy: Blocks) -> Callable[[int, Array], Array]:
    return lambda k, q: (policy[k] * q).sum(0)


def _falling(start: float, slope: float, step: Step) -> Array:
    return ((step.t - 1) / step.t) ** (start - slope * (step.t / step.horizon).clip(0, 1))


@functools.partial(jax.jit, static_argnames=("order", "late", "shift"))
def _run(
    tree: PublicTree,
    solver: Solver,
    state: SolveState,
    iterations: Array,
    *,
    order: tuple[int, ...],
    late: bool,
    shift: int,
) -> SolveState:
    """Runs iterations as the library does, but for the conventions."""

    def iterate(_: Array, state: SolveState) -> SolveState:
        dtype = tree.players[0].root_reach.dtype
        t = (state.iteration + 1).astype(dtype)
        horizon = jnp.asarray(iterations, dtype)
        minimizer, policy, reach = list(state.minimizer), list(state.policy), list(state.reach)
        for i in order:
            player = tree.players[i]
            seen = reach if solver.alternating else state.reach
            gain = leaf_values(tree, i, seen)
            values, _ = values_of(player, gain, _mean(policy[i]))
            new = [
                solver.minimizer.update(s, Step(t + shift, horizon), q, p, legal)
                for s, q, p, legal in zip(
                    minimizer[i], values, policy[i], player.legal, strict=True
                )
            ]
            minimizer[i] = tuple(s for s, _ in new)
            policy[i] = tuple(p for _, p in new)
            reach[i] = reach_of(player, policy[i])
        decay = jnp.asarray(solver.decay(Step(t, horizon)), dtype)
        added = reach if late else state.reach
        average = tuple(m.add(r, decay) for m, r in zip(state.average, added, strict=True))
        return SolveState(
            state.iteration + 1, tuple(minimizer), tuple(policy), tuple(reach), average
        )

    return jax.lax.fori_loop(0, iterations, iterate, state)
