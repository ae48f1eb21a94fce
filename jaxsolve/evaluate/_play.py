"""Matches side by side on the device: all of them make one move at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve import devices
from jaxsolve.evaluate._arena import Arena
from jaxsolve.game import Agent, Observation
from jaxsolve.tree import pick
from jaxsolve.types import CHANCE, TERMINAL, Array, PRNGKey, PyTree, Status


class Match(NamedTuple):
    """Matches that were played (M matches, D moves, A actions, n agents).

    Attributes:
        actors: int32 [M, D], the seat that moved, or CHANCE; TERMINAL once a match is over.
        actions: int32 [M, D], -1 once a match is over.
        policies: float [M, D, A], what each action was drawn from, outcomes of chance included;
            [M, D, 0] where they were not kept.
        utility: float [M, n], by agent.
    """

    actors: Array
    actions: Array
    policies: Array
    utility: Array


class _Table(NamedTuple):
    """A match in progress.

    Attributes:
        position: of the arena.
        over: bool [], whether nobody moves any more.
        dealt: int32 [], chance moves so far.
        minds: the agents' states.
        status: int32 [], bits of `Status`.
    """

    position: PyTree
    over: Array
    dealt: Array
    minds: tuple[PyTree, ...]
    status: Array


class _Record(NamedTuple):
    """Moves in the order in which they were made: `Match` with axes [D, M]."""

    actors: Array
    actions: Array
    policies: Array


@functools.partial(jax.jit, static_argnames=("agents", "keep", "in_turn"))
def play(
    arena: Arena,
    key: PRNGKey,
    deals: Array,
    rotation: Array,
    agents: tuple[Agent, ...],
    keep: bool,
    in_turn: bool,
) -> tuple[Match, Array]:
    """Returns (matches, int32 [M], their status); utility is by seat. Devices share the deals.

    Agent j has seat (j - rotation) mod n: one program plays them all.
    """
    seats = jnp.mod(jnp.arange(len(agents)) - rotation, len(agents))

    def share(deals: Array) -> tuple[Match, Array]:
        count, width = len(deals), arena.num_actions if keep else 0
        keys = jax.vmap(lambda k: keys_of(key, k, rotation))(deals)
        tables = jax.vmap(lambda k: _begin(arena, k[1], agents, seats))(keys)
        record = _Record(
            jnp.full((arena.max_moves, count), TERMINAL, jnp.int32),
            jnp.full((arena.max_moves, count), -1, jnp.int32),
            jnp.zeros((arena.max_moves, count, width), float),
        )

        def goes_on(carry: tuple[Array, _Table, _Record]) -> Array:
            step, tables, _ = carry
            return (step < arena.max_moves) & ~tables.over.all()

        def move(carry: tuple[Array, _Table, _Record]) -> tuple[Array, _Table, _Record]:
            step, tables, record = carry
            tables, made = _move(arena, tables, step, keys, agents, seats, in_turn)
            made = made._replace(policies=made.policies[:, :width])
            return (
                step + 1,
                tables,
                jax.tree.map(lambda x, y: x.at[step].set(y.astype(x.dtype)), record, made),
            )

        _, tables, record = jax.lax.while_loop(goes_on, move, (jnp.int32(0), tables, record))
        status = tables.status | jnp.where(tables.over, 0, Status.MOVES.value)
        utility = jax.vmap(arena.utility)(tables.position)
        actors, actions, policies = (jnp.swapaxes(x, 0, 1) for x in record)
        return Match(actors, actions, policies, utility), status

    return devices.split(share)(deals)


def keys_of(key: PRNGKey, deal: Array | int, rotation: Array | int) -> tuple[PRNGKey, PRNGKey]:
    """Returns the keys of (chance, agents): agents draw afresh in other seats, the cards stay."""
    key = jax.random.fold_in(key, deal)
    return jax.random.fold_in(key, 0), jax.random.fold_in(key, 1 + rotation)


def _chosen(mine: Array, after: Array, before: Array) -> Array:
    if after is before:
        return before
    return jnp.where(mine.reshape(-1, *(1,) * (after.ndim - 1)), after, before)


def _begin(arena: Arena, moves: PRNGKey, agents: tuple[Agent, ...], seats: Array) -> _Table:
    minds = tuple(
        agent.init(seats[j], jax.random.fold_in(moves, seats[j])) for j, agent in enumerate(agents)
    )
    position, none = arena.start(), jnp.int32(0)
    return _Table(position, arena.turn(position).actor == TERMINAL, none, minds, none)


def act_key(moves: PRNGKey, step: Array | int, seat: Array | int) -> PRNGKey:
    return jax.random.fold_in(jax.random.fold_in(moves, 1000 + step), seat)


def drawn(cards: PRNGKey, dealt: Array, chance: Array) -> Array:
    return pick(chance, jax.random.uniform(jax.random.fold_in(cards, dealt)))


def _move(
    arena: Arena,
    tables: _Table,
    step: Array,
    keys: tuple[PRNGKey, PRNGKey],
    agents: tuple[Agent, ...],
    seats: Array,
    in_turn: bool,
) -> tuple[_Table, _Record]:
    """Returns (the tables after a move each, what was done), leading axis M.

    An agent that is to move in none of the matches is not asked; `in_turn`, only in those in which
    it is to move.
    """
    cards, moves = keys
    turns = jax.vmap(arena.turn)(tables.position)
    actors = jnp.where(tables.over, TERMINAL, turns.actor)
    chosen = jax.vmap(drawn)(cards, tables.dealt, turns.chance)
    policies, minds = turns.chance, []
    for seat, agent, mind in zip(seats, agents, tables.minds, strict=True):
        mine = actors == seat
        decide = jax.jit(agent.act)  # traced once, though it is asked for shapes and in branches

        def ask(
            mind: PyTree,
            mine: Array = mine,
            agent: Agent = agent,
            decide: Callable[..., Any] = decide,
            seat: Array = seat,
        ) -> tuple[Array, Array, PyTree]:
            seen = jax.vmap(lambda p: arena.observation(p, seat))(tables.position)
            acts = jax.vmap(lambda k: act_key(k, step, seat))(moves)

            def act(mind: PyTree, seen: Observation, key: PRNGKey) -> tuple[Array, Array, PyTree]:
                decision, after = decide(mind, seen, key)
                if decision.policy.shape != (arena.num_actions,):
                    raise ValueError(
                        f"the agent {agent.name!r} decides by a policy of shape "
                        f"{decision.policy.shape}, but {arena.name} has {arena.num_actions} actions"
                    )
                return decision.action.astype(jnp.int32), decision.policy, after

            if in_turn:
                return _one_by_one(act, mind, seen, acts, mine)
            action, policy, after = jax.vmap(act)(mind, seen, acts)
            return action, policy, jax.tree.map(lambda x, y: _chosen(mine, x, y), after, mind)

        def skip(mind: PyTree) -> tuple[Array, Array, PyTree]:
            shapes = jax.eval_shape(ask, mind)
            nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes[:2])
            return *nothing, mind

        action, policy, after = jax.lax.cond(mine.any(), ask, skip, mind)
        chosen = jnp.where(mine, action, chosen)
        policies = jnp.where(mine[:, None], policy, policies)
        minds.append(after)
    return jax.vmap(functools.partial(_after, arena))(
        tables._replace(minds=tuple(minds)), actors, turns.legal, chosen, policies
    )


def _one_by_one(
    act: Callable[..., Any], mind: PyTree, seen: Observation, keys: Array, mine: Array
) -> Any:
    """Returns `act` of each match in which the agent is to move; zeros and its mind elsewhere."""

    def one(at: tuple[PyTree, Observation, Array, Array]) -> Any:
        mind, seen, key, mine = at
        shapes = jax.eval_shape(act, mind, seen, key)[:2]
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
        return jax.lax.cond(mine, lambda: act(mind, seen, key), lambda: (*nothing, mind))

    return jax.lax.map(one, (mind, seen, keys, mine))


def _after(
    arena: Arena, table: _Table, actor: Array, legal: Array, chosen: Array, policy: Array
) -> tuple[_Table, _Record]:
    """Returns (one table after an action, what was done)."""
    allowed = legal.at[chosen].get(mode="fill", fill_value=False)
    status = jnp.where(actor >= 0, arena.status(table.position), 0)
    status = status | jnp.where((actor >= 0) & ~allowed, Status.ILLEGAL.value, 0)
    position = arena.step(table.position, jnp.where(allowed, chosen, 0))
    over = table.over | (status != 0) | (arena.turn(position).actor == TERMINAL)
    after = table._replace(
        position=position,
        over=over,
        dealt=table.dealt + (actor == CHANCE),
        status=table.status | status,
    )
    made = jnp.where(table.over, -1, chosen), jnp.where(table.over, 0, policy)
    return after, _Record(actor, *made)
