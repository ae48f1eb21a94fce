"""Sums over irregular index lists as a few dense gathers.

Scatters and segment sums are several times slower on a CPU and not deterministic on a GPU, so
every irregular sum in the package is a gather: output s adds up `x[index[s, k]]` over k. Lists of
different lengths are put in a few groups, each padded to its longest list; how many groups is
chosen by counting cells against a fixed price for one more kernel.

Example: Kuhn poker, sequences of player 0 (S = 13). Position 0 is the empty sequence, 1 2 3 are
passing with J Q K and 4 5 6 betting with J Q K. After a pass and a bet, 7 8 9 are folding with
J Q K and 10 11 12 calling. Of player 1, positions 1 and 3 are passing with Q and K after a pass.

- Children. The rows of the second level are J|p|b, Q|p|b and K|p|b; `v = [v_J, v_Q, v_K, 0]` are
  their values and a zero for padding. The lists of the sequences of the first level (positions 1 to
  6) are [0], [1], [2], [3], [3], [3]: passing with J gets v_J, and betting, below which player 0
  has no row, gets the zero.
- Leaves. The list of position 1 (passing with J) is [1, 3] with weights -1/6 and -1/6: the
  probability 1/6 of each deal times the payoff -1 of the showdown. Player 1's reach of these two
  sequences, weighted and added, is the counterfactual value of passing with J from its leaves.
  Lists of other positions have up to four entries, so this one is padded with two of weight 0.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array, pytree

KERNEL_CELLS = 3000
"""Price of one more kernel in cells: about 0.7 us beside 0.25 ns a cell (measured on 2 cores)."""

KERNEL_SHARE = 1 / 200
"""Price of one more kernel as a share of all cells, so that large games have few kernels too."""

UNROLL = 32
"""Longest list that is summed entry by entry where vectors are gathered."""

LANES = 8
"""Shortest trailing axis for which that pays."""

ONE_HOT = 10_000
"""Longest vector whose entries are found by comparing: then one look-up costs a v5e 80 ns, as a
gather does (both by XLA's estimates)."""

Bucket = Callable[[int], int]
"""Rounds a size up, so that trees of similar sizes share compiled programs."""


def exact(size: int) -> int:
    """Keeps every size as it is."""
    return size


def coarse(size: int) -> int:
    """Rounds up to 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, ...: at most half again as large."""
    if size <= 4:
        return size
    power = 1 << (size - 1).bit_length()
    return power * 3 // 4 if size <= power * 3 // 4 else power


def float_type() -> np.dtype:
    """Returns float32, or float64 where JAX has 64-bit types enabled."""
    return np.dtype(jax.dtypes.canonicalize_dtype(np.float64))


def take(x: Array, index: Array, one_hot: bool = False) -> Array:
    """Returns x[index] along the first axis; indices are in bounds by construction.

    Args:
        x: [M, ...].
        index: int32, any shape.
        one_hot: where x is float [M], compare every index with every position and sum, instead of
            a gather. The result is the same (all terms but one are 0), for finite numbers. A TPU
            has no instruction that gathers: XLA estimates 80 ns for each number, and the M
            comparisons of its vector unit are less up to some 10,000 positions.
    """
    if one_hot and x.ndim == 1 and len(x) <= ONE_HOT:
        return jnp.where(index[..., None] == jnp.arange(len(x)), x, 0).sum(-1)
    return x.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)


def pick(odds: Array, uniform: Array) -> Array:
    """Returns int32 [...], an entry drawn from weights [..., W] by a uniform number in [0, 1).

    Anything is returned where all weights are 0.
    """
    below = jnp.cumsum(odds, -1)
    # The last sum exceeds its product with a number below 1, so the entry counted up to exists;
    # the sum rises there, so its weight is positive.
    return (below <= uniform[..., None] * below[..., -1:]).sum(-1, dtype=jnp.int32)


@pytree
@dataclasses.dataclass(frozen=True)
class GatherSum:
    """The linear map out[s] = sum_k weight[s, k] * prod_j x_j[index_j[s, k]].

    Attributes:
        index: per group, int32 [J, S_g, K_g]: positions in each of J input vectors.
        weight: per group, float [S_g, K_g]; None for plain sums, whose padding must point at an
            input that is zero.
        order: int32 [S], where each output lies in the concatenated groups; the position after
            the last stands for an empty list. None if there is one group in output order.
        one_hot: how entries are looked up, see `take`.
    """

    index: tuple[Array, ...]
    weight: tuple[Array, ...] | None
    order: Array | None
    one_hot: bool = dataclasses.field(default=False, metadata={"static": True})

    def __call__(self, *inputs: Array) -> Array:
        """Returns [S, ...] from J inputs [M_j, ...]."""
        parts = []
        for g, index in enumerate(self.index):
            weight = None if self.weight is None else self.weight[g]
            if inputs[0].ndim > 1 and inputs[0].shape[-1] >= LANES and index.shape[2] <= UNROLL:
                parts.append(_unrolled_sum(inputs, index, weight))
            else:
                parts.append(_product(inputs, index, weight, self.one_hot).sum(1))
        if self.order is None:
            return parts[0]
        parts.append(jnp.zeros_like(inputs[0][:1]))
        return take(jnp.concatenate(parts), self.order, self.one_hot)

    @property
    def num_cells(self) -> int:
        """Padded entries, the measure of the work."""
        return sum(int(np.prod(i.shape[1:])) for i in self.index)


