"""The public actions of one street of a real hand, and a blueprint's actions after it.

The street is played with its real chips, on a menu of its own. Each way to its end is followed on
the blueprint's menu as well (likelier neighbour of the pseudo-harmonic mapping, Ganzfried and
Sandholm 2013), so that it ends at a node from which the blueprint can go on. What is bet after it
is the blueprint's bets in the ratio of the real to the blueprint's pot; who is all-in there is
all-in. A way that has left the blueprint's menu is checked to the showdown.

"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._action_tree import Words, act_on, moves_of, options_of
from jaxsolve.holdem._bet_menu import BetMenu, StreetMenu
from jaxsolve.holdem._betting import FOLD, BetState
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._menu_view import LEFT, MenuView, Table
from jaxsolve.holdem._sizes import Size
from jaxsolve.mccfr import ActionTree, Continuations, Kind, LimitedTree, PotPayoffs, limited_tree
from jaxsolve.types import TERMINAL


class Beyond(NamedTuple):
    """What goes on where a search ends.

    Attributes:
        view: the blueprint's menu.
        kind: uint8 [P], `Kind` of the action that leads to each of its nodes.
        row: int64 [P + 1], where its tables have each node.
        continuations: of its policy.
    """

    view: MenuView
    kind: np.ndarray
    row: np.ndarray
    continuations: Continuations

    @property
    def game(self) -> HoldemGame:
        """The blueprint's."""
        return self.view.game


def beyond(view: MenuView, continuations: Continuations) -> Beyond:
    """Returns what goes on where a search ends."""
    tree = view.tree
    raises = tree.action > view.spent[tree.parent].max(1)
    kind = np.where(tree.action == FOLD, Kind.FOLD, np.where(raises, Kind.RAISE, Kind.CALL))
    return Beyond(view, kind.astype(np.uint8), tree.rows(view.game.num_buckets), continuations)


def street_menu(menu: BetMenu, street: int, bets: list[tuple[int, int]]) -> BetMenu:
    """Returns a menu with bets added on one street.

    Args:
        menu: what is on offer anyway.
        street: 0 before the flop.
        bets: (bets and raises on the street before it, chips more than what was bet so far) of each
            bet that was made.
    """
    old = menu.streets[street]
    length = max([len(old.sizes), *(number + 1 for number, _ in bets)])
    sizes = [old.at(k) for k in range(length)]
    for number, chips in bets:
        sizes[number] = (*sizes[number], Size("chips", chips))
    streets = list(menu.streets)
    streets[street] = StreetMenu(tuple(sizes), old.repeat and length == len(old.sizes))
    return dataclasses.replace(menu, streets=tuple(streets))


class _Part(NamedTuple):
    """Some nodes [N]."""

    parent: np.ndarray
    action: np.ndarray
    letter: np.ndarray
    total: np.ndarray
    actor: np.ndarray
    stage: np.ndarray
    actions: np.ndarray
    kind: np.ndarray
    mapped: np.ndarray  # node of the blueprint
    spent: np.ndarray  # [N, n]
    folded: np.ndarray


def subgame_tree(
    state: BetState, node: int, menu: BetMenu, after: Beyond, choosers: np.ndarray
) -> tuple[LimitedTree, PotPayoffs]:
    """Returns (the public actions of a search, what their ends pay) (n players).

    Args:
        state: where a street begins.
        node: of the blueprint there, or LEFT.
        menu: what may be bet on this street.
        after: what goes on where the street ends.
        choosers: bool [n], who chooses a continuation where the street ends, if still in.
    """
    parts, leaves = _street(state, node, menu, after)
    return _assembled(parts, leaves, state, int(state.street), after, choosers)


def tree_beyond(
    state: BetState, node: int, after: Beyond, choosers: np.ndarray | None = None
) -> tuple[LimitedTree, PotPayoffs]:
    """Returns (the blueprint's actions from where a street begins, what their ends pay).

    Args:
        state: where a street begins, n players.
        node: of the blueprint there, a decision of the player who acts.
        after: the blueprint.
        choosers: bool [n], who chooses a continuation there; the others play the first one.
    """
    n = len(state.stack)
    chooses = np.zeros(n, bool) if choosers is None else choosers
    tree, at = after.view.tree, np.array([node])
    root = _Part(
        parent=np.array([-1]),
        action=np.array([FOLD]),
        letter=np.zeros(1, np.uint8),
        total=np.zeros(1, int),
        actor=tree.actor[at],
        stage=tree.stage[at],
        actions=tree.count[at],
        kind=np.full(1, Kind.CALL),
        mapped=at,
        spent=np.asarray(state.spent)[None],
        folded=np.asarray(state.folded)[None],
    )
    leaves = {"new": np.zeros(1, int), "mapped": at, "spent": root.spent, "size": np.array(1)}
    return _assembled([root], leaves, state, int(state.street) - 1, after, chooses)


def _assembled(
    parts: list[_Part],
    leaves: dict[str, np.ndarray],
    state: BetState,
    last: int,
    after: Beyond,
    choosers: np.ndarray,
) -> tuple[LimitedTree, PotPayoffs]:
    """Returns the tree of some nodes and of the blueprint's below `leaves`; `last` is played."""
    stacks = np.asarray(state.stack)
    parts = parts + _beyond(leaves, stacks, after)
    whole = _Part(*(np.concatenate(x) for x in zip(*parts, strict=True)))
    tree = ActionTree(
        num_players=len(stacks),
        parent=whole.parent.astype(np.int32),
        action=whole.action.astype(np.int32),
        actor=whole.actor.astype(np.int8),
        stage=whole.stage.astype(np.uint8),
        count=whole.actions.astype(np.int32),
        label=Words(whole.letter.astype(np.uint8), whole.total.astype(np.int32)),
    )
    chooses = choosers & ~whole.folded & (whole.spent < stacks)
    made, origin = limited_tree(
        tree,
        last,
        source=np.where(whole.mapped == LEFT, -1, after.row[np.maximum(whole.mapped, 0)]),
        kind=whole.kind,
        beyond=after.continuations,
        choosers=chooses,
    )
    ends = origin[made.ends]
    return made, PotPayoffs(whole.spent[ends].astype(np.int32), whole.folded[ends])


