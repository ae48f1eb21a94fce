"""Checkpoints of a run: the state bit for bit, and what it belongs to."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxsolve.files import differences, load_arrays, save_arrays
from jaxsolve.solvers._solver import Solver
from jaxsolve.tree import PublicTree

KIND = "jaxsolve checkpoint"
NAME = "checkpoint.npz"


class Saved(NamedTuple):
    """What a checkpoint holds.

    Attributes:
        arrays: the numbers of the solver's state.
        rows: curve so far, (iteration, seconds, exploitability).
        seconds: time spent in iterations.
    """

    arrays: list[np.ndarray]
    rows: list[tuple[int, float, float]]
    seconds: float


def identity(tree: PublicTree, solver: Solver, horizon: int) -> dict[str, Any]:
    """Returns what two runs must share for one to continue the other."""
    return {
        "game": tree.names.name if tree.names is not None else "",
        **solver_identity(solver, horizon),
        "updates": "alternating" if solver.alternating else "simultaneous",
        "dtype": str(tree.players[0].root_reach.dtype),
        "tree": fingerprint(tree),
    }


def solver_identity(solver: Solver, horizon: int) -> dict[str, Any]:
    """Returns what two runs must share of a solver, of whatever it solves."""
    hyper = [np.asarray(x).tolist() for x in jax.tree.leaves(solver)]
    batch = "" if solver.sampler is None else f" in batches of {solver.sampler.batch}"
    return {
        "solver": f"{solver.name}{hyper}{batch}",
        "planned iterations": horizon if solver.scheduled else "any",
    }


def fingerprint(tree: PublicTree) -> str:
    """Returns a checksum of all tensors of a tree."""
    total = 0
    for leaf in jax.tree.leaves(tree):
        array = np.ascontiguousarray(leaf)
        total = zlib.crc32(str((array.shape, array.dtype)).encode(), total)
        total = zlib.crc32(array.tobytes(), total)
    return f"{total:08x}"


def save(
    directory: Path,
    run: dict[str, Any],
    arrays: Sequence[np.ndarray],
    iteration: int,
    rows: list[Any],
    seconds: float,
    planned: int,
) -> None:
    """Writes a checkpoint, whole or not at all."""
    header = {"kind": KIND, "run": run, "rows": rows, "seconds": seconds, "planned": planned}
    header["iteration"] = iteration
    save_arrays(directory / NAME, header, {f"leaf_{k:04d}": x for k, x in enumerate(arrays)})


def load(directory: Path, run: dict[str, Any], like: Sequence[np.ndarray]) -> Saved:
    """Returns the checkpoint in a directory.

    Args:
        directory: of the run.
        run: `identity` of the run that wants to continue.
        like: arrays of the same shapes.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or of a run with another configuration; says what differs.
    """
    header, arrays = load_arrays(directory / NAME, KIND)
    if wrong := differences(header["run"], run):
        raise ValueError(f"{directory} holds a run with another configuration ({wrong})")
    saved = [arrays[k] for k in sorted(arrays)]
    if [(x.shape, x.dtype) for x in saved] != [(x.shape, x.dtype) for x in like]:
        raise ValueError(f"{directory / NAME} was written by another version of jaxsolve")
    rows = [(int(i), float(s), float(e)) for i, s, e in header["rows"]]
    return Saved(saved, rows, float(header["seconds"]))


def unfinished(directory: Path) -> tuple[int, int] | None:
    """Returns (iteration, planned) of an unfinished run in a directory, None if there is none."""
    try:
        header, _ = load_arrays(directory / NAME, KIND)
    except FileNotFoundError:
        return None
    done, planned = int(header["iteration"]), int(header["planned"])
    return (done, planned) if done < planned else None
