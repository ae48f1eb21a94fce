"""No-limit Leduc hold'em: Leduc's cards and rounds, with bets that are fractions of the pot.

A deck of `ranks` x `suits` cards. Two players ante and get one card each; a betting round; one card
is dealt face up; a second betting round; showdown. Pairs with the board card beat any other hand,
then the higher rank wins; equal hands split the pot. Player 0 opens both rounds. Who faces a bet
may fold; anybody may call (check); and, fewer than `raises` times a round, raise by a fraction of
the pot as it would be after calling, or go all-in. A fraction is rounded to whole chips, halves up;
one that comes to no chip, to as much as a smaller one, or to all-in is not on offer. Once somebody
is all-in and called, the board card is dealt and the hands are shown.

A small game for what a real no-limit game is for: large bet menus, coarse ones inside them, and
bets that a coarse menu does not have.

Source: the cards of Southey et al., "Bayes' bluff" (UAI 2005); the betting of no-limit hold'em.
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

FOLD, CALL, BET = 0, 1, 2
"""Actions; BET is the smallest fraction, and all-in comes after the largest."""


class State(NamedTuple):
    """A state.

    Attributes:
        cards: int8 [2], each player's card, -1 before the deal.
        board: int8 [], -1 before it is dealt.
        paid: int32 [2], chips each player has in the pot.
        folded: bool [2].
        player: int8 [], whose turn it is, or to whom a card goes.
        waiting: int8 [], how many players still have to answer in this round; 0 between rounds.
        raises: int8 [], raises in this round.
        last: int8 [], the last betting action, `dealt` after a private card, -1 otherwise.
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
class NoLimitLeduc:
    """Rules.

    Attributes:
        ranks: number of ranks.
        suits: cards of each rank, 1 to 4.
        stack: chips of each player before the ante.
        sizes: raises on offer, as fractions of the pot after calling, ascending.
        raises: raises allowed in a round.
        ante: chips each player pays before the deal.
        all_in: all-in is on offer, too.
    """

    ranks: int = 3
    suits: int = 2
    stack: int = 13
    sizes: tuple[float, ...] = (0.5, 1.0)
    raises: int = 2
    ante: int = 1
    all_in: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", as_tuples(self.sizes))
        if not 1 <= self.suits <= len(SUITS) or not 1 <= self.ranks <= len(RANKS):
            raise ValueError(
                f"nolimit_leduc needs 1 to {len(RANKS)} ranks and 1 to {len(SUITS)} suits, not "
                f"{self.ranks} and {self.suits}."
            )
        if self.deck < 3:
            raise ValueError(f"nolimit_leduc needs 3 cards; there are only {self.deck}.")
        if not isinstance(self.sizes, tuple) or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"sizes must be a list that ascends, not {self.sizes}.")
        if any(size <= 0 for size in self.sizes):
            raise ValueError(f"sizes are fractions above 0, such as [0.5,1], not {self.sizes}.")
        if self.raises < 0 or self.ante < 1 or self.stack < self.ante:
            raise ValueError(
                f"nolimit_leduc needs raises >= 0 and stack >= ante >= 1, not {self.raises}, "
                f"{self.stack} and {self.ante}."
            )

    @property
    def name(self) -> str:
        return name_of("nolimit_leduc", self)

    @property
    def num_players(self) -> int:
        return 2

    @property
    def deck(self) -> int:
        """Cards in the deck."""
        return self.ranks * self.suits

    @property
    def num_moves(self) -> int:
        """Actions of a player."""
        return BET + len(self.sizes) + int(self.all_in)

    @property
    def num_actions(self) -> int:
        return max(self.num_moves, self.deck)

    def init(self) -> State:
        return State(
            cards=jnp.full(2, -1, jnp.int8),
            board=jnp.int8(-1),
            paid=jnp.full(2, self.ante, jnp.int32),
            folded=jnp.zeros(2, bool),
            player=jnp.int8(0),
            waiting=jnp.int8(0),
            raises=jnp.int8(0),
            last=jnp.int8(NOTHING),
        )

    def actor(self, state: State) -> Array:
        player = jnp.where(state.waiting == 0, CHANCE, state.player)
        return jnp.where(self._over(state), TERMINAL, player).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        totals = self._totals(state)
        rises = jnp.concatenate([state.paid.max()[None], totals[:-1]])
        may = (totals > rises) & (state.raises < self.raises)
        fold = state.paid[state.player] < state.paid.max()
        moves = jnp.concatenate([jnp.stack([fold, jnp.bool_(True)]), may])
        betting = jnp.zeros(self.num_actions, bool).at[: self.num_moves].set(moves)
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
        """public: [2], betting action or `num_moves` for a private card, and the board card."""
        opens = (state.last == NOTHING) & (state.board >= 0)
        public = jnp.stack([state.last, jnp.where(opens, state.board, NOTHING)])
        dealt_to = jnp.where(state.last == self.num_moves, (state.cards >= 0).sum() - 1, -1)
        mine = jnp.where(jnp.arange(2) == dealt_to, state.cards, NOTHING)
        return public.astype(jnp.int32), mine[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Chips won or lost."""
        rank, board = state.cards // self.suits, state.board // self.suits
        strength = rank + jnp.where(rank == board, self.deck, 0)
        strength = jnp.where(state.folded, -1, strength)
        wins = strength == strength.max()
        return jnp.where(wins, state.paid.sum() / wins.sum(), 0) - state.paid

    def action_name(self, actor: int, action: int) -> str:
        if actor == CHANCE:
            return self._card(action)
        if action < BET:
            return ("fold", "call")[action]
        size = action - BET
        return f"bet {self.sizes[size]:g}" if size < len(self.sizes) else "all-in"

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if private[0] != NOTHING:
            return self._card(private[0])
        if public[1] != NOTHING:
            return self._card(public[1])
        move = int(public[0])
        if move in (FOLD, CALL):
            return "fc"[move]
        if not BET <= move < self.num_moves:
            return ""
        return self.action_name(0, move)

    def _totals(self, state: State) -> Array:
        """Returns int32 [sizes (+ 1)], what a raise of each size has paid in all.

        Ascending, but for sizes that are not on offer: those have what is to be called.
        """
        high = state.paid.max()
        sizes = jnp.asarray(self.sizes, jnp.float32)
        totals = high + jnp.floor(sizes * 2 * high + 0.5).astype(jnp.int32)
        totals = jnp.where(totals < self.stack, totals, high)  # comes to all-in: not on offer
        if self.all_in:
            totals = jnp.concatenate([totals, jnp.full(1, self.stack, jnp.int32)])
        return totals

    def _deal(self, state: State, card: Array) -> State:
        """The next private card, or the board card once both have one."""
        private = state.cards[-1] < 0
        here = jnp.arange(2) == state.player
        opens = ~private | (state.player == 1)
        can_bet = opens & (state.paid.max() < self.stack)
        return state._replace(
            cards=jnp.where(private & here, card, state.cards).astype(jnp.int8),
            board=jnp.where(private, -1, card).astype(jnp.int8),
            player=jnp.where(opens, 0, state.player + 1).astype(jnp.int8),
            waiting=jnp.where(can_bet, 2, 0).astype(jnp.int8),
            raises=jnp.int8(0),
            last=jnp.where(private, self.num_moves, NOTHING).astype(jnp.int8),
        )

    def _bet(self, state: State, action: Array) -> State:
        here = jnp.arange(2) == state.player
        raises = action >= BET
        totals = self._totals(state)
        to = totals[jnp.clip(action - BET, 0, len(totals) - 1)] if len(totals) else 0
        pays = jnp.where(raises, to, state.paid.max())
        folded = state.folded | (here & (action == FOLD))
        return state._replace(
            paid=jnp.where(here & (action != FOLD), pays, state.paid).astype(jnp.int32),
            folded=folded,
            player=(1 - state.player).astype(jnp.int8),
            waiting=jnp.where(raises, 1, state.waiting - 1).astype(jnp.int8),
            raises=state.raises + raises.astype(jnp.int8),
            last=action.astype(jnp.int8),
        )

    def _over(self, state: State) -> Array:
        return state.folded.any() | ((state.waiting == 0) & (state.board >= 0))

    def _in_deck(self, state: State) -> Array:
        cards = jnp.arange(self.num_actions)
        return (cards[:, None] != state.cards).all(1) & (cards < self.deck)

    def _card(self, card: int) -> str:
        rank, suit = divmod(int(card), self.suits)
        return rank_name(rank, self.ranks) + SUITS[suit]


ENTRY = Entry(
    make=NoLimitLeduc,
    summary="Leduc hold'em with bets of fractions of the pot, and all-in",
    references=(
        Reference(
            "sizes=[1.0]",
            11737,
            (540, 540),
            -0.0659450952921,
            "sequence-form LP",
            public_states=575,
        ),
        Reference(
            "suits=1,sizes=[1.0]", 712, (117, 117), 0.0, "sequence-form LP", public_states=302
        ),
    ),
)
