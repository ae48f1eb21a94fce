"""The betting of two players as a tree, without cards: who can bet what, from menus of sizes.

The rules of `_betting` say what is allowed and what follows; a menu picks sizes from that.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxsolve.holdem._betting import FOLD, BetState, Betting, act, next_street, options
from jaxsolve.mccfr import find_line, line_to
from jaxsolve.types import CHANCE, Array


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
        label: the action in words, "" for the first.
        children: the nodes that follow each.
    """

    parent: np.ndarray
    action: np.ndarray
    kind: np.ndarray
    actor: np.ndarray
    street: np.ndarray
    spent: np.ndarray
    label: tuple[str, ...]
    children: tuple[tuple[int, ...], ...]

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
        return find_line(line, self.children.__getitem__, self.label, self.line)


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A node on its way into the tree, and what the state of the betting does not tell.

    Attributes:
        base: chips that each player had put in before this street.
        aggressor: who made the last bet or raise of this street.
        before: the same of the street before.
    """

    parent: int
    action: int
    label: str
    base: int
    aggressor: int = -1
    before: int = -1


def betting_tree(rules: Betting, start: BetState, menu: Menu) -> BettingTree:
    """Returns the tree of all betting from the beginning of a street.

    Args:
        rules: of the betting, for two players.
        start: a state in which somebody acts.
        menu: the sizes on offer.
    """
    first = int(start.street)
    nodes: list[tuple[_Entry, Kind, int, int, np.ndarray]] = []
    states = jax.tree.map(lambda x: np.asarray(x)[None], start)
    # Blinds belong to the first street; what both have put in alike was put in before.
    equal = int(start.spent.min()) == int(start.spent.max())
    entries = [_Entry(-1, FOLD, "", int(start.spent.max()) if equal else 0)]
    while entries:
        kinds = _kinds(rules, states)
        low = _batched(rules, _low, states)
        size = len(nodes)
        following: list[int] = []
        coming: list[_Entry] = []
        for k, entry in enumerate(entries):
            one = jax.tree.map(lambda x, k=k: x[k], states)
            street = int(one.street) - first
            if entry.parent >= 0 and street > nodes[entry.parent][3]:
                base, before = int(one.spent.max()), entry.aggressor
                entry = dataclasses.replace(entry, base=base, aggressor=-1, before=before)
            nodes.append((entry, kinds[k], int(one.actor), street, one.spent))
            if kinds[k] == Kind.DECISION:
                coming += _moves(entry, one, int(low[k]), menu, size + k)
                following += [k] * (len(coming) - len(following))
        entries = coming
        if entries:
            rows = np.asarray(following)
            taken = jax.tree.map(lambda x, rows=rows: x[rows], states)
            to = np.asarray([e.action for e in entries], np.int32)
            states = _batched(rules, _act, taken, to)
    children: list[list[int]] = [[] for _ in nodes]
    for number, (entry, *_) in enumerate(nodes[1:], 1):
        children[entry.parent].append(number)
    made, kind, actor, street_of, spent = zip(*nodes, strict=True)
    return BettingTree(
        np.asarray([e.parent for e in made], np.int32),
        np.asarray([e.action for e in made], np.int32),
        np.asarray(kind, np.int8),
        np.asarray(actor, np.int8),
        np.asarray(street_of, np.int8),
        np.stack(spent).astype(np.int32),
        tuple(e.label for e in made),
        tuple(tuple(c) for c in children),
    )


def _moves(entry: _Entry, state: BetState, low: int, menu: Menu, node: int) -> list[_Entry]:
    """Returns the nodes that follow a decision: fold, check or call, then raises upward."""
    player = int(state.actor)
    own, bet, most = int(state.spent[player]), int(state.bet), int(state.stack.min())
    base = entry.base
    step = functools.partial(_Entry, node, base=base, before=entry.before)
    out = []
    if bet > own:
        out.append(step(FOLD, "f", aggressor=entry.aggressor))
    call = min(bet, int(state.stack[player]))
    out.append(step(call, "c" if bet > own else "x", aggressor=entry.aggressor))
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
            aggressor=entry.before,
        )
        for total in menu(situation):
            word = "a" if base + total == most else f"{'r' if bet > base else 'b'}{total}"
            out.append(step(base + total, word, aggressor=player))
    return out


def _kinds(rules: Betting, states: Any) -> list[Kind]:
    last = states.street == rules.num_streets - 1
    kinds = np.where(last, Kind.SHOWDOWN, Kind.ALL_IN)
    kinds = np.where(states.folded.any(1), Kind.FOLDED, kinds)
    return [Kind(k) for k in np.where(states.actor >= 0, Kind.DECISION, kinds)]


def _low(rules: Betting, state: BetState) -> Array:
    """Returns the least total of a raise, 0 if there can be none."""
    found = options(rules, state)
    return jax.numpy.where(found.low <= found.high, found.low, 0)


def _act(rules: Betting, state: BetState, to: Array) -> BetState:
    """Returns the next state in which somebody acts or the betting is over."""
    after = act(rules, state, to)
    able = (after.spent < after.stack).all()  # somebody all-in ends the betting of two
    deals = (after.actor == CHANCE) & able
    dealt = next_street(rules, after)
    return jax.tree.map(lambda a, b: jax.numpy.where(deals, a, b), dealt, after)


@functools.partial(jax.jit, static_argnames=("rules", "function"))
def _compiled(rules: Betting, function: Callable[..., Any], *args: Any) -> Any:
    return jax.vmap(functools.partial(function, rules))(*args)


def _batched(rules: Betting, function: Callable[..., Any], *args: Any) -> Any:
    """Returns function(rules, ...) of each member, padded to a power of two: few compilations."""
    size = len(jax.tree.leaves(args)[0])
    room = max(64, 1 << (size - 1).bit_length())
    padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[:1], room - size, 0)]), args)
    return jax.tree.map(lambda x: np.asarray(x)[:size], _compiled(rules, function, *padded))
