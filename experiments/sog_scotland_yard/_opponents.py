"""Players with PimBot's belief over stations: our information set MCTS, and one without search."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._pimbot import Memory, greedy, memory_of, take_in
from experiments.sog_scotland_yard._pimbot_parts import board_of, filtered, moves_of
from games.scotland_yard import ScotlandYard
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.search.ismcts import Belief, World, first_world, ismcts
from jaxsolve.types import Array, PRNGKey


def ismcts_agent(game: ScotlandYard, simulations: int, *, uct_c: float = 1.0) -> Agent:
    """Returns information set MCTS as an agent of either seat.

    Args:
        game: the rules.
        simulations: of a search.
        uct_c: exploration constant; payoffs are -1 and 1.

    Raises:
        ValueError: the number of simulations is not positive.
    """
    if simulations < 1:
        raise ValueError(f"simulations={simulations} must be positive")
    size = game.map.num_stations
    longest = game.map.rounds * (1 + len(game.map.detectives)) + game.map.doubles + 1

    def init(seat: Array, key: PRNGKey) -> Memory:
        return memory_of(game, seat)

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        memory = take_in(game, memory, seen)
        numbers = jnp.arange(size)
        states = jax.vmap(lambda h: game.place(memory.state, h))(numbers)
        # Mr X knows where he is; to detectives all of these worlds are one infostate.
        own = jnp.broadcast_to(first_world(game).memory, (size, 2, 2))
        own = own.at[:, 0, 0].add(numbers.astype(own.dtype))
        real = numbers == memory.state.stations[0]
        odds = jnp.where(memory.seat == 0, real, memory.possible).astype(float)
        order = jnp.argsort(-odds, stable=True)  # the first world stands for the infostate
        worlds = jax.tree.map(lambda x: x[order], World(states, own))
        root, _ = ismcts(
            game,
            Belief(worlds, odds[order]),
            key,
            simulations=simulations,
            uct_c=uct_c,
            max_steps=longest,
        )
        policy = jnp.where(seen.legal, root.policy("max_visits"), 0)
        even = seen.legal / seen.legal.sum()
        policy = jnp.where(policy.sum() > 0, policy, even)
        return Decision(jnp.argmax(policy).astype(jnp.int32), policy), memory

    return Agent(init, act, f"ISMCTS({simulations})", game.name)


def greedy_agent(game: ScotlandYard) -> Agent:
    """Returns the player of `greedy_games` as an agent of either seat: it looks at its next move.

    Args:
        game: the rules.
    """

    def init(seat: Array, key: PRNGKey) -> Memory:
        return memory_of(game, seat)

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        memory, board = take_in(game, memory, seen), board_of(game)
        world, possible = memory.state, memory.possible
        here = moves_of(game, board, world)
        allowed = filtered(game, board, world, here, possible)
        summed = jnp.int32(0)  # detectives go by all stations, as no search has drawn one
        draw = jax.random.uniform(key)
        action = here.action[greedy(board, world, here, allowed, possible, summed, draw)]
        return Decision(action, (jnp.arange(game.num_actions) == action).astype(float)), memory

    return Agent(init, act, "greedy", game.name)
