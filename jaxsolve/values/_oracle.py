"""Leaves that are solved: the reference that value networks are measured against."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Oracle:
    """A `ValueFunction` that solves the subgame below each leaf, from scratch at every call.

    Attributes:
        solve: a pytree, (subgame_class int32 [], beliefs [2, H]) -> values per unit of the
            opponent's reach [2, H]. `search.oracle` makes one of a solver; leaves know nothing of
            solving.
    """

    solve: Any

    def __call__(self, subgame_class: Array, beliefs: Array) -> Array:
        """See `ValueFunction`."""
        return jax.vmap(self.solve)(subgame_class, beliefs)
