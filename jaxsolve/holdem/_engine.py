"""Iterations of CFR on a spot in C++, with a state as small as it can be.

See `jaxsolve/native/spot_game.h` for how betting, boards and hands are numbered.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import native
from jaxsolve.holdem._safe_root import SafeRoot, coming, staying_out
from jaxsolve.holdem._spot_memory import choose_bits, runs_native, spot_bytes
from jaxsolve.hosts import processors
from jaxsolve.regret import Coefficients, Step
from jaxsolve.solvers import Solver, solver_identity
from jaxsolve.tree import check_fits

if TYPE_CHECKING:
    from jaxsolve.holdem._spot_tables import SpotTables
    from jaxsolve.holdem._spot_tree import SpotTree

MOST_THREADS = 1024
"""More threads than this are refused: the system may not have them, which ends the process."""

BITS = (32, 16)
"""Of a number of the state."""

STEPS = 256
"""Iterations whose coefficients are computed at a time."""


class _Struct(ctypes.Structure):
    _fields_ = (
        ("bits", ctypes.c_int64),
        *(
            (n, ctypes.c_void_p * 2)
            for n in ("regret", "mean", "regret_scale", "mean_scale", "play")
        ),
    )


class _Gadget(ctypes.Structure):
    _fields_ = (
        ("player", ctypes.c_int64),
        ("stay", ctypes.c_void_p),
        ("come", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
    )


@dataclasses.dataclass
class SpotState:
    """What a solver of a spot keeps; its arrays are changed in place.

    Rows are sequences on boards, street after street, board after board; see `SpotTables`.

    Attributes:
        iteration: iterations done.
        weight: total weight of the average in units of the last iteration's.
        regret: per player, [rows, H], float32 or int16.
        mean: per player, [rows, H], weighted mean of the own reach, float32 or uint16.
        regret_scale, mean_scale: per player, float32 [rows], value of 1 in 16 bits; else [0].
        play: per player, float32 [rows, H], policy of the next iteration where regrets are
            predicted; else [0, H].
        gadget: float32 [3, H], of the hands that may stay out: regrets of playing and of staying
            out, and the average chance to play; else [3, 0].
    """

    iteration: int
    weight: float
    regret: list[np.ndarray]
    mean: list[np.ndarray]
    regret_scale: list[np.ndarray]
    mean_scale: list[np.ndarray]
    play: list[np.ndarray]
    gadget: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 0), np.float32))

    @property
    def arrays(self) -> list[np.ndarray]:
        """All arrays, in the order of a checkpoint."""
        fields = (self.regret, self.mean, self.regret_scale, self.mean_scale, self.play)
        return [*(x for field in fields for x in field), self.gadget]


@dataclasses.dataclass(frozen=True)
class SpotEngine:
    """Solves one spot.

    Attributes:
        spot: which.
        solver: one that `supports`.
        bits: of a number of the state, one of `BITS`.
        threads: that share the boards; a spot of one board has one.
        root: what the other player's hands get for staying out, if they may.
    """

    spot: SpotTree
    solver: Solver
    bits: int
    threads: int
    root: SafeRoot | None = None

    counts_measuring = True
    any_thread = True

    @property
    def name(self) -> str:
        """Of the solver."""
        return self.solver.name

    @property
    def tables(self) -> SpotTables:
        """Of the spot."""
        return self.spot.tables

    def identity(self, iterations: int) -> dict[str, Any]:
        """See `jaxsolve.solvers.Engine`."""
        return {
            **spot_identity(self.spot),
            **solver_identity(self.solver, iterations),
            "bits": self.bits,
            "root": None if self.root is None else [self.root.player, _crc(self.root.arrays)],
        }

    def fresh(self) -> SpotState:
        """Returns the state before the first iteration."""
        rows, hands = self.rows, [len(h) for h in self.tables.hands]
        regret, mean = (np.float32,) * 2 if self.bits == 32 else (np.int16, np.uint16)
        scales = rows if self.bits == 16 else (0, 0)
        state = SpotState(
            iteration=0,
            weight=0.0,
            regret=[np.zeros(s, regret) for s in zip(rows, hands, strict=True)],
            mean=[np.zeros(s, mean) for s in zip(rows, hands, strict=True)],
            regret_scale=[np.zeros(n, np.float32) for n in scales],
            mean_scale=[np.zeros(n, np.float32) for n in scales],
            play=[
                np.zeros((n if predicts(self.solver) else 0, h), np.float32)
                for n, h in zip(rows, hands, strict=True)
            ],
        )
        if self.root is not None:
            state.gadget = np.zeros((3, hands[self.root.player]), np.float32)
        for i, play in enumerate(state.play):
            if len(play):
                play[...] = (1 / self._widths(i))[:, None]
        return state

    def prepare(self, state: SpotState, horizon: int) -> SpotState:
        """See `jaxsolve.solvers.Engine`."""
        self._schedule(state, horizon)
        return state

    def done(self, state: SpotState) -> int:
        """Returns the iterations that are in a state."""
        return state.iteration

    def arrays(self, state: SpotState) -> list[np.ndarray]:
        """Returns all numbers of a state."""
        return [np.asarray([state.iteration, state.weight]), *state.arrays]

    def restored(self, like: SpotState, arrays: Sequence[np.ndarray]) -> SpotState:
        """Returns `like` with the numbers of `arrays`."""
        for to, saved in zip(like.arrays, arrays[1:], strict=True):
            to[...] = saved
        return dataclasses.replace(like, iteration=int(arrays[0][0]), weight=float(arrays[0][1]))

    @property
    def rows(self) -> tuple[int, int]:
        """Sequences on boards of each player."""
        streets = len(self.spot.streets)
        return self.spot.offset(0, streets), self.spot.offset(1, streets)

    def advance(self, state: SpotState, count: int, horizon: int) -> SpotState:
        """Does iterations, in each of which player 0 updates first; returns the state."""
        left = count
        while left > 0:
            some = min(left, STEPS)
            shares, coefficients = self._schedule(state, horizon)
            for k in range(some):
                state.weight = float(state.weight * shares[k] + 1)
                shares[k] = 1 / state.weight
            numbers = np.stack([*coefficients, shares], 1)[:some].astype(np.float32)
            self._call(
                "JaxsolveSpotIterate",
                state,
                self._gadget(state),
                _at(numbers),
                ctypes.c_int64(some),
                ctypes.c_int64(state.iteration),
                ctypes.c_int32(self.threads),
            )
            state.iteration += some
            left -= some
        return state

    def _schedule(self, state: SpotState, horizon: int) -> tuple[np.ndarray, list[np.ndarray]]:
        """Returns decay and coefficients of the next STEPS iterations."""
        t = np.arange(state.iteration + 1, state.iteration + 1 + STEPS, dtype=np.float32)
        steps = Step(t, np.full(STEPS, horizon, np.float32))  # type: ignore[arg-type]
        coefficients, decay = _coefficients(self.solver, steps)
        return np.array(decay), [np.asarray(c) for c in coefficients]

    def measure(self, state: SpotState) -> tuple[float, np.ndarray]:
        """Returns (exploitability, payoffs [2]) of the average policies, in chips."""
        payoffs, gains = self.payoffs(state)
        return float(gains.sum() / 2), payoffs

    def payoffs(self, state: SpotState) -> tuple[np.ndarray, np.ndarray]:
        """Returns (payoffs [2] of the average policies, what best responses add to them [2])."""
        out = np.zeros(4)
        gadget = self._gadget(state)
        self._call("JaxsolveSpotMeasure", state, gadget, ctypes.c_int32(self.threads), _at(out))
        return out[:2], out[2:]

    def values(
        self, state: SpotState, player: int, street: int, board: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns counterfactual values of a player's sequences on one board, float32 [Q, H] each.

        Of the average policies, and with best responses of the player from there on.
        """
        shape = (self.tables.streets[street].sequences[player], len(self.tables.hands[player]))
        now, best = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self._call(
            "JaxsolveSpotValues",
            state,
            ctypes.c_int32(player),
            ctypes.c_int32(street),
            ctypes.c_int64(board),
            ctypes.c_int32(self.threads),
            _at(now),
            _at(best),
        )
        return now, best

    def _gadget(self, state: SpotState) -> Any:
        if self.root is None:
            return None
        places = (_address(x) for x in (self._stay, self._come, state.gadget))
        return ctypes.byref(_Gadget(self.root.player, *places))

    @functools.cached_property
    def _stay(self) -> np.ndarray:
        assert self.root is not None
        return staying_out(self.spot, self.root)

    @functools.cached_property
    def _come(self) -> np.ndarray:
        assert self.root is not None
        return coming(self.spot, self.root)

    def _widths(self, player: int) -> np.ndarray:
        """Returns int [rows], how many actions there are beside each."""
        parts = [
            np.tile(np.repeat(rows.width[player], rows.width[player]), boards)
            for rows, boards in zip(self.tables.streets, self.tables.boards, strict=True)
        ]
        return np.concatenate(parts)

    def _call(self, name: str, state: SpotState, *rest: Any) -> None:
        library = native.host_library("spots")
        assert library is not None
        getattr(library, name)(self.tables.pointer, ctypes.byref(self.struct(state)), *rest)

    def struct(self, state: SpotState) -> ctypes.Structure:
        """Returns a state as native functions take it; it must outlive the call."""
        struct = _Struct(bits=self.bits)
        for i in range(2):
            for field in ("regret", "mean", "regret_scale", "mean_scale", "play"):
                array = getattr(state, field)[i]
                getattr(struct, field)[i] = array.ctypes.data if array.size else None
        return struct


