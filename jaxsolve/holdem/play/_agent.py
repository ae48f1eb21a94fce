"""What plays hands: the contract of an agent, and of one that tells its range.

An agent sees what its seat sees: its own two cards and a `PublicHand`, whose `path` is the whole
public history with bets of any size. It keeps a state from `begin` to `end` of a hand and returns
the next state at every decision, so beliefs and searches can be carried on. `begin` and `policy`
are functions of their arguments: equal keys and equal histories give equal answers, and a caller
may go on from one state along several histories.

A `RangeAgent` also says what it would do with each of the 1,326 hands, without knowing its cards.
Matches over ranges and local best responses ask for that, and AIVAT corrects its moves by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._cards import NUM_HANDS, hand_index
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem.play._public_hand import PublicHand


class RangePolicy(NamedTuple):
    """What a player does at a decision with every hand (A moves).

    Attributes:
        totals: int64 [A], FOLD or totals over the hand, ascending, each legal.
        policy: float64 [1326, A], probabilities; zeros for hands that meet the board.
        reach: float64 [1326], how likely the player's own moves so far are with each hand.
    """

    totals: np.ndarray
    policy: np.ndarray
    reach: np.ndarray


class Move(NamedTuple):
    """A move of an agent.

    Attributes:
        to: FOLD, the total of a call, or that of a raise, over the whole hand.
        totals: int64 [A], the moves that it was drawn from; None if the agent does not say.
        probabilities: float64 [A], of these, with the cards that the agent held.
    """

    to: int
    totals: np.ndarray | None = None
    probabilities: np.ndarray | None = None


@runtime_checkable
class HandAgent(Protocol):
    """Plays one seat, hand by hand.

    Attributes:
        name: for tables of results.
    """

    name: str

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Any:
        """Returns the state before the first decision.

        Args:
            hand: after the blinds.
            seat: whose moves the agent makes.
            number: of the hand in its match.
            key: of everything that the agent draws in this hand, 0 or more.

        Raises:
            ValueError: the agent cannot play with these rules or stacks.
        """
        ...

    def act(
        self, state: Any, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Any]:
        """Returns a move and the next state.

        Args:
            state: of `begin`, or of the decision before in this hand.
            hand: where the agent's seat is to act.
            cards: the two that the seat holds.
            seconds: that the decision may take; None leaves it to the agent.
        """
        ...

    def end(self, state: Any, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """Tells that the hand is over.

        Args:
            state: the last one.
            hand: over.
            hands: two cards of each seat that the agent's seat sees, else ().
        """
        ...


@runtime_checkable
class RangeAgent(HandAgent, Protocol):
    """Also tells its range and policy."""

    def policy(
        self, state: Any, hand: PublicHand, seconds: float | None = None
    ) -> tuple[RangePolicy, Any]:
        """Returns what the agent does with every hand, and the next state.

        Args:
            state: as for `act`.
            hand: where the agent's seat is to act.
            seconds: that the decision may take; None leaves it to the agent.
        """
        ...


def drawn(told: RangePolicy, hand: PublicHand, cards: Sequence[int], key: int) -> Move:
    """Returns a move drawn from a policy of all hands: the `act` of an agent that has a `policy`.

    Args:
        told: at this decision.
        hand: where the agent is to act.
        cards: the two that it holds.
        key: of the hand.

    Raises:
        ValueError: the policy of these cards is not a distribution.
    """
    row = np.asarray(told.policy[int(hand_index(*map(int, cards)))], float)
    if not (row >= 0).all() or abs(row.sum() - 1) > 1e-6:
        raise ValueError(f"the policy of the cards {cards} sums to {row.sum()} at {hand!r}")
    at = np.random.default_rng([key, hand.num_moves]).random()
    # The last move that is possible takes what rounding leaves.
    chosen = min(int((row.cumsum() <= at).sum()), int(np.flatnonzero(row)[-1]))
    return Move(int(told.totals[chosen]), told.totals, row)


def range_of(agent: RangeAgent, hand: PublicHand, seat: int, *, key: int = 0) -> np.ndarray:
    """Returns float64 [1326], how likely an agent makes its moves of a hand with each of its cards.

    For beliefs about a player who plays like the agent, at any moment of the hand.

    Args:
        agent: that tells its range.
        hand: so far, whoever is to act.
        seat: of the agent.
        key: of the agent's draws.
    """
    first, *rest = hand.path()
    state, reach = agent.begin(first, seat, number=0, key=key), np.ones(NUM_HANDS)
    for after in rest:
        before = after.before
        if before is not None and after.move is not None and before.actor == seat:
            told, state = agent.policy(state, before)
            reach = reach * told.policy[:, told.totals == after.move].sum(1)
    return np.where(possible(hand.board), reach, 0.0)


def moves_allowed(hand: PublicHand, *raises: int) -> np.ndarray:
    """Returns int64 [A], totals in ascending order: a fold if allowed, the call, and raises.

    Args:
        hand: where somebody is to act.
        raises: totals; those that are not legal are left out.
    """
    can = hand.can
    legal = {to for to in raises if can.low <= to <= can.high}
    return np.array(sorted({can.call, *legal, *([FOLD] if can.fold else [])}), np.int64)
