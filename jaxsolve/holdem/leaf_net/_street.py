"""One street as arrays: its nodes and ends, and what a network says of the ends."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxsolve.holdem.leaf_net._features import betting_features, hand_features
from jaxsolve.holdem.leaf_net._network import LeafNet
from jaxsolve.holdem.limited import Beyond, LimitedHoldem, SearchBegin
from jaxsolve.mccfr import Role


@dataclasses.dataclass(frozen=True)
class Street:
    """The nodes of a street and its ends, breadth first (N of them).

    Attributes:
        node: int [N], of the game's tree.
        parent: int [N], -1 for the first.
        slot: int [N], the action that led here.
        depth: int [N].
        actor: int [N]; -1 at ends, and where the street ends without a choice.
        count: int [N], actions.
        leaf: bool [N], whether the street ends here and the hand goes on.
        acts: bool [N], whether somebody decides or chooses here.
    """

    node: np.ndarray
    parent: np.ndarray
    slot: np.ndarray
    depth: np.ndarray
    actor: np.ndarray
    count: np.ndarray
    leaf: np.ndarray
    acts: np.ndarray


def street_of(game: LimitedHoldem) -> Street:
    """Returns the street that a game solves.

    Raises:
        ValueError: both players choose where it ends.
    """
    tree = game.tree
    plays = (tree.role == Role.PLAY) & (tree.count > 0)
    kept = np.flatnonzero((tree.parent < 0) | plays[np.maximum(tree.parent, 0)])
    number = np.full(tree.num_nodes, -1)
    number[kept] = np.arange(len(kept))
    parent = np.where(tree.parent[kept] >= 0, number[np.maximum(tree.parent[kept], 0)], -1)
    depth = np.zeros(len(kept), int)
    for row in range(1, len(kept)):
        depth[row] = depth[parent[row]] + 1
    leaf = ~plays[kept] & (tree.count[kept] > 0)
    chooses = tree.role[kept] == Role.CHOICE
    twice = tree.role[np.maximum(tree.child[kept], 0)] == Role.CHOICE
    if (chooses & twice).any():
        raise ValueError("a leaf network knows the choice of one player, and here both choose")
    acts = plays[kept] | chooses
    return Street(
        node=kept,
        parent=parent,
        slot=np.where(parent >= 0, kept - tree.child[tree.parent[kept]], 0),
        depth=depth,
        actor=np.where(acts, tree.actor[kept], -1),
        count=np.where(acts, tree.count[kept], 0),
        leaf=leaf,
        acts=acts,
    )


@dataclasses.dataclass(frozen=True)
class Leaves:
    """Ends of the street with chips behind (L of them).

    Attributes:
        row: int [L], of `Street`.
        chooser: who chooses, or would.
        spent: float32 [L], chips of each player.
        first: float32 [L, k, 1326, r], of the chooser's hands.
        second: float32 [L, 1326, r], of the other's.
    """

    row: np.ndarray
    chooser: int
    spent: np.ndarray
    first: np.ndarray
    second: np.ndarray


def leaves_of(
    game: LimitedHoldem, begin: SearchBegin, after: Beyond, net: LeafNet, street: Street
) -> Leaves:
    """Returns what a network says of the ends of a street."""
    tree = game.tree
    row = np.flatnonzero(street.leaf)
    node = street.node[row]
    chooses = tree.role[node] == Role.CHOICE
    seats = tree.actor[node[chooses]]
    chooser = int(seats[0]) if len(seats) else 0
    fixed = np.where(chooses, tree.child[node], node)
    mapped = np.searchsorted(after.row, tree.source[fixed], "right") - 1
    spent = tree.action[node].astype(np.float32)  # the total of the call or check that led here
    stack = float(np.min(begin.state.stack))
    betting = betting_features(after, mapped, spent, stack, chooser)
    found = net.factors(hand_features(game.board), betting)
    first = np.ascontiguousarray(np.moveaxis(found.chooser, 2, 1))
    return Leaves(row, chooser, spent, first, found.other)
