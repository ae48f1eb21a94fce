"""Leduc hold'em: two betting rounds, one private card each, one board card.

A deck of `ranks` x `suits` cards. Everybody antes and is dealt one card; a betting round; one card
is dealt face up; a second betting round; showdown. A player who faces a raise may fold; anybody
may call (check when there is nothing to call) or, fewer than `raises` times a round, raise by the
round's bet size. A pair with the board card beats any other hand, then the higher rank wins;
equal hands split the pot. Player 0 opens both rounds (the next player still in, after a fold).

Source: Southey et al., "Bayes' bluff: opponent modelling in poker" (UAI 2005). Actions and chance
outcomes are numbered as in OpenSpiel's leduc_poker, which tells suits apart: card = rank * suits +
suit.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from games._cards import RANKS, SUITS, rank_name
from games._params import as_tuples, name_of
from jaxsolve.game import Entry, Reference
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

FOLD, CALL, RAISE = 0, 1, 2
DEALT = 3
"""Public observation: a private card went to somebody. The others are the betting actions."""


class State(NamedTuple):
    """A state of n-player Leduc.

    Attributes:
        cards: int8 [n], each player's card, -1 before the deal.
        board: int8 [], the board card, -1 before it is dealt.
        paid: int16 [n], chips each player has in the pot.
        folded: bool [n].
        player: int8 [], whose turn it is, or to whom a card goes.
        waiting: int8 [], how many players still have to answer in this round; 0 between rounds.
        raises: int8 [], raises in this round.
        last: int8 [], the last betting action, DEALT after a private card, -1 otherwise.
    """

    cards: Array
    board: Array
    paid: Array
    folded: Array
    player: Array
    waiting: Array
    raises: Array
    last: Array


@dataclasses.dataclass(frozen=True)
class Leduc:
    """Leduc hold'em.

    Attributes:
        players: 2 to 10.
        ranks: number of ranks; one more than the players if None.
        suits: cards of each rank, 1 to 4.
        bets: size of a raise in the first and in the second round, in chips.
        raises: raises allowed in a round.
        ante: chips each player pays before the deal.
    """

    players: int = 2
    ranks: int | None = None
    suits: int = 2
    bets: tuple[int, int] = (2, 4)
    raises: int = 2
    ante: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bets", as_tuples(self.bets))
        if not 2 <= self.players <= 10:
            raise ValueError(f"leduc needs 2 to 10 players, not {self.players}.")
        if not 1 <= self.suits <= len(SUITS):
            raise ValueError(f"leduc needs 1 to {len(SUITS)} suits, not {self.suits}.")
        if not 1 <= self.num_ranks <= len(RANKS):
            raise ValueError(f"leduc needs 1 to {len(RANKS)} ranks, not {self.num_ranks}.")
        if self.deck <= self.players:
            raise ValueError(
                f"leduc with {self.players} players and a board card needs {self.players + 1} "
                f"cards; {self.num_ranks} ranks of {self.suits} suits are only {self.deck}."
            )
        if not isinstance(self.bets, tuple) or len(self.bets) != 2 or min(self.bets) < 1:
            raise ValueError(f"leduc needs two bet sizes, such as bets=(2,4), not {self.bets}.")
        if self.raises < 0 or self.ante < 1:
            raise ValueError(
                f"leduc needs raises >= 0 and ante >= 1, not {self.raises} and {self.ante}."
            )
        if self.ante + self.raises * sum(self.bets) > np.iinfo(np.int16).max:
            raise ValueError("leduc counts chips in 16 bits: at most 32767 for one player.")

    @property
    def name(self) -> str:
        return name_of("leduc", self)

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def num_ranks(self) -> int:
        """Ranks in the deck."""
        return self.players + 1 if self.ranks is None else self.ranks

    @property
    def deck(self) -> int:
        """Cards in the deck."""
        return self.num_ranks * self.suits

    @property
    def num_actions(self) -> int:
        return max(3, self.deck)

    def init(self) -> State:
        n = self.players
        return State(
            cards=jnp.full(n, -1, jnp.int8),
            board=jnp.int8(-1),
            paid=jnp.full(n, self.ante, jnp.int16),
            folded=jnp.zeros(n, bool),
            player=jnp.int8(0),
            waiting=jnp.int8(0),
            raises=jnp.int8(0),
            last=jnp.int8(NOTHING),
        )

    def actor(self, state: State) -> Array:
        player = jnp.where(state.waiting == 0, CHANCE, state.player)
        return jnp.where(self._over(state), TERMINAL, player).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        actions = jnp.arange(self.num_actions)
        under_pressure = state.paid[state.player] < state.paid.max()
        betting = (
            (actions == CALL)
            | ((actions == FOLD) & under_pressure)
            | ((actions == RAISE) & (state.raises < self.raises))
        )
        mask = jnp.where(state.waiting == 0, self._in_deck(state), betting)
        return mask & ~self._over(state)

    def chance(self, state: State) -> Array:
        deck = self._in_deck(state)
        return deck / deck.sum()

    def step(self, state: State, action: Array) -> State:
        dealt = self._deal(state, action)
        bet = self._bet(state, action)
        chance = state.waiting == 0
        return State(*(jnp.where(chance, d, b) for d, b in zip(dealt, bet, strict=True)))

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [2], betting action or DEALT, and board card; private: [n, 1], the own card."""
        opens = (state.last == NOTHING) & (state.board >= 0)
        public = jnp.stack([state.last, jnp.where(opens, state.board, NOTHING)])
        dealt_to = jnp.where(state.last == DEALT, (state.cards >= 0).sum() - 1, -1)
        mine = jnp.where(jnp.arange(self.players) == dealt_to, state.cards, NOTHING)
        return public.astype(jnp.int32), mine[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Chips won or lost."""
        rank, board = state.cards // self.suits, state.board // self.suits
        strength = rank + jnp.where(rank == board, self.deck, 0)
        strength = jnp.where(state.folded, -1, strength)
        wins = strength == strength.max()
        pot = state.paid.sum()
        return jnp.where(wins, pot / wins.sum(), 0) - state.paid

    def public_features(self, state: State) -> Array:
        """float [deck + 2 n + 1]: board card, turn, raises and chips paid; for networks."""
        most = self.ante + self.raises * sum(self.bets)
        board = jnp.arange(self.deck) == state.board
        turn = jnp.arange(self.players) == state.player
        numbers = jnp.append(state.paid / most, state.raises / max(self.raises, 1))
        return jnp.concatenate([board, turn, numbers]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        return self._card(action) if actor == CHANCE else ("fold", "call", "raise")[action]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if private[0] != NOTHING:
            return self._card(private[0])
        if public[1] != NOTHING:
            return self._card(public[1])
        return "fcr"[public[0]] if public[0] in (FOLD, CALL, RAISE) else ""

    def _deal(self, state: State, card: Array) -> State:
        """The next private card, or the board card once everybody has one."""
        n = self.players
        private = state.cards[-1] < 0
        here = jnp.arange(n) == state.player
        opens = ~private | (state.player == n - 1)
        return state._replace(
            cards=jnp.where(private & here, card, state.cards).astype(jnp.int8),
            board=jnp.where(private, -1, card).astype(jnp.int8),
            player=jnp.where(opens, _next(state.folded, n - 1), state.player + 1).astype(jnp.int8),
            waiting=jnp.where(opens, (~state.folded).sum(), 0).astype(jnp.int8),
            raises=jnp.int8(0),
            last=jnp.where(private, DEALT, NOTHING).astype(jnp.int8),
        )

    def _bet(self, state: State, action: Array) -> State:
        here = jnp.arange(self.players) == state.player
        size = jnp.where(state.board < 0, *self.bets)
        pays = state.paid.max() + jnp.where(action == RAISE, size, 0)
        folded = state.folded | (here & (action == FOLD))
        others = (~folded).sum() - 1
        return state._replace(
            paid=jnp.where(here & (action != FOLD), pays, state.paid).astype(jnp.int16),
            folded=folded,
            player=_next(folded, state.player).astype(jnp.int8),
            waiting=jnp.where(action == RAISE, others, state.waiting - 1).astype(jnp.int8),
            raises=state.raises + (action == RAISE).astype(jnp.int8),
            last=action.astype(jnp.int8),
        )

    def _over(self, state: State) -> Array:
        alone = (~state.folded).sum() == 1
        return alone | ((state.waiting == 0) & (state.board >= 0))

    def _in_deck(self, state: State) -> Array:
        cards = jnp.arange(self.num_actions)
        return (cards[:, None] != state.cards).all(1) & (cards < self.deck)

    def _card(self, card: int) -> str:
        rank, suit = divmod(int(card), self.suits)
        return rank_name(rank, self.num_ranks) + SUITS[suit]


def _next(folded: Array, player: Array | int) -> Array:
    """Returns int [], the first player after `player` who has not folded."""
    n = len(folded)
    distance = (jnp.arange(n) - player - 1) % n
    return jnp.argmin(jnp.where(folded, n, distance))


ENTRY = Entry(
    make=Leduc,
    summary="Leduc hold'em: two rounds of betting, one board card",
    references=(
        Reference(
            "",
            9457,
            (468, 468),
            -0.085606424078,
            "OpenSpiel, sequence-form LP",
            "leduc_poker",
            public_states=467,
        ),
        Reference("suits=1", 544, (99, 99), 0.0, "sequence-form LP", public_states=242),
    ),
)
