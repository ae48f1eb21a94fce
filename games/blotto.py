"""Colonel Blotto: all players spread their coins over fields at once; the most fields win.

A field goes to the player with the most coins on it, to nobody where several have as many. The
players with the most fields share 1 and the others share -1; where all have as many, nobody gets
anything. An action is one way to spread all coins, in the order of the numbers on the fields.

The players choose one after another, unseen.

Source: Borel 1921, "La théorie du jeu et les équations intégrales à noyau symétrique"; OpenSpiel
`blotto`, played in turns.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import NOTHING, TERMINAL, Array

from ._params import name_of


class State(NamedTuple):
    """One world state.

    Attributes:
        choices: int32 [n], the action of each player, -1 before.
    """

    choices: Array


MAX_ACTIONS = 100_000


@checked
@dataclasses.dataclass(frozen=True)
class Blotto:
    """Rules.

    Attributes:
        coins: coins of each player.
        fields: number of fields.
        players: number of players.
    """

    coins: Annotated[int, Range(1, 10_000)] = 10
    fields: Annotated[int, Range(1, 1_000)] = 3
    players: Annotated[int, Range(2, 10)] = 2

    def __post_init__(self) -> None:
        if self.num_actions > MAX_ACTIONS:
            raise ValueError(
                f"there are {self.num_actions:,} ways to spread {self.coins} coins over "
                f"{self.fields} fields, more than the {MAX_ACTIONS:,} that an action can name; "
                "take fewer coins or fields."
            )

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("blotto", self)

    @property
    def num_players(self) -> int:
        """As the parameter says."""
        return self.players

    @property
    def num_actions(self) -> int:
        """Ways to spread the coins over the fields."""
        return math.comb(self.coins + self.fields - 1, self.fields - 1)

    def init(self) -> State:
        """Returns the state before any choice."""
        return State(choices=jnp.full(self.players, -1, jnp.int32))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        chosen = jnp.sum(state.choices >= 0)
        return jnp.where(chosen < self.players, chosen, TERMINAL).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [A]: every way to spread the coins."""
        return jnp.full(self.num_actions, self.actor(state) != TERMINAL)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a choice."""
        mine = jnp.arange(self.players) == self.actor(state)
        return State(choices=jnp.where(mine, action, state.choices).astype(jnp.int32))

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: how many have chosen; private [n, 0]."""
        chosen = jnp.sum(state.choices >= 0)
        public = jnp.where(chosen > 0, chosen, NOTHING).astype(jnp.int32)
        return public[None], jnp.zeros((self.players, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [n]: 1 shared by those with the most fields, -1 by the others."""
        spread = jnp.asarray(self._spreads, jnp.int32)[state.choices]  # [n, fields]
        most = spread == jnp.max(spread, axis=0)
        fields = jnp.sum(most & (jnp.sum(most, axis=0) == 1), axis=-1)
        ahead = fields == jnp.max(fields)
        winners = jnp.sum(ahead)
        losers = self.players - winners
        shares = jnp.where(ahead, 1.0 / winners, -1.0 / jnp.maximum(losers, 1))
        return jnp.where(losers == 0, 0.0, shares)

    def public_features(self, state: State) -> Array:
        """Returns float [2]: whose turn it is."""
        return (jnp.arange(2) == self.actor(state)).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the coins on each field, e.g. "4-3-3"."""
        return "-".join(str(coins) for coins in self._spreads[action])

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns "": that a choice was made is not worth a word."""
        return ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns what there is to spread; nobody sees what the others do."""
        return (
            f"spread {self.coins} coins over {self.fields} fields against "
            f"{self.players - 1} unseen; the most coins win a field"
        )

    @functools.cached_property
    def _spreads(self) -> np.ndarray:
        """Int [A, fields]: the coins of each action on each field."""
        # Bars between coins: the gaps between fields - 1 bars among all the slots.
        slots = self.coins + self.fields - 1
        rows = [
            np.diff((-1, *bars, slots)) - 1
            for bars in itertools.combinations(range(slots), self.fields - 1)
        ]
        return np.array(rows)


ENTRY = Entry(
    make=Blotto,
    summary="spread coins over fields, the most fields win",
    references=(
        Reference(
            "coins=5", 463, (1, 1), 0.0, "symmetric", "blotto(coins=5,fields=3)", public_states=3
        ),
        Reference("", 4423, (1, 1), 0.0, "symmetric", "blotto()", public_states=3),
        Reference(
            "coins=2,fields=2,players=3",
            40,
            (1, 1, 1),
            None,
            "three players, so no value",
            "blotto(coins=2,fields=2,players=3)",
            public_states=4,
        ),
    ),
)
