"""Growing-tree CFR: regret updates and expansions in turn, GT-CFR(s, c) of Student of Games.

Source: Schmid et al. 2023, algorithm 1. s simulations in all, ceil(c) after each regret update
phase, which is ceil(1 / c) iterations of CFR on the tree of the moment. With
`js.cfr_plus().simultaneous()` the updates are those of the paper (regret matching+, simultaneous,
linear averaging); any other solver will do. Alternating updates ask the value function twice in an
iteration. Differs from the paper in perfect-information games, where it evaluates a leaf once.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.leaf._value_net import ValueFunction, normalised, scaled_values
from jaxsolve.regret import Step, normalise
from jaxsolve.search._belief_solve import Gadget, _placed, _start, no_gadget, policy_at
from jaxsolve.search._growing_tree import (
    Ground,
    Grounds,
    Growth,
    Guide,
    capacity_for,
    frontier_of,
    legal_sequences,
    simulate,
    start_growth,
)
from jaxsolve.solve import Solver, average_policy
from jaxsolve.solve._loop import Mean, SolveState
from jaxsolve.subgame._floor import floored
from jaxsolve.tree._public_tree import (
    Blocks,
    PlayerTree,
    PublicTree,
    hold,
    join_blocks,
    leaf_values,
    reach_of,
    split_blocks,
    values_of,
)
from jaxsolve.types import Array, PRNGKey

PriorFunction = Callable[[Array, Array], Array]
"""(kind [F], beliefs [F, 2, H]) -> weights of actions [F, A, H], by place; a pytree."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class GrowingSearch:
    """How to grow a tree. A pytree: numbers are leaves, sizes are static.

    Attributes:
        solver: variant of CFR.
        exploration: constant of PUCT.
        rounds: int32 [], regret update phases, each followed by simulations.
        updates: int32 [], iterations of CFR in each.
        together: int32 [], simulations after each.
        top: k, actions that are added when a public state is opened; all if None.
        capacity: public states that can be on the frontier.
    """

    solver: Solver
    exploration: Any
    rounds: Any
    updates: Any
    together: Any
    top: int | None = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})


class Grown(NamedTuple):
    """A search that is over (M public states, S sequences, H hands).

    Attributes:
        growth: the tree.
        reach: per player, float [S, H], own reach under the average policy; uniform outside the
            tree.
        values: float [M, 2, H], counterfactual values in each public state of the tree at which
            somebody acts: the mean over the iterations in which it was there, with the weights of
            the average policy. Chance since the root is divided out.
        ground: what the tree grew into.
        updates: int32 [], iterations of CFR.
    """

    growth: Growth
    reach: tuple[Array, Array]
    values: Array
    ground: Ground
    updates: Array

    def policy(self, node: Array) -> Array:
        """Returns float [A, H], the average policy of whoever acts at a public state."""
        return policy_at(self.ground.game.nodes, self.reach, node)

    def range_at(self, player: int, node: Array) -> Array:
        """Returns float [H], the own reach of a player at a public state of the tree."""
        return self.reach[player][self.ground.game.nodes.at[player, node]]

    def value_at(self, player: int, node: Array) -> Array:
        """Returns float [H], counterfactual values at a public state of the tree."""
        return self.values[node, player]


class _Run(NamedTuple):
    """What changes during a search."""

    state: SolveState
    growth: Growth
    values: tuple[Array, Array]
    seen: tuple[Array, Array]
    worth: Mean
    present: Mean


