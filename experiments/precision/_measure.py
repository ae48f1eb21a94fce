"""One solver on one game: float64 runs and their noise, and a float32 run with three averages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

import jaxsolve as js
from experiments.convergence import compiled, exploitability64, nudged
from experiments.precision._averages import KINDS, pick, started
from jaxsolve.solvers import Solver, SolveState, average_policy, current_policy, init_state, run
from jaxsolve.tree import PublicTree


def measure(game: str, name: str, iterations: Sequence[int], others: int) -> list[dict[str, Any]]:
    """Returns a row per number of iterations.

    Args:
        game: as `games.load` takes it.
        name: of the solver, as `js.load_solver` takes it.
        iterations: each is a run of its own.
        others: float64 runs from a start that is off by 1e-7, about one rounding in
            float32, which give the noise band.
    """
    solver = js.load_solver(name)
    rows = []
    for count in iterations:
        band = [_float64(game, solver, count, seed) for seed in range(others + 1)]
        row: dict[str, Any] = {
            "game": game,
            "solver": name,
            "iterations": count,
            "float64": band[0],
            "float64_lowest": min(band),
            "float64_highest": max(band),
        }
        rows.append(row | _float32(game, solver, count))
    return rows


def costs(game: str, name: str, iterations: int, repeats: int) -> list[dict[str, Any]]:
    """Returns milliseconds an iteration with each kind of average, the least of interleaved runs.

    The loop is the library's in all three; it runs in float32.
    """
    solver = js.load_solver(name)
    least = dict.fromkeys(KINDS, float("inf"))
    with jax.enable_x64(True):
        tree = _narrow(game)
        counts = jnp.asarray(iterations, jnp.int32)
        for repeat in range(repeats + 1):  # the first one compiles
            for kind in KINDS:
                state = jax.block_until_ready(started(tree, solver, kind))
                begin = time.perf_counter()
                jax.block_until_ready(run(tree, solver, state, counts, counts))
                if repeat:
                    least[kind] = min(least[kind], time.perf_counter() - begin)
    return [
        {"game": game, "solver": name, "average": kind, "ms_per_iteration": s / iterations * 1e3}
        for kind, s in least.items()
    ]


def _float64(game: str, solver: Solver, iterations: int, seed: int) -> float:
    """Returns the exploitability of a float64 run; seed 0 starts from exactly uniform."""
    with jax.enable_x64(True):
        tree = compiled(game, "float64")
        start = nudged(tree, seed)
        counts = jnp.asarray(iterations, jnp.int32)
        state = run(tree, solver, init_state(tree, solver, start), counts, counts)
        return exploitability64(game, _output(tree, solver, state))


def _float32(game: str, solver: Solver, iterations: int) -> dict[str, Any]:
    """Returns what a float32 run reached, by average and by the precision of the measurement."""
    with jax.enable_x64(True):  # for the float64 average; the tree and the iterates are float32
        tree = _narrow(game)
        counts = jnp.asarray(iterations, jnp.int32)
        state = run(tree, solver, started(tree, solver), counts, counts)
        policies = {k: _output(tree, solver, pick(state, k)) for k in KINDS}
        measured = float(js.exploitability(tree, policies["compensated"]))
    gaps = {k: exploitability64(game, p) for k, p in policies.items()}
    averaged = solver.output == "average"
    return {
        "float32": gaps["compensated"],
        "float32_measured_in_float32": measured,
        "float32_plain_average": gaps["plain"] if averaged else None,
        "float32_float64_average": gaps["wide"] if averaged else None,
    }


def _output(tree: PublicTree, solver: Solver, state: SolveState) -> js.Policy:
    return (current_policy if solver.output == "current" else average_policy)(tree, state)


def _narrow(game: str) -> PublicTree:
    """Returns the float32 tree, which stays float32 where float64 is allowed."""
    tree = compiled(game, "float32")
    assert tree.players[0].root_reach.dtype == jnp.float32
    return tree
