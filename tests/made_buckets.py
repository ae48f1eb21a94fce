"""An abstraction that costs nothing: buckets by chance on flops, and one bucket later."""

from __future__ import annotations

import functools

import numpy as np

from jaxsolve import holdem


@functools.cache
def made_buckets(buckets: int) -> holdem.Abstraction:
    """Returns it; memory that is not read is not there, so turn and river take none."""
    flop = np.random.default_rng(buckets).integers(0, buckets, (1_755, holdem.NUM_HANDS))
    meets = holdem.HANDS[None, :, :, None] == holdem.canonical_boards(3).boards[:, None, None]
    return holdem.Abstraction(
        flop=np.where(meets.any((2, 3)), 65_535, flop).astype(np.uint16),
        turn=np.zeros((16_432, holdem.NUM_HANDS), np.uint16),
        river=np.zeros((134_459, holdem.NUM_HANDS), np.uint16),
        buckets=(169, buckets, 1, 1),
        mean_strength={},
        seed=0,
        checksum=buckets,
    )
