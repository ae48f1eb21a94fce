"""A person at the table, who is asked and told in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._cards import RANKS, cards_name
from jaxsolve.holdem._cells import SIDE, cell_means
from jaxsolve.holdem._positions import position_names
from jaxsolve.holdem.play._agent import HandAgent, Move, RangeAgent, range_of
from jaxsolve.holdem.play._public_hand import PublicHand

SHADES = " .:-=+*#@"
"""Of a weight from 0 to the largest."""

HELP = """\
f folds, c checks or calls, r300 bets or raises to 300 chips on this street, a goes all-in;
range draws who may hold what by the opponent, where it tells; Ctrl-D ends."""


class Seen(NamedTuple):
    """What a person has been told of a hand.

    Attributes:
        seat: of the person.
        number: of the hand.
        last: the hand when they were last told; None at the beginning.
    """

    seat: int
    number: int
    last: PublicHand | None


class Person:
    """Plays what somebody types; a `HandAgent`."""

    name = "you"

    def __init__(
        self,
        ask: Callable[[str], str],
        tell: Callable[[str], None],
        *,
        opponent: HandAgent | None = None,
    ) -> None:
        """Takes a way to ask and to tell.

        Args:
            ask: returns what is typed after a prompt.
            tell: shows some lines.
            opponent: whose range `range` draws, if it tells it.
        """
        self._ask, self._tell, self._opponent = ask, tell, opponent

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Seen:
        """See `HandAgent`."""
        return Seen(seat, number, None)

    def act(
        self, state: Seen, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Seen]:
        """See `HandAgent`."""
        self._told(state, hand)
        spent, stack = np.asarray(hand.state.spent), hand.stacks[state.seat]
        owes = hand.can.call - int(spent[state.seat])
        self._tell(
            f"  board {cards_name(hand.board) or '-'}, your cards {cards_name(cards)}, pot "
            f"{int(spent.sum()):,}, {owes:,} to call, {stack - int(spent[state.seat]):,} behind"
        )
        while True:
            word = self._ask("> ").strip().lower()
            try:
                to = self._meant(word, state, hand)
            except ValueError as error:
                self._tell(f"  {error}")
                continue
            if to is not None:
                return Move(to), state._replace(last=hand.act(to))

    def end(self, state: Seen, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`."""
        self._told(state, hand)
        for seat, two in enumerate(hands):
            if hand.showdown and seat != state.seat and two:
                shown = f"{cards_name(two)} on {cards_name(hand.board)}"
                self._tell(f"  {self._name(hand, seat)} shows {shown}")

    def _meant(self, word: str, state: Seen, hand: PublicHand) -> int | None:
        """Returns the total of a move; None where something was shown instead.

        Raises:
            ValueError: it is no move here; says what is.
        """
        if word in ("?", "help", ""):
            self._tell(HELP)
            return None
        if word == "range":
            self._tell(self._ranges(state, hand))
            return None
        base = _base(hand)
        if word == "f":
            to = FOLD
        elif word in ("c", "x"):
            to = hand.can.call
        elif word == "a":
            to = hand.can.high
        elif word[:1] in ("r", "b") and word[1:].strip().isdigit():
            to = base + int(word[1:])
        else:
            raise ValueError(f"{word!r} is no move; ? is answered with help")
        if not hand.can.allow(to):
            words = ["f"] * hand.can.fold + ["c"]
            if hand.can.low <= hand.can.high:
                words += [f"r{hand.can.low - base} to r{hand.can.high - base}", "a"]
            raise ValueError(f"{word!r} is not allowed here: {', '.join(words)}")
        return to

    def _told(self, state: Seen, hand: PublicHand) -> None:
        """Tells what happened since the person was last told."""
        for after in hand.path(state.last):
            before = after.before
            if before is None:
                continue
            if after.move is None:
                self._tell(f"  dealt {cards_name(after.board[len(before.board) :])}")
            elif before.actor != state.seat:
                self._tell(f"  {self._name(hand, before.actor)} {_words(before, after)}")

    def _ranges(self, state: Seen, hand: PublicHand) -> str:
        """Returns the ranges of all who are still in as text, two side by side."""
        if not isinstance(self._opponent, RangeAgent):
            return "  this opponent does not tell its range"
        still = np.flatnonzero(~np.asarray(hand.state.folded))
        others = [int(seat) for seat in still if seat != state.seat]
        names = [f"the range of {self._name(hand, seat)}" for seat in others]
        if hand.num_players == 2:
            names = ["its range"]
        seats, titles = [*others, state.seat], [*names, "what it takes yours for"]
        found = [range_of(self._opponent, hand, seat) for seat in seats]
        pairs = [slice(k, k + 2) for k in range(0, len(seats), 2)]
        return "\n".join(range_text(found[at], titles[at], hand.board) for at in pairs)

    @staticmethod
    def _name(hand: PublicHand, seat: int) -> str:
        if hand.num_players == 2:
            return f"seat {seat}"
        return f"seat {seat} ({position_names(hand.num_players)[seat]})"


def range_text(ranges: Sequence[np.ndarray], titles: Sequence[str], board: Sequence[int]) -> str:
    """Returns ranges [1326] as tables of shades, side by side: suited above the diagonal."""
    names = RANKS[::-1]
    blocks = []
    for weights, title in zip(ranges, titles, strict=True):
        cells = np.nan_to_num(cell_means(weights, board))
        level = np.ceil(cells / max(cells.max(), 1e-300) * (len(SHADES) - 1)).astype(int)
        rows = [f"{names[r]} " + " ".join(SHADES[x] for x in level[r]) for r in range(SIDE)]
        width = 2 * SIDE + 1
        blocks.append([x.ljust(width) for x in (title, "  " + " ".join(names), *rows)])
    return "\n".join("  " + "   ".join(parts) for parts in zip(*blocks, strict=True))


def _base(hand: PublicHand) -> int:
    """Returns the chips of a player that went in before this street, alike for all still in."""
    here: PublicHand | None = hand
    while here is not None and here.move is not None:
        here = here.before
    assert here is not None
    return 0 if here.before is None else int(here.state.bet)


def _words(before: PublicHand, after: PublicHand) -> str:
    """Returns what a move was."""
    assert after.move is not None
    if after.move == FOLD:
        return "folds"
    faced, own = int(before.state.bet), int(np.asarray(before.state.spent)[before.actor])
    if after.move <= faced:
        return "calls" if faced > own else "checks"
    base = _base(before)
    word = "raises to" if faced > base else "bets"
    allin = " and is all-in" if after.move == before.stacks[before.actor] else ""
    return f"{word} {after.move - base:,}{allin}"