def _product(
    inputs: tuple[Array, ...], index: Array, weight: Array | None, one_hot: bool = False
) -> Array:
    """Returns weight * prod_j x_j[index_j], shape of one index array with the trailing axes."""
    picked = take(inputs[0], index[0], one_hot)
    for x, i in zip(inputs[1:], index[1:], strict=True):
        picked = picked * take(x, i, one_hot)
    if weight is not None:
        picked = picked * weight.reshape(weight.shape + (1,) * (picked.ndim - weight.ndim))
    return picked


def _unrolled_sum(inputs: tuple[Array, ...], index: Array, weight: Array | None) -> Array:
    """As `_product(...).sum(1)`, one list position at a time.

    With trailing axes each position gathers whole vectors and XLA fuses gather, product and sum;
    summed at once, the gathered array is written out first (12 times slower on a CPU).
    """

    def term(k: int) -> Array:
        return _product(inputs, index[:, :, k], None if weight is None else weight[:, k])

    return functools.reduce(operator.add, (term(k) for k in range(index.shape[2])))


def build(
    target: np.ndarray,
    sources: list[np.ndarray],
    size: int,
    *,
    pad: int = 0,
    weight: np.ndarray | None = None,
    bucket: Bucket = exact,
) -> GatherSum:
    """Returns out[target[e]] += weight[e] * prod_j x_j[sources[j][e]], in numpy arrays.

    Args:
        target: int [E], output of each entry.
        sources: J arrays int [E].
        size: number of outputs S.
        pad: source index of padding; must hold zero where there is no weight.
        weight: float [E] or None.
        bucket: rounds group sizes up.
    """
    degree = np.bincount(target, minlength=size)
    order = np.argsort(target, kind="stable")
    start = np.concatenate([[0], np.cumsum(degree)])
    groups = _groups(degree)
    whole = len(groups) == 1 and groups[0][0] == 0
    index: list[Any] = []
    weights: list[Any] = []
    position: Any = np.full(size, -1, np.int32)
    filled = 0
    for lowest, longest in groups:
        members = np.flatnonzero((degree >= lowest) & (degree <= longest))
        count = size if whole else bucket(len(members))
        width = bucket(longest)
        lanes = np.arange(width)
        valid = np.zeros((count, width), bool)
        valid[: len(members)] = lanes < degree[members, None]
        entry = np.zeros((count, width), np.int64)
        entry[: len(members)] = start[members, None] + lanes
        entry = order[entry * valid] if len(order) else entry
        index.append(np.stack([_padded(x, entry, valid, pad) for x in sources]))
        if weight is not None:
            weights.append(_padded(weight, entry, valid, 0.0).astype(float_type()))
        position[members] = filled + np.arange(len(members))
        filled += count
    position[position < 0] = filled
    return GatherSum(
        tuple(index),
        None if weight is None else tuple(weights),
        None if whole else position,
    )


def _padded(values: np.ndarray, entry: np.ndarray, valid: np.ndarray, pad: float) -> np.ndarray:
    """Returns values[entry] where valid, else `pad`; integers as int32."""
    kind = np.int32 if np.issubdtype(values.dtype, np.integer) else values.dtype
    out = np.full(entry.shape, pad, kind)
    out[valid] = values[entry[valid]]
    return out


def _groups(degree: np.ndarray) -> list[tuple[int, int]]:
    """Returns (shortest, longest) list lengths of each group, of least estimated cost.

    One group from 0 means that empty lists are padded like the others and no reordering is done.
    """
    count = np.bincount(degree)
    longest = len(count) - 1
    if longest == 0:
        return [(0, 0)]
    lengths = np.flatnonzero(count[1:]) + 1
    if len(lengths) > 64:  # dozens of distinct lengths: quantiles are as good as all of them
        lengths = np.unique(lengths[np.linspace(0, len(lengths) - 1, 64).astype(int)])
    cumulative = np.concatenate([[0], np.cumsum(count[1:])])
    below = cumulative[lengths]
    ends, cost = split(below, lengths)
    if len(degree) * longest <= cost + len(degree) + KERNEL_CELLS:
        return [(0, longest)]
    groups, lowest = [], 1
    for end in ends:
        groups.append((lowest, int(lengths[end])))
        lowest = int(lengths[end]) + 1
    return groups


def split(below: np.ndarray, width: np.ndarray) -> tuple[list[int], float]:
    """Splits items sorted by width into groups padded to their widest.

    Args:
        below: int [L], how many items are at most as wide as entry l.
        width: int [L], distinct widths, ascending.

    Returns:
        (last entry of each group, cells plus the price of the kernels), by dynamic programming.
    """
    size = len(width)
    cells = int((np.diff(below, prepend=0) * width).sum())
    price = max(KERNEL_CELLS, int(KERNEL_SHARE * cells))
    best = np.full(size + 1, np.inf)
    best[0] = 0
    previous = np.zeros(size + 1, int)
    before = np.concatenate([[0], below])
    for end in range(1, size + 1):
        costs = best[:end] + (before[end] - before[:end]) * width[end - 1] + price
        previous[end] = int(np.argmin(costs))
        best[end] = costs[previous[end]]
    ends, end = [], size
    while end > 0:
        ends.append(end - 1)
        end = previous[end]
    return ends[::-1], float(best[size])
