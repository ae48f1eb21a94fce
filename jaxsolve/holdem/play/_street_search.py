"""Searches of one street of a real hand: to the end of the hand, or to the end of the street.

Both begin where the street was dealt and hold every bet that was made on it since.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._sizes import STREETS, Size, Sizes
from jaxsolve.holdem._solve import solve
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import spot_tree
from jaxsolve.holdem.limited import Beyond, LimitedResult, SearchBegin, search, street_menu
from jaxsolve.holdem.limited import followed as follow_menu
from jaxsolve.holdem.play._blueprint_agent import table_of
from jaxsolve.holdem.play._public_hand import PublicHand


class Solved(Protocol):
    """A street that was searched."""

    def find(self, totals: Sequence[int]) -> int | None:
        """Returns the node after some moves of the street, totals or FOLD; None off the menu."""
        ...

    def told(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int [A] totals, float64 [1326, A] average policy) at a decision."""
        ...


class ToTheEnd(NamedTuple):
    """The rest of the hand at full width.

    Attributes:
        result: of the spot.
    """

    result: SpotResult

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        tree, node = self.result.spot.betting, 0
        for total in totals:
            follow = [c for c in tree.children(node) if int(tree.action[c]) == total]
            if not follow:
                return None
            node = follow[0]
        return node

    def told(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        tree = self.result.spot.betting
        totals = np.array([int(tree.action[c]) for c in tree.children(node)])
        report = self.result.node(tree.line(node))
        policy = np.zeros((NUM_HANDS, len(totals)))
        policy[report.hands] = report.strategy
        return totals, policy


class ToTheStreetsEnd(NamedTuple):
    """A street with a choice of continuations after it.

    Attributes:
        result: of the search.
    """

    result: LimitedResult

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return self.result.find(totals)

    def told(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        return self.result.totals(node), self.result.policy(node)


def search_to_the_end(
    root: PublicHand,
    hand: PublicHand,
    ranges: np.ndarray,
    sizes: Sizes,
    *,
    raises: int,
    iterations: int,
    seconds: float | None,
) -> ToTheEnd:
    """Returns the solution of the rest of a hand.

    Args:
        root: where the street began.
        hand: now.
        ranges: float [2, 1326] at the root, the largest 1.
        sizes: what may be bet, besides what was.
        raises: on a street, or more where there were more.
        iterations: of the solver.
        seconds: that it may take.
    """
    spent, stacks = np.asarray(root.state.spent), np.asarray(root.stacks)
    name, bets = STREETS[root.street - 1], _bets(root, hand)
    sizes = {key: sizes[key] for key in STREETS[root.street - 1 :]}
    first, second = (
        menu._replace(
            bet=(*menu.bet, *(s for k, s, opens in bets if opens and k == player)),
            raise_=(*menu.raise_, *(s for k, s, opens in bets if not opens and k == player)),
        )
        for player, menu in enumerate(sizes[name])
    )
    sizes[name] = (first, second)
    left, right = (int(x) for x in stacks - spent)
    spot = Spot(
        board=root.board,
        pot=int(spent.sum()),
        stack=(left, right),
        ranges=(ranges[0], ranges[1]),
        sizes=sizes,
        raise_cap=max(raises, len(bets) - 1),
    )
    result = solve(
        spot_tree(spot),
        iterations=iterations,
        measure_every=iterations,
        target=None,
        time_limit=seconds,
        progress=False,
    )
    return ToTheEnd(result)


def search_to_the_streets_end(
    root: PublicHand, hand: PublicHand, ranges: np.ndarray, after: Beyond, **limits: Any
) -> ToTheStreetsEnd:
    """Returns the solution of a street, see `limited.search`.

    Args:
        root: where the street began.
        hand: now.
        ranges: float [n, 1326] at the root.
        after: what goes on where the street ends.
        limits: options of the search.
    """
    menu = street_menu(after.game.menu, root.street, _raises(root, hand))
    begin = SearchBegin(root.state, root.board, ranges, menu_node(after.view, root))
    return ToTheStreetsEnd(search(begin, menu, after, **limits))


def menu_node(view: MenuView, hand: PublicHand) -> int:
    """Returns the likeliest node of a menu for a real hand, or LEFT."""
    node = np.zeros(1, np.int64)
    for after in hand.path():
        if after.move is None or after.before is None:
            continue
        node = follow_menu(view, node, table_of(after.before, 1), np.array([after.move]))
    return int(node[0]) if int(node[0]) != LEFT else LEFT


def beginning(hand: PublicHand) -> PublicHand:
    """Returns the hand where its street was dealt."""
    while hand.move is not None:
        assert hand.before is not None
        hand = hand.before
    return hand


def moves_since(root: PublicHand, hand: PublicHand) -> list[int]:
    """Returns the moves from one hand to a later one, totals or FOLD."""
    return [after.move for after in hand.path(root) if after.move is not None]


def _bets(root: PublicHand, hand: PublicHand) -> list[tuple[int, Size, bool]]:
    """Returns (player, size, whether nobody had bet) of each bet and raise since a street began."""
    found = []
    for before, after in itertools.pairwise([root, *hand.path(root)]):
        assert after.move is not None
        faced = int(before.state.bet)
        if after.move > faced:
            size = Size("chips", after.move - faced)
            opens = faced == int(root.state.bet)
            found.append((before.actor, size, opens))
    return found


def _raises(root: PublicHand, hand: PublicHand) -> list[tuple[int, int]]:
    """Returns (bets and raises before it, chips more) of each bet and raise since a street began."""
    found = []
    for before, after in itertools.pairwise([root, *hand.path(root)]):
        assert after.move is not None
        if after.move > (faced := int(before.state.bet)):
            found.append((int(before.state.raises), after.move - faced))
    return found


def legal_policy(solved: Solved, node: int, hand: PublicHand) -> tuple[np.ndarray, np.ndarray]:
    """Returns (int64 [A] legal totals, ascending, float64 [1326, A] policy) at a decision.

    Hands that cannot be there, and moves that the rules do not allow, check or call.
    """
    totals, policy = solved.told(node)
    call = int(np.flatnonzero(totals == hand.can.call)[0])
    nothing = possible(hand.board) & ~policy.any(1)
    policy[nothing, call] = 1
    legal = np.array([hand.can.allow(int(t)) for t in totals])
    policy[:, call] += policy[:, ~legal].sum(1)
    policy = policy[:, legal]
    total = policy.sum(1, keepdims=True)
    policy /= np.where(total > 0, total, 1)
    order = np.argsort(totals[legal])
    return totals[legal][order], policy[:, order]
