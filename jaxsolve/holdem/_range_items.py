"""The grammar of range strings: each item of "66+,A5s-A4s,AhKd:0.5" and the hands it names."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._cards import HANDS, NUM_HANDS, RANKS, SUITS, hand_index

_EVERY = ("full", "random")

# first hand, "-" second hand, ":" weight; blanks may stand around "-" and ":".
_ITEM = re.compile(r"([^\s,:–-]*)(?:\s*[-–]\s*([^\s,:–-]*))?(?:\s*:\s*([^\s,]*))?")

_AROUND = 34
"""Characters of a long string that a message shows on either side of the place."""


class Item(NamedTuple):
    """One item of a range string.

    Attributes:
        position: where it begins in the string, counted from 0.
        text: the item as written.
        hands: int64 [k] of indices into `HANDS`.
        weight: of each of these hands, in (0, 1].
        explicit: the item names two cards ("AhKd") and not a class of hands.
    """

    position: int
    text: str
    hands: np.ndarray
    weight: float
    explicit: bool


class _Shape(NamedTuple):
    """What is written before "+", "-" or ":". Ranks are 0..12."""

    high: int
    low: int
    suits: str | tuple[int, int]  # "" any, "s" suited, "o" offsuit, or the suits of two cards
    plus: bool


def read_range(text: str) -> list[Item]:
    """Returns the items of a range string, which may share hands.

    Raises:
        ValueError: as `parse_range`, of each item by itself.
    """
    if not isinstance(text, str):
        raise ValueError(f'a range is a string such as "66+,AKs", not {text!r}')
    if not text.strip():
        raise ValueError('the range is empty: write hands such as "66+,AKs", or "full"')
    items: list[Item] = []
    position = comma = _skip(text, 0)
    while True:
        match = _ITEM.match(text, position)
        if match is None or not match.group():
            raise ValueError(
                range_error(text, comma, 'an empty item: remove this comma, or write "AKs"')
            )
        items.append(_item(text, match))
        position = _skip(text, match.end())
        if position == len(text):
            return items
        if text[position] == ",":
            comma = position
            position = _skip(text, position + 1)


def range_error(text: str, position: int, message: str) -> str:
    """Returns a message with an arrow below a character of a range string, however long it is."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1)
    place = f"line {line}, character" if "\n" in text.strip() else "character"
    begin = max(0, position - _AROUND) if len(text) > 2 * _AROUND else 0
    end = position + _AROUND if len(text) > 2 * _AROUND else len(text)
    before = ("..." if begin else "") + text[begin:position]
    shown = before + text[position:end] + ("..." if end < len(text) else "")
    shown = re.sub(r"\s", " ", shown).rstrip()
    arrow = " " * len(before) + "^"
    return f"wrong range at {place} {column + 1}: {message}\n  {shown}\n  {arrow}"


def _skip(text: str, position: int) -> int:
    """Returns the position of the next character that is not blank."""
    return len(text) - len(text[position:].lstrip())


def _item(text: str, match: re.Match[str]) -> Item:
    first, second, weight = match.groups()
    value = 1.0 if weight is None else _read_weight(text, match.start(3), weight)
    if first.lower() in _EVERY and second is None:
        return Item(match.start(), match.group(), np.arange(NUM_HANDS), value, False)
    begin = _shape(text, match.start(1), first)
    explicit = not isinstance(begin.suits, str) and second is None and not begin.plus
    if second is None:
        cells = _up(begin) if begin.plus else [(begin.high, begin.low)]
    else:
        end = _shape(text, match.start(2), second)
        for shape, at in ((begin, match.start(1)), (end, match.start(2))):
            if shape.plus:
                message = 'write "+" or a span, not both'
                raise ValueError(range_error(text, text.index("+", at), message))
        cells = _span(text, match, begin, end)
    hands = np.concatenate([class_hands(*cell, begin.suits) for cell in cells])
    return Item(match.start(), match.group(), hands, value, explicit)


def _read_weight(text: str, position: int, word: str) -> float:
    number = re.fullmatch(r"(\d*\.?\d*(?:[eE]-?\d+)?)(%?)", word)
    try:
        value = float(number.group(1)) if number else None
    except ValueError:
        value = None
    if value is None:
        message = f"expected a weight in (0, 1], such as 0.5, not {word!r}"
        if re.fullmatch(r"\d*,\d+", word):
            message += "; write a point, not a comma"
    elif number and number.group(2):
        message = f"a weight is a share: write {value / 100:g} for {word}"
    elif value == 0:
        message = "a weight is above 0: leave these hands out"
    elif value > 1:
        message = f"a weight is at most 1, not {word}"
        message += f": write {value / 100:g} for {word}%" if 2 <= value <= 100 else ""
    else:
        return value
    raise ValueError(range_error(text, position, message))


