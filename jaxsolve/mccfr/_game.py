"""What a game gives to sampled CFR: public actions, deals, buckets and payoffs."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

import numpy as np

from jaxsolve.mccfr._tree import ActionTree


class Deals(NamedTuple):
    """Outcomes of all chance moves of a game (D deals, n players, G stages).

    Attributes:
        bucket: uint16 [D, n, G], what each player knows at each stage.
        outcome: int32 [D, n], what payoffs depend on: ranks of hands at a showdown, larger is
            better, or the row of a table in the first column.
    """

    bucket: np.ndarray
    outcome: np.ndarray


@dataclasses.dataclass(frozen=True)
class PotPayoffs:
    """Pots and side pots go to the best ranks among those that paid for them (T ends).

    Attributes:
        spent: int32 [T, n], chips put in over the whole hand.
        folded: bool [T, n].
    """

    spent: np.ndarray
    folded: np.ndarray

    def __call__(self, end: int, outcome: np.ndarray) -> np.ndarray:
        """Returns float64 [n], what each player wins at an end with ranks int [n]."""
        spent, alive = self.spent[end].astype(np.int64), ~self.folded[end]
        won = -spent.astype(float)
        levels = np.unique(spent[alive])
        for k, level in enumerate(levels):
            below = levels[k - 1] if k else 0
            cap = spent.max() if k == len(levels) - 1 else level
            pot = (np.minimum(spent, cap) - np.minimum(spent, below)).sum()
            runs = alive & (spent >= level)
            wins = runs & (outcome == outcome[runs].max())
            won[wins] += pot / wins.sum()
        return won

    @property
    def largest(self) -> float:
        """The most that somebody can lose."""
        return float(self.spent.max())


@dataclasses.dataclass(frozen=True)
class TablePayoffs:
    """Payoffs of each outcome of chance: float32 [O, T, n]."""

    table: np.ndarray

    def __call__(self, end: int, outcome: np.ndarray) -> np.ndarray:
        """Returns float64 [n], what each player wins at an end; `outcome[0]` is the row."""
        return self.table[int(outcome[0]), end].astype(float)

    @property
    def largest(self) -> float:
        """The largest payoff or loss."""
        return float(np.abs(self.table).max())


class TabledGame(Protocol):
    """What tables [sequence, bucket] need to know of a game."""

    @property
    def name(self) -> str:
        """Names the game and its buckets; checkpoints are refused for another name."""
        ...

    @property
    def tree(self) -> ActionTree:
        """The public actions."""
        ...

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each stage."""
        ...


class SampledGame(TabledGame, Protocol):
    """A game for external sampling; `listed_game` makes one of any compiled tree that allows it."""

    @property
    def payoffs(self) -> PotPayoffs | TablePayoffs:
        """What the ends of the tree pay."""
        ...

    def deal(self, seed: int, first: int, count: int) -> Deals:
        """Returns the deals number `first` to `first + count - 1`; equal arguments, equal deals."""
        ...
