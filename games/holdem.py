"""Texas hold'em, no-limit or fixed-limit, 2 to 9 players, with a fixed menu of bet sizes.

Everybody is dealt two cards; a betting round; then the flop (three cards), the turn and the river
(one each), each followed by a betting round. The best five of a player's seven cards win, or of
the five that there are where the game ends after the flop. Blinds and betting are those of
`jaxsolve.holdem` in the ACPC's seating: heads-up seat 0 is the big blind, seat 1 the button.

Actions: fold, call (or check), then in no-limit a raise by each fraction of the pot in `sizes` and
all-in, in fixed-limit a raise. A size that comes to the same total as a smaller one, or to all-in,
is not legal. Differs from OpenSpiel's universal_poker, whose betting tree is the same, in the deal:
the cards of a hand and of a flop come in ascending order, with the probabilities that make every
set of cards equally likely. So there are 24 times fewer states with a hand for each of two players
and a flop, and nobody remembers in which order they saw cards.

A deck of fewer ranks has the highest ones. Chance outcome: rank * suits + suit, 0 the lowest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import holdem
from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import CHANCE, NOTHING, Array

from ._params import MAX_CHIPS, Chips, PotFraction, name_of
from ._words import seat_name

FOLD, CALL, RAISE = 0, 1, 2
"""Actions; with several sizes RAISE is the first, and all-in the last."""

BOARD = (0, 3, 4, 5)
"""Cards on the board on each street."""


Blind = Annotated[int, Range(0, MAX_CHIPS)]


class State(NamedTuple):
    """A state of hold'em (n players, b board cards in all).

    Attributes:
        cards: int8 [2n + b], in the order of the deal: two for each seat, then the board; -1 where
            not dealt yet.
        dealt: int8 [], how many have been dealt.
        last: int8 [], the last action of a player, -1 after a card.
        betting: the state of the betting.
    """

    cards: Array
    dealt: Array
    last: Array
    betting: holdem.BetState


@checked
@dataclasses.dataclass(frozen=True)
class Holdem:
    """Texas hold'em.

    Attributes:
        players: 2 to 9.
        stack: chips before the hand, of everybody or one number per seat.
        blinds: small and big blind.
        ante: chips that everybody posts besides.
        streets: 2 (ends after the flop, as NLFH) to 4.
        sizes: raises on offer, as fractions of the pot after calling, ascending; all-in besides.
        limit: the size of a raise on each street, for fixed-limit; None for no-limit.
        raises: raises allowed on each street, or None for any number.
        ranks: ranks in the deck, the highest ones.
        suits: suits in the deck.
    """

    players: Annotated[int, Range(2, 9)] = 2
    stack: Chips | tuple[Chips, ...] = 20_000
    blinds: tuple[Blind, Blind] = (
        50,
        100,
    )
    ante: Blind = 0
    streets: Annotated[int, Range(2, 4)] = 4
    sizes: tuple[PotFraction, ...] = (0.5, 1.0)
    limit: tuple[Chips, ...] | None = None
    raises: tuple[Annotated[int, Range(0, 100)], ...] | None = None
    ranks: Annotated[int, Range(1, len(holdem.RANKS))] = 13
    suits: Annotated[int, Range(1, len(holdem.SUITS))] = 4

    def __post_init__(self) -> None:
        if self.deck < self.num_cards:
            raise ValueError(
                f"holdem with {self.players} players and {self.streets} streets needs "
                f"{self.num_cards} cards; {self.ranks} ranks of {self.suits} suits are only "
                f"{self.deck}."
            )
        stacks = self.stack if isinstance(self.stack, tuple) else (self.stack,) * self.players
        if len(stacks) != self.players:
            raise ValueError(
                f"stack is a number of chips, or one per seat, {self.players} in all, not "
                f"{self.stack}."
            )
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"sizes must ascend, each only once, not {list(self.sizes)}.")
        _ = self.rules  # which has its own checks

    @property
    def name(self) -> str:
        return name_of("holdem", self)

    @property
    def num_players(self) -> int:
        return self.players

    @property
    def deck(self) -> int:
        """Cards in the deck."""
        return self.ranks * self.suits

    @property
    def num_cards(self) -> int:
        """Cards that are dealt in a whole hand."""
        return 2 * self.players + BOARD[self.streets - 1]

    @property
    def num_moves(self) -> int:
        """Actions of a player."""
        return RAISE + (len(self.sizes) + 1 if self.limit is None else 1)

    @property
    def num_actions(self) -> int:
        return max(self.num_moves, self.deck)

    @property
    def rules(self) -> holdem.Betting:
        """The rules of betting."""
        small, big = self.blinds
        return dataclasses.replace(
            holdem.no_limit(self.players, small, big, self.streets),
            limit=self.limit,
            max_raises=self.raises,
            ante=self.ante,
        )

    def init(self) -> State:
        return State(
            cards=jnp.full(self.num_cards, -1, jnp.int8),
            dealt=jnp.int8(0),
            last=jnp.int8(NOTHING),
            betting=holdem.start(self.rules, jnp.asarray(self.stack, jnp.int32)),
        )

    def actor(self, state: State) -> Array:
        return jnp.where(state.dealt < 2 * self.players, CHANCE, state.betting.actor)

    def legal(self, state: State) -> Array:
        actor = self.actor(state)
        can = holdem.options(self.rules, state.betting)
        sized, all_in = self.totals(state)[:-1], can.high
        lower = jnp.concatenate([jnp.full(1, -1), sized])[: len(sized)]
        fresh = jnp.concatenate([(sized > lower) & (sized < all_in), jnp.full(1, True)])
        moves = jnp.concatenate([jnp.stack([can.fold, can.call]), (can.low <= all_in) & fresh])
        moves = jnp.zeros(self.num_actions, bool).at[: self.num_moves].set(moves)
        return jnp.where(actor == CHANCE, self.chance(state) > 0, moves & (actor >= 0))

    def chance(self, state: State) -> Array:
        cards = jnp.arange(self.num_actions)
        in_deck = (cards[:, None] != state.cards).all(1) & (cards < self.deck)
        size, place = self._group(state.dealt)
        previous = jnp.where(place > 0, state.cards[state.dealt - 1], -1)
        free = in_deck & (cards > previous)
        above = free.sum() - jnp.cumsum(free)
        # This card is the lowest of the `size - place` that are still to come.
        ways = jnp.asarray(_CHOOSE)[above, size - place - 1]
        return jnp.where(free, ways, 0) / jnp.maximum(1, jnp.where(free, ways, 0).sum())

    def step(self, state: State, action: Array) -> State:
        chance = self.actor(state) == CHANCE
        dealt, moved = self._deal(state, action), self._move(state, action)
        return jax.tree.map(lambda a, b: jnp.where(chance, a, b), dealt, moved)

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [4], action (num_moves for the deal) and new board cards; private: [n, 2], hand.

        A player sees both cards of their hand at once, everybody sees the whole flop at once, and
        everybody sees when the last hand has been dealt.
        """
        n, cards, dealt = self.players, state.cards, state.dealt
        size, place = self._group(dealt - 1)
        shows = (dealt > 0) & (state.last == NOTHING) & (place == size - 1)
        board = shows & (dealt > 2 * n)
        new = cards[jnp.maximum(dealt - size, 0) + jnp.arange(3)]
        public = jnp.concatenate(
            [
                jnp.where(shows & (dealt == 2 * n), self.num_moves, state.last)[None],
                jnp.where(board & (jnp.arange(3) < size), new, NOTHING),
            ]
        )
        mine = shows & ((jnp.arange(n) + 1) * 2 == dealt)
        private = jnp.where(mine[:, None], cards[: 2 * n].reshape(n, 2), NOTHING)
        return public.astype(jnp.int32), private.astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Chips won or lost; ties divide pots exactly."""
        n = self.players
        hands, board = state.cards[: 2 * n].reshape(n, 2), state.cards[2 * n :]
        cards = jnp.concatenate([hands, jnp.broadcast_to(board, (n, len(board)))], 1)
        strength = holdem.strength(self._card(jnp.maximum(cards, 0).astype(jnp.int32)))
        return holdem.payoffs(self.rules, state.betting, strength)

    def public_features(self, state: State) -> Array:
        """float [deck + 4 n + 4]: the board, street, whose turn, chips in the pot, who folded.

        Chips are shares of the largest stack, before the hand and put in; for networks.
        """
        n, betting = self.players, state.betting
        shown = state.dealt - self._group(state.dealt)[1]  # whole streets
        visible = jnp.arange(2 * n, self.num_cards) < shown
        cards = jnp.where(visible, state.cards[2 * n :], -1)
        board = (jnp.arange(self.deck)[:, None] == cards).any(1)
        turn = jnp.arange(n) == betting.actor
        chips = jnp.stack([betting.stack, betting.spent]).ravel() / betting.stack.max()
        street = jnp.arange(4) == betting.street
        return jnp.concatenate([board, street, turn, chips, betting.folded]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        if actor == CHANCE:
            return holdem.card_name(self._card(action))
        if action < RAISE or self.limit is not None:
            return ("fold", "call", "raise")[action]
        return [*(f"raise {size:g}" for size in self.sizes), "all-in"][action - RAISE]

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        shown = [*private, *public[1:]]
        if max(shown) != NOTHING:
            return holdem.cards_name(self._card(int(c)) for c in shown if c != NOTHING)
        action = int(public[0])
        if not 0 <= action < self.num_moves:
            return ""
        if action < RAISE or self.limit is not None:
            return "fcr"[action]
        return [*(f"r{size:g}" for size in self.sizes), "a"][action - RAISE]

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        state, hand, board = self.init(), "", ""
        betting = state.betting
        for _, public, private in seen:
            move = int(public[0])
            if private[0] != NOTHING:
                hand = self.observation_name(np.full(4, NOTHING), private)
            if public[1] != NOTHING:
                board += self.observation_name(public, np.full(2, NOTHING))
                betting = holdem.next_street(self.rules, betting)
            elif 0 <= move < self.num_moves:
                betting = self._move(state._replace(betting=betting), jnp.int32(move)).betting
        spent, left = np.asarray(betting.spent), np.asarray(betting.stack - betting.spent)
        seats = "\n".join(
            f"  {seat_name(i, player)}: {spent[i]} in the pot, {left[i]} behind"
            + ("; folded" if betting.folded[i] else "")
            for i in range(self.players)
        )
        street = ("preflop", "flop", "turn", "river")[int(betting.street)]
        calls = min(int(betting.bet) - spent[player], left[player])
        return (
            f"{street}: your hand {hand}, board {board or 'none yet'}, pot {spent.sum()}, "
            f"to call {calls}\n{seats}"
        )

    def totals(self, state: State) -> Array:
        """Returns what each raise of the actor comes to, all-in last, in chips of the whole hand.

        int32 [num_moves - 2]; not meaningful where a raise is not legal.
        """
        fractions = self.sizes if self.limit is None else ()
        sized = [holdem.raise_to(self.rules, state.betting, size) for size in fractions]
        return jnp.stack([*sized, holdem.options(self.rules, state.betting).high])

    def _move(self, state: State, action: Array) -> State:
        raise_to = self.totals(state)[jnp.clip(action - RAISE, 0, self.num_moves - RAISE - 1)]
        call = holdem.call_to(state.betting)
        to = jnp.where(action == FOLD, holdem.FOLD, jnp.where(action == CALL, call, raise_to))
        betting = holdem.act(self.rules, state.betting, to)
        return state._replace(last=action.astype(jnp.int8), betting=betting)

    def _deal(self, state: State, card: Array) -> State:
        """The next card; the last one of a street opens its betting."""
        here = jnp.arange(self.num_cards) == state.dealt
        dealt = state.dealt + 1
        after = holdem.next_street(self.rules, state.betting)
        opens = (dealt > 2 * self.players) & (self._group(dealt)[1] == 0)
        return State(
            cards=jnp.where(here, card, state.cards).astype(jnp.int8),
            dealt=dealt.astype(jnp.int8),
            last=jnp.int8(NOTHING),
            betting=jax.tree.map(lambda new, old: jnp.where(opens, new, old), after, state.betting),
        )

    def _group(self, position: Array) -> tuple[Array, Array]:
        """Returns how many cards are dealt together with one, and how many of them before it."""
        groups = [2] * self.players + list(np.diff(BOARD[: self.streets]))
        sizes = [size for size in groups for _ in range(size)]
        places = [place for size in groups for place in range(size)]
        # After the last card a new group would begin.
        return jnp.asarray([*sizes, 1])[position], jnp.asarray([*places, 0])[position]

    def _card(self, card: Any) -> Any:
        """Returns the number that a card of this deck has in the full deck."""
        lowest = len(holdem.RANKS) - self.ranks
        return len(holdem.SUITS) * (lowest + card // self.suits) + card % self.suits


_CHOOSE = np.array([[math.comb(n, k) for k in range(3)] for n in range(holdem.NUM_CARDS)], np.int32)
"""Binomial coefficients: of n cards choose k."""


ENTRY = Entry(
    make=Holdem,
    summary="Texas hold'em, no-limit or fixed-limit, with a fixed menu of bet sizes",
    references=(
        Reference(
            "stack=6,blinds=[1,2],streets=2,sizes=[1],ranks=7,suits=1",
            5782,
            (462, 462),
            -22 / 105,
            "sequence-form LP",
            public_states=396,
        ),
        Reference(
            "blinds=[1,2],streets=2,limit=[2,4],raises=[1,1],ranks=7,suits=1",
            9142,
            (1302, 1302),
            -4 / 27,
            "sequence-form LP",
            public_states=956,
        ),
    ),
    instead="jaxsolve holdem solve SPOT.toml, which solves a spot with every hand",
)
