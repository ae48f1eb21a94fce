"""N-matching pennies: a game in which no two hidden numbers are ever told apart for certain.

Chance draws n from 1..N uniformly. Player 0 sees floor((n + 1) / 2), player 1 sees floor(n / 2).
Both then choose heads or tails without seeing the other's choice. Two heads score n for player 0,
two tails score N + 1 - n, different sides score 0; the payoff to player 0 is the score mapped from
[0, N] to [-1, 1], and player 1 gets the opposite. Each player confuses n with one neighbour only,
but the chain of neighbours links all n, so nothing about n is common knowledge.

Source: Zhang and Sandholm 2021, "Subgame solving without common knowledge", section 3. Its figure 1
and appendix C (the rules here) differ from its body text, which swaps the two observations and
pays N - n for two tails.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._params import name_of

HEADS, TAILS = 0, 1


class State(NamedTuple):
    """One world state.

    Attributes:
        number: int32 [], n, or 0 before the draw.
        sides: int32 [2], HEADS or TAILS for each player, -1 before the choice.
    """

    number: Array
    sides: Array


@checked
@dataclasses.dataclass(frozen=True)
class MatchingPennies:
    """Rules. Chance outcome i draws n = i + 1.

    Attributes:
        numbers: N, the largest number drawn.
    """

    numbers: Annotated[int, Range(1, 30_000)] = 100

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("matching_pennies", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """The draw has `numbers` outcomes, a player two sides."""
        return max(2, self.numbers)

    def init(self) -> State:
        """Returns the state before the draw."""
        return State(number=jnp.int32(0), sides=jnp.full(2, -1, jnp.int32))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        chosen = jnp.sum(state.sides >= 0)
        player = jnp.array([0, 1, TERMINAL], jnp.int32)[chosen]
        return jnp.where(state.number == 0, CHANCE, player)

    def legal(self, state: State) -> Array:
        """Returns bool [A]."""
        actor = self.actor(state)
        limit = jnp.where(actor == CHANCE, self.numbers, jnp.where(actor >= 0, 2, 0))
        return jnp.arange(self.num_actions) < limit

    def chance(self, state: State) -> Array:
        """Returns float [A]: uniform over the numbers."""
        return self.legal(state) / float(self.numbers)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after the draw or a choice."""
        actor = self.actor(state)
        return State(
            number=jnp.where(actor == CHANCE, action + 1, state.number).astype(jnp.int32),
            sides=jnp.where(jnp.arange(2) == actor, action, state.sides).astype(jnp.int32),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: how many have chosen; private [2, 1]: each player's view of n."""
        chosen = jnp.sum(state.sides >= 0)
        public = jnp.where(state.number > 0, chosen, NOTHING).astype(jnp.int32)
        views = jnp.stack([(state.number + 1) // 2, state.number // 2])
        private = jnp.where(public == 0, views, NOTHING).astype(jnp.int32)
        return public[None], private[:, None]

    def utility(self, state: State) -> Array:
        """Returns float [2]: the score of player 0 mapped to [-1, 1], and its negative."""
        score = jnp.where(state.sides[0] == HEADS, state.number, self.numbers + 1 - state.number)
        score = jnp.where(state.sides[0] == state.sides[1], score, 0)
        first = 2.0 * score / self.numbers - 1.0
        return jnp.stack([first, -first])

    def public_features(self, state: State) -> Array:
        """Returns float [2]: whose turn it is."""
        return (jnp.arange(2) == self.actor(state)).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the number drawn, or the side chosen."""
        return f"n={action + 1}" if actor == CHANCE else ("heads", "tails")[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns what one player saw in one transition."""
        return f"sees {private[0]}" if private[0] != NOTHING else ""


ENTRY = Entry(
    make=MatchingPennies,
    summary="both see a hidden number almost exactly, then match pennies for it",
    references=(
        Reference(
            "",
            701,
            (50, 51),
            -13333 / 20200,
            "sizes: Zhang and Sandholm 2021, table 2; value: linear program",
            public_states=4,
        ),
        Reference("numbers=4", 29, (2, 3), -21 / 40, "linear program", public_states=4),
    ),
)
