"""Parameters of which the default suite takes a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], fast: Callable[[Any], bool]) -> list[Any]:
    """Returns all values as parameters; those that are not `fast` are for the slow suite."""
    out = []
    for value in values:
        many = value if isinstance(value, tuple) else (value,)
        out.append(value if fast(value) else pytest.param(*many, marks=pytest.mark.slow))
    return out
