"""Builds a card abstraction: features of hands, clusters of a sample, and a bucket for every hand.

The river comes first, because the equities there are what the histograms of flop and turn are made
of. On each street k-means finds the centres among a random sample of hands; then every hand on
every canonical board takes the bucket of its nearest centre.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from jaxsolve.abstraction import in_chunks, kmeans, nearest_native, nearest_numpy
from jaxsolve.caches import cache_folder
from jaxsolve.compiler import free_host_bytes
from jaxsolve.files import claim, write_atomic
from jaxsolve.holdem._abstraction import (
    DECK,
    HEADER,
    KIND,
    MAX_BUCKETS,
    NO_BUCKET,
    ROWS,
    VERSION,
    Abstraction,
    file_checksum,
)
from jaxsolve.holdem._canonical import canonical_boards, live_on
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._features import (
    BINS,
    GROUPS,
    equity_histograms,
    hand_groups,
    mean_of_histogram,
    river_features,
)
from jaxsolve.hosts import processors
from jaxsolve.waiting import waiting

SAMPLE = {"flop": 100_000, "turn": 200_000, "river": 300_000}
"""Hands among which k-means finds the centres; no fewer than `PER_BUCKET` for each."""

PER_BUCKET = 20
HANDS_PER_BOARD = 50
ITERATIONS = 25
"""Of Lloyd's algorithm at most."""

CLASSES = 169
"""Buckets before the flop."""

_CARDS = {"flop": 3, "turn": 4, "river": 5}
_CHUNK = {"flop": 4, "turn": 8, "river": 32}
"""Boards that a thread works on at once."""

Features = Callable[[np.ndarray], np.ndarray]
"""Canonical boards uint8 [B, k] -> features float32 [B, 1326, D]."""


@dataclasses.dataclass(frozen=True)
class Needs:
    """What building an abstraction takes, in bytes.

    Attributes:
        memory: of this process, estimated.
        disk: the files, exactly but for a few kilobytes.
    """

    memory: int
    disk: int

    def __str__(self) -> str:
        return f"{self.memory / 2**30:.2f} GiB of memory and {self.disk / 2**30:.2f} GiB of disk"


def abstraction_needs(buckets: int | Sequence[int] = 200) -> Needs:
    """Returns what `build_abstraction` takes.

    Raises:
        ValueError: wrong numbers of buckets, see `build_abstraction`.
    """
    counts = dict(zip(ROWS, _counts(buckets), strict=True))
    widths = {"flop": BINS - 1, "turn": BINS - 1, "river": GROUPS}
    tables = ROWS["river"] * NUM_HANDS + 2**28  # bins of rivers; canonical boards while made
    sample = max(
        max(SAMPLE[s], PER_BUCKET * counts[s]) * widths[s] * 4 * 4 for s in ROWS
    )  # the points, and copies in double precision
    chunks = max(_CHUNK[s] * NUM_HANDS * widths[s] * 4 for s in ROWS) * 3 * processors()
    return Needs(
        memory=tables + sample + chunks,
        disk=sum(rows * NUM_HANDS * 2 for rows in ROWS.values())
        + 2**16
        + 24 * sum(counts.values()),
    )


def check_room(buckets: int | Sequence[int], folder: Path) -> None:
    """Refuses an abstraction that does not fit into memory or onto the disk of a directory.

    Raises:
        MemoryError, OSError: too little is free; says how much it needs.
    """
    needs = abstraction_needs(buckets)
    free = free_host_bytes()
    if free is not None and needs.memory > free:
        raise MemoryError(
            f"the abstraction needs {needs}; {free / 2**30:.2f} GiB of memory are free. Use fewer "
            "buckets or close other programs"
        )
    place = folder.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if needs.disk > free:
        raise OSError(
            f"the abstraction needs {needs}; {free / 2**30:.2f} GiB are free at {place}. Name "
            "another directory"
        )


def kept_abstraction(buckets: Sequence[int], *, instead: Path) -> Abstraction:
    """Returns the card abstraction that this user's cache folder keeps, built if need be.

    Args:
        buckets: of flop, turn and river.
        instead: keeps it where there is no cache folder.

    Raises:
        ValueError, MemoryError, OSError: see `build_abstraction`.
    """
    name = f"abstraction-{'-'.join(map(str, buckets))}"
    return build_abstraction(buckets, out=(cache_folder() or instead) / name)


