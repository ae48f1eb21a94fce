"""Growing-tree CFR: regret updates and expansions in turn, GT-CFR(s, c) of Student of Games.

Source: Schmid et al. 2023, algorithm 1. s simulations in all, ceil(c) after each regret update
phase, which is ceil(1 / c) iterations of CFR on the tree of the moment. With
`js.cfr_plus().simultaneous()` the updates are those of the paper (regret matching+, simultaneous,
linear averaging); any other solver will do. Alternating updates ask the value function twice in an
iteration. Where nobody has private information a leaf is asked about once, and its values are
scaled by the ranges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.public import PublicTable, compiled
from jaxsolve.regret import normalise
from jaxsolve.search.fixed import TRACE, Gadget, no_gadget
from jaxsolve.search.growing._expand import expand, open_leaf
from jaxsolve.search.growing._state import GrowingSearch, PriorFunction, Run, Task
from jaxsolve.search.growing._tree import Growth, empty
from jaxsolve.search.growing._update import outflow_of, update
from jaxsolve.solvers import Solver
from jaxsolve.tree import take
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction, normalised

T = TypeVar("T")


class Grown(NamedTuple):
    """A search that is over (I opened public states at most, C children, H private states).

    Attributes:
        growth: the tree.
        average: float [I, A, H], average policy of whoever acts.
        outflow: float [I, 2, A + 1, H], own reaches under the average policies; see `Run`.
        root_values: float [2, H], counterfactual values at the root, means over the iterations
            with the weights of the average policy.
        child_values: float [I, 2, C, H], likewise at the children of opened public states, over the
            iterations in which they were in the tree, chance since the root divided out.
        focus: int32 [], the opened public state below which the tree grew.
        updates: int32 [], iterations of CFR.
        asked: int32 [], leaves that the value function was asked about.
    """

    growth: Growth
    average: Array
    outflow: Array
    root_values: Array
    child_values: Array
    focus: Array
    updates: Array
    asked: Array

    @property
    def policy(self) -> Array:
        """float [A, H], the average policy of whoever acts at the focus."""
        return take(self.average, self.focus)

    @property
    def status(self) -> Array:
        """int32 [], capacities of `Rules` that were not enough, as bits; 0 if all is there."""
        store = self.growth.store
        return jnp.zeros_like(self.updates) if store is None else store.status


def growing_search(
    ground: Any,
    solver: Solver,
    *,
    simulations: int,
    per_update: float = 1.0,
    top: int | None = None,
    capacity: int | None = None,
    way: int = 0,
    exploration: float = 1.25,
    tile: int = 16,
    thorough: bool = False,
) -> GrowingSearch:
    """Returns the options of GT-CFR(s, c), checked.

    Searches of equal `top`, `capacity` and `tile` share a compiled program.

    Args:
        ground: what trees grow into: a `PublicTable`, or `Rules`.
        solver: variant of CFR; `js.cfr_plus().simultaneous()` is the paper's.
        simulations: s, of the whole search.
        per_update: c, simulations after each regret update phase; below 1, such a phase has
            ceil(1 / c) iterations.
        top: k; the paper has 1 for perfect information and all otherwise.
        capacity: public states that can be opened; as many as can be needed by default.
        way: longest way from the root to a focus.
        exploration: constant of PUCT.
        tile: leaves that the value function is asked about at once.
        thorough: simulations pass by subgames that are open to their ends as long as anything else
            is left for the private states drawn; with nothing left below the focus they begin at
            the root. Not in the paper.

    Raises:
        ValueError: a number that is not positive, s not a multiple of ceil(c), a capacity less than
            can be needed, or a solver that samples.
    """
    if isinstance(ground, PublicTable):
        ground = compiled(ground)
    if per_update <= 0 or min(simulations, tile) < 1 or (top is not None and top < 1):
        raise ValueError(
            f"simulations={simulations}, per_update={per_update}, top={top} and tile={tile} must "
            "be positive"
        )
    together = math.ceil(per_update)
    if simulations % together:
        raise ValueError(
            f"{simulations} simulations are not a multiple of {together}, those after each regret "
            f"update; use simulations={math.ceil(simulations / together) * together}"
        )
    if solver.sampler is not None:
        raise ValueError("a growing tree needs exact values: use a solver that samples nothing")
    needed = min(ground.largest, 1 + way + simulations)
    if capacity is not None and capacity < needed:
        raise ValueError(
            f"{simulations} simulations can open {needed} public states, and capacity={capacity}; "
            f"use capacity={needed} or more"
        )
    return GrowingSearch(
        ground,
        solver,
        exploration,
        jnp.int32(simulations // together),
        jnp.int32(math.ceil(1 / per_update)),
        jnp.int32(together),
        top,
        needed if capacity is None else capacity,
        tile,
        thorough,
    )


def gt_cfr(
    search: GrowingSearch,
    value: ValueFunction,
    root: Any,
    ranges: Array,
    key: PRNGKey,
    *,
    gadget: Gadget | None = None,
    path: Array | None = None,
    prior: PriorFunction | None = None,
) -> Grown:
    """Returns the outcome of one search; vmap it for a batch.

    Args:
        search: options, from `growing_search`.
        value: worth of leaves.
        root: the public state to start from: in a table its kind, int32 []; its worlds for rules.
        ranges: float [2, H], own reaches of both players at the root. Under a gadget the
            opponent's is what alpha mixes in.
        key: draws simulations.
        gadget: the constraint of re-solving.
        path: int32 [W], children on the way from the root to the focus, then -1. The tree opens
            the way and grows below the focus. The root by default.
        prior: of PUCT and of `top`; uniform by default.
    """
    run, task = begin(search, value, root, ranges, gadget, path, prior)
    run, _ = grow(search, task, run, key, (), lambda run, log: log)
    return finish(search, task, run)


def grow(
    search: GrowingSearch,
    task: Task,
    run: Run,
    key: PRNGKey,
    log: T,
    note: Callable[[Run, T], T],
) -> tuple[Run, T]:
    """Returns the search after all its rounds, and what was noted of it.

    Args:
        search: options.
        task: what the search is about.
        run: the search before its first iteration.
        key: draws simulations.
        log: a pytree, before anything is noted.
        note: takes the search after an iteration of CFR, and the log.
    """

    def regrets(_: Any, carry: tuple[Run, T]) -> tuple[Run, T]:
        run = update(search, task, carry[0])
        return run, note(run, carry[1])

    def simulation(number: Array, run: Run) -> Run:
        return expand(search, task, run, jax.random.fold_in(key, number))

    def one(number: Array, carry: tuple[Run, T]) -> tuple[Run, T]:
        run, log = jax.lax.fori_loop(0, search.updates, regrets, carry)
        low = number * search.together
        run = jax.lax.fori_loop(low, low + search.together, simulation, run)
        pending = jnp.zeros_like(run.growth.pending)
        return run._replace(growth=run.growth._replace(pending=pending)), log

    return jax.lax.fori_loop(0, search.rounds, one, (run, log))


def begin(
    search: GrowingSearch,
    value: ValueFunction,
    root: Any,
    ranges: Array,
    gadget: Gadget | None,
    path: Array | None,
    prior: PriorFunction | None,
) -> tuple[Run, Task]:
    """Returns the search before its first iteration: the way to the focus is opened."""
    ground, dtype = search.ground, ranges.dtype
    store, number = ground.start(root, search.capacity, dtype)
    rows = ground.rows(store)
    growth = empty(rows, number, search.capacity, search.tile, store, dtype)
    hands, actions, width = rows.num_hands, rows.num_actions, rows.num_children
    zero = jnp.zeros((), jnp.int32)
    gadget = no_gadget(hands) if gadget is None else gadget
    reach, floor = _ranges(take(rows.possible, growth.public[0]), ranges, gadget)
    task = Task(reach, floor, gadget, value, prior, zero, search.rounds * search.updates)
    policy = jnp.zeros((search.capacity, actions, hands), dtype)
    flow = jnp.zeros((search.capacity, 2, actions + 1, hands), dtype)
    worth = jnp.zeros((search.capacity, 2, width + 1, hands), dtype)
    half = jnp.full((2, 2, hands), 0.5, dtype)
    both = jnp.zeros((2, hands), dtype)
    run = Run(
        iteration=zero,
        growth=growth,
        minimizer=jax.vmap(search.solver.minimizer.init)(policy),
        policy=policy,
        total=policy,
        outflow=flow,
        inflow=worth,
        values=policy,
        worth=worth,
        present=worth[:, 0, :width, 0],
        gadget=jax.vmap(search.solver.minimizer.init)(half),
        follow=half,
        root_reach=both,
        root_worth=both,
        start=both,
        weight=both[0, 0],
        known=worth if hands == 1 else (),
        asked=zero,
    )
    pair = jnp.zeros(2, jnp.int32)
    run = open_leaf(search, task, run, zero, zero + width, pair, jnp.bool_(True), every=True)
    if path is None:
        return run, task

    def follow(step: Array, carry: tuple[Run, Array]) -> tuple[Run, Array]:
        run, here = carry
        new = run.growth.num_opened
        go = path[step] >= 0
        child = jnp.maximum(path[step], 0)
        run = open_leaf(search, task, run, here, child, pair, go, every=True)
        return run, jnp.where(go, new, here)

    run, focus = jax.lax.fori_loop(0, path.shape[0], follow, (run, zero))
    return run, task._replace(focus=focus)


def _ranges(possible: Array, ranges: Array, gadget: Gadget) -> tuple[Array, Array]:
    """Returns (own reaches at the root [2, H], floors under following [2, H])."""
    beliefs, _ = normalised(ranges, possible)
    # An own range without mass is uniform: nobody comes here, and a policy is needed all the same.
    # So it is for single private states, whose average policy would stay uniform without reach.
    alive = jnp.where(possible, ranges, 0).sum(-1, keepdims=True) > 0
    mine = jnp.where(alive, jnp.where(possible, ranges, 0), beliefs)
    mine = jnp.maximum(mine, TRACE * mine.max(-1, keepdims=True) * possible)
    top = beliefs.max(-1, keepdims=True)
    floor = (1 - gadget.alpha) * beliefs / jnp.where(top > 0, top, 1)
    on = gadget.on[:, None]
    return jnp.where(on, possible.astype(ranges.dtype), mine), jnp.where(on, floor, 0)


def finish(search: GrowingSearch, task: Task, run: Run) -> Grown:
    """Returns the averages of a search."""
    growth, weight = run.growth, jnp.where(run.weight > 0, run.weight, 1)
    rows = search.ground.rows(growth.store)
    average = jax.vmap(normalise)(run.total, growth.allowed)
    outflow = outflow_of(search, growth, run.root_reach / weight, average, run.outflow)
    share = run.present * rows.factor[growth.row]
    seen = (share > 0)[:, None, :, None]
    child_values = run.worth[:, :, :-1] / jnp.where(seen, share[:, None, :, None], 1)
    return Grown(
        growth=growth,
        average=average,
        outflow=outflow,
        root_values=run.root_worth / weight,
        child_values=jnp.where(seen, child_values, 0),
        focus=task.focus,
        updates=run.iteration,
        asked=run.asked,
    )
