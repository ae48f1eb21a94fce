"""Variations and hypothesis strategies of the random games of `jaxsolve.testing`."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from hypothesis import strategies as st

from jaxsolve.testing import RandomGame, random_game
from jaxsolve.types import Array


@dataclasses.dataclass(frozen=True)
class Tilted:
    """A game with other payoffs, in which no two choices are worth exactly the same.

    Where regrets cancel to zero, one program plays uniformly and another follows the sign of a
    rounding error. Iterates can be compared only where that does not happen.
    """

    game: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    @property
    def name(self) -> str:
        return f"tilted {self.game.name}"

    def utility(self, state: Any) -> Array:
        content = jnp.concatenate([jnp.ravel(x).astype(float) for x in jax.tree.leaves(state)])
        tilt = 0.5 * jnp.sin(content @ (1.0 + jnp.sqrt(jnp.arange(1.0, len(content) + 1))))
        payoff = self.game.utility(state)
        return payoff + jnp.where(jnp.arange(len(payoff)) == 0, tilt, -tilt / (len(payoff) - 1))


@st.composite
def random_games(draw: st.DrawFn, *, players: int = 2, zero_sum: bool = True) -> RandomGame:
    """Random games; shrinks to fewer moves that hide less."""
    return random_game(
        draw(st.integers(0, 10_000)),
        players=players,
        depth=draw(st.integers(1, 6)),
        silence=draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        zero_sum=zero_sum,
    )
