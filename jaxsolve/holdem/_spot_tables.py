"""A spot as the tables of `jaxsolve/native/spot_game.h`."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._boards import compatible
from jaxsolve.holdem._cards import HANDS
from jaxsolve.holdem._runouts import Runouts, permuted_hands
from jaxsolve.holdem._street_rows import StreetRows

_STREETS = 4


class _Street(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("boards", "parts")),
        *((name, ctypes.c_int64 * 2) for name in ("rows", "sequences", "entries")),
        *((name, ctypes.c_void_p) for name in ("parent", "child", "chance", "image_begin")),
        *((name, ctypes.c_void_p * 2) for name in ("place", "gap")),
        *((name, ctypes.c_void_p) for name in ("pair", "high", "count", "matrix")),
        ("unit", ctypes.c_double),
        ("row", ctypes.c_void_p * 2),
        *((name, ctypes.c_void_p) for name in ("leaf", "part")),
        *((name, ctypes.c_void_p * 2) for name in ("entry", "lock")),
    )


class _Game(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("streets", "all")),
        ("hands", ctypes.c_int64 * 2),
        *((name, ctypes.c_void_p * 2) for name in ("root", "image", "locked")),
        ("street", _Street * _STREETS),
    )


class Locked(NamedTuple):
    """The strategy of a player at one decision.

    Attributes:
        player: who.
        street, row: of the decision.
        boards: of the street on which it holds.
        shares: float [A, hands of the player], a column of zeros for a hand that is free.
    """

    player: int
    street: int
    row: int
    boards: np.ndarray
    shares: np.ndarray


class SpotTables:
    """The tables of one spot, kept alive for native code.

    Attributes:
        hands: per player, int32 [H], numbers of their hands.
        streets: betting of each street.
        boards: how many each street has.
        nbytes: of all tables.
    """

    def __init__(
        self,
        streets: Sequence[StreetRows],
        runouts: Sequence[Runouts],
        ranges: np.ndarray,
        *,
        locked: Sequence[Locked] = (),
        threads: int = 1,
    ) -> None:
        """Makes the tables.

        Args:
            streets: betting of each street.
            runouts: boards of each street.
            ranges: float [2, 1326].
            locked: strategies that are part of the game.
            threads: for counting all-ins.
        """
        library = native.host_library("spots")
        if library is None:
            raise RuntimeError("there is no C++ compiler here")
        self._library = library
        self._kept: list[np.ndarray] = []
        self.hands = [np.flatnonzero(r > 0).astype(np.int32) for r in ranges]
        every = np.flatnonzero(ranges.sum(0) > 0).astype(np.int32)
        self.streets = list(streets)
        self.boards = [len(r.boards) for r in runouts]
        pairs = float(ranges[0][every] @ compatible(every) @ ranges[1][every])
        game = self.struct = _Game()
        game.streets, game.all = len(runouts), len(every)
        images = [_images(r, s + 1 < len(runouts)) for s, r in enumerate(runouts)]
        permutations = [p for per_board in images for group in per_board for p in group]
        image_of = [permuted_hands(p) for p in permutations]
        for i, hands in enumerate(self.hands):
            game.hands[i] = len(hands)
            game.root[i] = self._keep(ranges[i][hands], np.float32)
            game.image[i] = self._keep(_moved(image_of, hands), np.int32)
        orbit = np.ascontiguousarray(_moved(image_of, every), np.int32)
        begin = 0
        copies = [np.ones(len(r.boards), np.int32) for r in runouts]
        for s, (rows, outs) in enumerate(zip(self.streets, runouts, strict=True)):
            street = game.street[s]
            sizes = [len(group) for group in images[s]]
            self._betting(street, rows)
            street.boards = len(outs.boards)
            street.parent = self._keep(outs.parent, np.int32)
            below = runouts[s + 1].parent if s + 1 < len(runouts) else np.zeros(0)
            children = np.searchsorted(below, np.arange(len(outs.boards) + 1))
            street.child = self._keep(children, np.int32)
            street.chance = self._keep(outs.weight / pairs, np.float32)
            street.image_begin = self._keep(begin + np.cumsum([0, *sizes]), np.int32)
            begin += sum(sizes)
            if s > 0:
                above = runouts[s - 1]
                unseen = math.comb(52 - 4 - len(above.boards[0]), _dealt(runouts, s))
                share = outs.weight / above.weight[outs.parent]
                copies[s] = np.rint(share * unseen).astype(np.int32)
            self._hands(street, outs.boards, every, showdowns=s + 1 == len(runouts))
        for s in (s for s, rows in enumerate(self.streets) if rows.has_all_ins):
            self._matrix(s, runouts, copies, every, orbit, threads)
        self._lock(locked)

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        return sum(x.nbytes for x in self._kept)

    @property
    def pointer(self) -> Any:
        """For native functions."""
        return ctypes.byref(self.struct)

    def _keep(self, array: Any, dtype: Any) -> int:
        kept = np.ascontiguousarray(array, dtype)
        self._kept.append(kept)
        return kept.ctypes.data

    def _betting(self, street: Any, rows: StreetRows) -> None:
        street.parts = len(rows.parts)
        for i in range(2):
            street.rows[i] = len(rows.node[i])
            street.sequences[i] = rows.sequences[i]
            street.entries[i] = len(rows.entry[i])
            columns = np.stack([rows.first[i], rows.width[i], rows.parent[i]], 1)
            street.row[i] = self._keep(columns, np.int32)
            street.entry[i] = self._keep(rows.entry[i], np.int32)
        leaf = np.zeros(len(rows.leaf), [("sequence", np.int32, 2), ("amount", np.float32, 2)])
        leaf["sequence"], leaf["amount"] = rows.leaf, rows.amount
        street.leaf = self._keep(leaf, leaf.dtype)
        street.part = self._keep(rows.parts, np.int32)

    def _hands(
        self, street: Any, boards: Sequence[Sequence[int]], every: np.ndarray, *, showdowns: bool
    ) -> None:
        count, size = len(boards), len(every)
        member: Any = np.full((2, size), -1, np.int32)
        for i, hands in enumerate(self.hands):
            member[i, np.searchsorted(every, hands)] = np.arange(len(hands))
        place = [np.empty((count, len(h)), np.int32) for h in self.hands]
        gap = [np.empty((count, size - len(h)), np.int32) for h in self.hands]
        pair = np.empty((count, size, 2), np.uint8)
        high = np.empty((count, size), np.int32)
        live = np.empty(count, np.int32)
        cards = np.ascontiguousarray(HANDS[every], np.uint8)
        length = np.asarray([len(h) for h in self.hands], np.int64)
        table = np.asarray(boards, np.uint8).reshape(count, -1)
        for b in range(count):
            parts = (*(x[b] for x in place), *(x[b] for x in gap), pair[b], high[b], live[b:])
            self._library.JaxsolveSpotBoard(
                _at(table[b]),
                ctypes.c_int32(table.shape[1]),
                ctypes.c_int32(showdowns),
                _at(cards),
                ctypes.c_int64(size),
                _at(member),
                _at(length),
                *(_at(x) for x in parts),
            )
        for i in range(2):
            street.place[i] = self._keep(place[i], np.int32)
            street.gap[i] = self._keep(gap[i], np.int32)
        street.pair, street.high = self._keep(pair, np.uint8), self._keep(high, np.int32)
        street.count = self._keep(live, np.int32)

    def _matrix(
        self,
        s: int,
        runouts: Sequence[Runouts],
        copies: Sequence[np.ndarray],
        every: np.ndarray,
        orbit: np.ndarray,
        threads: int,
    ) -> None:
        last = len(runouts) - 1
        ways = [math.comb(52 - 4 - len(runouts[k].boards[0]), _dealt(runouts, k + 1))
                for k in range(s, last)]  # fmt: skip
        total = math.prod(ways)
        if total >= 2**15:
            raise ValueError(f"all-ins with {total:,} boards to come are not counted")
        matrix = np.empty((self.boards[s], *(len(h) for h in self.hands)), np.int16)
        union = [np.searchsorted(every, h).astype(np.int32) for h in self.hands]
        cards = np.ascontiguousarray(HANDS[every], np.uint8)
        self._library.JaxsolveSpotMatrix(
            self.pointer,
            ctypes.c_int32(s),
            (ctypes.c_void_p * len(copies))(*(c.ctypes.data for c in copies)),
            _at(cards),
            (ctypes.c_void_p * 2)(*(u.ctypes.data for u in union)),
            _at(orbit),
            ctypes.c_int32(threads),
            _at(matrix),
        )
        self.struct.street[s].matrix = self._keep(matrix, np.int16)
        self.struct.street[s].unit = 1 / total

    def _lock(self, locked: Sequence[Locked]) -> None:
        for i in range(2):
            mine = [one for one in locked if one.player == i]
            if not mine:
                continue
            shares = np.concatenate([one.shares for one in mine])
            begin = np.cumsum([0, *(len(one.shares) for one in mine)])
            self.struct.locked[i] = self._keep(shares, np.float32)
            for s, rows in enumerate(self.streets):
                table = np.full((self.boards[s], len(rows.node[i])), -1, np.int32)
                for k, one in enumerate(mine):
                    if one.street == s:
                        table[one.boards, one.row] = begin[k]
                self.struct.street[s].lock[i] = self._keep(table, np.int32)


def _dealt(runouts: Sequence[Runouts], street: int) -> int:
    """Returns how many cards a street begins with."""
    return len(runouts[street].boards[0]) - len(runouts[street - 1].boards[0])


def _images(outs: Runouts, more: bool) -> list[tuple[Any, ...]]:
    """Returns the permutations under which values of each board are means."""
    return [group if more and len(group) > 1 else () for group in outs.group]


def _moved(images: Sequence[np.ndarray], hands: np.ndarray) -> np.ndarray:
    """Returns int [symmetries, H], the number of the image of each hand in a list."""
    where = np.full(len(HANDS), -1)
    where[hands] = np.arange(len(hands))
    return np.stack([where[image[hands]] for image in images]) if images else np.zeros((0, 1))


def _at(array: np.ndarray) -> Any:
    return ctypes.c_void_p(array.ctypes.data)
