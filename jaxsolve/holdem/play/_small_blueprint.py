"""A blueprint for whoever names none: 20 big blinds, trained once and kept in the cache."""

from __future__ import annotations

import os
from typing import Any

from jaxsolve.caches import cache_folder
from jaxsolve.holdem._bet_menu import STREETS, BetMenu
from jaxsolve.holdem._blueprint import HEADER, Blueprint, train_blueprint
from jaxsolve.holdem._build_abstraction import kept_abstraction
from jaxsolve.mccfr import CHECKPOINT

BUCKETS = (50, 50, 50)
"""Of flop, turn and river."""

MINUTES = 1.0
"""Of training, of all processors together."""

STACK = "20bb"


def small_blueprint(players: int) -> Blueprint:
    """Returns a blueprint of 20 big blinds that this user's cache folder keeps.

    The first call builds its buckets and trains it, which takes some two minutes; one that was
    stopped goes on.

    Args:
        players: at the table.

    Raises:
        ValueError: nothing can be kept, or there are too few or too many players.
        KeyboardInterrupt: after Ctrl-C, which the training itself ends without one.
    """
    kept = cache_folder()
    if kept is None:
        raise ValueError(
            "without a cache folder (JAXSOLVE_CACHE) an agent needs a directory: train a blueprint "
            "by jaxsolve holdem blueprint, and name it as in modicum:DIR"
        )
    menu = small_menu(players)
    out = kept / f"blueprint-{players}-{menu.digest}"
    buckets = kept_abstraction(BUCKETS, instead=kept)
    if (out / HEADER).exists() and (out / CHECKPOINT).exists():
        made = Blueprint.load(out, abstraction=buckets)
        if made.seconds >= 60 * MINUTES:
            return made
    options: Any = {"threads": os.cpu_count() or 1, "resume": True, "boards": 0}
    made = train_blueprint(menu, buckets, out=out, minutes=MINUTES, **options)
    if made.seconds < 60 * MINUTES:
        raise KeyboardInterrupt
    return made


def small_menu(players: int) -> BetMenu:
    """Returns its bets: pot or all-in; with more than two players one bet a street."""
    if players == 2:
        return _menu(players, [["100%", "a"], ["100%", "a"]], [["100%", "a"], ["100%", "a"]])
    return _menu(players, [["100%"], ["a"]], [["a"]])


def _menu(players: int, first: list[list[str]], later: list[list[str]]) -> BetMenu:
    streets = {name: {"sizes": later if k else first} for k, name in enumerate(STREETS)}
    return BetMenu.parse({"players": players, "stack": STACK, **streets})
