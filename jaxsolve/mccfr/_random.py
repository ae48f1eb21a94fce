"""Random numbers by counting, as `jaxsolve/native/random.h`."""

from __future__ import annotations

import numpy as np

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """Returns 64 bits of 64 bits, by the finaliser of splitmix64."""
    x = (x + _GOLDEN) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def pass_key(seed: int, number: int) -> int:
    """Returns the key of one pass."""
    return mix(mix(seed & _MASK) ^ number)


def uniform(key: int, what: int) -> np.float32:
    """Returns a number in [0, 1) of 24 bits; it depends on what it is for and on nothing else."""
    return np.float32(mix((key ^ what) & _MASK) >> 40) * np.float32(2.0**-24)
