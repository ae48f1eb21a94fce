"""PCFR+ on a tree of positions that grows: regrets stay where they are when nodes come.

`solve_positions` compiles a fixed tree for any device; this one runs on the host, in C++ where
there is a compiler, else in NumPy, and its iterations cost what the nodes in use cost.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Protocol

import numpy as np

from jaxsolve import native
from jaxsolve.search.knowledge._lp import LinearSolver
from jaxsolve.search.knowledge._plain import PlainSolver
from jaxsolve.search.knowledge._root import GADGETS, Read, Roots
from jaxsolve.search.knowledge._tree import PositionTree


class GrowingSolver(Protocol):
    """A solver of a tree that grows: alternating PCFR+, or a linear program.

    Attributes:
        num_nodes: that it has read.
        exact: whether another iteration changes nothing.
    """

    num_nodes: int
    exact: bool

    def extend(self, tree: PositionTree) -> None:
        """Reads the nodes that are new; infosets that are new play what looks best."""
        ...

    def iterate(self, iterations: int) -> None:
        """Does some iterations, player 0 first in each."""
        ...

    def leaves(self, explorer: int, most: int, seed: int) -> np.ndarray:
        """Returns int32 [K], different leaves which play leads to where a player explores.

        The explorer plays half the time any action of their strategy's support, and half the time
        the one of largest worth + deviation sqrt(visits) / (1 + tries).
        """
        ...

    def restore(self, regret: np.ndarray, strategy: np.ndarray) -> None:
        """Sets what sequences had in an earlier tree, float64 [N] by nodes; NaN leaves them."""
        ...

    def read(self) -> Read:
        """Returns the strategies."""
        ...

    @property
    def num_infosets(self) -> int:
        """Infosets of both players with an open node."""
        ...


def growing_solver(
    tree: PositionTree, roots: Roots, *, discount: float = 0.0, trunk: str = "cfr"
) -> GrowingSolver:
    """Returns a solver of a tree, of PCFR+ in C++ where there is a compiler.

    Args:
        tree: of positions; nodes without a parent are its roots.
        roots: how they are reached.
        discount: regrets after iteration t count (t / (t + 1)) to this power, so that those of
            a tree that has grown since fade.
        trunk: "cfr", or "lp" for a linear program (`LinearSolver`).
    """
    made: GrowingSolver
    library = None if trunk == "lp" else native.host_library("positions")
    if trunk == "lp":
        made = LinearSolver(roots)
    elif library is None:
        made = PlainSolver(roots, discount)
    else:
        made = NativeSolver(library, roots, discount)
    made.extend(tree)
    return made


class _Nodes(ctypes.Structure):
    """`JaxsolveNodes` of `jaxsolve/native/positions.cc`."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("parent", "actor", "odds", "value", "memory")]


class NativeSolver:
    """`GrowingSolver` in C++."""

    exact = False

    def __init__(self, library: ctypes.CDLL, roots: Roots, discount: float = 0.0):
        self._library, self.num_nodes, self._classes = library, 0, len(roots.share)
        library.JaxsolvePositionsNew.restype = ctypes.c_void_p
        library.JaxsolvePositionsLeaves.restype = ctypes.c_int64
        library.JaxsolvePositionsInfosets.restype = ctypes.c_int64
        given = (
            np.ascontiguousarray(roots.alternative, np.float64),
            np.ascontiguousarray(roots.share, np.float64),
            np.ascontiguousarray(roots.node, np.int64),
            np.ascontiguousarray(roots.klass, np.int32),
            np.ascontiguousarray(roots.weight, np.float64),
        )
        self._handle = ctypes.c_void_p(
            library.JaxsolvePositionsNew(
                ctypes.c_int32(roots.player),
                ctypes.c_int32(GADGETS.index(roots.gadget)),
                ctypes.c_double(discount),
                ctypes.c_int64(len(roots.share)),
                *(_pointer(x) for x in given[:2]),
                ctypes.c_int64(len(roots.node)),
                *(_pointer(x) for x in given[2:]),
            )
        )
        weakref.finalize(self, library.JaxsolvePositionsFree, self._handle)

    def extend(self, tree: PositionTree) -> None:
        """See `GrowingSolver`."""
        new = slice(self.num_nodes, int(tree.num_nodes))
        self.num_nodes = new.stop
        kept = [np.asarray(tree.parent), np.asarray(tree.actor)]
        kept += [np.asarray(x)[new].astype(np.float64) for x in (tree.odds, tree.value)]
        kept.append(np.ascontiguousarray(tree.worlds.memory))
        self._actor = kept[1].copy()  # the tree may be donated to the program that grows it
        nodes = _Nodes(*(x.ctypes.data for x in kept))
        self._library.JaxsolvePositionsExtend(
            self._handle, ctypes.byref(nodes), ctypes.c_int64(self.num_nodes)
        )

    def iterate(self, iterations: int) -> None:
        """See `GrowingSolver`."""
        self._library.JaxsolvePositionsIterate(self._handle, ctypes.c_int64(iterations))

    def leaves(self, explorer: int, most: int, seed: int) -> np.ndarray:
        """See `GrowingSolver`."""
        out = np.zeros(most, np.int32)
        found = self._library.JaxsolvePositionsLeaves(
            self._handle,
            ctypes.c_int32(explorer),
            _pointer(self._actor),
            ctypes.c_int64(most),
            ctypes.c_uint64(seed),
            _pointer(out),
        )
        return out[:found]

    def restore(self, regret: np.ndarray, strategy: np.ndarray) -> None:
        """See `GrowingSolver`."""
        given = [np.ascontiguousarray(x, np.float64) for x in (regret, strategy)]
        self._library.JaxsolvePositionsRestore(self._handle, *(_pointer(x) for x in given))

    def read(self) -> Read:
        """See `GrowingSolver`."""
        n, j = self.num_nodes, self._classes
        edges, classes = [np.zeros(n) for _ in range(3)], [np.zeros(j) for _ in range(3)]
        found = Read(edges[0], edges[1], edges[2], np.zeros(n, np.int32), *classes)
        self._library.JaxsolvePositionsRead(self._handle, *(_pointer(x) for x in found))
        return found

    @property
    def num_infosets(self) -> int:
        """See `GrowingSolver`."""
        return int(self._library.JaxsolvePositionsInfosets(self._handle))


def _pointer(x: np.ndarray) -> ctypes.c_void_p:
    return x.ctypes.data_as(ctypes.c_void_p)
