"""Expansions of a growing tree: a simulation, and the leaf that it opens."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxsolve.regret import normalise
from jaxsolve.search.growing._simulate import Guide, count_visits, simulate
from jaxsolve.search.growing._state import GrowingSearch, Run, Task
from jaxsolve.search.growing._tree import add, add_children, follows, settle
from jaxsolve.search.growing._update import flow_of, reach_at
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import normalised


def expand(search: GrowingSearch, task: Task, run: Run, key: PRNGKey) -> Run:
    """Returns the search after one simulation, with what it has added to the tree."""
    growth = run.growth
    rows = search.ground.rows(growth.store)
    scale = rows.scale[growth.public[0]]
    focus, start = task.focus, run.start
    if search.thorough:
        through = growth.done[focus]
        focus, start = jnp.where(through, 0, focus), jnp.where(through, run.root_reach, start)
    guide = Guide(run.total, run.values, run.outflow, start, scale)
    visit = simulate(
        rows,
        growth,
        guide,
        key,
        focus=focus,
        depth=search.ground.depth,
        exploration=search.exploration,
        thorough=search.thorough,
    )
    size, width = len(growth.row), growth.num_children
    here, child = jnp.minimum(visit.node, size - 1), jnp.minimum(visit.child, width - 1)
    ends = visit.node == size
    present = growth.inside[here, child]
    growth = count_visits(growth, visit)
    if search.top is not None:
        chosen = jnp.arange(rows.num_actions) == visit.action
        more = follows(rows, growth.row[here], chosen)
        growth = add_children(rows, growth, here, more, ~ends & ~present)
    opens = ~ends & present & (growth.opened[here, child] < 0)
    expanded = growth.expanded + (~ends & (opens | ~present))
    run = run._replace(growth=growth._replace(expanded=expanded))
    run = open_leaf(search, task, run, here, child, visit.pair, opens, every=False)
    return run


def open_leaf(
    search: GrowingSearch,
    task: Task,
    run: Run,
    up: Array,
    child: Array,
    hand: Array,
    go: Array,
    *,
    every: bool,
) -> Run:
    """Returns the search with one leaf opened, at which every action is played alike.

    Args:
        search: options.
        task: what the search is about.
        run: the search.
        up: int32 [], the parent.
        child: int32 [], which child of it; C for the root.
        hand: int32 [2], private states; the best actions of the actor's are added.
        go: bool [], False leaves all as it is.
        every: add all actions.
    """
    growth, ground = run.growth, search.ground
    rows = ground.rows(growth.store)
    width, size, new = growth.num_children, len(growth.row), growth.num_opened
    below = rows.child[growth.row[up], jnp.minimum(child, width - 1)]
    public = jnp.where(child == width, growth.public[0], below)
    reach = reach_at(rows, growth, run.outflow, up, child)
    store, row = ground.open(growth.store, public, new, go)
    rows = ground.rows(store)
    legal, actor = rows.legal[row], rows.actor[row]
    prior = normalise(jnp.zeros(legal.shape, reach.dtype), legal)
    if task.prior is not None:
        beliefs, _ = normalised(reach, rows.possible[public])
        told = task.prior(ground.describe(store, public[None]), beliefs[None])[0]
        prior = normalise(jnp.where(legal, told[: len(legal)], 0), legal)
    wanted = jnp.ones(len(legal), bool)
    if search.top is not None and not every:
        score = jnp.where(legal[:, hand[actor]], prior[:, hand[actor]], -1.0)
        wanted = jnp.argsort(jnp.argsort(-score, stable=True), stable=True) < search.top
    growth = growth._replace(store=store)
    growth = add(rows, growth, up, child, public, row, prior, wanted, go)
    if search.thorough:
        growth = settle(rows, growth, new, go)
    allowed = growth.allowed[new]
    policy = normalise(jnp.zeros(legal.shape, reach.dtype), allowed)
    at = jnp.where(go, new, size)

    def put(array: Array, value: Array) -> Array:
        return array.at[at].set(value, mode="drop")

    # Loops run on to the largest tree of a batch, so that what was here need not be empty.
    return run._replace(
        growth=growth,
        minimizer=jax.tree.map(put, run.minimizer, search.solver.minimizer.init(policy)),
        policy=put(run.policy, policy),
        total=put(run.total, jnp.zeros_like(policy)),
        values=put(run.values, jnp.zeros_like(policy)),
        outflow=put(run.outflow, flow_of(actor, reach, policy)),
    )
