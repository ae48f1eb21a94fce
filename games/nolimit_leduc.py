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
from typing import Annotated

import jax.numpy as jnp

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import Array

from ._cards import RANKS, SUITS
from ._leduc import RAISE, LeducRules, State
from ._params import Chips, PotFraction, name_of


@checked
@dataclasses.dataclass(frozen=True)
class NoLimitLeduc(LeducRules):
    """Rules. The first raise is by the smallest fraction; all-in comes last.

    Attributes:
        ranks: number of ranks.
        suits: cards of each rank, 1 to 4.
        stack: chips of each player before the ante.
        sizes: raises on offer, as fractions of the pot after calling, ascending.
        raises: raises allowed in a round.
        ante: chips each player pays before the deal.
        all_in: all-in is on offer, too.
    """

    ranks: Annotated[int, Range(1, len(RANKS))] = 3
    suits: Annotated[int, Range(1, len(SUITS))] = 2
    stack: Chips = 13
    sizes: Annotated[tuple[PotFraction, ...], Range(1, 100)] = (0.5, 1.0)
    raises: Annotated[int, Range(0, 100)] = 2
    ante: Chips = 1
    all_in: bool = True

    def __post_init__(self) -> None:
        if self.deck < 3:
            raise ValueError(f"nolimit_leduc needs 3 cards; there are only {self.deck}.")
        if list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(f"sizes must be a list that ascends, not {self.sizes}.")
        if self.stack < self.ante:
            raise ValueError(f"a stack of {self.stack} cannot pay an ante of {self.ante}.")

    @property
    def name(self) -> str:
        return name_of("nolimit_leduc", self)

    @property
    def num_players(self) -> int:
        return 2

    @property
    def num_ranks(self) -> int:
        return self.ranks

    @property
    def num_moves(self) -> int:
        return RAISE + len(self.sizes) + int(self.all_in)

    def public_features(self, state: State) -> Array:
        """float [deck + 5]: board card, turn, raises and chips paid; for networks."""
        board, turn = jnp.arange(self.deck) == state.board, jnp.arange(2) == state.player
        numbers = jnp.append(state.paid / self.stack, state.raises / max(self.raises, 1))
        return jnp.concatenate([board, turn, numbers]).astype(float)

    def _raises(self, state: State) -> Array:
        totals = self._totals(state)
        rises = jnp.concatenate([state.paid.max()[None], totals[:-1]])
        return (totals > rises) & (state.raises < self.raises)

    def _raised_to(self, state: State, action: Array) -> Array:
        totals = self._totals(state)
        if not len(totals):
            return state.paid.max()
        return totals[jnp.clip(action - RAISE, 0, len(totals) - 1)]

    def _goes_on(self, state: State) -> Array:
        return state.paid.max() < self.stack

    def _move_name(self, move: int) -> str:
        if move < RAISE:
            return super()._move_name(move)
        size = move - RAISE
        return f"bet {self.sizes[size]:g}" if size < len(self.sizes) else "all-in"

    def _move_letter(self, move: int) -> str:
        return super()._move_letter(move) if move < RAISE else self._move_name(move)

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
