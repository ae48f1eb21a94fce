"""The 13 x 13 table of starting hands: pairs on the diagonal, suited above it, offsuit below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import HANDS, NUM_HANDS, RANKS

SIDE = len(RANKS)
"""Rows and columns, from A down to 2."""


def _cells() -> np.ndarray:
    low, high = HANDS[:, 0], HANDS[:, 1]
    row, column = SIDE - 1 - high // 4, SIDE - 1 - low // 4
    suited = low % 4 == high % 4
    return np.where(suited, SIDE * row + column, SIDE * column + row)


CELL = _cells()
"""int32 [1326]: `13 * row + column` of each hand."""

CELL_NAMES: tuple[tuple[str, ...], ...] = tuple(
    tuple(
        RANKS[::-1][min(row, column)]
        + RANKS[::-1][max(row, column)]
        + ("s" if row < column else "o" if row > column else "")
        for column in range(SIDE)
    )
    for row in range(SIDE)
)
"""Name of each cell, such as "AA", "AKs" above the diagonal and "AKo" below."""


def possible(board: Sequence[int]) -> np.ndarray:
    """Returns which hands hold no card of a board, bool [1326]."""
    return np.asarray(~np.isin(HANDS, np.asarray(board, np.int32)).any(1))


def cell_means(weights: Any, board: Sequence[int] = ()) -> np.ndarray:
    """Returns the mean weight of the hands of each cell, float64 [13, 13].

    Hands that hold a card of the board do not count; a cell of only such hands is NaN.

    Args:
        weights: float [1326].
        board: cards.
    """
    there = possible(board)
    count = np.bincount(CELL[there], minlength=SIDE**2)
    total = np.bincount(CELL[there], _vector(weights, "weights")[there], SIDE**2)
    means = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means.reshape(SIDE, SIDE)


def cell_shares(
    strategy: Mapping[str, Any], weights: Any, board: Sequence[int] = ()
) -> dict[str, np.ndarray]:
    """Returns for each action its mean probability in each cell, {action: float64 [13, 13]}.

    Hands count by their weight; cells without weight are 0 for every action.

    Args:
        strategy: float [1326] by action. Hands without weight may have any value, also NaN.
        weights: float [1326].
        board: cards.

    Raises:
        ValueError: another shape; a hand with weight has a probability that is negative or not
            finite, or its probabilities do not sum to 1.
    """
    weight = _vector(weights, "weights") * possible(board)
    held = weight > 0
    rows = {action: _vector(p, f"strategy[{action!r}]")[held] for action, p in strategy.items()}
    if not rows:
        raise ValueError("strategy has no action")
    table = np.stack(list(rows.values()))
    if not np.all(table >= 0) or not np.all(np.isfinite(table)):
        raise ValueError("a hand with weight has a probability that is negative or not a number")
    if not np.allclose(table.sum(0), 1, atol=1e-3):
        off = table.sum(0)[np.argmax(np.abs(table.sum(0) - 1))]
        raise ValueError(f"the probabilities of a hand with weight sum to {off:.4f}, not to 1")
    cells = CELL[held]
    total = np.bincount(cells, weight[held], SIDE**2)
    safe = np.where(total > 0, total, 1)
    return {
        action: (np.bincount(cells, weight[held] * row, SIDE**2) / safe).reshape(SIDE, SIDE)
        for action, row in rows.items()
    }


def action_frequencies(
    strategy: Mapping[str, Any], weights: Any, board: Sequence[int] = ()
) -> dict[str, float]:
    """Returns the mean probability of each action over the hands, by their weight.

    Args:
        strategy: float [1326] by action. Hands without weight may have any value, also NaN.
        weights: float [1326].
        board: cards.
    """
    weight = _vector(weights, "weights") * possible(board)
    held = weight > 0
    total = max(weight.sum(), 1e-300)
    return {a: float(weight[held] @ np.asarray(p)[held] / total) for a, p in strategy.items()}


def action_colours(actions: Sequence[str]) -> dict[str, str]:
    """Returns a colour for each action, "#rrggbb": fold blue, check and call green, bets red.

    Bets and raises get darker in the order in which they are given; all-in is the darkest.
    """
    kinds = [_kind(action.strip().lower()) for action in actions]
    shades = iter(_shades(kinds.count("bet")))
    fixed = {"fold": "#5b8fc7", "call": "#6fb07f", "all-in": "#6e102a"}
    return {a: fixed.get(k) or next(shades) for a, k in zip(actions, kinds, strict=True)}


def _kind(name: str) -> str:
    if name.startswith("f"):
        return "fold"
    if name in ("x", "c") or name.startswith(("check", "call")):
        return "call"
    return "all-in" if name.startswith("a") else "bet"


def _shades(count: int) -> list[str]:
    """Returns reds from light to dark."""
    ends = np.array([[247, 178, 141], [214, 72, 60], [158, 36, 52]], float)
    at = np.linspace(0, 1 if count == 2 else 2, count) if count > 1 else np.array([0.5])
    mixed = np.stack([np.interp(at, [0, 1, 2], ends[:, k]) for k in range(3)], 1)
    return ["#" + "".join(f"{round(x):02x}" for x in rgb) for rgb in mixed[:count]]


def _vector(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values, np.float64)
    if array.shape != (NUM_HANDS,):
        raise ValueError(f"{name} has one number for each of {NUM_HANDS} hands, not {array.shape}")
    return array
