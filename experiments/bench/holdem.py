"""Speed and memory on hold'em spots: `python experiments/bench/holdem.py --out D`.

In C++ with 32 and 16 bits and with one thread and all, and in plain JAX. Each row is a process of
its own, whose peak of memory it has. What a user waits for is all that `holdem.solve` does once its
modules are loaded: betting, tables, iterations, measuring. An AVX Rust solver's figures on the same
spots stand beside them, from other machines.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxsolve as js
from experiments._report import Report, cell, device_name, markdown, slug
from jaxsolve import holdem, native
from jaxsolve.hosts import processors
from jaxsolve.solvers import init_state, run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
RESULTS = Path(__file__).parent / "results"
TARGETS = (0.005, 0.001)
"""Shares of the pot."""

RUST_MS = {
    "river": {1: 0.064},
    "river, all hands": {1: 0.343},
    "turn": {1: 22.5, 2: 9.8},
    "turn, all hands": {1: 87.7, 2: 41.9},
    "flop E": {2: 237.0},
}
"""An iteration of the Rust solver by threads, on other machines."""

QUIET = 0.3
"""Load of other work below which a row counts as quiet."""


def spots(quick: bool) -> dict[str, holdem.Spot]:
    """Returns the spots by name."""
    out = {}
    for name in ("river",) if quick else ("river", "turn"):
        spot = holdem.Spot.load(EXAMPLES / f"{name}.toml")
        out[name] = spot
        everything = {**spot.as_dict(), "oop": "full", "ip": "full"}
        out[f"{name}, all hands"] = holdem.Spot.parse(everything)
    if not quick:
        out["flop E"] = holdem.Spot.load(EXAMPLES / "flop.toml")
    return out


def measure(name: str, form: str, threads: int, quick: bool) -> dict[str, Any]:
    """Returns the row of a spot: time an iteration, and what a user waits for each target.

    Args:
        name: of the spot.
        form: "32 bits", "16 bits", or a form of the payoffs in JAX.
        threads: of C++.
        quick: a target of 5% of the pot.
    """
    spot = spots(quick)[name]
    begin = time.perf_counter()
    bits = int(form.split()[0]) if form.endswith("bits") else None
    tree = holdem.spot_tree(spot, operator=None if bits else form)
    row: dict[str, Any] = {
        "spot": name,
        "form": form,
        "threads": threads,
        "hands": len(tree.hands),
        "decision_nodes": tree.num_decision_nodes,
        "device": device_name(),
    }
    if bits is None:
        each = _each_in_jax(tree)
        row["build_seconds"] = tree.tree.info.build_seconds
    else:
        engine = holdem.spot_engine(tree, js.dcfr(), bits=bits, threads=threads)
        assert engine is not None
        state = engine.prepare(engine.fresh(), 10_000)
        row["build_seconds"] = time.perf_counter() - begin
        row["state_mib"] = sum(x.nbytes for x in state.arrays) / 2**20
        each = _each(lambda n: engine.advance(state, n, 10_000))
        row["measuring_ms"] = 1e3 * _each(lambda n: [engine.measure(state) for _ in range(n)])
        del state
    row["ms_per_iteration"] = 1e3 * each
    row |= dict.fromkeys(f"seconds_to_{100 * share:g}pct" for share in TARGETS)
    if bits is not None:
        targets = TARGETS[:1] if len(spot.board) == 3 else TARGETS
        for share in (0.05,) if quick else targets:
            begin = time.perf_counter()
            found = holdem.solve(
                holdem.spot_tree(spot), target=share * spot.pot, bits=bits, threads=threads,
                progress=False,
            )  # fmt: skip
            waited = time.perf_counter() - begin
            row[f"seconds_to_{100 * share:g}pct"] = waited if found.status == "target" else None
            row["iterations"] = found.iterations
    row["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    row["ms_rust_elsewhere"] = RUST_MS[name].get(threads)
    return row


def batch(size: int, threads: int) -> dict[str, Any]:
    """Returns the row of rivers on different boards, solved in one call."""
    spot = holdem.Spot.load(EXAMPLES / "river.toml")
    rng = np.random.default_rng(0)
    turn = spot.board[:4]
    rivers = rng.permutation([c for c in range(52) if c not in turn])[:size]
    base = {**spot.as_dict(), "oop": "full", "ip": "full"}
    trees = [
        holdem.spot_tree(holdem.Spot.parse({**base, "board": holdem.cards_name((*turn, int(c)))}))
        for c in np.resize(rivers, size)
    ]
    holdem.solve_spots(trees, iterations=2, threads=threads)
    seconds = []
    for iterations in (100, 600):
        begin = time.perf_counter()
        holdem.solve_spots(trees, iterations=iterations, measure_every=iterations, threads=threads)
        seconds.append(time.perf_counter() - begin)
    each = (seconds[1] - seconds[0]) / 500
    return {
        "spot": f"{size} rivers, all hands, one call",
        "form": "32 bits",
        "threads": threads,
        "hands": 1081,
        "decision_nodes": size * trees[0].num_decision_nodes,
        "device": device_name(),
        "ms_per_iteration": 1e3 * each,
        "ms_per_river": 1e3 * each / size,
    }


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns a line for each spot and form; of two numbers of threads, both in one cell."""
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        lines.setdefault((row["spot"], row["form"]), []).append(row)

    def joined(of: list[dict[str, Any]], key: str) -> str:
        found = [cell(row[key]) for row in of if row.get(key) is not None]
        return " / ".join(dict.fromkeys(found))

    return [
        {
            "spot": spot,
            "form": "JAX" if form in holdem.OPERATORS else form,
            "threads": joined(of, "threads"),
            "hands": of[0]["hands"],
            "state, MiB": joined(of[:1], "state_mib"),
            "peak, MiB": joined(of[-1:], "peak_mib"),
            "iteration, ms": joined(of, "ms_per_iteration"),
            "Rust elsewhere, ms": joined(of, "ms_rust_elsewhere") if "bits" in form else "",
            "measuring, ms": joined(of, "measuring_ms"),
            "wait to 0.5%, s": joined(of, "seconds_to_0.5pct"),
            "to 0.1%, s": joined(of, "seconds_to_0.1pct"),
        }
        for (spot, form), of in lines.items()
    ]


