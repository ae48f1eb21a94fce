"""Growing-tree CFR: regret updates and expansions in turn, GT-CFR(s, c) of Student of Games.

Source: Schmid et al. 2023, algorithm 1. s simulations in all, ceil(c) after each regret update
phase, which is ceil(1 / c) iterations of CFR on the tree of the moment. With
`js.cfr_plus().simultaneous()` the updates are those of the paper (regret matching+, simultaneous,
linear averaging); any other solver will do. Alternating updates ask the value function twice in an
iteration. In a game of perfect information a leaf is asked about once, and its values are
scaled by the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.devices import batched_like, shared_max
from jaxsolve.public import PublicModel, PublicTable, listed_model
from jaxsolve.regret import normalise
from jaxsolve.search.growing._expand import expand, open_leaf
from jaxsolve.search.growing._prepared import nothing_prepared
from jaxsolve.search.growing._reach import action_reach_of
from jaxsolve.search.growing._state import (
    GrowingSearch,
    Known,
    PriorFunction,
    SearchProblem,
    SearchState,
)
from jaxsolve.search.growing._tree import Growth, empty
from jaxsolve.search.growing._update import update
from jaxsolve.search.resolving import Gadget, no_gadget, root_reach
from jaxsolve.solvers import Solver
from jaxsolve.tree import take
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, check_value

T = TypeVar("T")


class Grown(NamedTuple):
    """A search that is over (I opened public states at most, C children, H private states).

    Attributes:
        growth: the tree.
        average: float [I, A, H], average policy of the actor.
        action_reach: float [I, 2, A + 1, H], own reaches under the average
            policies; see `SearchState`.
        root_values: float [2, H], counterfactual values at the root, means over the iterations
            with the weights of the average policy.
        child_values: float [I, 2, C, H], likewise at the children of opened public states, over the
            iterations in which they were in the tree, chance since the root divided out.
        action_values: float [I, A, H], counterfactual values of the actor's actions in the last
            iteration.
        focus: int32 [], the opened public state below which the tree grew.
        updates: int32 [], iterations of CFR.
        asked: int32 [], leaves that the value function was asked about.
    """

    growth: Growth
    average: Array
    action_reach: Array
    root_values: Array
    child_values: Array
    action_values: Array
    focus: Array
    updates: Array
    asked: Array

    @property
    def policy(self) -> Array:
        """float [A, H], the average policy of the actor at the focus."""
        return take(self.average, self.focus)

    @property
    def status(self) -> Array:
        """int32 [], capacities of `RulesModel` that were not enough, as bits; 0 if all is there."""
        store = self.growth.store
        return jnp.zeros_like(self.updates) if store is None else store.status


def growing_search(
    model: PublicModel | PublicTable,
    solver: Solver,
    *,
    simulations: int,
    per_update: float = 1.0,
    top: int | None = None,
    capacity: int | None = None,
    longest_path: int = 0,
    exploration: float = 1.25,
    tile: int = 16,
    skip_solved: bool = False,
    warm: float | None = None,
    ask_every: int = 1,
) -> GrowingSearch:
    """Returns the options of GT-CFR(s, c), checked.

    Searches of equal `top`, `capacity` and `tile` share a compiled program.

    Args:
        model: the public states that trees grow into, or a table of them.
        solver: variant of CFR; `js.cfr_plus().simultaneous()` is the paper's.
        simulations: s, of the whole search.
        per_update: c, simulations after each regret update phase; below 1, such a phase has
            ceil(1 / c) iterations.
        top: k; the paper has 1 for perfect information and all otherwise.
        capacity: public states that can be opened; as many as can be needed by default.
        longest_path: longest path from the root to a focus.
        exploration: constant of PUCT.
        tile: leaves that the value function is asked about at once; at most k of new ones, where
            no others are asked about.
        skip_solved: simulations skip subgames whose public states are all opened, as long as
            another one is left that the private states drawn can reach; if none is left below
            the focus, simulations start at the root. Not in the paper.
        warm: the regret of each action, where a public state is opened, is so many times its prior,
            in units of the largest payoff against an opponent who always comes there; the first
            policy is the prior. None, as in the paper, for no regrets and an even first policy.
            Solvers that discount regrets discount these, those of the root before the first
            iteration wholly; mirror descent takes them for values of actions.
        ask_every: iterations of CFR from one question about all leaves to the next. New leaves are
            asked about at once; in between a leaf keeps what was said of each private state, times
            what the opponent's reach is now. 1 in the paper. In a game of perfect information,
            where no range changes an answer, a leaf is asked about once.

    Raises:
        ValueError: a number that is not positive, s not a multiple of ceil(c), a capacity less than
            can be needed, or a solver that samples.
    """
    if isinstance(model, PublicTable):
        model = listed_model(model)
    if per_update <= 0 or min(simulations, tile, ask_every, 1 if top is None else top) < 1:
        raise ValueError(
            f"simulations={simulations}, per_update={per_update}, top={top}, tile={tile} and "
            f"ask_every={ask_every} must be positive"
        )
    per_round = math.ceil(per_update)
    if simulations % per_round:
        raise ValueError(
            f"{simulations} simulations are not a multiple of {per_round}, those after each regret "
            f"update; use simulations={math.ceil(simulations / per_round) * per_round}"
        )
    if warm is not None and not 0 < warm < math.inf:
        raise ValueError(f"warm={warm} must be positive and finite, or None for no regrets")
    if solver.sampler is not None:
        raise ValueError("a growing tree needs exact values: use a solver that samples nothing")
    needed = min(model.largest, 1 + longest_path + simulations)
    if capacity is not None and capacity < needed:
        raise ValueError(
            f"{simulations} simulations can open {needed} public states, and capacity={capacity}; "
            f"use capacity={needed} or more"
        )
    return GrowingSearch(
        model,
        solver,
        exploration,
        jnp.int32(simulations // per_round),
        jnp.int32(math.ceil(1 / per_update)),
        jnp.int32(per_round),
        top,
        needed if capacity is None else capacity,
        tile,
        skip_solved,
        None if warm is None else float(warm),
        None if ask_every == 1 else jnp.int32(ask_every),
    )


def gt_cfr(
    search: GrowingSearch,
    value: ValueFunction,
    root: Any,
    ranges: Array,
    key: PRNGKey,
    *,
    gadget: Gadget | None = None,
    path_to_focus: Array | None = None,
    prior: PriorFunction | None = None,
) -> Grown:
    """Returns the outcome of one search; vmap it for a batch.

    Args:
        search: options, from `growing_search`.
        value: worth of leaves.
        root: the public state to start from: the number of its class (int32 []) in a table, its
            `Worlds` where the tree grows from rules.
        ranges: float [2, H], own reaches of both players at the root. Under a gadget the
            opponent's is what alpha mixes in.
        key: draws simulations.
        gadget: the constraint of re-solving.
        path_to_focus: int32 [W], which child to go to from each public state between the root and
            the focus, then -1. The tree opens that path and grows below the focus. By default the
            focus is the root.
        prior: of PUCT and of `top`; uniform by default.
    """
    state, problem = begin(search, value, root, ranges, gadget, path_to_focus, prior)
    state, _ = grow(search, problem, state, key, (), lambda state, log: log)
    return finish(search, problem, state)


def grow(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    key: PRNGKey,
    log: T,
    note: Callable[[SearchState, T], T],
) -> tuple[SearchState, T]:
    """Returns the search after all its rounds, and what was noted of it.

    Args:
        search: options.
        problem: what the search is about.
        state: the search before its first iteration.
        key: draws simulations.
        log: a pytree, before anything is noted.
        note: takes the search after an iteration of CFR, and the log.
    """

    def regrets(_: Any, carry: tuple[SearchState, T]) -> tuple[SearchState, T]:
        state = update(search, problem, carry[0])
        return state, note(state, carry[1])

    def simulation(number: Array, state: SearchState) -> SearchState:
        return expand(search, problem, state, jax.random.fold_in(key, number))

    def clear(_: Any, pending: Array) -> Array:
        return jnp.zeros_like(pending)

    def one(number: Array, carry: tuple[SearchState, T]) -> tuple[SearchState, T]:
        state, log = jax.lax.fori_loop(0, search.updates_per_round, regrets, carry)
        low = number * search.simulations_per_round
        state = jax.lax.fori_loop(low, low + search.simulations_per_round, simulation, state)
        # Of one simulation alone nothing is counted as pending, and clearing takes long.
        pending = jax.lax.fori_loop(0, search.several, clear, state.growth.pending)
        return state._replace(growth=state.growth._replace(pending=pending)), log

    iteration, weight = state.iteration, state.weight  # those of all searches of a batch
    state, log = batched_like((state, log), (state, key))
    state = state._replace(iteration=iteration, weight=weight)
    return jax.lax.fori_loop(0, search.rounds, one, (state, log))


def begin(
    search: GrowingSearch,
    value: ValueFunction,
    root: Any,
    ranges: Array,
    gadget: Gadget | None,
    path_to_focus: Array | None,
    prior: PriorFunction | None,
) -> tuple[SearchState, SearchProblem]:
    """Returns the search before its first iteration: the path to the focus is opened."""
    model, dtype = search.model, ranges.dtype
    check_value(value, model)
    check_value(prior, model)
    store, number = model.start(root, search.capacity, dtype)
    transitions = model.transitions(store)
    growth = empty(transitions, number, search.capacity, search.tile, store, dtype)
    hands, actions, width = transitions.num_hands, transitions.num_actions, transitions.num_children
    zero = jnp.zeros((), jnp.int32)
    gadget = no_gadget(hands) if gadget is None else gadget
    reach, floor = root_reach(transitions.possible[growth.public[0]], ranges, gadget)
    problem = SearchProblem(
        reach, floor, gadget, value, prior, zero, search.rounds * search.updates_per_round
    )
    policy = jnp.zeros((search.capacity, actions, hands), dtype)
    flow = jnp.zeros((search.capacity, 2, actions + 1, hands), dtype)
    worth = jnp.zeros((search.capacity, 2, width + 1, hands), dtype)
    half = jnp.full((2, 2, hands), 0.5, dtype)
    both = jnp.zeros((2, hands), dtype)
    known = None
    if hands == 1 or search.ask_every is not None:
        shape = search.capacity, actions, width + 1
        likely = jnp.zeros(shape, dtype) if hands == 1 and prior is not None else None
        known = Known(worth, likely)
    state = SearchState(
        iteration=zero,
        growth=growth,
        minimizer=jax.vmap(search.solver.minimizer.init)(policy),
        policy=policy,
        total=policy,
        action_reach=flow,
        child_values=worth,
        values=policy,
        value_sum=worth,
        present=worth[:, 0, :width, 0],
        gadget=jax.vmap(search.solver.minimizer.init)(half),
        follow=half,
        root_reach=both,
        root_value_sum=both,
        start=both,
        weight=both[0, 0],
        known=known,
        prepared=nothing_prepared(model, value, store),
        asked=zero,
    )
    path = jnp.full(1, -1, jnp.int32) if path_to_focus is None else path_to_focus

    def follow(number: Array, carry: tuple[SearchState, Array]) -> tuple[SearchState, Array]:
        # The root first, in the same loop: to open a public state is much of what is compiled.
        state, here = carry
        step = jnp.where(number == 0, width, path[jnp.maximum(number - 1, 0)])
        new, go, pair = state.growth.num_opened, step >= 0, jnp.zeros(2, jnp.int32)
        state = open_leaf(search, problem, state, here, jnp.maximum(step, 0), pair, go, every=True)
        return state, jnp.where(go, new, here)

    length = 1 + shared_max((path >= 0).sum())
    state, focus = jax.lax.fori_loop(0, length, follow, (state, zero))
    return state, problem._replace(focus=focus)


def finish(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> Grown:
    """Returns the averages of a search."""
    growth, weight = state.growth, jnp.where(state.weight > 0, state.weight, 1)
    transitions = search.model.transitions(growth.store)
    average = jax.vmap(normalise)(state.total, growth.allowed)
    action_reach = action_reach_of(
        search, growth, state.root_reach / weight, average, state.action_reach
    )
    share = state.present * transitions.factor[growth.row]
    seen = (share > 0)[:, None, :, None]
    child_values = state.value_sum[:, :, :-1] / jnp.where(seen, share[:, None, :, None], 1)
    return Grown(
        growth=growth,
        average=average,
        action_reach=action_reach,
        root_values=state.root_value_sum / weight,
        child_values=jnp.where(seen, child_values, 0),
        action_values=state.values,
        focus=problem.focus,
        updates=state.iteration,
        asked=state.asked,
    )
