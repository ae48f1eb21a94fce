"""Parameters that several games have, and the string that loads a game again."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from jaxsolve.game import Range, format_name

MAX_CHIPS = 1_000_000
"""All seats together stay far below what 32 bits hold, and each stack is exact in float32."""

Chips = Annotated[int, Range(1, MAX_CHIPS)]
PotFraction = Annotated[float, Range(above=0, high=100)]
Points = Annotated[float, Range(-(10**9), 10**9)]
"""A payoff: sums and differences of such numbers are finite in float32."""


def name_of(name: str, rules: Any) -> str:
    """Returns the game string of a dataclass of rules: `name` and what differs from the defaults.

    Args:
        name: the name under which the game is registered.
        rules: a dataclass instance whose fields are the game's parameters.
    """
    changed = {}
    for field in dataclasses.fields(rules):
        value = getattr(rules, field.name)
        if value != field.default:
            changed[field.name] = as_lists(value)
    return format_name(name, changed)


def as_lists(value: Any) -> Any:
    """Returns `value` with tuples turned into lists, as people write them in a game string."""
    return [as_lists(v) for v in value] if isinstance(value, tuple) else value
