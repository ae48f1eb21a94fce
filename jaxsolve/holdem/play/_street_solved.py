"""A searched street: its policies, and what it promises the hands of the next street."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from jaxsolve.holdem._alternative_values import alternative_values, gifts
from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._betting_tree import Kind
from jaxsolve.holdem._boards import hands_fit
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS, cards_name
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._menu_view import LEFT
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem.limited import (
    Beyond,
    LimitedResult,
    SearchBegin,
    continuation_values,
)
from jaxsolve.holdem.play._public_hand import PublicHand
from jaxsolve.holdem.play._street_moves import find_node, find_path, menu_node
from jaxsolve.mccfr import Role


class Solved(Protocol):
    """A street that was searched."""

    def find(self, totals: Sequence[int]) -> int | None:
        """Returns the node after some moves of the street, totals or FOLD; None off the menu."""
        ...

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int [A] totals, float64 [1326, A] policy) at a decision.

        Args:
            node: the decision.
            final: the last iterate in place of the average, where there is one.
        """
        ...

    def promised(
        self, totals: Sequence[int], hand: PublicHand, ranges: np.ndarray, player: int, reach: bool
    ) -> np.ndarray | None:
        """Returns float64 [1326], chips that hands of a player win at best on the next street.

        The pot is included; NaN where nothing is known of a hand, None where nothing is known.

        Args:
            totals: all moves of the street.
            hand: where the next street begins, two players.
            ranges: float [2, 1326] there.
            player: whose hands.
            reach: add what they gave up on the way here.
        """
        ...


class ToTheEnd(NamedTuple):
    """The rest of the hand at full width, between two players.

    Attributes:
        result: of the spot.
        dead: chips, see `SpotProblem`.
    """

    result: SpotResult
    dead: int = 0

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return find_node(self.result.spot, totals, self.dead)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        tree = self.result.spot.betting
        totals = np.array([int(tree.action[c]) for c in tree.children(node)])
        report = self.result.node(tree.line(node))
        policy = np.zeros((NUM_HANDS, len(totals)))
        policy[report.hands] = report.strategy
        return np.where(totals == FOLD, FOLD, totals - self.dead), policy

    def promised(
        self, totals: Sequence[int], hand: PublicHand, ranges: np.ndarray, player: int, reach: bool
    ) -> np.ndarray | None:
        """See `Solved`."""
        tree, reports = self.result.spot.betting, self.result.reports
        path = find_path(self.result.spot, totals, self.dead)
        if path is None or tree.kind[path[-1]] != Kind.DECISION:
            return None
        board = cards_name(hand.board)
        found = alternative_values(reports, player, tree.line(path[-1]), board)
        own = [x for x in itertools.pairwise(path) if tree.actor[x[0]] == player]
        taken = [(tree.line(at), tree.label[to]) for at, to in own]
        return found + gifts(reports, player, taken) if reach else found


class WithNetwork(NamedTuple):
    """A turn whose rivers are a network's.

    Attributes:
        result: a `river_net.TurnResult`.
    """

    result: Any

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return find_node(self.result.turn, totals)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        tree = self.result.turn.betting
        totals = np.array([int(tree.action[c]) for c in tree.children(node)])
        shares = self.result.strategy[tree.line(node)]
        return totals, np.stack([shares[str(tree.label[c])] for c in tree.children(node)], 1)

    def promised(
        self, totals: Sequence[int], hand: PublicHand, ranges: np.ndarray, player: int, reach: bool
    ) -> np.ndarray | None:
        """See `Solved`; rivers have no values by themselves here."""
        return None


class ToTheStreetsEnd(NamedTuple):
    """A street with a choice of continuations after it.

    Attributes:
        result: of the search.
        after: the continuations.
    """

    result: LimitedResult
    after: Beyond

    def find(self, totals: Sequence[int]) -> int | None:
        """See `Solved`."""
        return self.result.game.find(totals)

    def told(self, node: int, *, final: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """See `Solved`."""
        return self.result.totals(node), self.result.policy(node, current=final)

    def promised(
        self, totals: Sequence[int], hand: PublicHand, ranges: np.ndarray, player: int, reach: bool
    ) -> np.ndarray | None:
        """See `Solved`: the continuations that the player chose, against the blueprint.

        Only on the turn. What was given up before is not known.
        """
        leaf, node = self.result.game.find(totals), menu_node(self.after.view, hand)
        if leaf is None or node == LEFT or hand.street != 2:
            return None
        tree = self.result.game.tree
        if tree.role[leaf] != Role.CHOICE or tree.actor[leaf] != player:
            return None
        rivers = np.setdiff1d(np.arange(NUM_CARDS), hand.board)
        boards = np.array([(*hand.board, card) for card in rivers], np.uint8)
        begin = SearchBegin(hand.state, hand.board, ranges, node)
        won = continuation_values(begin, self.after, boards, player)
        mean = (self.result.policy(leaf) * won.T).sum(1) * (len(rivers) / (len(rivers) - 4))
        weight = hands_fit() @ np.where(possible(hand.board), ranges[1 - player], 0.0)
        there = possible(hand.board) & (weight > 0)
        spent = float(hand.state.spent[player])
        return np.where(there, mean / np.where(there, weight, 1) + spent, np.nan)


def legal_policy(
    solved: Solved, node: int, hand: PublicHand, *, final: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (int64 [A] legal totals, ascending, float64 [1326, A] policy) at a decision.

    `final` takes the last iterate in place of the average. Hands that cannot be there, and moves
    that the rules do not allow, check or call.
    """
    totals, policy = solved.told(node, final=final)
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
