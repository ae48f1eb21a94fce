"""What a policy does and is worth at the public states of a spot: one decision, or all of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxsolve.evaluate import action_values
from jaxsolve.holdem._betting_tree import Kind
from jaxsolve.holdem._boards import compatible, live_hands
from jaxsolve.holdem._cards import cards_name, parse_cards
from jaxsolve.holdem._node import NodeReport
from jaxsolve.holdem._sizes import PLAYERS
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.tree import Policy, join_blocks, reach_of

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
        words = tuple(betting.label[c] for c in betting.children[node])
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


@dataclasses.dataclass(frozen=True, repr=False)
class Reports:
    """Reports of every decision under one policy.

    What concerns the whole tree is computed once for each player, when first asked for; it takes
    the memory of three policies for each.

    Attributes:
        spot: the tree.
        policy: of both players.
    """

    spot: SpotTree
    policy: Policy

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
        rows = spot.rows[player]
        row = int(np.flatnonzero((rows.node == node) & (rows.board == at))[0])
        street = spot.streets[spot.betting.street[node]]
        cards = street.boards[at]
        places = sequences(spot, player, row)
        strategy, now, best = (array[places] for array in self.values(player))
        mine, other = (self.reach[p][own_sequence(spot, p, node, at)] for p in (player, 1 - player))
        live = live_hands(spot.hands, [cards])[0]
        weight = (self.pairs[:, live] @ other[live]) * float(street.weight[at])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weight > 0, self.scale / weight, np.nan)
        before = float(spot.betting.spent[node, player])
        keep = np.flatnonzero(live)
        return NodeReport(
            spot=spot,
            line=spot.betting.line(node),
            board=cards,
            player=player,
            actions=tuple(spot.betting.label[c] for c in spot.betting.children[node]),
            hands=spot.hands[keep],
            reach=mine[keep],
            opponent_reach=other[keep],
            strategy=strategy[:, keep].T,
            value=(now * share + before)[:, keep].T,
            best=(best * share + before)[:, keep].T,
            weight=weight[keep] / self.scale,
        )

    def values(self, player: int) -> tuple[np.ndarray, ...]:
        """Returns (policy, values, best-response values), each float [S, H]."""
        if player not in self._found:
            tree = self.spot.tree.replace(names=None)
            self._found[player] = tuple(map(np.asarray, _values(tree, self.policy.players, player)))
        return self._found[player]

    @functools.cached_property
    def _found(self) -> dict[int, tuple[np.ndarray, ...]]:
        return {}

    @functools.cached_property
    def reach(self) -> list[np.ndarray]:
        """Per player, float [S, H], own reach of every sequence."""
        tree = self.spot.tree.replace(names=None)
        return [np.asarray(r) for r in _reaches(tree, self.policy.players)]

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
    return Reports(spot, policy).node(line, board)


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


def sequences(spot: SpotTree, player: int, row: int) -> np.ndarray:
    """Returns int [A], the places of a public row's actions in the sequence vector."""
    rows = spot.rows[player]
    return rows.place.sequence[rows.rows.offset[row] : rows.rows.offset[row + 1]]


def own_sequence(spot: SpotTree, player: int, node: int, board: int) -> int:
    """Returns the place of the player's last sequence before a node."""
    rows = spot.rows[player]
    return int(rows.place.sequence[rows.last[node][board]])


@functools.partial(jax.jit, static_argnames="player")
def _values(tree: Any, policy: Any, player: int) -> Any:
    me = tree.players[player]
    now, best = action_values(tree, policy, player)
    return tuple(join_blocks(me, blocks) for blocks in (policy[player], now, best))


@jax.jit
def _reaches(tree: Any, policy: Any) -> Any:
    return [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