def _shape(text: str, position: int, word: str) -> _Shape:
    """Reads "66", "A8s+", "AK" or "AhKd" at a position of a range string."""

    def fail(offset: int, message: str) -> ValueError:
        return ValueError(range_error(text, position + offset, message))

    if not word:
        raise fail(0, 'expected a hand such as "66", "AKs" or "AhKd"')
    body, plus = (word[:-1], True) if word.endswith("+") else (word, False)
    high = _rank(fail, word, 0)
    if len(body) < 2:
        raise fail(1, f'expected a second rank or a suit after {body!r}, such as "{body}{body}"')
    if body[1] in SUITS:
        return _two_cards(fail, word, body, plus)
    low = _rank(fail, word, 1)
    suits = body[2:]
    if suits not in ("", "s", "o"):
        hint = f": write {body[:2] + suits.lower()!r}" if suits.lower() in ("s", "o") else ""
        hint = hint or ': after two ranks come "s" (suited), "o" (offsuit), "+", "-" or ":"'
        raise fail(2, f"unknown {suits!r}{hint}")
    if high < low:
        raise fail(0, f"the higher rank comes first: write {body[1] + body[0] + word[2:]!r}")
    if high == low and suits:
        raise fail(2, f"a pair is neither suited nor offsuit: write {body[:2] + '+' * plus!r}")
    return _Shape(high, low, suits, plus)


def _two_cards(fail: Any, word: str, body: str, plus: bool) -> _Shape:
    if len(body) < 3:
        raise fail(len(body), f'expected a second card after {body!r}, such as "AhKd"')
    ranks = [_rank(fail, word, 0), _rank(fail, word, 2)]
    if len(body) < 4 or body[3] not in SUITS:
        found = repr(body[3]) if len(body) > 3 else "nothing"
        hint = ""
        if len(body) > 3 and body[3].lower() in SUITS:
            hint = f": write {body[:3] + body[3].lower()!r}"
        raise fail(3, f"expected a suit (c, d, h, s) after {body[2]!r}, not {found}{hint}")
    if len(body) > 4:
        raise fail(4, f"unknown {body[4:]!r} after the hand {body[:4]!r}: expected a comma or ':'")
    suits = [SUITS.index(body[1]), SUITS.index(body[3])]
    if (ranks[0], suits[0]) == (ranks[1], suits[1]):
        raise fail(2, f"the card {body[:2]} is there twice")
    if (ranks[0], suits[0]) < (ranks[1], suits[1]):
        ranks.reverse()
        suits.reverse()
    return _Shape(ranks[0], ranks[1], (suits[0], suits[1]), plus)


def _rank(fail: Any, word: str, offset: int) -> int:
    letter = word[offset]
    if letter in RANKS:
        return RANKS.index(letter)
    hint = ""
    if letter.upper() in RANKS:
        hint = f"; write {letter.upper()!r}"
    elif word[offset : offset + 2] == "10":
        hint = '; write "T" for 10'
    raise fail(offset, f"unknown rank {letter!r}: ranks are {RANKS}{hint}")


def _up(shape: _Shape) -> list[tuple[int, int]]:
    """Returns the (high, low) ranks of "66+", "A8s+" or "T9s+"."""
    gap = shape.high - shape.low
    if gap <= 1:
        return [(r, r - gap) for r in range(shape.high, len(RANKS))]
    return [(shape.high, r) for r in range(shape.low, shape.high)]


def _span(text: str, match: re.Match[str], begin: _Shape, end: _Shape) -> list[tuple[int, int]]:
    """Returns the (high, low) ranks from the higher end down to the lower one."""
    first, second, _ = match.groups()
    if (begin.high, begin.low) < (end.high, end.low):
        begin, end = end, begin
    gap = begin.high - begin.low
    if begin.suits != end.suits or (gap == 0) != (end.high == end.low):
        wrong = f"{first} and {second} are of different kind"
        better = 'both ends are pairs, suited, offsuit or unmarked, as in "QQ-22" or "A5s-A4s"'
    elif gap == end.high - end.low:
        return [(r, r - gap) for r in range(begin.high, end.high - 1, -1)]
    elif begin.high == end.high:
        return [(begin.high, r) for r in range(begin.low, end.low - 1, -1)]
    else:
        wrong = f"nothing leads from {first} to {second}"
        better = (
            'the ends share their first card, as in "A5s-A2s", or the distance between the cards, '
            'as in "JTs-54s"'
        )
    raise ValueError(range_error(text, match.start(), f"{wrong}: {better}"))


@functools.cache
def class_hands(high: int, low: int, suits: str | tuple[int, int]) -> np.ndarray:
    """Returns the indices of the hands of a class, int64 [k]; not to be written to.

    Args:
        high, low: ranks 0..12, the higher first.
        suits: "" any, "s" suited, "o" offsuit, or the suits 0..3 of two cards.
    """
    if not isinstance(suits, str):
        return np.array([hand_index(4 * high + suits[0], 4 * low + suits[1])])
    low_card, high_card = HANDS[:, 0], HANDS[:, 1]
    there = (low_card // 4 == low) & (high_card // 4 == high)
    if suits:
        there &= (low_card % 4 == high_card % 4) == (suits == "s")
    return np.flatnonzero(there)