def spot_engine(
    spot: SpotTree,
    solver: Solver,
    *,
    bits: int | None = None,
    threads: int | None = None,
    root: SafeRoot | None = None,
) -> SpotEngine | None:
    """Returns the engine of a spot, None where it is left to JAX.

    Args:
        spot: the tree.
        solver: the variant; alternating, deterministic, and known by its coefficients.
        bits: of a number of the state; 32 by default, and 16 where memory asks for it.
        threads: of the boards; by default all processors, and one where there is one board.
        root: what the hands of a player get for staying out.

    Raises:
        ValueError: `bits` is not one of `BITS`, or is 16 for a solver that predicts; a hand has no
            value at the root, or JAX would have to solve a spot with a safe one.
        MemoryError: it does not fit; says how much it needs.
    """
    if bits is not None and bits not in BITS:
        raise ValueError(f"bits is one of {', '.join(map(str, BITS))}, not {bits}")
    if not (runs_native(spot) and supports(solver)):
        if bits == 16:
            raise ValueError(
                "16 bits need a C++ compiler, no operator, and a solver of the kind of dcfr"
            )
        if root is not None:
            raise ValueError("a safe root needs a C++ compiler and a solver of the kind of dcfr")
        return None
    if root is not None:
        staying_out(spot, root), coming(spot, root)  # raise errors
    predicted = predicts(solver)
    if bits == 16 and predicted:
        raise ValueError(f"{solver.name} predicts regrets, which needs 32 bits; take dcfr")
    arrays = 3 if predicted else 2
    chosen = bits or choose_bits(spot, arrays)
    if bits is not None or predicted:  # the rest was checked when the tree was made
        need = spot_bytes(spot, chosen, arrays).total
        what = f"{solver.name} in {chosen} bits"
        check_fits(spot.name, need, what=what, instead="Take dcfr in 16 bits.")
    if threads is None:
        threads = processors() if len(spot.streets) > 1 else 1
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(
            f"threads should be a whole number from 1 to {MOST_THREADS:,}, not {threads:,}"
        )
    return SpotEngine(spot, solver, chosen, threads, root)


