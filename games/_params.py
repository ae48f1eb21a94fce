"""The string that loads a game again, made from its parameters."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxsolve.game import format_name


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


def as_tuples(value: Any) -> Any:
    """Returns `value` with lists turned into tuples, so that the rules hash."""
    return tuple(as_tuples(v) for v in value) if isinstance(value, list | tuple) else value


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raises a ValueError where `value` is not one of the choices of parameter `name`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
