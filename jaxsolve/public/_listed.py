"""A game's table of public states as what trees grow into."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxsolve.public._table import PublicTable
from jaxsolve.public._transitions import Transitions
from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class ListedModel:
    """A game's table as what trees grow into.

    Attributes:
        table: a row for each class of public states.
        depth: decisions on the longest way.
        largest: public states in the largest subgame.
    """

    table: Transitions
    depth: int = dataclasses.field(metadata={"static": True})
    largest: int = dataclasses.field(metadata={"static": True})

    def start(self, root: Array, capacity: int, dtype: Any) -> tuple[None, Array]:
        """Returns (store, number of the root): a class (int32 [])."""
        return None, root

    def transitions(self, store: None) -> Transitions:
        """Returns what opening shows."""
        return self.table

    def open(self, store: None, public: Array, new: Array, go: Array) -> tuple[None, Array]:
        """Returns (store, row of a public state)."""
        return None, public

    def describe(self, store: None, public: Array) -> Array:
        """Returns what value functions are told of public states [...]: their classes."""
        return public


def listed_model(table: PublicTable) -> ListedModel:
    """Returns the table of a game as what trees grow into."""
    depth = np.ones(len(table.parent), int)
    for p in range(1, len(depth)):
        depth[p] = depth[table.parent[p]] + 1
    return ListedModel(table.device_transitions, int(depth.max()), int(table.below[0]))