def spot_identity(spot: SpotTree) -> dict[str, Any]:
    """Returns what two spots must share for the state of one to be of use for the other."""
    betting = spot.betting
    return {
        "game": spot.name,
        "ranges": _crc([spot.ranges]),
        "betting": _crc([betting.parent, betting.action, betting.spent]),
        "boards": _crc([outs.weight for outs in spot.streets]),
        "rake": str(tuple(spot.rake)),
        "locks": [[x.line, x.board, _crc(list(x.strategy.values()))] for x in spot.locks],
    }


def supports(solver: Solver) -> bool:
    """Returns whether a solver's update is one that the C++ code knows."""
    plain = solver.sampler is None and solver.alternating and solver.output == "average"
    return plain and solver.minimizer.coefficients is not None


def predicts(solver: Solver) -> bool:
    """Returns whether the policy of a solver does not follow from its regrets alone."""
    ones = np.ones(STEPS, np.float32)
    coefficients, _ = _coefficients(solver, Step(ones, ones))  # type: ignore[arg-type]
    return bool(np.asarray(coefficients.prediction).any())


@jax.jit
def _coefficients(solver: Solver, steps: Step) -> tuple[Coefficients, Any]:
    """Returns (coefficients, decay) of steps, float32 [steps] each."""
    numbers: Callable[[Step], Coefficients] = solver.minimizer.coefficients  # type: ignore[assignment]
    size = steps.t.shape
    widen = functools.partial(jnp.broadcast_to, shape=size)
    found = jax.tree.map(widen, jax.vmap(numbers)(steps))
    return found, widen(jax.vmap(solver.decay)(steps))


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def _crc(arrays: Sequence[np.ndarray]) -> str:
    total = 0
    for array in arrays:
        total = zlib.crc32(np.ascontiguousarray(array).tobytes(), total)
    return f"{total:08x}"


def _at(array: np.ndarray) -> Any:
    return ctypes.c_void_p(array.ctypes.data)
