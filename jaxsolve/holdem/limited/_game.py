"""A depth-limited subgame of hold'em for the samplers: known cards, ranges, one street to solve."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
from collections.abc import Sequence

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._blueprint_game import NativeBuckets, deal_cards
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.mccfr import Deals, LimitedTree, PotPayoffs

_DEALS = 0x5EA7C4
"""Keeps the numbers of deals apart from those of choices."""

MOST_TRIES = 10_000
"""Draws of hands that meet each other before a deal is given up."""


@dataclasses.dataclass(frozen=True, repr=False)
class LimitedHoldem:
    """One street of hold'em with given cards and ranges; see `mccfr.SampledGame` (n players).

    Attributes:
        abstraction: buckets of the streets after the one that is solved.
        tree: the public actions.
        payoffs: pots.
        street: that is solved, 0 before the flop; -1 if nothing is.
        board: cards so far.
        ranges: float64 [n, 1326], how likely each player came here with each hand; each sums to 1
            over the hands that the board allows.
        bucket: int64 [1326], of each hand on the street that is solved.
    """

    abstraction: Abstraction
    tree: LimitedTree
    payoffs: PotPayoffs
    street: int
    board: tuple[int, ...]
    ranges: np.ndarray
    bucket: np.ndarray

    @property
    def name(self) -> str:
        """Names cards and buckets."""
        digest = hashlib.sha256(self.ranges.tobytes()).hexdigest()[:8]
        return f"hold'em on {self.board}, ranges {digest}"

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """By street; 1 where there are no tables."""
        counts = list(self.abstraction.buckets)
        counts[: max(self.street, 0)] = [1] * max(self.street, 0)
        if self.street >= 0:
            counts[self.street] = int(self.bucket.max()) + 1
        return tuple(counts[: self.tree.num_stages])

    def find(self, totals: Sequence[int]) -> int | None:
        """Returns the node after some actions of the street, totals or FOLD; None off the menu."""
        tree, node = self.tree, 0
        for total in totals:
            first, count = int(tree.child[node]), int(tree.count[node])
            follow = np.flatnonzero(tree.action[first : first + count] == total)
            if tree.stage[node] != self.street or not len(follow):
                return None
            node = first + int(follow[0])
        return node

    @functools.cached_property
    def native_buckets(self) -> NativeBuckets:
        """The tables of the abstraction for C++."""
        return NativeBuckets(self.abstraction)

    def boards(self, seed: int, first: int, count: int) -> np.ndarray:
        """Returns uint8 [count, 5], complete boards with given numbers."""
        rest = np.setdiff1d(np.arange(NUM_CARDS), self.board).astype(np.uint8)
        more = 5 - len(self.board)
        cards = rest[deal_cards(seed, first, count, more, deck=len(rest))]
        known = np.broadcast_to(np.array(self.board, np.uint8), (count, len(self.board)))
        return np.concatenate([known, cards], 1)

    def deal(self, seed: int, first: int, count: int) -> Deals:
        """See `SampledGame`: hands by the ranges, as long as they share no card.

        Raises:
            RuntimeError: there is no compiler.
            ValueError: the ranges leave no deal.
        """
        library = native.host_library("mccfr")
        if library is None:
            raise RuntimeError("searches of hold'em need a C++17 compiler")
        n, stages = self.tree.num_players, self.tree.num_stages
        bucket = np.empty((count, n, stages), np.uint16)
        rank = np.empty((count, n), np.int32)
        cumulative = np.ascontiguousarray(np.cumsum(self.ranges, 1) / self.ranges.sum(1)[:, None])
        board = np.array(self.board, np.uint8)
        own = np.ascontiguousarray(self.bucket, np.uint16)
        library.JaxsolveDealRanges.restype = ctypes.c_int32
        failed = library.JaxsolveDealRanges(
            ctypes.c_uint64((seed ^ _DEALS) & (1 << 64) - 1),
            ctypes.c_int64(first),
            ctypes.c_int64(count),
            ctypes.c_int32(n),
            ctypes.c_int32(stages),
            ctypes.c_int32(self.street),
            ctypes.c_int32(len(board)),
            ctypes.c_int32(MOST_TRIES),
            self.native_buckets.pointer,
            *(ctypes.c_void_p(x.ctypes.data) for x in (board, cumulative, own, bucket, rank)),
        )
        if failed:
            raise ValueError("the ranges leave (almost) no deal in which no two hands share a card")
        return Deals(bucket, rank)


def usable(ranges: np.ndarray, board: Sequence[int]) -> np.ndarray:
    """Returns float64 [n, 1326], ranges that each sum to 1 over the hands that a board allows.

    Raises:
        ValueError: another shape, numbers that are no weights, or nothing left of a range.
    """
    found = np.asarray(ranges, np.float64)
    if found.ndim != 2 or found.shape[1] != NUM_HANDS:
        raise ValueError(f"ranges are [players, {NUM_HANDS}], not {list(found.shape)}")
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("a range has weights of 0 and more")
    found = np.where(possible(board), found, 0.0)
    total = found.sum(1, keepdims=True)
    if not (total > 0).all():
        raise ValueError(f"the board leaves no hand of player {int(total.argmin())}'s range")
    return np.asarray(found / total)
