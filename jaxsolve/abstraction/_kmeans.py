"""k-means: centres of points, and the nearest centre of each.

Start: k-means++ (Arthur & Vassilvitskii 2007) on a sample of the points. Then Lloyd's iterations;
a cluster that loses all its points takes the point that is farthest from its centre. Equal points
always get equal clusters.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from jaxsolve.abstraction._chunks import in_chunks
from jaxsolve.native import host_library

SAMPLE = 20
"""Points per cluster among which k-means++ looks for its first centres."""

_CHUNK = 1 << 14
_BLOCK = 1 << 22


def kmeans(points: Any, clusters: int, *, seed: int = 0, iterations: int = 25) -> np.ndarray:
    """Returns the centres of clusters, float32 [K, D], the same for the same seed.

    Args:
        points: float [N, D].
        clusters: K.
        seed: of the first centres.
        iterations: of Lloyd's algorithm at most; it ends when no point changes its cluster.

    Raises:
        ValueError: points of another shape or not finite; fewer points than clusters, or fewer
            different ones.
    """
    points = _checked("points", points)
    if not 1 <= clusters <= len(points):
        raise ValueError(f"{len(points):,} points make 1 to {len(points):,} clusters: {clusters:,}")
    if iterations < 0:
        raise ValueError(f"iterations is 0 or more, not {iterations}")
    centres = _first_centres(points, clusters, np.random.default_rng(seed))
    before = np.full(len(points), -1, np.int32)
    for _ in range(iterations):
        nearest, distance = _nearest(points, centres)
        if np.array_equal(nearest, before):
            break
        centres, before = _means(points, nearest, distance, clusters), nearest
    return centres


def assign(points: Any, centres: Any) -> np.ndarray:
    """Returns the nearest centre of each point, int32 [N]; of equally near ones the first.

    Args:
        points: float [N, D].
        centres: float [K, D].

    Raises:
        ValueError: other shapes, or numbers that are not finite.
    """
    points, centres = _checked("points", points), _checked("centres", centres)
    if points.shape[1] != centres.shape[1]:
        raise ValueError(
            f"points have {points.shape[1]} coordinates, centres {centres.shape[1]}: use the same "
            "features for both"
        )
    return _nearest(points, centres)[0]


def nearest_native(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns `nearest_numpy` in C++, or None where there is no compiler; in the caller's thread.

    Args:
        points: float32 [N, D].
        centres: float32 [K, D].
    """
    library = host_library("abstraction")
    if library is None:
        return None
    points, centres = (np.ascontiguousarray(x, np.float32) for x in (points, centres))
    (count, width), clusters = points.shape, len(centres)
    nearest, distance = np.empty(count, np.int32), np.empty(count, np.float32)
    size = ctypes.c_int64
    library.jaxsolve_nearest(
        ctypes.c_void_p(points.ctypes.data),
        size(count),
        ctypes.c_void_p(centres.ctypes.data),
        size(clusters),
        size(width),
        ctypes.c_void_p(nearest.ctypes.data),
        ctypes.c_void_p(distance.ctypes.data),
    )
    return nearest, distance


def nearest_numpy(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns (nearest centre int32 [N], square of its distance float32 [N])."""
    half = (centres * centres).sum(1) / 2
    nearest, distance = np.empty(len(points), np.int32), np.empty(len(points), np.float32)
    rows = max(1, _BLOCK // len(centres))
    for low in range(0, len(points), rows):
        block = points[low : low + rows]
        score = half - block @ centres.T
        best = score.argmin(1)
        nearest[low : low + rows] = best
        square = (block * block).sum(1) + 2 * score[np.arange(len(block)), best]
        distance[low : low + rows] = np.maximum(square, 0)
    return nearest, distance


def _nearest(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns `nearest_numpy`, in C++ and on all processors where there is a compiler."""
    if host_library("abstraction") is None:
        return nearest_numpy(points, centres)
    parts = in_chunks(
        lambda low, high: nearest_native(points[low:high], centres), len(points), _CHUNK
    )
    nearest, distance = zip(*(part for part in parts if part is not None), strict=True)
    return np.concatenate(nearest), np.concatenate(distance)


def _first_centres(points: np.ndarray, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Returns float32 [K, D]: points, each drawn by its squared distance from those before."""
    size = min(len(points), SAMPLE * clusters)
    sample = points[np.sort(rng.choice(len(points), size, replace=False))]
    centres = np.empty((clusters, points.shape[1]), np.float32)
    centres[0] = sample[rng.integers(size)]
    distance = _squares(sample, centres[0])
    for k in range(1, clusters):
        if not distance.any() and len(sample) < len(points):  # the sample has too many equal points
            sample = points
            distance = np.min([_squares(sample, centre) for centre in centres[:k]], 0)
        if not distance.any():
            raise ValueError(
                f"there are only {k:,} different points: ask for at most so many clusters, not "
                f"{clusters:,}"
            )
        total = distance.cumsum()
        at = np.searchsorted(total, rng.random() * total[-1], side="right")
        centres[k] = sample[min(int(at), int(np.flatnonzero(distance)[-1]))]
        distance = np.minimum(distance, _squares(sample, centres[k]))
    return centres


def _squares(points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Returns float64 [N], squared distances, 0 exactly where point and centre are equal."""
    return np.asarray(np.square(points - centre).sum(1, dtype=np.float64))


def _means(
    points: np.ndarray, nearest: np.ndarray, distance: np.ndarray, clusters: int
) -> np.ndarray:
    """Returns the mean of the points of each cluster; empty ones get the farthest points."""
    count = np.bincount(nearest, minlength=clusters)
    (empty,) = np.nonzero(count == 0)
    if len(empty):
        farthest = np.argsort(-distance, kind="stable")
        farthest = farthest[count[nearest[farthest]] > 1][: len(empty)]
        nearest = nearest.copy()
        nearest[farthest] = empty[: len(farthest)]
        count = np.bincount(nearest, minlength=clusters)
    rows = np.arange(len(points) + 1)
    ones = np.ones(len(points))
    import scipy.sparse  # importing it takes a tenth of a second

    member = scipy.sparse.csr_matrix((ones, nearest, rows), (len(points), clusters))
    total = member.T @ points.astype(np.float64)
    return (total / np.maximum(count, 1)[:, None]).astype(np.float32)


def _checked(name: str, points: Any) -> np.ndarray:
    """Returns float32 [N, D]."""
    array = np.ascontiguousarray(points, np.float32)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} has a row of one or more numbers per point, not {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has numbers that are not finite")
    return array
