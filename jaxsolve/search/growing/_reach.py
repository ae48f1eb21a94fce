"""Own reaches in a growing tree: from the root down to every child of what is opened."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.devices import by_platform, shared_max
from jaxsolve.public import Transitions
from jaxsolve.search.growing._fused import fused_down, fused_or
from jaxsolve.search.growing._rows import by_actor, entries, put_rows, rows_of
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem, SearchState
from jaxsolve.search.growing._tree import Growth
from jaxsolve.types import Array


def action_reach_of(
    search: GrowingSearch, growth: Growth, start: Array, policy: Array, action_reach: Array
) -> Array:
    """Returns float [I, 2, A + 1, H], own reaches under a policy, in place of others."""
    transitions = search.model.transitions(growth.store)

    def fused() -> Array:
        return fused_down(search, growth, start, policy, action_reach)

    def looped() -> Array:
        return _looped(transitions, growth, start, policy, action_reach)

    return fused_or(search, transitions, policy.dtype, fused, looped)


def _looped(
    transitions: Transitions, growth: Growth, start: Array, policy: Array, action_reach: Array
) -> Array:
    """Returns what `action_reach_of` does, as a loop."""
    hands = transitions.weights.hands

    def one(n: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        action_reach, reach = carry
        actor = transitions.actor[growth.row[n]]

        def play(actor: Any, own: int, _: int, action_reach: Array, n: Array) -> Array:
            flow = reach[actor, :own] * rows_of(policy, n, hands=own)
            return put_rows(action_reach, flow, n, actor)

        action_reach = put_rows(action_reach, reach[1 - actor], n, 1 - actor)
        action_reach = by_actor(hands, actor, play, action_reach, n)
        after = jnp.minimum(n + 1, len(policy) - 1)
        up, child = growth.up[after], growth.step[after]
        row = growth.row[up]
        renumbers = None if transitions.renumbers is None else transitions.renumbers[row]
        return action_reach, reach_at(transitions, action_reach, up, row, child, renumbers)

    return jax.lax.fori_loop(0, shared_max(growth.num_opened), one, (action_reach, start))[0]


def root_reach(problem: SearchProblem, state: SearchState) -> Array:
    """Returns float [2, H], own reaches at the root."""
    follow = problem.floor + problem.gadget.alpha * state.follow[:, 0]
    return jnp.where(problem.gadget.on[:, None], problem.reach * follow, problem.reach)


def reach_at(
    transitions: Transitions,
    action_reach: Array,
    up: Array,
    row: Array,
    child: Array,
    renumbers: Array | None = None,
    numbers: Array | None = None,
) -> Array:
    """Returns float [2, H], own reaches at a child of an opened public state.

    Args:
        transitions: of the model.
        action_reach: float [I, 2, A + 1, H].
        up: int32 [], the opened public state.
        row: int32 [], its row.
        child: int32 [], which child of it.
        renumbers: bool [], of the row; None: it may. A batch is read in one way, pair by pair where
            any of it needs that.
        numbers: int32 [2, N], private states of the child in place of all H; of a player with no
            more than N all, in their order.
    """
    child = jnp.minimum(child, transitions.num_children - 1)
    # Out of the whole array at once: a row of it is much larger than what is read.
    flat = action_reach.reshape(len(action_reach), 2, -1)
    every = transitions.weights.hands
    most = transitions.num_hands if numbers is None else numbers.shape[-1]
    sizes = [min(n, most) for n in every]

    def some(player: int) -> Any:
        if numbers is None or every[player] <= most:
            return slice(sizes[player])
        return numbers[player]

    def summed(player: int, origins: int | None) -> Array:
        source = transitions.parents_of[row, child, player, some(player)][:, :origins]
        return entries(flat, up, player, source).sum(-1)

    def padded(parts: Any) -> Array:
        return jnp.stack([jnp.pad(x, (0, most - len(x))) for x in parts])

    def moved() -> Array:
        return padded(summed(player, None) for player in range(2))

    def kept() -> Array:
        many = every.index(max(every))
        stays = entries(flat, up, many, some(many))  # by the first action, whose codes are numbers
        goes = summed(1 - many, 1)
        return padded((goes, stays) if many else (stays, goes))

    if renumbers is None:
        return moved()
    any_does = shared_max(renumbers.astype(jnp.int32)) > 0
    return by_platform(cpu=lambda: jax.lax.cond(any_does, moved, kept), default=moved)


def flow_of(actor: Array, reach: Array, policy: Array) -> Array:
    """Returns float [2, A + 1, H], own reaches of actions; see `SearchState.action_reach`."""
    acts = (jnp.arange(2) == actor)[:, None, None]
    first = jnp.arange(len(policy))[:, None] == 0
    flow = reach[:, None] * jnp.where(acts, policy, first)
    return jnp.pad(flow, ((0, 0), (0, 1), (0, 0)))
