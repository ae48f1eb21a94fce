"""What a search, an agent and a value function need to know of a game's public states.

A *public state* is what everybody knows. In each, both players have numbered *private states*
(hands, in card games). A search opens public states one at a time, and never needs all of them:
`PublicModel` is that interface. `ListedModel` reads a table of a small game, `RulesModel` steps the
rules inside the search; a large game can bring its own (betting x boards).
"""

from __future__ import annotations

from typing import Any, Protocol

from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._transitions import Transitions
from jaxsolve.types import Array


class PublicModel(Protocol):
    """The public states of a game, opened one at a time inside a search. A pytree.

    A *store* holds what a search has opened so far (None where all is listed); public states and
    rows of `Transitions` are numbers within it.
    """

    @property
    def format(self) -> StateFormat:
        """What the public states look like to a value function."""
        ...

    @property
    def hands(self) -> tuple[int, int]:
        """(H0, H1), private states of each player; arrays have room for the larger number."""
        ...

    @property
    def num_actions(self) -> int:
        """A, legal actions of a private state at most."""
        ...

    @property
    def num_children(self) -> int:
        """C, public states that follow one at most."""
        ...

    @property
    def depth(self) -> int:
        """Decisions in the longest game."""
        ...

    @property
    def largest(self) -> int:
        """Public states in the largest subgame, or a number that no search reaches."""
        ...

    def start(self, root: Any, capacity: int, dtype: Any) -> tuple[Any, Array]:
        """Returns (store, number of the root public state).

        Args:
            root: what `root_of` returns, or the start of the game.
            capacity: public states that can be opened.
            dtype: of the numbers in the store.
        """
        ...

    def transitions(self, store: Any) -> Transitions:
        """Returns what is known of the opened public states."""
        ...

    def open(self, store: Any, public: Array, new: Array, go: Array) -> tuple[Any, Array]:
        """Returns (store in which a public state is opened, its row in `transitions`).

        Args:
            store: what is opened so far.
            public: int32 [], number of the public state.
            new: int32 [], how many public states were opened before.
            go: bool [], False leaves the store as it is.
        """
        ...

    def public_state(self, store: Any, public: Array) -> PublicState:
        """Returns what a value function is given of public states (int32 [...])."""
        ...

    def actor_of(self, root: Any) -> Array:
        """Returns int32 [], who acts at a public state that `root_of` returned."""
        ...

    def root_of(self, store: Any, public: Array) -> Any:
        """Returns what a new search starts from at a public state (int32 [])."""
        ...
