"""Menus of bet sizes for whole hands: by street, and by the bets and raises made on it so far.

    players = 2
    stack = "100bb"

    [preflop]
    sizes = [["2.5x", "4x"], ["100%", "a"], ["a"]]

    [flop]
    sizes = [["50%", "100%"], ["100%", "a"]]
    repeat = true

The first list is of the first bet or raise on the street (before the flop blinds are no bets), the
second of a raise of that, and so on. After the last list there are no more raises, unless `repeat`
says that it is of all further ones. Sizes are those of spots: "50%" of the pot after calling, "3x"
the total that is faced, "120c" chips more, "a" all-in.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxsolve.holdem._betting import Betting, no_limit
from jaxsolve.holdem._sizes import Size, check_keys

STREETS = ("preflop", "flop", "turn", "river")

BOARD_CARDS = (0, 3, 4, 5)
"""Cards on the board on each street."""

BIG_BLIND = 100
"""Chips; the small blind is half of it."""

_EXAMPLE = 'sizes = [["50%", "100%"], ["a"]]'


@dataclasses.dataclass(frozen=True)
class StreetMenu:
    """Sizes on one street.

    Attributes:
        sizes: by the number of bets and raises so far.
        repeat: whether the last entry is of all further raises.
    """

    sizes: tuple[tuple[Size, ...], ...]
    repeat: bool = False

    def at(self, raises: int) -> tuple[Size, ...]:
        """Returns what is on offer after some bets and raises."""
        if raises < len(self.sizes):
            return self.sizes[raises]
        return self.sizes[-1] if self.repeat and self.sizes else ()


@dataclasses.dataclass(frozen=True)
class BetMenu:
    """What players may bet over a whole hand.

    Attributes:
        players: 2 to 9.
        stack: chips of each player; the big blind is 100.
        streets: of preflop, flop, turn and river.
    """

    players: int
    stack: int
    streets: tuple[StreetMenu, ...]

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 9:
            raise ValueError(f"players is 2 to 9, not {self.players}")
        if not BIG_BLIND <= self.stack <= 2**24:
            raise ValueError(f"stack is at least a big blind, {BIG_BLIND}, not {self.stack}")
        if len(self.streets) != len(STREETS):
            raise ValueError(f"a menu has the streets {', '.join(STREETS)}")
        if not any(sizes for street in self.streets for sizes in street.sizes):
            raise ValueError(f"the menu allows no bet on any street: write {_EXAMPLE}")

    @property
    def rules(self) -> Betting:
        """The rules of betting, in the ACPC's seating."""
        return no_limit(self.players, BIG_BLIND // 2, BIG_BLIND)

    @property
    def digest(self) -> str:
        """Eight letters that differ between menus."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @classmethod
    def load(
        cls, path: Path | str, *, players: int | None = None, stack: int | str | None = None
    ) -> BetMenu:
        """Reads a TOML file; `players` and `stack` replace what it says.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is not a menu; says where and what to write.
        """
        try:
            table = tomllib.loads(Path(path).read_text())
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from None
        more = {"players": players, "stack": stack}
        try:
            return cls.parse({**table, **{k: v for k, v in more.items() if v is not None}})
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> BetMenu:
        """Reads the table of a TOML file.

        Raises:
            ValueError: says where and what to write.
        """
        check_keys(table, ("players", "stack", *STREETS), "menu")
        missing = [key for key in ("stack", *STREETS) if key not in table]
        if missing:
            raise ValueError(f"{missing[0]} is missing: a menu has stack, {', '.join(STREETS)}")
        players = table.get("players", 2)
        if not isinstance(players, int) or isinstance(players, bool):
            raise ValueError(f"players is a whole number, not {players!r}")
        streets = tuple(_street(name, table[name]) for name in STREETS)
        return cls(players, parse_stack(table["stack"]), streets)


def parse_stack(value: int | str) -> int:
    """Returns chips of "100bb" (big blinds of 100) or of a number of chips.

    Raises:
        ValueError: it is neither.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(bb)?\s*", str(value), re.IGNORECASE)
    if match is None or isinstance(value, bool):
        raise ValueError(f'a stack is "100bb" or a number of chips, not {value!r}')
    chips = float(match.group(1)) * (BIG_BLIND if match.group(2) else 1)
    if chips != int(chips):
        raise ValueError(f"a stack is a whole number of chips, not {chips:g}")
    if chips < BIG_BLIND:
        raise ValueError(f"a stack is at least a big blind, {BIG_BLIND} chips, not {chips:g}")
    return int(chips)


def _street(name: str, value: Any) -> StreetMenu:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is a table: write [{name}] and {_EXAMPLE}")
    check_keys(value, ("sizes", "repeat"), name)
    lists, repeat = value.get("sizes"), value.get("repeat", False)
    if not isinstance(lists, list) or not all(isinstance(x, list) for x in lists):
        raise ValueError(f"{name}.sizes is a list of lists, one for each raise: {_EXAMPLE}")
    if not isinstance(repeat, bool):
        raise ValueError(f"{name}.repeat is true or false, not {repeat!r}")
    try:
        sizes = tuple(tuple(dict.fromkeys(map(Size.parse, words))) for words in lists)
    except ValueError as error:
        raise ValueError(f"{name}.sizes: {error}") from None
    return StreetMenu(sizes, repeat)
