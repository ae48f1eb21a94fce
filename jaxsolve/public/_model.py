"""What a search, an agent and a value function need to know of a game's public states.

A *public state* is what everybody knows. In each, both players have numbered *private states*
(hands, in card games). A search opens public states one at a time, and never needs all of them:
`PublicModel` is that interface. `ListedModel` reads a table of a small game, `RulesModel` steps the
rules inside the search; a large game can bring its own (betting x boards).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._transitions import Transitions
from jaxsolve.types import Array


class Followed(NamedTuple):
    """Where an observation leads from a public state, as the observer knows it.

    Attributes:
        child: int32 [], which child of the public state follows.
        hand: int32 [], the observer's private state there.
        used: int32 [], rows of the observation that are explained so far.
        status: int32 [], `Status` bits.
    """

    child: Array
    hand: Array
    used: Array
    status: Array


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
    def wait(self) -> int:
        """Public states at most from a player's decision to their next, or before their first.

        Their own decision counts, the next one does not; `depth` is always enough.
        """
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


class Ranked(NamedTuple):
    """The private states of the player who has most, in public states (Q of them).

    Attributes:
        order: int [Q, H], the possible ones in their order, then the others, with the type of
            `Transitions.parents_of`.
        counts: int32 [Q], how many are possible.
    """

    order: Array
    counts: Array


@runtime_checkable
class DescribesSome(PublicModel, Protocol):
    """A `PublicModel` that can describe some private states alone, since few are possible."""

    def ranked(self, store: Any) -> Ranked:
        """Returns the order of private states, by number of the public state."""
        ...

    def public_state(self, store: Any, public: Array, numbers: Array | None = None) -> PublicState:
        """See `PublicModel`; as if there were only some private states.

        Args:
            store: what is opened so far.
            public: int32 [...].
            numbers: int32 [..., 2, N], the private states of each player; all if None.
        """
        ...


@runtime_checkable
class Followable(PublicModel, Protocol):
    """A `PublicModel` in which an agent finds its way by observations alone.

    Observations are rows of `jaxsolve.game.Observation`: what a player was shown since their own
    last decision, transition by transition, without those in which they were shown nothing.
    """

    def first_hand(self, player: Array, public: Array, private: Array) -> Followed:
        """Returns a player's private state where the first decision is made; `child` is 0.

        Args:
            player: int32 [], the observer.
            public: int32 [L, p], rows of their first observation.
            private: int32 [L, m].
        """
        ...

    def follow(
        self,
        root: Any,
        player: Array,
        hand: Array,
        action: Array,
        public: Array,
        private: Array,
        used: Array,
    ) -> Followed:
        """Returns where one decision, and the chance move after it, have led.

        Call it until the public state is one at which the observer acts.

        Args:
            root: the public state, see `PublicModel.root_of`.
            player: int32 [], the observer.
            hand: int32 [], the observer's private state.
            action: int32 [], the game's action that the observer took, if the decision was theirs;
                -1 where somebody else took it for them, which `RulesModel` reads from what was
                shown.
            public: int32 [L, p], rows of the observer's next observation.
            private: int32 [L, m].
            used: int32 [], rows that are explained before.
        """
        ...
