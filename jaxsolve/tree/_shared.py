"""Trees of which each device has a part: what all of them have is summed over devices.

A large tree is cut where chance is: every device has the rows above whole, and its share of what
follows. Own reaches need nothing from elsewhere. Counterfactual values of the sequences that all
devices have are sums of what the parts below them add; leaves that hang from such sequences pay one
part in D on each of D devices. All devices come to the same sums, and so to the same policy there.

Example: two devices have the turn and 24 rivers each. A turn row's values are those of its folds,
half of them counted on each device, and of the rivers below it, half of which are on each device.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxsolve.devices import AXIS
from jaxsolve.types import Array, pytree

if TYPE_CHECKING:
    from jaxsolve.tree._public_tree import PlayerTree


@pytree
@dataclasses.dataclass(frozen=True)
class Shared:
    """What all devices have of one own level (K sequences of it, N rows).

    Attributes:
        sequence: int32 [K], counted within the level.
        part: float [N], how much of each row's value a device counts when all have summed it: one
            part in D of what all have, 1 of its own.
    """

    sequence: Array
    part: Array

    def counted(self, rows: Array) -> Array:
        """Returns values [N, ...] of rows, so that their sum over devices counts each once."""
        return rows * self.part.reshape(-1, *(1,) * (rows.ndim - 1))


def total_over_devices(values: Array, sequence: Array) -> Array:
    """Returns values [E, ...], those of some sequences (int32 [K]) summed over devices."""
    if sequence.shape[0] == 0:
        return values
    sums = jax.lax.psum(values[sequence], AXIS)
    return values.at[sequence].set(sums, unique_indices=True)


def shared_levels(player: PlayerTree, on_all: np.ndarray, parts: int) -> tuple[Shared, ...]:
    """Returns what all devices have of each own level, as numpy arrays.

    Args:
        player: sequences of one part.
        on_all: bool [S], those that every part has.
        parts: D.
    """
    levels, start = [], player.root_reach.shape[0]
    for blocks in player.levels:
        first, rows = start, []
        for block in blocks:
            width, count = block.legal.shape[:2]
            rows.append(on_all[start : start + width * count].reshape(width, count).any(0))
            start += width * count
        sequence: Any = np.flatnonzero(on_all[first:start]).astype(np.int32)
        part: Any = np.where(np.concatenate(rows), 1 / parts, 1).astype(player.root_reach.dtype)
        levels.append(Shared(sequence, part))
    return tuple(levels)
