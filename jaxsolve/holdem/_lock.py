"""Node locking: a strategy that becomes part of the game at chosen decisions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._range import parse_range
from jaxsolve.holdem._report import find, find_decision
from jaxsolve.holdem._spot_tree import Lock, SpotTree

Strategy = Mapping[str, float | str | np.ndarray] | Mapping[str, Mapping[str, float]]
"""{action: probability} of all hands, or {range: {action: probability}}; see `lock`."""


def lock(
    spot: SpotTree,
    line: str,
    strategy: Strategy,
    *,
    board: str | None = None,
) -> SpotTree:
    """Returns the spot in which a player's strategy at one decision is fixed.

    The solver works around it, and best responses and exploitability do not deviate there either.
    After new cards, a lock without a board holds on every board of the street. Two forms:

    - {action: probability}: a number for all hands, float [1326], or a range whose weights are the
      probabilities, as in {"b100": "QQ+,AK:0.5", "x": "JJ-22,AK:0.5"};
    - {range: {action: probability}}, as in {"KK+": {"b100": 1}, "QQ-22": {"x": 0.7, "b100": 0.3}};
      of two ranges that share hands the later one counts.

    Actions that are left out have probability 0. Hands of which nothing is said stay free.

    Args:
        spot: the tree; locks add up.
        line: actions that lead to the decision, "" for the root.
        strategy: in one of the two forms.
        board: cards on the table there.

    Raises:
        ValueError: an unknown line, board, action or range, or probabilities that do not sum to 1.
    """
    node = find_decision(spot, line)
    if board is not None:
        find(spot, line, board)
    words = [spot.betting.label[c] for c in spot.betting.children(node)]
    shares = _shares(strategy, words, line)
    wanted = shares[:, spot.hands]
    total = wanted.sum(0)
    wrong = (np.abs(total - 1) > 1e-6) & (total != 0)
    if wrong.any() or not (wanted >= 0).all():
        worst = float(total[np.argmax(wrong)]) if wrong.any() else float(wanted.min())
        raise ValueError(
            f"probabilities after {line!r} must be 0 or more and sum to 1, not {worst}"
        )
    made = Lock(spot.betting.line(node), board, dict(zip(words, shares, strict=True)))
    return dataclasses.replace(spot, locks=(*spot.locks, made))


def _shares(strategy: Strategy, words: Sequence[str], line: str) -> np.ndarray:
    """Returns the probabilities of a strategy, float [A, 1326]; 0 for hands that stay free."""
    out = np.zeros((len(words), NUM_HANDS))
    for key, value in strategy.items():
        if isinstance(value, Mapping):
            hands = parse_range(key) > 0
            out[:, hands] = 0.0
            for action, share in value.items():
                out[_slot(words, action, line), hands] = float(share)
        elif isinstance(value, str):
            out[_slot(words, key, line)] = parse_range(value)
        else:
            array = np.asarray(value, float)
            if array.shape not in ((), (NUM_HANDS,)):
                raise ValueError(
                    f"the probabilities of {key!r} are an array {array.shape}; give one number, "
                    f"one for each of {NUM_HANDS} hands, or a range such as 'QQ+,AK:0.5'"
                )
            out[_slot(words, key, line)] = array
    return out


def _slot(words: Sequence[str], action: str, line: str) -> int:
    if action not in words:
        raise ValueError(
            f"no action {action!r} after {line!r}; there are {', '.join(words)}. A strategy is "
            '{"x": 0.7, "b100": 0.3}, or by range {"KK+": {"b100": 1.0}}'
        )
    return words.index(action)
