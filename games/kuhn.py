"""Kuhn poker for 2 to 10 players.

A deck of n + 1 cards for n players. Everybody antes one chip and is dealt one card; then the
players, in turn, pass or bet one chip. After the first bet each other player has one turn to
bet (call) or pass (fold). The highest card among those who bet wins the pot; if nobody bet,
the highest card of all.

Source: Kuhn, "A simplified two-person poker" (1950); for n players Abou Risk and Szafron (AAMAS
2010). Actions and chance outcomes are numbered as in OpenSpiel's kuhn_poker.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._cards import rank_name
from ._params import name_of
from ._words import seat_name

PASS, BET = 0, 1
DEALT = 2
"""Public observation: a card went to somebody. The others are the betting actions."""


class State(NamedTuple):
    """A state of n-player Kuhn poker.

    Attributes:
        cards: int8 [n], each player's card, -1 before the deal.
        bet: bool [n], who put a second chip in.
        turn: int8 [], -n..-1 while cards are dealt, then the number of betting actions.
        end: int8 [], the turn at which the game is over, as far as is known.
        last: int8 [], the last betting action, DEALT after a deal, -1 initially.
    """

    cards: Array
    bet: Array
    turn: Array
    end: Array
    last: Array


@checked
@dataclasses.dataclass(frozen=True)
class Kuhn:
    """Kuhn poker.

    Attributes:
        players: 2 to 10.
    """

    players: Annotated[int, Range(2, 10)] = 2

    @property
    def name(self) -> str:
        return name_of("kuhn", self)

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def num_actions(self) -> int:
        return self.players + 1

    def init(self) -> State:
        n = self.players
        return State(
            cards=jnp.full(n, -1, jnp.int8),
            bet=jnp.zeros(n, bool),
            turn=jnp.int8(-n),
            end=jnp.int8(n),
            last=jnp.int8(NOTHING),
        )

    def actor(self, state: State) -> Array:
        player = jnp.where(state.turn < 0, CHANCE, state.turn % self.players)
        return jnp.where(state.turn == state.end, TERMINAL, player).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        actions = jnp.arange(self.num_actions)
        mask = jnp.where(state.turn < 0, self._in_deck(state), actions <= BET)
        return mask & (state.turn != state.end)

    def chance(self, state: State) -> Array:
        deck = self._in_deck(state)
        return deck / deck.sum()

    def step(self, state: State, action: Array) -> State:
        dealing = state.turn < 0
        here = jnp.arange(self.players) == state.turn % self.players
        bets = ~dealing & (action == BET)
        first_bet = bets & ~state.bet.any()
        return State(
            cards=jnp.where(dealing & here, action, state.cards).astype(jnp.int8),
            bet=state.bet | (here & bets),
            turn=state.turn + jnp.int8(1),
            end=jnp.where(first_bet, state.turn + self.players, state.end).astype(jnp.int8),
            last=jnp.where(dealing, DEALT, action).astype(jnp.int8),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [1], the betting action or DEALT; private: [n, 1], the own card when dealt."""
        dealt_to = state.turn + self.players - 1
        mine = jnp.where(jnp.arange(self.players) == dealt_to, state.cards, NOTHING)
        return state.last[None].astype(jnp.int32), mine[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Chips won or lost."""
        paid = 1 + state.bet
        contends = state.bet | ~state.bet.any()
        winner = jnp.argmax(jnp.where(contends, state.cards, -1))
        won = jnp.where(jnp.arange(self.players) == winner, paid.sum(), 0)
        return (won - paid).astype(float)

    def public_features(self, state: State) -> Array:
        """float [2 n]: whose turn it is, and who has bet; for networks."""
        turn = jnp.arange(self.players) == state.turn % self.players
        return jnp.concatenate([turn, state.bet]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        return self._card(action) if actor == CHANCE else ("pass", "bet")[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if private[0] != NOTHING:
            return self._card(private[0])
        return "pb"[public[0]] if public[0] in (PASS, BET) else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        (card,) = [private[0] for _, _, private in seen if private[0] != NOTHING]
        moves = [int(public[0]) for _, public, _ in seen if public[0] in (PASS, BET)]
        paid, done = np.ones(self.players, int), [""] * self.players
        for k, move in enumerate(moves):
            paid[k % self.players] += move
            done[k % self.players] = (" and passed", " and bet")[move]
        seats = ", ".join(
            f"{seat_name(i, player)} paid {p}{what}"
            for i, (p, what) in enumerate(zip(paid, done, strict=True))
        )
        return f"your card {self._card(card)}\npot {paid.sum()}: {seats}"

    def _in_deck(self, state: State) -> Array:
        return (jnp.arange(self.num_actions)[:, None] != state.cards).all(1)

    def _card(self, card: int) -> str:
        return rank_name(int(card), self.num_actions)


ENTRY = Entry(
    make=Kuhn,
    summary="Kuhn poker: one card each, one bet",
    references=(
        Reference("", 58, (6, 6), -1 / 18, "Kuhn (1950)", "kuhn_poker", public_states=11),
        Reference(
            "players=3", 617, (16, 16, 16), None, "", "kuhn_poker(players=3)", public_states=28
        ),
    ),
)
