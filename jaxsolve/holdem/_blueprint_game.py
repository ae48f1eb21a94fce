"""Hold'em for sampled CFR: a menu of bets, buckets of hands, and deals that count."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from typing import Any

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._action_tree import action_tree
from jaxsolve.holdem._bet_menu import BetMenu
from jaxsolve.holdem._canonical import (
    PERMUTATION_BITS,
    board_number,
    canonical_boards,
    hand_after,
)
from jaxsolve.holdem._cards import NUM_CARDS, hand_index
from jaxsolve.holdem._strength import strength
from jaxsolve.mccfr import ActionTree, Deals, PotPayoffs, mix, pass_key

_BOARD = (3, 4, 5)
_DEALS = 0xCA4D5
"""Keeps the numbers of deals apart from those of choices."""


class NativeBuckets:
    """An abstraction in the memory layout of `jaxsolve/native/buckets.h`."""

    class _Struct(ctypes.Structure):
        _fields_ = (
            ("preflop", ctypes.c_void_p),
            *((name, ctypes.c_void_p * 3) for name in ("code", "table")),
            ("hand_after", ctypes.c_void_p),
        )

    def __init__(self, abstraction: Abstraction) -> None:
        """Keeps the arrays alive, and a structure that points at them."""
        codes = [canonical_boards(k).code for k in _BOARD]
        self._arrays = [abstraction.preflop, *codes, *_tables(abstraction), hand_after()]
        first, *middle, last = (x.ctypes.data for x in self._arrays)
        three = ctypes.c_void_p * 3
        self._struct = self._Struct(first, three(*middle[:3]), three(*middle[3:]), last)

    @property
    def pointer(self) -> Any:
        """What C++ takes."""
        return ctypes.byref(self._struct)


@dataclasses.dataclass(frozen=True, repr=False)
class HoldemGame:
    """Hold'em with a menu of bets and buckets of hands; see `SampledGame`.

    Attributes:
        menu: the bets.
        abstraction: the buckets.
        tree: the public actions; stages are streets.
        payoffs: pots.
    """

    menu: BetMenu
    abstraction: Abstraction
    tree: ActionTree
    payoffs: PotPayoffs

    @property
    def name(self) -> str:
        """Names players, stack, menu and buckets."""
        return (
            f"hold'em of {self.menu.players} with {self.menu.stack} chips, menu "
            f"{self.menu.digest}, buckets {self.abstraction.checksum:08x}"
        )

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """By street."""
        return self.abstraction.buckets[: self.tree.num_stages]

    def deal(self, seed: int, first: int, count: int) -> Deals:
        """Returns deals; see `SampledGame`. Cards are uniform."""
        return self.deal_cards(seed, first, count)[0]

    def deal_cards(self, seed: int, first: int, count: int) -> tuple[Deals, np.ndarray]:
        """Returns (deals, uint8 [D, 2n + 5]: the hands of all players, then the board)."""
        n, seed = self.menu.players, (seed ^ _DEALS) & (1 << 64) - 1
        library = native.host_library("mccfr")
        if library is None:
            return self._deal_plain(seed, first, count)
        bucket = np.empty((count, n, 4), np.uint16)
        rank = np.empty((count, n), np.int32)
        cards = np.empty((count, 2 * n + 5), np.uint8)
        library.JaxsolveDeal(
            ctypes.c_uint64(seed),
            ctypes.c_int64(first),
            ctypes.c_int64(count),
            ctypes.c_int32(n),
            ctypes.c_int32(4),
            self.native_buckets.pointer,
            *(ctypes.c_void_p(x.ctypes.data) for x in (bucket, rank, cards)),
        )
        return Deals(self._stages(bucket), rank), cards

    @functools.cached_property
    def native_buckets(self) -> NativeBuckets:
        """The tables of the abstraction for C++."""
        return NativeBuckets(self.abstraction)

    def boards(self, seed: int, first: int, count: int) -> np.ndarray:
        """Returns uint8 [count, 5], complete boards with given numbers."""
        return deal_cards(seed, first, count, 5)

    def _stages(self, bucket: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(bucket[..., : self.tree.num_stages])

    def deals_of(self, cards: np.ndarray) -> Deals:
        """Returns the deals of given cards uint8 [D, 2n + 5]: all hands, then the board."""
        n, count = self.menu.players, len(cards)
        hands, board = cards[:, : 2 * n].reshape(count, n, 2), cards[:, 2 * n :]
        number = hand_index(hands[..., 0].astype(np.int32), hands[..., 1].astype(np.int32))
        bucket = np.empty((count, n, 4), np.uint16)
        bucket[..., 0] = self.abstraction.preflop[number]
        for street, size in enumerate(_BOARD, 1):
            bucket[..., street] = buckets_on(self.abstraction, board[:, :size], number)
        seven = np.concatenate([hands, np.broadcast_to(board[:, None], (count, n, 5))], 2)
        rank = np.asarray(strength(seven.astype(np.int32)))
        return Deals(self._stages(bucket), rank)

    def _deal_plain(self, seed: int, first: int, count: int) -> tuple[Deals, np.ndarray]:
        cards = deal_cards(seed, first, count, 2 * self.menu.players + 5)
        return self.deals_of(cards), cards

    def __repr__(self) -> str:
        buckets = " / ".join(f"{count:,}" for count in self.num_buckets)
        return f"HoldemGame({self.menu.stack} chips, {self.tree!r}, buckets {buckets})"


def holdem_game(menu: BetMenu, abstraction: Abstraction) -> HoldemGame:
    """Returns the game of a menu and an abstraction."""
    tree, payoffs = action_tree(menu)
    return HoldemGame(menu, abstraction, tree, payoffs)


def deal_cards(
    seed: int, first: int, count: int, cards: int, *, deck: int = NUM_CARDS
) -> np.ndarray:
    """Returns uint8 [count, cards], the first cards of shuffled decks with given numbers.

    Args:
        seed: of all decks.
        first: number of the first deck.
        count: of decks.
        cards: of each.
        deck: cards in a deck.
    """
    return np.stack([_deck(pass_key(seed, first + k), cards, deck) for k in range(count)])


def _deck(key: int, count: int, size: int) -> np.ndarray:
    deck = list(range(size))
    for i in range(count):
        drawn = mix(key ^ i) >> 32
        other = i + (drawn * (size - i) >> 32)
        deck[i], deck[other] = deck[other], deck[i]
    return np.array(deck[:count], np.uint8)


def buckets_on(abstraction: Abstraction, boards: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Returns uint16 [..., n], the buckets of hands on boards of one street, three cards or more.

    Args:
        abstraction: the buckets.
        boards: int [..., k], cards.
        hands: int [..., n], numbers of hands on each board.
    """
    size = boards.shape[-1]
    code = canonical_boards(size).code[board_number(boards)]
    row = (code >> PERMUTATION_BITS).astype(np.int64)
    turned = (code & ((1 << PERMUTATION_BITS) - 1)).astype(np.int64)
    table = _tables(abstraction)[_BOARD.index(size)]
    return np.asarray(table[row[..., None], hand_after()[turned[..., None], hands]])


def _tables(abstraction: Abstraction) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return abstraction.flop, abstraction.turn, abstraction.river
