"""Which public nodes a depth-limited subgame has, and which rows its players have there."""

from __future__ import annotations

import dataclasses
from collections import deque

import numpy as np

from jaxsolve.public import Limit, PublicGame


@dataclasses.dataclass
class Seat:
    """Rows of one player in a subgame (R rows); a sequence is (row, action), row -1: gadget."""

    level: list[int]
    parent: list[tuple[int, int]]
    width: list[int]
    at: list[tuple[int, int]]


@dataclasses.dataclass
class Outline:
    """A subgame before padding (M nodes).

    Attributes:
        node: int [M], nodes of the game.
        depth: int [M], moves from the root.
        frontier: bool [M], at the limit.
        child: places of each node's children.
        seats: rows of the two players.
        row: int [M], the actor's row of each inner node.
    """

    node: np.ndarray
    depth: np.ndarray
    frontier: np.ndarray
    child: list[list[int]]
    seats: tuple[Seat, Seat]
    row: np.ndarray


def outline(game: PublicGame, root: int, limit: Limit) -> Outline:
    """Returns the subgame below a public node, breadth first, cut where the limit says."""
    node, depth, frontier, child, up = [root], [0], [], [], [-1]
    todo = deque([(root, 0, 0)])
    k = 0
    while todo:
        here, actions, chances = todo.popleft()
        acts = game.actor[here] >= 0
        cut = bool(k > 0 and acts and limit(actions, chances))
        frontier.append(cut)
        below = [] if cut else game.children[here].tolist()
        child.append(list(range(len(node), len(node) + len(below))))
        for c in below:
            node.append(c)
            depth.append(depth[k] + 1)
            up.append(k)
            todo.append((c, actions + int(acts), chances + int(not acts)))
        k += 1
    row = np.full(len(node), -1)
    seats = tuple(_seat(game, np.array(node), up, frontier, child, i, row) for i in range(2))
    return Outline(
        np.array(node), np.array(depth), np.array(frontier), child, (seats[0], seats[1]), row
    )


def _seat(
    game: PublicGame,
    node: np.ndarray,
    up: list[int],
    frontier: list[bool],
    child: list[list[int]],
    player: int,
    row: np.ndarray,
) -> Seat:
    seat = Seat([], [], [], [(-1, 0)] * len(node))

    def add(above: tuple[int, int], width: int) -> int:
        seat.level.append(1 if above[0] < 0 else seat.level[above[0]] + 1)
        seat.parent.append(above)
        seat.width.append(width)
        return len(seat.level) - 1

    for k in range(len(node)):
        actor = game.actor[node[k]]
        if k:
            above, last = up[k], game.actor[node[up[k]]]
            seat.at[k] = seat.at[above]
            if last == player:
                seat.at[k] = (int(row[above]), child[above].index(k))
            waits = actor >= 0 and (actor != player or frontier[k])
            if waits and last != player:
                seat.at[k] = (add(seat.at[k], 1), 0)
        if actor == player and not frontier[k]:
            row[k] = add(seat.at[k], len(child[k]))
    return seat


def size_of(game: PublicGame, root: int, limit: Limit) -> int:
    """Returns M, the number of public nodes of a subgame, those at the limit included."""
    return len(outline(game, root, limit).node)


def next_decisions(game: PublicGame, outline: Outline) -> list[list[int]]:
    """Returns, for each node of a subgame, the next ones at which a player acts, in order.

    Empty at nodes at which nobody acts and at the depth limit.
    """
    acts = game.actor[outline.node] >= 0
    out: list[list[int]] = []
    for k in range(len(outline.node)):
        todo = outline.child[k][::-1] if acts[k] else []
        found = []
        while todo:
            here = todo.pop()
            if acts[here]:
                found.append(here)
            else:
                todo += outline.child[here][::-1]
        out.append(found)
    return out
