"""k-means: known clusters, the nearest centre by an independent formula, and bad input."""

from __future__ import annotations

import itertools
import os
import shutil

import numpy as np
import pytest

from jaxsolve.abstraction import (
    assign,
    emd_features,
    in_chunks,
    kmeans,
    nearest_native,
    nearest_numpy,
)
from jaxsolve.native import host_library


def blobs(clusters: int, each: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (points float32 [clusters * each, width] in random order, blob of each)."""
    rng = np.random.default_rng(seed)
    middle = 20 * rng.permutation(clusters)[:, None] + rng.random((clusters, width))
    which = rng.permutation(np.repeat(np.arange(clusters), each))
    points = middle[which] + 0.1 * rng.standard_normal((len(which), width))
    return points.astype(np.float32), which


@pytest.mark.parametrize(("clusters", "width"), [(1, 1), (3, 2), (17, 8), (40, 49)])
def test_separate_blobs_are_found(clusters: int, width: int) -> None:
    points, which = blobs(clusters, 30, width, seed=clusters)
    centres = kmeans(points, clusters, seed=1)
    found = assign(points, centres)
    assert len(set(zip(which.tolist(), found.tolist(), strict=True))) == clusters
    for blob in range(clusters):
        mine = which == blob
        mean = points[mine].astype(np.float64).mean(0)
        assert np.abs(centres[found[mine][0]] - mean).max() < 1e-5 * max(1, 20 * clusters)


def test_the_same_seed_gives_the_same_centres() -> None:
    points = np.random.default_rng(0).random((3000, 5)).astype(np.float32)
    first = kmeans(points, 20, seed=3)
    np.testing.assert_array_equal(first, kmeans(points, 20, seed=3))
    assert not np.array_equal(first, kmeans(points, 20, seed=4))


def test_iterations_lower_the_distance() -> None:
    points = np.random.default_rng(1).random((2000, 3)).astype(np.float32)
    total = [
        nearest_numpy(points, kmeans(points, 12, iterations=n))[1].sum(dtype=np.float64)
        for n in (0, 1, 3, 25)
    ]
    assert total == sorted(total, reverse=True)
    assert total[-1] < 0.9 * total[0]


def test_centres_are_the_means_of_their_points() -> None:
    points = np.random.default_rng(2).random((500, 4)).astype(np.float32)
    centres = kmeans(points, 6, iterations=1000)
    nearest = assign(points, centres)
    for k in range(6):
        np.testing.assert_allclose(centres[k], points[nearest == k].mean(0), atol=1e-5)


@pytest.mark.parametrize("distinct", [1, 5, 200])
def test_as_many_clusters_as_different_points_are_exact(distinct: int) -> None:
    """Rare points are found as well: all others are equal."""
    points = np.zeros((5000, 3), np.float32)
    points[:distinct, 1] = np.arange(distinct)
    points = np.random.default_rng(0).permuted(points, axis=0)
    centres = kmeans(points, distinct)
    assert nearest_numpy(points, centres)[1].max() == 0
    assert len(np.unique(assign(points, centres))) == distinct
    with pytest.raises(ValueError, match=f"only {distinct} different points"):
        kmeans(points, distinct + 1)


def test_a_cluster_that_is_lost_takes_the_farthest_point() -> None:
    from jaxsolve.abstraction._kmeans import _means

    points = np.array([[0], [1], [2], [9]], np.float32)
    nearest, distance = np.array([0, 0, 0, 0], np.int32), np.array([0, 1, 4, 81], np.float32)
    np.testing.assert_allclose(_means(points, nearest, distance, 2), [[1], [9]])


@pytest.mark.parametrize("clusters", [1, 3, 4, 7, 200])
@pytest.mark.parametrize("width", [1, 8, 49])
@pytest.mark.parametrize("count", [1, 31, 1000])
def test_the_nearest_centre(clusters: int, width: int, count: int) -> None:
    rng = np.random.default_rng([clusters, width, count])
    points, centres = (rng.random((n, width)).astype(np.float32) for n in (count, clusters))
    exact = np.square(points[:, None].astype(float) - centres[None]).sum(2)
    for found in (nearest_numpy(points, centres), nearest_native(points, centres)):
        if found is None:
            continue
        nearest, distance = found
        own = exact[np.arange(count), nearest]
        assert (own <= exact.min(1) + 1e-5 * width).all()
        np.testing.assert_allclose(distance, own, atol=1e-5 * width)
        assert (nearest == exact.argmin(1)).mean() > 0.99


def test_of_equal_centres_the_first_is_taken() -> None:
    centres = np.array([[5, 5], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2]], np.float32)
    points = np.ones((100, 2), np.float32)
    assert (assign(points, centres) == 1).all()
    assert (nearest_numpy(points, centres)[0] == 1).all()


@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++"))) or os.environ.get("JAXSOLVE_NATIVE") == "0",
    reason="no compiler, or native code is turned off",
)
def test_native_code_is_used() -> None:
    """Else the test of the nearest centre compares less than it says."""
    assert host_library("abstraction") is not None


def test_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    points, _ = blobs(5, 40, 3, seed=0)
    native = kmeans(points, 5)
    monkeypatch.setenv("JAXSOLVE_NATIVE", "0")
    assert nearest_native(points, native) is None
    np.testing.assert_allclose(kmeans(points, 5), native, rtol=1e-5)


@pytest.mark.parametrize(
    ("points", "clusters", "words"),
    [
        (np.zeros(3), 1, "a row of one or more numbers per point"),
        (np.zeros((3, 0)), 1, "a row of one or more numbers per point"),
        (np.full((3, 2), np.nan), 1, "not finite"),
        (np.zeros((3, 2)), 4, "3 points make 1 to 3 clusters: 4"),
        (np.zeros((3, 2)), 0, "3 points make 1 to 3 clusters: 0"),
    ],
)
def test_bad_points(points: np.ndarray, clusters: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        kmeans(points, clusters)


def test_bad_centres() -> None:
    with pytest.raises(ValueError, match="points have 2 coordinates, centres 3"):
        assign(np.zeros((4, 2)), np.zeros((4, 3)))
    with pytest.raises(ValueError, match="iterations is 0 or more"):
        kmeans(np.zeros((4, 2)), 1, iterations=-1)


def test_distances_of_features_are_earth_movers_distances() -> None:
    """Between samples of equal size it is the mean distance of the sorted samples."""
    samples = np.sort(np.random.default_rng(0).integers(0, 6, (20, 12)), 1)
    features = emd_features(np.stack([np.bincount(row, minlength=6) for row in samples]))
    for a, b in itertools.product(range(20), range(20)):
        moved = np.abs(samples[a] - samples[b]).mean()
        assert abs(np.abs(features[a] - features[b]).sum() - moved) < 1e-5
    assert not emd_features([[0, 0, 0]]).any()


@pytest.mark.parametrize("histogram", [[1], [-1, 2], [np.inf, 1], 3])
def test_bad_histograms(histogram: object) -> None:
    with pytest.raises(ValueError, match="a histogram has"):
        emd_features(histogram)


def test_chunks_are_in_order_and_pass_errors_on() -> None:
    told: list[int] = []
    parts = in_chunks(lambda low, high: list(range(low, high)), 10, 4, done=told.append)
    assert parts == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert told == [4, 4, 2]
    assert in_chunks(lambda low, high: low, 0, 4) == []
    with pytest.raises(ZeroDivisionError):
        in_chunks(lambda low, high: 1 // low, 10, 4)
