"""An abstraction that costs nothing: buckets by chance on flops, and one bucket later."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np

from jaxsolve import holdem


@functools.cache
def made_buckets(buckets: int) -> holdem.Abstraction:
    """Returns it; memory that is not read is not there, so turn and river take none."""
    return holdem.Abstraction(
        flop=_flop(buckets),
        turn=np.zeros((16_432, holdem.NUM_HANDS), np.uint16),
        river=np.zeros((134_459, holdem.NUM_HANDS), np.uint16),
        buckets=(169, buckets, 1, 1),
        mean_strength={},
        seed=0,
        checksum=buckets,
    )


def save_made_buckets(folder: Path, buckets: int) -> None:
    """Writes it to a directory, with made-up checksums: load it with `verify=False`."""
    for street, rows in (("flop", 1_755), ("turn", 16_432), ("river", 134_459)):
        table = np.lib.format.open_memmap(
            folder / f"{street}.npy", "w+", np.uint16, (rows, holdem.NUM_HANDS)
        )  # holes in a file: what is not written takes no room
        if street == "flop":
            table[:] = _flop(buckets)
        table.flush()
    header = {
        "kind": "card abstraction of hold'em",
        "version": 1,
        "deck": "23456789TJQKA x cdhs",
        "buckets": (169, buckets, 1, 1),
        "seed": 0,
        "crc32": {"flop": buckets, "turn": 2, "river": 3},
        "mean_strength": {"flop": [0.5] * buckets, "turn": [0.5], "river": [0.5]},
    }
    (folder / "abstraction.json").write_text(json.dumps(header))


def _flop(buckets: int) -> np.ndarray:
    flop = np.random.default_rng(buckets).integers(0, buckets, (1_755, holdem.NUM_HANDS))
    meets = holdem.HANDS[None, :, :, None] == holdem.canonical_boards(3).boards[:, None, None]
    return np.where(meets.any((2, 3)), 65_535, flop).astype(np.uint16)
