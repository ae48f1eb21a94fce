"""Spots as tree configurations, a text format of PioSOLVER.

A configuration is lines `#Key#value`. Of these are taken over: `Type` (NoLimit), `Range0`,
`Range1`, `Board`, `Pot`, `EffectiveStacks`, `Rake.Enabled`, `Rake.Fraction`, `Rake.Cap`, and for
`FlopConfig`, `TurnConfig`, `RiverConfig` (out of position) and the same with `IP` at the end:
`BetSize`, `RaiseSize`, `DonkBetSize` and `AddAllin`. A line that says something else is refused,
unless it changes nothing (`MergeSimilarBets#False`, say) or the caller names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from jaxsolve.holdem._cards import cards_name, parse_cards
from jaxsolve.holdem._range import format_range
from jaxsolve.holdem._range_file import parse_range_file
from jaxsolve.holdem._sizes import PLAYERS, STREETS, Size, StreetSizes
from jaxsolve.holdem._spot import Spot

_NEEDED = ("Range0", "Range1", "Board", "Pot", "EffectiveStacks")
_PREFIX = {
    (street, player): f"{street.capitalize()}Config{suffix}"
    for street in STREETS
    for player, suffix in zip(PLAYERS, ("", "IP"), strict=True)
}
_FIELDS = ("BetSize", "RaiseSize", "DonkBetSize", "AddAllin")


def parse_pio_tree(text: str, *, ignore: Collection[str] = ()) -> Spot:
    """Returns the spot of a tree configuration.

    Numbers of sizes are percents of the pot, `2.5x` multiples, `20c` chips, `a` all-in. A street
    without `DonkBetSize` has no donk bets; `AddAllin` adds all-in to bets and raises.

    Args:
        text: lines `#Key#value`; other lines are comments.
        ignore: keys of lines to leave out although they change the tree, as ("AllinThreshold",).

    Raises:
        ValueError: a line cannot be read, is missing, or says what spots cannot; names it.
    """
    found = _lines(text)
    missing = [key for key in _NEEDED if key not in found]
    if missing:
        raise ValueError(f"the tree configuration has no line #{missing[0]}#...")
    pot, stack = (_whole(key, found.pop(key)) for key in ("Pot", "EffectiveStacks"))
    board = parse_cards(found.pop("Board"))
    ranges = [parse_range_file(found.pop(f"Range{i}")) for i in range(2)]
    options: dict[str, Any] = {}
    fraction, cap = found.pop("Rake.Fraction", "0"), found.pop("Rake.Cap", "")
    if _true(found.pop("Rake.Enabled", "False")):
        options["rake"] = _number("Rake.Fraction", fraction)
        options["rake_cap"] = _number("Rake.Cap", cap) if cap else None
    menus = {
        (street, player): {name: found.pop(f"{prefix}.{name}", "") for name in _FIELDS}
        for (street, player), prefix in _PREFIX.items()
    }
    all_in = any(_true(menu["AddAllin"]) for menu in menus.values())
    left = {
        key: value
        for key, value in found.items()
        if key not in ignore and not _harmless(key, value, found, 100 * stack / pot, all_in)
    }
    for player in PLAYERS:
        if menus["flop", player]["DonkBetSize"] or (
            player == "ip" and any(menus[street, player]["DonkBetSize"] for street in STREETS)
        ):
            left["DonkBetSize"] = f"{player} cannot donk there"
    if left:
        words = ", ".join(f"#{key}#{value}" for key, value in left.items())
        raise ValueError(
            f"a spot cannot say: {words}. To leave these lines out, knowing that the tree will "
            f"differ: ignore {','.join(left)}"
        )
    sizes = {
        street: (_street(menus, street, "oop"), _street(menus, street, "ip"))
        for street in STREETS[len(board) - 3 :]
    }
    return Spot(board, pot, (stack, stack), (ranges[0], ranges[1]), sizes, **options)


def format_pio_tree(spot: Spot) -> str:
    """Returns the tree configuration of a spot, which `parse_pio_tree` reads as the same spot.

    Raises:
        ValueError: the spot has `raise_cap` or `allin_threshold`, which have another meaning there.
    """
    for name in ("raise_cap", "allin_threshold"):
        if getattr(spot, name) is not None:
            raise ValueError(f"{name} cannot be written to a tree configuration: leave it out")
    board = cards_name(spot.board)
    lines = {
        "Type": "NoLimit",
        "Range0": format_range(spot.ranges[0], spot.board),
        "Range1": format_range(spot.ranges[1], spot.board),
        "Board": " ".join(board[i : i + 2] for i in range(0, len(board), 2)),
        "Pot": str(spot.pot),
        "EffectiveStacks": str(spot.effective_stack),
        "AllinThreshold": "100",
        "MergeSimilarBets": "False",
        "CapEnabled": "False",
    }
    if spot.rake:
        cap = spot.pot + 2 * spot.effective_stack if spot.rake_cap is None else spot.rake_cap
        lines |= {
            "Rake.Enabled": "True",
            "Rake.Fraction": repr(spot.rake),
            "Rake.Cap": f"{cap:g}",
        }
    for street in spot.streets:
        for player, menus in zip(PLAYERS, spot.sizes[street], strict=True):
            prefix = _PREFIX[street, player]
            lines[f"{prefix}.BetSize"] = _words(menus.bet)
            lines[f"{prefix}.RaiseSize"] = _words(menus.raise_)
            if player == "oop" and street != "flop":
                donk = menus.bet if menus.donk is None else menus.donk
                lines[f"{prefix}.DonkBetSize"] = _words(donk)
    return "".join(f"#{key}#{value}\n" for key, value in lines.items())


def _lines(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in re.finditer(r"^\s*#([A-Za-z][\w.]*)#(.*?)\s*$", text, re.MULTILINE):
        key, value = match.groups()
        if found.setdefault(key, value) != value:
            raise ValueError(f"#{key}# is there twice, with {found[key]!r} and {value!r}")
    return found


def _harmless(key: str, value: str, found: dict[str, str], percent: float, all_in: bool) -> bool:
    """Returns whether a line changes nothing in this tree; `percent`: stack by pot at the root."""
    if key.startswith("ICM."):
        return not _true(found.get("ICM.Enabled", "False"))
    if key in ("MergeSimilarBets", "CapEnabled", "UseUnifiedRaiseAfterRaise"):
        return not _true(value)
    if key == "MergeSimilarBetsThreshold":
        return not _true(found.get("MergeSimilarBets", "False"))
    if key in ("CapPerStreet", "CapMode"):
        return not _true(found.get("CapEnabled", "False"))
    if key == "AllinThreshold":
        return _number(key, value) >= 100
    if key == "AddAllinOnlyIfLessThanThisTimesThePot":
        # Later the pot is larger and the stack smaller, so it holds everywhere.
        return not all_in or percent <= _number(key, value)
    return key == "Type" and value == "NoLimit"


def _street(menus: dict[tuple[str, str], dict[str, str]], street: str, player: str) -> StreetSizes:
    prefix, menu = _PREFIX[street, player], menus[street, player]
    bet, raise_, donk = (
        tuple(_size(word, f"{prefix}.{name}") for word in re.split(r"[\s,]+", menu[name]) if word)
        for name in ("BetSize", "RaiseSize", "DonkBetSize")
    )
    if _true(menu["AddAllin"]):
        bet, raise_ = ((*sizes, Size("all-in")) for sizes in (bet, raise_))
    first_to_donk = player == "oop" and street != "flop"
    return StreetSizes(
        tuple(dict.fromkeys(bet)), tuple(dict.fromkeys(raise_)), donk if first_to_donk else None
    )


def _size(word: str, where: str) -> Size:
    try:
        return Size.parse(word if word[-1] in "axc%" else f"{word}%")
    except ValueError as error:
        raise ValueError(f"#{where}#: {error}") from None


def _words(menu: Collection[Size]) -> str:
    return " ".join(
        f"{100 * size.amount:.12g}" if size.kind == "pot" else str(size) for size in menu
    )


def _true(value: str) -> bool:
    return value.strip().lower() == "true"


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"#{key}#{value}: write a number") from None


def _whole(key: str, value: str) -> int:
    number = _number(key, value)
    if number != int(number):
        raise ValueError(
            f"#{key}#{value}: write whole chips; multiply pot, stack and sizes in chips"
        )
    return int(number)
