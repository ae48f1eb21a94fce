"""A game's table of public states as a `PublicModel`: every row is there from the start."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxsolve.public._states import PublicState, StateFormat
from jaxsolve.public._table import PublicTable
from jaxsolve.public._transitions import Transitions
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class ListedModel:
    """A game's table as a `PublicModel`; a public state is the number of its class.

    Attributes:
        table: a row for each class of public states.
        states: what value functions are given of each class, leading axis K.
        format: see `PublicModel`.
        depth: see `PublicModel`.
        largest: see `PublicModel`.
    """

    table: Transitions
    states: PublicState
    format: StateFormat = dataclasses.field(metadata={"static": True})
    depth: int = dataclasses.field(metadata={"static": True})
    largest: int = dataclasses.field(metadata={"static": True})

    @property
    def hands(self) -> tuple[int, int]:
        """See `PublicModel`."""
        return self.format.hands

    @property
    def wait(self) -> int:
        """See `PublicModel`."""
        return self.depth

    @property
    def num_actions(self) -> int:
        """See `PublicModel`."""
        return self.table.num_actions

    @property
    def num_children(self) -> int:
        """See `PublicModel`."""
        return self.table.num_children

    def start(self, root: Array, capacity: int, dtype: Any) -> tuple[None, Array]:
        """See `PublicModel`; the root is the number of a class, int32 []."""
        return None, root

    def transitions(self, store: None) -> Transitions:
        """See `PublicModel`."""
        return self.table

    def open(self, store: None, public: Array, new: Array, go: Array) -> tuple[None, Array]:
        """See `PublicModel`; the row of a public state is its class."""
        return None, public

    def public_state(self, store: None, public: Array) -> PublicState:
        """See `PublicModel`."""
        return self.states.at(public)

    def actor_of(self, root: Array) -> Array:
        """See `PublicModel`."""
        return self.table.actor[root]

    def root_of(self, store: None, public: Array) -> Array:
        """See `PublicModel`; the number of the class."""
        return public


def listed_model(table: PublicTable) -> ListedModel:
    """Returns the table of a game as a `PublicModel`."""
    return ListedModel(
        table=table.device_transitions,
        states=table.states,
        format=table.format,
        depth=table.depth,
        largest=int(table.below[0]),
    )
