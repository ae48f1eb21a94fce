"""Showdowns after a flop: the mean over all runouts, for every pair of hands."""

from __future__ import annotations

import functools

import numpy as np

from jaxsolve.holdem._boards import compatible
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem.leaf_net._features import runouts_of


@functools.lru_cache(maxsize=2)
def mean_signs(board: tuple[int, ...]) -> np.ndarray:
    """Returns float32 [1326, 1326], how often the row's hand wins less how often it loses.

    0 where the two share a card, or one of them meets the board.
    """
    live = np.flatnonzero(possible(board))
    boards = runouts_of(board).tolist()
    sums = np.zeros((len(live), len(live)), np.int16)
    for row in strengths(live, boards):
        place = np.unique(row, return_inverse=True)[1].astype(np.int16)
        wins = (place[:, None] > place[None]).view(np.int8)
        there = (row >= 0).view(np.int8)
        wins *= there[:, None]
        wins *= there[None]
        sums += wins
        sums -= wins.T
    cards = 52 - len(board) - 4
    runouts = cards * (cards - 1) // 2 if len(board) == 3 else cards
    out = np.zeros((NUM_HANDS, NUM_HANDS), np.float32)
    out[np.ix_(live, live)] = sums * compatible(live) / np.float32(runouts)
    return out
