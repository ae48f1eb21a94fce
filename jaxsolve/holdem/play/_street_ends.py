"""Going on from one end of a street, drawn by chance, in place of all.

The end that is drawn counts by one over its chance, so that the mean stays. Chances follow the pot
and how likely both players come there. What a blueprint would win from itself at each of the ends
takes most of that luck away: only the difference to it is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.holdem._acpc import BOARD
from jaxsolve.holdem._boards import compatible_reach
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


def draw_end(
    ends: Sequence[StreetEnd],
    board: np.ndarray,
    seat: int,
    draws: np.random.Generator,
    quick: Beyond | None,
) -> tuple[float, StreetEnd | None]:
    """Returns (what is known of all ends, the one to go on from).

    Args:
        ends: of one street.
        board: complete.
        seat: whose chips are counted.
        draws: draws the end.
        quick: the blueprint of the guesses; without one they are 0.

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
    guess = [_guess(e, board, seat, quick) for e in ends]
    hand, state, (first, second) = ends[chosen]
    more = first / np.float32(chance[chosen]), second
    known = float(sum(guess) - guess[chosen] / chance[chosen])
    return known, StreetEnd(dealt(hand, board), state, more)


def _guess(end: StreetEnd, board: np.ndarray, seat: int, quick: Beyond | None) -> float:
    """Returns what a seat would win from an end on if both played the blueprint."""
    if quick is None:
        return 0.0
    root = dealt(end.hand, board)
    node = menu_node(quick.view, root)
    here = (np.array([x]) for x in (node, root.actor, root.street))
    if node == LEFT or not quick.view.follows(*here):
        return 0.0
    begin = SearchBegin(root.state, root.board, np.stack(end.reach), node)
    won = blueprint_values(begin, quick, np.asarray(board, np.uint8)[None])
    return float(end.reach[seat] @ won[seat])
