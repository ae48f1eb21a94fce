"""Pairs of private states as operators: how likely chance makes a pair, and what it is paid.

A search never needs a matrix of all pairs: it draws one, or sums over the opponent's private states
by their reach. `DenseWeights` and `DensePayoffs` keep blocks [H0, H1]. Where private states are
independent, as dice are, `IndependentWeights` and `OuterPayoffs` keep vectors: H0 + H1 numbers a
public state in place of H0 x H1. A game can bring its own, as sums over sorted hands in hold'em.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import jax.numpy as jnp

from jaxsolve.tree import pick, take
from jaxsolve.types import Array, pytree


class PairWeights(Protocol):
    """The probability by chance of each pair of private states in N public states. A pytree.

    It sums to 1 over the pairs of a public state. Reaches have room for H = max(H0, H1) entries.
    """

    @property
    def hands(self) -> tuple[int, int]:
        """(H0, H1)."""
        ...

    def at(self, public: Array, first: Array, second: Array) -> Array:
        """Returns the probability of pairs, float [...], for int32 [...] each."""
        ...

    def against(self, public: Array, reach: Array) -> Array:
        """Returns float [2, H], the probability of meeting the other's reach [2, H]."""
        ...

    def against_one(self, public: Array, player: Array, hand: Array, reach: Array) -> Array:
        """Returns float [], that of one private state (int32 []) of a player (int32 [])."""
        ...

    def draw(self, public: Array, reach: Array, uniform: Array, straying: float = 0.0) -> Array:
        """Returns int32 [2], a pair drawn by chance and reach; by chance alone without any reach.

        Args:
            public: int32 [], the public state.
            reach: float [2, H], of both players.
            uniform: float [], in [0, 1).
            straying: draws by chance alone for one by the reaches.
        """
        ...


class PairPayoffs(Protocol):
    """Payoffs to player 0 where an action ends the game, times chance, in N public states.

    A pytree. Private states that an action does not end the game for have 0.
    """

    def at(self, row: Array, action: Array, first: Array, second: Array) -> Array:
        """Returns float [], of an action and a pair, int32 [] each."""
        ...

    def values(self, row: Array, first: Array, second: Array) -> Array:
        """Returns float [2, A, H], counterfactual values of both players.

        Args:
            row: int32 [], the public state.
            first: float [A or 1, H], reach of player 0 for each action, or for all alike.
            second: float [A or 1, H], of player 1.
        """
        ...


@pytree
@dataclasses.dataclass(frozen=True)
class DenseWeights:
    """`PairWeights` as blocks.

    Attributes:
        pairs: float [N, H0, H1].
    """

    pairs: Any

    @property
    def hands(self) -> tuple[int, int]:
        """See `PairWeights`."""
        return int(self.pairs.shape[-2]), int(self.pairs.shape[-1])

    def at(self, public: Array, first: Array, second: Array) -> Array:
        """See `PairWeights`."""
        found: Array = self.pairs[public, first, second]
        return found

    def against(self, public: Array, reach: Array) -> Array:
        """See `PairWeights`."""
        (h0, h1), pairs = self.hands, take(self.pairs, public)
        return _stacked(reach.shape[-1], pairs @ reach[1, :h1], reach[0, :h0] @ pairs)

    def against_one(self, public: Array, player: Array, hand: Array, reach: Array) -> Array:
        """See `PairWeights`."""
        (h0, h1), pairs = self.hands, take(self.pairs, public)
        return jnp.where(
            player == 1,
            (pairs[:, jnp.minimum(hand, h1 - 1)] * reach[0, :h0]).sum(),
            (pairs[jnp.minimum(hand, h0 - 1)] * reach[1, :h1]).sum(),
        )

    def draw(self, public: Array, reach: Array, uniform: Array, straying: float = 0.0) -> Array:
        """See `PairWeights`."""
        (h0, h1), pairs = self.hands, take(self.pairs, public)
        joint = pairs * reach[0, :h0, None] * reach[1, None, :h1]
        joint = jnp.where(joint.sum() > 0, joint, pairs)
        if straying:
            joint = joint / joint.sum() + straying * pairs
        return jnp.stack(jnp.divmod(pick(joint.reshape(-1), uniform), h1))


