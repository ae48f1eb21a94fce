"""One iteration of CFR on a tree that grows, as three loops.

A loop over the opened public states, parents first, carries reach down; a loop over the leaves,
some at a time, asks the value function; a loop back carries values up and updates regrets. Loops
end with the largest tree of a batch. Values are in a public state's own units: those of its
children count with the probability of the chance moves in between.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.public import Transitions
from jaxsolve.regret import Step
from jaxsolve.search.growing._state import GrowingSearch, Known, SearchProblem, SearchState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.tree import take
from jaxsolve.types import Array
from jaxsolve.values import scaled_values


class Sums(NamedTuple):
    """Fields of `SearchState` that the backward loop changes, or one public state's entries."""

    minimizer: Any
    policy: Array
    total: Array
    values: Array
    value_sum: Array
    child_values: Array


@jax.custom_batching.custom_vmap
def shared_max(number: Array) -> Array:
    """Returns the number itself; under vmap the largest of the batch, for all of them.

    A loop that ends there stays one loop under vmap, without a selection of all that it changes.
    """
    return number


@shared_max.def_vmap
def _shared_max(size: int, batched: Any, number: Array) -> tuple[Array, bool]:
    return (number.max() if batched[0] else number), False


def update(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search after one iteration of CFR on the tree of the moment."""
    solver, dtype = search.solver, state.total.dtype
    step = Step((state.iteration + 1).astype(dtype), problem.horizon.astype(dtype))
    decay = jnp.asarray(solver.decay(step), dtype)
    present = state.present * decay + state.growth.inside
    state = state._replace(present=present, weight=state.weight * decay + 1)
    state = ask_once(search, problem, state)

    def turn(number: Array, state: SearchState) -> SearchState:
        mine = (jnp.arange(2) == number) | (not solver.alternating)
        state = _down(search, problem, state)
        state = _sum_ranges(search, problem, state, mine, decay)
        state = _leaves(search, problem, state)
        return _up(search, problem, state, mine, step, decay)

    state = jax.lax.fori_loop(0, 2 if solver.alternating else 1, turn, state)
    return state._replace(iteration=state.iteration + 1)


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


def _down(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with the reaches of the policies of the moment."""
    action_reach = action_reach_of(
        search, state.growth, root_reach(problem, state), state.policy, state.action_reach
    )
    return state._replace(action_reach=action_reach)


def action_reach_of(
    search: GrowingSearch, growth: Growth, start: Array, policy: Array, action_reach: Array
) -> Array:
    """Returns float [I, 2, A + 1, H], own reaches under a policy, in place of others."""
    transitions = search.model.transitions(growth.store)

    def one(n: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        action_reach, reach = carry
        flow = flow_of(transitions.actor[growth.row[n]], reach, row_of(policy, n))
        action_reach = put_row(action_reach, flow, n)
        after = jnp.minimum(n + 1, len(policy) - 1)
        up, child = growth.up[after], growth.step[after]
        merges = None if transitions.merges is None else transitions.merges[growth.row[up]]
        return action_reach, reach_at(transitions, growth, action_reach, up, child, merges)

    return jax.lax.fori_loop(0, shared_max(growth.num_opened), one, (action_reach, start))[0]


def root_reach(problem: SearchProblem, state: SearchState) -> Array:
    """Returns float [2, H], own reaches at the root."""
    follow = problem.floor + problem.gadget.alpha * state.follow[:, 0]
    return jnp.where(problem.gadget.on[:, None], problem.reach * follow, problem.reach)


def reach_at(
    transitions: Transitions,
    growth: Growth,
    action_reach: Array,
    up: Array,
    child: Array,
    merges: Array | None = None,
) -> Array:
    """Returns float [2, H], own reaches at a child of an opened public state.

    Args:
        transitions: of the model.
        growth: the tree.
        action_reach: float [I, 2, A + 1, H].
        up: int32 [], the opened public state.
        child: int32 [], which child of it.
        merges: bool [], whether several pairs lead to one private state of the child; None: they
            may. One of both is computed where it is the same for a whole batch.
    """
    row, child = growth.row[up], jnp.minimum(child, transitions.num_children - 1)
    # Out of the whole array at once: a row of it is much larger than what is read.
    flat, most = action_reach.reshape(len(action_reach), 2, -1), transitions.num_hands

    def summed(origins: int | None) -> Array:
        def one(player: int, hands: int) -> Array:
            source = transitions.parents_of[row, child, player, slice(hands)][:, :origins]
            found = flat.at[up, player, source].get(mode="promise_in_bounds").sum(-1)
            return jnp.pad(found, (0, most - hands))

        return jnp.stack([one(player, n) for player, n in enumerate(transitions.weights.hands)])

    if merges is None:
        return summed(None)
    return jax.lax.cond(merges, lambda: summed(None), lambda: summed(1))


def flow_of(actor: Array, reach: Array, policy: Array) -> Array:
    """Returns float [2, A + 1, H], own reaches of actions."""
    acts = (jnp.arange(2) == actor)[:, None, None]
    flow = reach[:, None] * jnp.where(acts, policy, 1)
    return jnp.pad(flow, ((0, 0), (0, 1), (0, 0)))


def _sum_ranges(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, mine: Array, decay: Array
) -> SearchState:
    """Adds the players' own reaches at the root and at the focus to their sums."""
    growth = state.growth
    ends = take(state.action_reach, problem.focus)
    acts = jnp.arange(2) == search.model.transitions(growth.store).actor[growth.row[problem.focus]]
    reach = jnp.where(acts[:, None], ends.sum(1), ends[:, 0])
    some = mine[:, None]
    return state._replace(
        start=jnp.where(some, state.start * decay + reach, state.start),
        root_reach=jnp.where(
            some, state.root_reach * decay + root_reach(problem, state), state.root_reach
        ),
    )


def _leaves(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with the values of the leaves under the reaches of the moment."""
    growth = state.growth
    transitions = search.model.transitions(growth.store)
    width, tile, size = growth.num_children, search.tile, len(growth.leaf)
    leaf, late = (growth.leaf, 0) if transitions.merges is None else _parted(transitions, growth)
    early = growth.num_leaves - late
    first_tiles, last_tiles = (shared_max((n + tile - 1) // tile) for n in (early, late))

    def one(t: Array, child_values: Array) -> Array:
        first, merges = t * tile, None
        there = first + jnp.arange(tile) < early
        if transitions.merges is not None:
            merges = t >= first_tiles
            first = jnp.where(merges, size - (t - first_tiles + 1) * tile, first)
            there = jnp.where(merges, first + jnp.arange(tile) >= size - late, there)
        codes = jax.lax.dynamic_slice_in_dim(leaf, first, tile)
        here, child = codes // width, codes % width
        row = growth.row[here]
        public = jnp.maximum(transitions.child[row, child], 0)
        reach = jax.vmap(
            lambda n, k: reach_at(transitions, growth, state.action_reach, n, k, merges)
        )(here, child)
        if state.known is not None:
            found = state.known.values[here, :, child] * reach[:, ::-1]
        else:
            asked = search.model.public_state(growth.store, public)
            found = scaled_values(problem.value, asked, reach)
        found = found * transitions.factor[row, child][:, None, None]
        there = jnp.where(there, here, len(growth.row))
        return child_values.at[there, :, child].set(found, mode="drop")

    child_values = jax.lax.fori_loop(0, first_tiles + last_tiles, one, state.child_values)
    asked = growth.num_leaves if state.known is None else 0
    return state._replace(child_values=child_values, asked=state.asked + asked)


def _parted(transitions: Transitions, growth: Growth) -> tuple[Array, Array]:
    """Returns the leaves in another order, and how many come from the end on.

    Those are the ones below rows in which pairs merge; the others come first.
    """
    size = len(growth.leaf)
    some = jnp.arange(size) < growth.num_leaves
    late = transitions.merges[growth.row[growth.leaf // growth.num_children]] & some
    at = jnp.where(late, size - jnp.cumsum(late), jnp.cumsum(some & ~late) - 1)
    at = jnp.where(some, at, size)
    return jnp.zeros_like(growth.leaf).at[at].set(growth.leaf, mode="drop"), late.sum()


def ask_once(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with what is known of new leaves, where no range changes it."""
    if state.known is None:
        return state
    growth = state.growth
    transitions = search.model.transitions(growth.store)
    width = growth.num_children
    tile = min(search.tile, search.top or search.tile)
    sure = jnp.ones((tile, 2, 1), state.total.dtype)

    def one(t: Array, known: Known) -> Known:
        at = growth.fresh + t * tile + jnp.arange(tile)
        codes = growth.leaf[jnp.minimum(at, len(growth.leaf) - 1)]
        here, child = codes // width, codes % width
        public = jnp.maximum(transitions.child[growth.row[here], child], 0)
        there = jnp.where(at < growth.num_leaves, here, len(growth.row))
        asked = search.model.public_state(growth.store, public)
        values = known.values.at[there, :, child].set(problem.value(asked, sure), mode="drop")
        if problem.prior is None or known.prior is None:
            return Known(values, None)
        # Of a network that is both, the compiler makes one pass.
        given = problem.prior(asked, sure)[:, : known.prior.shape[1], 0]
        return Known(values, known.prior.at[there, :, child].set(given, mode="drop"))

    new = growth.num_leaves - growth.fresh
    known = jax.lax.fori_loop(0, shared_max((new + tile - 1) // tile), one, state.known)
    growth = growth._replace(fresh=growth.num_leaves)
    return state._replace(known=known, growth=growth, asked=state.asked + new)


def _up(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    mine: Array,
    step: Step,
    decay: Array,
) -> SearchState:
    """Returns the search with values of all public states, and new policies of some players."""
    growth, solver = state.growth, search.solver
    transitions = search.model.transitions(growth.store)
    size = shared_max(growth.num_opened)

    def one(number: Array, carry: tuple[Sums, Sums, Array]) -> tuple[Sums, Sums, Array]:
        sums, at, _ = carry
        n = size - 1 - number
        row = growth.row[n]
        actor = transitions.actor[row]
        action_reach = row_of(state.action_reach, n)
        own, other = _values(transitions, row, at.child_values, action_reach)
        acted = (at.policy * own).sum(0)
        first = actor == 0
        value = jnp.where(first, jnp.stack([acted, other]), jnp.stack([other, acted]))
        updates = mine[actor]
        regrets, played = solver.minimizer.update(
            at.minimizer, step, own, at.policy, row_of(growth.allowed, n)
        )
        new = Sums(
            minimizer=regrets,
            policy=played,
            total=at.total * decay + action_reach[actor, :-1],
            values=own,
            value_sum=jnp.where(
                mine[:, None, None], at.value_sum * decay + at.child_values, at.value_sum
            ),
            child_values=at.child_values,
        )
        kept = jax.tree.map(lambda x, y: jnp.where(updates, x, y), new, at)
        kept = kept._replace(value_sum=new.value_sum)
        sums = jax.tree.map(lambda x, y: put_row(x, y, n), sums, kept)
        up, child = growth.up[n], growth.step[n]
        factor = jnp.append(transitions.factor[growth.row[up]], 0)[child]  # 0 at the root
        sums = sums._replace(child_values=sums.child_values.at[up, :, child].set(value * factor))
        return sums, rows_of(sums, n - 1), value

    sums = Sums(*(getattr(state, name) for name in Sums._fields))
    start = (sums, rows_of(sums, size - 1), state.root_value_sum)
    sums, _, value = jax.lax.fori_loop(0, size, one, start)
    before, some = state.root_value_sum, mine[:, None]
    gadget, follow = _gadget_update(search, problem, state, value, step)
    on = (mine & problem.gadget.on)[:, None, None]
    return state._replace(
        **sums._asdict(),
        root_value_sum=jnp.where(some, before * decay + value, before),
        gadget=jax.tree.map(
            lambda new, old: jnp.where(on.reshape(2, *(1,) * (new.ndim - 1)), new, old),
            gadget,
            state.gadget,
        ),
        follow=jnp.where(on, follow, state.follow),
    )


def _values(
    transitions: Transitions, row: Array, child_values: Array, action_reach: Array
) -> tuple[Array, Array]:
    """Returns counterfactual values of the actor's actions [A, H], of the player who waits [H]."""
    actor = transitions.actor[row]
    flat = child_values.reshape(2, -1)

    def summed(player: Array, codes: Array) -> Array:
        return flat.at[player, codes].get(mode="promise_in_bounds").sum(-1)

    own = summed(actor, transitions.child_of_action[row])
    other = summed(1 - actor, transitions.child_of_waiting[row])
    one, two = transitions.payoffs.values(row, action_reach[:, :-1])
    first = actor == 0
    return own + jnp.where(first, one, two), other + jnp.where(first, two, one).sum(0)


def _gadget_update(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, value: Array, step: Step
) -> tuple[Any, Array]:
    """Returns (states, policies [2, 2, H]) of both gadgets: follow for `value`, or terminate."""
    gadget = problem.gadget
    gain = jnp.stack([value, gadget.alternative], 1) * gadget.alpha
    legal = jnp.ones(gain.shape, bool)
    update = jax.vmap(search.solver.minimizer.update, (0, None, 0, 0, 0))
    states, follow = update(state.gadget, step, gain, state.follow, legal)
    return states, follow
