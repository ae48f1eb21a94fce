"""The rules of a game: pure JAX functions of one world state.

A game is a factored-observation stochastic game (Kovarik et al. 2022): each transition shows
something to everybody (the public observation) and something to each player (the private ones).
The same functions serve the compiler (vmapped over a frontier), self-play (vmapped over games)
and tree growth in search, so they must not branch in Python on the content of a state.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jaxsolve.types import Array

State = Any
"""A pytree of small arrays of fixed shape and dtype (usually a NamedTuple)."""


@runtime_checkable
class Game(Protocol):
    """What the compiler, self-play and search need to know of a game.

    Perfect recall is not the author's task. A player's *infostate* is the sequence of their own
    actions and of what `observe` showed them; a *public state* is the sequence of public
    observations. A transition that shows a player nothing (every entry `NOTHING`, and not their
    own action) leaves their infostate as it is, so hidden moves do not leak through a clock.
    A player must be able to tell that it is their turn: if they did not act before, something
    non-`NOTHING` has to reach them in the transition that makes it their turn.

    A game may have more: words for actions and observations, public features, numbers of private
    states. Each is a protocol of its own, see `NamesActions` and those beside it.
    """

    @property
    def name(self) -> str:
        """The string that loads this game again, e.g. "leduc(ranks=3)"."""
        ...

    @property
    def num_players(self) -> int:
        """Number of players n, chance not counted."""
        ...

    @property
    def num_actions(self) -> int:
        """A: one more than the largest action id, of players and of chance."""
        ...

    def init(self) -> State:
        """Returns the initial state."""
        ...

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []: 0..n-1, CHANCE or TERMINAL."""
        ...

    def legal(self, state: State) -> Array:
        """Returns bool [A]: what the actor may do; at a chance state, outcomes of probability > 0.

        At a terminal state all False.
        """
        ...

    def chance(self, state: State) -> Array:
        """Returns float [A]: outcome probabilities; read at chance states only."""
        ...

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a legal action (int32 []) of the actor."""
        ...

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns what the transition into `state` showed.

        public: int32 [p], seen by everybody; private: int32 [n, m], row i seen by player i only.
        NOTHING (-1) in an entry shows nothing. p and m are fixed for the game and may be 0.
        """
        ...

    def utility(self, state: State) -> Array:
        """Returns float [n]: payoffs at a terminal state, in the game's own units."""
        ...
