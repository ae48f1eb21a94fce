"""Loading a game by its string, e.g. "leduc(ranks=3,suits=2)".

Games come from the package of games beside this one and from the entry-point group
`jaxsolve.games`: each entry is a mapping {name: Entry}.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from jaxsolve.game import _efg, _file, _pgx
from jaxsolve.game._openspiel import OPENSPIEL_PREFIX, load_openspiel
from jaxsolve.game._parameters import converted
from jaxsolve.game._protocol import Game
from jaxsolve.game._strings import pointing, read, unknown


class Reference(NamedTuple):
    """Known facts of one parameter setting, checked by the tests.

    Attributes:
        params: the part of the game string in brackets, "" for the defaults.
        states: number of world states (chance and terminal states included).
        infosets: number of decision infosets, per player.
        value: value to player 0 in the game's units, or None where unknown.
        source: where the value comes from.
        openspiel: OpenSpiel game string of the same game, "" where it has none.
        public_states: number of public states (terminal ones included), None where not counted.
    """

    params: str
    states: int
    infosets: tuple[int, ...]
    value: float | None
    source: str
    openspiel: str = ""
    public_states: int | None = None


@dataclasses.dataclass(frozen=True)
class Entry:
    """One registered game.

    Attributes:
        make: parameters -> rules; its annotations say what they may be.
        summary: one line.
        references: known facts, one parameter setting each.
        instead: what to use where all states have to be listed, if there are too many with the
            default parameters; "" where they can be listed.
    """

    make: Callable[..., Game]
    summary: str
    references: tuple[Reference, ...]
    instead: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameter names and defaults."""
        return {n: p.default for n, p in inspect.signature(self.make).parameters.items()}


def bundled() -> ModuleType:
    """Returns the package of games that comes with this one.

    It is `games` in a clone and `jaxsolve.games` in an installed wheel.
    """
    inside = importlib.util.find_spec("jaxsolve.games") is not None
    return importlib.import_module("jaxsolve.games" if inside else "games")


def registered() -> dict[str, Entry]:
    """Returns every installed game by name."""
    return dict(sorted({**bundled().GAMES, **_of_packages()}.items()))


@functools.cache
def _of_packages() -> dict[str, Entry]:
    """Returns games of entry points, looked for once: that reads all that is installed."""
    table: dict[str, Entry] = {}
    for point in importlib.metadata.entry_points(group="jaxsolve.games"):
        table.update(point.load())
    return table


def load(text: str, table: Mapping[str, Entry] | None = None) -> Game:
    """Returns the game that `text` describes, e.g. "leduc" or "goofspiel(cards=4,order=random)".

    Args:
        text: `name` or `name(key=value,...)`; words need no quotes, true/false are accepted.
            "openspiel:" in front of a string of OpenSpiel imports that game, "pgx:" one of pgx;
            "my_game.py:MyGame" takes it from a file of Python, "my_game.efg" from one of Gambit.
        table: games to choose from; the installed ones by default.

    Raises:
        ValueError: the name, a parameter or the syntax is wrong; says where and what is known.
    """
    if not isinstance(text, str):
        raise ValueError(f'{text!r} is no game string: write one such as "leduc(ranks=3)"')
    if text.lstrip().startswith(OPENSPIEL_PREFIX):
        return load_openspiel(text)
    if text.lstrip().startswith(_pgx.PGX_PREFIX):
        return _pgx.load_pgx(text)
    in_file = _file.split_file(text)
    if in_file is not None:
        return _file.load_file(*in_file)
    if text.strip().endswith(_efg.SUFFIX):
        return _efg.load_efg(text.strip())
    table = registered() if table is None else table
    text = text.strip()
    name, given = read(text, kind="game", example="leduc")
    if name not in table:
        raise ValueError(unknown("game", name, table))
    entry, params = table[name], {}
    for p in given:
        if not p.key:
            raise ValueError(pointing("game", text, p.position, "expected key=value"))
        if p.key not in entry.parameters:
            known = ", ".join(f"{k}={v}" for k, v in entry.parameters.items()) or "none"
            raise ValueError(f"game {name!r} has no parameter {p.key!r}. Its parameters: {known}.")
        try:
            params[p.key] = converted(entry.make, p.key, p.value)
        except ValueError as error:
            raise ValueError(pointing("game", text, p.position, str(error))) from None
    return entry.make(**params)


def format_name(name: str, params: Mapping[str, Any]) -> str:
    """Returns the string that `load` reads back as a game with these parameters."""
    parts = []
    for key, value in params.items():
        text = str(value).lower() if isinstance(value, bool) else str(value).replace(" ", "")
        parts.append(f"{key}={text}")
    return f"{name}({','.join(parts)})" if parts else name
