"""Strings of the form name(value, key=value, ...), which name games and solvers."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """One parameter of such a string.

    Attributes:
        key: "" where only a value is given.
        value: number, list, true or false as Python reads it; anything else is a word.
        position: where it begins in the string, counted from 0.
    """

    key: str
    value: Any
    position: int


def read(
    text: str, *, kind: str, example: str, name: str = r"[^\W\d]\w*"
) -> tuple[str, list[Parameter]]:
    """Returns (name, parameters) of a string.

    Args:
        text: without blanks around it.
        kind: what it names, for messages.
        example: a name, for messages.
        name: regular expression of names.

    Raises:
        ValueError: points at the character where the string stops making sense.
    """
    start = re.match(name, text)
    if start is None:
        raise ValueError(pointing(kind, text, 0, f"expected a {kind} name such as {example}"))
    first = start.end()
    if first == len(text):
        return text, []
    if text[first] != "(":
        raise ValueError(pointing(kind, text, first, "expected '(' or the end"))
    if not text.endswith(")"):
        raise ValueError(pointing(kind, text, len(text), "expected a closing ')'"))
    parameters: list[Parameter] = []
    position = first + 1
    for part in split(text[position:-1]):
        key, equals, value = part.rpartition("=")
        key, at = key.strip(), position + len(part) - len(part.lstrip())
        if (equals and not key.isidentifier()) or not value.strip():
            raise ValueError(pointing(kind, text, at, "expected key=value"))
        if key and key in [p.key for p in parameters]:
            raise ValueError(pointing(kind, text, at, f"{key} is given twice"))
        parameters.append(Parameter(key, _value(value.strip()), at))
        position += len(part) + 1
    return start.group(), parameters


def split(text: str) -> list[str]:
    """Returns the parts of a string between the commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]] if text.strip() else []


def pointing(kind: str, text: str, position: int, message: str) -> str:
    """Returns a message with an arrow below the character that it is about."""
    arrow = f"{' ' * position}^"
    return f"wrong {kind} string at character {position + 1}: {message}\n  {text}\n  {arrow}"


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Returns a message that lists what is known, the nearest name first."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {name!r}.{hint} Known {kind}s: {', '.join(names)}."


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