def build_abstraction(
    buckets: int | Sequence[int] = 200,
    *,
    out: Path | str,
    seed: int = 0,
    progress: bool = True,
) -> Abstraction:
    """Returns a card abstraction of hold'em, built in a directory; whole, or not there at all.

    An abstraction in that directory is returned as it is if the same numbers made it, and else
    replaced. What another process is building there is waited for.

    Args:
        buckets: of flop, turn and river each, or three numbers; before the flop there are 169.
        out: the directory.
        seed: of the samples and of k-means. The same seed gives the same buckets on one machine.
        progress: show a progress bar for each street.

    Raises:
        ValueError: numbers of buckets that are not in 1..65,535, or a seed that is negative.
        MemoryError: too little memory is free; says how much it needs.
        OSError: too little disk is free, or it cannot be written to.
    """
    counts = _counts(buckets)
    if not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed is a whole number of 0 or more, not {seed!r}")
    folder = Path(out)
    description = {
        "kind": KIND,
        "version": VERSION,
        "deck": DECK,
        "buckets": [CLASSES, *counts],
        "seed": seed,
        "bins": BINS,
        "groups": GROUPS,
    }
    if (there := _already(folder, description)) is not None:
        return there
    check_room(counts, folder)
    with contextlib.ExitStack() as stack:
        with waiting(f"another process is writing to {folder}", show=progress):
            stack.enter_context(claim(folder, wait=True))
        if (there := _already(folder, description)) is not None:  # another process has built it
            return there
        tables = stack.enter_context(_tables(folder))
        mean_strength = _build(dict(zip(ROWS, counts, strict=True)), tables, seed, progress)
        for table in tables.values():
            table.close()
        header = {
            **description,
            "mean_strength": {s: np.round(x, 6).tolist() for s, x in mean_strength.items()},
            "crc32": {street: file_checksum(table.path) for street, table in tables.items()},
        }
        (folder / HEADER).unlink(missing_ok=True)
        for street, table in tables.items():
            os.replace(table.path, folder / f"{street}.npy")
        write_atomic(folder / HEADER, json.dumps(header, indent=1).encode())
    return Abstraction.load(folder, verify=False)


