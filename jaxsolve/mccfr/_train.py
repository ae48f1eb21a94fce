"""The loop around a sampler: progress, checkpoints, snapshots, and what is measured meanwhile."""

from __future__ import annotations

import dataclasses
import errno
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from jaxsolve.files import claim, differences, uninterrupted
from jaxsolve.mccfr._game import TabledGame
from jaxsolve.mccfr._options import Options
from jaxsolve.mccfr._tables import (
    Tables,
    load_tables,
    make_tables,
    save_tables,
    table_bytes,
)
from jaxsolve.mccfr._tree import ActionTree

CHECKPOINT = "tables.npz"
"""Name of the tables in a directory of results."""

_CALL = 0.4
"""Seconds of one call of the sampler, so that Ctrl-C is heard."""

Row = dict[str, Any]


class Sampler(Protocol):
    """What `train` runs: `ExternalSampler`, `VectorSampler`, or one made for a game."""

    @property
    def game(self) -> TabledGame:
        """The game."""
        ...

    @property
    def options(self) -> Options:
        """Weights, pruning and the seed."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What two runs must share to be one; JSON."""
        ...

    @property
    def first_call(self) -> int:
        """Passes of the first call; later calls are as long as what is measured says."""
        ...

    def prepare(self, tables: Tables) -> None:
        """Does what is done once, so that it does not count as training."""
        ...

    def run(self, tables: Tables, count: int) -> tuple[Tables, int]:
        """Returns (tables after `count` more passes, nodes visited)."""
        ...

    def add_snapshot(self, tables: Tables, weight: float) -> None:
        """Adds the current policy of stages that passes do not average to the average."""
        ...


Measure = Callable[[Tables], Row]


@dataclasses.dataclass(frozen=True)
class Trained:
    """What `train` returns.

    Attributes:
        tables: regrets and averages.
        seconds: of training, measuring and writing not counted, earlier sessions counted.
        nodes: visited, likewise.
        rows: one for each measurement, with "passes" and "seconds".
        finished: False after Ctrl-C.
    """

    tables: Tables
    seconds: float
    nodes: int
    rows: tuple[Row, ...]
    finished: bool


def train(
    sampler: Sampler,
    *,
    passes: int | None = None,
    minutes: float | None = None,
    bits: int = 32,
    out: Path | None = None,
    resume: bool = False,
    checkpoint_seconds: float = 60,
    snapshot_every: int = 1_000_000,
    measure: Measure | None = None,
    measure_seconds: float = 60,
    clock: Callable[[], float] = time.perf_counter,
    progress: bool = True,
) -> Trained:
    """Runs passes until there are `passes` of them or `minutes` are over, whichever is first.

    With one thread, and stopped by passes, a resumed run equals an uninterrupted one bit for bit.

    Args:
        sampler: of a game.
        passes: in all, those of an earlier session included.
        minutes: of training in all, likewise.
        bits: of the entries of new tables, 32 or 16.
        out: a directory for `tables.npz`, written every `checkpoint_seconds`; what a kill loses at
            most is the time since.
        resume: go on from the tables in `out`, if there are any.
        checkpoint_seconds: between two checkpoints.
        snapshot_every: passes between two snapshots of the stages that passes do not average.
        measure: called every `measure_seconds` of training, and at the end; its row is kept.
        measure_seconds: between two measurements.
        clock: seconds that count as training; with `time.process_time` these are seconds of all
            threads, and other work on the machine takes nothing away.
        progress: show a bar with passes a second.

    Raises:
        ValueError: nothing says when to stop, the checkpoint is of another run or damaged, or
            `out` holds one that would be lost.
        MemoryError: the tables do not fit.
        OSError: the disk of `out` has no room for them; says how much they need.
    """
    if passes is None and minutes is None:
        raise ValueError("say when to stop: passes or minutes")
    if resume and out is None:
        raise ValueError("to resume, give `out`, the directory of the run to continue")
    with claim(out), uninterrupted() as stopped:
        if out is not None:
            check_folder(out, resume)
            check_disk(out, sampler.game.tree, sampler.game.num_buckets, bits)
        loop = _Loop(sampler, out, bits, resume, snapshot_every, clock)
        end = None if minutes is None else 60 * minutes
        bar = tqdm(
            total=passes if end is None else round(end),
            initial=loop.tables.passes if end is None else round(min(end, loop.seconds)),
            unit=" passes" if end is None else "s",
            disable=not progress,
        )
        with bar:
            saved = measured = loop.seconds
            while not stopped() and not loop.over(passes, end):
                loop.step(passes, end)
                bar.n = loop.tables.passes if end is None else min(round(loop.seconds), round(end))
                bar.set_postfix_str(loop.speed())
                if measure is not None and loop.seconds - measured >= measure_seconds:
                    loop.rows.append({**loop.where(), **measure(loop.tables)})
                    measured = loop.seconds
                if loop.seconds - saved >= checkpoint_seconds:
                    loop.save()
                    saved = loop.seconds
        if measure is not None and loop.seconds > measured:
            loop.rows.append({**loop.where(), **measure(loop.tables)})
        loop.save()
        done = loop.over(passes, end)
    return Trained(loop.tables, loop.seconds, loop.nodes, tuple(loop.rows), done)


