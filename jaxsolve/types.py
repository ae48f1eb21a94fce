"""Names shared by the whole package: array types, special actors, axis letters.

Axis letters used in every shape comment: B batch, N public states, H private states (hands),
A actions, T terminal or leaf public states, R infostate rows, S sequences of one player.
"""

from __future__ import annotations

import enum
from typing import Any

import jax

Array = jax.Array
PRNGKey = jax.Array
PyTree = Any

CHANCE = -1
"""`actor(state)` of a state in which chance moves."""

TERMINAL = -2
"""`actor(state)` of a state in which the game is over."""

NOTHING = -1
"""Entry of an observation that shows nothing."""


class Status(enum.IntFlag):
    """What failed on a device: bits of an int32 that travels in the result."""

    OK = 0
    MOVES = 32
    ROWS = 64
    ILLEGAL = 128

    @property
    def message(self) -> str:
        """One sentence for each bit that is set."""
        return "; ".join(text for bit, text in _MESSAGES.items() if bit & self)


_MESSAGES = {
    Status.MOVES: "a match was not over after the arena's most moves",
    Status.ROWS: "a player was shown more between two decisions than the arena has room for",
    Status.ILLEGAL: "an agent chose an action that is not legal",
}
