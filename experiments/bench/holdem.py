"""Speed on hold'em spots, native and in plain JAX: `python experiments/bench/holdem.py --out D`.

The four spots of the published table (an AVX Rust solver: rivers .064 and .343 ms on one
thread, turns 22.5 and 87.7 ms on one, 9.8 and 41.9 ms on two) and a batch of rivers. Times are of
iterations after compilation; the time to an exploitability is the sum of iterations up to there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxsolve as js
from experiments._report import Report, device_name, slug
from jaxsolve import holdem, native
from jaxsolve.solvers import init_state, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
RESULTS = Path(__file__).parent / "results"
TARGETS = (0.005, 0.001)
"""Shares of the pot."""

PEER_MS = {"river": 0.064, "river, all hands": 0.343, "turn": 22.5, "turn, all hands": 87.7}
"""The Rust solver on one thread, another machine (specification of the spots)."""


def spots(quick: bool) -> dict[str, holdem.Spot]:
    """Returns the spots by name."""
    out = {}
    for name in ("river",) if quick else ("river", "turn"):
        spot = holdem.Spot.load(EXAMPLES / f"{name}.toml")
        out[name] = spot
        out[f"{name}, all hands"] = holdem.Spot.parse(
            {**spot.as_dict(), "oop": "full", "ip": "full"}
        )
    return out


def measure(
    name: str, spot: holdem.Spot, operator: str, needed: dict[str, list[int | None]]
) -> dict[str, Any]:
    """Returns the row of a spot: time an iteration, and to each target.

    Args:
        name: of the spot.
        spot: the spot.
        operator: form of the payoffs.
        needed: iterations to each target by spot; found here where it is missing.
    """
    begin = time.perf_counter()
    tree = holdem.spot_tree(spot, operator=operator)
    build = time.perf_counter() - begin
    solver = js.dcfr()
    bare = tree.tree.replace(names=None)
    many = jnp.asarray(10_000, jnp.int32)
    begin = time.perf_counter()
    state = run(bare, solver, init_state(bare, solver), jnp.asarray(1, jnp.int32), many)
    jax.block_until_ready(state.iteration)
    compiled = time.perf_counter() - begin
    count, took = 1, 0.0
    # A call copies the state once, 600 MB on the turn with all hands: enough iterations to hide it.
    while took < 2.0 and count < 1 << 14:
        count *= 2
        state, took = _timed(bare, solver, state, count, many)
    times = []
    for _ in range(5):
        state, took = _timed(bare, solver, state, count, many)
        times.append(took / count)
    each = statistics.median(times)
    entries = sum(len(r.rows.action) for r in tree.rows) * len(tree.hands)
    row: dict[str, Any] = {
        "spot": name,
        "operator": operator,
        "hands": len(tree.hands),
        "decision_nodes": tree.num_decision_nodes,
        "threads": len(os.sched_getaffinity(0)),
        "device": device_name(),
        "build_seconds": round(build, 2),
        "compile_seconds": round(compiled, 2),
        "ms_per_iteration": 1e3 * each,
        "ns_per_entry": 1e9 * each / (2 * entries),
    }
    if name not in needed:
        needed[name] = _iterations_to(tree)
    for share, iterations in zip(TARGETS, needed[name], strict=True):
        seconds = None if iterations is None else iterations * each
        row[f"seconds_to_{100 * share:g}pct"] = seconds
    row["ms_rust_1_thread_elsewhere"] = PEER_MS[name]
    return row


def batch(spot: holdem.Spot, size: int, operator: str) -> dict[str, Any]:
    """Returns the row of rivers on different boards, solved in one call."""
    rng = np.random.default_rng(0)
    turn = spot.board[:4]
    rivers = rng.permutation([c for c in range(52) if c not in turn])[:size]
    base = {**spot.as_dict(), "oop": "full", "ip": "full"}
    many = [
        holdem.Spot.parse({**base, "board": holdem.cards_name((*turn, int(c)))})
        for c in np.resize(rivers, size)
    ]
    trees = [holdem.spot_tree(s, operator=operator, symmetric=False, num_hands=1081) for s in many]
    holdem.solve_spots(trees, iterations=2)
    seconds = []
    for iterations in (20, 120):
        begin = time.perf_counter()
        holdem.solve_spots(trees, iterations=iterations)
        seconds.append(time.perf_counter() - begin)
    each = (seconds[1] - seconds[0]) / 100
    entries = sum(len(r.rows.action) for r in trees[0].rows) * 1081 * size
    return {
        "spot": f"{size} rivers, all hands, one call",
        "operator": operator,
        "hands": 1081,
        "decision_nodes": size * trees[0].num_decision_nodes,
        "threads": len(os.sched_getaffinity(0)),
        "device": device_name(),
        "ms_per_iteration": 1e3 * each,
        "ms_per_river": 1e3 * each / size,
        "ns_per_entry": 1e9 * each / (2 * entries),
    }


def _timed(tree: Any, solver: Any, state: Any, count: int, many: Any) -> tuple[Any, float]:
    begin = time.perf_counter()
    state = run(tree, solver, state, jnp.asarray(count, jnp.int32), many)
    jax.block_until_ready(state.iteration)
    return state, time.perf_counter() - begin


def _iterations_to(tree: holdem.SpotTree) -> list[int | None]:
    """Returns the first measured iteration at or below each target."""
    result = js.solve(
        tree.tree,
        js.dcfr(),
        iterations=2_000,
        measure_every=10,
        target=TARGETS[-1] * tree.spot.pot,
        progress=False,
    )
    curve = result.curve
    found: list[int | None] = []
    for share in TARGETS:
        below = np.flatnonzero(np.asarray(curve.exploitability) <= share * tree.spot.pot)
        found.append(int(curve.iteration[below[0]]) if len(below) else None)
    return found


def main(argv: list[str] | None = None) -> Report:
    """Runs the benchmark and returns its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench_holdem"))
    parser.add_argument("--quick", action="store_true", help="rivers only, a batch of 16")
    parser.add_argument(
        "--record", action="store_true", help="also write experiments/bench/results"
    )
    given = parser.parse_args(argv)
    begin = time.perf_counter()
    plain = "prefix" if jax.default_backend() == "cpu" else "dense"
    operators = ["native"] * native.available() + [plain]
    rows: list[dict[str, Any]] = []
    report = Report("bench_holdem", given.quick, 0.0, rows)
    report.extra = {"load_average_at_start": os.getloadavg()[0]}
    needed: dict[str, list[int | None]] = {}
    jobs: list[tuple[Any, ...]] = [
        (measure, name, spot, operator, needed)
        for name, spot in spots(given.quick).items()
        for operator in operators
    ]
    river = holdem.Spot.load(EXAMPLES / "river.toml")
    jobs += [(batch, river, 16 if given.quick else 64, operator) for operator in operators]
    for job, *arguments in jobs:
        rows.append(job(*arguments))
        last = rows[-1]
        print(f"{last['spot']}, {last['operator']}: {last['ms_per_iteration']:.4g} ms an iteration")
        report.seconds = time.perf_counter() - begin
        report.save(given.out)
        jax.clear_caches()
    report.extra["load_average_at_end"] = os.getloadavg()[0]
    report.save(given.out)
    if given.record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "holdem-" + slug(f"{jax.default_backend()} {device_name()}")
        (RESULTS / f"{stem}-jax{jax.__version__}.json").write_text(report.as_json(digits=5))
    return report


if __name__ == "__main__":
    main()
