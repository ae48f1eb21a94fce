"""An agent answers the lines of a dealer: the agent's side of the ACPC protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._acpc import BOARD, MatchState, action_total, answer, parse_matchstate
from jaxsolve.holdem._betting import Betting
from jaxsolve.holdem.play._agent import HandAgent
from jaxsolve.holdem.play._lines import HungUpError, Lines
from jaxsolve.holdem.play._public_hand import PublicHand, new_hand, settle


@dataclasses.dataclass
class Answered:
    """What an agent has won at somebody else's table.

    Attributes:
        hands: that were over.
        unfinished: whether the dealer hung up in the middle of another.
        chips: of each whose end was told.
    """

    hands: int = 0
    unfinished: bool = False
    chips: list[float] = dataclasses.field(default_factory=list)


class _Hand:
    """The hand that is played, and the agent's state in it."""

    def __init__(self, match: MatchState, hand: PublicHand, state: Any) -> None:
        self.match, self.hand, self.state, self.ended = match, hand, state, False


def answer_dealer(
    lines: Lines,
    agent: HandAgent,
    rules: Betting,
    stacks: Sequence[int] | int,
    *,
    key: int = 0,
    seconds: float | None = None,
    first: str | None = None,
) -> Answered:
    """Answers the lines of a dealer until it hangs up, and returns what was won.

    Args:
        lines: from the dealer. The agent's VERSION has been sent.
        agent: who plays.
        rules: of the betting.
        stacks: chips before each hand.
        key: of what the agent draws; with the number of the hand.
        seconds: that a decision may take.
        first: a line that has been read already.

    Raises:
        LineError: the connection broke, other than by the dealer hanging up.
        ValueError: a line makes no sense, or is of another game; says which.
    """
    done = Answered()
    now: _Hand | None = None
    while True:
        if first is None:
            try:
                first = lines.receive()
            except HungUpError:
                done.unfinished = now is not None and not now.ended
                return done
        match, first = parse_matchstate(first), None
        if len(match.hands) != rules.num_players:
            raise ValueError(
                f"a line for {len(match.hands)} seats, and this table has "
                f"{rules.num_players}: {match}"
            )
        if len(match.hands[match.position]) != 2:
            raise ValueError(f"a line without the cards of its own seat: {match}")
        if now is None or not _continues(now, match):
            hand = new_hand(rules, stacks)
            number = [key, match.hand, match.position]
            state = agent.begin(
                hand,
                match.position,
                number=match.hand,
                key=int(np.random.SeedSequence(number).generate_state(1)[0]),
            )
            now = _Hand(match, hand, state)
        now.hand, now.match = _follow(now.hand, match), match
        own = match.hands[match.position]
        if now.hand.over and not now.ended:
            now.ended = True
            agent.end(now.state, now.hand, match.hands)
            done.hands += 1
            if (won := _won(now.hand, match)) is not None:
                done.chips.append(won)
        elif now.hand.actor == match.position:
            move, now.state = agent.act(now.state, now.hand, own, seconds)
            lines.send(answer(match, _last(now.hand.act(move.to).betting)))


def public_hand(rules: Betting, stacks: Sequence[int] | int, match: MatchState) -> PublicHand:
    """Returns the hand that a line tells of.

    Raises:
        ValueError: the rules do not allow it.
    """
    return _follow(new_hand(rules, stacks), match)


def _continues(now: _Hand, match: MatchState) -> bool:
    """Returns whether a line is of the hand that is played, the same or later in it."""
    before = now.match
    old, new = _moves(before.betting), _moves(match.betting)
    return (
        (before.hand, before.position) == (match.hand, match.position)
        and before.hands[before.position] == match.hands[match.position]
        and not now.ended
        and new[: len(old)] == old
    )


def _moves(betting: Sequence[Sequence[str]]) -> list[tuple[int, int, str]]:
    return [(s, k, word) for s, street in enumerate(betting) for k, word in enumerate(street)]


def _follow(hand: PublicHand, match: MatchState) -> PublicHand:
    """Returns a hand after what a line tells beyond it."""
    board = [card for street in match.board for card in street]
    try:
        for street, words in enumerate(match.betting):
            if street > hand.street:
                at = len(hand.board)
                hand = hand.deal(board[at : at + BOARD[hand.street]])
            for word in words[len(hand.betting[street]) :] if street == hand.street else ():
                hand = hand.act(action_total(hand.rules, hand.state, word))
    except ValueError as error:
        raise ValueError(f"{error}: {match}") from None
    if tuple(board) != hand.board:
        raise ValueError(f"the board changed: {match}")
    return hand


def _last(betting: Sequence[Sequence[str]]) -> str:
    return next(street[-1] for street in reversed(betting) if street)


def _won(hand: PublicHand, match: MatchState) -> float | None:
    """Returns the chips of the reader; None where cards of the showdown are not told."""
    missing = [i for i, two in enumerate(match.hands) if not two and not hand.state.folded[i]]
    if hand.showdown and missing:
        return None
    board = set(hand.board)
    free = iter(c for c in range(52) if c not in board and all(c not in h for h in match.hands))
    hands = [two or (next(free), next(free)) for two in match.hands]
    return float(settle(hand, hands)[match.position])
