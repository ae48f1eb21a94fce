"""Bet sizes in the notation of solvers ("50%", "3x", "120c", "a"), and the chips that they mean."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from jaxsolve.game import unknown
from jaxsolve.holdem._betting import portion

STREETS = ("flop", "turn", "river")
PLAYERS = ("oop", "ip")

KEYS = ("bet", "raise", "donk", "oop_bet", "oop_raise", "ip_bet", "ip_raise")
"""Keys of a table of sizes; the whole table also has one table for each street."""

_FORMS = 'write "50%" or 0.5 (of the pot), "3x" (times the bet), "120c" (chips) or "a" (all-in)'

_ABOVE = {"pot": 0.0, "multiple": 1.0, "chips": 0.0, "all-in": -1.0}
"""Kinds of sizes, and what their amounts exceed."""

_LARGEST = 10.0
"""Shares of the pot above this are taken for percentages or chips without their sign."""


@dataclass(frozen=True, order=True)
class Size:
    """One size of a menu.

    Attributes:
        kind: "pot" (share of the pot after calling), "multiple" (of the bet that is faced),
            "chips" (so much more than the bet that is faced), "all-in".
        amount: the share, the factor or the chips; 0 of all-in.
    """

    kind: str
    amount: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in _ABOVE:
            raise ValueError(f"unknown kind of size {self.kind!r}; known: {', '.join(_ABOVE)}")
        if self.kind != "all-in" and not _ABOVE[self.kind] < self.amount < math.inf:
            raise ValueError(f"{self.kind} {self.amount} is no bet: {_FORMS}")

    @classmethod
    def parse(cls, word: str | float) -> Size:
        """Returns the size that "50%", 0.5, "3x", "120c" or "a" names.

        Raises:
            ValueError: it is not a size, or it is no bet at all.
        """
        if isinstance(word, str) and word.strip().lower() in ("a", "allin", "all-in"):
            return cls("all-in")
        match = re.fullmatch(r"\s*(-?(?:\d+\.?\d*|\.\d+)(?:[eE]-?\d+)?)\s*([%xc]?)\s*", str(word))
        if match is None or isinstance(word, bool):
            raise ValueError(f"{word!r} is not a size: {_FORMS}")
        number, unit = float(match.group(1)), match.group(2)
        if unit == "x":
            if number <= 1:
                raise ValueError(f"{word!r} is no raise: a multiple of the bet is above 1")
            return cls("multiple", number)
        if unit == "c":
            if number < 1 or number != int(number):
                raise ValueError(f"{word!r} is no bet: write a whole number of chips, 1 or more")
            return cls("chips", number)
        if number <= 0:
            raise ValueError(f"{word!r} is no bet: a share of the pot is above 0")
        if not unit and number > _LARGEST:
            text = match.group(1)
            raise ValueError(
                f"{word!r} would be {number:g} times the pot: write '{text}%' (of the pot), "
                f"'{text}c' (chips), or '{100 * number:g}%' if it is meant"
            )
        # As it is written: in binary, 1.1 / 100 is not the number nearest to 0.011.
        return cls("pot", float(Decimal(match.group(1)) / 100) if unit else number)

    def __str__(self) -> str:
        if self.kind == "all-in":
            return "a"
        if self.kind == "pot":
            percent = _number(float(f"{100 * self.amount:.12g}"))
            exact = float(Decimal(percent) / 100) == self.amount
            return f"{percent}%" if exact else repr(float(self.amount))
        return _number(self.amount) + {"multiple": "x", "chips": "c"}[self.kind]


class StreetSizes(NamedTuple):
    """The menus of one player on one street; an empty one leaves only check, call and fold.

    Attributes:
        bet: where nobody has bet.
        raise_: where the opponent has bet or raised.
        donk: for the first player, where the other made the last bet or raise of the street
            before; None is the same as `bet`.
    """

    bet: tuple[Size, ...]
    raise_: tuple[Size, ...]
    donk: tuple[Size, ...] | None = None


Sizes = Mapping[str, tuple[StreetSizes, StreetSizes]]
"""By street, the menus of the first player (out of position) and of the second (in position)."""


def totals(
    menu: Iterable[Size],
    *,
    own: int,
    facing: int,
    pot: int,
    high: int,
    low: int | None = None,
    allin_threshold: float | None = None,
) -> list[int]:
    """Returns what a player may bet or raise to on this street, in chips, ascending.

    A share f of the pot is `facing + round(f * (pot after calling))`, halves rounded up; a
    multiple is of `facing`. Every total is then moved into [low, high], and equal ones are one.

    Args:
        menu: the sizes on offer.
        own, facing: what the player and the opponent have put in on this street.
        pot: everything put in so far, this street included.
        high: all-in: the most that can be at stake on this street.
        low: the least bet or raise; by default 1, or the last raise once more.
        allin_threshold: with a total of at least this share of `high`, all-in is on offer too.
    """
    if facing >= high:
        return []
    low = min(high, max(1, 2 * facing - own) if low is None else low)
    after_call = pot + facing - own
    out = set()
    for size in menu:
        if size.kind == "all-in":
            out.add(high)
            continue
        if size.kind == "multiple":
            total = int(portion(facing, size.amount))
        elif size.kind == "pot":
            total = facing + int(portion(after_call, size.amount))
        else:
            total = facing + int(size.amount)
        out.add(min(max(total, low), high))
    if allin_threshold is not None and out and max(out) >= allin_threshold * high:
        out.add(high)
    return sorted(out)


def parse_sizes(table: Any, streets: Iterable[str] = STREETS) -> dict[str, Any]:
    """Returns the menus of a table of sizes by street, see `Sizes`.

    The entries are lists of sizes, or one string with commas. What a player does on a street is
    looked up as `oop_bet` in the table of the street, `bet` there, `oop_bet` outside, `bet`
    outside; in the same way raises and `donk`, which is of the first player only.

    Args:
        table: with the keys of `KEYS` and the tables "flop", "turn" and "river".
        streets: those that are played, which need menus.

    Raises:
        ValueError: an unknown key, a wrong size, or no menu for a player on a street.
    """
    if not isinstance(table, Mapping):
        raise ValueError(f'sizes is a table such as {{bet = ["50%", "a"], ...}}, not {table!r}')
    check_keys(table, (*KEYS, *STREETS), "size")
    for street in STREETS:
        if not isinstance(table.get(street, {}), Mapping):
            raise ValueError(f"sizes.{street} is a table, such as {{bet = [...], raise = [...]}}")
        check_keys(table.get(street, {}), KEYS, f"{street} size")
    levels = {street: (table.get(street, {}), table) for street in STREETS}
    read = {
        (street, key): _menu(
            level[key], f"sizes.{street}.{key}" if level is inner else f"sizes.{key}"
        )
        for street, (inner, outer) in levels.items()
        for level in (outer, inner)
        for key in KEYS
        if key in level
    }
    out = {}
    for street in streets:
        rows = []
        for player in PLAYERS:
            menus = {}
            for what in ("bet", "raise", "donk"):
                names = [what] if what == "donk" else [f"{player}_{what}", what]
                found = [n for level in levels[street] for n in names if n in level]
                if found:
                    menus[what] = read[street, found[0]]
                elif what != "donk":
                    raise ValueError(
                        f'sizes: {player} has no {what} on the {street}: write {what} = ["50%", '
                        f'"a"], or {what} = [] for none'
                    )
            donk = menus.get("donk") if player == "oop" else None
            rows.append(StreetSizes(menus["bet"], menus["raise"], donk))
        out[street] = (rows[0], rows[1])
    return out


def check_keys(table: Mapping[str, Any], known: Iterable[str], kind: str) -> None:
    """Refuses a key that is not known.

    Raises:
        ValueError: names the nearest key and all known ones.
    """
    names = list(known)
    for key in table:
        if key not in names:
            raise ValueError(unknown(f"{kind} key", str(key), names))


def _menu(value: Any, where: str) -> tuple[Size, ...]:
    """Reads one entry of a table: a list, or a string with commas."""
    if isinstance(value, str):
        value = value.split(",") if value.strip() else []
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, list | tuple):
        raise ValueError(f'{where}: a menu is a list such as ["50%", "a"], not {value!r}')
    sizes = []
    for word in value:
        try:
            size = Size.parse(word)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if size.kind == "multiple" and not where.endswith("raise"):
            raise ValueError(f"{where}: {word!r} is a multiple of the bet that is raised: {_FORMS}")
        sizes.append(size)
    return tuple(dict.fromkeys(sizes))


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
