"""Rivers solved inside a compiled program: the targets of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.holdem.river_net._betting import RiverTemplate, fold_form
from jaxsolve.holdem.river_net._boards import RiverBoard
from jaxsolve.solvers import Solver, average_policy, init_state, iterate
from jaxsolve.tree import Blocks, PublicTree, leaf_values, reach_of, values_of
from jaxsolve.types import Array


class RiverSolution(NamedTuple):
    """What a solved river is worth (H = 1,081 hands in order of strength).

    Attributes:
        values: float [2, H], counterfactual values of (oop, ip) under the average policies, in
            pots, half of the pot being each player's; per product of the ranges, see
            `RiverTemplate.fill`.
        exploitability: float [], half of what best responses add, in pots.
    """

    values: Array
    exploitability: Array


def solve_river(
    template: RiverTemplate,
    solver: Solver,
    board: RiverBoard,
    ranges: Array,
    stack: Array,
    *,
    iterations: int,
) -> RiverSolution:
    """Returns the solution of one river; under `jax.lax.map` on a CPU, `vmap` elsewhere.

    Args:
        template: the betting.
        solver: variant of CFR.
        board: the hands.
        ranges: float [2, H], in their order.
        stack: float [], in pots.
        iterations: of the solver, static.
    """
    tree = template.fill(board, ranges, stack)
    horizon = jnp.float32(iterations)
    state = jax.lax.fori_loop(
        0, iterations, lambda _, s: iterate(tree, solver, s, horizon), init_state(tree, solver)
    )
    policy = average_policy(tree, state).players
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    values, gains = [], []
    for i in range(2):
        now, best = _root_values(tree, i, policy[i], reach)
        values.append(now)
        gains.append(ranges[i] @ (best - now))
    pairs = ranges[0] @ fold_form(board)(ranges[1][None, None])[0, 0]
    return RiverSolution(jnp.stack(values), (gains[0] + gains[1]) / (2 * jnp.maximum(pairs, 1e-30)))


def _root_values(
    tree: PublicTree, player: int, policy: Blocks, reach: Sequence[Array]
) -> tuple[Array, Array]:
    """Returns values [H] of a player at the root: of the policy, and of a best response."""
    me = tree.players[player]
    gain = leaf_values(tree, player, reach)

    def mean(k: int, q: Array) -> Array:
        return (policy[k] * q).sum(0)

    def best(k: int, q: Array) -> Array:
        return jnp.where(me.legal[k], q, -jnp.inf).max(0)

    return values_of(me, gain, mean)[1][0], values_of(me, gain, best)[1][0]
