"""Small games board by board: the oracle of vectors of hands."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.mccfr._listed import ListedGame, _dealt, _full_deals, _states
from jaxsolve.mccfr._tree import ActionTree
from jaxsolve.mccfr._vector import Board
from jaxsolve.types import Array


class _Data(NamedTuple):
    """What a program needs of all boards; `below` is the chance of each and those before."""

    below: Array
    bucket: Array
    weight: Array
    payoff: Array

    def at(self, row: Array) -> Board:
        """Returns a board, or some."""
        return Board(self.bucket[row], self.weight[row], self.payoff[row])


@dataclasses.dataclass(frozen=True)
class ListedBoards:
    """A two-player listed game, board by board, for vectors of hands; see `VectorGame`.

    Attributes:
        game: the deals.
        chance: float64 [O], probability of each board.
        bucket: int32 [O, 2, G, H].
        weight: float32 [O, 2, H], 1 for hands that the board allows.
        payoff: float32 [O, T, H, H], to player 0, times the probability of the pair of hands.
    """

    game: ListedGame
    chance: np.ndarray
    bucket: np.ndarray
    weight: np.ndarray
    payoff: np.ndarray

    @property
    def tree(self) -> ActionTree:
        """The public actions."""
        return self.game.tree

    @property
    def name(self) -> str:
        """Names the game and its buckets."""
        return self.game.name

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Buckets of each stage."""
        return self.game.num_buckets

    @functools.cached_property
    def data(self) -> _Data:
        """See `VectorGame`."""
        arrays = (np.cumsum(self.chance).astype(np.float32), self.bucket, self.weight, self.payoff)
        return _Data(*(jnp.asarray(x) for x in arrays))

    @staticmethod
    def sample(data: _Data, key: Array) -> Board:
        """See `VectorGame`."""
        row = jnp.searchsorted(data.below, jax.random.uniform(key), side="right")
        return data.at(jnp.minimum(row, len(data.below) - 1))

    @staticmethod
    def leaf_values(data: _Data, player: int, reach: Array, leaf: Array) -> Array:
        """See `VectorGame`."""
        del data
        if player == 0:
            return jnp.einsum("tij,tj->ti", leaf, reach)
        return -jnp.einsum("tij,ti->tj", leaf, reach)


def listed_boards(game: ListedGame) -> ListedBoards:
    """Returns the boards of a listed game: what chance showed to both players in the end.

    Raises:
        ValueError: the game is not of two players, or not a zero-sum game.
    """
    if game.tree.num_players != 2:
        raise ValueError("vectors of hands are for two players")
    if np.abs(game.payoffs.table.sum(-1)).max() > 1e-5:
        raise ValueError(f"{game.name} is not a zero-sum game")
    states = _states(game.compiled)
    last = game.tree.num_stages - 1
    p = int(np.flatnonzero((game.tree.count > 0) & (game.tree.stage == last))[0])
    here = np.flatnonzero((game.node == p) & (states.actor >= 0))
    dealt = _dealt(states)
    order = {d: k for k, d in enumerate(_full_deals(dealt))}
    here = here[np.argsort([order[dealt[int(x)]] for x in here])]  # a world state of each deal
    board = np.unique(states.public[here], return_inverse=True)[1].reshape(-1)
    count = int(board.max()) + 1
    hand = np.zeros((len(here), 2), int)
    for b in range(count):
        of = np.flatnonzero(board == b)
        for i in range(2):
            hand[of, i] = np.unique(states.infostate[here[of], i], return_inverse=True)[1].reshape(
                -1
            )
    size = int(hand.max()) + 1
    chance = np.bincount(board, game.chance)
    bucket = np.zeros((count, 2, game.tree.num_stages, size), np.int32)
    weight = np.zeros((count, 2, size), np.float32)
    payoff = np.zeros((count, len(game.tree.ends), size, size), np.float32)
    for d, row in enumerate(board):
        for i in range(2):
            bucket[row, i, :, hand[d, i]] = game.deals.bucket[d, i]
            weight[row, i, hand[d, i]] = 1
        share = game.chance[d] / chance[row]
        payoff[row, :, hand[d, 0], hand[d, 1]] += share * game.payoffs.table[d, :, 0]
    return ListedBoards(game, chance, bucket, weight, payoff)
