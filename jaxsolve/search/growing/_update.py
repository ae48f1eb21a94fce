"""One iteration of CFR on a tree that grows, as three loops.

A loop over the opened public states, parents first, carries reach down; a loop over the leaves,
some at a time, asks the value function; a loop back carries values up and updates regrets. Loops
end with the largest tree of a batch. Values are in a public state's own units: those of its
children count with the probability of the chance moves in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.public import Transitions
from jaxsolve.regret import Step, normalise
from jaxsolve.search.growing._reach import action_reach_of, reach_at, root_reach
from jaxsolve.search.growing._rows import by_actor, entries, in_order, put_rows, rows_of, shared_max
from jaxsolve.search.growing._state import GrowingSearch, Known, SearchProblem, SearchState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.tree import take
from jaxsolve.types import Array
from jaxsolve.values import normalised, scaled_values

T = TypeVar("T")


class Sums(NamedTuple):
    """Fields of `SearchState` that the backward loop changes, or one public state's entries."""

    minimizer: Any
    policy: Array
    total: Array
    values: Array
    value_sum: Array
    child_values: Array


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


def _down(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with the reaches of the policies of the moment."""
    action_reach = action_reach_of(
        search, state.growth, root_reach(problem, state), state.policy, state.action_reach
    )
    return state._replace(action_reach=action_reach)


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
    if search.ask_every is not None and state.total.shape[-1] > 1:
        again = state.iteration % search.ask_every == 0
        state = ask(search, problem, state, jnp.where(again, 0, state.growth.fresh))
    growth = state.growth
    transitions = search.model.transitions(growth.store)

    def one(leaves: Leaves, child_values: Array) -> Array:
        reach = leaves.reach(transitions, state.action_reach)
        if state.known is not None:
            possible = transitions.possible[leaves.public]
            mass = jnp.where(possible, reach, 0).sum(-1)[:, ::-1, None]
            found = state.known.values[leaves.up, :, leaves.child] * mass
        else:
            asked = search.model.public_state(growth.store, leaves.public)
            found = scaled_values(problem.value, asked, reach)
        found = found * transitions.factor[leaves.row, leaves.child][:, None, None]
        return child_values.at[leaves.into, :, leaves.child].set(found, mode="drop")

    child_values = _over_leaves(transitions, growth, None, search.tile, one, state.child_values)
    asked = growth.num_leaves if state.known is None else 0
    return state._replace(child_values=child_values, asked=state.asked + asked)


class Leaves(NamedTuple):
    """Some leaves of a tree, one after another (T of them).

    Attributes:
        up: int32 [T], the parent.
        child: int32 [T], which child of it.
        row: int32 [T], of the parent.
        public: int32 [T], number of the public state.
        into: int32 [T], the parent, and one that is not there where no leaf is left.
        renumbers: bool [], see `reach_at`.
    """

    up: Array
    child: Array
    row: Array
    public: Array
    into: Array
    renumbers: Array | None

    def reach(self, transitions: Transitions, action_reach: Array) -> Array:
        """Returns float [T, 2, H], own reaches."""

        def one(up: Array, row: Array, child: Array) -> Array:
            return reach_at(transitions, action_reach, up, row, child, self.renumbers)

        return jax.vmap(one)(self.up, self.row, self.child)


def _over_leaves(
    transitions: Transitions,
    growth: Growth,
    first: Array | None,
    tile: int,
    one: Callable[[Leaves, T], T],
    carry: T,
) -> T:
    """Returns the carry of a loop over the leaves from number `first` on, a tile at a time."""
    width, size = growth.num_children, len(growth.leaf)
    leaf, late = growth.leaf, jnp.zeros_like(growth.num_leaves)
    early = growth.num_leaves if first is None else growth.num_leaves - first
    if transitions.renumbers is not None:
        leaf, late = _parted(transitions, growth, first)
        first, early = None, early - late
    first_tiles, last_tiles = (shared_max((n + tile - 1) // tile) for n in (early, late))

    def some(t: Array, carry: T) -> T:
        low, renumbers = t * tile, None
        there = low + jnp.arange(tile) < early
        if transitions.renumbers is not None:
            renumbers = t >= first_tiles
            low = jnp.where(renumbers, size - (t - first_tiles + 1) * tile, low)
            there = jnp.where(renumbers, low + jnp.arange(tile) >= size - late, there)
        if first is None:
            codes = jax.lax.dynamic_slice_in_dim(leaf, low, tile)
        else:
            codes = leaf[jnp.minimum(first + low + jnp.arange(tile), size - 1)]
        up, child = codes // width, codes % width
        row = growth.row[up]
        public = jnp.maximum(transitions.child[row, child], 0)
        into = jnp.where(there, up, len(growth.row))
        return one(Leaves(up, child, row, public, into, renumbers), carry)

    return jax.lax.fori_loop(0, first_tiles + last_tiles, some, carry)


def _parted(transitions: Transitions, growth: Growth, first: Array | None) -> tuple[Array, Array]:
    """Returns the leaves from number `first` on in another order, and how many are at the end.

    Those are the ones below rows that renumber private states; the others come first.
    """
    size = len(growth.leaf)
    some = jnp.arange(size) < growth.num_leaves
    if first is not None:
        some &= jnp.arange(size) >= first
    late = transitions.renumbers[growth.row[growth.leaf // growth.num_children]] & some
    at = jnp.where(late, size - jnp.cumsum(late), jnp.cumsum(some & ~late) - 1)
    at = jnp.where(some, at, size)
    return jnp.zeros_like(growth.leaf).at[at].set(growth.leaf, mode="drop"), late.sum()


def ask_once(search: GrowingSearch, problem: SearchProblem, state: SearchState) -> SearchState:
    """Returns the search with what is known of new leaves, where no range changes it."""
    if state.known is None or state.total.shape[-1] > 1:
        return state
    return ask(search, problem, state, state.growth.fresh)


def ask(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, first: Array
) -> SearchState:
    """Returns the search with answers about the leaves from number `first` on."""
    growth, hands = state.growth, state.total.shape[-1]
    assert state.known is not None
    transitions = search.model.transitions(growth.store)
    tile = search.tile if hands > 1 else min(search.tile, search.top or search.tile)
    sure = jnp.ones((tile, 2, 1), state.total.dtype)

    def one(leaves: Leaves, known: Known) -> Known:
        at = leaves.into, slice(None), leaves.child
        asked = search.model.public_state(growth.store, leaves.public)
        beliefs = sure
        if hands > 1:
            reach = leaves.reach(transitions, state.action_reach)
            beliefs, _ = normalised(reach, asked.possible)
        found = jnp.where(asked.possible, problem.value(asked, beliefs), 0)
        values = known.values.at[at].set(found, mode="drop")
        if problem.prior is None or known.prior is None:
            return Known(values, None)
        # Of a network that is both, the compiler makes one pass.
        given = problem.prior(asked, sure)[:, : known.prior.shape[1], 0]
        return Known(values, known.prior.at[at].set(given, mode="drop"))

    known = _over_leaves(transitions, growth, first, tile, one, state.known)
    asked = state.asked + growth.num_leaves - first
    return state._replace(known=known, growth=growth._replace(fresh=growth.num_leaves), asked=asked)


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

    hands = transitions.weights.hands

    def loaded(sums: Sums, n: Array, acting: Any) -> tuple[Any, Any]:
        """Returns what the actor has at n, in place of what is there, and what children have.

        The loop reads what it needs next after it has written: then the compiler writes in place,
        where otherwise it copies whole arrays.
        """
        arrays = sums.minimizer, sums.policy, sums.total, sums.values

        def load(_: Any, own: int, __: int, acting: Any, n: Array) -> Any:
            return put_rows(acting, rows_of(arrays, n, hands=own))

        actor = transitions.actor[growth.row[n]]
        children = tuple(
            rows_of((sums.child_values, sums.value_sum), n, p, hands=number)
            for p, number in enumerate(hands)
        )
        return by_actor(hands, actor, load, acting, n), children

    def one(number: Array, carry: Any) -> Any:
        sums, acting, children, value = carry
        n = size - 1 - number
        row, up, child = growth.row[n], growth.up[n], growth.step[n]
        child_values = [values for values, _ in children]
        value_sum = sums.value_sum
        for p, (now, before) in enumerate(children):
            after = jnp.where(mine[p], before * decay + now, before)
            value_sum = put_rows(value_sum, after, n, p)

        def back(actor: Any, own: int, other: int, carry: Any, n: Array) -> Any:
            arrays, value = carry
            row = growth.row[n]
            reach = rows_of(state.action_reach, n)
            gains, theirs = action_values(transitions, row, actor, child_values, reach, own, other)
            before = jax.tree.map(lambda x: x[..., :own], acting)
            regrets, policy, total, _ = before
            acted = (policy * gains).sum(0)
            both = [jnp.pad(x, (0, value.shape[1] - len(x))) for x in (acted, theirs)]
            value = jnp.stack(in_order(actor, *both))
            allowed = rows_of(growth.allowed, n, hands=own)
            regrets, played = solver.minimizer.update(regrets, step, gains, policy, allowed)
            if search.warm is not None:  # what is not in the tree yet has regrets, too
                played = normalise(jnp.where(allowed, played, 0), allowed)
            after = regrets, played, total * decay + reach[actor, :-1, :own], gains
            after = jax.tree.map(lambda x, y: jnp.where(mine[actor], x, y), after, before)
            return put_rows(arrays, after, n), value

        arrays = sums.minimizer, sums.policy, sums.total, sums.values
        arrays, value = by_actor(hands, transitions.actor[row], back, (arrays, value), n)
        factor = jnp.append(transitions.factor[growth.row[up]], 0)[child]  # 0 at the root
        sums = Sums(
            *arrays,
            value_sum=value_sum,
            child_values=sums.child_values.at[up, :, child].set(value * factor),
        )
        return sums, *loaded(sums, jnp.maximum(n - 1, 0), acting), value

    sums = Sums(*(getattr(state, name) for name in Sums._fields))
    acting = rows_of((sums.minimizer, sums.policy, sums.total, sums.values), size - 1)
    start = (sums, *loaded(sums, size - 1, acting), state.root_value_sum)
    sums, _, _, value = jax.lax.fori_loop(0, size, one, start)
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


def action_values(
    transitions: Transitions,
    row: Array,
    actor: Any,
    child_values: Sequence[Array],
    action_reach: Array,
    own: int,
    other: int,
) -> tuple[Array, Array]:
    """Returns counterfactual values of the actor's actions [A, own], of who waits [other].

    Args:
        transitions: of the model.
        row: int32 [], the public state.
        actor: of it.
        child_values: float [C + 1, H of the player], of each player.
        action_reach: float [2, A + 1, H]; see `SearchState`.
        own: private states of the actor.
        other: of who waits.
    """
    most = transitions.num_hands

    def summed(player: Any, codes: Array) -> Array:
        if isinstance(player, int):
            return entries(child_values[player], codes // most, codes % most).sum(-1)
        # A 0 that depends on the row, so that this stays in the loop where it is needed.
        zero = jnp.minimum(row, 0).astype(child_values[0].dtype)
        wide = [((0, 0), (0, most - x.shape[1])) for x in child_values]
        padded = [
            jnp.pad(x, at, constant_values=zero).reshape(-1)
            for x, at in zip(child_values, wide, strict=True)
        ]
        return entries(jnp.stack(padded), player, codes).sum(-1)

    mine = summed(actor, transitions.child_of_action[row, :, slice(own)])
    if transitions.renumbers is not None and own < other:  # who waits keeps their numbers
        theirs = child_values[1 - actor][:-1].sum(0)
    else:
        theirs = summed(1 - actor, transitions.child_of_waiting[row, slice(other)])
    acting, waiting = action_reach[actor, :-1], action_reach[1 - actor, :1]
    paid = transitions.payoffs.values(row, *in_order(actor, acting, waiting))
    acted, waited = in_order(actor, *paid)
    return mine + acted[:, :own], theirs + waited[:, :other].sum(0)


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