@pytree
@dataclasses.dataclass(frozen=True)
class IndependentWeights:
    """`PairWeights` of private states that are independent: the product of two distributions.

    Attributes:
        first: float [N, H0], sums to 1.
        second: float [N, H1], sums to 1.
    """

    first: Any
    second: Any

    @property
    def hands(self) -> tuple[int, int]:
        """See `PairWeights`."""
        return int(self.first.shape[-1]), int(self.second.shape[-1])

    def at(self, public: Array, first: Array, second: Array) -> Array:
        """See `PairWeights`."""
        found: Array = self.first[public, first] * self.second[public, second]
        return found

    def against(self, public: Array, reach: Array) -> Array:
        """See `PairWeights`."""
        (h0, h1), one, two = self.hands, self.first[public], self.second[public]
        mass = one * (two * reach[1, :h1]).sum(), two * (one * reach[0, :h0]).sum()
        return _stacked(reach.shape[-1], *mass)

    def against_one(self, public: Array, player: Array, hand: Array, reach: Array) -> Array:
        """See `PairWeights`."""
        return self.against(public, reach)[player, hand]

    def draw(self, public: Array, reach: Array, uniform: Array, straying: float = 0.0) -> Array:
        """See `PairWeights`; one number draws player 0's private state, its rest player 1's."""
        (h0, h1), one, two = self.hands, self.first[public], self.second[public]
        mine, theirs = one * reach[0, :h0], two * reach[1, :h1]
        some = (mine.sum() > 0) & (theirs.sum() > 0)
        mine, theirs = (jnp.where(some, x, y) for x, y in ((mine, one), (theirs, two)))
        mine, theirs = mine / mine.sum(), theirs / theirs.sum()
        rows = mine + straying * one
        first = pick(rows, uniform)
        below = jnp.where(jnp.arange(h0) < first, rows, 0).sum()
        rest = (uniform * rows.sum() - below) / rows[first]
        columns = mine[first] * theirs + straying * one[first] * two
        return jnp.stack([first, pick(columns, jnp.clip(rest, 0, 1 - 1e-6))])


@pytree
@dataclasses.dataclass(frozen=True)
class DensePayoffs:
    """`PairPayoffs` as blocks.

    Attributes:
        pairs: float [N, A, H0, H1].
    """

    pairs: Any

    def at(self, row: Array, action: Array, first: Array, second: Array) -> Array:
        """See `PairPayoffs`."""
        found: Array = self.pairs[row, action, first, second]
        return found

    def values(self, row: Array, first: Array, second: Array) -> Array:
        """See `PairPayoffs`."""
        h0, h1 = self.pairs.shape[2:]
        pay = take(self.pairs[..., 0] if h1 == 1 else self.pairs, row)
        if h1 == 1:
            met = pay @ first[0, :h0] if len(first) == 1 else (pay * first[:, :h0]).sum(1)
            return _stacked(first.shape[-1], pay * second[:, :1], -met[:, None])
        one = (pay * second[:, None, :h1]).sum(2)
        two = -(pay * first[:, :h0, None]).sum(1)
        return _stacked(first.shape[-1], one, two)


@pytree
@dataclasses.dataclass(frozen=True)
class OuterPayoffs:
    """`PairPayoffs` that are sums of R outer products; what the dice of two players show is two.

    Attributes:
        first: float [N, A, R, H0].
        second: float [N, A, R, H1]; the payoff of a pair is the sum over R of the products.
    """

    first: Any
    second: Any

    def at(self, row: Array, action: Array, first: Array, second: Array) -> Array:
        """See `PairPayoffs`."""
        found: Array = (
            self.first[row, action, :, first] * self.second[row, action, :, second]
        ).sum()
        return found

    def values(self, row: Array, first: Array, second: Array) -> Array:
        """See `PairPayoffs`."""
        one, two = self.first[row], self.second[row]
        h0, h1 = one.shape[-1], two.shape[-1]
        mine = (one * (two * second[:, None, :h1]).sum(-1, keepdims=True)).sum(1)
        theirs = -(two * (one * first[:, None, :h0]).sum(-1, keepdims=True)).sum(1)
        return _stacked(first.shape[-1], mine, theirs)


def _stacked(hands: int, first: Array, second: Array) -> Array:
    """Returns both players' arrays [..., H0] and [..., H1] as one [2, ..., H]."""

    def padded(x: Array) -> Array:
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, hands - x.shape[-1])])

    return jnp.stack([padded(first), padded(second)])
