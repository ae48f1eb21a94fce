"""The public actions of hold'em for 2 to 9 players, from a menu: millions of nodes in seconds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._bet_menu import BetMenu
from jaxsolve.holdem._betting import (
    FOLD,
    BetState,
    Betting,
    act_and_deal,
    options,
    portion,
    start,
)
from jaxsolve.holdem._sizes import Size
from jaxsolve.mccfr import ActionTree, PotPayoffs
from jaxsolve.types import TERMINAL

_CHUNK = 1 << 16
"""States that the rules work on at a time."""


class Words(Sequence[str]):
    """Names of actions, made when they are read: "f", "x", "c", "b150", "r450", "a".

    Numbers are the player's total on the street.
    """

    def __init__(self, kind: np.ndarray, total: np.ndarray) -> None:
        """kind: uint8 [P], letters; total: int32 [P], chips."""
        self._kind, self._total = kind, total

    def __len__(self) -> int:
        return len(self._kind)

    def __getitem__(self, node: Any) -> Any:
        letter = chr(self._kind[node]) if self._kind[node] else ""
        return f"{letter}{self._total[node]}" if letter in ("b", "r") else letter


def action_tree(menu: BetMenu) -> tuple[ActionTree, PotPayoffs]:
    """Returns (the public actions of a menu, what their ends pay).

    The stage of a node is its street, 0 for preflop. Nodes are in breadth-first order.
    """
    rules = menu.rules
    states = BetState(*(np.asarray(x)[None] for x in start(rules, menu.stack)))
    base = np.zeros(1, np.int32)  # what each has put in before this street
    level = _Level(np.array([-1]), np.array([FOLD]), np.zeros(1, np.uint8), np.zeros(1, int))
    parts: list[dict[str, np.ndarray]] = []
    ends: list[tuple[np.ndarray, np.ndarray]] = []
    size = 0
    while len(level.parent):
        decides = states.actor >= 0
        to, letter, total = moves_of(menu, rules, states, base)
        legal = letter > 0
        parts.append(
            {
                "parent": level.parent,
                "action": level.action,
                "letter": level.letter,
                "total": level.total,
                "actor": np.where(decides, states.actor, TERMINAL).astype(np.int8),
                "stage": states.street.astype(np.uint8),
                "count": legal.sum(1),
            }
        )
        ends.append((states.spent[~decides], states.folded[~decides]))
        row, column = np.nonzero(legal)
        level = _Level(size + row, to[row, column], letter[row, column], total[row, column])
        size += len(legal)
        if len(row):
            above = BetState(*(x[row] for x in states))
            states = act_on(rules, above, level.action)
            moved = states.street > above.street
            base = np.where(moved, states.bet, base[row]).astype(np.int32)
    whole = {k: np.concatenate([p[k] for p in parts]) for k in parts[0]}
    tree = ActionTree(
        num_players=menu.players,
        parent=whole["parent"].astype(np.int32),
        action=whole["action"].astype(np.int32),
        actor=whole["actor"],
        stage=whole["stage"],
        count=whole["count"].astype(np.int32),
        label=Words(whole["letter"], whole["total"].astype(np.int32)),
    )
    spent, folded = (np.concatenate(x) for x in zip(*ends, strict=True))
    return tree, PotPayoffs(spent.astype(np.int32), folded)


@dataclasses.dataclass(frozen=True)
class _Level:
    """Nodes of one depth: what led to each of them, int [N]."""

    parent: np.ndarray
    action: np.ndarray
    letter: np.ndarray
    total: np.ndarray


def moves_of(
    menu: BetMenu, rules: Betting, states: Any, base: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns, [N, M] each: total over the hand, letter or 0, total on the street."""
    fold, low, high = options_of(rules, states)
    count, decides = len(low), states.actor >= 0
    seat = np.maximum(states.actor, 0)
    own, stack = (
        np.take_along_axis(x, seat[:, None], 1)[:, 0] for x in (states.spent, states.stack)
    )
    call = np.minimum(states.bet, stack)
    asked = states.bet > own
    raises = np.minimum(states.raises, 255)
    offers: dict[tuple[int, int], tuple[Size, ...]] = {
        (int(s), int(r)): menu.streets[s].at(int(r))
        for s, r in np.unique(np.stack([states.street, raises], 1)[decides], axis=0)
    }
    width = max((len(sizes) for sizes in offers.values()), default=0)
    totals = np.zeros((count, width), np.int64)
    for (street, number), sizes in offers.items():
        here = np.flatnonzero(
            decides & (states.street == street) & (raises == number) & (low <= high)
        )
        pot = states.spent[here].sum(1) + states.bet[here] - own[here]
        for k, size in enumerate(sizes):
            wanted = _total(size, states.bet[here], base[here], pot, high[here])
            totals[here, k] = np.clip(wanted, low[here], high[here])
    totals = np.sort(totals, 1)
    new = totals > 0
    new[:, 1:] &= totals[:, 1:] > totals[:, :-1]
    letters = np.where(states.bet[:, None] > base[:, None], ord("r"), ord("b"))
    letters = np.where(totals == high[:, None], ord("a"), letters)
    to = np.concatenate([np.full((count, 1), FOLD), call[:, None], totals], 1)
    letter = np.concatenate(
        [
            np.where(fold, ord("f"), 0)[:, None],
            np.where(decides, np.where(asked, ord("c"), ord("x")), 0)[:, None],
            np.where(new, letters, 0),
        ],
        1,
    )
    return to, letter.astype(np.uint8), to - base[:, None]


def _total(
    size: Size, bet: np.ndarray, base: np.ndarray, pot: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Returns the total over the hand that a size means; `pot` is after calling."""
    if size.kind == "all-in":
        return high
    if size.kind == "pot":
        return np.asarray(bet + portion(pot, size.amount))
    if size.kind == "multiple":
        return np.asarray(base + portion(bet - base, size.amount))
    return bet + int(size.amount)


def options_of(rules: Betting, states: BetState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns what the actors of a batch of states may do.

    (bool [K] whether folding is allowed, int [K] least and largest total of a raise that somebody
    can answer; the largest is 0 where there is no raise).
    """
    found = options(rules, states)
    others = ~states.folded & (np.arange(rules.num_players) != states.actor[:, None])
    answered = np.where(others, states.stack, 0).max(1)
    high = np.minimum(found.high, np.maximum(answered, found.low))
    return found.fold, found.low, np.where(found.low <= found.high, high, 0)


def act_on(rules: Betting, states: BetState, to: np.ndarray) -> BetState:
    """Returns the states after actions int [K], in which somebody acts or the betting is over."""
    parts = []
    for k in range(0, len(to), _CHUNK):
        some = BetState(*(x[k : k + _CHUNK] for x in states))
        parts.append(act_and_deal(rules, some, to[k : k + _CHUNK]))
    return BetState(*(np.concatenate(x) for x in zip(*parts, strict=True)))
