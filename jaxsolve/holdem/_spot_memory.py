"""How much memory a spot takes, before anything of it is made."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np

from jaxsolve import devices, native
from jaxsolve.holdem._betting_tree import BettingTree, Kind
from jaxsolve.holdem._runouts import Runouts
from jaxsolve.hosts import processors
from jaxsolve.tree import check_fits, float_type, free_bytes, run_bytes

if TYPE_CHECKING:
    from jaxsolve.holdem._spot_tree import SpotTree

log = logging.getLogger("jaxsolve")

INSTEAD = "Offer fewer sizes, set raise_cap, narrow the ranges, or start from a later street."

MOST_ACTIONS = 64
"""Of a decision in native code, `kMostActions` of spot_rows.h."""

GROUPS = 32
"""Of boards of the second street, `kGroups` of spot_pass.h."""


class SpotBytes(NamedTuple):
    """Bytes that solving a spot takes in native code.

    Attributes:
        entries: sequences times boards times hands.
        state: of regrets and averages.
        tables: of boards and hands.
        scratch: of the threads.
    """

    entries: int
    state: int
    tables: int
    scratch: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.state + self.tables + self.scratch


def runs_native(spot: SpotTree) -> bool:
    """Returns whether native code solves a spot.

    That is on a CPU with a compiler, in float32, without an operator, and where no decision has
    more than MOST_ACTIONS actions.
    """
    if spot.operator is not None or float_type() != np.float32:
        return False
    if spot.betting.num_children.max() > MOST_ACTIONS:
        return False
    return jax.default_backend() == "cpu" and native.host_library("spots") is not None


def spot_bytes(spot: SpotTree, bits: int, arrays: int = 2) -> SpotBytes:
    """Returns what solving takes.

    Args:
        spot: the tree.
        bits: of a number of the state.
        arrays: of the state, for each player.
    """
    hands = [int((r > 0).sum()) for r in spot.spot.ranges]
    rows, width = _sequences(spot.betting), len(spot.hands)
    boards = [len(outs.boards) for outs in spot.streets]
    entries = sum(
        int(rows[i, s]) * boards[s] * hands[i] for i in range(2) for s in range(len(boards))
    )
    scales = sum(int(rows[i, s]) * boards[s] for i in range(2) for s in range(len(boards)))
    state = arrays * (entries * bits // 8 + (scales * 4 if bits == 16 else 0))
    all_in = {int(s) for s in spot.betting.street[spot.betting.kind == Kind.ALL_IN]}
    tables = sum(
        n * (4 * (2 * width + width) + 2 * width) + (s in all_in) * n * hands[0] * hands[1] * 2
        for s, n in enumerate(boards)
    )
    threads = processors() if len(boards) > 1 else 1
    scratch = 0
    for s in range(len(boards)):
        each = 4 * 4 * int(rows[:, s].max()) * max(hands)
        scratch += each if s == 0 else threads * each
    if len(boards) > 1:
        scratch += 2 * min(GROUPS, boards[1]) * int(rows[:, 0].max()) * max(hands) * 4
    return SpotBytes(entries, state, tables, scratch)


def choose_bits(spot: SpotTree, arrays: int = 2) -> int:
    """Returns 32 if that fits in the free memory, else 16 where the state may be kept so."""
    free = free_bytes()
    fits = free is None or spot_bytes(spot, 32, arrays).total <= free
    return 32 if fits or arrays > 2 else 16


def check_spot(spot: SpotTree) -> None:
    """Logs what solving takes.

    Raises:
        MemoryError: it does not fit even with 16 bits; says how much each part needs.
    """
    if not runs_native(spot):
        if devices.chosen() is None:  # else their parts are checked when they are known
            check_tensors(spot.name, spot.betting, spot.streets, len(spot.hands))
        return
    bits = choose_bits(spot)
    need = spot_bytes(spot, bits)
    parts = (
        f"{need.entries:,} actions of hands on boards in {bits} bits: state {_size(need.state)}, "
        f"tables {_size(need.tables)}, scratch {_size(need.scratch)}"
    )
    check_fits(spot.name, need.total, what=parts, instead=INSTEAD)


def check_tensors(
    name: str, betting: BettingTree, streets: Sequence[Runouts], hands: int, *, parts: int = 1
) -> int:
    """Logs what a run on the tensors needs and returns it in bytes.

    Args:
        name: of the spot.
        betting: its betting.
        streets: its boards, or those of one of several parts.
        hands: H.
        parts: how many such parts there are, each on a device; those of a CPU share its memory.

    Raises:
        MemoryError: the device has less free.
    """
    rows = _sequences(betting).sum(0)
    actions = sum(int(n) * len(outs.boards) for n, outs in zip(rows, streets, strict=True))
    all_in = {int(s) for s in betting.street[betting.kind == Kind.ALL_IN]}
    matrices = sum(len(streets[s].boards) for s in all_in) * hands * hands
    needed = run_bytes(actions * hands, tensors=matrices * float_type().itemsize)
    what = f"{actions:,} actions of public states x {hands} hands"
    if parts > 1:
        needed *= parts if jax.default_backend() == "cpu" else 1
        what += f" on each of {parts} devices"
    check_fits(name, needed, what=what, instead=INSTEAD)
    return needed


def _sequences(betting: BettingTree) -> np.ndarray:
    """Returns int [2, streets], sequences of each player on one board of a street."""
    decision = betting.kind == Kind.DECISION
    number = betting.actor[decision] * betting.num_streets + betting.street[decision]
    counts = np.bincount(number, betting.num_children[decision], 2 * betting.num_streets)
    return counts.astype(np.int64).reshape(2, -1)


def _size(size: int) -> str:
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
