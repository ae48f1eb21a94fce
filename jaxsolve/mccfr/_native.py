"""A game in the memory layout of `jaxsolve/native/mccfr.cc`."""

from __future__ import annotations

import ctypes

import numpy as np

from jaxsolve import native
from jaxsolve.mccfr._game import PotPayoffs, TablePayoffs
from jaxsolve.mccfr._limited import LimitedTree
from jaxsolve.mccfr._tree import ActionTree


class _Game(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("nodes", "spent", "folded", "payoff")),
        *(("ends", ctypes.c_int64), ("players", ctypes.c_int32), ("stages", ctypes.c_int32)),
    )


class NativeContinuations(ctypes.Structure):
    """`Continuations` of `jaxsolve/native/continuations.h`."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("sums", "factor")),
        *((name, ctypes.c_int32) for name in ("count", "half")),
    )


class NativeGame:
    """Keeps the arrays of a game alive, and structures that point at them.

    Attributes:
        struct: the game.
        beyond: what is done beyond its depth limit, if it has one.
    """

    def __init__(
        self, payoffs: PotPayoffs | TablePayoffs, nodes: np.ndarray, tree: ActionTree | None = None
    ) -> None:
        """Copies nothing that has the right type already; `nodes` are `ActionTree.packed`."""
        self.nodes = nodes
        if isinstance(payoffs, PotPayoffs):
            spent = np.ascontiguousarray(payoffs.spent, np.int32)
            folded = np.ascontiguousarray(payoffs.folded, np.uint8)
            self.payoffs = [spent, folded]
            places: list[int | None] = [spent.ctypes.data, folded.ctypes.data, None]
            ends, players = spent.shape
        else:
            table = np.ascontiguousarray(payoffs.table, np.float32)
            self.payoffs = [table]
            places = [None, None, table.ctypes.data]
            _, ends, players = table.shape
        stages = 1 if tree is None else tree.num_stages
        self.struct = _Game(nodes.ctypes.data, *places, ends, players, stages)
        self.beyond: NativeContinuations | None = None
        if isinstance(tree, LimitedTree):
            sums = np.ascontiguousarray(tree.beyond.sums)
            factor = np.ascontiguousarray(tree.beyond.factor, np.float32)
            self._continuations = sums, factor
            self.beyond = NativeContinuations(
                sums.ctypes.data, factor.ctypes.data, len(factor), int(sums.itemsize == 2)
            )


def pots_native(payoffs: PotPayoffs, end: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Returns float32 [K, n], what pots pay at ends int [K] with ranks int [K, n], by C++.

    Raises:
        RuntimeError: there is no compiler.
    """
    library = native.host_library("mccfr")
    if library is None:
        raise RuntimeError("needs a C++17 compiler")
    game = NativeGame(payoffs, np.zeros(1))
    end, rank = np.ascontiguousarray(end, np.int32), np.ascontiguousarray(rank, np.int32)
    out = np.zeros(rank.shape, np.float32)
    library.JaxsolvePots(
        ctypes.byref(game.struct),
        ctypes.c_int64(len(end)),
        *(x.ctypes.data_as(ctypes.c_void_p) for x in (end, rank, out)),
    )
    return out
