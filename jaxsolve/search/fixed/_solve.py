"""Solving subgames from beliefs, with or without the constraint that makes re-solving safe.

The constraint is the gadget of `search.resolving`. Differs from Student of Games (Schmid et al.
2023) in the search itself: the tree goes to the depth limit from the start, and the minimizer, the
order of updates and the averaging are those of any solver. A search from an earlier public state
than the current one keeps the branches that were not taken with all that is above the depth limit,
where the paper makes leaves of them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.regret import Step, normalise
from jaxsolve.search.fixed._subgames import GadgetLeaf, Nodes, Subgame, Subgames, with_value
from jaxsolve.search.resolving import Gadget, no_gadget, root_reach
from jaxsolve.solvers import Solver, SolveState, average_policy, init_state, iterate
from jaxsolve.subgame import floored, with_floor
from jaxsolve.tree import (
    Blocks,
    Policy,
    PublicTree,
    join_blocks,
    leaf_values,
    reach_of,
    take,
    values_of,
)
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, ValueLeaf


class Solution(NamedTuple):
    """A solved subgame (S sequences, H hands).

    Attributes:
        reach: per player, float [S, H], own reach under the average policy.
        values: per player, float [S, H], counterfactual values of the sequences, both players
            following their average policies, or means over the iterations.
        sampled: per player, float [S, H], own reach under the policy of one iteration.
        nodes: the subgame's public nodes.
    """

    reach: tuple[Array, Array]
    values: tuple[Array, Array]
    sampled: tuple[Array, Array]
    nodes: Nodes

    def policy(self, node: Array) -> Array:
        """Returns float [A, H], the average policy of whoever acts at a node; uniform if unreached.

        Actions are numbered by their place among the legal ones.
        """
        return policy_at(self.nodes, self.reach, node)

    def range_at(self, player: int, node: Array) -> Array:
        """Returns float [H], the own reach of a player at a node."""
        return take(self.reach[player], self.nodes.at[player, node])

    def value_at(self, player: int, node: Array) -> Array:
        """Returns float [H], counterfactual values at a node in its own units.

        Right at the root, at the limit and where the player does not act; chance moves since the
        root are divided out.
        """
        factor = self.nodes.factor[node]
        safe = jnp.where(factor > 0, factor, 1)
        return take(self.values[player], self.nodes.at[player, node]) / safe


def policy_at(nodes: Nodes, reach: tuple[Array, Array], node: Array) -> Array:
    """Returns float [A, H], the policy at a node that own reaches [S, H] imply."""
    own = nodes.own[node]
    chosen = jnp.where(nodes.actor[node] == 1, take(reach[1], own), take(reach[0], own))
    legal = (own > 0)[:, None]
    return normalise(jnp.where(legal, chosen, 0), legal)


def solve_belief(
    games: Subgames,
    value: ValueFunction | None,
    solver: Solver,
    subgame_class: Array,
    ranges: Array,
    gadget: Gadget | None = None,
    *,
    iterations: int,
    key: PRNGKey | None = None,
    stop: Array | None = None,
    mean_values: bool = False,
) -> Solution:
    """Returns the solution of one subgame; vmap it for a batch.

    Args:
        games: subgames.
        value: worth of leaves at the depth limit; None where there are none.
        solver: variant of CFR; its output is the average policy.
        subgame_class: int32 [], which subgame.
        ranges: float [2, H], own reaches of both players at the root. Under a gadget the
            opponent's is what alpha mixes in.
        gadget: the constraint.
        iterations: of the solver, static.
        key: draws the policy that the solver starts from; uniform by default.
        stop: int32 [], the iteration whose policy is `Solution.sampled`; the last by default.
        mean_values: `Solution.values` are means over the iterations, weighted like the average
            policy, instead of the values of the average policies. Twice the work.

    Raises:
        ValueError: a range sums to zero or is not a range, or there are leaves at the depth limit
            and no value function. Ranges are looked at outside of jit only; inside, one without
            mass becomes uniform.
    """
    _check(games, value, ranges)
    game = games.at(subgame_class)
    gadget = no_gadget(ranges.shape[-1]) if gadget is None else gadget
    game = game._replace(tree=with_value(game.tree, value, games.states))
    tree, floor = _placed(game, ranges, gadget)
    ready = dataclasses.replace(solver, minimizer=floored(solver.minimizer))
    state = _start(tree, ready, floor, key)
    horizon = jnp.asarray(iterations, jnp.int32)
    stop = horizon if stop is None else stop

    def body(_: Array, carry: Any) -> Any:
        state, kept, means = carry
        if mean_values:
            decay = ready.decay(Step((state.iteration + 1).astype(ranges.dtype), horizon))
            now = evaluate(tree, Policy(state.policy), state.reach)[1]
            means = tuple(m.add(v, decay) for m, v in zip(means, now, strict=True))
        state = iterate(tree, ready, state, horizon)
        here = state.iteration == stop
        kept = tuple(jnp.where(here, r, k) for r, k in zip(state.reach, kept, strict=True))
        return state, kept, means

    means: Any = state.average if mean_values else ()  # zero, and of the right shape
    start: Any = (state, state.reach, means)
    end: Any = jax.lax.fori_loop(0, iterations, body, start)
    state, kept, means = end
    reach, values = evaluate(tree, average_policy(tree, state))
    if mean_values:
        values = (means[0].mean, means[1].mean)
    return Solution(reach, values, (kept[0], kept[1]), game.nodes)


def evaluate(
    tree: PublicTree, policy: Policy, reach: Sequence[Array] | None = None
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Returns (own reaches [S, H], counterfactual values of all sequences [S, H]) per player.

    Args:
        tree: a subgame.
        policy: of both players.
        reach: their own reaches, where they are known already.
    """
    if reach is None:
        reach = [reach_of(p, b) for p, b in zip(tree.players, policy.players, strict=True)]
    values = []
    for i, player in enumerate(tree.players):
        gain = leaf_values(tree, i, reach)
        mine = policy.players[i]
        blocks, root = values_of(player, gain, functools.partial(_row_value, mine))
        values.append(join_blocks(player, blocks).at[:1].set(root))
    return (reach[0], reach[1]), (values[0], values[1])