def _street(
    state: BetState, node: int, menu: BetMenu, after: Beyond
) -> tuple[list[_Part], dict[str, np.ndarray]]:
    """Returns (the nodes of a street, where the blueprint goes on).

    The latter are new numbers, nodes of the blueprint and chips, and how many nodes there are.
    """
    rules, view = menu.rules, after.view
    street, base = int(state.street), int(state.bet) if int(state.street) else 0
    states = BetState(*(np.asarray(x)[None] for x in state))
    parent, action = np.array([-1]), np.array([FOLD])
    letter, total, mapped = np.zeros(1, np.uint8), np.zeros(1, int), np.array([node])
    parts: list[_Part] = []
    leaves: list[tuple[np.ndarray, ...]] = []
    size = 0
    while len(parent):
        here = np.flatnonzero((states.actor >= 0) & (states.street == street))
        leaf = (states.actor >= 0) & (states.street > street)
        on = leaf & view.follows(mapped, states.actor, states.street)
        found = BetState(*(x[here] for x in states))
        to, letters, totals = moves_of(menu, rules, found, np.full(len(here), base, np.int32))
        legal = letters > 0
        count = np.zeros(len(parent), int)
        count[here] = legal.sum(1)
        count[on] = view.tree.count[mapped[on]]
        inner = count > 0
        parts.append(
            _Part(
                parent=parent,
                action=action,
                letter=letter,
                total=total,
                actor=np.where(inner, states.actor, TERMINAL),
                stage=np.where(leaf, states.street, street),
                actions=count,
                kind=_kind(letter),
                mapped=np.where(on, mapped, LEFT),
                spent=states.spent,
                folded=states.folded,
            )
        )
        at = np.flatnonzero(on)
        leaves.append((size + at, mapped[at], states.spent[at]))
        row, column = np.nonzero(legal)
        action, letter, total = to[row, column], letters[row, column], totals[row, column]
        chosen = here[row]
        mapped = followed(view, mapped[chosen], _table(rules, found, row), action)
        parent, size = size + chosen, size + len(parent)
        if len(row):
            states = act_on(rules, BetState(*(x[chosen] for x in states)), action)
    new, nodes, spent = (np.concatenate(x) for x in zip(*leaves, strict=True))
    return parts, {"new": new, "mapped": nodes, "spent": spent, "size": np.array(size)}


def _beyond(leaves: dict[str, np.ndarray], stacks: np.ndarray, after: Beyond) -> list[_Part]:
    """Returns the blueprint's nodes below some leaves, with real chips."""
    view, tree, payoffs = after.view, after.view.tree, after.game.payoffs
    new, node, real = leaves["new"], leaves["mapped"], leaves["spent"]
    seen = view.spent[node]
    scale = real.sum(1) / np.maximum(seen.sum(1), 1)
    of = np.arange(len(node))
    size, parts = int(leaves["size"]), []
    while len(node):
        count = tree.count[node]
        up = np.repeat(np.arange(len(node)), count)
        rank = np.arange(len(up)) - np.repeat(np.cumsum(count) - count, count)
        child, of = tree.child[node][up] + rank, of[up]
        spent = view.spent[child]
        chips = np.rint(real[of] + (spent - seen[of]) * scale[of, None])
        chips = np.where(spent >= after.game.menu.stack, stacks, np.minimum(chips, stacks))
        end = tree.end_number[child]
        out = np.where(end[:, None] >= 0, payoffs.folded[np.maximum(end, 0)], False)
        parts.append(
            _Part(
                parent=new[up],
                action=tree.action[child],
                letter=np.full(len(child), ord("c")),
                total=spent.max(1),
                actor=tree.actor[child],
                stage=tree.stage[child],
                actions=tree.count[child],
                kind=after.kind[child],
                mapped=child,
                spent=chips,
                folded=out,
            )
        )
        new, node = size + np.arange(len(child)), child
        size += len(child)
    return parts


def followed(view: MenuView, node: np.ndarray, table: Table, to: np.ndarray) -> np.ndarray:
    """Returns the likelier nodes of the blueprint after real actions, or LEFT."""
    after = np.full(len(node), LEFT, np.int64)
    on = np.flatnonzero(view.follows(node, table.actor, table.street))
    if len(on):
        small, large, share = view.seen_as(node[on], table.rows(on), to[on])
        after[on] = np.where(share >= 0.5, small, large)
    return after


def _table(rules: Any, states: BetState, row: np.ndarray) -> Table:
    """Returns what is known of the hands `row` of some states at decisions."""
    fold, low, high = options_of(rules, states)
    one = np.arange(len(low)), states.actor
    call = np.minimum(states.bet, states.stack[one]) if len(low) else states.bet
    high = np.where(high > 0, high, low - 1)
    return Table(states.actor, states.street, states.spent, fold, call, low, high).rows(row)


def _kind(letter: np.ndarray) -> np.ndarray:
    raises = np.isin(letter, [ord(x) for x in "bra"])
    return np.where(letter == ord("f"), Kind.FOLD, np.where(raises, Kind.RAISE, Kind.CALL))
