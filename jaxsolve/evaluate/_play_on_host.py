"""One match at a time, for agents that live on the host: the same draws as side by side."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate._arena import Arena, Turn
from jaxsolve.evaluate._play import Match, act_key, drawn, keys_of
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.types import CHANCE, TERMINAL, Array, PRNGKey, PyTree, Status


def play_on_host(
    arena: Arena, key: PRNGKey, deal: int, rotation: int, seats: tuple[Agent, ...], keep: bool
) -> tuple[Match, Array]:
    """Returns (one match without its leading axis, its status): the same draws as `play`."""
    cards, moves = keys_of(key, deal, rotation)
    most, width = arena.max_moves, arena.num_actions
    actors, actions = np.full(most, TERMINAL, np.int32), np.full(most, -1, np.int32)
    policies = np.zeros((most, width if keep else 0), jnp.zeros(0).dtype)
    minds = [a.init(jnp.int32(i), jax.random.fold_in(moves, i)) for i, a in enumerate(seats)]
    position, dealt, status = _start(arena), 0, Status.OK
    for step in range(most):
        turn, outcome, full = _look(arena, position, cards, dealt)
        actor = int(turn.actor)
        if actor == TERMINAL:
            break
        if actor == CHANCE:
            decision, dealt = Decision(outcome, turn.chance), dealt + 1
        else:
            status |= Status(int(full))
            decision, minds[actor] = _decide(
                arena, seats[actor], minds[actor], position, actor, act_key(moves, step, actor)
            )
        chosen = int(decision.action)
        actors[step], actions[step] = actor, chosen
        if keep:
            policies[step] = decision.policy
        if not (0 <= chosen < width and turn.legal[chosen]):
            status |= Status.ILLEGAL
        if status:
            break
        position = _step(arena, position, jnp.int32(chosen))
    if not status and int(_look(arena, position, cards, dealt)[0].actor) != TERMINAL:
        status |= Status.MOVES
    match = Match(
        jnp.asarray(actors), jnp.asarray(actions), jnp.asarray(policies), _utility(arena, position)
    )
    return match, jnp.int32(status.value)


def _decide(
    arena: Arena, agent: Agent, mind: PyTree, position: PyTree, seat: int, key: PRNGKey
) -> tuple[Decision, PyTree]:
    seen = _observation(arena, position, jnp.int32(seat))
    if agent.host:
        return agent.act(mind, jax.device_get(seen), key)
    return _act(agent, mind, seen, key)


@jax.jit
def _start(arena: Arena) -> PyTree:
    return arena.start()


@jax.jit
def _look(
    arena: Arena, position: PyTree, cards: PRNGKey, dealt: Array
) -> tuple[Turn, Array, Array]:
    turn = arena.turn(position)
    return turn, drawn(cards, dealt, turn.chance), arena.status(position)


@jax.jit
def _step(arena: Arena, position: PyTree, action: Array) -> PyTree:
    return arena.step(position, action)


@jax.jit
def _utility(arena: Arena, position: PyTree) -> Array:
    return arena.utility(position)


@jax.jit
def _observation(arena: Arena, position: PyTree, player: Array) -> Observation:
    return arena.observation(position, player)


@functools.partial(jax.jit, static_argnames="agent")
def _act(agent: Agent, mind: PyTree, seen: Observation, key: PRNGKey) -> tuple[Decision, PyTree]:
    return agent.act(mind, seen, key)
