"""Ranges of hold'em hands in the notation of solvers, such as "66+,A8s+,A5s-A4s,AhKd:0.5"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS, RANKS, hand_name
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._display import range_html
from jaxsolve.holdem._range_items import class_hands, range_error, read_range


@dataclass(frozen=True, eq=False)
class Range:
    """A range that shows itself in a notebook; NumPy takes it for its weights.

    Attributes:
        weights: float64 [1326], of each hand of `HANDS`, in [0, 1].
    """

    weights: np.ndarray

    @classmethod
    def parse(cls, text: str) -> Range:
        """Returns the range that `parse_range` reads."""
        return cls(parse_range(text))

    @property
    def combinations(self) -> float:
        """Sum of the weights: 1326 for every hand."""
        return float(self.weights.sum())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.weights, dtype)

    def __str__(self) -> str:
        return format_range(self.weights)

    def __repr__(self) -> str:
        return f"Range({str(self)!r})"

    def _repr_html_(self) -> str:
        return range_html(self.weights)


def parse_range(text: str) -> np.ndarray:
    """Returns the weight of every hand, float64 [1326] in the order of `HANDS`.

    Items are separated by commas or blanks:

    - `QQ`, `AKs`, `AKo`, `AK`: six, four, twelve and sixteen hands; `AhKd`: one hand;
    - `66+`: the pairs from 66 up to AA;
    - `A8s+`: the second card goes up to just below the first: A8s, A9s, ..., AKs. `T8s+` is T8s
      and T9s. Where the ranks are adjacent that would add nothing, and both go up, as in the
      solvers: `T9s+` is T9s, JTs, QJs, KQs, AKs;
    - `QQ-22`, `A5s-A4s`, `JTs-54s`: a span, from either end, in which the first cards are
      equal or the distance between the cards is;
    - `full` or `random`: every hand;
    - `QQ+:0.25`: each of these hands with this weight, in (0, 1]; without one it is 1.

    A hand that several items name has the weight of the most specific one: `AhKd:0.5` overrides
    `AKo`, which overrides `AK`, wherever they stand. An item is more specific than another if it
    names some of its hands and no others.

    Raises:
        ValueError: two items that give a hand different weights are equally specific, or the text
            makes no sense; points at the place and says what to write instead.
    """
    weights = np.zeros(NUM_HANDS)
    owner = np.zeros(NUM_HANDS, np.int64)
    items = sorted(read_range(text), key=lambda item: -len(item.hands))
    for k, item in enumerate(items):
        before = weights[item.hands]
        clash = item.hands[(before > 0) & (before != item.weight)]
        for above, where in zip(*np.unique(owner[clash], return_index=True), strict=True):
            hand, other = clash[where], items[above]
            if len(item.hands) == len(other.hands) or not np.isin(item.hands, other.hands).all():
                first, last = sorted((item, other), key=lambda x: x.position)
                raise ValueError(
                    range_error(
                        text,
                        last.position,
                        f"{hand_name(hand)} has weight {last.weight:g} in {last.text!r}, but "
                        f"{first.weight:g} in {first.text!r} at character {first.position + 1}: "
                        "write each hand with one weight",
                    )
                )
        weights[item.hands], owner[item.hands] = item.weight, k
    return weights


def format_range(weights: Any, board: Sequence[int] = ()) -> str:
    """Returns a short notation of a range, always the same for the same weights.

    Classes come before single hands, pairs first, then by the first card. Weights are written with
    all their digits, so that `parse_range` returns exactly these weights.

    Args:
        weights: float [1326], in [0, 1]. Without any weight the notation is "".
        board: cards that nobody can hold. Hands that hold one count as if they had the weight of
            their class, and are left out of the single hands.

    Raises:
        ValueError: another shape, or a weight that is not in [0, 1].
    """
    there = possible(board)
    left = np.where(there, check_weights(weights), 0.0)
    if left.min(initial=np.inf, where=there) == left.max() > 0:
        return f"full{_weight(left.max())}"
    words = []
    lines = [[(r, r) for r in range(12, -1, -1)]]
    lines += [[(high, r) for r in range(high - 1, -1, -1)] for high in range(12, 0, -1)]
    for line in lines:
        if line[0] == (12, 12):
            runs = {"": _runs(left, there, line, "")}
        else:
            suited, offsuit = _runs(left, there, line, "s"), _runs(left, there, line, "o")
            runs = {
                "": [x for x in suited if x in offsuit],
                "s": [x for x in suited if x not in offsuit],
                "o": [x for x in offsuit if x not in suited],
            }
        for suits, found in runs.items():
            for cells, value in found:
                words.append(_run(cells, line[0], suits) + _weight(value))
                for cell in cells:
                    left[class_hands(*cell, suits)] = 0.0
    # Highest hands first, like the classes.
    words += [f"{hand_name(h)}{_weight(left[h])}" for h in np.flatnonzero(left)[::-1]]
    return ",".join(words)


def check_weights(weights: Any) -> np.ndarray:
    """Returns weights as float64 [1326].

    Raises:
        ValueError: another shape, or a weight that is not in [0, 1].
    """
    array = np.asarray(weights, np.float64)
    if array.shape != (NUM_HANDS,):
        raise ValueError(f"a range has one weight for each of {NUM_HANDS} hands, not {array.shape}")
    wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if len(wrong):
        raise ValueError(f"the weight of {hand_name(wrong[0])} is {array[wrong[0]]}, not in [0, 1]")
    return array


def _runs(
    weights: np.ndarray, there: np.ndarray, line: list[tuple[int, int]], suits: str
) -> list[tuple[list[tuple[int, int]], float]]:
    """Returns (classes, weight) for each stretch of classes whose hands all have one weight.

    A class of which no hand is possible interrupts a stretch.
    """
    out: list[tuple[list[tuple[int, int]], float]] = []
    previous = 0.0
    for cell in line:
        hands = class_hands(*cell, suits)
        values = weights[hands[there[hands]]]
        value = float(values[0]) if len(values) and (values == values[0]).all() else 0.0
        if value > 0 and value == previous:
            out[-1][0].append(cell)
        elif value > 0:
            out.append(([cell], value))
        previous = value
    return out


def _run(cells: list[tuple[int, int]], top: tuple[int, int], suits: str) -> str:
    """Writes a run of classes, highest first; `top` is the highest there could be."""
    first, last = (RANKS[high] + RANKS[low] + suits for high, low in (cells[0], cells[-1]))
    if len(cells) == 1:
        return first
    return f"{last}+" if cells[0] == top else f"{first}-{last}"


def _weight(value: float) -> str:
    return "" if value == 1 else f":{float(value)!r}"
