"""Goofspiel (the game of pure strategy) for two players.

Each player holds the cards 1..n, and so does a prize deck. In every trick a prize is turned up,
both bid one card at the same time, and the higher bid takes the prize; on a tie nobody does. The
last trick has no choice left and is played at once. With imperfect information only the winner
of each trick is announced, not the bids.

Simultaneous bids are made one after the other: player 0 bids, everybody sees only *that* they did,
player 1 bids, and then the trick is announced.

Source: Ross, "Goofspiel: the game of pure strategy" (1971); imperfect information as in Lanctot et
al., "Monte Carlo sampling for regret minimization in extensive games" (NeurIPS 2009). Actions and
chance outcomes are those of OpenSpiel's goofspiel made turn-based: card c is number c - 1. Differs
from it without imperfect information in that players remember the bids of every trick, where
OpenSpiel's infostate only keeps who won it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._params import name_of

TIE, WON_0, WON_1, BID_MADE = 0, 1, 2, 3
"""Public announcements: who took the trick, or that player 0 has made their bid."""


class State(NamedTuple):
    """A state of goofspiel. Sets of cards are bit masks, bit c for card number c.

    Attributes:
        hands: int [2], cards in hand.
        deck: int [], prizes not turned up yet.
        prize: int8 [], the prize of this trick, -1 before it is turned up.
        bids: int8 [2], bids of this trick; when both are made, those of the trick just over.
        lead: int8 [], points of player 0 minus points of player 1.
    """

    hands: Array
    deck: Array
    prize: Array
    bids: Array
    lead: Array


@checked
@dataclasses.dataclass(frozen=True)
class Goofspiel:
    """Goofspiel.

    Attributes:
        cards: cards in each hand and in the prize deck, 2 to 15.
        order: how prizes are turned up: "random", "ascending" or "descending".
        imp_info: hide the bids; only who wins each trick is announced.
        returns: "win_loss" (1, 0 or -1) or "point_difference" (half the difference in points, so
            that a point more than the average is worth 1, as in OpenSpiel).
    """

    cards: Annotated[int, Range(2, 15)] = 4
    order: Literal["random", "ascending", "descending"] = "random"
    imp_info: bool = True
    returns: Literal["win_loss", "point_difference"] = "win_loss"

    @property
    def name(self) -> str:
        return name_of("goofspiel", self)

    @property
    def num_players(self) -> int:
        return 2

    @property
    def num_actions(self) -> int:
        return self.cards

    def init(self) -> State:
        everything = (jnp.int8 if self.cards < 8 else jnp.int16)(2**self.cards - 1)
        prize, deck = self._turn_up(everything)
        return State(
            hands=jnp.stack([everything, everything]),
            deck=deck,
            prize=prize,
            bids=jnp.full(2, -1, jnp.int8),
            lead=jnp.int8(0),
        )

    def actor(self, state: State) -> Array:
        player = jnp.where(state.prize < 0, CHANCE, _bid_made(state))
        return jnp.where(state.hands[0] == 0, TERMINAL, player).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        hand = jnp.where(_bid_made(state), state.hands[1], state.hands[0])
        return self._members(jnp.where(state.prize < 0, state.deck, hand))

    def chance(self, state: State) -> Array:
        deck = self._members(state.deck)
        return deck / jnp.maximum(deck.sum(), 1)

    def step(self, state: State, action: Array) -> State:
        card = jnp.asarray(action, jnp.int8)
        bit = (1 << jnp.asarray(action)).astype(state.deck.dtype)
        chance, second = state.prize < 0, _bid_made(state)
        bidder = ~chance & (jnp.arange(2) == second)
        after = State(
            hands=jnp.where(bidder, state.hands & ~bit, state.hands),
            deck=jnp.where(chance, state.deck & ~bit, state.deck),
            prize=jnp.where(chance, card, state.prize),
            bids=jnp.where(bidder, card, jnp.where(second, state.bids, jnp.int8(-1))),
            lead=state.lead,
        )
        scored = self._score(after)
        return State(*(jnp.where(second, s, a) for s, a in zip(scored, after, strict=True)))

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [2] or [4], the prize turned up, the announcement, both bids if not hidden.

        private: [2, 0], nothing, as players know their own bids.
        """
        second, over = _bid_made(state), state.bids[1] >= 0
        winner = jnp.where(state.bids[0] > state.bids[1], WON_0, WON_1)
        winner = jnp.where(state.bids[0] == state.bids[1], TIE, winner)
        public = [
            jnp.where(second, NOTHING, state.prize),
            jnp.where(second, BID_MADE, jnp.where(over, winner, NOTHING)),
        ]
        if not self.imp_info:
            public += [*jnp.where(over, state.bids, NOTHING)]
        return jnp.stack(public).astype(jnp.int32), jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """1 for the winner and -1 for the loser, or points above the average."""
        lead = jnp.sign(state.lead) if self.returns == "win_loss" else state.lead / 2
        return jnp.stack([lead, -lead]).astype(float)

    def public_features(self, state: State) -> Array:
        """float [2 n + 2]: the prize turned up, prizes left, the lead, whether player 0 has bid.

        Players' cards are added where bids are shown, [4 n + 2].
        """
        prize = jnp.arange(self.cards) == state.prize
        lead = state.lead / (self.cards * (self.cards + 1) / 2)
        told = [prize, self._members(state.deck), jnp.stack([lead, _bid_made(state)])]
        if not self.imp_info:
            told += [self._members(hand) for hand in state.hands]
        return jnp.concatenate(told).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        return f"prize {action + 1}" if actor == CHANCE else str(action + 1)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        prize, announcement, *bids = (int(x) for x in public)
        words = []
        if announcement in (TIE, WON_0, WON_1):
            words.append(("tie", "0 wins", "1 wins")[announcement])
            words += [f"{bids[0] + 1}:{bids[1] + 1}"] if bids else []
        if prize != NOTHING:
            words.append(f"prize {prize + 1}")
        return " ".join(words)

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        prize, points, tricks = 0, [0, 0], 0
        cards = [*range(1, self.cards + 1)]
        for action, public, _ in seen:
            if action >= 0:
                cards.remove(action + 1)
            if public[1] in (TIE, WON_0, WON_1):
                tricks += 1
                if public[1] != TIE:
                    points[public[1] - WON_0] += prize
            prize = int(public[0]) + 1 if public[0] != NOTHING else prize
        return (
            f"trick {tricks + 1} of {self.cards} for prize {prize}, your cards "
            f"{' '.join(map(str, cards))}\nyou have {points[player]} points, "
            f"player {1 - player} has {points[1 - player]}"
        )

    def _score(self, state: State) -> State:
        """Gives the prize away, then turns up the next one or plays the last trick."""
        hand_0, hand_1 = state.hands
        last = (hand_1 & (hand_1 - 1)) == 0
        last_prize = jax.lax.population_count(state.deck - 1)  # index of the only bit
        lead = state.lead + jnp.sign(state.bids[0] - state.bids[1]) * (state.prize + 1)
        last_lead = jnp.sign(hand_0 - hand_1) * (last_prize + 1)
        prize, deck = self._turn_up(state.deck)
        return State(
            hands=jnp.where(last, 0, state.hands).astype(state.hands.dtype),
            deck=jnp.where(last, 0, deck).astype(deck.dtype),
            prize=jnp.where(last, -1, prize).astype(jnp.int8),
            bids=state.bids,
            lead=jnp.where(last, lead + last_lead, lead).astype(jnp.int8),
        )

    def _turn_up(self, deck: Array) -> tuple[Array, Array]:
        """Returns (prize int8 [], deck without it); prize is -1 where chance decides."""
        if self.order == "random":
            return jnp.int8(-1), deck
        left = jax.lax.population_count(deck)
        prize = self.cards - left if self.order == "ascending" else left - 1
        return prize.astype(jnp.int8), deck & ~(1 << prize).astype(deck.dtype)

    def _members(self, mask: Array) -> Array:
        """Returns bool [cards], the cards in a bit mask."""
        return (mask >> jnp.arange(self.cards)) & 1 == 1


