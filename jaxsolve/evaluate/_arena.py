"""Where matches are played: one interface over compiled states and over the rules themselves.

An arena knows positions (pytrees of arrays, one match each). It says who moves in a position, what
the mover has been shown, and which position follows a move. Positions that are over stay as they
are. All methods are pure functions of arrays, so that matches are vmapped.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from jaxsolve.game import Observation
from jaxsolve.types import Array, PyTree


class Turn(NamedTuple):
    """Who moves in a position, and how (A actions).

    Attributes:
        actor: int32 [], the player, CHANCE or TERMINAL.
        legal: bool [A].
        chance: float [A], probabilities of outcomes at a chance move; anything elsewhere.
    """

    actor: Array
    legal: Array
    chance: Array


class Arena(Protocol):
    """A game that can be played (n players, A actions): a pytree, an argument of jitted functions.

    Two arenas of one game number players, actions and the outcomes of chance alike, so that
    matches with the same key are the same in both.
    """

    @property
    def name(self) -> str:
        """The game's string."""
        ...

    @property
    def num_players(self) -> int:
        """n."""
        ...

    @property
    def num_actions(self) -> int:
        """A."""
        ...

    @property
    def max_moves(self) -> int:
        """Moves of the longest match, chance moves included."""
        ...

    def start(self) -> PyTree:
        """Returns the position in which a match begins."""
        ...

    def turn(self, position: PyTree) -> Turn:
        """Returns who moves."""
        ...

    def observation(self, position: PyTree, player: Array | int) -> Observation:
        """Returns what a player has learned since their own last decision, if it is their turn."""
        ...

    def step(self, position: PyTree, action: Array) -> PyTree:
        """Returns the position after a legal action of whoever moves."""
        ...

    def utility(self, position: PyTree) -> Array:
        """Returns float [n], the payoffs in the game's units, if the match is over."""
        ...

    def status(self, position: PyTree) -> Array:
        """Returns int32 [], bits of `Status`: what the arena had no room for."""
        ...
