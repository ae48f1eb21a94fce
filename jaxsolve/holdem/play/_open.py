"""Agents by their words, as the command line takes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jaxsolve.holdem._blueprint import HEADER, Blueprint
from jaxsolve.holdem.play._acpc_agent import AcpcAgent, connect, listen, run_program
from jaxsolve.holdem.play._agent import HandAgent
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent
from jaxsolve.holdem.play._search_agent import SearchAgent
from jaxsolve.holdem.play._simple import AlwaysCall, RandomAgent
from jaxsolve.holdem.play._small_blueprint import STACK, small_blueprint

AGENTS: dict[str, str] = {
    "blueprint:DIR": "a directory of jaxsolve holdem blueprint --out; DIR alone will do",
    "search:DIR": "a blueprint that searches turn and river to the end",
    "modicum:DIR": "the same, and the flop to its end, with a choice of continuations there",
    "network:NET:DIR": "the same with a network's file, of river values or of leaf values of flops",
    "pluribus:DIR": "a blueprint of three or more players that searches every street to its end",
    "always-call": "checks and calls",
    "random": "folds, calls and raises to any size",
    "acpc:HOST:PORT": "an agent that answers at an address, such as one of jaxsolve holdem serve",
    "listen:HOST:PORT": "a program of the ACPC, which connects to this address",
    "program:COMMAND": "the same, started with host and port as its last arguments",
}
"""Words for agents, and what they mean. Those with DIR stand alone, too: then for a blueprint of 20
big blinds, which the first use trains in some two minutes and keeps."""

SEARCHES = {"search": 2, "modicum": 0, "pluribus": 0}
"""Agents that search, and the first street on which they may."""

SEATS = {"pluribus": 6}
"""Players of a blueprint that is trained for an agent; 2 for others."""


def open_agent(text: str, *, patience: float = 60.0, players: int | None = None) -> HandAgent:
    """Returns the agent that some words name, see `AGENTS`; `close_agent` ends it.

    Args:
        text: the words.
        patience: seconds for each answer of a program outside.
        players: at the table, for a blueprint that is trained here; by default 6 for "pluribus"
            and 2 for others.

    Raises:
        ValueError: they name no agent; says what there is.
        OSError: there is no such directory, or nobody at the address.
    """
    kind, colon, rest = text.partition(":")
    simple: dict[str, Callable[[], HandAgent]] = {"always-call": AlwaysCall, "random": RandomAgent}
    if text in simple:
        return simple[text]()
    outside = {"acpc": connect, "listen": listen, "program": run_program}
    if colon and rest and kind in outside:
        return outside[kind](rest, patience=patience)
    if kind == "network" and rest:
        return _with_network(rest)
    alone = text in ("blueprint", *SEARCHES) and not Path(text).exists()
    if alone or (kind in SEARCHES and rest):
        seats = players or SEATS.get(text, 2)
        made = small_blueprint(seats) if alone else Blueprint.load(Path(rest))
        name = f"blueprint of {STACK}" if alone else f"blueprint:{rest}"
        below = BlueprintAgent(*made.strategy, name=name)
        return below if text == "blueprint" else SearchAgent(below, first=SEARCHES[kind], name=text)
    folder = Path(rest if kind == "blueprint" and colon else text)
    if kind == "blueprint" or (folder / HEADER).is_file() or os.sep in text:
        made = Blueprint.load(folder)
        return BlueprintAgent(*made.strategy, name=f"blueprint:{folder}")
    raise ValueError(f"there is no agent {text!r}; there are: {', '.join(AGENTS)}")


def _with_network(text: str) -> SearchAgent:
    """Returns the agent of a network's file and of a blueprint's directory, as NET:DIR or NET."""
    from jaxsolve.holdem.leaf_net import LeafNet  # which needs Flax
    from jaxsolve.nets import load_net

    file, _, folder = text.partition(":")
    net: dict[str, Any]
    try:
        net = {"leaf_net": LeafNet.load(Path(file))}
    except ValueError:
        net = {"net": load_net(file)}
    made = Blueprint.load(Path(folder)) if folder else small_blueprint(2)
    below = BlueprintAgent(*made.strategy, name=f"blueprint:{folder}")
    return SearchAgent(below, first=0, name=f"network:{text}", **net)


def close_agent(agent: HandAgent) -> None:
    """Hangs up on a program outside, and ends one that was started."""
    if isinstance(agent, AcpcAgent):
        agent.close()