def growing_search(
    places: Grounds,
    solver: Solver,
    *,
    simulations: int,
    per_update: float = 1.0,
    top: int | None = None,
    capacity: int | None = None,
    focused: bool = False,
    exploration: float = 1.25,
) -> GrowingSearch:
    """Returns the options of GT-CFR(s, c), checked.

    Searches of equal `top` and `capacity` share a compiled program.

    Args:
        places: what trees grow into.
        solver: variant of CFR; `js.cfr_plus().simultaneous()` is the paper's.
        simulations: s, of the whole search.
        per_update: c, simulations after each regret update phase; below 1, such a phase has
            ceil(1 / c) iterations.
        top: k; the paper has 1 for perfect information and all otherwise.
        capacity: of the frontier; as much as can be needed by default.
        focused: trees will grow below another public state than the root.
        exploration: constant of PUCT.

    Raises:
        ValueError: a number that is not positive, s not a multiple of ceil(c), a capacity less than
            can be needed, or a solver that samples.
    """
    if per_update <= 0 or simulations < 1 or (top is not None and top < 1):
        raise ValueError(
            f"simulations={simulations}, per_update={per_update} and top={top} must be positive"
        )
    together = math.ceil(per_update)
    if simulations % together:
        raise ValueError(
            f"{simulations} simulations are not a multiple of {together}, those after each regret "
            f"update; use simulations={math.ceil(simulations / together) * together}"
        )
    if solver.sampler is not None:
        raise ValueError("a growing tree needs exact values: use a solver that samples nothing")
    needed = capacity_for(places, simulations, focused=focused)
    if capacity is not None and capacity < needed:
        raise ValueError(
            f"{simulations} simulations can lead to {needed} public states on the frontier, and "
            f"capacity={capacity}; use capacity={needed} or more"
        )
    return GrowingSearch(
        solver,
        exploration,
        jnp.int32(simulations // together),
        jnp.int32(math.ceil(1 / per_update)),
        jnp.int32(together),
        top,
        needed if capacity is None else capacity,
    )


def gt_cfr(
    places: Grounds,
    value: ValueFunction,
    search: GrowingSearch,
    kind: Array,
    ranges: Array,
    key: PRNGKey,
    *,
    gadget: Gadget | None = None,
    focus: Array | None = None,
    prior: PriorFunction | None = None,
) -> Grown:
    """Returns the outcome of one search; vmap it for a batch.

    Args:
        places: subgames to grow into.
        value: worth of public states on the frontier.
        search: options, from `growing_search`.
        kind: int32 [], which subgame.
        ranges: float [2, H], own reaches of both players at the root. Under a gadget the
            opponent's is what alpha mixes in.
        key: draws simulations.
        gadget: the constraint of re-solving.
        focus: int32 [], the public state of the subgame below which the tree grows; the root by
            default.
        prior: of PUCT and of `top`; uniform by default.
    """
    ground = places.at(kind)
    gadget = no_gadget(ranges.shape[-1]) if gadget is None else gadget
    focus = jnp.int32(0) if focus is None else focus
    whole, floor = _placed(ground.game, None, ranges, gadget)
    solver = dataclasses.replace(search.solver, minimizer=floored(search.solver.minimizer))
    growth = start_growth(ground, focus, places.games.depth)
    state = _start(_restricted(whole, ground, growth), solver, floor, None)
    horizon = search.rounds * search.updates
    nodes = ground.game.nodes
    zeros = jnp.zeros((*nodes.actor.shape, 2, ranges.shape[-1]), state.reach[0].dtype)
    none = jnp.zeros((), zeros.dtype)
    nothing = (jnp.zeros_like(state.reach[0]), jnp.zeros_like(state.reach[1]))
    run = _Run(
        state,
        growth,
        nothing,
        (state.reach[0], state.reach[1]),
        Mean(zeros, zeros, none),
        Mean(zeros[:, 0, 0], zeros[:, 0, 0], none),
    )

    def update(_: Any, run: _Run) -> _Run:
        return _update(whole, ground, solver, value, prior, run, horizon, search.capacity)

    def expand(number: Array, run: _Run) -> _Run:
        mine = jax.random.fold_in(key, number)
        guide = Guide((run.state.average[0].mean, run.state.average[1].mean), run.values, run.seen)
        return run._replace(
            growth=simulate(
                ground,
                run.growth,
                guide,
                mine,
                focus=focus,
                top=search.top,
                exploration=search.exploration,
            )
        )

    def one(number: Array, run: _Run) -> _Run:
        run = jax.lax.fori_loop(0, search.updates, update, run)
        low = number * search.together
        run = jax.lax.fori_loop(low, low + search.together, expand, run)
        growth = run.growth._replace(pending=jnp.zeros_like(run.growth.pending))
        tree = _restricted(whole, ground, growth)
        return run._replace(growth=growth, state=_with_new_rows(tree, run.state))

    run = jax.lax.fori_loop(0, search.rounds, one, run)
    average = average_policy(whole, run.state)
    reach = [reach_of(p, b) for p, b in zip(whole.players, average.players, strict=True)]
    times = run.present.mean * nodes.factor
    safe = jnp.where(times > 0, times, 1)[:, None, None]
    values = jnp.where(times[:, None, None] > 0, run.worth.mean / safe, 0)
    return Grown(run.growth, (reach[0], reach[1]), values, ground, run.state.iteration)


def _restricted(tree: PublicTree, ground: Ground, growth: Growth) -> PublicTree:
    """Returns the tree in which actions that lead outside are illegal."""
    players = []
    for i, player in enumerate(tree.players):
        stays = split_blocks(player, legal_sequences(ground, growth, i))
        masks = iter(stays)
        levels = tuple(
            tuple(dataclasses.replace(b, legal=b.legal & next(masks)[..., None]) for b in level)
            for level in player.levels
        )
        players.append(dataclasses.replace(player, levels=levels))
    return tree.replace(players=tuple(players))


def _with_new_rows(tree: PublicTree, state: SolveState) -> SolveState:
    """Returns the state with uniform policies in rows that had no legal action before."""
    policy, reach = [], []
    for player, blocks in zip(tree.players, state.policy, strict=True):
        fresh = tuple(
            jnp.where(p.sum(0) > 0, p, normalise(jnp.zeros_like(p), legal))
            for p, legal in zip(blocks, player.legal, strict=True)
        )
        policy.append(hold(player, fresh))
        reach.append(reach_of(player, policy[-1]))
    return state._replace(policy=tuple(policy), reach=tuple(reach))


def _update(
    whole: PublicTree,
    ground: Ground,
    solver: Solver,
    value: ValueFunction,
    prior: PriorFunction | None,
    run: _Run,
    horizon: Array,
    capacity: int,
) -> _Run:
    """One iteration of CFR on the tree of the moment."""
    tree = _restricted(whole, ground, run.growth)
    frontier = frontier_of(ground, run.growth)
    state, dtype = run.state, run.state.reach[0].dtype
    step = Step((state.iteration + 1).astype(dtype), horizon.astype(dtype))
    decay = jnp.asarray(solver.decay(step), dtype)
    average = tuple(m.add(r, decay) for m, r in zip(state.average, state.reach, strict=True))
    minimizer, policy, reach = list(state.minimizer), list(state.policy), list(state.reach)
    values, seen, worth = list(run.values), list(run.seen), []
    ask = functools.partial(_ask, ground, frontier, capacity)
    answer = beliefs = None
    for i, player in enumerate(tree.players):
        if answer is None or solver.alternating:
            answer, beliefs = ask(reach, value)
        before = reach if solver.alternating else state.reach
        gain = leaf_values(whole, i, before)
        gain = gain + ground.hanging[i](
            jnp.concatenate([answer[:, i], jnp.zeros_like(answer[:1, i])])
        )
        blocks, root = values_of(player, gain, functools.partial(_row_value, policy[i]))
        values[i] = join_blocks(player, blocks).at[:1].set(root)
        seen[1 - i] = before[1 - i]
        worth.append(_node_values(ground, i, policy[i], player, values[i], answer[:, i], frontier))
        states, policy[i] = _minimize(player, solver, step, blocks, minimizer[i], policy[i])
        minimizer[i] = states
        reach[i] = reach_of(player, policy[i])
    growth = run.growth
    if prior is not None:
        growth = growth._replace(prior=_priors(ground, growth, frontier, capacity, beliefs, prior))
    here = growth.inside.astype(dtype)
    return _Run(
        SolveState(state.iteration + 1, tuple(minimizer), tuple(policy), tuple(reach), average, ()),
        growth,
        (values[0], values[1]),
        (seen[0], seen[1]),
        run.worth.add(jnp.stack(worth, 1) * here[:, None, None], decay),
        run.present.add(here, decay),
    )


def _ask(
    ground: Ground, frontier: Array, capacity: int, reach: Any, value: ValueFunction
) -> tuple[Array, Array]:
    """Returns (counterfactual values [M, 2, H], 0 off the frontier; beliefs [F, 2, H])."""
    nodes = ground.game.nodes
    (place,) = jnp.nonzero(frontier, size=capacity, fill_value=0)
    ranges = jnp.stack([reach[i][nodes.at[i, place]] for i in range(2)], 1)
    possible = ground.possible[place]
    kind = jnp.maximum(nodes.kind[place], 0)
    found = scaled_values(value, kind, ranges, possible) * nodes.factor[place][:, None, None]
    beliefs, _ = normalised(ranges, possible)
    slot = jnp.clip(jnp.cumsum(frontier) - 1, 0, capacity - 1)
    return jnp.where(frontier[:, None, None], found[slot], 0), beliefs


def _priors(
    ground: Ground,
    growth: Growth,
    frontier: Array,
    capacity: int,
    beliefs: Any,
    prior: PriorFunction,
) -> Array:
    """Returns priors [M, A, H] with those of the frontier renewed."""
    nodes = ground.game.nodes
    (place,) = jnp.nonzero(frontier, size=capacity, fill_value=0)
    found = prior(jnp.maximum(nodes.kind[place], 0), beliefs)
    slot = jnp.clip(jnp.cumsum(frontier) - 1, 0, capacity - 1)
    legal = (nodes.child >= 0)[..., None]
    weights = jnp.where(legal, found[slot][:, : nodes.child.shape[1]], 0).swapaxes(0, 1)
    fresh = normalise(weights, legal.swapaxes(0, 1)).swapaxes(0, 1)
    return jnp.where(frontier[:, None, None], fresh, growth.prior)


def _row_value(policy: Blocks, block: int, values: Array) -> Array:
    return (policy[block] * values).sum(0)


def _node_values(
    ground: Ground,
    player: int,
    policy: Blocks,
    rows: PlayerTree,
    values: Array,
    answer: Array,
    frontier: Array,
) -> Array:
    """Returns float [M, H], counterfactual values of a player where somebody acts."""
    nodes = ground.game.nodes
    own = nodes.own  # [M, A]
    play = join_blocks(rows, policy)
    mine = (nodes.actor == player)[:, None]
    chosen = jnp.where((own > 0)[..., None], play[own] * values[own], 0).sum(1)
    waits = values[nodes.at[player]]
    return jnp.where(frontier[:, None], answer, jnp.where(mine, chosen, waits))


def _minimize(
    player: PlayerTree,
    solver: Solver,
    step: Step,
    values: Blocks,
    states: tuple[Any, ...],
    policy: Blocks,
) -> tuple[tuple[Any, ...], Blocks]:
    new = [
        solver.minimizer.update(s, step, q, p, legal)
        for s, q, p, legal in zip(states, values, policy, player.legal, strict=True)
    ]
    return tuple(s for s, _ in new), hold(player, tuple(p for _, p in new))
