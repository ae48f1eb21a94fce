"""Names shared by the whole package: array types, special actors, axis letters.

Axis letters used in every shape comment: B batch, N public states, H private states (hands),
A actions, T terminal or leaf public states, R infostate rows, S sequences of one player.
"""

from __future__ import annotations

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
