"""A river network as the payoff operator at the end of a turn's betting: all rivers at once.

What hands are worth without river bets is one product with the mean matrix of the turn, an all-in,
and exact. What betting adds is the network's, river by river. Two products with one matrix [hands,
rivers x buckets] put ranges into buckets and bring values back. One thing is approximated: how much
of the opponent's reach a hand meets on a river is taken to be what it meets on the turn, times the
share of that reach which the river leaves alive.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._boards import CARDS
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._payoffs import Compatible, compatible_form
from jaxsolve.holdem.river_net._boards import bucket_shares, river_board, ties
from jaxsolve.holdem.river_net._network import buckets_of, public_states
from jaxsolve.nets import Net
from jaxsolve.tree import GatherSum, build, take
from jaxsolve.types import Array, pytree

_OTHER = CARDS - 4
# Of 48 rivers, 44 come with two given hands. A hand of the opponent is alive on 46 of them, and
# one that shares no card with one's own on 44 of the 46 that one's own hand is alive on.
_RIVERS_OF_PAIR = 44
_MET_ALIVE = (_RIVERS_OF_PAIR / 46) / (46 / _OTHER)


@pytree
@dataclasses.dataclass(frozen=True)
class RiverLeaves:
    """What river betting adds at L ends of a turn's betting (R rivers, K buckets, H hands).

    Attributes:
        net: the network.
        hats: float [H, R * K], buckets of hands; zeros where a hand meets the river.
        even: float [R, K], all hands evenly, for ranges without mass.
        tied: float [R, K], see `ties`.
        meets: sums over hands that share no card.
        stack: float [L], chips behind in pots.
        amount: float [L], chips of the pot times the chance of a pair of hands and a river.
        sequence: per player, int32 [L], the public sequence each leaf hangs from.
        leaves: per player, sequence <- its leaves.
    """

    net: Net
    hats: Array
    even: Array
    tied: Array
    meets: Compatible
    stack: Array
    amount: Array
    sequence: tuple[Array, ...]
    leaves: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        return self._sums(player, self.values(self._ranges(reach))[player])

    def held(self, reach: Sequence[Array]) -> HeldLeaves:
        """Returns the values at some reaches as an operator, which no longer asks the network."""
        found = self.values(self._ranges(reach))
        return HeldLeaves(tuple(self._sums(i, found[i]) for i in range(2)))

    def _ranges(self, reach: Sequence[Array]) -> Array:
        return jnp.stack([take(r, s) for r, s in zip(reach, self.sequence, strict=True)])

    def _sums(self, player: int, value: Array) -> Array:
        return self.leaves[player](jnp.concatenate([value, jnp.zeros_like(value[:1])]))

    def values(self, ranges: Array) -> Array:
        """Returns what betting adds to counterfactual values of both players, float [2, L, H].

        Args:
            ranges: float [2, L, H], own reaches at the leaves.
        """
        count = ranges.shape[1]
        rivers, buckets = self.even.shape
        flat_ranges = ranges.reshape(2 * count, -1)
        mass = (flat_ranges @ self.hats).reshape(2, count, rivers, buckets)
        alive = mass.sum(-1)
        some = alive[..., None] > 0
        shares = jnp.where(some, mass / jnp.where(some, alive[..., None], 1), self.even)
        shares = jnp.moveaxis(shares, 0, 2)  # [L, R, 2, K]
        states = public_states(
            shares,
            jnp.broadcast_to(self.tied, (count, rivers, buckets)),
            jnp.broadcast_to(self.stack[:, None], (count, rivers)),
        )
        flat = jax.tree.map(lambda x: x.reshape(count * rivers, *x.shape[2:]), states)
        found = self.net.output(flat, shares.reshape(-1, 2, buckets)).values
        found = jnp.moveaxis(found.reshape(count, rivers, 2, buckets), 2, 0)
        found = found * alive[::-1, ..., None]
        added = found.reshape(2 * count, -1) @ self.hats.T
        other = ranges[::-1].reshape(2 * count, -1)
        total = other.sum(-1)
        share = self.meets(other[None])[0] / jnp.where(total > 0, total, 1)[:, None]
        return (added * share).reshape(ranges.shape) * (_MET_ALIVE * self.amount)[:, None]

    def with_scale(self, scale: Array) -> RiverLeaves:
        """See `LeafOperator`."""
        return dataclasses.replace(self, amount=self.amount * scale)


@pytree
@dataclasses.dataclass(frozen=True)
class HeldLeaves:
    """Values that were found before, whatever the reaches are now.

    Attributes:
        value: per player, float [S, H], of every sequence.
    """

    value: tuple[Array, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        return self.value[player]

    def with_scale(self, scale: Array) -> HeldLeaves:
        """See `LeafOperator`."""
        return HeldLeaves(tuple(v * scale for v in self.value))


def river_leaves(
    net: Net,
    board: Sequence[int],
    hands: np.ndarray,
    *,
    sequence: Sequence[np.ndarray],
    sizes: Sequence[int],
    pot: np.ndarray,
    stack: np.ndarray,
    pairs: float,
) -> RiverLeaves:
    """Returns the operator of a turn.

    Args:
        net: the network.
        board: four cards.
        hands: int [H], rows of `HANDS`, none of which meets the board.
        sequence: per player, int [L], the public sequence each leaf hangs from.
        sizes: length S of each player's sequence vector.
        pot: chips in the middle at each leaf.
        stack: chips behind at each leaf.
        pairs: weight of all pairs of hands at the root.
    """
    buckets = buckets_of(net)
    rivers = [c for c in range(CARDS) if c not in board]
    boards = np.asarray([[*board, c] for c in rivers], np.int32)
    hats, tied = (np.asarray(x) for x in _tables(boards, buckets))
    mine = hats[:, hands]  # [R, H, K]
    even = mine.sum(1)
    even = even / even.sum(-1, keepdims=True)
    leaf = np.arange(len(pot))
    arrays: dict[str, Any] = {
        "hats": np.ascontiguousarray(mine.transpose(1, 0, 2).reshape(len(hands), -1)),
        "even": even.astype(np.float32),
        "tied": tied,
        "stack": (stack / pot).astype(np.float32),
        "amount": (pot / pairs / _RIVERS_OF_PAIR).astype(np.float32),
        "sequence": tuple(s.astype(np.int32) for s in sequence),
    }
    return RiverLeaves(
        net=net,
        meets=compatible_form(HANDS[hands], np.ones((1, len(hands)), bool)),
        leaves=tuple(
            build(s, [leaf], n, pad=len(leaf)) for s, n in zip(sequence, sizes, strict=True)
        ),
        **arrays,
    )


def _tables(boards: np.ndarray, buckets: int) -> tuple[Array, Array]:
    """Returns hats [R, 1326, K] and ties [R, K] of complete boards."""
    return _tables_jit(jnp.asarray(boards), buckets)


@jax.jit(static_argnames="buckets")
def _tables_jit(boards: Array, buckets: int) -> tuple[Array, Array]:
    def one(board: Array) -> tuple[Array, Array]:
        found = river_board(board)
        shares = bucket_shares(found.place, buckets)
        hats = jnp.zeros((len(HANDS), buckets), shares.dtype).at[found.hands].set(shares)
        return hats, ties(found, shares)

    return jax.lax.map(one, boards)
