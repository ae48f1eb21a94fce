"""Tables of regrets and of the average policy, [sequence, bucket], in 32 or 16 bits."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.files import differences, load_arrays, save_arrays
from jaxsolve.mccfr._game import TabledGame
from jaxsolve.mccfr._tree import ActionTree
from jaxsolve.tree import check_fits

KIND = "table of sampled CFR"

BITS = {32: np.float32, 16: np.uint16}
"""Types of entries; 16 bits are the upper half of a float32, rounded by chance when written."""


@dataclasses.dataclass(frozen=True)
class Tables:
    """What sampled CFR keeps (E entries, see `ActionTree`).

    Attributes:
        row: int64 [P + 1], where the entries of each node begin.
        regret: float32 or uint16 [E], sums of weighted regrets.
        average: the same, sums of weighted policies.
        passes: traversals done so far.
    """

    row: np.ndarray
    regret: np.ndarray
    average: np.ndarray
    passes: int = 0

    @property
    def bits(self) -> int:
        """Bits of an entry: 32 or 16."""
        return 8 * self.regret.itemsize


def table_bytes(tree: ActionTree, num_buckets: Sequence[int], bits: int = 32) -> int:
    """Returns the memory of both tables."""
    return 2 * int(tree.rows(num_buckets)[-1]) * bits // 8


def check_tables(name: str, tree: ActionTree, num_buckets: Sequence[int], bits: int = 32) -> None:
    """Refuses tables that cannot be made, before anything is allocated.

    Raises:
        ValueError: entries have other than 32 or 16 bits, or there are too many buckets.
        MemoryError: the tables do not fit; says how much they need.
    """
    if bits not in BITS:
        raise ValueError(f"entries of {bits} bits: write 32 or 16")
    if len(num_buckets) != tree.num_stages:
        raise ValueError(f"{tree.num_stages} stages need as many numbers of buckets")
    if not all(0 < b < 1 << 16 for b in num_buckets):
        raise ValueError(f"a stage has 1 to 65,535 buckets, not {max(num_buckets):,}")
    check_fits(
        name,
        table_bytes(tree, num_buckets, bits),
        what="tables of regrets and averages",
        instead="fewer buckets, a smaller menu, or entries of 16 bits",
    )


def make_tables(game: TabledGame, bits: int = 32) -> Tables:
    """Returns empty tables.

    Raises:
        ValueError: entries have other than 32 or 16 bits, or there are too many buckets.
        MemoryError: the tables do not fit; says how much they need.
    """
    check_tables(game.name, game.tree, game.num_buckets, bits)
    row = game.tree.rows(game.num_buckets)
    regret, average = (np.zeros(int(row[-1]), BITS[bits]) for _ in range(2))
    return Tables(row, regret, average)


def as_float(entries: np.ndarray) -> np.ndarray:
    """Returns entries of a table as float32."""
    if entries.dtype == np.uint16:
        return (entries.astype(np.uint32) << 16).view(np.float32)
    return entries.astype(np.float32, copy=False)


def entries_of(tree: ActionTree, tables: Tables, table: np.ndarray, node: int) -> np.ndarray:
    """Returns float32 [buckets, actions], a node's entries of one of the tables."""
    first, last = tables.row[node : node + 2]
    return as_float(table[first:last]).reshape(-1, int(tree.count[node]))


def matched(sums: np.ndarray) -> np.ndarray:
    """Returns the positive parts of sums [..., A] as probabilities; uniform without any."""
    positive = np.maximum(sums, 0).astype(np.float64)
    total = positive.sum(-1, keepdims=True)
    even = np.full_like(positive, 1 / positive.shape[-1])
    return np.where(total > 0, positive / np.where(total > 0, total, 1), even)


def save_tables(path: Path, game: TabledGame, tables: Tables, **more: Any) -> None:
    """Writes tables to one file, whole or not at all, with a checksum."""
    header = {"kind": KIND, "passes": tables.passes, **_identity(game, tables.bits), **more}
    save_arrays(path, header, {"regret": tables.regret, "average": tables.average})


def load_tables(path: Path, game: TabledGame, bits: int = 32) -> tuple[Tables, dict[str, Any]]:
    """Returns (tables, what else was saved) of a file.

    Raises:
        ValueError: the file is damaged, or of another game, menu or number of buckets.
    """
    header, arrays = load_arrays(path, KIND)
    if wrong := differences(header, _identity(game, bits)):
        raise ValueError(f"{path} belongs to another run: {wrong}")
    known = {"kind", "passes", *_identity(game, bits)}
    row = game.tree.rows(game.num_buckets)
    tables = Tables(row, arrays["regret"], arrays["average"], header["passes"])
    return tables, {k: v for k, v in header.items() if k not in known}


def _identity(game: TabledGame, bits: int) -> dict[str, Any]:
    return {
        "game": game.name,
        "sequences": game.tree.num_sequences,
        "buckets": list(game.num_buckets),
        "bits": bits,
    }