def _bid_made(state: State) -> Array:
    """Returns bool [], player 0 has bid and player 1 has not."""
    return (state.bids[0] >= 0) & (state.bids[1] < 0)


ENTRY = Entry(
    make=Goofspiel,
    summary="Goofspiel: simultaneous bids for prizes, hidden or not",
    references=(
        Reference(
            "",
            26773,
            (1804, 1804),
            0.0,
            "symmetric, so 0",
            "goofspiel(num_cards=4,imp_info=true,points_order=random)",
            public_states=1281,
        ),
        Reference(
            "order=ascending",
            1077,
            (81, 81),
            0.0,
            "symmetric, so 0",
            "goofspiel(num_cards=4,imp_info=true,points_order=ascending)",
            public_states=53,
        ),
        Reference(
            "cards=5,order=descending,returns=point_difference",
            26931,
            (1062, 1062),
            0.0,
            "symmetric, so 0",
            "goofspiel(num_cards=5,imp_info=true,points_order=descending,"
            "returns_type=point_difference)",
            public_states=161,
        ),
        Reference(
            "cards=3,imp_info=false",
            418,
            (57, 57),
            0.0,
            "symmetric, so 0",
            "goofspiel(num_cards=3,points_order=random)",
            public_states=358,
        ),
    ),
)
