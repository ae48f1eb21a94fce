"""Positions at the table: their names, and the lines in which each of them opens."""

from __future__ import annotations

from jaxsolve.mccfr import ActionTree

_MIDDLE = ("UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO")
"""Before the button at a table of nine; at smaller ones those after UTG are left out first."""


def position_names(players: int) -> tuple[str, ...]:
    """Returns the name of each seat, in the order in which they act after the flop.

    Six players: SB, BB, UTG, HJ, CO, BTN. Heads-up the button posts the small blind: BB, BTN.

    Raises:
        ValueError: fewer than two players or more than nine.
    """
    if not 2 <= players <= 9:
        raise ValueError(f"positions have names at tables of 2 to 9, not {players}")
    if players == 2:
        return "BB", "BTN"
    many = players - 3  # between the big blind and the button
    middle = (_MIDDLE[0], *_MIDDLE[len(_MIDDLE) - many + 1 :]) if many else ()
    return "SB", "BB", *middle, "BTN"


def opening_lines(tree: ActionTree) -> dict[int, str]:
    """Returns the line to the first decision of each seat when all before it fold: {seat: line}.

    In the order in which they act. The last seat has none, as the hand is over then.
    """
    found: dict[int, str] = {}
    node = 0
    while tree.count[node] and tree.stage[node] == 0 and int(tree.actor[node]) not in found:
        found[int(tree.actor[node])] = tree.line(node)
        first = int(tree.child[node])
        if tree.label[first] != "f":
            break
        node = first
    return found
