"""What plays a game: pairs of pure functions that see observations and nothing else.

An agent sees what its player was shown since their own last decision, their own last action and
what is legal now. Nothing in it needs a list of states, so the same agent plays on the rules of a
game and on its compiled states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxsolve.types import Array, PRNGKey, PyTree


class Observation(NamedTuple):
    """What a player who is to act learned since their own last decision (A actions, L rows).

    Each row is one transition, oldest first; from the second decision on, row 0 is the transition
    of the player's own last action. Transitions in which the player neither acted nor was shown
    anything are left out, so that hidden moves do not leak through a clock; the observation of the
    initial state, the same in every match, is no transition.

    Attributes:
        player: int32 [], whose turn it is.
        public: int32 [L, p], what everybody was shown; rows from `length` on are NOTHING.
        private: int32 [L, m], what the player alone was shown, likewise.
        length: int32 [], rows in use.
        action: int32 [], the player's own last action, -1 before the first.
        legal: bool [A], the game's actions that are legal.
        infoset: int32 [], the number of the player's infoset in canonical order
            (`PlayerInfo.offset`) where the arena lists states; None where it does not. It follows
            from the player's observations and actions and adds nothing to them.
    """

    player: Array
    public: Array
    private: Array
    length: Array
    action: Array
    legal: Array
    infoset: Array | None


class Decision(NamedTuple):
    """What an agent does.

    Attributes:
        action: int32 [], the game's action.
        policy: float [A], the distribution that it was drawn from, over the game's actions.
    """

    action: Array
    policy: Array


class Agent(NamedTuple):
    """A player of one seat.

    Attributes:
        init: (seat, int32 [], key) -> state, a pytree of arrays, at the start of a match.
        act: (state, Observation, key) -> (Decision, state).
        name: for tables of results.
        game: name of the only game that the agent can play; None where it can play any.
        host: whether `act` is plain Python (a person, a program outside). It then gets numpy
            arrays, is never traced, its state may be any object, and matches are played one by one.
    """

    init: Callable[[Array, PRNGKey], PyTree]
    act: Callable[[PyTree, Observation, PRNGKey], tuple[Decision, PyTree]]
    name: str = "agent"
    game: str | None = None
    host: bool = False
