"""What limit and no-limit Leduc hold'em share: the cards, the order of play and the showdown.

A deck of ranks x suits; card = rank * suits + suit. Everybody antes and is dealt one card; a
betting round; one card is dealt face up; a second betting round; showdown. Player 0 opens both
rounds (the next player still in, after a fold).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Seen
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._cards import SUITS, rank_name
from ._words import seat_name

FOLD, CALL, RAISE = 0, 1, 2
"""Actions; larger numbers are raises, too."""


class State(NamedTuple):
    """A state of Leduc for n players.

    Attributes:
        cards: int8 [n], each player's card, -1 before the deal.
        board: int8 [], the board card, -1 before it is dealt.
        paid: int32 [n], chips each player has in the pot.
        folded: bool [n].
        player: int8 [], whose turn it is, or to whom a card goes.
        waiting: int8 [], how many players still have to answer in this round; 0 between rounds.
        raises: int8 [], raises in this round.
        last: int8 [], the last betting action, `num_moves` after a private card, -1 otherwise.
    """

    cards: Array
    board: Array
    paid: Array
    folded: Array
    player: Array
    waiting: Array
    raises: Array
    last: Array


class LeducRules:
    """Rules but for the bets: a subclass has fields and says what may be raised."""

    suits: int
    ante: int
    raises: int

    @property
    def num_players(self) -> int:
        """Players."""
        raise NotImplementedError

    @property
    def num_ranks(self) -> int:
        """Ranks in the deck."""
        raise NotImplementedError

    @property
    def num_moves(self) -> int:
        """Actions of a player."""
        raise NotImplementedError

    def _raises(self, state: State) -> Array:
        """Returns bool [num_moves - RAISE], which raises are on offer."""
        raise NotImplementedError

    def _raised_to(self, state: State, action: Array) -> Array:
        """Returns int32 [], what the player has paid in all after a raise."""
        raise NotImplementedError

    def _goes_on(self, state: State) -> Array:
        """Returns bool [], whether the next round has bets."""
        return jnp.bool_(True)

    @property
    def deck(self) -> int:
        """Cards in the deck."""
        return self.num_ranks * self.suits

    @property
    def num_actions(self) -> int:
        return max(self.num_moves, self.deck)

    def init(self) -> State:
        n = self.num_players
        return State(
            cards=jnp.full(n, -1, jnp.int8),
            board=jnp.int8(-1),
            paid=jnp.full(n, self.ante, jnp.int32),
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
        fold = state.paid[state.player] < state.paid.max()
        moves = jnp.concatenate([jnp.stack([fold, jnp.bool_(True)]), self._raises(state)])
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
        mine = jnp.where(jnp.arange(self.num_players) == dealt_to, state.cards, NOTHING)
        return public.astype(jnp.int32), mine[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Chips won or lost."""
        rank, board = state.cards // self.suits, state.board // self.suits
        strength = rank + jnp.where(rank == board, self.deck, 0)
        strength = jnp.where(state.folded, -1, strength)
        wins = strength == strength.max()
        return jnp.where(wins, state.paid.sum() / wins.sum(), 0) - state.paid

    def action_name(self, actor: int, action: int) -> str:
        return self._card(action) if actor == CHANCE else self._move_name(action)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        if private[0] != NOTHING:
            return self._card(private[0])
        if public[1] != NOTHING:
            return self._card(public[1])
        move = int(public[0])
        return self._move_letter(move) if 0 <= move < self.num_moves else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        state, card, board = self.init(), "", "none yet"
        for _, public, private in seen:
            move, shown = int(public[0]), int(public[1])
            card = card if private[0] == NOTHING else self._card(private[0])
            if 0 <= move < self.num_moves:
                state = self._bet(state, jnp.int32(move))
            elif move == self.num_moves or shown != NOTHING:
                # Which private cards they are makes no difference to the bets.
                state = self._deal(state, jnp.int32(max(shown, 0)))
                board = board if shown == NOTHING else self._card(shown)
        paid, folded = np.asarray(state.paid), np.asarray(state.folded)
        stack = f" of {most}" if (most := getattr(self, "stack", None)) else ""
        seats = [
            f"{seat_name(i, player)} paid {paid[i]}{stack}{' and folded' if folded[i] else ''}"
            for i in range(self.num_players)
        ]
        return (
            f"your card {card}, board {board}\npot {paid.sum()}: {', '.join(seats)}; "
            f"to call {paid.max() - paid[player]}"
        )

    def _move_name(self, move: int) -> str:
        return ("fold", "call", "raise")[move]

    def _move_letter(self, move: int) -> str:
        """Returns what stands for a move in a history."""
        return self._move_name(move)[0]

    def _deal(self, state: State, card: Array) -> State:
        """The next private card, or the board card once everybody has one."""
        n = self.num_players
        private = state.cards[-1] < 0
        here = jnp.arange(n) == state.player
        opens = ~private | (state.player == n - 1)
        bets = opens & self._goes_on(state)
        return state._replace(
            cards=jnp.where(private & here, card, state.cards).astype(jnp.int8),
            board=jnp.where(private, -1, card).astype(jnp.int8),
            player=jnp.where(opens, _next(state.folded, n - 1), state.player + 1).astype(jnp.int8),
            waiting=jnp.where(bets, (~state.folded).sum(), 0).astype(jnp.int8),
            raises=jnp.int8(0),
            last=jnp.where(private, self.num_moves, NOTHING).astype(jnp.int8),
        )

    def _bet(self, state: State, action: Array) -> State:
        here = jnp.arange(self.num_players) == state.player
        raises = action >= RAISE
        pays = jnp.where(raises, self._raised_to(state, action), state.paid.max())
        folded = state.folded | (here & (action == FOLD))
        others = (~folded).sum() - 1
        return state._replace(
            paid=jnp.where(here & (action != FOLD), pays, state.paid).astype(jnp.int32),
            folded=folded,
            player=_next(folded, state.player).astype(jnp.int8),
            waiting=jnp.where(raises, others, state.waiting - 1).astype(jnp.int8),
            raises=state.raises + raises.astype(jnp.int8),
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
