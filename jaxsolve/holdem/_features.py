"""Features of hands for card abstraction, counted on every runout and not sampled.

- **River**: the equity against each of some groups of hands before the flop (opponent cluster hand
  strength, OCHS: Johanson, Burch, Valenzano & Bowling 2013, section 3.3).
- **Flop and turn**: the cumulative histogram, over all rivers that may come, of the equity against
  every hand, in equal bins.

Equity on the river is the share of opponents' hands that are beaten, ties as halves; hands that
share a card with the board or the own hand do not count. In C++ where there is a compiler, else in
NumPy, far slower.
"""

from __future__ import annotations

import ctypes
import functools
import itertools

import numpy as np

from jaxsolve.abstraction import emd_features, kmeans
from jaxsolve.holdem._boards import compatible, showdown_signs
from jaxsolve.holdem._canonical import canonical_boards, hand_after, preflop_classes
from jaxsolve.holdem._cards import HANDS, NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._strength import strengths
from jaxsolve.native import host_library

BINS = 50
"""Bins of equity, as in Johanson et al. 2013."""

GROUPS = 8
"""Groups of hands before the flop, as in Johanson et al. 2013."""

OPPONENTS = 990
"""Hands that an opponent can hold on the river, given one's own."""

_RIVER = 5
_GROUP_BOARDS = 2000
_CHUNK = 100


