"""Hold'em for vectors of hands in JAX: boards are drawn, sorted and looked up on the device."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._canonical import PERMUTATION_BITS, canonical_boards, hand_after
from jaxsolve.holdem._cards import HANDS, NUM_CARDS
from jaxsolve.holdem._strength import strengths_on_board
from jaxsolve.mccfr import ActionTree, Board
from jaxsolve.types import Array

LIVE = math.comb(NUM_CARDS - 5, 2)
"""Hands that do not meet a complete board: 1,081."""

_PAIRS = LIVE / math.comb(NUM_CARDS - 7, 2)
"""One over the chance that two of them share no card."""


class HandData(NamedTuple):
    """Arrays of the compiled program (T ends, F of them folds, S showdowns).

    Attributes:
        preflop: int32 [1326], buckets before the flop.
        code, table: of the flop, turn and river, see `CanonicalBoards.code` and `Abstraction`.
        after: int32 [24, 1326], `hand_after`.
        fold: int32 [F], ends at which somebody folded.
        lost: float32 [2, F], what each player wins there.
        showdown: int32 [S], the other ends.
        stake: float32 [S], what the better hand wins there.
    """

    preflop: Array
    code: tuple[Array, ...]
    table: tuple[Array, ...]
    after: Array
    fold: Array
    lost: Array
    showdown: Array
    stake: Array


class Strengths(NamedTuple):
    """What a showdown needs of a board.

    Attributes:
        cards: int32 [1081, 2], of each hand.
        strength: int32 [1081].
    """

    cards: Array
    strength: Array


@dataclasses.dataclass(frozen=True, repr=False)
class HandVectors:
    """Heads-up hold'em with all hands of a board at once; see `mccfr.VectorGame`.

    Attributes:
        game: menu, buckets and public actions.
    """

    game: HoldemGame

    @property
    def name(self) -> str:
        """That of the game: tables of all samplers are alike."""
        return self.game.name

    @property
    def tree(self) -> ActionTree:
        """The public actions."""
        return self.game.tree

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """By street."""
        return self.game.num_buckets

    @functools.cached_property
    def data(self) -> HandData:
        """See `mccfr.VectorGame`; the tables of the river take 370 MB."""
        found, pays = self.game.abstraction, self.game.payoffs
        folded = pays.folded.any(1)
        fold, showdown = np.flatnonzero(folded), np.flatnonzero(~folded)
        spent = pays.spent.astype(np.float32)
        lost = np.where(pays.folded[fold], -spent[fold], spent[fold][:, ::-1]).T
        return HandData(
            jnp.asarray(found.preflop.astype(np.int32)),
            tuple(jnp.asarray(canonical_boards(k).code) for k in BOARD_CARDS[1:]),
            tuple(jnp.asarray(x) for x in (found.flop, found.turn, found.river)),
            jnp.asarray(hand_after().astype(np.int32)),
            jnp.asarray(fold.astype(np.int32)),
            jnp.asarray(lost),
            jnp.asarray(showdown.astype(np.int32)),
            jnp.asarray(spent[showdown].min(1)),
        )

    @staticmethod
    def sample(data: HandData, key: Array) -> Board:
        """See `mccfr.VectorGame`."""
        cards = jax.random.permutation(key, jnp.arange(NUM_CARDS, dtype=jnp.int32))[:5]
        return HandVectors.on(data, cards)

    @staticmethod
    def on(data: HandData, cards: Array) -> Board:
        """Returns the board of int32 [5] cards, the first three the flop; traceable."""
        strength = strengths_on_board(cards)
        key = jnp.where(strength < 0, jnp.iinfo(jnp.int32).max, strength)
        hands = jnp.argsort(key)[:LIVE]
        rows = [data.preflop[hands]]
        for size, code, table in zip(BOARD_CARDS[1:], data.code, data.table, strict=True):
            found = code[_number(cards[:size])]
            turned = data.after[(found & ((1 << PERMUTATION_BITS) - 1)).astype(jnp.int32), hands]
            rows.append(table[(found >> PERMUTATION_BITS).astype(jnp.int32), turned])
        bucket = jnp.stack([row.astype(jnp.int32) for row in rows])
        weight = jnp.full((2, LIVE), 1 / LIVE, jnp.float32)
        leaf = Strengths(jnp.asarray(HANDS, jnp.int32)[hands], strength[hands])
        return Board(jnp.broadcast_to(bucket, (2, *bucket.shape)), weight, leaf)

    @staticmethod
    def leaf_values(data: HandData, player: int, reach: Array, leaf: Strengths) -> Array:
        """See `mccfr.VectorGame`: products with dense matrices of pairs of hands."""
        cards, strength = leaf
        meets = (cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))
        fits = jnp.where(meets, 0, jnp.float32(_PAIRS))
        signs = jnp.sign(strength[:, None] - strength[None]).astype(jnp.float32) * fits
        folds = data.lost[player][:, None] * _exact(reach[data.fold], fits)
        shown = data.stake[:, None] * _exact(reach[data.showdown], signs.T)
        return jnp.zeros_like(reach).at[data.fold].set(folds).at[data.showdown].set(shown)


def _exact(rows: Array, columns: Array) -> Array:
    """Returns a product without the short floats of accelerators."""
    return jnp.matmul(rows, columns, precision=lax.Precision.HIGHEST)


def _number(cards: Array) -> Array:
    """Returns int32 [], `board_number` of cards int32 [k]."""
    choose = np.array([[math.comb(c, i + 1) for c in range(NUM_CARDS)] for i in range(5)], np.int32)
    place = jnp.arange(cards.shape[0])
    return jnp.asarray(choose)[place, jnp.sort(cards)].sum(dtype=jnp.int32)
