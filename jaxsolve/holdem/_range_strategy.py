"""Strategies that tell their range: what they play with every hand at a public history."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.mccfr import as_float, matched


class RangeStrategy(Protocol):
    """A strategy whose policy of all hands is known: a `Blueprint`, or an agent that searches."""

    @property
    def game(self) -> HoldemGame:
        """The menu and its public actions; the buckets are not read."""
        ...

    def policy_at(self, node: int, board: Sequence[int]) -> np.ndarray:
        """Returns float [1326, actions], the policy of every hand; equal arguments, equal policies.

        Args:
            node: a decision of `game.tree`, whose `line` says how play came there.
            board: the cards of its street. Rows of hands that meet it are not read.
        """
        ...


class TableStrategy:
    """A table of sums as a `RangeStrategy`; hands that meet the board have zeros."""

    def __init__(self, game: HoldemGame, sums: np.ndarray) -> None:
        """Takes sums [E] of a policy by bucket.

        Raises:
            ValueError: the table is of another size.
        """
        self._rows = game.tree.rows(game.num_buckets)
        if len(sums) != int(self._rows[-1]):
            raise ValueError(f"a table of {len(sums):,} entries is not of {game!r}")
        self._game, self._sums = game, sums
        self._bucket = functools.lru_cache(maxsize=64)(game.abstraction.bucket)

    @property
    def game(self) -> HoldemGame:
        """See `RangeStrategy`."""
        return self._game

    def policy_at(self, node: int, board: Sequence[int]) -> np.ndarray:
        """Returns float64 [1326, actions]; see `RangeStrategy`."""
        entries = self._sums[self._rows[node] : self._rows[node + 1]]
        rows = matched(as_float(entries).reshape(-1, int(self.game.tree.count[node])))
        bucket = self._bucket(tuple(board))
        held = bucket < len(rows)
        return np.where(held[:, None], rows[np.where(held, bucket, 0)], 0.0)
