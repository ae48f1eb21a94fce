"""The same rivers solved in C++: about ten times as many a second on a CPU as in JAX.

The tables of a spot are made once. Situations are written over them: hands are numbered in order of
strength, so only their cards and ties, the ranges and the payoffs differ. A compiled program calls
this through `jax.pure_callback`; nothing in the call needs JAX.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from jaxsolve import native
from jaxsolve.holdem._engine import SpotEngine, SpotState, supports
from jaxsolve.holdem.river_net._betting import POT, RiverTemplate
from jaxsolve.holdem.river_net._boards import LIVE
from jaxsolve.hosts import processors
from jaxsolve.solvers import Solver

RiverSolver = Callable[..., tuple[np.ndarray, np.ndarray]]
"""See `native_rivers`."""


def native_rivers(
    template: RiverTemplate, solver: Solver, iterations: int, *, threads: int = 1
) -> RiverSolver:
    """Returns a function that solves rivers in C++.

    It takes pair uint8 [B, H, 2] and high int32 [B, H] of B boards (see `RiverBoard`), ranges
    float32 [B, 2, H] and stack float32 [B] in pots, all in NumPy. It returns values float32
    [B, 2, H] and exploitability float32 [B], as `solve_river` does.

    Args:
        template: the betting.
        solver: variant of CFR; alternating, known by its coefficients.
        iterations: of the solver.
        threads: that share the rivers.

    Raises:
        ValueError: C++ does not know the solver, or there is no compiler.
    """
    library = native.host_library("spots")
    if library is None or not supports(solver):
        raise ValueError(f"rivers in C++ need a compiler and a solver of the kind of dcfr, "
                         f"not {solver.name}; take solve_river")  # fmt: skip
    engine = SpotEngine(template.spot, solver, 32, 1)
    numbers = _numbers(engine, iterations)
    tables = engine.tables
    rows = tables.streets[0]
    tied = np.arange(LIVE, dtype=np.int32)
    none = np.zeros(0, np.int32)
    pots = rows.amount / POT
    sign, size = np.sign(pots), np.abs(pots)
    one = np.ones(1, np.float32)
    whole = np.full(1, LIVE, np.int32)

    def solve_one(pair: Any, high: Any, ranges: Any, stack: Any) -> tuple[np.ndarray, float]:
        leaf = np.zeros(len(rows.leaf), [("sequence", np.int32, 2), ("amount", np.float32, 2)])
        leaf["sequence"] = rows.leaf
        leaf["amount"] = sign * (0.5 + np.minimum(size - 0.5, stack))
        reach = [np.ascontiguousarray(r, np.float32) for r in ranges]
        pair = np.ascontiguousarray(pair, np.uint8)
        high = np.ascontiguousarray(high, np.int32)
        game = type(tables.struct).from_buffer_copy(tables.struct)
        street = game.street[0]
        for i in range(2):
            game.root[i] = reach[i].ctypes.data
            street.place[i], street.gap[i] = tied.ctypes.data, none.ctypes.data
        street.pair, street.high = pair.ctypes.data, high.ctypes.data
        street.count, street.chance = whole.ctypes.data, one.ctypes.data
        street.leaf = leaf.ctypes.data
        state = engine.fresh()
        struct = engine.struct(state)
        first = (ctypes.byref(game), ctypes.byref(struct))
        library.JaxsolveSpotIterate(
            *first,
            None,
            _at(numbers),  # no gadget
            ctypes.c_int64(iterations),
            ctypes.c_int64(0),
            ctypes.c_int32(1),
        )
        gains = np.zeros(4)
        library.JaxsolveSpotMeasure(*first, None, ctypes.c_int32(1), _at(gains))
        values = np.stack([_root(library, first, rows, state, i) for i in range(2)])
        pairs = _pairs(pair, *reach)
        return values, gains[2:].sum() / 2 / max(pairs, 1e-30)

    def solve(pair: Any, high: Any, ranges: Any, stack: Any) -> tuple[np.ndarray, np.ndarray]:
        every = list(zip(*(np.asarray(x) for x in (pair, high, ranges, stack)), strict=True))
        if threads > 1:
            with ThreadPoolExecutor(min(threads, processors())) as pool:
                found = list(pool.map(lambda x: solve_one(*x), every))
        else:
            found = [solve_one(*x) for x in every]
        return np.stack([v for v, _ in found]), np.asarray([g for _, g in found], np.float32)

    return solve


def _root(
    library: Any, first: tuple[Any, Any], rows: Any, state: SpotState, player: int
) -> np.ndarray:
    """Returns float32 [H], values of a player at the root under the average policies."""
    shape = (rows.sequences[player], LIVE)
    now, best = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    library.JaxsolveSpotValues(
        *first,
        ctypes.c_int32(player),
        ctypes.c_int32(0),
        ctypes.c_int64(0),
        ctypes.c_int32(1),
        _at(now),
        _at(best),
    )
    out = np.zeros(LIVE, np.float32)
    for begin, width, above in zip(
        rows.first[player], rows.width[player], rows.parent[player], strict=True
    ):
        if above < 0:
            mean = state.mean[player][begin : begin + width]
            total = mean.sum(0)
            share = np.where(total > 0, mean / np.where(total > 0, total, 1), 1 / width)
            out += (share * now[begin : begin + width]).sum(0)
    return out


def _pairs(pair: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Returns the sum over pairs of hands that share no card of the products of reaches."""
    card = np.zeros((2, 52))
    for total, reach in zip(card, (first, second), strict=True):
        np.add.at(total, pair[:, 0], reach)
        np.add.at(total, pair[:, 1], reach)
    # Equal hands share two cards and are taken away twice.
    return float(first.sum() * second.sum() - card[0] @ card[1] + first @ second)


def _numbers(engine: SpotEngine, iterations: int) -> np.ndarray:
    """Returns float32 [iterations, 7], the coefficients of each iteration."""
    state, parts = engine.fresh(), []
    while state.iteration < iterations:
        shares, coefficients = engine._schedule(state, iterations)
        count = min(len(shares), iterations - state.iteration)
        for k in range(count):
            state.weight = float(state.weight * shares[k] + 1)
            shares[k] = 1 / state.weight
        parts.append(np.stack([*coefficients, shares], 1)[:count])
        state.iteration += count
    return np.ascontiguousarray(np.concatenate(parts), np.float32)


def _at(array: np.ndarray) -> Any:
    return ctypes.c_void_p(array.ctypes.data)
