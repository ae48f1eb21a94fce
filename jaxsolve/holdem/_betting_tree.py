"""The betting of two players as a tree, without cards: who can bet what, from menus of sizes.

The rules of `_betting` say what is allowed and what follows; a menu picks sizes from that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._betting import FOLD, BetState, Betting, act_and_deal, options
from jaxsolve.mccfr import find_line, line_to


class Kind(enum.IntEnum):
    """What a node of the betting is."""

    DECISION = 0
    FOLDED = 1
    SHOWDOWN = 2
    ALL_IN = 3
    """Nobody can bet any more and cards are still to come."""


@dataclasses.dataclass(frozen=True)
class Situation:
    """What a menu of sizes is asked about, in chips.

    Attributes:
        street: of the hand, 0 for the first.
        player: who acts.
        own, facing: what the player and the opponent have put in on this street.
        pot: everything put in so far, this street included.
        high: the largest total on this street that the opponent can still answer.
        low: the least raise by the rules, likewise.
        raises: bets and raises on this street so far, blinds not counted.
        aggressor: who made the last bet or raise of the street before, -1 if nobody did.
    """

    street: int
    player: int
    own: int
    facing: int
    pot: int
    high: int
    low: int
    raises: int
    aggressor: int


Menu = Callable[[Situation], list[int]]
"""Totals on this street that a player may bet or raise to, ascending."""


@dataclasses.dataclass(frozen=True)
class BettingTree:
    """Nodes in breadth-first order (P nodes, two players).

    Attributes:
        parent: int32 [P], -1 for the first.
        action: int32 [P], what led here: FOLD, or the player's total over the whole hand.
        kind: int8 [P], a `Kind`.
        actor: int8 [P], of decisions.
        street: int8 [P], 0 for the first street of the tree.
        spent: int32 [P, 2], chips put in over the whole hand.
        label: object [P], the action in words, "" for the first.
    """

    parent: np.ndarray
    action: np.ndarray
    kind: np.ndarray
    actor: np.ndarray
    street: np.ndarray
    spent: np.ndarray
    label: np.ndarray

    @functools.cached_property
    def num_children(self) -> np.ndarray:
        """int [P], nodes that follow each."""
        return np.bincount(self.parent[1:], minlength=self.num_nodes)

    @functools.cached_property
    def first_child(self) -> np.ndarray:
        """int [P], the first of the nodes that follow each; they are next to each other."""
        return 1 + np.cumsum(self.num_children) - self.num_children

    def children(self, node: int) -> range:
        """Returns the nodes that follow one."""
        first = int(self.first_child[node])
        return range(first, first + int(self.num_children[node]))

    @property
    def num_nodes(self) -> int:
        """P."""
        return len(self.parent)

    @property
    def num_streets(self) -> int:
        """Streets on which there are nodes."""
        return int(self.street.max()) + 1

    def line(self, node: int) -> str:
        """Returns the actions that lead to a node, as in "x b50 c / x"; "/" is a new street."""
        return line_to(node, self.parent, self.street, self.label)

    def find(self, line: str) -> int:
        """Returns the node that a line leads to, see `line`; the first node for "".

        Raises:
            ValueError: there is no such line; says what can be done where it leaves the tree.
        """
        return find_line(line, self.children, self.label, self.line)


class _Known(NamedTuple):
    """What the state of the betting does not tell.

    Attributes:
        base: chips that each player had put in before this street.
        aggressor: who made the last bet or raise of this street, -1 if nobody did.
        before: the same of the street before.
    """

    base: int
    aggressor: int = -1
    before: int = -1


class _Move(NamedTuple):
    """One action: the player's total over the whole hand, its name, and who bet last then."""

    to: int
    label: str
    aggressor: int


@dataclasses.dataclass
class _Situations:
    """Situations of the betting, each once (N of them, M moves).

    Lines that come to the same chips and the same right to act go on alike, so the tree has many
    times more nodes.

    Attributes:
        states: int [N, ...], rows of `BetState`, in the order in which they were found.
        known: of each.
        kind: of each.
        first: where the moves of each begin among all, and their number [N].
        moves: all of them.
        after: the situation after each move.
    """

    states: list[np.ndarray] = dataclasses.field(default_factory=list)
    known: list[_Known] = dataclasses.field(default_factory=list)
    kind: list[Kind] = dataclasses.field(default_factory=list)
    first: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    moves: list[_Move] = dataclasses.field(default_factory=list)
    after: list[int] = dataclasses.field(default_factory=list)


