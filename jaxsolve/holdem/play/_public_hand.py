"""A hand as everybody sees it: blinds, bets of any size, and the cards of the board."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._acpc import BOARD, MatchState, action_text
from jaxsolve.holdem._betting import (
    FOLD,
    BetState,
    Betting,
    act,
    call_to,
    next_street,
    options,
    start,
)
from jaxsolve.holdem._cards import cards_name
from jaxsolve.holdem._strength import strength
from jaxsolve.mccfr import PotPayoffs
from jaxsolve.types import CHANCE, TERMINAL

_MOST_KNOWN = 1 << 14
"""Sequences of betting whose state is kept, some 2 KB each: most hands begin alike."""

_KNOWN: dict[Any, Any] = {}


class Choices(NamedTuple):
    """What the player to act may do.

    Attributes:
        fold: whether folding is allowed.
        call: the total of a check or call.
        low, high: least and largest total of a raise; no raise if low > high.
    """

    fold: bool
    call: int
    low: int
    high: int

    def allow(self, to: int) -> bool:
        """Returns whether a move is legal: FOLD, the total of a call, or one of a raise."""
        return (to == FOLD and self.fold) or to == self.call or self.low <= to <= self.high

    def __str__(self) -> str:
        words = ["fold"] * self.fold + [f"check or call to {self.call}"]
        if self.low <= self.high:
            words.append(f"raise to {self.low} to {self.high}")
        return ", ".join(words)


@dataclasses.dataclass(frozen=True, repr=False)
class PublicHand:
    """A hand after some moves; `act` and `deal` return the next one (n seats).

    Attributes:
        rules: of the betting.
        betting: for each street, its moves in the words of the ACPC: "f", "c", "r300".
        board: cards so far.
        state: of the betting, NumPy arrays.
        can: what the player to act may do; of nobody's turn, nothing that matters.
        before: the hand before the last move or card; None at the beginning.
        move: the last move, FOLD or a total over the hand; None after cards.
    """

    rules: Betting
    betting: tuple[tuple[str, ...], ...]
    board: tuple[int, ...]
    state: BetState = dataclasses.field(compare=False)
    can: Choices = dataclasses.field(compare=False)
    before: PublicHand | None = dataclasses.field(default=None, compare=False)
    move: int | None = dataclasses.field(default=None, compare=False)

    @property
    def num_players(self) -> int:
        """n."""
        return self.rules.num_players

    @property
    def actor(self) -> int:
        """The seat to act; CHANCE where cards have to be dealt, TERMINAL when the hand is over."""
        return int(self.state.actor)

    @property
    def street(self) -> int:
        """0 before the flop."""
        return len(self.betting) - 1

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        return self.actor == TERMINAL

    @property
    def showdown(self) -> bool:
        """Whether the hand is over and more than one seat has not folded."""
        return self.over and int((~self.state.folded).sum()) > 1

    @property
    def stacks(self) -> tuple[int, ...]:
        """Chips before the hand."""
        return tuple(self.state.stack.tolist())

    @property
    def num_moves(self) -> int:
        """Moves of players so far."""
        return sum(map(len, self.betting))

    def act(self, to: int) -> PublicHand:
        """Returns the hand after a move of the player to act.

        Args:
            to: FOLD, the total of a call, or that of a raise, over the whole hand.

        Raises:
            ValueError: the rules do not allow it; says what they do.
        """
        if self.actor < 0:
            raise ValueError("nobody may act here")
        if not self.can.allow(to):
            what = "a fold" if to == FOLD else f"a total of {to}"
            raise ValueError(f"{what} is not allowed here; what is: {self.can}")
        word = action_text(self.rules, self.state, to)
        betting = (*self.betting[:-1], (*self.betting[-1], word))
        state, can = self._known(betting, lambda: _act(self.rules, self.state, np.int32(to)))
        return PublicHand(self.rules, betting, self.board, state, can, self, to)

    def deal(self, cards: Sequence[int]) -> PublicHand:
        """Returns the hand after the cards of the next street.

        Raises:
            ValueError: no cards are due, or these are too many, too few or on the board already.
        """
        if self.actor != CHANCE:
            raise ValueError("no cards are due here: this street is not over")
        board, want = (*self.board, *map(int, cards)), BOARD[self.street]
        if len(cards) != want or len(set(board)) < len(board):
            raise ValueError(
                f"{want} new cards are due after {cards_name(self.board) or 'no board'}, "
                f"not {cards_name(cards)}"
            )
        betting = (*self.betting, ())
        state, can = self._known(betting, lambda: _next(self.rules, self.state))
        return PublicHand(self.rules, betting, board, state, can, self)

    def path(self, after: PublicHand | None = None) -> Iterator[PublicHand]:
        """Yields the hands that led here, this one last, oldest first.

        Args:
            after: an earlier hand of the path; begin with the one after it.

        Raises:
            ValueError: that hand does not lead here.
        """
        back: list[PublicHand] = []
        here: PublicHand | None = self
        while here is not None and here != after:
            back.append(here)
            here = here.before
        if here is None and after is not None:
            raise ValueError(f"{after!r} does not lead to {self!r}")
        return reversed(back)

    def _known(
        self, betting: tuple[tuple[str, ...], ...], step: Callable[[], Any]
    ) -> tuple[BetState, Choices]:
        """Returns state and choices after some betting; `step` is run where it is new."""
        key = (self.rules, self.stacks, betting)
        found = _KNOWN.get(key)
        if found is None:
            found = _unpacked(step())
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[key] = found
        return found

    def __repr__(self) -> str:
        words = "/".join("".join(street) for street in self.betting)
        return f"PublicHand({words or 'no moves'}, {cards_name(self.board) or 'no board'})"


def new_hand(rules: Betting, stacks: Sequence[int] | int) -> PublicHand:
    """Returns a hand after the blinds.

    Args:
        rules: of the betting.
        stacks: chips before the hand, of each seat or of all.
    """
    state, can = _unpacked(_start(rules, jnp.asarray(stacks, jnp.int32)))
    return PublicHand(rules, ((),), (), state, can)


def settle(hand: PublicHand, hands: Sequence[Sequence[int]]) -> np.ndarray:
    """Returns float64 [n], the chips that each seat wins in a hand that is over.

    Args:
        hand: over; its board is complete if there is a showdown.
        hands: two cards of each seat.
    """
    ranks = np.zeros(hand.num_players, np.int64)
    if hand.showdown:
        cards = np.array([[*two, *hand.board] for two in hands], np.int32)
        ranks = np.asarray(strength(cards), np.int64)
    spent, folded = np.asarray(hand.state.spent), np.asarray(hand.state.folded)
    return PotPayoffs(spent[None], folded[None])(0, ranks)


def match_state(
    hand: PublicHand, position: int, number: int, hands: Sequence[Sequence[int]]
) -> MatchState:
    """Returns what a line of the dealer says to one seat.

    Args:
        hand: so far.
        position: the seat.
        number: of the hand.
        hands: two cards of each seat that the reader sees, else ().
    """
    ends = np.cumsum([0, *BOARD])
    board = tuple(hand.board[ends[k] : ends[k + 1]] for k in range(hand.street))
    shown = tuple(tuple(map(int, two)) for two in hands)
    return MatchState(position, number, hand.betting, shown, board)


@functools.partial(jax.jit, static_argnums=0)
def _start(rules: Betting, stacks: Any) -> Any:
    return _with_options(rules, start(rules, stacks))


@functools.partial(jax.jit, static_argnums=0)
def _act(rules: Betting, state: Any, to: Any) -> Any:
    return _with_options(rules, act(rules, state, to))


@functools.partial(jax.jit, static_argnums=0)
def _next(rules: Betting, state: Any) -> Any:
    return _with_options(rules, next_street(rules, state))


def _with_options(rules: Betting, state: BetState) -> Any:
    can = options(rules, state)
    return state, (can.fold, call_to(state), can.low, can.high)


def _unpacked(found: Any) -> tuple[BetState, Choices]:
    state, (fold, call, low, high) = jax.device_get(found)
    state = jax.tree.map(np.array, state)  # copies: views would keep JAX's buffers, 16 KB in all
    return state, Choices(bool(fold), int(call), int(low), int(high))
