"""Random river situations: boards, stacks and ranges to train on.

Ranges are made as in DeepStack (Moravcik et al. 2017, supplement, "Random generation of ranges"):
the hands in order of strength are split in two halves, which share the probability at random, and
so on down to single hands. Differs in two things, because ranges in play are smoother, and hands
of equal strength are not equally likely in them: splitting stops at a random depth, below which
hands share evenly, and hands then get random weights of their own, some of them next to none. No
hand has none at all: CFR would not learn how to play it, and so not what it is worth.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._boards import CARDS
from jaxsolve.holdem.river_net._boards import LIVE
from jaxsolve.types import Array, PRNGKey

LEAST = 1e-4
"""Share of a range that all hands have evenly."""


class RiverSituation(NamedTuple):
    """The start of a river.

    Attributes:
        board: int32 [5].
        ranges: float32 [2, 1081] of (oop, ip) over the hands in order of strength; each sums to 1.
        stack: float32 [], chips behind of both, in pots.
    """

    board: Array
    ranges: Array
    stack: Array


def random_situation(key: PRNGKey, *, least: float, most: float) -> RiverSituation:
    """Returns a random situation.

    Args:
        key: one key.
        least: the smallest stack in pots.
        most: the largest; the logarithm is even between the two.
    """
    cards, ranges, stack = jax.random.split(key, 3)
    span = jnp.log(jnp.asarray([least, most], jnp.float32))
    u = jax.random.uniform(stack)
    return RiverSituation(
        jax.random.choice(cards, CARDS, (5,), replace=False).astype(jnp.int32),
        jnp.stack([random_range(k) for k in jax.random.split(ranges)]),
        jnp.exp(span[0] + u * (span[1] - span[0])),
    )


def random_range(key: PRNGKey, *, hands: int = LIVE, split_all: bool = False) -> Array:
    """Returns a random range, float32 [hands] over hands in order of strength; it sums to 1.

    Args:
        key: one key.
        hands: how many there are, 1,081 on a river.
        split_all: down to single hands and nothing else, as in DeepStack.
    """
    halves, depth, own, power, drop = jax.random.split(key, 5)
    segment, upper, even_share, alone = _splits(hands)
    levels, segments = len(segment), 2 ** len(segment)
    share = jax.random.uniform(halves, (levels, segments))
    each = jnp.take_along_axis(share, jnp.asarray(segment), 1)
    each = jnp.where(jnp.asarray(upper), 1 - each, each)
    if not split_all:
        stop = jax.random.randint(depth, (), 0, levels + 1)
        each = jnp.where(jnp.arange(levels)[:, None] < stop, each, jnp.asarray(even_share))
    weight = jnp.where(jnp.asarray(alone), 1, each).prod(0)
    if not split_all:
        noise = jax.random.exponential(own, weight.shape)
        noise = noise ** jax.random.uniform(power, maxval=1.5)
        rate, which = jax.random.split(drop)
        rate = jnp.maximum(jax.random.uniform(rate, minval=-0.5, maxval=0.8), 0)
        weight = weight * noise * (jax.random.uniform(which, weight.shape) >= rate)
    total = weight.sum()
    even = jnp.full(weight.shape, 1 / hands, jnp.float32)
    range_ = jnp.where(total > 0, weight / jnp.where(total > 0, total, 1), even)
    return (1 - LEAST) * range_ + LEAST * even


@functools.cache
def _splits(size: int) -> tuple[Any, ...]:
    """Returns, level by level of halving, each hand's segment, half, even share and loneliness."""
    levels = int(np.ceil(np.log2(size)))
    segment, upper, alone = (np.zeros((levels, size), t) for t in (np.int32, bool, bool))
    even = np.ones((levels, size), np.float32)
    parts = [(0, size)]
    for level in range(levels):
        below = []
        for k, (low, high) in enumerate(parts):
            middle = (low + high) // 2
            segment[level, low:high] = k
            upper[level, middle:high] = True
            alone[level, low:high] = high - low <= 1
            if high - low > 1:
                even[level, low:middle] = (middle - low) / (high - low)
                even[level, middle:high] = (high - middle) / (high - low)
                below += [(low, middle), (middle, high)]
            else:
                below += [(low, high), (high, high)]
        parts = below
    return segment, upper, even, alone
