"""The lines in which agents and the dealer of the ACPC talk.

The dealer sends `MATCHSTATE:<position>:<hand>:<betting>:<cards>`; whoever is to act answers with
the same line, a colon and `f`, `c` or `r<total>` (`r` alone in fixed-limit). An agent opens with
VERSION. Lines end in "\\r\\n" on the wire; lines that begin with "#" or ";" are comments. Streets
are divided by "/", hands by "|"; hands that the reader does not see are empty:

    MATCHSTATE:0:30:cc/r300c/r900:AdAc|/3h9dQc/2s

Source: Annual Computer Poker Competition, "Communication protocol", version 2.0.0.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.game import pointing
from jaxsolve.holdem._betting import FOLD, BetState, Betting, act, call_to, next_street, options
from jaxsolve.holdem._betting import start as start_hand
from jaxsolve.holdem._cards import card_at, cards_name
from jaxsolve.types import CHANCE

VERSION = "VERSION:2.0.0"
"""What an agent sends first."""

BOARD = (3, 1, 1)
"""Cards that are dealt before the second and each later street."""

_KIND = "ACPC"
_FIELDS = ("MATCHSTATE", "position", "hand number", "betting", "cards")


class MatchState(NamedTuple):
    """One line of the dealer; `str` writes it.

    Attributes:
        position: seat of whoever the line is for.
        hand: number of the hand.
        betting: for each street, its actions: "f", "c", "r300", or "r" in fixed-limit.
        hands: for each seat its two cards; () where they are not shown.
        board: for each street after the first, the cards dealt before it.
    """

    position: int
    hand: int
    betting: tuple[tuple[str, ...], ...]
    hands: tuple[tuple[int, ...], ...]
    board: tuple[tuple[int, ...], ...] = ()

    def __str__(self) -> str:
        betting = "/".join("".join(street) for street in self.betting)
        cards = "|".join(cards_name(hand) for hand in self.hands)
        cards += "".join("/" + cards_name(street) for street in self.board)
        return f"MATCHSTATE:{self.position}:{self.hand}:{betting}:{cards}"


def is_comment(line: str) -> bool:
    """Returns whether a line says nothing: it is empty or begins with "#" or ";"."""
    return not line.strip() or line[0] in "#;"


def parse_matchstate(line: str) -> MatchState:
    """Returns what a line of the dealer says; a line break at its end does not matter.

    Only the form is checked; `replay` checks the betting against the rules of a game.

    Raises:
        ValueError: points at the character where the line stops making sense.
    """
    line = line.rstrip("\r\n")
    starts, texts = _fields(line)
    if len(texts) > len(_FIELDS):
        raise ValueError(pointing(_KIND, line, starts[5] - 1, "expected the end of the line"))
    return _read(line, starts, texts)


def parse_answer(line: str) -> tuple[MatchState, str]:
    """Returns the state and the action ("f", "c", "r300" or "r") of an agent's answer.

    Raises:
        ValueError: points at the character where the line stops making sense.
    """
    line = line.rstrip("\r\n")
    starts, texts = _fields(line)
    if len(texts) < len(_FIELDS) + 1:
        raise ValueError(pointing(_KIND, line, len(line), "expected ':' and an action"))
    if not re.fullmatch(r"f|c|r\d{0,9}", texts[5]) or len(texts) > len(_FIELDS) + 1:
        raise ValueError(pointing(_KIND, line, starts[5], "expected one action: f, c or r<total>"))
    return _read(line, starts, texts), texts[5]


def answer(state: MatchState | str, action: str) -> str:
    """Returns the line that answers with an action, without a line break."""
    return f"{str(state).rstrip()}:{action}"


def action_text(rules: Betting, state: BetState, to: int) -> str:
    """Returns the name of a move of `act`: "f", "c", "r300", or "r" in fixed-limit."""
    if to < 0:
        return "f"
    if to <= int(state.bet):
        return "c"
    return f"r{to}" if rules.limit is None else "r"


def action_total(rules: Betting, state: BetState, action: str) -> int:
    """Returns the move of `act` that a name means: the inverse of `action_text`.

    Raises:
        ValueError: the rules do not allow it; says what they do.
    """
    can = jax.tree.map(int, _jitted(options)(rules, state))
    if action == "f" and can.fold:
        return FOLD
    if action == "c" and can.call:
        return int(call_to(state))
    if action[:1] == "r" and can.low <= can.high:
        if rules.limit is not None and action == "r":
            return int(can.low)
        if rules.limit is None and action[1:] and can.low <= int(action[1:]) <= can.high:
            return int(action[1:])
    allowed = ["f"] * can.fold + ["c"] * can.call
    if can.low <= can.high:
        allowed.append(f"r{can.low} to r{can.high}" if rules.limit is None else "r")
    if not allowed:
        raise ValueError(f"nobody may act here, so {action!r} makes no sense")
    raise ValueError(f"{action!r} is not allowed here: the player may {', '.join(allowed)}")


def replay(rules: Betting, stacks: Sequence[int] | int, match: MatchState) -> BetState:
    """Returns the betting that a line tells of.

    After the last action of a street, cards are dealt where the line has the "/" that says so.

    Args:
        rules: of the betting.
        stacks: chips before the hand, of each seat or of all.
        match: of `parse_matchstate`.

    Raises:
        ValueError: points at the first action or "/" that the rules do not allow.
    """
    line = str(match)
    if len(match.hands) != rules.num_players:
        at = line.rindex(":") + 1
        raise ValueError(
            pointing(_KIND, line, at, f"expected {rules.num_players} hands divided by '|'")
        )
    at = line.index(":", line.index(":", len("MATCHSTATE:")) + 1) + 1
    state: BetState = _jitted(start_hand)(rules, jnp.asarray(stacks, jnp.int32))
    for street, actions in enumerate(match.betting):
        if street:
            if int(state.actor) != CHANCE:
                raise ValueError(pointing(_KIND, line, at, "'/', but this street is not over"))
            state = _jitted(next_street)(rules, state)
            at += 1
        for action in actions:
            try:
                to = action_total(rules, state, action)
            except ValueError as error:
                raise ValueError(pointing(_KIND, line, at, str(error))) from None
            state = _jitted(act)(rules, state, to)
            at += len(action)
    return state


@functools.cache
def _jitted(function: Any) -> Any:
    return jax.jit(function, static_argnums=0)


def _fields(line: str) -> tuple[list[int], list[str]]:
    """Returns where the fields begin, and the fields, at least five."""
    texts = line.split(":")
    starts = [sum(len(text) + 1 for text in texts[:i]) for i in range(len(texts))]
    if texts[0] != _FIELDS[0]:
        raise ValueError(pointing(_KIND, line, 0, "expected MATCHSTATE"))
    if len(texts) < len(_FIELDS):
        missing = _FIELDS[len(texts)]
        raise ValueError(pointing(_KIND, line, len(line), f"expected ':' and the {missing}"))
    return starts, texts


def _read(line: str, starts: list[int], texts: list[str]) -> MatchState:
    """Reads the five fields of a line."""
    for i in (1, 2):
        if not re.fullmatch(r"[0-9]{1,18}", texts[i]):
            raise ValueError(pointing(_KIND, line, starts[i], f"expected a {_FIELDS[i]}"))
    position = int(texts[1])
    betting = _betting(line, starts[3], texts[3])
    hands, board = _cards(line, starts[4], texts[4])
    if position >= len(hands):
        message = f"expected a position 0..{len(hands) - 1}, for as many hands"
        raise ValueError(pointing(_KIND, line, starts[1], message))
    if len(board) != len(betting) - 1:
        message = f"expected the cards of {len(betting) - 1} streets, as in the betting"
        raise ValueError(pointing(_KIND, line, starts[4] + len(texts[4]), message))
    return MatchState(position, int(texts[2]), betting, hands, board)


def _betting(line: str, start: int, text: str) -> tuple[tuple[str, ...], ...]:
    streets: list[list[str]] = [[]]
    at = start
    while at < start + len(text):
        found = re.compile(r"f|c|r[0-9]{0,9}|/").match(line, at)
        if found is None:
            raise ValueError(pointing(_KIND, line, at, "expected f, c, r<total> or '/'"))
        if found.group() == "/":
            if len(streets) == len(BOARD) + 1:
                raise ValueError(pointing(_KIND, line, at, "there is no street after the river"))
            streets.append([])
        else:
            streets[-1].append(found.group())
        at = found.end()
    return tuple(tuple(street) for street in streets)


def _cards(
    line: str, start: int, text: str
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    private, *public = text.split("/")
    before: set[int] = set()
    at = start
    hands = []
    for part in private.split("|"):
        hands.append(_group(line, at, part, before, 2, "two cards or none") if part else ())
        at += len(part) + 1
    board = []
    for part, count in zip(public, BOARD, strict=False):
        board.append(_group(line, at, part, before, count, f"{count} cards of the board"))
        at += len(part) + 1
    return tuple(hands), tuple(board) + ((),) * (len(public) - len(board))


def _group(
    line: str, start: int, text: str, before: set[int], count: int, what: str
) -> tuple[int, ...]:
    """Reads `count` cards that are not yet in `before`, and adds them."""
    cards: list[int] = []
    for at in range(start, start + len(text), 2):
        if len(cards) == count:
            raise ValueError(pointing(_KIND, line, at, f"expected {what} and no more"))
        cards.append(card_at(line, at, before, kind=_KIND))
        before.add(cards[-1])
    if len(cards) < count:
        raise ValueError(pointing(_KIND, line, start + len(text), f"expected {what} here"))
    return tuple(cards)
