"""Matches over ranges between any agents that tell their policies.

As `holdem.range_match`, for agents instead of tables of one menu: on a sampled board both agents
play all their hands at once, by all moves that they may make. It is exact over hands and moves,
given the keys of the agents; what an agent draws by its key is drawn once for each board and seat.

For agents that think long, one end of each street may be drawn in place of all, see
`_street_ends`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._betting import no_limit
from jaxsolve.holdem._boards import compatible_reach, hands_fit, showdown_signs
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._range_match import RangeMatch
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem.limited import Beyond
from jaxsolve.holdem.play._agent import RangeAgent
from jaxsolve.holdem.play._public_hand import PublicHand, new_hand
from jaxsolve.holdem.play._street_ends import Runouts, StreetEnd, dealt, draw_end, may_bet
from jaxsolve.types import CHANCE

_CHUNK = 256
"""Ends that are settled at a time."""

_RUNOUTS = 0x2D0
"""Keeps the draws of runouts apart from those of ends."""


def agents_range_match(
    first: RangeAgent,
    second: RangeAgent,
    stack: int,
    *,
    boards: int = 10,
    skip: int = 0,
    seed: int = 0,
    seconds: float | None = None,
    drawn: bool = False,
    quick: Beyond | None = None,
    runouts: int = 0,
    progress: bool = False,
) -> RangeMatch:
    """Returns what the first agent wins from the second, heads-up, in both seats of each board.

    Every public state that the two reach with some hand asks an agent once, so this is for agents
    that answer quickly, unless ends of streets are drawn.

    Args:
        first: an agent.
        second: the other.
        stack: chips before the hand; blinds are 50 and 100.
        boards: how many are sampled; equal seeds, the boards of `range_match`.
        skip: leave out so many of the first ones.
        seed: of the boards and of the agents' keys.
        seconds: that a decision may take.
        drawn: go on from one end of each street, drawn by chance, in place of all.
        quick: a blueprint; what it would win from itself is the guess of what an end is worth.
            Without one the guess is 0.
        runouts: boards that are drawn for the flop of each board, so that what later cards decide
            counts as its mean over them, see `_street_ends`; 0 counts the one board. The mean of
            the match stays, and it varies less. Only where ends are drawn.
        progress: show a bar.

    Raises:
        ValueError: no boards, runouts without drawn ends, or an agent cannot play with this stack.
    """
    if runouts < 0 or (runouts and not drawn):
        raise ValueError(f"runouts is 0 or more, and 0 without drawn ends, not {runouts}")
    if boards < 1:
        raise ValueError(f"boards is 1 or more, not {boards}")
    if not 0 <= skip < boards:
        raise ValueError(f"skip is 0 or more, and fewer than the {boards} boards, not {skip}")
    rng, chips = np.random.default_rng(seed), []
    cards = np.stack([np.sort(rng.choice(NUM_CARDS, 5, replace=False)) for _ in range(boards)])
    cards = cards[skip:]
    for number, board in enumerate(tqdm(cards, disable=not progress, unit="board"), skip):
        won, later = 0.0, None
        if runouts:
            later = Runouts(board, runouts, np.random.default_rng([seed, number, _RUNOUTS]))
        for turn, pair in enumerate(((first, second), (second, first))):
            keys = np.random.SeedSequence([seed, number]).generate_state(2, np.uint64)
            draws = np.random.default_rng([seed, number, turn]) if drawn else None
            walk = _Walk(pair, board, seconds, draws, quick, later)
            won += (1 - 2 * turn) * walk.value(stack, [int(key) for key in keys])
        chips.append(won / 2)
    return RangeMatch(cards.astype(np.uint8), np.array(chips))


class _Walk:
    """Two agents on one board."""

    def __init__(
        self,
        agents: Sequence[RangeAgent],
        board: np.ndarray,
        seconds: float | None,
        draws: np.random.Generator | None = None,
        quick: Beyond | None = None,
        runouts: Runouts | None = None,
    ) -> None:
        self.agents, self.board, self.seconds, self.draws = agents, board, seconds, draws
        self.quick, self.runouts = quick, runouts
        self.ends: list[StreetEnd] = []
        every = np.arange(NUM_HANDS)
        self.signs = showdown_signs(strengths(every, [board.tolist()])[0]) * hands_fit()
        self.live = possible(board.tolist()).astype(np.float32)
        self.shown_live = [possible(board[:k].tolist()).astype(np.float32) for k in BOARD_CARDS]
        self.total = 0.0
        self.shown: list[tuple[float, np.ndarray, np.ndarray]] = []

    def value(self, stack: int, keys: Sequence[int]) -> float:
        """Returns the chips that seat 0 wins, a hand."""
        hand = new_hand(no_limit(), stack)
        states = [
            agent.begin(hand, seat, number=0, key=keys[seat])
            for seat, agent in enumerate(self.agents)
        ]
        first = self.live if self.runouts is None else self.shown_live[0]
        self.play(hand, states, [first, first])
        return self.total / float(self.live @ compatible_reach(self.live))

    def play(self, hand: PublicHand, states: list[Any], reach: list[np.ndarray]) -> None:
        """Adds to the total what seat 0 wins from some hand on, summed over pairs of hands."""
        self._walk(hand, states, reach)
        while self.ends:
            ends, self.ends = self.ends, []
            assert self.draws is not None
            known, end = draw_end(
                ends,
                self.board,
                0,
                self.draws,
                self.quick,
                self.runouts,
            )
            self.total += known
            if end is not None:
                self._walk(end.hand, end.state, self._there(end.hand, end.reach))
        self._settle()

    def _walk(self, hand: PublicHand, states: list[Any], reach: list[np.ndarray]) -> None:
        if hand.over:
            self._end(hand, reach)
            return
        if (seat := hand.actor) == CHANCE:
            if not may_bet(hand) and self.runouts is not None and hand.street:
                signs = self.runouts.signs(hand.street)
                self.total += float(hand.state.spent.min() * (reach[0] @ (signs @ reach[1])))
            elif self.draws is None or not may_bet(hand):
                shown = dealt(hand, self.board)
                self._walk(shown, states, self._there(shown, reach))
            else:
                self.ends.append(StreetEnd(hand, states, reach))
            return
        told, state = self.agents[seat].policy(states[seat], hand, self.seconds)
        after = [state if i == seat else other for i, other in enumerate(states)]
        for a, to in enumerate(told.totals):
            own = reach[seat] * told.policy[:, a].astype(np.float32)
            if own.any():
                both = [own if i == seat else other for i, other in enumerate(reach)]
                self._walk(hand.act(int(to)), after, both)

    def _there(self, hand: PublicHand, reach: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Returns the reach of hands that the board leaves."""
        return [x * self.shown_live[hand.street] for x in reach]

    def _end(self, hand: PublicHand, reach: list[np.ndarray]) -> None:
        spent, folded = hand.state.spent, hand.state.folded
        if folded.any():
            won = -spent[0] if folded[0] else spent[1]
            part = 1.0 if self.runouts is None else self.runouts.folded(hand.street)
            self.total += float(won * part * (reach[0] @ compatible_reach(reach[1])))
            return
        self.shown.append((float(spent.min()), reach[0], reach[1]))
        if len(self.shown) == _CHUNK:
            self._settle()

    def _settle(self) -> None:
        """Adds what the showdowns pay."""
        if self.shown:
            pot, own, other = (np.array(x, np.float32) for x in zip(*self.shown, strict=True))
            self.total += float((pot * (own * (other @ self.signs.T)).sum(1)).sum(dtype=float))
            self.shown.clear()
