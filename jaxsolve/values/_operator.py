"""The payoff operator of a depth limit: values as one more factor beside the other's reach."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.tree import Bucket, GatherSum, build, exact
from jaxsolve.types import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class MultiValued:
    """What the choices at a depth limit pay: a `LeafOperator` whose values can be swapped.

    Attributes:
        values: float [L, k_0, k_1], player 0's payoff at each world state of the limit.
        lists: per player, own sequence <- (the other's sequence, position in `values`), weighted by
            chance and by the sign of the player.
    """

    values: Array
    lists: tuple[GatherSum, ...]

    def __call__(self, player: int, reach: Sequence[Array]) -> Array:
        """See `LeafOperator`."""
        return self.lists[player](reach[1 - player], self.values.reshape(-1))

    def with_scale(self, scale: Array) -> MultiValued:
        """See `LeafOperator`."""
        return dataclasses.replace(self, values=self.values * scale)

    def with_values(self, values: Array) -> MultiValued:
        """Returns the operator with other values [L, k_0, k_1]."""
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
        sequence: int [E, 2], positions in the players' sequence vectors.
        position: int [E], position in the flattened values.
        chance: float [E], probability of chance on the way.
        values: float [L, k_0, k_1].
        sizes: length S of each player's sequence vector.
        bucket: rounds list sizes up.
    """
    lists = [
        build(
            sequence[:, i],
            [sequence[:, 1 - i], position],
            sizes[i],
            weight=sign * chance,
            bucket=bucket,
        )
        for i, sign in ((0, 1.0), (1, -1.0))
    ]
    return MultiValued(values, tuple(lists))  # type: ignore[arg-type]
