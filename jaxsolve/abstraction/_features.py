"""Features of hands whose Euclidean distance means something."""

from __future__ import annotations

from typing import Any

import numpy as np


def emd_features(histograms: Any) -> np.ndarray:
    """Returns cumulative histograms without their last entry, float32 [..., bins - 1].

    The sum of absolute differences between two of them is the earth mover's distance of the
    histograms, in bins; k-means takes the sum of squares, which is as often done instead (Johanson,
    Burch, Valenzano & Bowling 2013 use the distance itself). The last entry is 1 everywhere.

    Args:
        histograms: float [..., bins], not negative; each is divided by its sum, and one of zeros
            stays zeros.

    Raises:
        ValueError: a negative number, one that is not finite, or fewer than two bins.
    """
    table = np.asarray(histograms, np.float64)
    if table.ndim < 1 or table.shape[-1] < 2:
        raise ValueError(f"a histogram has two or more bins on the last axis, not {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("a histogram has counts that are not negative and finite")
    total = table.sum(-1, keepdims=True)
    share = table / np.where(total > 0, total, 1)
    return np.asarray(share.cumsum(-1)[..., :-1], np.float32)
