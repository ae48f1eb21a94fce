"""Spots: a board, a pot, stacks, two ranges and the sizes on offer, from a TOML file or a dict."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.files import write_atomic
from jaxsolve.holdem._cards import HANDS, NUM_CARDS, card_name, cards_name, hand_name, parse_cards
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._display import spot_html
from jaxsolve.holdem._range import check_weights, format_range, parse_range
from jaxsolve.holdem._range_file import is_table, parse_range_file, without_zeros
from jaxsolve.holdem._range_items import range_error, read_range
from jaxsolve.holdem._sizes import PLAYERS, STREETS, Size, Sizes, check_keys, parse_sizes

KEYS = (
    *("board", "pot", "stack", "oop", "ip", "sizes"),
    *("rake", "rake_cap", "raise_cap", "allin_threshold", "big_blind"),
)
_NEEDED = KEYS[:6]


@dataclass(frozen=True, eq=False)
class Spot:
    """A postflop situation of two players, the first of whom (oop) is out of position.

    Attributes:
        board: three, four or five cards.
        pot: chips in the middle.
        stack: chips behind of (oop, ip). Only the smaller is ever at stake.
        ranges: float64 [1326] of (oop, ip), weights in [0, 1] in the order of `HANDS`. Hands that
            hold a card of the board get weight 0.
        sizes: by street ("flop", "turn", "river"), the menus of (oop, ip). A donk menu counts
            from the second street of the spot on: before, nobody has bet.
        rake: share of the pot that the house takes where the betting ends.
        rake_cap: chips, the most that it takes; None for no limit.
        raise_cap: raises on a street, the first bet not counted; None for no limit.
        allin_threshold: with a size of at least this share of the stack on offer, all-in is too.
        big_blind: chips; unit of mbb, and the least stack.
    """

    board: tuple[int, ...]
    pot: int
    stack: tuple[int, int]
    ranges: tuple[np.ndarray, np.ndarray]
    sizes: Sizes
    rake: float = 0.0
    rake_cap: float | None = None
    raise_cap: int | None = None
    allin_threshold: float | None = None
    big_blind: int | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        board = tuple(int(card) for card in self.board)
        _check_board(board)
        put("board", board)
        put("pot", _chips("pot", self.pot))
        stack = self.stack if isinstance(self.stack, tuple | list) else (self.stack, self.stack)
        if len(stack) != 2:
            raise ValueError(f"stack: write one number or [oop, ip], not {len(stack)} numbers")
        put("stack", tuple(_chips(f"stack of {p}", s) for p, s in zip(PLAYERS, stack, strict=True)))
        _check_options(self)
        for name in ("raise_cap", "big_blind"):
            if getattr(self, name) is not None:
                put(name, int(getattr(self, name)))
        there = possible(board)
        ranges = []
        for player, weights in zip(PLAYERS, self.ranges, strict=True):
            try:
                array = check_weights(weights)
            except ValueError as error:
                raise ValueError(f"{player}: {error}") from None
            if not array.any():
                raise ValueError(f'{player}: the range is empty: write "66+,AKs", or "full"')
            left = np.where(there, array, 0.0)
            if not left.any():
                raise ValueError(
                    f"{player}: each of the {np.count_nonzero(array)} hands of "
                    f"{format_range(array)} holds a card of the board {cards_name(board)}"
                )
            left.flags.writeable = False
            ranges.append(left)
        put("ranges", tuple(ranges))
        if not _pairs((ranges[0] > 0).astype(np.int64), (ranges[1] > 0).astype(np.int64)):
            words = [format_range(weights, board) for weights in ranges]
            raise ValueError(
                f"oop and ip: each hand of {words[0]} shares a card with each hand "
                f"of {words[1]} on {cards_name(board)}, so there is nothing to play"
            )
        _check_sizes(self)

    @classmethod
    def load(cls, path: str | Path) -> Spot:
        """Returns the spot of a TOML file; `parse` describes its keys.

        Raises:
            ValueError: names the file and the key, and points at the character.
            OSError: the file, or a file of a range, cannot be read.
        """
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            return cls.parse(data, directory=path.parent)
        except ValueError as error:  # of TOML and of UTF-8 as well
            raise ValueError(f"{path}: {error}") from None

    @classmethod
    def parse(
        cls,
        data: Mapping[str, Any],
        *,
        directory: str | Path = ".",
        board: tuple[int, ...] | None = None,
    ) -> Spot:
        """Returns the spot of a dict.

        Keys: `board` ("Td9d6hQc2s"), `pot`, `stack` (one number or [oop, ip]), `oop` and `ip`
        (range strings, see `parse_range`, or "@file"), `sizes` (see `parse_sizes`) and optionally
        `rake`, `rake_cap`, `raise_cap`, `allin_threshold`, `big_blind`.

        Args:
            data: the keys and their values.
            directory: where a range "@file" is; in such a file "#" begins a comment.
            board: cards in place of `data["board"]`; a hand that is written out and holds one of
                them is left out then, and no error.

        Raises:
            ValueError: names the key, points at the character, and says what to write.
            OSError: a file of a range cannot be read.
        """
        check_keys(data, KEYS, "spot")
        missing = [key for key in _NEEDED if key not in data]
        if missing:
            raise ValueError(f"{missing[0]} is missing; a spot has {', '.join(_NEEDED)}")
        named = board is None
        if board is None:
            if not isinstance(data["board"], str):
                raise ValueError(
                    f'board: write a string such as "Td9d6hQc2s", not {data["board"]!r}'
                )
            try:
                board = parse_cards(data["board"])
            except ValueError as error:
                raise ValueError(f"board: {error}") from None
        _check_board(board)
        seen = board if named else ()
        options = {key: data[key] for key in KEYS[6:] if key in data}
        return cls(
            board,
            data["pot"],
            data["stack"],
            (
                _range("oop", data["oop"], seen, Path(directory)),
                _range("ip", data["ip"], seen, Path(directory)),
            ),
            parse_sizes(data["sizes"], _streets(board)),
            **options,
        )

    @property
    def streets(self) -> tuple[str, ...]:
        """The street of the board and those to come."""
        return _streets(self.board)

    @property
    def effective_stack(self) -> int:
        """Chips that can be lost beyond the pot, the smaller stack."""
        return min(self.stack)

    @property
    def hands(self) -> np.ndarray:
        """The hands that hold no card of the board, int64 [n], rows of `HANDS`."""
        return np.flatnonzero(possible(self.board))

    @property
    def pairs(self) -> float:
        """Sum over pairs of hands that share no card of the product of their weights."""
        return float(_pairs(*self.ranges))

    def save(self, path: str | Path) -> None:
        """Writes a TOML file that `load` reads as this spot."""
        data = self.as_dict()
        sizes = data.pop("sizes")
        lines = [f"{key} = {json.dumps(value)}" for key, value in data.items()]
        for street, menus in sizes.items():
            lines += ["", f"[sizes.{street}]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in menus.items()]
        write_atomic(Path(path), ("\n".join(lines) + "\n").encode())

    def as_dict(self) -> dict[str, Any]:
        """Returns what `parse` reads as this spot, made of strings, numbers, lists and dicts."""
        sizes: dict[str, Any] = {}
        for street, pair in self.sizes.items():
            sizes[street] = {
                f"{player}_{name}": [str(size) for size in menu]
                for player, menus in zip(PLAYERS, pair, strict=True)
                for name, menu in (("bet", menus.bet), ("raise", menus.raise_))
            }
            if pair[0].donk is not None:
                sizes[street]["donk"] = [str(size) for size in pair[0].donk]
        out = {
            "board": cards_name(self.board),
            "pot": self.pot,
            "stack": list(self.stack),
            "oop": format_range(self.ranges[0], self.board),
            "ip": format_range(self.ranges[1], self.board),
            "sizes": sizes,
        }
        options = {key: getattr(self, key) for key in KEYS[6:]}
        return out | {k: v for k, v in options.items() if v is not None}

    def __repr__(self) -> str:
        oop, ip = (f"{weights.sum():,.1f}" for weights in self.ranges)
        stack = " / ".join(f"{s:,}" for s in dict.fromkeys(self.stack))
        return (
            f"Spot({cards_name(self.board)}, pot {self.pot:,}, stack {stack}, "
            f"oop {oop} combinations, ip {ip})"
        )

    def _repr_html_(self) -> str:
        return spot_html(self)


def _streets(board: tuple[int, ...]) -> tuple[str, ...]:
    return STREETS[len(board) - 3 :]


def _check_board(board: tuple[int, ...]) -> None:
    for k, card in enumerate(board):
        if not 0 <= card < NUM_CARDS:
            raise ValueError(f"board: {card} is not a card; cards are 0 to {NUM_CARDS - 1}")
        if card in board[:k]:
            raise ValueError(f"board: {card_name(card)} is there twice")
    if not 3 <= len(board) <= 5:
        raise ValueError(
            f"board: {cards_name(board) or 'nothing'} has {len(board)} cards; write 3 (flop), "
            "4 (turn) or 5 (river)"
        )


def _chips(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError(f"{name}: write a number of chips, not {value!r}")
    if not 0 < value < 2**30:
        least = "positive" if value <= 0 else "below 2^30 chips"
        raise ValueError(f"{name} is {value}, but must be {least}")
    if value != int(value):
        raise ValueError(
            f"{name} is {value}; bets are rounded to whole chips, so count in smaller ones: "
            f"multiply pot, stack and chips by 10 or 100"
        )
    return int(value)


def _check_options(spot: Spot) -> None:
    def number(name: str) -> float | None:
        value = getattr(spot, name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        raise ValueError(f"{name}: write a number, not {value!r}")

    rake, cap, raises = number("rake"), number("rake_cap"), number("raise_cap")
    threshold = number("allin_threshold")
    if rake is None or not 0 <= rake < 1:
        hint = f"; write {rake / 100:g} for {rake:g}%" if rake and 1 <= rake < 100 else ""
        raise ValueError(f"rake is {rake}, but must be a share of the pot, in [0, 1){hint}")
    if cap is not None and not cap >= 0:
        raise ValueError(f"rake_cap is {cap}, but must be a number of chips, 0 or more")
    if raises is not None and (raises < 0 or raises != int(raises)):
        raise ValueError(f"raise_cap is {raises}, but must be a whole number, 0 or more")
    if threshold is not None and not 0 < threshold <= 1:
        raise ValueError(f"allin_threshold is {threshold}, but must be a share of the stack")
    if spot.big_blind is not None:
        blind = _chips("big_blind", spot.big_blind)
        for player, stack in zip(PLAYERS, spot.stack, strict=True):
            if stack < blind:
                raise ValueError(f"stack of {player} is {stack}, below the big blind of {blind}")


def _check_sizes(spot: Spot) -> None:
    for street in spot.streets:
        if len(spot.sizes.get(street, ())) != 2:
            raise ValueError(f"sizes.{street}: give the menus of (oop, ip)")
        for player, menus in zip(PLAYERS, spot.sizes[street], strict=True):
            for size in (*menus.bet, *menus.raise_, *(menus.donk or ())):
                _check_size(size, spot.pot, f"sizes, {street}, {player}")


def _check_size(size: Size, pot: int, where: str) -> None:
    if size.kind == "pot" and size.amount * pot < 0.5:
        raise ValueError(f"{where}: {size} is no bet: it rounds to 0 chips in a pot of {pot}")


def _range(player: str, text: Any, board: tuple[int, ...], directory: Path) -> np.ndarray:
    """Reads a range string or file, which must not name a hand with a card of the board."""
    where = player
    if isinstance(text, str) and text.strip().startswith("@"):
        path = directory / text.strip()[1:].strip()
        try:
            content = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise type(error)(error.errno, f"{player}: {error.strerror}", str(path)) from None
        text = re.sub("#[^\n]*", lambda match: " " * len(match.group()), content)
        where = f"{player}, {path}"
        if is_table(text):
            try:
                return parse_range_file(text)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
        text = without_zeros(text)
    try:
        weights = parse_range(text)
        for item in read_range(text):
            blocked = sorted(set(HANDS[item.hands[0]].tolist()) & set(board))
            if item.explicit and blocked:
                raise ValueError(
                    range_error(
                        text,
                        item.position,
                        f"{hand_name(item.hands[0])} holds {cards_name(blocked)}, which is on the "
                        f"board {cards_name(board)}: leave it out",
                    )
                )
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return weights


def _pairs(first: np.ndarray, second: np.ndarray) -> Any:
    """Sum over pairs of hands that share no card of the products of [1326] and [1326]."""
    by_card = [np.zeros(NUM_CARDS, weights.dtype) for weights in (first, second)]
    for total, weights in zip(by_card, (first, second), strict=True):
        np.add.at(total, HANDS[:, 0], weights)
        np.add.at(total, HANDS[:, 1], weights)
    # Equal hands share two cards and are taken away twice.
    return first.sum() * second.sum() - by_card[0] @ by_card[1] + first @ second
