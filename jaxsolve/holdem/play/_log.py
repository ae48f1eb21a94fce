"""Logs of hands that replay: a line for each hand, as the ACPC's dealer writes it.

    # hold'em {"players": 2, "blinds": [100, 50], "stacks": [20000, 20000], "streets": 4}
    STATE:0:r300c/r900f:AdAc|2c3d/3h9dQc:300|-300:blueprint|client 1
    # client 1 left: hung up

`STATE:<hand>:<betting>:<cards>:<chips>:<names>`, the last three by seat. Comments say what else
happened; a hand that was not played to its end is one of them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from jaxsolve.holdem._acpc import parse_matchstate
from jaxsolve.holdem._betting import Betting, no_limit
from jaxsolve.holdem.play._dealer_lines import public_hand
from jaxsolve.holdem.play._play import PlayedHand
from jaxsolve.holdem.play._public_hand import PublicHand, match_state, settle

HEADER = "# hold'em "


class HandLog:
    """A file to which hands are added, whole lines at a time, by any thread."""

    def __init__(self, path: Path | None, rules: Betting, stacks: Sequence[int]) -> None:
        """Opens a log, and goes on in one of the same game; without a path nothing is written.

        Raises:
            ValueError: the file is something else, or of another game.
            OSError: it cannot be written.
        """
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        if path is None:
            return
        header = _header(rules, stacks)
        if path.exists() and path.stat().st_size:
            with path.open("rb") as file:
                first = file.readline(1 << 12).decode("ascii", "replace").rstrip("\n")
            if first != header:
                raise ValueError(
                    f"{path} is there already and no log of this game: {first[:200]!r}"
                )
            _cut(path)
            self._file = path.open("ab")
        else:
            self._file = path.open("ab")
            self._write(header)

    def add(self, played: PlayedHand, number: int, names: Sequence[str]) -> None:
        """Adds a hand that is over."""
        self._write(hand_line(played, number, names))

    def note(self, text: str) -> None:
        """Adds a comment, of 500 letters at most."""
        self._write(
            "# " + " ".join(text.split()).encode("ascii", "backslashreplace").decode()[:500]
        )

    def size(self) -> int:
        """Returns the bytes that are in the file, on the disk."""
        if self._file is None:
            return 0
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _write(self, line: str) -> None:
        with self._lock:
            if self._file is not None:
                self._file.write(line.encode("ascii", "replace") + b"\n")
                self._file.flush()


def hand_line(played: PlayedHand, number: int, names: Sequence[str]) -> str:
    """Returns the line of a hand that is over."""
    match = match_state(played.hand, 0, number, played.hands)
    _, _, _, betting, cards = str(match).split(":")
    chips = "|".join(_chips(won) for won in played.chips)
    words = "|".join(re.sub(r"[:|\s]+", " ", name) for name in names)
    return f"STATE:{number}:{betting}:{cards}:{chips}:{words}"


@dataclasses.dataclass(frozen=True)
class LogTotal:
    """What one name won in a log.

    Attributes:
        name: of the player.
        hands: that it played to the end.
        chips: won in all.
        mbb: milli-big-blinds a hand.
        low, high: 95 % interval of `mbb`, hands independent; not finite of one hand.
    """

    name: str
    hands: int
    chips: float
    mbb: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class CheckedLog:
    """A log whose hands are all by the rules.

    Attributes:
        totals: of each name, in the order of their first hand.
        hands: in the log.
        notes: comments, without the header.
        cut: whether the last line is not whole, as a kill leaves it; it does not count.
    """

    totals: tuple[LogTotal, ...]
    hands: int
    notes: tuple[str, ...]
    cut: bool


@dataclasses.dataclass(frozen=True)
class LoggedHand:
    """A hand of a log, by the rules (n seats).

    Attributes:
        number: in the log.
        hand: as it ended.
        hands: two cards of each seat.
        names: of the players, by seat.
        chips: that each seat won.
    """

    number: int
    hand: PublicHand
    hands: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    chips: tuple[float, ...]


def read_log(path: Path | str) -> Iterator[LoggedHand]:
    """Yields the hands of a log, each played again; a last line that is not whole is left out.

    Raises:
        ValueError: as `check_log`.
    """
    lines, _ = _lines_of(path)
    rules, stacks = _read_header(lines[0], path)
    for at, line in enumerate(lines[1:], 2):
        if line.startswith("#") or not line.strip():
            continue
        try:
            yield _read_hand(line, rules, stacks)
        except ValueError as error:
            raise ValueError(f"{path}, line {at}: {error}") from None


def check_log(path: Path | str) -> CheckedLog:
    """Plays every hand of a log again, and returns what was won.

    Raises:
        ValueError: the file is no log, or a hand is not by the rules or has other payoffs; names
            the line.
    """
    lines, cut = _lines_of(path)
    won: dict[str, list[float]] = {}
    count, big = 0, max(_read_header(lines[0], path)[0].blinds)
    for one in read_log(path):
        count += 1
        for name, number in zip(one.names, one.chips, strict=True):
            won.setdefault(name, []).append(number)
    notes = [line[1:].strip() for line in lines[1:] if line.startswith("#") or not line.strip()]
    totals = tuple(_total(name, np.array(each), big) for name, each in won.items())
    return CheckedLog(totals, count, tuple(notes), cut)


def _lines_of(path: Path | str) -> tuple[list[str], bool]:
    """Returns (whole lines, whether another one follows that is not)."""
    lines = Path(path).read_bytes().decode("ascii", "replace").split("\n")
    cut = bool(lines.pop())
    if not lines or not lines[0].startswith(HEADER):
        raise ValueError(
            f"{path} is no log of hands: its first line does not begin with {HEADER!r}"
        )
    return lines, cut


def _read_hand(line: str, rules: Betting, stacks: Sequence[int]) -> LoggedHand:
    """Returns what a line says.

    Raises:
        ValueError: it is not by the rules.
    """
    fields = line.split(":")
    if len(fields) != 6 or fields[0] != "STATE":
        raise ValueError(f"expected STATE:hand:betting:cards:chips:names, not {line[:200]!r}")
    match = parse_matchstate(f"MATCHSTATE:0:{':'.join(fields[1:4])}")
    if any(len(two) != 2 for two in match.hands):
        raise ValueError("a seat without cards")
    hand = public_hand(rules, stacks, match)
    if not hand.over:
        raise ValueError("the hand is not over")
    names = fields[5].split("|")
    try:
        chips = [float(word) for word in fields[4].split("|")]
    except ValueError:
        raise ValueError(f"chips are numbers, not {fields[4]!r}") from None
    want = settle(hand, match.hands)
    if len(names) != len(want) or len(chips) != len(want):
        raise ValueError(f"expected chips and names of {len(want)} seats")
    if not np.allclose(chips, want, rtol=0, atol=1e-4):
        raise ValueError(f"the chips are {fields[4]}, and by the rules {_joined(want)}")
    return LoggedHand(match.hand, hand, match.hands, tuple(names), tuple(chips))


def _total(name: str, chips: np.ndarray, big: int) -> LogTotal:
    scale = 1000 / big
    mean = float(scale * chips.mean())
    error = chips.std(ddof=1) / np.sqrt(len(chips)) if len(chips) > 1 else np.inf
    margin = float(1.96 * scale * error)
    return LogTotal(name, len(chips), float(chips.sum()), mean, mean - margin, mean + margin)


def _header(rules: Betting, stacks: Sequence[int]) -> str:
    table: dict[str, Any] = {
        "players": rules.num_players,
        "blinds": list(rules.blinds),
        "stacks": list(stacks),
        "streets": rules.num_streets,
    }
    return HEADER + json.dumps(table)


def _read_header(line: str, path: Path | str) -> tuple[Betting, tuple[int, ...]]:
    try:
        table = json.loads(line[len(HEADER) :])
        n, blinds = int(table["players"]), sorted(map(int, table["blinds"]))
        rules = no_limit(n, blinds[-2], blinds[-1], int(table["streets"]))
        stacks = tuple(map(int, table["stacks"]))
        if list(rules.blinds) != table["blinds"] or len(stacks) != n:
            raise ValueError("blinds or stacks of another seating")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path}, line 1: not the header of a log: {error}") from None
    return rules, stacks


def _cut(path: Path) -> None:
    """Removes a last line that is not whole."""
    with path.open("r+b") as file:
        content = file.read()
        file.truncate(content.rfind(b"\n") + 1)


def _chips(won: float) -> str:
    text = f"{won:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _joined(chips: np.ndarray) -> str:
    return "|".join(map(_chips, chips))
