"""One iteration of CFR on a tree that grows, as three loops.

A loop over the opened public states, parents first, carries reach down; a loop over the leaves,
some at a time, asks the value function; a loop back carries values up and updates regrets. Loops
end with the largest tree of a batch. On a CPU the first and the last are operators in C++, see
`_fused`. Values are in a public state's own units: those of its children count with the probability
of the chance moves in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.devices import shared_max
from jaxsolve.public import Transitions
from jaxsolve.regret import Step, normalise
from jaxsolve.search.growing._fused import fused_or, fused_up
from jaxsolve.search.growing._leaves import ask_once, leaf_values
from jaxsolve.search.growing._reach import action_reach_of, root_reach
from jaxsolve.search.growing._rows import (
    by_actor,
    entries,
    in_order,
    nothing,
    put_rows,
    rows_of,
)
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem, SearchState
from jaxsolve.tree import take
from jaxsolve.types import Array


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
        state = leaf_values(search, problem, state)
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


def _up(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    mine: Array,
    step: Step,
    decay: Array,
) -> SearchState:
    """Returns the search with values of all public states, and new policies of some players."""

    def fused() -> tuple[Sums, Array]:
        sums, value = fused_up(search, state, mine, step, decay)
        return Sums(*sums), value

    def looped() -> tuple[Sums, Array]:
        return _looped(search, state, mine, step, decay)

    transitions = search.model.transitions(state.growth.store)
    sums, value = fused_or(search, transitions, state.total.dtype, fused, looped)
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


def _looped(
    search: GrowingSearch, state: SearchState, mine: Array, step: Step, decay: Array
) -> tuple[Sums, Array]:
    """Returns (the sums after the pass up, float [2, H] values at the root), as a loop."""
    growth, solver = state.growth, search.solver
    transitions = search.model.transitions(growth.store)
    size, hands = shared_max(growth.num_opened), transitions.weights.hands

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
            kept = total * (decay + nothing(row, total))
            after = regrets, played, kept + reach[actor, :-1, :own], gains
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
    return sums, value


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
        zero = nothing(row, child_values[0])
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
