"""The moves of a street of a real hand, on a menu and on the betting of a spot."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._menu_view import LEFT, MenuView
from jaxsolve.holdem._sizes import Size
from jaxsolve.holdem.limited import followed as follow_menu
from jaxsolve.holdem.play._blueprint_agent import table_of
from jaxsolve.holdem.play._public_hand import PublicHand


class Bet(NamedTuple):
    """A bet or raise that was made.

    Attributes:
        player: who made it.
        number: bets and raises on the street before it.
        size: chips more than what was faced.
    """

    player: int
    number: int
    size: Size


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


def bets_since(root: PublicHand, hand: PublicHand) -> tuple[Bet, ...]:
    """Returns the bets and raises since a street began."""
    found = []
    for before, after in itertools.pairwise([root, *hand.path(root)]):
        assert after.move is not None
        if after.move > (faced := int(before.state.bet)):
            size = Size("chips", after.move - faced)
            found.append(Bet(before.actor, int(before.state.raises), size))
    return tuple(found)


def find_node(spot: Any, totals: Sequence[int], dead: int = 0) -> int | None:
    """Returns the node of a spot's betting after some moves; None off the menu.

    Args:
        spot: a `SpotTree`, or a turn with a network.
        totals: the moves, or FOLD.
        dead: by how much totals are more in the spot.
    """
    path = find_path(spot, totals, dead)
    return None if path is None else path[-1]


def find_path(spot: Any, totals: Sequence[int], dead: int = 0) -> list[int] | None:
    """Returns the nodes from the root on, the last one that of `find_node`."""
    tree, path = spot.betting, [0]
    for total in totals:
        there = total if total == FOLD else total + dead
        follow = [c for c in tree.children(path[-1]) if int(tree.action[c]) == there]
        if not follow:
            return None
        path.append(follow[0])
    return path
