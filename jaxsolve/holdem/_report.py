"""What a policy does and is worth at the public states of a spot: one decision, or all of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting_tree import Kind
from jaxsolve.holdem._boards import compatible, live_hands
from jaxsolve.holdem._cards import NUM_HANDS, cards_name, parse_cards
from jaxsolve.holdem._node import NodeReport
from jaxsolve.holdem._sizes import PLAYERS
from jaxsolve.holdem._solution import OnTensors, Solution
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.tree import Policy

BOARDS = 64
"""Boards whose numbers are kept, since what is asked next is often on the same ones."""

_STREETS = {0: "preflop", 3: "flop", 4: "turn", 5: "river"}
"""Name of a street by the cards on the table."""


class Line(NamedTuple):
    """One decision of the betting, on all boards of its street.

    Attributes:
        line: the actions that lead to it, "" for the root.
        street: "flop", "turn" or "river".
        player: who acts, "oop" or "ip".
        actions: names of the actions there.
        num_boards: boards of the street that are told apart.
    """

    line: str
    street: str
    player: str
    actions: tuple[str, ...]
    num_boards: int


def lines(spot: SpotTree) -> list[Line]:
    """Returns every line of play that leads to a decision, the root first."""
    betting = spot.betting
    out = []
    for node in np.flatnonzero(betting.kind == Kind.DECISION).tolist():
        boards = spot.streets[betting.street[node]].boards
        words = tuple(betting.label[c] for c in betting.children(node))
        street = _STREETS[len(boards[0])]
        player = PLAYERS[betting.actor[node]]
        out.append(Line(betting.line(node), street, player, words, len(boards)))
    return out


def boards(spot: SpotTree, line: str = "") -> list[str]:
    """Returns the boards that `node_report` takes after a line, such as ["Td9d6hQc2c", ...].

    Raises:
        ValueError: there is no such line.
    """
    street = spot.streets[spot.betting.street[spot.betting.find(line)]]
    return [cards_name(board) for board in street.boards]


class Reports:
    """Reports of every decision under one solution."""

    def __init__(self, spot: SpotTree, solution: Solution) -> None:
        self.spot, self.solution = spot, solution
        at = functools.lru_cache(BOARDS)
        self._values = at(solution.values)
        self._strategy = at(solution.strategy)
        self._reach = at(solution.reach)

    def node(self, line: str = "", board: str | None = None) -> NodeReport:
        """Returns the report of one decision, see `node_report`."""
        return self.at(*find(self.spot, line, board))

    def on_boards(self, line: str = "") -> Iterator[NodeReport]:
        """Yields the report of a decision on each board of its street.

        Raises:
            ValueError: there is no such line, or nobody acts there.
        """
        node = find_decision(self.spot, line)
        for at in range(len(self.spot.streets[self.spot.betting.street[node]].boards)):
            yield self.at(node, at)

    def every(self) -> Iterator[NodeReport]:
        """Yields the reports of all decisions on all boards, line by line."""
        for line in lines(self.spot):
            yield from self.on_boards(line.line)

    def at(self, node: int, at: int) -> NodeReport:
        """Returns the report of a decision by its betting node and the number of its board."""
        spot = self.spot
        player = int(spot.betting.actor[node])
        street = spot.streets[spot.betting.street[node]]
        cards = street.boards[at]
        strategy, now, best = self.decision(node, at)
        mine, other = self.reach(player, node, at), self.reach(1 - player, node, at)
        live = live_hands(spot.hands, [cards])[0]
        weight = self.weight(player, node, at)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weight > 0, self.scale / weight, np.nan)
        before = float(spot.betting.spent[node, player])
        keep = np.flatnonzero(live & (spot.ranges[player][spot.hands] > 0))
        theirs = np.zeros(NUM_HANDS)
        theirs[spot.hands] = np.clip(other * live, 0, 1)  # float32 can round a product above 1
        return NodeReport(
            spot=spot,
            line=spot.betting.line(node),
            board=cards,
            player=player,
            actions=tuple(spot.betting.label[c] for c in spot.betting.children(node)),
            hands=spot.hands[keep],
            reach=mine[keep],
            opponent_reach=theirs,
            strategy=strategy[:, keep].T,
            value=(now * share + before)[:, keep].T,
            best=(best * share + before)[:, keep].T,
            weight=weight[keep] / self.scale,
        )

    def decision(self, node: int, board: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns (policy, values, best-response values) of a decision, float [A, H] each."""
        betting, numbers = self.spot.betting, self.spot.numbers
        player, street = int(betting.actor[node]), int(betting.street[node])
        first = int(numbers.first[node])
        at = slice(first, first + int(betting.num_children[node]))
        now, best = self._values(player, street, board)
        return self._strategy(player, street, board)[at], now[at], best[at]

    def reach(self, player: int, node: int, board: int) -> np.ndarray:
        """Returns float [H], own reach of a node on a board of its street."""
        found = self.before(player, node, board)
        if found is None:
            return np.asarray(self.spot.ranges[player][self.spot.hands], np.float32)
        street, board, sequence = found
        return np.asarray(self._reach(player, street, board)[sequence])

    def weight(self, player: int, node: int, board: int) -> np.ndarray:
        """Returns float [H], weights of what the opponent and chance let each hand come here."""
        street = self.spot.streets[self.spot.betting.street[node]]
        live = live_hands(self.spot.hands, [street.boards[board]])[0]
        other = self.reach(1 - player, node, board)
        return np.asarray(self.pairs[:, live] @ other[live]) * float(street.weight[board])

    def value_before(self, player: int, node: int, board: int) -> np.ndarray:
        """Returns float [H], the value of the player's own last action on the node's street."""
        found = self.before(player, node, board)
        assert found is not None
        street, board, sequence = found
        return np.asarray(self._values(player, street, board)[0][sequence])

    def before(self, player: int, node: int, board: int) -> tuple[int, int, int] | None:
        """Returns (street, board, sequence) of the player's last action; None if there is none."""
        spot = self.spot
        street, at = int(spot.numbers.where[player, node]), int(spot.betting.street[node])
        if street < 0:
            return None
        for later in range(at, street, -1):
            board = int(spot.streets[later].parent[board])
        return street, board, int(spot.numbers.last[player, node])

    @functools.cached_property
    def pairs(self) -> np.ndarray:
        """bool [H, H], whether two hands share no card."""
        return compatible(self.spot.hands)

    @functools.cached_property
    def scale(self) -> float:
        """Sum of the weights of all pairs of hands at the root."""
        oop, ip = (weights[self.spot.hands] for weights in self.spot.spot.ranges)
        return float(oop @ self.pairs @ ip)


