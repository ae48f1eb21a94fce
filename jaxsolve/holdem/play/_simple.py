"""Agents that do not look at their cards: always-call and random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem.play._agent import Move, RangePolicy, drawn, moves_allowed
from jaxsolve.holdem.play._public_hand import PublicHand


class Seated(NamedTuple):
    """What an agent that remembers nothing keeps: its seat, and the key of the hand."""

    seat: int
    key: int


class _Blind:
    """Plays by the public history alone."""

    name: str

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Seated:
        """See `HandAgent`."""
        return Seated(seat, key)

    def act(
        self, state: Seated, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Seated]:
        """See `HandAgent`."""
        return drawn(self.policy(state, hand)[0], hand, cards, state.key), state

    def end(self, state: Seated, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`."""

    def policy(
        self, state: Seated, hand: PublicHand, seconds: float | None = None
    ) -> tuple[RangePolicy, Seated]:
        """See `RangeAgent`."""
        reach = 1.0
        for after in hand.path():
            before = after.before
            if before is not None and after.move is not None and before.actor == state.seat:
                totals, row = self.moves(before, state.key)
                reach *= float(row[totals == after.move].sum())
        totals, row = self.moves(hand, state.key)
        live = possible(hand.board).astype(float)
        return RangePolicy(totals, live[:, None] * row, np.full(NUM_HANDS, reach)), state

    def moves(self, hand: PublicHand, key: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns (int64 [A] totals, float64 [A] probabilities)."""
        raise NotImplementedError


class AlwaysCall(_Blind):
    """Checks and calls."""

    name = "always-call"

    def moves(self, hand: PublicHand, key: int) -> tuple[np.ndarray, np.ndarray]:
        """See `_Blind`."""
        return np.array([hand.can.call], np.int64), np.ones(1)


class RandomAgent(_Blind):
    """Folds, calls and raises equally often, where each is allowed.

    The size of the raise is drawn from the key of the hand: its logarithm is uniform between the
    least and the largest that is legal.
    """

    name = "random"

    def moves(self, hand: PublicHand, key: int) -> tuple[np.ndarray, np.ndarray]:
        """See `_Blind`."""
        can, raises = hand.can, []
        if can.low <= can.high:
            at = np.random.default_rng([key, hand.num_moves, 1]).random()
            to = can.low * (can.high / can.low) ** at
            raises.append(int(np.clip(round(to), can.low, can.high)))
        totals = moves_allowed(hand, *raises)
        return totals, np.full(len(totals), 1 / len(totals))
