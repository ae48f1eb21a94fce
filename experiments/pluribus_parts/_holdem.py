"""Parts on six-player hold'em, by what each wins at a table of one blueprint.

Everything is scored by its deviations from that blueprint (`play.deviation_match`), on the same
deals, so that what two of them win differs by less than either.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments._scores import deviation_scores, mean_of
from jaxsolve.holdem import play
from jaxsolve.mccfr import Options

GAME = "six-player hold'em"

WAYS = {
    "linear": Options(average_stages=1),
    "linear, pruned": Options(average_stages=1, prune=5.0, floor=5.5, warm_up=1_000_000),
    "no weights": Options(average_stages=1, power=0.0),
}
"""Trainings. The first is the default with more than two players."""

BASE = "round's start, final"

SEARCHERS: dict[str, dict[str, Any]] = {
    BASE: {},
    "round's start, average": {"final": False},
    "each decision, frozen, final": {"every_decision": True},
}
"""Options of `play.SearchAgent`. Nobody leaves the menu at these tables, so that an agent that
freezes nothing finds its first search of a street again at each decision."""

Train = Callable[[str, float, Options], tuple[play.BlueprintAgent, dict[str, Any]]]
"""(folder, minutes, options) to (agent, what is known of the training)."""

Row = dict[str, Any]


def trained_rows(
    way: str, minutes: float, train: Train, base: play.BlueprintAgent, out: Path, options: Row
) -> list[Row]:
    """Returns what a blueprint wins at the table of another one.

    Args:
        way: of `WAYS`.
        minutes: of training.
        train: goes on where it was.
        base: plays the other five seats.
        out: keeps scores.
        options: of `deviation_scores`.
    """
    agent, known = train(_slug(way), minutes, WAYS[way])
    path = out / "scores" / f"{_slug(way)}-{minutes:g}.npz"
    found = deviation_scores(path, agent=agent, blueprint=base, **options)
    return [{**_row(way, found["deviations"]), "minutes": minutes, **known}]


def search_rows(
    way: str,
    make: Callable[..., play.SearchAgent],
    base: play.BlueprintAgent,
    out: Path,
    options: Row,
) -> list[Row]:
    """Returns what an agent wins that searches from the table's blueprint, and less the first way.

    Args:
        way: of `SEARCHERS`; the first one has been scored.
        make: takes options of `play.SearchAgent`.
        base: plays the other five seats.
        out: keeps scores.
        options: of `deviation_scores`.
    """
    won: dict[str, np.ndarray] = {}
    for name in dict.fromkeys((BASE, way)):
        path, agent = out / "scores" / f"search-{_slug(name)}.npz", make(**SEARCHERS[name])
        found = deviation_scores(path, agent=agent, blueprint=base, **options)
        won[name] = found["deviations"]
    rows = [_row(way, won[way])]
    if way != BASE:
        rows.append(_row(f"{way}, less {BASE}", won[way] - won[BASE]))
    return rows


def _row(part: str, chips: np.ndarray) -> Row:
    """Returns what rows of both kinds have, of chips float64 [deals]."""
    won, hands = mean_of(chips), 6 * len(chips)
    return {"game": GAME, "part": part, "mbb": won.mbb, "se": won.standard_error, "hands": hands}


def _slug(name: str) -> str:
    return name.replace(",", "").replace("'", "").replace(" ", "-")
