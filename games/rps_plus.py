"""Rock-paper-scissors+: rock-paper-scissors in which a round with scissors counts double.

Player 0 chooses first, unseen; then player 1 chooses. The winner gets 1 from the loser, or 2 if
either of them chose scissors; equal choices pay nothing. In equilibrium both play rock 0.4,
paper 0.4 and scissors 0.2, and the value is 0. A search that looks one action ahead with the
equilibrium value at its leaves sees 0 everywhere and cannot find that policy.

Source: Brown, Sandholm and Amos 2018, "Depth-limited solving for imperfect-information games",
section 2.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Reference
from jaxsolve.types import NOTHING, TERMINAL, Array

ACTIONS = ("rock", "paper", "scissors")
PAYOFFS = ((0.0, -1.0, 2.0), (1.0, 0.0, -2.0), (-2.0, 2.0, 0.0))
"""To player 0; rows are player 0's choice, columns player 1's (figure 1 of the paper)."""


class State(NamedTuple):
    """One world state.

    Attributes:
        choices: int32 [2], index into ACTIONS for each player, -1 before the choice.
    """

    choices: Array


@dataclasses.dataclass(frozen=True)
class RockPaperScissorsPlus:
    """Rules; no parameters."""

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return "rps_plus"

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """Rock, paper, scissors."""
        return 3

    def init(self) -> State:
        """Returns the state before any choice."""
        return State(choices=jnp.full(2, -1, jnp.int32))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        return jnp.array([0, 1, TERMINAL], jnp.int32)[jnp.sum(state.choices >= 0)]

    def legal(self, state: State) -> Array:
        """Returns bool [3]."""
        return jnp.full(3, self.actor(state) >= 0)

    def chance(self, state: State) -> Array:
        """Returns float [3], zeros: there is no chance."""
        return jnp.zeros(3, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a choice."""
        mine = jnp.arange(2) == self.actor(state)
        return State(choices=jnp.where(mine, action, state.choices).astype(jnp.int32))

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: how many have chosen; private [2, 0]."""
        chosen = jnp.sum(state.choices >= 0)
        public = jnp.where(chosen > 0, chosen, NOTHING).astype(jnp.int32)
        return public[None], jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]."""
        first = jnp.array(PAYOFFS, float)[state.choices[0], state.choices[1]]
        return jnp.stack([first, -first])

    def public_features(self, state: State) -> Array:
        """Returns float [2]: whose turn it is."""
        return (jnp.arange(2) == self.actor(state)).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns "rock", "paper" or "scissors"."""
        return ACTIONS[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns "": that a choice was made is not worth a word."""
        return ""


ENTRY = Entry(
    make=RockPaperScissorsPlus,
    summary="rock-paper-scissors, rounds with scissors pay double",
    references=(
        Reference(
            "",
            13,
            (1, 1),
            0.0,
            "symmetric; Brown, Sandholm and Amos 2018, section 2",
            public_states=3,
        ),
    ),
)
