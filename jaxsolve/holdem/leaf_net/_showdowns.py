"""Showdowns after a flop: the mean over all runouts, for every pair of hands."""

from __future__ import annotations

import functools

import numpy as np

from jaxsolve.holdem._boards import compatible, showdown_signs
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._strength import strengths
from jaxsolve.holdem.leaf_net._features import runouts_of

RUNOUTS_OF_PAIR = 990
"""Of 45 cards that neither the flop nor two hands have."""


@functools.lru_cache(maxsize=2)
def mean_signs(board: tuple[int, ...]) -> np.ndarray:
    """Returns float32 [1326, 1326], how often the row's hand wins less how often it loses.

    0 where the two share a card, or one of them meets the board.
    """
    live = np.flatnonzero(possible(board))
    sums = np.zeros((len(live), len(live)), np.int16)
    for strength in strengths(live, runouts_of(board)):
        sums += showdown_signs(strength)
    out = np.zeros((NUM_HANDS, NUM_HANDS), np.float32)
    out[np.ix_(live, live)] = sums * compatible(live) / np.float32(RUNOUTS_OF_PAIR)
    return out
