"""The games of the benchmark, and what the peers call them."""

from __future__ import annotations

import re
from typing import NamedTuple

import games
from jaxsolve.game import registered


class BenchGame(NamedTuple):
    """One line of the benchmark.

    Attributes:
        name: our game string.
        openspiel: OpenSpiel's string of the same game, "" where it has none. LiteEFG reads its
            games through OpenSpiel, so it uses the same string.
        larger: counts in the geometric means. Kuhn does not: there everybody measures the
            overhead of a call.
        large: left out unless asked for.
        max_states: limit for the compiler.
    """

    name: str
    openspiel: str
    larger: bool = True
    large: bool = False
    max_states: int = 20_000_000


def _goofspiel(cards: int, order: str) -> str:
    return f"goofspiel(num_cards={cards},imp_info=true,points_order={order})"


GAMES = (
    BenchGame("kuhn", "kuhn_poker", larger=False),
    BenchGame("leduc", "leduc_poker"),
    BenchGame("liars_dice(sides=5)", "liars_dice(dice_sides=5)"),
    BenchGame("liars_dice", "liars_dice"),
    BenchGame("goofspiel(cards=4)", _goofspiel(4, "random")),
    BenchGame("goofspiel(cards=5,order=descending)", _goofspiel(5, "descending")),
    BenchGame(
        "goofspiel(cards=6,order=descending)", _goofspiel(6, "descending"), larger=False, large=True
    ),
    # 47,506,635 states: no peer holds it in the time or memory of a benchmark.
    BenchGame(
        "goofspiel(cards=7,order=descending)", "", larger=False, large=True, max_states=60_000_000
    ),
)
"""The games of the table, smallest first."""

QUICK = ("kuhn", "leduc")
"""The games of a quick run."""


def choose(names: str | None, *, quick: bool = False, large: bool = False) -> list[BenchGame]:
    """Returns the games that a comma-separated list names, by default those of the table.

    Raises:
        ValueError: there is no such game; the known ones are listed.
    """
    if names is None:
        return [g for g in GAMES if (g.name in QUICK if quick else large or not g.large)]
    known = {g.name: g for g in GAMES}
    out = []
    for name in re.split(r",(?![^(]*\))", names):
        text = name.replace(" ", "")
        canonical = games.load(text).name
        found = [g for g in GAMES if games.load(g.name).name == canonical]
        out.append(known.get(text) or (found[0] if found else BenchGame(text, openspiel(text))))
    return out


def openspiel(text: str) -> str:
    """Returns OpenSpiel's string of a game, "" where none is registered."""
    canonical = games.load(text).name
    for name, entry in registered().items():
        for reference in entry.references:
            ours = f"{name}({reference.params})" if reference.params else name
            if reference.openspiel and games.load(ours).name == canonical:
                return reference.openspiel
    return ""
