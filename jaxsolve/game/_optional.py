"""What a game may have besides its rules: words for people, features and private states for search.

Each protocol is one optional method. A caller asks with `isinstance`, so that a type checker sees
what is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, SupportsInt, runtime_checkable

import numpy as np

from jaxsolve.game._protocol import Game, State
from jaxsolve.types import Array


@runtime_checkable
class NamesActions(Protocol):
    """A game that has a word for each action."""

    def action_name(self, actor: int, action: int) -> str:
        """Returns the word for an action of a player, or of chance where `actor` is CHANCE."""
        ...


@runtime_checkable
class NamesObservations(Protocol):
    """A game that says in words what a player was shown."""

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns what one player saw in one transition, in words; "" for nothing worth a word.

        Args:
            public: int32 [p], what the transition showed to everybody.
            private: int32 [m], what it showed to that player.
        """
        ...


class Seen(NamedTuple):
    """One transition as one player saw it.

    Attributes:
        action: the player's own action, -1 if somebody else moved.
        public: int32 [p], what it showed to everybody.
        private: int32 [m], what it showed to that player.
    """

    action: int
    public: np.ndarray
    private: np.ndarray


@runtime_checkable
class DescribesSituations(Protocol):
    """A game that tells a player in words where they stand: board, pot, stacks, own cards."""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns what a player knows, in lines for people.

        Args:
            player: who.
            seen: every transition that showed them something, the initial state first.
        """
        ...


@runtime_checkable
class DescribesBeliefs(Protocol):
    """A game that says in words how likely private states are."""

    def beliefs_in_words(self, beliefs: np.ndarray) -> str:
        """Returns what somebody who saw all that is public believes, in lines for people.

        Args:
            beliefs: float [2, H], of each player's private states; sums to 1.
        """
        ...


@runtime_checkable
class HasPublicFeatures(Protocol):
    """A game that describes its public states by numbers, which value networks are given."""

    def public_features(self, state: State) -> Array:
        """Returns float [F], of about unit size; the same for all states of a public state."""
        ...


@runtime_checkable
class HasPrivateFeatures(Protocol):
    """A game that describes each private state by numbers, for networks with the body "shared".

    `public.hidden_piece_model` asks for them; other models do not.
    """

    def private_features(self, state: State, numbers: Array | None = None) -> Array:
        """Returns float [2, N, G], of about unit size; equal for all states of a public state.

        Args:
            state: any of the public state.
            numbers: int [2, N], the private states of each player to describe; all H if None.
        """
        ...


@runtime_checkable
class HasLargestPayoff(Protocol):
    """A game that bounds what is still at stake, the unit of values where no list is walked."""

    def largest_payoff(self, state: State) -> Array:
        """Returns float [], the largest payoff that can follow, without its sign.

        The same for all states of a public state; above 0.
        """
        ...


@runtime_checkable
class HasPrivateStates(Protocol):
    """A game that numbers the private states of its players itself.

    Infostates of one public state that have the same number are one private state. Without this
    method, private states are numbered in order of infostates.
    """

    def private_states(self, state: State) -> Array:
        """Returns int32 [n], the number of each player's private state, from 0."""
        ...


@runtime_checkable
class EvaluatesPositions(Protocol):
    """A game for search on trees of positions: states without history, and guesses of values."""

    @property
    def positions(self) -> Game:
        """The same rules with states that hold no history; states that play alike are equal."""
        ...

    def evaluate(self, state: State) -> Array:
        """Returns float [], what a state that is not over looks worth to player 0."""
        ...


@runtime_checkable
class WritesGames(Protocol):
    """A game whose course can be written down for other programs."""

    def pgn(self, actions: Sequence[int], names: tuple[str, str]) -> str:
        """Returns a game as PGN, from the actions of both players, named first player first."""
        ...


@runtime_checkable
class GuessesPositions(Protocol):
    """A game that makes up positions which look as a player sees them."""

    def guessed(self, player: int, private: np.ndarray, count: int, seed: int) -> State:
        """Returns leaves [count, ...], states of `positions` in which the player is to move.

        Args:
            player: who.
            private: int32 [m], what the player was shown last.
            count: how many.
            seed: of them.
        """
        ...


def action_name(game: object, actor: SupportsInt, action: SupportsInt) -> str:
    """Returns the game's word for an action, or the action's number where the game has no words."""
    if isinstance(game, NamesActions):
        return game.action_name(int(actor), int(action))
    return str(int(action))


def observation_name(game: object, public: np.ndarray, private: np.ndarray) -> str:
    """Returns the game's words for an observation, or its entries that show something.

    Args:
        game: the rules.
        public: int32 [p], what a transition showed to everybody.
        private: int32 [m], what it showed to one player.
    """
    if isinstance(game, NamesObservations):
        return game.observation_name(public, private)
    return ",".join(str(x) for x in (*public, *private) if x >= 0)


def transition_name(
    game: object, player: SupportsInt, action: int, public: np.ndarray, private: np.ndarray
) -> str:
    """Returns the words for what a player did and was shown in one transition, "" for nothing.

    Args:
        game: the rules.
        player: who.
        action: the player's own action, -1 if somebody else moved.
        public: int32 [p], what the transition showed to everybody.
        private: int32 [m], what it showed to the player.
    """
    saw = observation_name(game, public, private)
    did = action_name(game, player, action) if action >= 0 else ""
    return saw if saw and did.startswith(saw) else f"{did} {saw}".strip()
