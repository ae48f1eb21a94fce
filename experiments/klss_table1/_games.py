"""The games of the table, their weak blueprints, and what the paper found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.tree import compiled

EPSILON = 0.25
"""Share of a strategy that is not free; the paper's for every row."""


class Line(NamedTuple):
    """One line of the table.

    Attributes:
        label: as in the paper.
        game: the game string.
        unit: the largest payoff, by which results are divided.
        blueprint_paper: exploitability of the blueprint.
        klss_paper: exploitability after 1-KLSS.
        action: the only action with a floor, None for all.
        opening: the floor holds only where nobody has made that action yet.
        quick: part of the quick run.
    """

    label: str
    game: str
    unit: float
    blueprint_paper: float
    klss_paper: float
    action: str | None = None
    opening: bool = False
    quick: bool = False


LINES = (
    Line(
        "2x2 abrupt dark hex",
        "dark_hex(board_size=2,gameversion=adh)",
        1,
        0.0683,
        0.0625,
        quick=True,
    ),
    Line("4-card goofspiel, random order", "goofspiel", 1, 0.171, 0.077),
    Line(
        "4-card goofspiel, increasing order", "goofspiel(order=ascending)", 1, 0.17, 0.0, quick=True
    ),
    Line("Kuhn poker", "kuhn", 2, 0.0124, 0.0015, quick=True),
    Line("Kuhn poker (eps-bet)", "kuhn", 2, 0.0035, 0.0, "bet", opening=True, quick=True),
    Line("3-rank limit Leduc poker", "leduc", 13, 0.0207, 0.0191),
    Line("3-rank limit Leduc poker (eps-fold)", "leduc", 13, 0.0065, 0.0057, "fold"),
    Line("3-rank limit Leduc poker (eps-bet)", "leduc", 13, 0.0097, 0.0096, "raise"),
    Line("liar's dice, 5-sided die", "liars_dice(sides=5)", 1, 0.181, 0.125),
    Line("100-matching pennies", "matching_pennies", 1, 0.0013, 0.0098, quick=True),
)


def blueprint(tree: js.PublicTree, line: Line) -> search.FlooredBlueprint:
    """Returns the least exploitable policy above the floor of a line, for player 0."""
    floor = subgame.action_floor(tree, EPSILON, action=line.action)
    if line.opening:
        info = compiled(tree)
        rows = info.form.rows[0]
        mark = str(line.action)[0]  # the letter of an action in the name of an infoset
        opens = [mark not in info.label(0, int(r)).split("|")[1:] for r in rows.row_of]
        floor = np.where(opens, floor, 0.0)
    return search.lp_blueprint(tree, floors=(floor, None))
