"""What an agent is: two pure functions, so that thousands of matches are one vmapped program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jaxsolve.types import Array, PRNGKey


class View(NamedTuple):
    """What a player who is to act knows.

    Attributes:
        player: int32 [], whose turn it is.
        infoset: int32 [], the player's infoset, in the canonical order of the tree on which the
            match is played (`PlayerInfo.offset`).
        legal: bool [A], the game's actions that are legal.
    """

    player: Array
    infoset: Array
    legal: Array


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
        act: (state, View, key) -> (Decision, state).
        name: for tables of results.
    """

    init: Callable[[Array, PRNGKey], Any]
    act: Callable[[Any, View, PRNGKey], tuple[Decision, Any]]
    name: str = "agent"
