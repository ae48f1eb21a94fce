"""Local best response to any agent that tells its range, in hands with bets of any size.

As `holdem.local_best_response`, for agents instead of strategies of one menu; the luck of the board
is taken out in the same way. The responder folds, calls, bets the pot or moves in (Lisy & Bowling
2017); the agent answers with whatever it bets. What an agent draws by its key is drawn once for
each board and seat, and the responder is told the policy after that draw: for an agent that draws
more than its moves by its key, the bound is one of an agent that shows these draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._betting import FOLD, no_limit
from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._local_best_response import first_signs, street_signs
from jaxsolve.holdem._range_match import RangeMatch
from jaxsolve.holdem.limited import Beyond
from jaxsolve.holdem.play._agent import RangeAgent, RangePolicy, moves_allowed
from jaxsolve.holdem.play._public_hand import PublicHand, new_hand
from jaxsolve.holdem.play._street_ends import StreetEnd, dealt, draw_end, may_bet
from jaxsolve.types import CHANCE


def agent_local_best_response(
    agent: RangeAgent,
    stack: int,
    *,
    boards: int = 20,
    skip: int = 0,
    raises: bool = True,
    runouts: int = 64,
    seed: int = 0,
    seconds: float | None = None,
    drawn: bool = False,
    quick: Beyond | None = None,
    progress: bool = False,
) -> RangeMatch:
    """Returns what a local best response wins from an agent, the mean of both seats.

    Args:
        agent: it is asked once at each public state that it reaches with some hand.
        stack: chips before the hand; blinds are 50 and 100.
        boards: how many are sampled.
        skip: leave out so many of the first ones.
        raises: whether the responder also bets the pot and all-in; else it calls or folds.
        runouts: by which it judges hands on the flop; before it, four times as many.
        seed: of boards, runouts and the agent's keys.
        seconds: that a decision of the agent may take.
        drawn: go on from one end of each street, drawn by chance, in place of all; for agents that
            think long.
        quick: a blueprint; what it would win from itself is the guess of what an end is worth.
            Without one the guess is 0.
        progress: show a bar.

    Raises:
        ValueError: no boards or runouts, or the agent cannot play with this stack.
    """
    if boards < 1 or runouts < 1:
        raise ValueError(f"boards and runouts are 1 or more, not {boards} and {runouts}")
    if not 0 <= skip < boards:
        raise ValueError(f"skip is 0 or more, and fewer than the {boards} boards, not {skip}")
    before, *keys = np.random.SeedSequence(seed).spawn(boards + 1)
    first = first_signs(runouts, np.random.default_rng(before))
    boards_drawn, won = [], []
    for key in tqdm(keys[skip:], disable=not progress, unit="board"):
        rng = np.random.default_rng(key)
        board = rng.permutation(NUM_CARDS)[:5]
        signs = street_signs(first, board, runouts, rng)
        each = [
            _Walk(
                agent,
                board,
                seat,
                *signs,
                raises,
                seconds,
                np.random.default_rng([int(word), seat]) if drawn else None,
                quick,
            ).value(stack, int(word))
            for seat, word in enumerate(key.generate_state(2, np.uint64))
        ]
        boards_drawn.append(board)
        won.append(float(np.mean(each)))
    return RangeMatch(np.stack(boards_drawn).astype(np.uint8), np.array(won))


class _Walk:
    """One seat of the responder on one board."""

    def __init__(
        self,
        agent: RangeAgent,
        board: np.ndarray,
        seat: int,
        signs: Sequence[np.ndarray],
        means: Sequence[np.ndarray],
        raises: bool,
        seconds: float | None,
        draws: np.random.Generator | None,
        quick: Beyond | None,
    ) -> None:
        self.draws, self.quick = draws, quick
        self.ends: list[StreetEnd] = []
        self.agent, self.board, self.seat = agent, board, seat
        self.signs, self.means, self.raises, self.seconds = signs, means, raises, seconds
        self.live = [possible(board[:k].tolist()) for k in BOARD_CARDS]

    def value(self, stack: int, key: int) -> float:
        """Returns the chips that the responder wins, a hand."""
        hand = new_hand(no_limit(), stack)
        state = self.agent.begin(hand, 1 - self.seat, number=0, key=key)
        every = self.live[-1].astype(np.float32)
        pairs = float(every @ compatible_reach(every))
        total = self._walk(hand, state, every, np.ones(NUM_HANDS, np.float32))
        while self.ends:
            ends, self.ends = self.ends, []
            assert self.draws is not None
            known, end = draw_end(ends, self.board, self.seat, self.draws, self.quick)
            total += known
            if end is not None:
                own, other = (end.reach[i] for i in (self.seat, 1 - self.seat))
                total += self._walk(end.hand, end.state, own, other)
                total -= self._luck(end.hand, own, other)
        return total / pairs

    def _walk(
        self,
        hand: PublicHand,
        state: Any,
        own: np.ndarray,
        other: np.ndarray,
        told: tuple[RangePolicy, Any] | None = None,
    ) -> float:
        """Returns the sum over pairs of hands; `own` is 1 for those that the responder plays.

        `told` is what the agent says here, where it was asked already.
        """
        if not own.any() or not other.any():
            return 0.0
        if hand.over:
            return self._end(hand, own, other)
        if hand.actor == CHANCE:
            if not may_bet(hand):
                return self._end(hand, own, other)
            if self.draws is None:
                after = dealt(hand, self.board)
                return self._walk(after, state, own, other) - self._luck(after, own, other)
            shown = np.where(self.live[-1], other, np.float32(0))
            reach = (own, shown) if self.seat == 0 else (shown, own)
            self.ends.append(StreetEnd(hand, state, reach))
            return 0.0
        if hand.actor == self.seat:
            moves, worth, answers = self._worth(hand, state, other)
            best = worth.argmax(0)
            return sum(
                self._walk(
                    after, state, np.where(best == a, own, np.float32(0)), other, answers.get(a)
                )
                for a, after in enumerate(moves)
            )
        policy, state = told or self.agent.policy(state, hand, self.seconds)
        return sum(
            self._walk(hand.act(int(to)), state, own, other * policy.policy[:, a].astype("f4"))
            for a, to in enumerate(policy.totals)
        )

    def _worth(
        self, hand: PublicHand, state: Any, other: np.ndarray
    ) -> tuple[list[PublicHand], np.ndarray, dict[int, tuple[RangePolicy, Any]]]:
        """Returns (hands after each move, worth, answers).

        The worth is float [moves, 1326], of each move if both then check and call; the answers are
        what the agent says to raises, by move.
        """
        spent, can, seat = hand.state.spent, hand.can, self.seat
        pot = int(spent.sum() + spent.max() - spent[seat])
        totals = moves_allowed(hand, *((int(spent.max()) + pot, can.high) if self.raises else ()))
        signs = self.signs[hand.street]
        seen = np.where(self.live[hand.street], other, np.float32(0))
        moves = [hand.act(int(to)) for to in totals]
        answers: dict[int, tuple[RangePolicy, Any]] = {}
        out = np.full((len(totals), NUM_HANDS), -np.inf, np.float32)
        for a, (to, after) in enumerate(zip(totals, moves, strict=True)):
            if to == FOLD:
                out[a] = -spent[seat] * compatible_reach(seen)
            elif to == can.call:
                out[a] = min(int(to), int(spent[1 - seat])) * (signs @ seen)
            else:
                answers[a] = told, _ = self.agent.policy(state, after, self.seconds)
                gone = seen * told.policy[:, told.totals == FOLD].sum(1).astype(np.float32)
                at_stake = min(int(to), hand.stacks[1 - seat])
                out[a] = spent[1 - seat] * compatible_reach(gone) + at_stake * (
                    signs @ (seen - gone)
                )
        return moves, out, answers

    def _end(self, hand: PublicHand, own: np.ndarray, other: np.ndarray) -> float:
        shown = np.where(self.live[-1], other, np.float32(0))
        spent, folded = hand.state.spent, hand.state.folded
        if folded.any():
            won = -spent[self.seat] if folded[self.seat] else spent[1 - self.seat]
            return float(won * (own @ compatible_reach(shown)))
        return float(spent.min() * (own @ (self.means[hand.street] @ shown)))

    def _luck(self, hand: PublicHand, own: np.ndarray, other: np.ndarray) -> float:
        """Returns what a street's cards add if both then check; 0 on average."""
        shown = np.where(self.live[-1], other, np.float32(0))
        gained = self.means[hand.street] @ shown - self.means[hand.street - 1] @ shown
        return float(hand.state.spent.min() * (own @ gained))
