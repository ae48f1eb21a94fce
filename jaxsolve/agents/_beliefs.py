"""Agents that hold every position possible which fits what they saw, and choose with these."""

from __future__ import annotations

import dataclasses
import functools
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import (
    Agent,
    Decision,
    EvaluatesPositions,
    Game,
    GuessesPositions,
    Observation,
)
from jaxsolve.public import Infoset, advance_infoset, start_infoset
from jaxsolve.search.ismcts import first_world, remembered
from jaxsolve.types import CHANCE, NOTHING, Array, PRNGKey

GUESSES = 1024
"""Positions that are made up where none fits."""


@dataclasses.dataclass
class Mind:
    """What an agent knows in a match.

    Attributes:
        seat: its player.
        infoset: positions that it holds possible.
        memory: uint32 [2], the fingerprint of what it did and saw.
        private: int32 [m], what it was shown last.
        moves: its decisions so far.
        search: whatever its choice keeps from one decision to the next.
        guessed: whether positions had to be made up.
        began: when the decision that is being made began, by the clock of `with_beliefs`.
    """

    seat: int
    infoset: Infoset
    memory: np.ndarray
    private: np.ndarray
    moves: int = 0
    search: Any = None
    guessed: bool = False
    began: float = 0.0

    def drawn(self, count: int, rng: np.random.Generator) -> Any:
        """Returns leaves [K, ...], different positions in random order, at most `count`."""
        n = self.infoset.num_states
        at = rng.permutation(n)[:count] if n <= 4 * count else rng.choice(n, count, replace=False)
        return jax.tree.map(lambda x: np.asarray(x)[at], self.infoset.states)


Choice = Callable[[Mind, np.ndarray, np.random.Generator], np.ndarray]
"""Returns float [A], a policy over the legal actions [A]; may keep things in `Mind.search`."""


def positions_of(game: Game) -> Game:
    """Returns the rules whose states are positions.

    Raises:
        ValueError: the game has not two players, or begins with chance.
    """
    rules = game.positions if isinstance(game, EvaluatesPositions) else game
    if rules.num_players != 2 or int(rules.actor(rules.init())) == CHANCE:
        raise ValueError(
            f"{game.name}: agents that list positions play games of two players without chance"
        )
    return rules


def with_beliefs(
    game: Game,
    choose: Choice,
    *,
    name: str,
    max_states: int = 50_000,
    opening: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> Agent:
    """Returns an agent on the host that follows its infoset and chooses with it.

    If no position fits what it saw (a sample may have lost the true one), it warns once, and goes
    on from positions that the game makes up (`GuessesPositions`) whenever that happens.

    Args:
        game: the rules.
        choose: of an action.
        name: for tables of results.
        max_states: of the infoset; of more a uniform sample is kept.
        opening: first moves of its own that it plays at random.
        clock: of `Mind.began`, in seconds.

    Raises:
        ValueError: the game is not of two players, or begins with chance.
    """
    rules = positions_of(game)

    @functools.cache
    def start() -> tuple[Infoset, np.ndarray, np.ndarray]:
        private = rules.observe(rules.init())[1]
        return start_infoset(rules), np.asarray(first_world(rules).memory), np.asarray(private)

    def init(seat: Array, key: PRNGKey) -> Mind:
        player = int(seat)
        infoset, memory, private = start()
        return Mind(player, infoset, memory[player], private[player])

    def follow(mind: Mind, action: int, public: np.ndarray, private: np.ndarray) -> None:
        words = np.concatenate([[action if action >= 0 else NOTHING], public, private])
        mind.memory = np.asarray(_remembered(mind.memory, words.astype(np.int32)))
        mind.private = private
        if mind.infoset.num_states:
            shown = jnp.asarray(public), jnp.asarray(private)
            mind.infoset = advance_infoset(
                rules, mind.infoset, mind.seat, action, *shown, max_states=max_states
            )

    def act(mind: Mind, seen: Observation, key: PRNGKey) -> tuple[Decision, Mind]:
        mind = dataclasses.replace(mind, began=clock())
        for k in range(int(seen.length)):
            action = int(seen.action) if k == 0 else -1
            follow(mind, action, np.asarray(seen.public[k]), np.asarray(seen.private[k]))
        legal = np.flatnonzero(seen.legal)
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        policy = np.zeros(len(seen.legal))
        if mind.moves < opening:
            policy[legal] = 1 / len(legal)
        else:
            _believe(game, mind, name, rng)
            policy[legal] = choose(mind, legal, rng)
        mind.moves += 1
        chosen = rng.choice(len(policy), p=policy / policy.sum())
        return Decision(jnp.int32(chosen), jnp.asarray(policy)), mind

    return Agent(init, act, name, game.name, host=True)


def _believe(game: Game, mind: Mind, name: str, rng: np.random.Generator) -> None:
    """Makes positions up where none fits."""
    if mind.infoset.num_states:
        return
    if not isinstance(game, GuessesPositions):
        raise ValueError(f"{name}: no position of {game.name} fits what player {mind.seat} saw")
    if not mind.guessed:
        warnings.warn(
            f"{name}: no position fits what player {mind.seat} saw; it goes on with guesses",
            stacklevel=2,
        )
    states = game.guessed(mind.seat, mind.private, GUESSES, int(rng.integers(2**31)))
    mind.infoset, mind.guessed, mind.search = Infoset(states, GUESSES, False), True, None


@functools.cache
def _jitted() -> Callable[[Array, Array], Array]:
    return jax.jit(lambda memory, words: remembered(memory[None], words[None])[0])


def _remembered(memory: np.ndarray, words: np.ndarray) -> Array:
    return _jitted()(jnp.asarray(memory), jnp.asarray(words))
