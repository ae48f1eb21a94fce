"""Payoff operators: what terminal states give each sequence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.tree._gather import Bucket, GatherSum, build, exact, float_type, take
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class SparsePayoffs:
    """Payoffs as padded lists: any game, any number of players, no hand axis.

    Attributes:
        lists: per player, own sequence <- (other players' sequences, payoff times chance).
    """

    lists: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        return self.lists[player](*(r for j, r in enumerate(reach) if j != player))

    def with_scale(self, scale: Array) -> SparsePayoffs:
        """See `LeafOperator`."""
        return SparsePayoffs(
            tuple(
                dataclasses.replace(g, weight=tuple(w * scale for w in g.weight or ()))
                for g in self.lists
            )
        )


def sparse_payoffs(
    sequence: np.ndarray, payoff: np.ndarray, sizes: Sequence[int], *, bucket: Bucket = exact
) -> SparsePayoffs:
    """Returns the operator of E payoff entries.

    Args:
        sequence: int [E, n], positions in the players' sequence vectors.
        payoff: float [E, n], payoff times chance.
        sizes: length S of each player's sequence vector.
        bucket: rounds list sizes up.
    """
    n = len(sizes)
    lists = []
    for i in range(n):
        some = payoff[:, i] != 0
        others = [sequence[some, j] for j in range(n) if j != i]
        lists.append(
            build(sequence[some, i], others, sizes[i], weight=payoff[some, i], bucket=bucket)
        )
    return SparsePayoffs(tuple(lists))


@pytree
@dataclasses.dataclass(frozen=True)
class MatrixPayoffs:
    """Payoffs as whole matrices: two players, small games, devices on which a gather is slow.

    Attributes:
        payoff: per player, float [S_own, S_other], payoff times chance; mostly 0.
    """

    payoff: tuple[Array, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        other = reach[1 - player]
        if other.ndim == 1:  # a sum in float32; products of a TPU have 16 bits by default
            return (self.payoff[player] * other).sum(1)
        return jnp.matmul(self.payoff[player], other, precision=jax.lax.Precision.HIGHEST)

    def with_scale(self, scale: Array) -> MatrixPayoffs:
        """See `LeafOperator`."""
        return MatrixPayoffs(tuple(p * scale for p in self.payoff))


def matrix_payoffs(sparse: SparsePayoffs, sizes: Sequence[int]) -> MatrixPayoffs:
    """Returns lists of two players as matrices, [S, S'] with S and S' of `sizes`."""
    matrices: list[Any] = []
    for i, lists in enumerate(sparse.lists):
        parts = []
        for index, weight in zip(lists.index, lists.weight or (), strict=True):
            part = np.zeros((index.shape[1], sizes[1 - i]), weight.dtype)
            at = np.asarray(index[0])
            np.add.at(part, (np.arange(len(at))[:, None], at), np.asarray(weight))
            parts.append(part)
        whole = np.concatenate([*parts, np.zeros_like(parts[0][:1])])
        matrices.append(whole[:-1] if lists.order is None else whole[np.asarray(lists.order)])
    return MatrixPayoffs(tuple(jax.device_put(tuple(matrices))))


@pytree
@dataclasses.dataclass(frozen=True)
class BlockPayoffs:
    """Dense payoffs of public leaves against all pairs of hands: two players, card games.

    Attributes:
        payoff: per player, float [T, H_own, H_other]: payoff times chance.
        sequence: per player, int32 [T], the public sequence each leaf hangs from.
        leaves: per player, sequence <- its leaves.
    """

    payoff: tuple[Array, ...]
    sequence: tuple[Array, ...]
    leaves: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        other = take(reach[1 - player], self.sequence[1 - player])  # [T, H_other]
        value = (self.payoff[player] * other[:, None, :]).sum(-1)  # [T, H_own]
        return self.leaves[player](jnp.concatenate([value, jnp.zeros_like(value[:1])]))

    def with_scale(self, scale: Array) -> BlockPayoffs:
        """See `LeafOperator`."""
        return dataclasses.replace(self, payoff=tuple(p * scale for p in self.payoff))


def block_payoffs(sequence: np.ndarray, payoff: np.ndarray, sizes: Sequence[int]) -> BlockPayoffs:
    """Returns the operator of T public leaves.

    Args:
        sequence: int [T, 2], positions in the players' public sequence vectors.
        payoff: float [T, 2, H0, H1], payoff times chance of each player.
        sizes: length S of each player's sequence vector.
    """
    leaf = np.arange(len(sequence))
    lists = [build(sequence[:, i], [leaf], sizes[i], pad=len(leaf)) for i in range(2)]
    dense: Any = (payoff[:, 0], payoff[:, 1].swapaxes(1, 2))
    hangs: Any = tuple(sequence[:, i].astype(np.int32) for i in range(2))
    return BlockPayoffs(tuple(p.astype(float_type()) for p in dense), hangs, tuple(lists))