def check_folder(out: Path, resume: bool) -> None:
    """Refuses to write over the tables of an earlier run.

    Raises:
        ValueError: there are some, and `resume` is False.
    """
    if not resume and (path := out / CHECKPOINT).exists():
        raise ValueError(
            f"{out} holds an earlier run: resume it (--resume), remove {path}, or choose another "
            "directory"
        )


def check_disk(out: Path, tree: ActionTree, num_buckets: Sequence[int], bits: int = 32) -> None:
    """Refuses a directory without room for a new checkpoint beside the old one.

    Raises:
        OSError: says how much they need.
    """
    there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    needed, free = 2 * table_bytes(tree, num_buckets, bits), shutil.disk_usage(there).free
    if needed > free:
        raise OSError(
            errno.ENOSPC,
            f"two checkpoints need {needed / 2**30:.2f} GiB, and {free / 2**30:.2f} GiB are free",
            str(out),
        )


class _Loop:
    """Tables, clocks and rows of one run."""

    def __init__(
        self,
        sampler: Sampler,
        out: Path | None,
        bits: int,
        resume: bool,
        every: int,
        clock: Callable[[], float],
    ) -> None:
        self.sampler, self.out, self.every, self.clock = sampler, out, every, clock
        self.seconds, self.session, self.nodes = 0.0, 0.0, 0
        self.rows: list[Row] = []
        self.size = sampler.first_call
        if resume and out is not None and (out / CHECKPOINT).exists():
            self.tables, more = load_tables(out / CHECKPOINT, sampler.game, bits)
            if wrong := differences(more["options"], dict(sampler.settings)):
                raise ValueError(f"{out / CHECKPOINT} belongs to another run: {wrong}")
            self.seconds, self.rows, self.nodes = more["seconds"], more["rows"], more["nodes"]
        else:
            self.tables = make_tables(sampler.game, bits)
        self.began = self.tables.passes
        sampler.prepare(self.tables)

    def over(self, passes: int | None, end: float | None) -> bool:
        """Returns whether one of the limits is reached."""
        enough = passes is not None and self.tables.passes >= passes
        return enough or (end is not None and self.seconds >= end)

    def step(self, passes: int | None, end: float | None) -> None:
        """Does one call of the sampler, cut at the next snapshot."""
        here = self.tables.passes
        count = min(self.size, self.every - here % self.every)
        if passes is not None:
            count = min(count, passes - here)
        began = self.clock()
        self.tables, visited = self.sampler.run(self.tables, count)
        if self.tables.passes % self.every == 0:
            self.sampler.add_snapshot(self.tables, self.sampler.options.weight(self.tables.passes))
        took = self.clock() - began
        self.seconds += took
        self.session += took
        self.nodes += visited
        wish = _CALL if end is None else min(_CALL, max(0.01, end - self.seconds))
        grown = count * min(4.0, wish / max(took, 1e-6))
        players = self.sampler.game.tree.num_players
        self.size = max(players, int(grown) // players * players)

    def where(self) -> Row:
        """Returns how far the run is."""
        return {"passes": self.tables.passes, "seconds": round(self.seconds, 3)}

    def speed(self) -> str:
        """Returns passes a second in words."""
        done = self.tables.passes - self.began
        return f"{done / max(self.session, 1e-9):,.0f} passes/s, {self.tables.passes:,} in all"

    def save(self) -> None:
        """Writes the checkpoint, if there is a directory."""
        if self.out is None:
            return
        save_tables(
            self.out / CHECKPOINT,
            self.sampler.game,
            self.tables,
            options=dict(self.sampler.settings),
            seconds=self.seconds,
            nodes=self.nodes,
            rows=self.rows,
        )
