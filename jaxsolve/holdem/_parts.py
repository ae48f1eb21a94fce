"""One large spot on several devices: each has the first street and its share of the boards after.

Counterfactual values on the first street are sums over boards, so an iteration exchanges them once
for each player, and nothing else; see `tree.Shared`. The parts have equal shapes: they are stacked,
and each device takes one.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxsolve import devices
from jaxsolve.evaluate import expected_values, nash_conv
from jaxsolve.holdem._cards import parse_cards
from jaxsolve.holdem._engine import spot_identity
from jaxsolve.holdem._runouts import cut_runouts, runouts
from jaxsolve.holdem._solution import Averages, places
from jaxsolve.holdem._spot_memory import check_tensors
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.solvers import (
    Solver,
    average_policy,
    current_policy,
    init_state,
    run,
    solver_identity,
)
from jaxsolve.types import Array

T = TypeVar("T")


class PartsEngine:
    """Solves one spot on all devices of a mesh; a `solvers.Engine`.

    Attributes:
        spot: with all its boards.
        parts: of it, one for each device.
        tree: the tensors of all parts, leading axis D, cut over the devices.
        solver: the variant.
    """

    counts_measuring = False
    any_thread = False

    def __init__(self, spot: SpotTree, solver: Solver, mesh: Mesh) -> None:
        if solver.sampler is not None:
            raise ValueError(
                f"{solver.name} samples, and devices share boards of a spot only where all are "
                "visited: use dcfr, or one device"
            )
        for lock in spot.locks:
            if lock.board is not None and len(parse_cards(lock.board)) > len(spot.spot.board):
                raise ValueError(
                    f"{lock.line!r} is locked on the board {lock.board} alone, and devices share "
                    "boards: lock it on all boards, or use one device"
                )
        self.spot, self.solver, self.mesh = spot_on_parts(spot), solver, mesh
        cut = cut_runouts(self.spot.streets, mesh.size)
        check_tensors(spot.name, spot.betting, cut[0], len(spot.hands), parts=mesh.size)
        self.parts = [self.spot.part(streets, mesh.size) for streets in cut]
        trees = [part.tree.replace(names=None) for part in self.parts]
        sharding = NamedSharding(mesh, PartitionSpec(devices.AXIS))
        self.tree = jax.device_put(jax.tree.map(lambda *x: np.stack(x), *trees), sharding)

    @property
    def name(self) -> str:
        """Of the solver."""
        return self.solver.name

    def identity(self, iterations: int) -> dict[str, Any]:
        """See `Engine`."""
        return {
            **spot_identity(self.spot),
            **solver_identity(self.solver, iterations),
            "devices": self.mesh.size,
        }

    def fresh(self) -> Any:
        """See `Engine`."""
        with devices.meshed():
            return _fresh(self.tree, self.solver)

    def prepare(self, state: Any, horizon: int) -> Any:
        """See `Engine`."""
        state = self.advance(state, 0, horizon)
        self.measure(state)
        return state

    def done(self, state: Any) -> int:
        """See `Engine`."""
        return int(_first(state.iteration))

    def advance(self, state: Any, count: int, horizon: int) -> Any:
        """See `Engine`."""
        with devices.meshed():
            numbers = (jnp.asarray(n, jnp.int32) for n in (count, horizon))
            return jax.block_until_ready(advance_parts(self.tree, self.solver, state, *numbers))

    def measure(self, state: Any) -> tuple[float, np.ndarray]:
        """See `Engine`."""
        with devices.meshed():
            gap, worth = _measured(self.tree, self.solver, state._replace(minimizer=()))
        return float(_first(gap)) / 2, _first(worth)

    def arrays(self, state: Any) -> list[np.ndarray]:
        """See `Engine`."""
        return jax.tree.leaves(devices.fetch(state))

    def restored(self, like: Any, arrays: Sequence[np.ndarray]) -> Any:
        """See `Engine`."""
        pairs = zip(jax.tree.leaves(like), arrays, strict=True)
        placed = [jax.device_put(x, old.sharding) for old, x in pairs]
        return jax.tree.unflatten(jax.tree.structure(like), placed)

    def averages(self, state: Any) -> Averages:
        """Returns the average policies, board by board."""
        means, none = [self._means(state, i) for i in range(2)], np.zeros(0, np.float32)
        return Averages(self.spot, means, [none, none], None)

    def _means(self, state: Any, player: int) -> np.ndarray:
        """Returns [rows, hands of the player], see `SpotState.mean`."""
        found = np.asarray(devices.fetch(state.average[player].mean))
        hands, spot, rows = self.spot.player_hands[player], self.spot, []
        for street, outs in enumerate(spot.streets):
            share = len(self.parts[0].streets[street].boards)
            for board in range(len(outs.boards)):
                part, here = divmod(board, share) if street else (0, 0)
                at = places(self.parts[part], player, street, here)
                rows.append(found[part][at][:, hands])
        return np.concatenate(rows)


def shared_by(spot: SpotTree) -> Mesh | None:
    """Returns the mesh whose devices share a spot's boards; None if either is only one."""
    mesh = devices.chosen()
    return None if mesh is None or mesh.size == 1 or len(spot.streets) == 1 else mesh


def spot_on_parts(spot: SpotTree) -> SpotTree:
    """Returns a spot with boards that can be cut into parts of equal shape.

    Boards that are equal up to suits stay one where they are of the last street.
    """
    if len(spot.streets) < 3:
        return spot
    streets = runouts(spot.spot.board, spot.ranges, symmetric=False)
    return dataclasses.replace(spot, streets=tuple(streets), _shared={})


def _each(function: Callable[..., T]) -> Callable[..., T]:
    """Returns a function of stacked parts, each device taking its own."""

    def of_one(*parts: Any) -> T:
        found = function(*jax.tree.map(lambda x: x[0], parts))
        stacked: T = jax.tree.map(lambda x: jnp.asarray(x)[None], found)
        return stacked

    return devices.split(of_one)


@jax.jit
def _fresh(tree: Any, solver: Solver) -> Any:
    return _each(lambda tree: init_state(tree, solver))(tree)


@functools.partial(jax.jit, donate_argnames="state")
def advance_parts(tree: Any, solver: Solver, state: Any, count: Array, horizon: Array) -> Any:
    """Returns the states of all parts after further iterations (int32 [], traced)."""

    def one(tree: Any, state: Any) -> Any:
        return run(tree, solver, state, count, horizon)

    return _each(one)(tree, state)


@jax.jit
def _measured(tree: Any, solver: Solver, state: Any) -> Any:
    chosen = current_policy if solver.output == "current" else average_policy

    def one(tree: Any, state: Any) -> tuple[Array, Array]:
        policy = chosen(tree, state)
        return nash_conv(tree, policy), expected_values(tree, policy)

    return _each(one)(tree, state)


def _first(stacked: Array) -> np.ndarray:
    """Returns what every part has, of the first part on this host."""
    return np.asarray(stacked.addressable_data(0))[0]
