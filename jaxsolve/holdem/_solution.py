"""What the policies of a spot do and are worth, board by board.

Sequences are numbered as in `BettingRows`; hands are those of the spot. There are two forms:
averages board by board, as native code and devices that share boards make them, and a policy on the
tensors.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import jax
import numpy as np

from jaxsolve.evaluate import action_values
from jaxsolve.files import differences, load_arrays, save_arrays
from jaxsolve.holdem._engine import SpotEngine, SpotState, spot_engine, spot_identity
from jaxsolve.holdem._spot_memory import runs_native
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.regret import normalise
from jaxsolve.solvers import dcfr
from jaxsolve.tree import (
    Policy,
    join_blocks,
    load_policy,
    reach_of,
    save_policy,
    split_blocks,
)

KIND = "jaxsolve averages of a spot"


class Solution(Protocol):
    """The policies of both players on one spot (Q sequences of a player on a board, H hands).

    Numbers of hands that a player does not have are 0, or NaN where they are values.
    """

    def reach(self, player: int, street: int, board: int) -> np.ndarray:
        """Returns float32 [Q, H], own reach of the sequences of a board."""
        ...

    def strategy(self, player: int, street: int, board: int) -> np.ndarray:
        """Returns float32 [Q, H], probability of the sequences of a board at their decisions."""
        ...

    def values(self, player: int, street: int, board: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns counterfactual values of the sequences of a board, float32 [Q, H] each.

        Of the policies, and with best responses of the player from there on.
        """
        ...

    @property
    def policy(self) -> Policy:
        """The same on the tensors of the spot."""
        ...

    def save(self, path: Path) -> None:
        """Writes a file that `load_solution` reads."""
        ...