def node_report(
    spot: SpotTree, policy: Policy, line: str = "", board: str | None = None
) -> NodeReport:
    """Returns the report of the decision that a line of play leads to; `Reports` makes many.

    Args:
        spot: the tree.
        policy: of both players.
        line: actions from the root, as in "x b50" or "x b50 c / x"; "" is the root.
        board: cards on the table there, as "Td9d6hQc2s"; needed after new cards.

    Raises:
        ValueError: there is no such line or board, or nobody acts there.
    """
    return Reports(spot, OnTensors(spot, policy)).node(line, board)


def find(spot: SpotTree, line: str, board: str | None) -> tuple[int, int]:
    """Returns (betting node, number of the board on its street) of a decision.

    Raises:
        ValueError: see `node_report`.
    """
    node = find_decision(spot, line)
    boards = spot.streets[spot.betting.street[node]].boards
    if board is None:
        if len(boards) > 1:
            raise ValueError(
                f"{line!r} is after new cards: name the board, such as "
                f"{cards_name(boards[0])!r} ({len(boards)} boards)"
            )
        return node, 0
    cards = parse_cards(board)
    if cards not in boards:
        raise ValueError(
            f"{board!r} is not a board of that street; such as {cards_name(boards[0])!r}. Cards "
            "that are equal by symmetry of suits are told apart with symmetric=False."
        )
    return node, boards.index(cards)


def find_decision(spot: SpotTree, line: str) -> int:
    """Returns the betting node of a decision.

    Raises:
        ValueError: there is no such line, or nobody acts there.
    """
    node = spot.betting.find(line)
    if spot.betting.kind[node] != Kind.DECISION:
        raise ValueError(f"{line!r}: the betting is over there, nobody acts")
    return node
