"""Leaves that are solved: the reference that value networks are measured against."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxsolve.public import Described, PublicState
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class Oracle:
    """A `ValueFunction` that solves the subgame below each leaf, from scratch at every call.

    Attributes:
        solve: a pytree, (subgame_class int32 [], beliefs [2, H]) -> values [2, H] per unit of the
            opponent's reach. `search.oracle` makes one of a solver; leaves know nothing of solving.
        game: string of the game whose classes of subgames are solved.
        num_classes: K.
    """

    solve: Any
    game: str = dataclasses.field(metadata={"static": True})
    num_classes: int = dataclasses.field(metadata={"static": True})

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        """See `ValueFunction`."""
        return jax.vmap(self.solve)(state.subgame_class, beliefs)

    def check(self, game: Described) -> None:
        """Refuses public states whose subgames this function does not list; see `ChecksGame`."""
        check_classes(self.game, self.num_classes, game)


def check_classes(game: str, num_classes: int, asked: Described) -> None:
    """Refuses public states of another game, or without numbers of their subgames.

    Args:
        game: string of the game whose subgames are listed.
        num_classes: K.
        asked: what the subgames are looked up for.

    Raises:
        ValueError: says what differs.
    """
    found = asked.format
    if found.game != game:
        raise ValueError(f"this oracle solves subgames of {game}, not of {found.game}")
    if not found.num_classes:
        raise ValueError(
            f"this oracle looks subgames of {game} up by number, and public states that are grown "
            "from the rules have none (subgame_class is -1): use a value network there, or search "
            "in public.public_table(game)"
        )
    if found.num_classes != num_classes:
        raise ValueError(
            f"this oracle solves {num_classes} classes of subgames of {game}, numbered otherwise "
            f"than the {found.num_classes} of these public states: make both from the same list"
        )
