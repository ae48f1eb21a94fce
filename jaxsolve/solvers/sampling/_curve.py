"""Exploitability against the number of world states touched.

A sampled iteration is counted by the states its samples visit, a state once for every visit. An
exact iteration is counted by the whole game once for every player, which is what a program
touches that walks the states one by one. Neither counts the passes over the policy tables, one for
each player and iteration (`infosets` in a row), nor says how long it took: `seconds` does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.evaluate import exploitability
from jaxsolve.solvers._loop import SolveState, average_policy, current_policy, init_state, run
from jaxsolve.solvers._solver import Solver
from jaxsolve.tree import PublicTree


class NodePoint(NamedTuple):
    """One measurement.

    Attributes:
        iteration: iterations done.
        nodes: world states touched so far.
        infosets: rows of the policy tables updated so far.
        seconds: time of the iterations, without compiling and measuring.
        exploitability: of the solver's output policy, NashConv / players in the game's units.
    """

    iteration: int
    nodes: int
    infosets: int
    seconds: float
    exploitability: float


def node_curve(tree: PublicTree, solver: Solver, iterations: Sequence[int]) -> list[NodePoint]:
    """Returns measurements of one run.

    Args:
        tree: a compiled game.
        solver: sampled or exact.
        iterations: when to measure, ascending; the last is the planned number.
    """
    solver = solver.bind(tree)
    state = init_state(tree, solver)
    horizon = jnp.asarray(iterations[-1], jnp.int32)
    state = run(tree, solver, state, jnp.asarray(0, jnp.int32), horizon)
    rows, done, seconds = [], 0, 0.0
    for stop in iterations:
        start = time.perf_counter()
        state = run(tree, solver, state, jnp.asarray(stop - done, jnp.int32), horizon)
        jax.block_until_ready(state)
        seconds += time.perf_counter() - start
        done = stop
        pick = current_policy if solver.output == "current" else average_policy
        gap = float(exploitability(tree, pick(tree, state)))
        rows.append(NodePoint(done, nodes_touched(tree, state), _rows(tree) * done, seconds, gap))
    return rows


def nodes_touched(tree: PublicTree, state: SolveState) -> int:
    """Returns the world states touched so far: by the samples, or in full by exact iterations.

    Raises:
        ValueError: an exact solver's states are not known, as world states were never enumerated.
    """
    if len(state.nodes):
        return int(state.nodes[0]) + (int(state.nodes[1]) << 32)
    states = tree.info.num_states
    if states is None:
        raise ValueError("the number of world states of this tree is not known")
    return states * tree.num_players * int(state.iteration)


def _rows(tree: PublicTree) -> int:
    return sum(tree.names.num_infosets) if tree.names is not None else 0
