"""The payoff operator of a depth limit: values as one more factor beside the other's reach."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from jaxsolve.tree import Bucket, GatherSum, build, exact
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class MultiValued:
    """What the choices at a depth limit pay: a `LeafOperator` whose values can be swapped.

    Attributes:
        values: float [L, k_0, ..., k_{n-1}, n], payoffs at each world state of the limit.
        lists: per player, own sequence <- (the others' sequences, position in `values`), weighted
            by chance.
    """

    values: Array
    lists: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        others = [r for j, r in enumerate(reach) if j != player]
        return self.lists[player](*others, self.values.reshape(-1))

    def with_scale(self, scale: Array) -> MultiValued:
        """See `LeafOperator`."""
        return dataclasses.replace(self, values=self.values * scale)

    def with_values(self, values: Array) -> MultiValued:
        """Returns the operator with other values [L, k_0, ..., k_{n-1}, n]."""
        return dataclasses.replace(self, values=jnp.broadcast_to(values, self.values.shape))


def multi_valued(
    sequence: np.ndarray,
    position: np.ndarray,
    chance: np.ndarray,
    values: np.ndarray,
    sizes: Sequence[int],
    *,
    bucket: Bucket = exact,
) -> MultiValued:
    """Returns the operator of E entries.

    Args:
        sequence: int [E, n], positions in the players' sequence vectors.
        position: int [E], row of the payoffs among the flattened values [L * k_0 * ..., n].
        chance: float [E], reach of chance.
        values: float [L, k_0, ..., k_{n-1}, n].
        sizes: length S of each player's sequence vector.
        bucket: rounds list sizes up.
    """
    n = len(sizes)
    lists = []
    for i in range(n):
        others = [sequence[:, j] for j in range(n) if j != i]
        sources = [*others, position * n + i]
        lists.append(build(sequence[:, i], sources, sizes[i], weight=chance, bucket=bucket))
    return MultiValued(values, tuple(lists))  # type: ignore[arg-type]
