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
from typing import Annotated

import jax.numpy as jnp

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import Array

from ._cards import RANKS, SUITS
from ._leduc import LeducRules, State
from ._params import Chips, name_of


@checked
@dataclasses.dataclass(frozen=True)
class Leduc(LeducRules):
    """Leduc hold'em.

    Attributes:
        players: 2 to 10.
        ranks: number of ranks; one more than the players if None.
        suits: cards of each rank, 1 to 4.
        bets: size of a raise in the first and in the second round, in chips.
        raises: raises allowed in a round.
        ante: chips each player pays before the deal.
    """

    players: Annotated[int, Range(2, 10)] = 2
    ranks: Annotated[int | None, Range(1, len(RANKS))] = None
    suits: Annotated[int, Range(1, len(SUITS))] = 2
    bets: tuple[Chips, Chips] = (2, 4)
    raises: Annotated[int, Range(0, 100)] = 2
    ante: Chips = 1

    def __post_init__(self) -> None:
        if self.deck <= self.players:
            raise ValueError(
                f"leduc with {self.players} players and a board card needs {self.players + 1} "
                f"cards; {self.num_ranks} ranks of {self.suits} suits are only {self.deck}."
            )

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
    def num_moves(self) -> int:
        return 3

    def public_features(self, state: State) -> Array:
        """float [deck + 2 n + 1]: board card, turn, raises and chips paid; for networks."""
        most = self.ante + self.raises * sum(self.bets)
        board = jnp.arange(self.deck) == state.board
        turn = jnp.arange(self.players) == state.player
        numbers = jnp.append(state.paid / most, state.raises / max(self.raises, 1))
        return jnp.concatenate([board, turn, numbers]).astype(float)

    def largest_payoff(self, state: State) -> Array:
        """float []: the chips of all opponents, if everybody raises as often as is allowed."""
        left = self.raises - state.raises
        first, second = self.bets
        later = jnp.where(state.board < 0, left * first + self.raises * second, left * second)
        return ((self.players - 1) * (state.paid.max() + later)).astype(float)

    def _raises(self, state: State) -> Array:
        return (state.raises < self.raises)[None]

    def _raised_to(self, state: State, action: Array) -> Array:
        return state.paid.max() + jnp.where(state.board < 0, *self.bets)


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
