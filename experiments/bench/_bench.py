"""The benchmark: every game in fresh processes, then side by side with the peers."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax

import games as rules
import jaxsolve as js
from experiments._report import Report
from experiments.bench import _fresh, _peers, _table
from experiments.bench._games import BenchGame, choose
from experiments.bench._kernels import loop_body
from experiments.bench._limits import limits
from experiments.bench._timing import interleaved, ours

TARGET = 1e-3
"""Exploitability of the race from a cold start, in each game's own units."""

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


def main(
    quick: bool,
    out: Path,
    *,
    games: str | None = None,
    against: str = "openspiel,liteefg",
    large: bool = False,
    solver: str = "cfr+",
    record: bool = False,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns the measurements, after saving them in `out`.

    Args:
        quick: two small games and few repeats.
        out: folder for result.json, bench.md and bench.png.
        games: comma-separated game strings; those of the table by default.
        against: comma-separated peers; one that is not installed is left out with a word on how
            to install it.
        large: goofspiel with 6 and 7 cards too (7: two minutes and 11 GiB).
        solver: ours, by name; peers always run CFR+.
        record: also write the files of this device in `RESULTS`.
        say: receives progress, a line at a time.

    Raises:
        ValueError: a game, peer or solver is not known.
    """
    begin = time.perf_counter()
    chosen = choose(games, quick=quick, large=large)
    peers = _available(_peers.choose(against), say)
    js.load_solver(solver)
    rows: list[dict[str, Any]] = []
    for game in chosen:
        say(f"{game.name}: building, compiling and racing to {TARGET:g} in fresh processes ...")
        rows += measure(game, peers, solver, quick=quick, say=say)
    report = Report(
        "bench",
        quick,
        time.perf_counter() - begin,
        rows,
        extra={
            "dtype": "float64" if jax.config.jax_enable_x64 else "float32",  # type: ignore[attr-defined]
            "target": TARGET,
            "geometric_mean": summary(rows, chosen),
            "peers": {name: peer.note for name, peer in peers.items()},
            "load": _load(),
        },
    )
    report.shown = _table.lines(report)
    report.save(out, figure=_table.figure(report))
    (out / "bench.md").write_text(_table.text(report))
    if record:
        report.record(RESULTS, text=_table.text(report))
    return report


def measure(
    game: BenchGame,
    peers: Mapping[str, _peers.Peer],
    solver: str,
    *,
    quick: bool,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Returns one row per peer of one game, or one without a peer."""
    job = _fresh.Job(game.name, game.max_states, solver, TARGET, time_limit=10 if quick else 60)
    if game.max_states > 20_000_000:  # minutes and gigabytes each time
        cold = warm = _fresh.alone(job)
    else:
        cold, warm = _fresh.cold_and_warm(job)
    row: dict[str, Any] = {
        "game": game.name,
        "states": cold.states,
        "infosets": cold.infosets,
        "solver": solver,
        "build_seconds": cold.build_seconds,
        "build_cached_seconds": warm.build_seconds if warm is not cold else None,
        "compile_seconds": cold.compile_seconds,
        "compile_cached_seconds": warm.compile_seconds if warm is not cold else None,
        "ms_per_iteration": cold.ms_per_iteration,
        "memory_mb": cold.device_bytes / 1e6,
        "tree_mb": cold.tree_bytes / 1e6,
        "peak_mb": cold.peak_bytes / 1e6,
        "seconds_to_1e3": cold.target_seconds,
        "seconds_to_1e3_cached": warm.target_seconds if warm is not cold else None,
        "iterations_to_1e3": cold.iterations if cold.target_seconds is not None else None,
    }
    if game.max_states > 20_000_000:
        return [row | dict.fromkeys(("peer", "peer_ms_per_iteration", "ratio"))]
    tree = js.compile(rules.load(game.name), keep_states=False)
    variant = js.load_solver(solver)
    row |= _device(tree, variant)
    contestants = {"": ours(tree, variant)}
    for name, peer in peers.items():
        if game.openspiel and not game.large:
            start = time.perf_counter()
            contestants[name] = peer.start(game.openspiel)
            say(f"  {name} built its tree in {time.perf_counter() - start:.1f} s")
    rounds, seconds = (5, 0.05) if quick else (15, 0.2)
    times = interleaved(contestants, rounds=rounds, seconds=seconds)
    mine = times.pop("")
    row["ms_per_iteration"] = mine.median
    say(f"  {mine.median:.4g} ms an iteration, {row['kernels']} kernels")
    none: dict[str, Any] = dict.fromkeys(("peer", "peer_ms_per_iteration", "ratio"))
    out = []
    for name, other in times.items():
        ratio = other.ratio(mine)
        say(f"  {name}: {other.median:.4g} ms, {ratio:.4g} times as long")
        out.append(row | {"peer": name, "peer_ms_per_iteration": other.median, "ratio": ratio})
    return out or [row | none]


def summary(rows: list[dict[str, Any]], chosen: list[BenchGame]) -> dict[str, dict[str, Any]]:
    """Returns, per peer, the geometric mean and the smallest ratio over the larger games."""
    larger = {g.name for g in chosen if g.larger}
    out: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(r["peer"] for r in rows if r["peer"]):
        ratios = [r["ratio"] for r in rows if r["peer"] == name and r["game"] in larger]
        if ratios:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            out[name] = {"games": len(ratios), "ratio": mean, "smallest": min(ratios)}
    return out


def _device(tree: js.PublicTree, solver: js.Solver) -> dict[str, Any]:
    """Returns what an iteration is on the device and the least that it could take."""
    body, least = loop_body(tree, solver), limits(tree, solver)
    return {
        "kernels": body.kernels,
        "scatters": body.scatters,
        "host_transfers": body.transfers,
        **{f"limit_{k}": v for k, v in least._asdict().items() if k != "kernels"},
        "floor_ms": least.floor_ms,
        "floor_reason": least.reason,
    }


def _available(
    wanted: Mapping[str, _peers.Peer], say: Callable[[str], None]
) -> dict[str, _peers.Peer]:
    for name, peer in wanted.items():
        if not peer.installed:
            say(f"{name} is not installed and is left out; to install it: {peer.install}")
    return {name: peer for name, peer in wanted.items() if peer.installed}


def _load() -> float | None:
    """Returns the machine's mean number of running processes of the last 15 minutes."""
    return os.getloadavg()[2] if hasattr(os, "getloadavg") else None
