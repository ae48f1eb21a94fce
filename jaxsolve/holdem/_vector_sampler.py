"""Vectors of hands on sampled boards, heads-up and in C++: all hands of a board in one pass."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem.limited._game import LimitedHoldem
from jaxsolve.mccfr import NativeContinuations, NativeGame, Options, Tables

_BOARDS = 0xB0A2D
"""Keeps the numbers of boards apart from those of choices."""


class _Numbers(ctypes.Structure):
    _fields_ = (
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_int64) for name in ("first", "count")),
        *((name, ctypes.c_double) for name in ("unit", "power", "until", "roulette")),
    )


class _Root(ctypes.Structure):
    _fields_ = (
        *(("range", ctypes.c_void_p), ("bucket", ctypes.c_void_p)),
        *(("street", ctypes.c_int32), ("padding", ctypes.c_int32)),
        ("beyond", NativeContinuations),
    )


class HandVectorSampler:
    """Passes over the tables of hold'em; each updates both players on one board.

    The numbers are those of `mccfr.VectorSampler` with batches of one board, except for roulette.
    """

    first_call = 4
    """Passes of the first call of `mccfr.train`."""

    def __init__(
        self,
        game: HoldemGame | LimitedHoldem,
        options: Options,
        *,
        threads: int = 1,
        roulette: float = 0.005,
    ) -> None:
        """Packs the game.

        Args:
            game: heads-up, whole or a depth-limited subgame.
            options: weights and the seed; `unit` is in passes, so a small number, and nothing is
                pruned.
            threads: they share the tables without locks; with one, equal seeds give equal tables.
            roulette: an action that the other player takes with a smaller part of all hands than
                this is played now and then, with more weight; 0 plays every action on every board.

        Raises:
            ValueError: more than two players, or options that vectors have no use for.
            RuntimeError: there is no compiler.
        """
        if game.tree.num_players != 2:
            raise ValueError("vectors of hands are for two players; use external sampling")
        if options.prune != np.inf or options.average_stages is not None:
            raise ValueError("vectors of hands neither prune nor take snapshots; leave both out")
        if threads < 1 or not 0 <= roulette < 1:
            raise ValueError(
                f"threads is 1 or more and roulette from 0 to below 1, not {threads} and {roulette}"
            )
        library = native.host_library("mccfr")
        if library is None:
            raise RuntimeError(
                "vectors of hands of hold'em need a C++17 compiler; use external sampling, or "
                "mccfr.VectorSampler on an accelerator"
            )
        library.JaxsolveVectors.restype = ctypes.c_int64
        self.game, self.options, self.threads, self.roulette = game, options, threads, roulette
        self._library = library
        self._native = NativeGame(game.payoffs, game.tree.packed(game.num_buckets), game.tree)
        self._root: _Root | None = None
        if isinstance(game, LimitedHoldem):
            self._range = np.ascontiguousarray(game.ranges, np.float32)
            self._bucket = np.ascontiguousarray(game.bucket, np.uint16)
            places = self._range.ctypes.data, self._bucket.ctypes.data
            self._root = _Root(*places, game.street, 0, self._native.beyond)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What two runs must share to be one; see `mccfr.train`."""
        return {
            "sampler": "vector",
            "roulette": self.roulette,
            **dataclasses.asdict(self.options),
        }

    def prepare(self, tables: Tables) -> None:
        """Makes the tables of boards."""
        del tables
        _ = self.game.native_buckets

    def run(self, tables: Tables, count: int) -> tuple[Tables, int]:
        """Returns (tables after `count` more passes, nodes visited); writes over the arrays.

        Raises:
            ValueError: entries of 16 bits.
        """
        if tables.bits != 32:
            raise ValueError("vectors of hands need tables of 32 bits")
        boards = self.game.boards(self.options.seed ^ _BOARDS, tables.passes, count)
        share = -(-count // self.threads)
        parts = [(k, boards[k : k + share]) for k in range(0, count, share)]
        with ThreadPoolExecutor(self.threads) as pool:
            done = pool.map(lambda part: self.on(tables, part[1], tables.passes + part[0]), parts)
            visited = sum(done)
        return dataclasses.replace(tables, passes=tables.passes + count), visited

    def on(
        self, tables: Tables, boards: np.ndarray, first: int = 0, won: np.ndarray | None = None
    ) -> int:
        """Does passes on boards; returns nodes visited.

        Args:
            tables: are written over.
            boards: uint8 [N, 5].
            first: number of the first pass.
            won: float32 [2, 1326], to which is added what the hands win at the first node with the
                policies of the passes: chips, times the other player's range without the hands that
                meet, times 1,081 / 990.
        """
        boards, o = np.ascontiguousarray(boards, np.uint8), self.options
        numbers = _Numbers(
            o.seed & (1 << 64) - 1, first, len(boards), o.unit, o.power, o.until, self.roulette
        )
        return int(
            self._library.JaxsolveVectors(
                ctypes.byref(self._native.struct),
                ctypes.byref(numbers),
                self.game.native_buckets.pointer,
                None if self._root is None else ctypes.byref(self._root),
                *(ctypes.c_void_p(x.ctypes.data) for x in (boards, tables.regret, tables.average)),
                None if won is None else ctypes.c_void_p(won.ctypes.data),
            )
        )

    def add_snapshot(self, tables: Tables, weight: float) -> None:
        """Adds nothing: passes average all stages."""