def _each(call: Any) -> float:
    """Returns the median seconds of one of many, after enough to take .3 s a call."""
    count, took = 1, 0.0
    while took < 0.3 and count < 1 << 14:
        count *= 2
        begin = time.perf_counter()
        call(count)
        took = time.perf_counter() - begin
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        call(count)
        times.append((time.perf_counter() - begin) / count)
    return statistics.median(times)


def _each_in_jax(tree: holdem.SpotTree) -> float:
    bare, solver = tree.tree.replace(names=None), js.dcfr()
    many = jnp.asarray(10_000, jnp.int32)
    state = [init_state(bare, solver)]

    def iterate(count: int) -> None:
        state[0] = run(bare, solver, state[0], jnp.asarray(count, jnp.int32), many)
        jax.block_until_ready(state[0].iteration)

    iterate(1)
    return _each(iterate)


def _in_process(job: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of a job, done by a process of its own."""
    before = os.times()
    start = time.perf_counter()
    command = [sys.executable, __file__, "--job", json.dumps(job)]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    row: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    after = os.times()
    mine = after.children_user + after.children_system
    mine -= before.children_user + before.children_system
    row["seconds"] = time.perf_counter() - start
    row["processor_seconds"] = mine
    return row


def jobs(quick: bool) -> list[dict[str, Any]]:
    """Returns what to measure."""
    most = processors()
    counts = sorted({1, most})
    out: list[dict[str, Any]] = []
    plain = "prefix" if jax.default_backend() == "cpu" else "dense"
    for name, spot in spots(quick).items():
        if native.host_library("spots") is not None:
            for bits in ("32 bits", "16 bits"):
                some = [1] if len(spot.board) == 5 else counts
                out += [{"name": name, "form": bits, "threads": n, "quick": quick} for n in some]
        if name != "flop E":
            out.append({"name": name, "form": plain, "threads": most, "quick": quick})
    if native.host_library("spots") is not None:
        out += [{"size": 16 if quick else 64, "threads": n} for n in counts]
    return out


def main(argv: list[str] | None = None) -> Report | None:
    """Runs the benchmark and returns its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench_holdem"))
    parser.add_argument("--quick", action="store_true", help="rivers only, a batch of 16")
    parser.add_argument(
        "--record", action="store_true", help="also write experiments/bench/results"
    )
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.job is not None:
        print(json.dumps((batch if "size" in given.job else measure)(**given.job)))
        return None
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("bench_holdem", given.quick, 0.0, rows)
    report.extra = {"load_average_at_start": os.getloadavg()[0]}
    report.extra["quiet"] = os.getloadavg()[0] < QUIET
    for job in jobs(given.quick):
        rows.append(_in_process(job))
        last = rows[-1]
        print(
            f"{last['spot']}, {last['form']}, {last['threads']} threads: "
            f"{last['ms_per_iteration']:.4g} ms an iteration"
        )
        report.seconds = time.perf_counter() - begin
        report.shown = table(rows)
        report.save(given.out)
    print(markdown(report.table))
    report.extra["load_average_at_end"] = os.getloadavg()[0]
    report.save(given.out)
    if given.record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "holdem-" + slug(f"{jax.default_backend()} {device_name()}")
        (RESULTS / f"{stem}-jax{jax.__version__}.json").write_text(report.as_json(digits=5))
    return report


if __name__ == "__main__":
    main()
