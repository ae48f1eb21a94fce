"""Small positions of dark chess, and blueprints that look some plies ahead."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

import games
import jaxsolve as js
from jaxsolve import subgame
from jaxsolve.game import Game
from jaxsolve.tree import uniform_policy, with_probabilities


class Position(NamedTuple):
    """One small board, with White to move.

    Attributes:
        fen: the board.
        plies: the game ends after these.
        at_cap: what it then pays, "draw" or "material".
    """

    fen: str
    plies: int
    at_cap: str


POSITIONS = (
    Position("k3/4/2K1/4 w", 4, "draw"),
    Position("3k/2pp/PP2/K3 w", 4, "material"),
    Position("k3/4/4/K2R w", 4, "material"),
    Position("k3/4/4/KN2 w", 4, "material"),
    Position("k3/4/4/KB2 w", 4, "material"),
    Position("kn2/4/4/K2R w", 3, "material"),
    Position("3k/3p/P3/K3 w", 4, "material"),
    Position("k3/p3/3P/3K w", 5, "material"),
    Position("k3/3p/P3/3K w", 4, "material"),
    Position("1k2/2p1/1P2/2K1 w", 4, "material"),
    Position("3k/4/PP2/K3 w", 4, "material"),
    Position("k2b/4/4/K2N w", 3, "material"),
    Position("k3/4/2K1/4 w", 6, "draw"),
    Position("3k/2pp/PP2/K3 w", 6, "material"),
    Position("3k1/5/5/5/1K2R w", 5, "draw"),
)
"""Small ones first; the last three are those of which the documentation gives the values."""


def rules(position: Position, plies: int | None = None) -> Game:
    """Returns the rules of a position, to its end or with values of material after some plies."""
    whole: Any = games.load(
        f"dark_chess(fen={position.fen.replace(' ', '_')},plies={position.plies})"
    )
    if plies is None or plies >= position.plies:
        return dataclasses.replace(whole, at_cap=position.at_cap)
    return dataclasses.replace(whole, plies=plies, at_cap="material")


def look_ahead(tree: js.PublicTree, position: Position, plies: int) -> js.Policy:
    """Returns the equilibrium of the first plies, valued by material there, and uniform beyond.

    Args:
        tree: the whole game.
        position: its position.
        plies: at most as many as the game has.
    """
    short = js.compile(rules(position, plies))
    found = js.solve_lp(short)
    near, far = subgame.index_of(short), subgame.index_of(tree)
    size = near.table.num_states
    for key in ("parent", "action"):
        if not np.array_equal(getattr(near.table, key), getattr(far.table, key)[:size]):
            raise RuntimeError("the shorter game is not how the longer one begins")
    made = []
    for i in range(2):
        old, new = near.seats[i], far.seats[i]
        out = (1 / new.rows.width)[new.rows.row_of].astype(np.float64)
        known = subgame.probabilities(near, found.policy, i)
        acting = np.flatnonzero(near.table.actor == i)
        pairs = (old.row_at[near.table.infostate[acting, i]], far.table.infostate[acting, i])
        for row, other in np.unique(np.stack([pairs[0], new.row_at[pairs[1]]], 1), axis=0):
            out[_entries(new, other)] = known[_entries(old, row)]
        made.append(out)
    return with_probabilities(uniform_policy(tree), made)


def _entries(seat: Any, row: int) -> slice:
    """Returns where the actions of an infoset lie in an array of entries."""
    return slice(*(seat.rows.offset[row : row + 2] - seat.rows.roots))
