"""Running one cell: every row is a run of its own, measured in float64."""

from __future__ import annotations

import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from experiments.convergence._cells import Cell
from jaxsolve.regret import normalise
from jaxsolve.solvers import Solver, average_policy, current_policy, init_state, run


def measure(cell: Cell) -> list[dict[str, Any]]:
    """Returns a row per payoff scale, number of iterations and plan."""
    rows: list[dict[str, Any]] = []
    with jax.enable_x64(cell.dtype == "float64"):
        tree = compiled(cell.game, cell.dtype)
        solver = js.load_solver(cell.solver, simultaneous=cell.updates == "simultaneous")
        for iterations in cell.iterations:
            for plan in cell.plans:
                planned = int(iterations * plan)
                scales = cell.scales if plan == 1 else (1.0,)
                alone = len(scales) == 1
                policies, seconds = (
                    _alone(tree, solver, iterations, planned)
                    if alone
                    else _together(tree, solver, iterations, scales)
                )
                for scale, policy in zip(scales, policies, strict=True):
                    rows.append(
                        {
                            "game": cell.game,
                            "solver": cell.solver,
                            "updates": cell.updates,
                            "dtype": cell.dtype,
                            "payoff_scale": scale,
                            "iterations": iterations,
                            "planned": planned,
                            "exploitability": exploitability64(cell.game, policy),
                            "seconds": round(seconds, 6),
                        }
                    )
    return rows


def exploitability64(game: str, policy: js.Policy) -> float:
    """Returns the exploitability of a policy in the game's own units, computed in float64.

    Probabilities are normalised again after the cast: float32 rows sum to 1 only to 1e-7, which
    would count as exploitability.
    """
    with jax.enable_x64(True):
        tree = compiled(game, "float64")
        players = tuple(
            tuple(
                normalise(jnp.asarray(np.asarray(p, np.float64)), legal)
                for p, legal in zip(blocks, player.legal, strict=True)
            )
            for blocks, player in zip(policy.players, tree.players, strict=True)
        )
        return float(js.exploitability(tree, js.Policy(players)))


@functools.lru_cache(maxsize=4)
def compiled(game: str, dtype: str) -> js.PublicTree:
    """Returns the tree of a game in that precision."""
    with jax.enable_x64(dtype == "float64"):
        return js.compile(games.load(game), keep_states=False)


def scaled(tree: js.PublicTree, scale: float) -> js.PublicTree:
    """Returns the game with payoffs multiplied by `scale`."""
    return tree.replace(leaves=tuple(leaf.with_scale(scale) for leaf in tree.leaves))


def scale_free(game: str, name: str, iterations: int) -> bool:
    """Returns whether a run is bit for bit the same with payoffs times 8 and times 64.

    Powers of two change no rounding, so that a difference is the algorithm's own.
    """
    tree, solver = compiled(game, "float32"), js.load_solver(name)
    policies = [
        policy_of(scaled(tree, c), solver, iterations, iterations) for c in (1.0, 8.0, 64.0)
    ]
    first, *others = (jax.tree.leaves(p) for p in policies)
    return all(np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True))


def policy_of(tree: js.PublicTree, solver: Solver, iterations: int, planned: int) -> js.Policy:
    """Returns the policy that a solver stands for after a run."""
    counts = jnp.asarray(iterations, jnp.int32), jnp.asarray(planned, jnp.int32)
    state = run(tree, solver, init_state(tree, solver), *counts)
    pick = current_policy if solver.output == "current" else average_policy
    return jax.block_until_ready(pick(tree, state))


def _alone(
    tree: js.PublicTree, solver: Solver, iterations: int, planned: int
) -> tuple[list[js.Policy], float]:
    policy_of(tree, solver, 0, planned)  # compiles
    start = time.perf_counter()
    policy = policy_of(tree, solver, iterations, planned)
    return [policy], time.perf_counter() - start


def _together(
    tree: js.PublicTree, solver: Solver, iterations: int, scales: tuple[float, ...]
) -> tuple[list[js.Policy], float]:
    """Returns a policy per scale from one batched call, and the time of one member."""
    trees = [scaled(tree, scale) for scale in scales]
    js.solve_batch(trees, solver, iterations=1)  # compiles
    batch = js.solve_batch(trees, solver, iterations=iterations)
    return [batch.policy(k) for k in range(len(scales))], batch.seconds / len(scales)
