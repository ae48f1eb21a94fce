"""Range files of solvers: a string of hands, 1326 weights, or 169 of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import HANDS, NUM_HANDS
from jaxsolve.holdem._cells import CELL, SIDE
from jaxsolve.holdem._range import check_weights, parse_range

_ORDER = np.lexsort((HANDS[:, 0], HANDS[:, 1]))
"""Rows of `HANDS` in the solver's order of hands: 2d2c, 2h2c, 2h2d, 2s2c, ..., AsAh."""


def parse_range_file(text: str) -> np.ndarray:
    """Returns the range of a file, float64 [1326] in the order of `HANDS`.

    Args:
        text: a range string (`AA:1,KK:0.5`; hands with weight 0 may be there), 1326 weights in the
            order 2d2c, 2h2c, 2h2d, 2s2c, ..., AsAh, or 169 weights of the 13 x 13 table, row by row
            (AA, AKs, ..., A2s, AKo, KK, ..., 22).

    Raises:
        ValueError: it is none of these.
    """
    numbers = _numbers(text)
    if numbers is None:
        return parse_range(without_zeros(text))
    if len(numbers) == NUM_HANDS:
        weights = np.empty(NUM_HANDS)
        weights[_ORDER] = numbers
    elif len(numbers) == SIDE**2:
        weights = numbers[CELL]
    else:
        raise ValueError(
            f"a range of {len(numbers)} numbers: write {NUM_HANDS} (hands 2d2c, 2h2c, ..., AsAh), "
            f"{SIDE**2} (the 13 x 13 table, AA first), or hands such as AA:1,KK:0.5"
        )
    return check_weights(weights)


def format_range_file(weights: Any) -> str:
    """Returns a range as 1326 weights with blanks between, in the order 2d2c, 2h2c, ..., AsAh."""
    return " ".join(f"{x:.6g}" for x in check_weights(weights)[_ORDER])


def without_zeros(text: str) -> str:
    """Returns a range string without the items of weight 0; weights are above 0 elsewhere."""
    items = re.split(",", text)
    return ",".join(item for item in items if not re.search(r":\s*0*\.?0*\s*$", item))


def is_table(text: str) -> bool:
    """Returns whether a range file holds numbers only."""
    return _numbers(text) is not None


def _numbers(text: str) -> np.ndarray | None:
    try:
        return np.array([float(word) for word in re.split(r"[\s,]+", text.strip())])
    except ValueError:
        return None