def sample_hands(
    street: str, features: Features, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Returns the features of random hands on random boards of a street, float32 [N, D].

    Every pair of a board and a hand (not up to suits) is equally likely.

    Args:
        street: "flop", "turn" or "river".
        features: of boards.
        count: N at least; it is rounded up to whole boards.
        rng: draws boards and hands.
    """
    cards = _CARDS[street]
    number = -(-count // HANDS_PER_BOARD)
    dealt = rng.permuted(np.tile(np.arange(NUM_CARDS), (number, 1)), axis=1)[:, :cards]
    boards = canonical_boards(cards)
    boards_of = boards.boards[boards.find(dealt)[0]]
    order = rng.random((number, NUM_HANDS), np.float32)

    def part(low: int, high: int) -> np.ndarray:
        found = features(boards_of[low:high])
        order[low:high][~live_on(boards_of[low:high])] = 2
        hands = np.argpartition(order[low:high], HANDS_PER_BOARD, 1)[:, :HANDS_PER_BOARD]
        return np.take_along_axis(found, hands[:, :, None], 1).reshape(-1, found.shape[2])

    return np.concatenate(in_chunks(part, number, _CHUNK[street]))


def nearest_buckets(boards: np.ndarray, found: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Returns the bucket of every hand, uint16 [B, 1326], `NO_BUCKET` where hand and board meet.

    Args:
        boards: uint8 [B, k].
        found: float32 [B, 1326, D], features.
        centres: float32 [K, D].
    """
    out = np.full(found.shape[:2], NO_BUCKET, np.uint16)
    live = live_on(boards)
    points = found[live]
    nearest = nearest_native(points, centres) or nearest_numpy(points, centres)
    out[live] = nearest[0]
    return out


def _build(
    counts: dict[str, int], tables: dict[str, _Table], seed: int, progress: bool
) -> dict[str, np.ndarray]:
    """Fills the three tables; returns the mean strength of each bucket by street."""
    groups = hand_groups(seed=seed)
    size = np.bincount(groups, minlength=GROUPS) / NUM_HANDS
    bin_of = np.empty((ROWS["river"], NUM_HANDS), np.uint8)

    def against_groups(boards: np.ndarray) -> np.ndarray:
        return river_features(boards, groups)[1]

    def histograms(boards: np.ndarray) -> np.ndarray:
        return equity_histograms(boards, bin_of)

    def keep_bins(low: int, boards: np.ndarray) -> np.ndarray:
        bin_of[low : low + len(boards)], equity = river_features(boards, groups)
        return equity

    mean_strength = {}
    for k, (street, features, mean) in enumerate(
        (
            ("river", against_groups, lambda centres: centres @ size),
            ("turn", histograms, mean_of_histogram),
            ("flop", histograms, mean_of_histogram),
        )
    ):
        boards = canonical_boards(_CARDS[street]).boards
        count = counts[street]
        with tqdm(total=len(boards), disable=not progress, unit="board", desc=street) as bar:
            bar.set_postfix_str("clusters of a sample")
            rng = np.random.default_rng([seed, k])
            points = sample_hands(street, features, max(SAMPLE[street], PER_BUCKET * count), rng)
            centres = kmeans(points, count, seed=seed, iterations=ITERATIONS)
            del points
            strength = np.asarray(mean(centres), np.float64)
            order = np.argsort(strength, kind="stable")
            centres, mean_strength[street] = centres[order], strength[order]
            bar.set_postfix_str("")

            def fill(
                low: int,
                high: int,
                street: str = street,
                boards: np.ndarray = boards,
                features: Features = features,
                centres: np.ndarray = centres,
            ) -> None:
                part = boards[low:high]
                found = keep_bins(low, part) if street == "river" else features(part)
                tables[street].write(low, nearest_buckets(part, found, centres))

            in_chunks(fill, len(boards), _CHUNK[street], done=bar.update)
    return mean_strength


class _Table:
    """A .npy file uint16 [rows, 1326] whose rows come in any order, from several threads."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path = path
        self._file = path.open("wb")
        shape = {"descr": "<u2", "fortran_order": False, "shape": (rows, NUM_HANDS)}
        np.lib.format.write_array_header_1_0(self._file, shape)
        self._start = self._file.tell()
        self._lock = threading.Lock()

    def write(self, row: int, values: np.ndarray) -> None:
        with self._lock:
            self._file.seek(self._start + row * NUM_HANDS * 2)
            self._file.write(values.astype("<u2").tobytes())

    def close(self) -> None:
        self._file.close()


@contextlib.contextmanager
def _tables(folder: Path) -> Iterator[dict[str, _Table]]:
    """Opens the tables under temporary names; removes what the block has not moved."""
    tables: dict[str, _Table] = {}
    try:
        for street, rows in ROWS.items():
            tables[street] = _Table(folder / f"{street}.npy.tmp", rows)
        yield tables
    finally:
        for table in tables.values():
            with contextlib.suppress(OSError):  # a full disk, which the block has met as well
                table.close()
            table.path.unlink(missing_ok=True)


def _counts(buckets: int | Sequence[int]) -> tuple[int, int, int]:
    """Returns the buckets of flop, turn and river."""
    given: tuple[Any, ...] = tuple(np.atleast_1d(np.asarray(buckets, object)))
    if len(given) not in (1, 3):
        raise ValueError(
            f"buckets is one number, or three of flop, turn and river: not {buckets!r}"
        )
    for count in given:
        if not isinstance(count, (int, np.integer)) or not 1 <= count <= MAX_BUCKETS:
            raise ValueError(f"buckets is in 1 to {MAX_BUCKETS:,} on every street, not {count!r}")
    flop, turn, river = (int(count) for count in (given * 3)[:3])
    return flop, turn, river


def _already(folder: Path, description: dict[str, Any]) -> Abstraction | None:
    """Returns the abstraction in a directory if it is whole and of a description, else None."""
    try:
        header = json.loads((folder / HEADER).read_bytes())
        if any(header.get(key) != value for key, value in description.items()):
            return None
        return Abstraction.load(folder)
    except (OSError, ValueError, AttributeError):
        return None
