"""Liar's dice for two players.

Each player rolls their dice under a cup. Players bid in turn on all dice together, "at least q
dice show face f", each bid higher than the last, until somebody calls the other a liar. The
highest face is wild: it counts as any face. If at least q dice match, the last bidder wins 1;
otherwise the caller does.

Source: the rules, actions and chance outcomes are those of OpenSpiel's liars_dice (bidding rule
"reset-face"): bid (q, f) is action (q - 1) * sides + (f - 1), the last action calls "liar". Dice
are rolled one after the other, player 0 first, and looked at, sorted, when the last one lies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._params import name_of


class State(NamedTuple):
    """A state of liar's dice.

    Attributes:
        dice: int8 [2, d], faces 0..sides-1 in descending order, -1 where not rolled yet.
        rolled: int8 [], dice rolled so far.
        bid: int8 [], the highest bid, -1 before the first.
        player: int8 [], whose turn it is to bid; at the end, who called liar.
        called: bool [], the game is over.
    """

    dice: Array
    rolled: Array
    bid: Array
    player: Array
    called: Array


@checked
@dataclasses.dataclass(frozen=True)
class LiarsDice:
    """Liar's dice.

    Attributes:
        sides: faces of a die.
        dice: dice each player rolls.
    """

    sides: Annotated[int, Range(2, 63)] = 6
    dice: Annotated[int, Range(1, 31)] = 1

    def __post_init__(self) -> None:
        if self.num_actions > np.iinfo(np.int8).max:
            raise ValueError(f"liars_dice has at most 126 bids, not {self.liar}: fewer dice.")

    @property
    def name(self) -> str:
        return name_of("liars_dice", self)

    @property
    def num_players(self) -> int:
        return 2

    @property
    def liar(self) -> int:
        """The action that calls the last bidder a liar; one more than the highest bid."""
        return 2 * self.dice * self.sides

    @property
    def num_actions(self) -> int:
        return self.liar + 1

    def init(self) -> State:
        return State(
            dice=jnp.full((2, self.dice), -1, jnp.int8),
            rolled=jnp.int8(0),
            bid=jnp.int8(-1),
            player=jnp.int8(0),
            called=jnp.bool_(False),
        )

    def actor(self, state: State) -> Array:
        player = jnp.where(self._rolling(state), CHANCE, state.player)
        return jnp.where(state.called, TERMINAL, player).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        actions = jnp.arange(self.num_actions)
        bids = (actions > state.bid) & ((actions < self.liar) | (state.bid >= 0))
        return jnp.where(self._rolling(state), actions < self.sides, bids) & ~state.called

    def chance(self, state: State) -> Array:
        return (jnp.arange(self.num_actions) < self.sides) / self.sides

    def step(self, state: State, action: Array) -> State:
        rolling = self._rolling(state)
        action = jnp.asarray(action, jnp.int8)
        calls = ~rolling & (action == self.liar)
        bids = ~rolling & ~calls
        # A die goes into a descending row: each place keeps the larger of what it holds and of
        # what is pushed out of the place before it.
        before = jnp.pad(state.dice[:, :-1], ((0, 0), (1, 0)), constant_values=self.sides)
        inserted = jnp.maximum(state.dice, jnp.minimum(before, action))
        rolls = rolling & (jnp.arange(2) == state.rolled // self.dice)
        return State(
            dice=jnp.where(rolls[:, None], inserted, state.dice),
            rolled=state.rolled + rolling.astype(jnp.int8),
            bid=jnp.where(bids, action, state.bid),
            player=jnp.where(bids, 1 - state.player, state.player),
            called=calls,
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [1], the bid or call, num_actions for a roll; private: [2, d], the own dice.

        A player sees their dice in the transition that rolls the last of them.
        """
        bidding = jnp.where(state.called, self.liar, state.bid)
        rolls = (state.bid < 0) & (state.rolled > 0)
        public = jnp.where(rolls, self.num_actions, bidding)
        looks = rolls & (state.rolled == self.dice * jnp.arange(1, 3))
        private = jnp.where(looks[:, None], state.dice, NOTHING)
        return public[None].astype(jnp.int32), private.astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """1 for the winner, -1 for the loser."""
        quantity, face = state.bid // self.sides + 1, state.bid % self.sides
        wild = self.sides - 1
        matches = ((state.dice == face) | (state.dice == wild)).sum()
        bidder_wins = jnp.where(matches >= quantity, 1.0, -1.0)
        return jnp.where(jnp.arange(2) == state.player, -bidder_wins, bidder_wins)

    def public_features(self, state: State) -> Array:
        """float [liar + 3]: the last bid (none is the first entry) and whose turn; for networks."""
        bid = jnp.arange(-1, self.liar) == state.bid
        return jnp.append(bid, jnp.arange(2) == state.player).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        if actor == CHANCE:
            return str(action + 1)
        return "liar" if action == self.liar else self._bid(action)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if private[0] != NOTHING:
            return "".join(str(face + 1) for face in private)
        return self.action_name(0, int(public[0])) if 0 <= public[0] <= self.liar else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        dice = [self.observation_name(x.public, x.private) for x in seen if x.private[0] != NOTHING]
        bids = [int(x.public[0]) for x in seen if 0 <= x.public[0] < self.liar]
        last = f"the last bid is {self._bid(bids[-1])}" if bids else "nobody has bid"
        return (
            f"your dice {' '.join(*dice)}; {last}\n"
            f"2x3 bids two dice of 3 among all {2 * self.dice}; {self.sides} counts as any face"
        )

    def _rolling(self, state: State) -> Array:
        return state.rolled < 2 * self.dice

    def _bid(self, action: int) -> str:
        return f"{action // self.sides + 1}x{action % self.sides + 1}"


ENTRY = Entry(
    make=LiarsDice,
    summary="Liar's dice: bids on hidden dice, the highest face is wild",
    references=(
        Reference(
            "",
            294883,
            (12288, 12288),
            -0.0271317829457,
            "sequence-form LP",
            "liars_dice",
            public_states=8193,
        ),
        Reference(
            "sides=5",
            51181,
            (2560, 2560),
            0.008,
            "sequence-form LP",
            "liars_dice(dice_sides=5)",
            public_states=2049,
        ),
        Reference(
            "sides=4",
            8181,
            (512, 512),
            0.0625,
            "sequence-form LP",
            "liars_dice(dice_sides=4)",
            public_states=513,
        ),
        Reference(
            "sides=2,dice=2",
            8191,
            (384, 384),
            0.875,
            "sequence-form LP",
            "liars_dice(dice_sides=2,numdice=2)",
            public_states=515,
        ),
    ),
)
