"""Oshi-zumo: two wrestlers push each other off a platform by sealed bids.

The wrestler of both stands in the middle of 2 * size + 1 places. In each round both players bid
coins without seeing the other's bid; the higher bid pushes the wrestler one place towards the
opponent, equal bids leave it; both pay what they bid. Bids must be at least `min_bid`, or all the
coins left where they are fewer. The game ends when the wrestler is off the platform, both have no
coins, or after `horizon` rounds. Pushing the wrestler off wins 1; otherwise the side on which it
stands loses 1 (nobody does with `alesia`), and the middle is a draw.

Player 0 bids first, sealed; the bids are shown once player 1 has bid as well.

Source: Buro 2003, "Solving the Oshi-Zumo game"; OpenSpiel `oshi_zumo`, played in turns.
"""

from __future__ import annotations

import dataclasses
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
        coins: int16 [2], before the round in play.
        sealed: int16 [], the bid of player 0 in the round in play, -1 before.
        bids: int16 [2], the bids of the last full round, -1 before the first.
        place: int16 [], where the wrestler stands, counted from the middle.
        rounds: int16 [], how many rounds are over.
    """

    coins: Array
    sealed: Array
    bids: Array
    place: Array
    rounds: Array


@checked
@dataclasses.dataclass(frozen=True)
class OshiZumo:
    """Rules. An action is the number of coins bid.

    Attributes:
        coins: coins of each player at the start.
        size: places on either side of the middle.
        horizon: the largest number of rounds.
        min_bid: the smallest bid of a player who has as much.
        alesia: whether only a wrestler off the platform decides.
    """

    coins: Annotated[int, Range(1, 32_000)] = 50
    size: Annotated[int, Range(0, 32_000)] = 3
    horizon: Annotated[int, Range(1, 32_000)] = 1000
    min_bid: Annotated[int, Range(0, 32_000)] = 0
    alesia: bool = False

    def __post_init__(self) -> None:
        if self.min_bid > self.coins:
            raise ValueError(f"min_bid must be 0 to coins={self.coins}, not {self.min_bid}.")

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("oshi_zumo", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """Bids of 0 to all coins."""
        return self.coins + 1

    def init(self) -> State:
        """Returns the state before the first bid."""
        return State(
            coins=jnp.full(2, self.coins, jnp.int16),
            sealed=jnp.int16(-1),
            bids=jnp.full(2, -1, jnp.int16),
            place=jnp.int16(0),
            rounds=jnp.int16(0),
        )

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        off = jnp.abs(state.place) > self.size
        over = off | (state.rounds >= self.horizon) | jnp.all(state.coins == 0)
        return jnp.where(over, TERMINAL, state.sealed >= 0).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [A]."""
        actor = self.actor(state)
        coins = state.coins[jnp.maximum(actor, 0)]
        bids = jnp.arange(self.num_actions)
        affordable = (bids >= jnp.minimum(self.min_bid, coins)) & (bids <= coins)
        return affordable & (actor != TERMINAL)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a bid; the second bid of a round moves the wrestler."""
        action = jnp.asarray(action, jnp.int16)
        second = state.sealed >= 0
        bids = jnp.where(second, jnp.stack([state.sealed, action]), state.bids)
        push = jnp.where(second, jnp.sign(bids[0] - bids[1]), 0)
        return State(
            coins=jnp.where(second, state.coins - bids, state.coins),
            sealed=jnp.where(second, -1, action).astype(jnp.int16),
            bids=bids,
            place=(state.place + push).astype(jnp.int16),
            rounds=state.rounds + second.astype(jnp.int16),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [2]: both bids at the end of a round; private [2, 0].

        Once player 0 has bid, public is (A, NOTHING), which is no pair of bids.
        """
        made = jnp.array([self.num_actions, NOTHING], jnp.int32)
        public = jnp.where(state.sealed >= 0, made, state.bids.astype(jnp.int32))
        return public, jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]: 1 for the winner, -1 for the loser, zeros for a draw."""
        decides = jnp.abs(state.place) > (self.size if self.alesia else 0)
        first = jnp.where(decides, jnp.sign(state.place), 0).astype(float)
        return jnp.stack([first, -first])

    def public_features(self, state: State) -> Array:
        """Returns float [6]: whose turn it is, coins left, the wrestler's place, rounds."""
        turn = jnp.arange(2) == self.actor(state)
        place, rounds = state.place / (self.size + 1), state.rounds / self.horizon
        numbers = jnp.stack([place, rounds])
        return jnp.concatenate([turn, state.coins / max(self.coins, 1), numbers]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the bid."""
        return f"bid {action}"

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns both bids at the end of a round."""
        return f"bids {public[0]}-{public[1]}" if public[1] != NOTHING else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns round, coins and where the wrestler stands."""
        made = [x.public for x in seen if x.public[1] != NOTHING]
        bids = np.array(made, int).reshape(-1, 2)
        coins, rival = self.coins - bids.sum(0), 1 - player
        place = int(np.sign(bids[:, player] - bids[:, rival]).sum())
        side = f"player {rival}" if place > 0 else "you"
        stands = f"{abs(place)} of {self.size} places towards {side}" if place else "in the middle"
        return (
            f"round {len(bids) + 1} of {self.horizon}; coins: you {coins[player]}, "
            f"player {rival} {coins[rival]}\nthe wrestler stands {stands}"
        )


ENTRY = Entry(
    make=OshiZumo,
    summary="push a wrestler off the platform with sealed bids",
    references=(
        Reference(
            "coins=4,size=1,horizon=4",
            6977,
            (959, 959),
            0.0,
            "symmetric",
            "oshi_zumo(coins=4,size=1,horizon=4)",
            public_states=5782,
        ),
        Reference(
            "coins=5,size=1,horizon=4,min_bid=1",
            700,
            (195, 195),
            0.0,
            "symmetric",
            "oshi_zumo(coins=5,size=1,horizon=4,min_bid=1)",
            public_states=620,
        ),
        Reference(
            "coins=4,size=1,horizon=4,min_bid=1,alesia=True",
            203,
            (60, 60),
            0.0,
            "symmetric",
            "oshi_zumo(coins=4,size=1,horizon=4,min_bid=1,alesia=True)",
            public_states=182,
        ),
    ),
    instead="fewer coins",
)
