"""A card abstraction of hold'em: the bucket of every hand on every canonical board.

A directory holds it: `flop.npy`, `turn.npy` and `river.npy`, uint16 [canonical boards, 1326], and
`abstraction.json` with what made them, which is written last. Tables are read from the disk where
they are used. A bucket forgets the street before (imperfect recall), as in Pluribus and Modicum.
"""

from __future__ import annotations

import dataclasses
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.holdem._canonical import (
    STREETS,
    canonical_boards,
    check_board,
    hand_after,
    preflop_classes,
)
from jaxsolve.holdem._cards import NUM_HANDS, RANKS, SUITS

KIND = "card abstraction of hold'em"
VERSION = 1
DECK = f"{RANKS} x {SUITS}"
HEADER = "abstraction.json"

NO_BUCKET = 65_535
"""Entry of a table where hand and board share a card."""

MAX_BUCKETS = NO_BUCKET
"""Buckets of a street at most, numbered from 0."""

ROWS = {"flop": 1_755, "turn": 16_432, "river": 134_459}
"""Canonical boards of each street."""

_BLOCK = 1 << 22


@dataclasses.dataclass(frozen=True, repr=False)
class Abstraction:
    """Buckets of hands on each street; bucket 0 is the weakest, the last one the strongest.

    Attributes:
        flop, turn, river: uint16 [R, 1326], by row of `canonical_boards`; 65,535 where hand and
            board share a card.
        buckets: of preflop, flop, turn and river.
        mean_strength: by street "flop", "turn" and "river", the mean equity of each bucket's
            centre against a random hand, float64 [buckets].
        seed: of the samples and of k-means.
        checksum: of the three tables together; what was trained on these buckets has it, too.
    """

    flop: np.ndarray
    turn: np.ndarray
    river: np.ndarray
    buckets: tuple[int, int, int, int]
    mean_strength: dict[str, np.ndarray]
    seed: int
    checksum: int

    @property
    def preflop(self) -> np.ndarray:
        """uint16 [1326], the 169 classes of hands, see `preflop_classes`."""
        return preflop_classes()

    def table(self, street: str) -> np.ndarray:
        """Returns uint16 [R, 1326] of "preflop" (one row), "flop", "turn" or "river"."""
        if street == "preflop":
            return self.preflop[None]
        if street not in ROWS:
            raise ValueError(f'a street is "preflop", "flop", "turn" or "river", not {street!r}')
        return np.asarray(getattr(self, street))

    def bucket(self, board: Sequence[int]) -> np.ndarray:
        """Returns the bucket of every hand on a board, uint16 [1326] in the order of `HANDS`.

        Args:
            board: no cards, or three to five, in any order; not only canonical ones.

        Raises:
            ValueError: another number of cards, one that is no card, or one twice.
        """
        if not len(board):
            return self.preflop
        cards = check_board(board)
        row, permutation = canonical_boards(len(cards)).find(cards)
        return self.table(STREETS[len(cards)])[row][hand_after()[permutation]]

    def strength(self, board: Sequence[int]) -> np.ndarray:
        """Returns the mean equity of each bucket of a board's street, float64 [buckets].

        Raises:
            ValueError: other than three to five cards, one that is no card, or one twice.
        """
        return self.mean_strength[STREETS[len(check_board(board))]]

    @classmethod
    def load(cls, path: Path | str, *, verify: bool = True) -> Abstraction:
        """Returns the abstraction in a directory that `build_abstraction` made.

        Args:
            path: the directory.
            verify: compare the tables with their checksums, which reads all 0.4 GB once.

        Raises:
            FileNotFoundError: there is none.
            ValueError: it is damaged, or of another version or deck; says which.
        """
        folder = Path(path)
        header = _header(folder)
        tables = {}
        for street, rows in ROWS.items():
            file = folder / f"{street}.npy"
            try:
                table = np.load(file, mmap_mode="r", allow_pickle=False)
            except (ValueError, EOFError, FileNotFoundError) as error:
                raise ValueError(f"{file} is damaged: {error}. {_AGAIN}") from None
            if table.shape != (rows, NUM_HANDS) or table.dtype != np.uint16:
                raise ValueError(
                    f"{file} is {table.dtype} {table.shape}, not uint16 ({rows}, {NUM_HANDS}). "
                    f"{_AGAIN}"
                )
            if verify and file_checksum(file) != header["crc32"][street]:
                raise ValueError(f"{file} does not match its checksum. {_AGAIN}")
            tables[street] = table
        return cls(
            **tables,
            buckets=tuple(header["buckets"]),
            mean_strength={s: np.array(v) for s, v in header["mean_strength"].items()},
            seed=header["seed"],
            checksum=zlib.crc32(json.dumps(header["crc32"], sort_keys=True).encode()),
        )

    def __repr__(self) -> str:
        size = sum(rows * NUM_HANDS * 2 for rows in ROWS.values())
        buckets = " / ".join(f"{count:,}" for count in self.buckets)
        return (
            f"Abstraction(preflop / flop / turn / river: {buckets} buckets, seed {self.seed}, "
            f"{size / 1e6:,.0f} MB)"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("preflop", self.buckets[0], 1),
            *((s, k, ROWS[s]) for s, k in zip(ROWS, self.buckets[1:], strict=True)),
        ]
        cells = "".join(
            f"<tr><th>{street}</th><td>{count:,}</td><td>{boards:,}</td>"
            f"<td>{boards * NUM_HANDS * 2 / 1e6:,.1f}</td></tr>"
            for street, count, boards in rows
        )
        head = "<tr><th></th><th>buckets</th><th>boards up to suits</th><th>MB</th></tr>"
        return f"<table><caption>Card abstraction, seed {self.seed}</caption>{head}{cells}</table>"


_AGAIN = "Build the abstraction again: jaxsolve holdem abstraction --out DIR"


def file_checksum(path: Path) -> int:
    """Returns the CRC-32 of a file."""
    total = 0
    for block in _blocks(path):
        total = zlib.crc32(block, total)
    return total


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _header(folder: Path) -> dict[str, Any]:
    """Returns the content of `abstraction.json`.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or of another kind, version or deck.
    """
    path = folder / HEADER
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} holds no card abstraction (no {HEADER}). Build one: jaxsolve holdem "
            f"abstraction --out {folder}"
        )
    try:
        header: dict[str, Any] = json.loads(path.read_bytes())
        kind, version, deck = header["kind"], header["version"], header["deck"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}). {_AGAIN}") from None
    if kind != KIND:
        raise ValueError(f"{path} is a {kind}, not a {KIND}")
    if version != VERSION:
        raise ValueError(
            f"{path} is of version {version}, and this jaxsolve reads version {VERSION}. {_AGAIN}"
        )
    if deck != DECK:
        raise ValueError(f"{path} is of the deck {deck}, not {DECK}")
    try:
        whole = (
            len(header["buckets"]) == 4
            and all(isinstance(k, int) and 1 <= k <= MAX_BUCKETS for k in header["buckets"])
            and isinstance(header["seed"], int)
            and {*header["crc32"]} == {*header["mean_strength"]} == {*ROWS}
            and all(
                len(header["mean_strength"][street]) == count
                and all(math.isfinite(x) for x in header["mean_strength"][street])
                for street, count in zip(ROWS, header["buckets"][1:], strict=True)
            )
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}). {_AGAIN}") from None
    if not whole:
        raise ValueError(f"{path} is damaged: its entries do not fit together. {_AGAIN}")
    return header
