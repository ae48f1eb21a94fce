"""The players of the study, by name."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import games
from jaxsolve import agents, evaluate
from jaxsolve.caches import keep_programs
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.search.knowledge import Effort
from jaxsolve.types import Array, PRNGKey

OPENING = 1
"""First moves of each side that are random."""

CAPACITY = 1 << 17
"""Nodes of a tree; Obscuro fills it in half of its moves at a second, and iterates from then on."""

MIXED = 3
"""Actions that the purified KLSS mixes at most, as Obscuro does."""


class Counts:
    """What a player's moves took, in seconds of the processor."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets the game before."""
        self.seconds = list[float]()
        self.nodes = list[int]()
        self.positions = list[int]()

    def note(self, mind: Any, found: Any) -> None:
        """Takes note of a search."""
        self.nodes.append(found.nodes)
        self.positions.append(mind.infoset.num_states)


@functools.cache
def arena_of(text: str) -> tuple[evaluate.Arena, Any]:
    """Returns where a game is played and its rules, once a process."""
    keep_programs()
    game: Any = games.load(text)
    return evaluate.rules_arena(game, max_moves=401, max_rows=4), game


@functools.cache
def player(name: str, text: str, seconds: float) -> tuple[Agent, Counts]:
    """Returns a player and its counts, once a process, since its programs are compiled for it.

    Args:
        name: "random", "greedy", "depth-1" (determinised search of 64 positions), "depth-2",
            "klss", "klss, purified" or "obscuro".
        text: the game.
        seconds: of the processor for a move, for those that search until time is up.
    """
    counts, (_, game) = Counts(), arena_of(text)
    effort = Effort(seconds=seconds, clock=time.process_time)
    made: dict[str, Callable[[], Agent]] = {
        "random": lambda: agents.uniform(name="random"),
        "greedy": lambda: greedy(game),
        "depth-1": lambda: agents.determinized(game, depth=1, opening=OPENING, name="depth-1"),
        "depth-2": lambda: agents.determinized(game, depth=2, opening=OPENING, name="depth-2"),
        "klss": lambda: agents.klss(
            game, effort=effort, capacity=CAPACITY, opening=OPENING, log=counts.note
        ),
        "klss, purified": lambda: agents.klss(
            game, effort=effort, capacity=CAPACITY, mixed=MIXED, opening=OPENING, log=counts.note
        ),
        "obscuro": lambda: agents.obscuro(
            game, effort=effort, capacity=CAPACITY, opening=OPENING, log=counts.note
        ),
    }
    return _timed(made[name](), counts), counts


def greedy(game: Any) -> Agent:
    """Returns a player that takes the best piece it sees, and moves at random where there is none.

    Args:
        game: dark chess.
    """
    squares = {f"{'abcdefgh'[f]}{r + 1}": (r, f) for r in range(8) for f in range(8)}
    target = np.array(
        [squares.get(game.action_name(0, a)[2:4], (0, 0)) for a in range(game.num_actions)]
    )
    price = np.array([0, 1, 3, 3, 5, 9, 100])

    start = np.asarray(game.observe(game.init())[1])

    def init(seat: Array, key: PRNGKey) -> np.ndarray:
        return start[int(seat)]

    def act(view: np.ndarray, seen: Observation, key: PRNGKey) -> tuple[Decision, np.ndarray]:
        if int(seen.length):
            view = np.asarray(seen.private[int(seen.length) - 1])
        board, legal = game.view_of(view), np.flatnonzero(seen.legal)
        kinds = board[target[legal, 0], target[legal, 1]]
        worth = np.where(kinds > 6, price[np.maximum(kinds - 6, 0)], 0)
        policy = np.zeros(len(seen.legal))
        policy[legal] = worth == worth.max()
        policy /= policy.sum()
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        return Decision(jnp.int32(rng.choice(len(policy), p=policy)), jnp.asarray(policy)), view

    return Agent(init, act, "greedy", game.name, host=True)


def _timed(agent: Agent, counts: Counts) -> Agent:
    """Returns an agent on the host whose moves are timed."""

    def act(mind: Any, seen: Observation, key: PRNGKey) -> tuple[Decision, Any]:
        begin = time.process_time()
        decision, mind = agent.act(mind, seen, key)
        counts.seconds.append(time.process_time() - begin)
        return decision, mind

    return agent._replace(act=act, host=True)