def betting_tree(rules: Betting, start: BetState, menu: Menu) -> BettingTree:
    """Returns the tree of all betting from the beginning of a street.

    Args:
        rules: of the betting, for two players.
        start: a state in which somebody acts.
        menu: the sizes on offer.
    """
    found = _situations(rules, start, menu)
    moves = np.asarray([m.to for m in found.moves], np.int32)
    label = np.asarray([m.label for m in found.moves], object)
    after = np.asarray(found.after, np.int64)
    first, count = np.asarray(found.first, np.int64).T
    situation = np.zeros(1, np.int64)  # of each node of a level
    size = 0
    parents, actions, labels, situations = [np.full(1, -1)], [np.full(1, FOLD)], [[""]], [situation]
    while len(situation):
        width = count[situation]
        above = np.repeat(np.arange(len(situation)), width)
        slot = np.arange(len(above)) - np.repeat(np.cumsum(width) - width, width)
        move = first[situation][above] + slot
        parents.append(size + above)
        size += len(situation)
        situation = after[move]
        actions.append(moves[move])
        labels.append(label[move])
        situations.append(situation)
    which = np.concatenate(situations)
    states = _unpacked(start, np.stack(found.states)[which])
    return BettingTree(
        np.concatenate(parents).astype(np.int32),
        np.concatenate(actions).astype(np.int32),
        np.asarray(found.kind, np.int8)[which],
        np.asarray(states.actor, np.int8),
        np.asarray(states.street - int(start.street), np.int8),
        np.asarray(states.spent, np.int32),
        np.concatenate([np.asarray(x, object) for x in labels]),
    )


def _situations(rules: Betting, start: BetState, menu: Menu) -> _Situations:
    """Finds all situations that can follow, a generation at a time."""
    # Blinds belong to the first street; what both have put in alike was put in before.
    equal = int(start.spent.min()) == int(start.spent.max())
    out = _Situations()
    number: dict[bytes, int] = {}

    def put(row: np.ndarray, known: _Known) -> int:
        key = row.tobytes() + np.asarray(known, np.int64).tobytes()
        if key not in number:
            number[key] = len(number)
            out.states.append(row)
            out.known.append(known)
        return number[key]

    put(_packed(BetState(*(np.asarray(x)[None] for x in start)))[0],
        _Known(int(start.spent.max()) if equal else 0))  # fmt: skip
    begin = 0
    while begin < len(out.states):
        end = len(out.states)
        states = _unpacked(start, np.stack(out.states[begin:]))
        out.kind += _kinds(rules, states)
        low = _low(rules, states)
        rows, to = [], []
        for k in range(begin, end):
            known, before = out.known[k], len(out.moves)
            if out.kind[k] == Kind.DECISION:
                one = BetState(*(x[k - begin] for x in states))
                out.moves += _moves(known, one, int(low[k - begin]), menu)
            made = len(out.moves) - before
            out.first.append((before, made))
            rows += [k - begin] * made
            to += [m.to for m in out.moves[before:]]
        if rows:
            taken = BetState(*(x[rows] for x in states))
            following = act_and_deal(rules, taken, np.asarray(to, np.int32))
            packed = _packed(following)
            streets, spent = np.asarray(following.street), np.asarray(following.spent)
            for j, row in enumerate(rows):
                known = out.known[begin + row]
                aggressor = out.moves[len(out.moves) - len(rows) + j].aggressor
                if streets[j] > states.street[row]:
                    known = _Known(int(spent[j].max()), -1, aggressor)
                else:
                    known = known._replace(aggressor=aggressor)
                out.after.append(put(packed[j], known))
        begin = end
    return out


def _packed(states: BetState) -> np.ndarray:
    """Returns int64 [N, ...], all fields of N states side by side."""
    columns = [np.asarray(x).reshape(len(x), -1) for x in states]
    return np.concatenate(columns, 1).astype(np.int64)


def _unpacked(like: BetState, rows: np.ndarray) -> BetState:
    """Returns the states [N, ...] of `_packed`."""
    out, at = [], 0
    for field in like:
        shape = np.shape(field)
        size = int(np.prod(shape, dtype=int))
        made = rows[:, at : at + size].reshape(len(rows), *shape)
        out.append(made.astype(np.asarray(field).dtype))
        at += size
    return BetState(*out)


def _moves(known: _Known, state: BetState, low: int, menu: Menu) -> list[_Move]:
    """Returns what can be done at a decision: fold, check or call, then raises upward."""
    player = int(state.actor)
    own, bet, most = int(state.spent[player]), int(state.bet), int(state.stack.min())
    base = known.base
    out = []
    if bet > own:
        out.append(_Move(FOLD, "f", known.aggressor))
    call = min(bet, int(state.stack[player]))
    out.append(_Move(call, "c" if bet > own else "x", known.aggressor))
    if low > bet:
        situation = Situation(
            street=int(state.street),
            player=player,
            own=own - base,
            facing=bet - base,
            pot=int(state.spent.sum()),
            high=most - base,
            low=min(low, most) - base,
            raises=int(state.raises),
            aggressor=known.before,
        )
        for total in menu(situation):
            word = "a" if base + total == most else f"{'r' if bet > base else 'b'}{total}"
            out.append(_Move(base + total, word, player))
    return out


def _kinds(rules: Betting, states: Any) -> list[Kind]:
    last = states.street == rules.num_streets - 1
    kinds = np.where(last, Kind.SHOWDOWN, Kind.ALL_IN)
    kinds = np.where(states.folded.any(1), Kind.FOLDED, kinds)
    return [Kind(k) for k in np.where(states.actor >= 0, Kind.DECISION, kinds)]


def _low(rules: Betting, states: BetState) -> np.ndarray:
    """Returns the least total of a raise [N], 0 if there can be none."""
    found = options(rules, states)
    return np.where(found.low <= found.high, found.low, 0)
