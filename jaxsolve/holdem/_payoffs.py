"""What folds and showdowns pay, for all pairs of hands of two players.

A leaf pays a player `amount` times a bilinear form of the hands, so its counterfactual values are a
linear map of the opponent's reach r [H]:

- fold: sum of r over the hands that share no card with h, by inclusion and exclusion;
- showdown: weaker minus stronger hands, again without those that share a card. Either by prefix
  sums over hands in order of strength, minus the same among the hands that hold each of h's two
  cards (about 10 H operations a leaf), or by a product with the matrix of signs (H * H operations
  of the kind that a GPU is made for);
- all-in before the last card: a product with the mean of the matrices of all runouts.

Source of the prefix sums: Johanson et al. 2011 (accelerating best response calculation), section
4.2; card removal by inclusion and exclusion as in all public solvers.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._boards import CARDS, OTHERS, CardOrder, Order
from jaxsolve.tree import GatherSum, float_type, take
from jaxsolve.types import Array, pytree

BLOCK = 32
"""Places of one block of the prefix sums."""


HALF_LANES = 8
"""Numbers of 16 bits to whose multiples rows are padded."""


class Pays(enum.IntEnum):
    """What a leaf pays for; the numbers are those of `boards.h`."""

    COMPATIBLE = 0
    SHOWDOWN = 1
    ALL_IN = 2


class Placed(NamedTuple):
    """Leaves of one kind on the boards of a street (B boards, T leaves on each, H hands).

    Attributes:
        pays: for what.
        boards: cards of each board.
        hangs: per player, int32 [B, T], the public sequence each leaf hangs from.
        amount: float [B, T, 2], chips times chance of each player.
        matrix: float [B, H, H], expected sign of all-ins; None of other kinds.
        street: theirs, counted from the root's.
    """

    pays: Pays
    boards: Sequence[Sequence[int]]
    hangs: list[np.ndarray]
    amount: np.ndarray
    matrix: np.ndarray | None
    street: int = 0


@pytree
@dataclasses.dataclass(frozen=True)
class Compatible:
    """Sums over the hands that share no card with one's own (B boards).

    Attributes:
        holds: float [H, 52], 1 where the hand holds the card.
        live: float [B, H], 0 where the hand meets the board.
        shares: float [52, H], `holds` minus half, or None: one kernel fewer on a GPU, and an
            iteration of a river 5 % slower on a CPU, where it is computed each time.
    """

    holds: Array
    live: Array
    shares: Array | None = None

    def __call__(self, reach: Array) -> Array:
        """Returns [B, T, H] from the opponent's reach [B, T, H]."""
        seen = reach * self.live[:, None]
        by_card = jnp.matmul(seen, self.holds, precision="highest")  # [B, T, 52]
        # Every hand is in two cards' sums, so half of all of them is the total.
        shares = self.holds.T - 0.5 if self.shares is None else self.shares
        shared = jnp.matmul(by_card, shares, precision="highest")
        return (seen - shared) * self.live[:, None]


@pytree
@dataclasses.dataclass(frozen=True)
class PrefixShowdown:
    """Showdowns by prefix sums with card removal; indices count rows of all boards.

    Attributes:
        live: float [B, H].
        order: int32 [B, P], hands by strength, padded to a multiple of the block; B * H, a row of
            zeros, for hands that meet the board and for padding.
        bounds: int32 [2, B, H], first place of the hand's tie group and the first after it.
        card_order: int32 [B, 52, 51], likewise among the hands that hold each card.
        card_bounds: int32 [4, B, H], as `bounds` for the lower and the higher card.
    """

    live: Array
    order: Array
    bounds: Array
    card_order: Array
    card_bounds: Array

    def __call__(self, reach: Array) -> Array:
        """Returns [B, T, H] from the opponent's reach [B, T, H]."""
        boards, leaves, hands = reach.shape
        rows = reach.swapaxes(1, 2).reshape(boards * hands, leaves)
        rows = jnp.concatenate([rows, jnp.zeros_like(rows[:1])])
        dtype = reach.dtype
        blocks = self.order.shape[1] // BLOCK
        ordered = take(rows, self.order.reshape(-1)).reshape(boards, blocks, BLOCK, leaves)
        within = jnp.einsum("kj,bnjt->bnkt", _before(BLOCK + 1, BLOCK, dtype), ordered)
        ahead = jnp.einsum("mn,bnt->bmt", _before(blocks, blocks, dtype) - 0.5, within[:, :, -1])
        prefix = within[:, :, :-1] + ahead[:, :, None]  # minus half of the total
        value = _both(prefix.reshape(-1, leaves), self.bounds)
        held = take(rows, self.card_order.reshape(-1)).reshape(boards, CARDS, OTHERS, leaves)
        removed = jnp.einsum("kj,bcjt->bckt", _before(OTHERS + 1, OTHERS, dtype) - 0.5, held)
        value = value - _both(removed.reshape(-1, leaves), self.card_bounds)
        value = value.reshape(boards, hands, leaves).swapaxes(1, 2)
        return value * self.live[:, None]


