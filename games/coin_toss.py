"""Coin Toss: why a subgame cannot be solved by itself.

A fair coin is tossed and only player 0 sees it. Player 0 sells it or plays. Selling is worth 0.5 if
the coin landed heads and -0.5 if it landed tails. If player 0 plays, player 1 guesses the side:
player 0 loses 1 if the guess is right and wins 1 if it is wrong. Player 1 should guess heads with
probability 1/4 and tails with 3/4, although nothing inside the subgame after "play" says so; the
value is 0. Swapping the two sale prices makes it 3/4 and 1/4 without touching that subgame.

Source: Brown and Sandholm 2017, "Safe and nested subgame solving for imperfect-information games",
section 2 and figure 1.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Reference, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._params import Points, name_of

HEADS, TAILS = 0, 1
SELL, PLAY = 0, 1
SIDES = ("heads", "tails")
EVENTS = ("tossed", "sell", "play", "guess heads", "guess tails")
"""What everybody sees of a transition, by its number in the public observation."""


class State(NamedTuple):
    """One world state; every entry is -1 until it is settled.

    Attributes:
        coin: int32 [], HEADS or TAILS.
        move: int32 [], SELL or PLAY.
        guess: int32 [], HEADS or TAILS.
    """

    coin: Array
    move: Array
    guess: Array


@checked
@dataclasses.dataclass(frozen=True)
class CoinToss:
    """Rules. Chance outcomes and guesses: 0 heads, 1 tails; player 0: 0 sell, 1 play.

    Attributes:
        sell_heads: what selling pays player 0 when the coin landed heads.
        sell_tails: the same for tails.
    """

    sell_heads: Points = 0.5
    sell_tails: Points = -0.5

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("coin_toss", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """Two, for chance and for both players."""
        return 2

    def init(self) -> State:
        """Returns the state before the toss."""
        return State(coin=jnp.int32(-1), move=jnp.int32(-1), guess=jnp.int32(-1))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        after_play = jnp.where(state.guess < 0, 1, TERMINAL)
        after_move = jnp.where(state.move == PLAY, after_play, TERMINAL)
        after_toss = jnp.where(state.move < 0, 0, after_move)
        return jnp.where(state.coin < 0, CHANCE, after_toss).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [2]."""
        return jnp.full(2, self.actor(state) != TERMINAL)

    def chance(self, state: State) -> Array:
        """Returns float [2]: a fair coin."""
        return jnp.full(2, 0.5, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after the toss, the sale or the guess."""
        actor, action = self.actor(state), jnp.asarray(action, jnp.int32)
        return State(
            coin=jnp.where(actor == CHANCE, action, state.coin),
            move=jnp.where(actor == 0, action, state.move),
            guess=jnp.where(actor == 1, action, state.guess),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: index into EVENTS; private [2, 1]: the coin, to player 0."""
        played = jnp.where(state.guess < 0, 1 + state.move, 3 + state.guess)
        event = jnp.where(state.move < 0, jnp.where(state.coin < 0, NOTHING, 0), played)
        coin = jnp.where(state.move < 0, state.coin, NOTHING)
        return event[None], jnp.stack([coin, jnp.int32(NOTHING)])[:, None]

    def utility(self, state: State) -> Array:
        """Returns float [2]."""
        sale = jnp.where(state.coin == HEADS, self.sell_heads, self.sell_tails)
        played = jnp.where(state.guess == state.coin, -1.0, 1.0)
        first = jnp.where(state.move == SELL, sale, played)
        return jnp.stack([first, -first])

    def public_features(self, state: State) -> Array:
        """Returns float [6]: whose turn it is, what player 0 did, what player 1 guessed."""
        sides = jnp.arange(2)
        turn, move, guess = sides == self.actor(state), sides == state.move, sides == state.guess
        return jnp.concatenate([turn, move, guess]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the side tossed or guessed, "sell" or "play"."""
        return ("sell", "play")[action] if actor == 0 else SIDES[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns what one player saw in one transition."""
        if private[0] != NOTHING:
            return f"coin {SIDES[private[0]]}"
        return EVENTS[public[0]] if public[0] > 0 else ""


ENTRY = Entry(
    make=CoinToss,
    summary="sell a coin only you have seen, or let the other guess it",
    references=(
        Reference("", 11, (2, 1), 0.0, "Brown and Sandholm 2017, section 2", public_states=6),
        Reference(
            "sell_heads=-0.5,sell_tails=0.5",
            11,
            (2, 1),
            0.0,
            "the same, sides exchanged",
            public_states=6,
        ),
    ),
)
