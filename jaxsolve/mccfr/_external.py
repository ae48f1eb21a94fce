"""External sampling: every action of one player, one of chance and of each other player.

Lanctot et al. 2009, "Monte Carlo sampling for regret minimization in extensive games", with the
weights, pruning and floor of Brown & Sandholm 2019, "Superhuman AI for multiplayer poker" (their
supplementary material, algorithm 1). Differs from the latter: weights grow inside the increments,
so that no pass over the tables discounts them.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from jaxsolve import native
from jaxsolve.mccfr._game import Deals, SampledGame
from jaxsolve.mccfr._native import NativeGame
from jaxsolve.mccfr._options import Options
from jaxsolve.mccfr._plain import external_pass, snapshot
from jaxsolve.mccfr._random import pass_key
from jaxsolve.mccfr._tables import Tables

_SNAPSHOT_KEY = 0x5EED


class _Numbers(ctypes.Structure):
    _fields_ = (
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_int64) for name in ("first", "count")),
        *((name, ctypes.c_double) for name in ("unit", "power", "until")),
        *((name, ctypes.c_double) for name in ("prune", "floor", "share")),
        *(("warm_up", ctypes.c_int64), ("average_stages", ctypes.c_int32)),
        ("seats", ctypes.c_uint32),
    )


class ExternalSampler:
    """Passes over the tables of one game, in C++ where there is a compiler."""

    def __init__(
        self,
        game: SampledGame,
        options: Options,
        *,
        threads: int = 1,
        seats: Sequence[int] | None = None,
    ) -> None:
        """Packs the game.

        Args:
            game: the game.
            options: weights, pruning and the seed.
            threads: they share the tables without locks, so that a sum may be lost now and then;
                with one, equal seeds give equal tables.
            seats: players whose regrets and averages are found, in turns; all by default. Others
                must have nothing to decide.

        Raises:
            ValueError: no threads, or seats that are not there.
        """
        if threads < 1:
            raise ValueError(f"threads is 1 or more, not {threads}")
        n = game.tree.num_players
        self.seats = tuple(range(n)) if seats is None else tuple(sorted(seats))
        if not self.seats or not all(0 <= seat < n for seat in self.seats):
            raise ValueError(f"seats are some of 0 to {n - 1}, not {self.seats}")
        self.game, self.options, self.threads = game, options, threads
        self._library = native.host_library("mccfr")
        if self._library is not None:
            self._library.JaxsolveExternal.restype = ctypes.c_int64
        self._native = NativeGame(game.payoffs, game.tree.packed(game.num_buckets), game.tree)

    @property
    def first_call(self) -> int:
        """Passes of the first call of `train`."""
        return 64 * self.game.tree.num_players

    @property
    def settings(self) -> Mapping[str, Any]:
        """What two runs must share to be one; see `train`."""
        return {"sampler": "external", **dataclasses.asdict(self.options)}

    def prepare(self, tables: Tables) -> None:
        """Deals once, which makes what later deals look up."""
        del tables
        self.game.deal(self.options.seed, 0, 1)

    def run(self, tables: Tables, count: int) -> tuple[Tables, int]:
        """Returns (tables after `count` more passes, nodes visited); writes over the arrays."""
        lane = self._passes_plain if self._library is None else self._passes
        # Each thread takes whole rounds, in which every player traverses once.
        players = len(self.seats)
        share = -(-count // (self.threads * players)) * players
        parts = [(k, min(share, count - k)) for k in range(0, count, share)]
        if len(parts) == 1:
            visited = lane(tables, tables.passes, count)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                done = pool.map(lambda part: lane(tables, tables.passes + part[0], part[1]), parts)
                visited = sum(done)
        return dataclasses.replace(tables, passes=tables.passes + count), visited

    def add_snapshot(self, tables: Tables, weight: float) -> None:
        """Adds the current policy of the stages that passes do not sum to the average."""
        first = self._average_stages
        if first >= self.game.tree.num_stages:
            return
        key = pass_key(self.options.seed ^ _SNAPSHOT_KEY, tables.passes)
        if self._library is None:
            snapshot(self.game, tables, first, weight)
            return
        buckets = np.asarray(self.game.num_buckets, np.int32)
        self._library.JaxsolveSnapshot(
            ctypes.byref(self._native.struct),
            ctypes.c_int64(self.game.tree.num_nodes),
            ctypes.c_int32(first),
            buckets.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_float(weight),
            ctypes.c_uint64(key),
            *self._places(tables),
        )

    @property
    def _average_stages(self) -> int:
        chosen = self.options.average_stages
        return self.game.tree.num_stages if chosen is None else chosen

    def _places(self, tables: Tables) -> tuple[ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]:
        regret, average = (
            x.ctypes.data_as(ctypes.c_void_p) for x in (tables.regret, tables.average)
        )
        return regret, average, ctypes.c_int32(tables.bits == 16)

    def _passes(self, tables: Tables, first: int, count: int) -> int:
        assert self._library is not None
        o, largest = self.options, self.game.payoffs.largest
        deals = self.game.deal(o.seed, first, count)
        numbers = _Numbers(
            o.seed & (1 << 64) - 1,
            first,
            count,
            o.unit,
            o.power,
            o.until,
            o.prune * largest,
            o.floor * largest,
            o.prune_share,
            o.warm_up,
            self._average_stages,
            sum(1 << seat for seat in self.seats),
        )
        return int(
            self._library.JaxsolveExternal(
                ctypes.byref(self._native.struct),
                ctypes.byref(numbers),
                None if self._native.beyond is None else ctypes.byref(self._native.beyond),
                deals.bucket.ctypes.data_as(ctypes.c_void_p),
                deals.outcome.ctypes.data_as(ctypes.c_void_p),
                *self._places(tables),
            )
        )

    def _passes_plain(self, tables: Tables, first: int, count: int) -> int:
        if tables.bits != 32:
            raise ValueError("tables of 16 bits need the native code, and so a C++17 compiler")
        deals, visited = self.game.deal(self.options.seed, first, count), 0
        for k in range(count):
            deal = Deals(deals.bucket[k], deals.outcome[k])
            visited += external_pass(self.game, self.options, tables, first + k, deal, self.seats)
        return visited
