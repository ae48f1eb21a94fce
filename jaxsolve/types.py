"""Names shared by the whole package: array types, pytrees, special actors, axis letters.

Axis letters used in every shape comment: B batch, N public states, H private states (hands),
A actions, T terminal or leaf public states, R infostate rows, S sequences of one player.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, TypeVar

import jax

Array = jax.Array
PRNGKey = jax.Array
PyTree = Any
Scalar = float | Array
"""A hyper-parameter: traced by JAX, or an axis of a batch, where it is an array."""

_Class = TypeVar("_Class", bound=type)


def pytree(cls: _Class) -> _Class:
    """Registers a dataclass as a pytree; decorates the decorated class.

    A field with the metadata "static" is part of the structure, which must be hashable; one with
    "dropped" does not travel through JAX and becomes its default; the others are children.

    To `jax.tree_util.register_dataclass`, structures of two classes are equal wherever their static
    fields are (JAX 0.10 and 0.11), and a jitted function that has been compiled for one is run for
    the other in one of a hundred cases (JAX 0.10).
    """
    fields = dataclasses.fields(cls)
    kept = [f.name for f in fields if f.metadata.get("static")]
    data = [f.name for f in fields if f.name not in kept and not f.metadata.get("dropped")]
    keys = [jax.tree_util.GetAttrKey(name) for name in data]

    def flatten(x: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return [getattr(x, name) for name in data], tuple([getattr(x, name) for name in kept])

    def with_keys(x: Any) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
        children, structure = flatten(x)
        return list(zip(keys, children, strict=True)), structure

    def unflatten(structure: tuple[Any, ...], children: Any) -> Any:
        return cls(**dict(zip(data + kept, (*children, *structure), strict=True)))

    jax.tree_util.register_pytree_with_keys(cls, with_keys, unflatten, flatten)
    return cls


CHANCE = -1
"""`actor(state)` of a state in which chance moves."""

TERMINAL = -2
"""`actor(state)` of a state in which the game is over."""

NOTHING = -1
"""Entry of an observation that shows nothing."""


class Status(enum.IntFlag):
    """What failed on a device: bits of an int32 that travels in the result."""

    OK = 0
    WORLDS = 1
    HANDS = 2
    CHILDREN = 4
    LISTS = 8
    ACTIONS = 16
    MOVES = 32
    ROWS = 64
    ILLEGAL = 128
    UNSEEN = 256
    CHANCE = 512

    @property
    def message(self) -> str:
        """One sentence for each bit that is set."""
        return "; ".join(text for bit, text in _MESSAGES.items() if bit & self)


_MESSAGES = {
    Status.WORLDS: "a public state has more world states than worlds= has room for",
    Status.HANDS: "a player has more private states than hands= has room for",
    Status.CHILDREN: "more public states follow one than children= has room for",
    Status.LISTS: "a private state comes from more pairs (action, private state) than merged= has "
    "room for, or one pair leads to more public states than branches=",
    Status.ACTIONS: "a private state has more legal actions than actions= has room for",
    Status.MOVES: "a match was not over after the arena's most moves",
    Status.ROWS: "a player was shown more between two decisions than the arena has room for",
    Status.ILLEGAL: "an agent chose an action that is not legal",
    Status.UNSEEN: "a player was shown what no state of the game that is possible shows",
    Status.CHANCE: "chance moves twice between two decisions, or has more outcomes than outcomes=",
}
