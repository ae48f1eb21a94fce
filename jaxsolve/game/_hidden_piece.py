"""Games that hide one number: where a piece of player 0 is.

All else is public, so the world states of a public state differ in that number only, and what a
move does to it is written in tables. A search keeps one state and H weights for a public state in
place of H states, and opens one without stepping every world by every action.

Example: Scotland Yard. The number is Mr X's station. There are two kinds of public states. In kind
0 Mr X moves: slot a at station h is his a-th connection with the ticket that it takes; the child is
the number of the ticket, which everybody sees, and after it he is at the other end. In kind 1 a
detective moves: slot a is child a, and Mr X stays where he is.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from jaxsolve.game._protocol import Game, State
from jaxsolve.types import Array


class MoveTables(NamedTuple):
    """What moves do to the hidden number (T kinds of public states, A slots, H numbers).

    Attributes:
        actor: int [T], who acts.
        child: int [T, A, H], the public state that follows, by what everybody sees; -1 where there
            is no such move. Where player 1 acts, one number for all of [H].
        after: int [T, A, H], the hidden number afterwards.
    """

    actor: np.ndarray
    child: np.ndarray
    after: np.ndarray


class HiddenMoves(NamedTuple):
    """What the actor of a public state may do, for every hidden number (A slots, H numbers).

    Legal slots of a number are in the order of the game's actions; others may lie between them.

    Attributes:
        kind: int32 [], row of the tables.
        legal: bool [A, H].
        action: int32 [A, H], the game's number of each slot.
        ends: bool [A, H], the game is over then.
        payoff: float [A, H], to player 0 where it is.
        shows: bool [A], everybody is shown the hidden number then.
    """

    kind: Array
    legal: Array
    action: Array
    ends: Array
    payoff: Array
    shows: Array


@runtime_checkable
class HidesPiece(Game, Protocol):
    """A two-player zero-sum game in which one number of player 0 is all that is hidden.

    `private_states` must return it and 0, and chance must draw it evenly, before the first move and
    never again.
    """

    def longest(self) -> tuple[int, int]:
        """Returns (decisions in the longest game, times that the number is shown in it)."""
        ...

    def longest_wait(self) -> tuple[int, int]:
        """Returns the same from a player's decision to their next, or before their first.

        Their own decision counts, the next one does not.
        """
        ...

    def move_tables(self) -> MoveTables:
        """Returns what moves do to the hidden number."""
        ...

    def place(self, state: State, number: Array) -> State:
        """Returns the state with another hidden number, int32 []."""
        ...

    def hidden_moves(self, state: State) -> HiddenMoves:
        """Returns what the actor may do; all but the hidden number is read from the state."""
        ...
