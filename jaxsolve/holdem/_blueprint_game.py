"""Hold'em for sampled CFR: a menu of bets, buckets of hands, and deals that count."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._action_tree import action_tree
from jaxsolve.holdem._bet_menu import BetMenu
from jaxsolve.holdem._canonical import board_number, canonical_boards, hand_after
from jaxsolve.holdem._cards import NUM_CARDS, hand_index
from jaxsolve.holdem._strength import strength
from jaxsolve.mccfr import ActionTree, Deals, PotPayoffs, mix, pass_key

_BOARD = (3, 4, 5)
_DEALS = 0xCA4D5
"""Keeps the numbers of deals apart from those of choices."""


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
        # Names keep arrays alive: what a cache returns to the second of two threads is not kept.
        codes = [canonical_boards(k).code for k in _BOARD]
        preflop, after, tables = self.abstraction.preflop, hand_after(), self._tables
        pointers = ctypes.c_void_p * 3
        library.JaxsolveDeal(
            ctypes.c_uint64(seed),
            *(ctypes.c_int64(first), ctypes.c_int64(count), ctypes.c_int32(n), ctypes.c_int32(4)),
            _place(preflop),
            pointers(*(x.ctypes.data for x in codes)),
            pointers(*(x.ctypes.data for x in tables)),
            *(_place(x) for x in (after, bucket, rank, cards)),
        )
        return Deals(self._stages(bucket), rank), cards

    @property
    def _tables(self) -> Sequence[np.ndarray]:
        found = self.abstraction
        return found.flop, found.turn, found.river

    def _stages(self, bucket: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(bucket[..., : self.tree.num_stages])

    def _deal_plain(self, seed: int, first: int, count: int) -> tuple[Deals, np.ndarray]:
        n = self.menu.players
        cards = np.stack([_cards(pass_key(seed, first + k), 2 * n + 5) for k in range(count)])
        hands, board = cards[:, : 2 * n].reshape(count, n, 2), cards[:, 2 * n :]
        number = hand_index(hands[..., 0].astype(np.int32), hands[..., 1].astype(np.int32))
        bucket = np.empty((count, n, 4), np.uint16)
        bucket[..., 0] = self.abstraction.preflop[number]
        for street, (size, table) in enumerate(zip(_BOARD, self._tables, strict=True), 1):
            code = canonical_boards(size).code[board_number(board[:, :size])]
            row, turned = (code >> 5).astype(np.int64), (code & 31).astype(np.int64)
            bucket[..., street] = table[row[:, None], hand_after()[turned[:, None], number]]
        seven = np.concatenate([hands, np.broadcast_to(board[:, None], (count, n, 5))], 2)
        rank = np.asarray(strength(seven.astype(np.int32)))
        return Deals(self._stages(bucket), rank), cards

    def __repr__(self) -> str:
        buckets = " / ".join(f"{count:,}" for count in self.num_buckets)
        return f"HoldemGame({self.menu.stack} chips, {self.tree!r}, buckets {buckets})"


def holdem_game(menu: BetMenu, abstraction: Abstraction) -> HoldemGame:
    """Returns the game of a menu and an abstraction."""
    tree, payoffs = action_tree(menu)
    return HoldemGame(menu, abstraction, tree, payoffs)


def _cards(key: int, count: int) -> np.ndarray:
    """Returns uint8 [count], the first cards of a deck shuffled by one key."""
    deck = list(range(NUM_CARDS))
    for i in range(count):
        drawn = mix(key ^ i) >> 32
        other = i + (drawn * (NUM_CARDS - i) >> 32)
        deck[i], deck[other] = deck[other], deck[i]
    return np.array(deck[:count], np.uint8)


def _place(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
