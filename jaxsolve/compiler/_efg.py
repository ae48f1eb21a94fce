"""Writing a listed game in Gambit's extensive form; `jaxsolve.game.load_efg` reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from jaxsolve.files import write_atomic
from jaxsolve.game import action_name
from jaxsolve.tree import ListedInfo, PublicTree, listed
from jaxsolve.types import CHANCE, TERMINAL


def save_efg(tree: PublicTree, path: str | Path) -> None:
    """Writes a game to a file in Gambit's extensive form (".efg").

    Players, infosets and actions have the names that the tree gives them; payoffs are in the
    game's units. Odds of chance are fractions.

    Args:
        tree: any number of players, of any sum, with its world states.
        path: the file.

    Raises:
        ValueError: the tree has no table of world states.
    """
    write_atomic(Path(path), "".join(_lines(listed(tree))).encode())


def _lines(info: ListedInfo) -> Iterator[str]:
    table = info.states
    players = " ".join(_quoted(f"player {i}") for i in range(len(info.players)))
    yield f"EFG 2 R {_quoted(info.name)} {{ {players} }}\n"
    order = np.argsort(table.parent, kind="stable")
    begin = np.searchsorted(table.parent[order], np.arange(table.num_states + 1))
    utility = dict(zip(table.terminal.tolist(), table.utility.tolist(), strict=True))
    numbers = [{int(at): k + 1 for k, at in enumerate(player.infostate)} for player in info.players]
    waiting, chances = [0], 0
    while waiting:
        state = waiting.pop()
        actor = int(table.actor[state])
        below = order[begin[state] : begin[state + 1]]
        words = _distinct([action_name(info.game, actor, a) for a in table.action[below]])
        if actor == TERMINAL:
            payoffs = ", ".join(_decimal(x) for x in utility[state])
            yield f't "" {state + 1} "" {{ {payoffs} }}\n'
        elif actor == CHANCE:
            chances += 1
            odds = _fractions(table.chance[below] / table.chance[state])
            pairs = " ".join(f"{w} {p}" for w, p in zip(words, odds, strict=True))
            yield f'c "" {chances} "" {{ {pairs} }} 0\n'
        else:
            number = numbers[actor][int(table.infostate[state, actor])]
            label = _quoted(info.label(actor, number - 1))
            yield f'p "" {actor + 1} {number} {label} {{ {" ".join(words)} }} 0\n'
        waiting += below[::-1].tolist()


def _distinct(names: Sequence[str]) -> list[str]:
    """Returns names in quotes, with its place behind every one that there is before."""
    return [
        _quoted(name if name not in names[:k] else f"{name} #{k + 1}")
        for k, name in enumerate(names)
    ]


def _fractions(odds: np.ndarray) -> list[Fraction]:
    """Returns odds as fractions that sum to 1."""
    found = [Fraction(float(p)).limit_denominator(1_000_000) for p in odds]
    if sum(found) != 1:  # as exact as they are
        exact = [Fraction(float(p)) for p in odds]
        found = [p / sum(exact) for p in exact]
    return found


def _decimal(number: float) -> str:
    return np.format_float_positional(number, trim="-")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
