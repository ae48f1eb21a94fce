"""One iteration of CFR on a tree that grows, as three loops.

A loop over the opened public states, parents first, carries reach down; a loop over the leaves,
some at a time, asks the value function; a loop back carries values up and updates regrets. Loops
end with the largest tree of a batch. Values are in a public state's own units: those of its
children count with the probability of the chance moves on the way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import Rows
from jaxsolve.regret import Step
from jaxsolve.search.growing._state import GrowingSearch, Run, Task
from jaxsolve.search.growing._tree import Growth
from jaxsolve.tree import take
from jaxsolve.types import Array
from jaxsolve.values import scaled_values


class Sums(NamedTuple):
    """The fields of `Run` that change on the way up, or one public state's entries of them."""

    minimizer: Any
    policy: Array
    total: Array
    values: Array
    worth: Array
    inflow: Array


@jax.custom_batching.custom_vmap
def shared_max(number: Array) -> Array:
    """Returns the number itself; under vmap the largest of the batch, for all of them.

    A loop that ends there stays one loop under vmap, without a selection of all that it changes.
    """
    return number


@shared_max.def_vmap
def _shared_max(size: int, batched: Any, number: Array) -> tuple[Array, bool]:
    return (number.max() if batched[0] else number), False


def update(search: GrowingSearch, task: Task, run: Run) -> Run:
    """Returns the search after one iteration of CFR on the tree of the moment."""
    solver, dtype = search.solver, run.total.dtype
    step = Step((run.iteration + 1).astype(dtype), task.horizon.astype(dtype))
    decay = jnp.asarray(solver.decay(step), dtype)
    present = run.present * decay + run.growth.inside
    run = run._replace(present=present, weight=run.weight * decay + 1)
    run = _ask_once(search, task, run)

    def turn(number: Array, run: Run) -> Run:
        mine = (jnp.arange(2) == number) | (not solver.alternating)
        run = _down(search, task, run)
        run = _sum_ranges(search, task, run, mine, decay)
        run = _leaves(search, task, run)
        return _up(search, task, run, mine, step, decay)

    run = jax.lax.fori_loop(0, 2 if solver.alternating else 1, turn, run)
    return run._replace(iteration=run.iteration + 1)


def row_of(array: Array, n: Array) -> Array:
    """Returns array[n]; n is in bounds."""
    return jax.lax.dynamic_index_in_dim(array, n, keepdims=False)


def rows_of(arrays: Any, n: Array) -> Any:
    """Returns the entries of one public state.

    Loops read what they need next after they have written: then the compiler writes in place,
    where otherwise it copies whole arrays.
    """
    return jax.tree.map(lambda x: row_of(x, n), arrays)


def put_row(array: Array, row: Array, n: Array) -> Array:
    """Returns the array with another row n, in bounds."""
    return jax.lax.dynamic_update_index_in_dim(array, row, n, 0)


def _down(search: GrowingSearch, task: Task, run: Run) -> Run:
    """Returns the search with the reaches of the policies of the moment."""
    outflow = outflow_of(search, run.growth, root_reach(task, run), run.policy, run.outflow)
    return run._replace(outflow=outflow)