def river_features(
    boards: np.ndarray, groups: np.ndarray, *, bins: int = BINS
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (bin of the equity against every hand, equity against each group) on rivers.

    Args:
        boards: uint8 [B, 5].
        groups: uint8 [1326], the group of each hand, 0..G - 1.
        bins: of equity, at most 255.

    Returns:
        uint8 [B, 1326], `bins` where hand and board share a card; float32 [B, 1326, G], 0 there,
        and 1/2 where the opponent can hold no hand of the group.
    """
    library = host_library("abstraction")
    if library is None:
        return river_features_numpy(boards, groups, bins=bins)
    boards, groups = np.ascontiguousarray(boards, np.uint8), np.ascontiguousarray(groups, np.uint8)
    number = int(groups.max()) + 1
    bin_of = np.empty((len(boards), NUM_HANDS), np.uint8)
    equity = np.zeros((len(boards), NUM_HANDS, number), np.float32)
    size = ctypes.c_int64
    library.jaxsolve_river_features(
        _at(boards),
        size(len(boards)),
        _at(groups),
        size(number),
        size(bins),
        _at(bin_of),
        _at(equity),
    )
    return bin_of, equity


def river_features_numpy(
    boards: np.ndarray, groups: np.ndarray, *, bins: int = BINS
) -> tuple[np.ndarray, np.ndarray]:
    """Returns `river_features`, in NumPy."""
    member = np.eye(int(groups.max()) + 1, dtype=np.float32)[groups]
    bin_of = np.full((len(boards), NUM_HANDS), bins, np.uint8)
    equity = np.zeros((len(boards), NUM_HANDS, member.shape[1]), np.float32)
    for b, strength in enumerate(river_strengths(boards)):
        live = strength >= 0
        met = _share_no_card() * live
        won = (showdown_signs(strength) * met) @ member
        possible = met @ member
        share = np.where(possible > 0, 0.5 + 0.5 * won / np.maximum(possible, 1), 0.5)
        equity[b] = share * live[:, None]
        twice = won.sum(1).astype(np.int64) + OPPONENTS
        bin_of[b, live] = (twice * bins // (2 * OPPONENTS + 1))[live]
    return bin_of, equity


def river_strengths(boards: np.ndarray) -> np.ndarray:
    """Returns int32 [B, 1326], strengths of hands on rivers uint8 [B, 5], -1 where they meet."""
    return strengths(np.arange(NUM_HANDS), boards.tolist())


def river_strengths_native(boards: np.ndarray) -> np.ndarray | None:
    """Returns `river_strengths` in C++, or None where there is no compiler."""
    library = host_library("abstraction")
    if library is None:
        return None
    boards = np.ascontiguousarray(boards, np.uint8)
    out = np.empty((len(boards), NUM_HANDS), np.int32)
    library.jaxsolve_river_strength(_at(boards), ctypes.c_int64(len(boards)), _at(out))
    return out


def equity_histograms(boards: np.ndarray, bin_of: np.ndarray, *, bins: int = BINS) -> np.ndarray:
    """Returns the cumulative histograms of river equity, float32 [B, 1326, bins - 1].

    Entry k is the share of rivers, of those that do not meet the hand, with equity in bins 0..k;
    0 where hand and board share a card.

    Args:
        boards: uint8 [B, 3] or [B, 4], the lowest card first.
        bin_of: uint8 [134459, 1326], the bins of `river_features` on all canonical rivers.
        bins: of equity, at most 255.
    """
    library = host_library("abstraction")
    if library is None:
        return equity_histograms_numpy(boards, bin_of, bins=bins)
    boards, bin_of = (np.ascontiguousarray(x, np.uint8) for x in (boards, bin_of))
    if bin_of.shape != (len(canonical_boards(_RIVER).boards), NUM_HANDS):
        raise ValueError(f"bin_of has a row for each canonical river, not {bin_of.shape}")
    # Names keep the arrays alive: what a cache returns to the second of two threads is not kept.
    code, after = canonical_boards(_RIVER).code, hand_after()
    out = np.empty((len(boards), NUM_HANDS, bins - 1), np.float32)
    size = ctypes.c_int64
    library.jaxsolve_histograms(
        _at(boards),
        size(boards.shape[0]),
        size(boards.shape[1]),
        _at(code),
        _at(after),
        _at(bin_of),
        size(bins),
        _at(out),
    )
    return out


def equity_histograms_numpy(
    boards: np.ndarray, bin_of: np.ndarray, *, bins: int = BINS
) -> np.ndarray:
    """Returns `equity_histograms`, in NumPy."""
    after, hands = hand_after(), np.arange(NUM_HANDS)
    out = np.empty((len(boards), NUM_HANDS, bins - 1), np.float32)
    for b, board in enumerate(boards.tolist()):
        left = [card for card in range(NUM_CARDS) if card not in board]
        rest = itertools.combinations(left, _RIVER - len(board))
        row, permutation = canonical_boards(_RIVER).find([[*board, *cards] for cards in rest])
        counts = np.zeros((NUM_HANDS, bins + 1))
        for r, p in zip(row, permutation, strict=True):
            counts[hands, bin_of[r, after[p]]] += 1
        out[b] = emd_features(counts[:, :bins])
    return out


def hand_groups(groups: int = GROUPS, *, seed: int = 0) -> np.ndarray:
    """Returns groups of hands before the flop, uint8 [1326] in 0..groups - 1, the weakest first.

    k-means of the histograms of equity on 2,000 random rivers, of the 169 classes.

    Args:
        groups: how many.
        seed: of the rivers and of the first centres.

    Raises:
        ValueError: fewer than 1 group or more than 169.
    """
    rng = np.random.default_rng(seed)
    rivers = rng.permuted(np.tile(np.arange(NUM_CARDS), (_GROUP_BOARDS, 1)), axis=1)[:, :_RIVER]
    classes = preflop_classes()
    counts = np.zeros((int(classes.max()) + 1, BINS + 1))
    for low in range(0, _GROUP_BOARDS, _CHUNK):
        bin_of = river_features(rivers[low : low + _CHUNK], np.zeros(NUM_HANDS, np.uint8))[0]
        np.add.at(counts, (np.broadcast_to(classes, bin_of.shape), bin_of), 1)
    features = emd_features(counts[:, :BINS])
    centres = kmeans(features, groups, seed=seed)
    centres = centres[np.argsort(mean_of_histogram(centres), kind="stable")]
    nearest = np.square(features[:, None] - centres[None]).sum(2).argmin(1)
    return nearest[classes].astype(np.uint8)


def mean_of_histogram(features: np.ndarray) -> np.ndarray:
    """Returns the mean equity of cumulative histograms [N, bins - 1], the middle of each bin."""
    bins = features.shape[1] + 1
    return np.asarray((bins - 0.5 - features.sum(1, dtype=np.float64)) / bins)


@functools.cache
def _share_no_card() -> np.ndarray:
    return compatible(np.arange(len(HANDS)))


def _at(array: np.ndarray) -> ctypes.c_void_p:
    """Returns where an array begins; the caller keeps it alive until the call has returned."""
    return ctypes.c_void_p(array.ctypes.data)