@dataclasses.dataclass(frozen=True)
class Averages:
    """Averages of own reaches, board by board.

    Attributes:
        spot: the tree.
        mean: per player, [rows, H], see `SpotState`.
        scale: per player, float32 [rows] of numbers of 16 bits, else [0].
        engine: of native code, for values; its solver does not matter. None: they are computed on
            the tensors of the whole spot.
    """

    spot: SpotTree
    mean: Sequence[np.ndarray]
    scale: Sequence[np.ndarray]
    engine: SpotEngine | None

    def reach(self, player: int, street: int, board: int) -> np.ndarray:
        """See `Solution`."""
        return self._spread(player, self._means(player, street, board), 0)

    def strategy(self, player: int, street: int, board: int) -> np.ndarray:
        """See `Solution`."""
        rows = self.spot.numbers.streets[street]
        means = self._means(player, street, board)
        first, width = rows.first[player], rows.width[player]
        total = np.add.reduceat(means, first) if len(first) else means
        total, number = np.repeat(total, width, 0), np.repeat(width, width)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(total > 0, means / total, np.float32(1) / number)
        return self._locked(player, street, board, self._spread(player, shares, 0))

    def values(self, player: int, street: int, board: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Solution`."""
        if self.engine is None:
            return self._on_tensors.values(player, street, board)
        found = self.engine.values(self._state, player, street, board)
        now, best = (self._spread(player, x, np.nan) for x in found)
        return now, best

    @property
    def policy(self) -> Policy:
        """See `Solution`."""
        spot, players = self.spot, []
        for i, player in enumerate(spot.tree.players):
            vector = np.zeros((player.num_sequences, player.num_hands), np.float32)
            for s, outs in enumerate(spot.streets):
                for b in range(len(outs.boards)):
                    vector[places(spot, i, s, b)] = self.strategy(i, s, b)
            blocks = split_blocks(player, vector)  # type: ignore[arg-type]
            both = zip(blocks, player.legal, strict=True)
            players.append(tuple(normalise(x, legal) for x, legal in both))
        return Policy(tuple(players), spot.tree.names)

    def save(self, path: Path) -> None:
        """See `Solution`."""
        arrays = {}
        for i in range(2):
            arrays[f"mean_{i}"], arrays[f"scale_{i}"] = self.mean[i], self.scale[i]
        save_arrays(path, {"kind": KIND, **spot_identity(self.spot)}, arrays)

    @functools.cached_property
    def _on_tensors(self) -> OnTensors:
        return OnTensors(self.spot, self.policy)

    @property
    def _state(self) -> SpotState:
        none = [np.zeros((0, m.shape[1]), np.float32) for m in self.mean]
        return SpotState(0, 0.0, none, list(self.mean), [np.zeros(0)] * 2, list(self.scale), none)

    def _means(self, player: int, street: int, board: int) -> np.ndarray:
        first = self.spot.offset(player, street, board)
        at = slice(first, first + self.spot.numbers.streets[street].sequences[player])
        rows = self.mean[player][at]
        return rows if rows.dtype.kind == "f" else rows * self.scale[player][at, None]

    def _spread(self, player: int, rows: np.ndarray, missing: float) -> np.ndarray:
        """Returns rows of the player's hands as rows of all hands."""
        out = np.full((len(rows), len(self.spot.hands)), missing, np.float32)
        out[:, self.spot.player_hands[player]] = rows
        return out

    def _locked(self, player: int, street: int, board: int, shares: np.ndarray) -> np.ndarray:
        rows = self.spot.numbers.streets[street]
        for one in self.spot.locked:
            if one.player == player and one.street == street and board in one.boards:
                at = int(rows.first[player][one.row]) + np.arange(len(one.shares))
                shares[at] = np.where(one.shares.sum(0) != 0, one.shares, shares[at])
        return shares


def averages(engine: SpotEngine, state: SpotState) -> Averages:
    """Returns what an engine has made of its spot."""
    return Averages(engine.spot, state.mean, state.mean_scale, engine)


@dataclasses.dataclass(frozen=True)
class OnTensors:
    """A policy on the tensors of a spot. What concerns the whole tree is computed once.

    Attributes:
        spot: the tree.
        policy: of both players.
    """

    spot: SpotTree
    policy: Policy

    def reach(self, player: int, street: int, board: int) -> np.ndarray:
        """See `Solution`."""
        return self._reaches[player][places(self.spot, player, street, board)]

    def strategy(self, player: int, street: int, board: int) -> np.ndarray:
        """See `Solution`."""
        return self._all(player)[0][places(self.spot, player, street, board)]

    def values(self, player: int, street: int, board: int) -> tuple[np.ndarray, np.ndarray]:
        """See `Solution`."""
        at = places(self.spot, player, street, board)
        _, now, best = self._all(player)
        return now[at], best[at]

    def save(self, path: Path) -> None:
        """See `Solution`."""
        save_policy(self.policy, path)

    def _all(self, player: int) -> tuple[np.ndarray, ...]:
        if player not in self._found:
            tree = self.spot.tree.replace(names=None)
            self._found[player] = tuple(map(np.asarray, _values(tree, self.policy.players, player)))
        return self._found[player]

    @functools.cached_property
    def _found(self) -> dict[int, tuple[np.ndarray, ...]]:
        return {}

    @functools.cached_property
    def _reaches(self) -> list[np.ndarray]:
        tree = self.spot.tree.replace(names=None)
        return [np.asarray(r) for r in _reaches(tree, self.policy.players)]


def places(spot: SpotTree, player: int, street: int, board: int) -> np.ndarray:
    """Returns int [Q], where the sequences of a board lie in the sequence vector of the tensors."""
    rows, numbers = spot.rows[player], spot.numbers.streets[street]
    row = np.searchsorted(rows.node, numbers.node[player]) + board
    first, width = rows.rows.offset[row], numbers.width[player]
    slot = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
    return np.asarray(rows.place.sequence[np.repeat(first, width) + slot])


def load_solution(spot: SpotTree, path: Path) -> Solution:
    """Returns a solution that was saved for the same spot.

    Raises:
        ValueError: the file is damaged, or belongs to another spot; says what differs.
    """
    try:
        header, arrays = load_arrays(path, KIND)
    except ValueError:
        return OnTensors(spot, load_policy(spot.tree, path))
    if wrong := differences(header, {"kind": KIND, **spot_identity(spot)}):
        raise ValueError(f"{path} is the policy of another spot ({wrong})")
    mean, scale = ([arrays[f"{name}_{i}"] for i in range(2)] for name in ("mean", "scale"))
    bits = 8 * mean[0].dtype.itemsize
    engine = spot_engine(spot, dcfr(), bits=bits) if runs_native(spot) else None
    return Averages(spot, mean, scale, engine)


@functools.partial(jax.jit, static_argnames="player")
def _values(tree: Any, policy: Any, player: int) -> Any:
    me = tree.players[player]
    now, best = action_values(tree, policy, player)
    return tuple(join_blocks(me, blocks) for blocks in (policy[player], now, best))


@jax.jit
def _reaches(tree: Any, policy: Any) -> Any:
    return [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