def _check(games: Subgames, value: ValueFunction | None, ranges: Array) -> None:
    limited = any(isinstance(leaf, ValueLeaf) for leaf in games.content.tree.leaves)
    if limited and value is None:
        raise ValueError(
            "these subgames end at a depth limit, and nothing says what is below it: give a value "
            "function (nets.Net, search.oracle), or cut them with public.no_limit"
        )
    if isinstance(ranges, jax.core.Tracer):
        return
    mass = ranges.sum(-1)
    if not bool(jnp.isfinite(mass).all() & (ranges >= 0).all() & (mass > 0).all()):
        raise ValueError(
            f"the ranges sum to {[float(m) for m in mass]}; each player needs hands that are held "
            "with a probability above 0, and none below. jnp.ones((2, H)) is the start of a game"
        )


def _row_value(policy: Blocks, block: int, values: Array) -> Array:
    return (policy[block] * values).sum(0)


def _placed(game: Subgame, ranges: Array, gadget: Gadget) -> tuple[PublicTree, Array]:
    """Returns the tree with ranges, constraint and leaves in place, and floors [2, 2, H]."""
    tree = game.tree
    root, follow = root_reach(game.possible, ranges, gadget)
    terminate = (1 - gadget.alpha - follow) * gadget.on[:, None]
    floor = jnp.stack([follow, terminate], 1)
    players = []
    for i, player in enumerate(tree.players):
        (first,), *levels = player.levels
        legal = jnp.stack([jnp.ones((), bool), gadget.on[i]])[:, None, None]
        opening = (dataclasses.replace(first, legal=legal),)
        players.append(
            dataclasses.replace(player, levels=(opening, *levels), root_reach=root[i][None])
        )
    leaves = tuple(
        dataclasses.replace(leaf, alternative=gadget.alternative)
        if isinstance(leaf, GadgetLeaf)
        else leaf
        for leaf in tree.leaves
    )
    return tree.replace(players=tuple(players), leaves=leaves), floor


def _start(tree: PublicTree, solver: Solver, floor: Array, key: PRNGKey | None) -> SolveState:
    """Returns the state before the first iteration, the floors in place."""
    players = []
    for i, player in enumerate(tree.players):
        blocks = []
        for k, block in enumerate(player.blocks):
            shape = (*block.legal.shape[:2], player.root_reach.shape[-1])
            weight = jnp.ones(shape, player.root_reach.dtype)
            if key is not None:
                weight = jax.random.exponential(jax.random.fold_in(key, 64 * i + k), shape)
            p = normalise(weight * block.legal, block.legal)
            low = floor[i][:, None] if k == 0 else jnp.zeros_like(p)
            blocks.append(low + (1 - low.sum(0)) * p)
        players.append(tuple(blocks))
    state = init_state(tree, solver, Policy(tuple(players)))
    minimizer = tuple(
        (with_floor(states[0], floor[i][:, None]), *states[1:])
        for i, states in enumerate(state.minimizer)
    )
    return state._replace(minimizer=minimizer)
