"""Going on from one end of a street, drawn by chance, in place of all.

The end that is drawn counts by one over its chance, so that the mean stays. Chances follow the pot
and how likely both players come there. What a blueprint would win from itself at each of the ends
takes most of that luck away: only the difference to it is drawn.

The luck of the board goes the same way. With `Runouts`, whatever the cards that are still to come
decide is counted as its mean over them: folds, all-ins, and the blueprint's guesses. A guess that
is subtracted once the next street is out is a mean over the cards after that street, since what the
next street is found to be worth is such a mean, too.

Source: Burch, Schmid, Moravcik, Morrill and Bowling 2018, "AIVAT": a value function that knows both
strategies corrects chance.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._acpc import BOARD
from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem._cards import NUM_CARDS
from jaxsolve.holdem._local_best_response import sums_of_signs
from jaxsolve.holdem._menu_view import LEFT
from jaxsolve.holdem.limited import Beyond, SearchBegin, blueprint_values
from jaxsolve.holdem.play._public_hand import PublicHand
from jaxsolve.holdem.play._street_moves import menu_node


class StreetEnd(NamedTuple):
    """Where a street has ended.

    Attributes:
        hand: before the next cards.
        state: of the agents.
        reach: float [1326] of either seat.
    """

    hand: PublicHand
    state: Any
    reach: Sequence[np.ndarray]


def may_bet(hand: PublicHand) -> bool:
    """Returns whether two players still have chips."""
    return int((~hand.state.folded & (hand.state.spent < hand.state.stack)).sum()) > 1


def dealt(hand: PublicHand, board: np.ndarray) -> PublicHand:
    """Returns a hand after the next cards of a complete board."""
    at = len(hand.board)
    return hand.deal(board[at : at + BOARD[hand.street]].tolist())


class Runouts:
    """Complete boards that may still come, by street, for means in place of one board's luck.

    Before the flop and on it they are drawn from the flop on; on the turn they are all rivers.
    """

    def __init__(self, board: np.ndarray, count: int, rng: np.random.Generator) -> None:
        """Draws boards.

        Args:
            board: int [5], the complete board of a hand.
            count: how many are drawn on the flop.
            rng: draws them.
        """
        self.board, self.count = board, count
        rest = np.setdiff1d(np.arange(NUM_CARDS), board[:3])
        drawn = np.stack([rng.permutation(rest)[:2] for _ in range(count)])
        flops = np.broadcast_to(board[:3], (count, 3))
        rivers = np.setdiff1d(np.arange(NUM_CARDS), board[:4])[:, None]
        turns = np.broadcast_to(board[:4], (len(rivers), 4))
        later = np.concatenate([flops, drawn], 1), np.concatenate([turns, rivers], 1)
        self._boards = [np.asarray(x, np.uint8) for x in (*later, board[None])]

    def boards(self, street: int) -> np.ndarray:
        """Returns uint8 [N, 5], boards given the cards of a street from the flop on."""
        return self._boards[street - 1]

    @functools.cache  # noqa: B019  (an instance lives for one board of a match)
    def signs(self, street: int) -> np.ndarray:
        """Returns float32 [1326, 1326], mean signs of a showdown given a street from the flop on.

        A board that meets one of the hands counts 0, as it does for `folded`.
        """
        boards = self.boards(street)
        return sums_of_signs(boards.astype(int))[0] / np.float32(len(boards))

    @staticmethod
    def folded(street: int) -> float:
        """Returns the part of boards that leave two hands alone, given a street without them."""
        shown = BOARD_CARDS[street]
        return math.comb(48 - shown, 5 - shown) / math.comb(52 - shown, 5 - shown)


def draw_end(
    ends: Sequence[StreetEnd],
    board: np.ndarray,
    seat: int,
    draws: np.random.Generator,
    quick: Beyond | None,
    runouts: Runouts | None = None,
) -> tuple[float, StreetEnd | None]:
    """Returns (what is known of all ends, the one to go on from).

    Args:
        ends: of one street.
        board: complete.
        seat: whose chips are counted.
        draws: draws the end.
        quick: the blueprint of the guesses; without one they are 0.
        runouts: of the board; without them guesses are of this board. Before the flop they are of
            this flop.

    Returns:
        Chips of the seat, summed over pairs of hands by their reach, which what comes after the
        end is to be added to; the end has the next cards and more weight. None where nobody comes.
    """
    weight = np.array(
        [e.hand.state.spent.sum() * (e.reach[0] @ compatible_reach(e.reach[1])) for e in ends]
    )
    if not weight.sum() > 0:
        return 0.0, None
    chance = weight / weight.sum()
    chosen = int(draws.choice(len(ends), p=chance))
    street = ends[0].hand.street
    now = later = np.asarray(board, np.uint8)[None]
    if runouts is not None:
        now, later = runouts.boards(max(street, 1)), runouts.boards(street + 1)
    guess = [_guess(e, board, seat, quick, now) for e in ends]
    after = guess[chosen] if now is later else _guess(ends[chosen], board, seat, quick, later)
    hand, state, (first, second) = ends[chosen]
    more = first / np.float32(chance[chosen]), second
    known = float(sum(guess) - after / chance[chosen])
    return known, StreetEnd(dealt(hand, board), state, more)


def _guess(
    end: StreetEnd,
    board: np.ndarray,
    seat: int,
    quick: Beyond | None,
    boards: np.ndarray | None = None,
) -> float:
    """Returns what a seat would win from an end on if both played the blueprint.

    The mean is over `boards`, uint8 [N, 5]; by default over the one complete board there is.
    """
    if quick is None:
        return 0.0
    root = dealt(end.hand, board)
    node = menu_node(quick.view, root)
    here = (np.array([x]) for x in (node, root.actor, root.street))
    if node == LEFT or not quick.view.follows(*here):
        return 0.0
    begin = SearchBegin(root.state, end.hand.board, np.stack(end.reach), node)
    every = np.asarray(board, np.uint8)[None] if boards is None else boards
    won = blueprint_values(begin, quick, every)
    return float(end.reach[seat] @ won[seat])
