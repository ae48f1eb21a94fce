"""From rules, or from a game of OpenSpiel, to a PublicTree."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from jaxsolve.compiler import _openspiel, _walker
from jaxsolve.compiler._forms import from_form
from jaxsolve.compiler._hands import compile_hands
from jaxsolve.compiler._watch import MAX_SECONDS
from jaxsolve.game import (
    Game,
    OpenSpielGame,
    Range,
    checked,
    explained,
    is_pyspiel_game,
    load,
    wrap_openspiel,
)
from jaxsolve.tree import (
    Bucket,
    PublicTree,
    exact,
    sequence_form,
)


@checked
def compile(
    game: Game | str | Any,
    *,
    max_states: Annotated[int | None, Range(1)] = None,
    max_seconds: Annotated[float, Range(above=0)] = MAX_SECONDS,
    bucket: Bucket = exact,
    keep_states: bool = True,
    layout: Literal["rows", "hands"] = "rows",
) -> PublicTree:
    """Returns the tree of a game, compiled from its rules.

    Args:
        game: a rules object, a string such as "leduc(ranks=3)" or "openspiel:leduc_poker" or
            "my_game.py:MyGame", or a `pyspiel.Game`.
        max_states: refuse a game with more world states: 50 million by default, 2 million of
            OpenSpiel, whose states are visited one by one in Python.
        max_seconds: stop listing states after that time; an hour by default.
        bucket: rounds tensor sizes up (`jaxsolve.tree.coarse`), so that trees of similar size
            share one compiled program; sizes are exact by default.
        keep_states: keep the table of world states on the host, for inspection, subgames and
            OpenSpiel conversion.
        layout: "rows" enumerates world states and has one row per infoset: any game. "hands"
            builds public tree x private hands: two-player games whose only private information
            is the first deal, and far fewer rows.

    Raises:
        MemoryError: the states take more memory than is free.
        TimeoutError: listing them takes longer than `max_seconds`.
        ValueError: the game breaks the rules of `Game` or is too large; the state is shown. Of
            OpenSpiel: imperfect recall; the infostate is shown.
    """
    start = time.perf_counter()
    rules: Game
    if isinstance(game, str):
        rules = load(game)
    else:
        rules = wrap_openspiel(game) if is_pyspiel_game(game) else game
    if layout == "hands":
        with explained(rules):
            return compile_hands(rules)
    if isinstance(rules, OpenSpielGame):
        limit = _openspiel.MAX_STATES if max_states is None else max_states
        table = _openspiel.enumerate_openspiel(rules, max_states=limit, max_seconds=max_seconds)
    else:
        limit = _walker.MAX_STATES if max_states is None else max_states
        with explained(rules):
            table = _walker.enumerate_states(rules, max_states=limit, max_seconds=max_seconds)
    form = sequence_form(table)
    return from_form(form, table, table.game, start=start, bucket=bucket, keep_states=keep_states)