def outflow_of(
    search: GrowingSearch, growth: Growth, start: Array, policy: Array, outflow: Array
) -> Array:
    """Returns float [I, 2, A + 1, H], own reaches under a policy, in place of others."""
    rows = search.ground.rows(growth.store)

    def one(n: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        outflow, reach = carry
        flow = flow_of(rows.actor[growth.row[n]], reach, row_of(policy, n))
        outflow = put_row(outflow, flow, n)
        after = jnp.minimum(n + 1, len(policy) - 1)
        return outflow, reach_at(rows, growth, outflow, growth.up[after], growth.step[after])

    return jax.lax.fori_loop(0, shared_max(growth.num_opened), one, (outflow, start))[0]


def root_reach(task: Task, run: Run) -> Array:
    """Returns float [2, H], own reaches at the root."""
    follow = task.floor + task.gadget.alpha * run.follow[:, 0]
    return jnp.where(task.gadget.on[:, None], task.reach * follow, task.reach)


def reach_at(rows: Rows, growth: Growth, outflow: Array, up: Array, child: Array) -> Array:
    """Returns float [2, H], own reaches at a child of an opened public state."""
    source = rows.source[growth.row[up], jnp.minimum(child, rows.num_children - 1)]
    flat = outflow[up].reshape(2, 1, -1)
    return jnp.take_along_axis(flat, source, 2, mode="promise_in_bounds").sum(-1)


def flow_of(actor: Array, reach: Array, policy: Array) -> Array:
    """Returns float [2, A + 1, H], own reaches of actions."""
    acts = (jnp.arange(2) == actor)[:, None, None]
    flow = reach[:, None] * jnp.where(acts, policy, 1)
    return jnp.pad(flow, ((0, 0), (0, 1), (0, 0)))


def _sum_ranges(search: GrowingSearch, task: Task, run: Run, mine: Array, decay: Array) -> Run:
    """Adds the players' own reaches at the root and at the focus to their sums."""
    growth = run.growth
    ends = take(run.outflow, task.focus)
    acts = jnp.arange(2) == search.ground.rows(growth.store).actor[growth.row[task.focus]]
    reach = jnp.where(acts[:, None], ends.sum(1), ends[:, 0])
    some = mine[:, None]
    return run._replace(
        start=jnp.where(some, run.start * decay + reach, run.start),
        root_reach=jnp.where(some, run.root_reach * decay + root_reach(task, run), run.root_reach),
    )


def _leaves(search: GrowingSearch, task: Task, run: Run) -> Run:
    """Returns the search with the values of the leaves under the reaches of the moment."""
    growth, once = run.growth, not isinstance(run.known, tuple)
    rows = search.ground.rows(growth.store)
    width, tile = growth.num_children, search.tile

    def one(t: Array, inflow: Array) -> Array:
        codes = jax.lax.dynamic_slice_in_dim(growth.leaf, t * tile, tile)
        here, child = codes // width, codes % width
        row = growth.row[here]
        public = jnp.maximum(rows.child[row, child], 0)
        possible = rows.possible[public]
        reach = jax.vmap(lambda n, k: reach_at(rows, growth, run.outflow, n, k))(here, child)
        if once:
            found = run.known[here, :, child] * reach[:, ::-1]
        else:
            asked = search.ground.describe(growth.store, public)
            found = scaled_values(task.value, asked, reach, possible)
        found = found * rows.factor[row, child][:, None, None]
        there = jnp.where(t * tile + jnp.arange(tile) < growth.num_leaves, here, len(growth.row))
        return inflow.at[there, :, child].set(found, mode="drop")

    tiles = shared_max((growth.num_leaves + tile - 1) // tile)
    inflow = jax.lax.fori_loop(0, tiles, one, run.inflow)
    return run._replace(inflow=inflow, asked=run.asked + (0 if once else growth.num_leaves))


def _ask_once(search: GrowingSearch, task: Task, run: Run) -> Run:
    """Returns the search with the values of new leaves, where no range changes them."""
    if isinstance(run.known, tuple):
        return run
    growth = run.growth
    rows = search.ground.rows(growth.store)
    width, tile = growth.num_children, search.tile
    sure = jnp.ones((tile, 2, 1), run.total.dtype)

    def one(t: Array, known: Array) -> Array:
        at = growth.fresh + t * tile + jnp.arange(tile)
        codes = growth.leaf[jnp.minimum(at, len(growth.leaf) - 1)]
        here, child = codes // width, codes % width
        public = jnp.maximum(rows.child[growth.row[here], child], 0)
        found = task.value(search.ground.describe(growth.store, public), sure)
        there = jnp.where(at < growth.num_leaves, here, len(growth.row))
        return known.at[there, :, child].set(found, mode="drop")

    new = growth.num_leaves - growth.fresh
    known = jax.lax.fori_loop(0, shared_max((new + tile - 1) // tile), one, run.known)
    growth = growth._replace(fresh=growth.num_leaves)
    return run._replace(known=known, growth=growth, asked=run.asked + new)


def _up(search: GrowingSearch, task: Task, run: Run, mine: Array, step: Step, decay: Array) -> Run:
    """Returns the search with values of all public states, and new policies of some players."""
    growth, solver = run.growth, search.solver
    rows = search.ground.rows(growth.store)
    size = shared_max(growth.num_opened)

    def one(number: Array, carry: tuple[Sums, Sums, Array]) -> tuple[Sums, Sums, Array]:
        sums, at, _ = carry
        n = size - 1 - number
        row = growth.row[n]
        actor = rows.actor[row]
        outflow = row_of(run.outflow, n)
        own, other = _values(rows, row, at.inflow, outflow)
        acted = (at.policy * own).sum(0)
        first = actor == 0
        value = jnp.where(first, jnp.stack([acted, other]), jnp.stack([other, acted]))
        updates = mine[actor]
        state, played = solver.minimizer.update(
            at.minimizer, step, own, at.policy, row_of(growth.allowed, n)
        )
        new = Sums(
            minimizer=state,
            policy=played,
            total=at.total * decay + outflow[actor, :-1],
            values=own,
            worth=jnp.where(mine[:, None, None], at.worth * decay + at.inflow, at.worth),
            inflow=at.inflow,
        )
        kept = jax.tree.map(lambda x, y: jnp.where(updates, x, y), new, at)
        kept = kept._replace(worth=new.worth)
        sums = jax.tree.map(lambda x, y: put_row(x, y, n), sums, kept)
        up, child = growth.up[n], growth.step[n]
        factor = jnp.append(rows.factor[growth.row[up]], 0)[child]  # 0 at the root
        sums = sums._replace(inflow=sums.inflow.at[up, :, child].set(value * factor))
        return sums, rows_of(sums, n - 1), value

    sums = Sums(*(getattr(run, name) for name in Sums._fields))
    start = (sums, rows_of(sums, size - 1), run.root_worth)
    sums, _, value = jax.lax.fori_loop(0, size, one, start)
    before, some = run.root_worth, mine[:, None]
    gadget, follow = _gadget_update(search, task, run, value, step)
    on = (mine & task.gadget.on)[:, None, None]
    return run._replace(
        **sums._asdict(),
        root_worth=jnp.where(some, before * decay + value, before),
        gadget=jax.tree.map(
            lambda new, old: jnp.where(on.reshape(2, *(1,) * (new.ndim - 1)), new, old),
            gadget,
            run.gadget,
        ),
        follow=jnp.where(on, follow, run.follow),
    )


def _values(rows: Rows, row: Array, inflow: Array, outflow: Array) -> tuple[Array, Array]:
    """Returns counterfactual values of the actor's actions [A, H], of the player who waits [H]."""
    actor = rows.actor[row]
    flat = inflow.reshape(2, -1)
    own = flat[actor][rows.own_sink[row]].sum(-1)
    other = flat[1 - actor][rows.other_sink[row]].sum(-1)
    pay, hands = rows.payoff[row], rows.num_hands
    h0, h1 = pay.shape[1:]
    one = (pay * outflow[1, :-1, None, :h1]).sum(2)
    two = -(pay * outflow[0, :-1, :h0, None]).sum(1)
    one = jnp.pad(one, ((0, 0), (0, hands - h0)))
    two = jnp.pad(two, ((0, 0), (0, hands - h1)))
    first = actor == 0
    return own + jnp.where(first, one, two), other + jnp.where(first, two, one).sum(0)


def _gadget_update(
    search: GrowingSearch, task: Task, run: Run, value: Array, step: Step
) -> tuple[Any, Array]:
    """Returns (states, policies [2, 2, H]) of both gadgets: follow for `value`, or terminate."""
    gadget = task.gadget
    gain = jnp.stack([value, gadget.alternative], 1) * gadget.alpha
    legal = jnp.ones(gain.shape, bool)
    update = jax.vmap(search.solver.minimizer.update, (0, None, 0, 0, 0))
    states, follow = update(run.gadget, step, gain, run.follow, legal)
    return states, follow