@pytree
@dataclasses.dataclass(frozen=True)
class DenseShowdown:
    """Showdowns by a product with one matrix per board, or all-ins with the mean of many.

    Attributes:
        matrix: [B, H, H], expected sign of own (row) against other hand; float, or bfloat16 where
            the entries are whole numbers, then padded by zeros to [B, P, P] (see `halved`).
    """

    matrix: Array

    def __call__(self, reach: Array) -> Array:
        """Returns [B, T, H] from the opponent's reach [B, T, H]."""
        if self.matrix.dtype != jnp.bfloat16:
            return jnp.einsum("bth,bjh->btj", reach, self.matrix, precision="highest")
        # bfloat16 times bfloat16 is exact in float32, and three of them hold all of its 24 bits.
        hands = reach.shape[-1]
        more = self.matrix.shape[-1] - hands
        parts, rest = [], jnp.pad(reach, ((0, 0), (0, 0), (0, more)))
        for _ in range(3):
            parts.append(rest.astype(jnp.bfloat16))
            rest = rest - parts[-1].astype(reach.dtype)
        stacked = jnp.concatenate(parts, 1)
        values = jnp.einsum(
            "bth,bjh->btj", stacked, self.matrix, preferred_element_type=reach.dtype
        )
        values = values.reshape(reach.shape[0], 3, reach.shape[1], -1)[..., :hands]
        # Small parts first; a sum over the axis would be a kernel of its own.
        return (values[:, 2] + values[:, 1]) + values[:, 0]


@pytree
@dataclasses.dataclass(frozen=True)
class Leaves:
    """Leaves that pay by one form: T on each of B boards.

    Attributes:
        form: reach of the opponent [B, T, H] -> value per unit of amount [B, T, H].
        sequence: per player, int32 [B, T], the public sequence each leaf hangs from.
        amount: per player, float [B, T], chips times chance.
    """

    form: Any
    sequence: tuple[Array, ...]
    amount: tuple[Array, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """Returns [B * T, H], counterfactual values of a player's hands at each leaf."""
        hangs = self.sequence[1 - player]
        other = take(reach[1 - player], hangs.reshape(-1)).reshape(*hangs.shape, -1)
        value = self.form(other) * self.amount[player][:, :, None]
        return value.reshape(-1, value.shape[-1])


@pytree
@dataclasses.dataclass(frozen=True)
class HoldemPayoffs:
    """The payoff operator of a hold'em tree: several groups of leaves, one list of sequences.

    Attributes:
        groups: leaves by form and street.
        leaves: per player, sequence <- its leaves in all groups.
    """

    groups: tuple[Leaves, ...]
    leaves: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        values = [group(player, reach) for group in self.groups]
        return self.leaves[player](jnp.concatenate([*values, jnp.zeros_like(values[0][:1])]))

    def with_scale(self, scale: Array) -> HoldemPayoffs:
        """See `LeafOperator`."""
        groups = tuple(
            dataclasses.replace(g, amount=tuple(a * scale for a in g.amount)) for g in self.groups
        )
        return dataclasses.replace(self, groups=groups)


def compatible_form(cards: np.ndarray, live: np.ndarray, *, stored: bool = False) -> Compatible:
    """Returns the form of folds, from cards int [H, 2] and live bool [B, H].

    Args:
        cards: of the hands.
        live: whether a hand does not meet the board.
        stored: keep `Compatible.shares`, for accelerators.
    """
    holds: Any = (cards[:, :, None] == np.arange(CARDS)).any(1).astype(float_type())
    there: Any = live.astype(float_type())
    shares: Any = np.ascontiguousarray(holds.T - holds.dtype.type(0.5)) if stored else None
    return Compatible(holds, there, shares)


def halved(signs: np.ndarray) -> DenseShowdown:
    """Returns the form of showdowns by a product in 16 bits, from signs [B, H, H] of -1, 0 and 1.

    Matrix units want rows of whole multiples of 16 bytes. Padding the matrix once spares a copy of
    it in every iteration.
    """
    more = -signs.shape[-1] % HALF_LANES
    half: Any = np.pad(signs, ((0, 0), (0, more), (0, more))).astype(jnp.bfloat16)
    return DenseShowdown(half)


def prefix_form(cards: np.ndarray, by_strength: Order, by_card: CardOrder) -> PrefixShowdown:
    """Returns the form of showdowns by prefix sums, from cards int [H, 2] and orders."""
    boards, hands = by_strength.live.shape
    zero = boards * hands
    first = np.arange(boards)[:, None] * hands
    padded = -(-(hands + 1) // BLOCK) * BLOCK
    order = np.full((boards, padded), zero, np.int32)
    alive = np.take_along_axis(by_strength.live, by_strength.order, 1)
    order[:, :hands] = np.where(alive, by_strength.order + first, zero)
    start = np.arange(boards)[:, None] * padded
    places = (by_strength.low, by_strength.high)
    bounds = np.stack([by_strength.by_hand(x) + start for x in places])
    nobody = np.concatenate([by_strength.live, np.zeros((boards, 1), bool)], 1)
    held = np.take_along_axis(nobody, by_card.order.reshape(boards, -1), 1)
    held = held.reshape(by_card.order.shape)
    card_order = np.where(held, by_card.order + first[..., None], zero)
    at_card = (np.arange(boards)[:, None, None] * CARDS + cards[None]) * (OTHERS + 1)
    card_bounds = [
        (table + at_card)[:, :, which]
        for which in range(2)
        for table in (by_card.low, by_card.high)
    ]
    live: Any = by_strength.live.astype(float_type())
    indices: list[Any] = [
        np.ascontiguousarray(x, np.int32)
        for x in (order, bounds, card_order, np.stack(card_bounds))
    ]
    return PrefixShowdown(live, *indices)


def _before(rows: int, columns: int, dtype: Any) -> Array:
    """Returns [rows, columns], 1 where the column comes before the row: sums of what is before."""
    return jnp.asarray(np.tri(rows, columns, -1), dtype)


def _both(prefix: Array, bounds: Array) -> Array:
    """Returns the sum of the rows of `prefix` that the bounds name, [B * H, T]."""
    return functools.reduce(operator.add, (take(prefix, row.reshape(-1)) for row in bounds))
