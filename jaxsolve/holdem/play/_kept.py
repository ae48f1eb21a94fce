"""What is kept of a match on the disk: a checkpoint to go on from, and rows of results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.files import load_arrays, save_arrays, write_atomic

_KIND = "match of hold'em"


class KeptMatch:
    """Results of a match by unit, a deal or a board, and where they are kept.

    A checkpoint has whole steps, or the whole match. A match that is made longer drops a last step
    that is not whole, so that it equals one that was as long from the start.
    """

    def __init__(
        self,
        out: Path | None,
        settings: Mapping[str, Any],
        *,
        resume: bool,
        units: int,
        step: int,
        shapes: Mapping[str, tuple[int, ...]],
    ) -> None:
        """Reads what there is.

        Args:
            out: the directory; without one nothing is kept.
            settings: all that the results depend on; another match has another file.
            resume: go on, if there is a checkpoint.
            units: in the whole match.
            step: units between two checkpoints.
            shapes: of a unit in each array of results.

        Raises:
            ValueError: there is a checkpoint and `resume` is not set, or it is damaged.
        """
        self.out, self.units, self.step = out, units, step
        self.settings = {**settings, "step": step}
        self.arrays = {k: np.zeros((0, *shape)) for k, shape in shapes.items()}
        self.sizes: list[int] = []
        self.seconds = 0.0
        text = json.dumps(self.settings, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        self.file = None if out is None else out / f"match-{digest}.npz"
        self.log = None if out is None else out / f"match-{digest}.log"
        if self.file is not None and self.file.exists():
            if not resume:
                raise ValueError(f"{out} has this match already; --resume goes on with it")
            self._read(self.file)
        if self.log is not None and self.log.exists():
            with self.log.open("r+b") as file:
                file.truncate(self.sizes[-1] if self.sizes else 0)

    @property
    def done(self) -> int:
        """Units that are there."""
        return len(next(iter(self.arrays.values())))

    @property
    def next(self) -> range:
        """The units of the next step; none at the end."""
        return range(self.done, min(self.done + self.step, self.units))

    def add(self, results: Mapping[str, np.ndarray], seconds: float, *, log_size: int = 0) -> None:
        """Adds a step and writes the checkpoint.

        Args:
            results: an array for each name.
            seconds: that it took.
            log_size: bytes of the log.
        """
        for name, found in results.items():
            self.arrays[name] = np.concatenate([self.arrays[name], found])
        self.sizes.append(log_size)
        self.seconds += seconds
        if self.file is not None:
            header = {"kind": _KIND, "settings": self.settings, "seconds": self.seconds}
            save_arrays(self.file, header, {**self.arrays, "sizes": np.array(self.sizes)})

    def _read(self, path: Path) -> None:
        header, arrays = load_arrays(path, _KIND)
        sizes = arrays.pop("sizes")
        there = len(next(iter(arrays.values())))
        have = min(there, self.units)
        have = have if have == self.units else have // self.step * self.step
        self.arrays = {k: x[:have] for k, x in arrays.items()}
        self.sizes = sizes[: -(-have // self.step)].tolist()
        self.seconds = header["seconds"] * have / max(there, 1)


def identity(agents: Sequence[Any]) -> list[list[Any]]:
    """Returns what tells agents apart: their names, and checksums of those that have one."""
    return [[agent.name, getattr(agent, "checksum", None)] for agent in agents]


def write_rows(out: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows of a match to result.json in a directory; rows of other matches stay.

    Raises:
        ValueError: there is a result.json that is none of matches.
    """
    import jax

    path = out / "result.json"
    kept: list[Mapping[str, Any]] = []
    if path.exists():
        try:
            found = json.loads(path.read_text())
            right = found["name"] == "holdem match"
            kept = found["rows"]
        except (ValueError, KeyError, TypeError):
            right = False
        if not right:
            raise ValueError(f"{path} is no result of matches; choose another directory")
    new = {_match_of(row) for row in rows}
    table = {
        "name": "holdem match",
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "rows": [*(row for row in kept if _match_of(row) not in new), *rows],
    }
    write_atomic(path, json.dumps(table, indent=1).encode())


def _match_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row.get("agent"), row.get("opponent"), row.get("estimator"), row.get("seed")
