"""The game of proposition 3 of Zhang & Sandholm 2021, as rules.

Chance draws n from 1..N and tells player 0. Both then choose heads or tails; player 1 wins 1 if the
sides match and loses 1 otherwise.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp

from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array


class State(NamedTuple):
    """Number drawn (0 before) and the sides chosen (-1 before)."""

    number: Array
    sides: Array


@dataclasses.dataclass(frozen=True)
class ToldPennies:
    """Rules."""

    numbers: int

    @property
    def name(self) -> str:
        return f"told_pennies(numbers={self.numbers})"

    @property
    def num_players(self) -> int:
        return 2

    @property
    def num_actions(self) -> int:
        return max(2, self.numbers)

    def init(self) -> State:
        return State(jnp.int32(0), jnp.full(2, -1, jnp.int32))

    def actor(self, state: State) -> Array:
        chosen = jnp.sum(state.sides >= 0)
        player = jnp.array([0, 1, TERMINAL], jnp.int32)[chosen]
        return jnp.where(state.number == 0, CHANCE, player)

    def legal(self, state: State) -> Array:
        actor = self.actor(state)
        limit = jnp.where(actor == CHANCE, self.numbers, jnp.where(actor >= 0, 2, 0))
        return jnp.arange(self.num_actions) < limit

    def chance(self, state: State) -> Array:
        return self.legal(state) / float(self.numbers)

    def step(self, state: State, action: Array) -> State:
        actor = self.actor(state)
        return State(
            jnp.where(actor == CHANCE, action + 1, state.number).astype(jnp.int32),
            jnp.where(jnp.arange(2) == actor, action, state.sides).astype(jnp.int32),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        chosen = jnp.sum(state.sides >= 0)
        public = jnp.where(state.number > 0, chosen, NOTHING).astype(jnp.int32)
        mine = jnp.where(public == 0, state.number, NOTHING)
        return public[None], jnp.stack([mine, NOTHING])[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        first = jnp.where(state.sides[0] == state.sides[1], -1.0, 1.0)
        return jnp.stack([first, -first])
