"""A game of your own in one file: rock, paper, scissors in which winning with rock pays more.

    jaxsolve solve examples/my_game.py:MyGame
    jaxsolve solve "examples/my_game.py:MyGame(stake=3)" --out runs/my_game
    jaxsolve play examples/my_game.py:MyGame

In equilibrium rock, paper and scissors have the odds 1 : stake : 1.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.types import NOTHING, TERMINAL, Array

NAMES = ("rock", "paper", "scissors")


class State(NamedTuple):
    """int8 [2], what each player chose; NOTHING before."""

    chosen: Array


@dataclasses.dataclass(frozen=True)
class MyGame:
    """Rock, paper, scissors; `stake` is what a win with rock pays."""

    stake: float = 2.0

    num_players = 2
    num_actions = 3

    @property
    def name(self) -> str:
        """The string of this game."""
        return f"my_game(stake={self.stake:g})"

    def init(self) -> State:
        """Nobody has chosen."""
        return State(jnp.full(2, NOTHING, jnp.int8))

    def actor(self, state: State) -> Array:
        """Player 0, then player 1 (who does not see what player 0 chose)."""
        moves = (state.chosen >= 0).sum()
        return jnp.where(moves == 2, TERMINAL, moves).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Everything, until both have chosen."""
        return jnp.full(3, self.actor(state) != TERMINAL)

    def chance(self, state: State) -> Array:
        """There is no chance."""
        return jnp.zeros(3)

    def step(self, state: State, action: Array) -> State:
        """Write down what the player chose: `jnp.where`, where a program would say `if`."""
        mine = jnp.arange(2) == self.actor(state)
        return State(jnp.where(mine, action, state.chosen).astype(jnp.int8))

    def observe(self, state: State) -> tuple[Array, Array]:
        """Everybody sees how many have chosen; nobody sees what."""
        moves = (state.chosen >= 0).sum()
        public = jnp.where(moves > 0, moves, NOTHING)
        return public[None].astype(jnp.int32), jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """What player 0 wins from player 1, and the reverse."""
        pays = jnp.array([self.stake, 1.0, 1.0])  # a win with rock, paper, scissors
        mine, other = state.chosen
        won = jnp.select(
            [(mine - other) % 3 == 1, (other - mine) % 3 == 1], [pays[mine], -pays[other]]
        )
        return jnp.stack([won, -won])

    def action_name(self, actor: int, action: int) -> str:
        """Words for people."""
        return NAMES[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Words for people."""
        return "both chose" if public[0] == 2 else "the other chose" if public[0] == 1 else ""
