"""Parameters of which the default suite takes a few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def few(
    values: Iterable[Any],
    fast: Callable[[Any], bool],
    long: Callable[[Any], bool] = lambda _: False,
) -> list[Any]:
    """Returns all values as parameters.

    Args:
        values: of a parameter, or tuples of several parameters.
        fast: says which are for the default suite; the others are slow.
        long: says which are long, too.
    """
    out = []
    for value in values:
        many = value if isinstance(value, tuple) else (value,)
        marks = [] if fast(value) else [pytest.mark.slow]
        marks += [pytest.mark.long] if long(value) else []
        out.append(pytest.param(*many, marks=marks))
    return out
