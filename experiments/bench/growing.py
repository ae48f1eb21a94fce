"""Speed of growing-tree search on Leduc: `python experiments/bench/growing.py --out D`.

GT-CFR(s, 1) from the first decision of the game, a batch of searches with different keys: with a
value function that costs nothing, and with a small untrained network. Times are of whole batches
after compilation, the median of several; leaves are those that the value function was asked about.
Processor time is that of all threads. Rows with `per_update` .5 do two iterations of CFR for each
simulation, so that the difference to 1 is what iterations cost, and the rest simulations.
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

import games
import jaxsolve as js
from experiments._report import Report, device_name, slug
from jaxsolve import devices, nets
from jaxsolve.cli._setup import start_jax
from jaxsolve.hosts import processors
from jaxsolve.public import public_table
from jaxsolve.search import growing_search, gt_cfr

RESULTS = Path(__file__).parent / "results"
SOLVERS = {"paper": js.cfr_plus().simultaneous(), "alternating": js.cfr_plus(2.0)}
ABREAST = 16
"""Searches side by side on a CPU, where a larger batch leaves the cache; all of them elsewhere."""


def nothing(state: Any, beliefs: Any) -> Any:
    """Every leaf is worth 0."""
    return jnp.zeros_like(beliefs)


def measure(
    updates: str,
    value_name: str,
    simulations: int,
    batch: int,
    runs: int,
    per_update: float = 1.0,
) -> dict[str, Any]:
    """Returns the row of one kind of search.

    Args:
        updates: a key of `SOLVERS`.
        value_name: "zero", or "network" for an MLP of 3 x 128.
        simulations: s.
        batch: searches.
        runs: timed batches.
        per_update: c.
    """
    table = public_table(games.load("leduc"))
    value: Any = jax.tree_util.Partial(nothing)
    if value_name == "network":
        value = nets.make_net(table, nets.ValueNetwork(128, 3), jax.random.key(0))
    search = growing_search(table, SOLVERS[updates], simulations=simulations, per_update=per_update)
    ranges = jnp.ones((2, table.num_hands))
    abreast = min(batch, ABREAST) if jax.default_backend() == "cpu" else batch

    @jax.jit
    def many(search: Any, value: Any, keys: Any) -> Any:
        def one(key: Any) -> Any:
            found = gt_cfr(search, value, jnp.int32(0), ranges, key)
            return found.policy, found.growth.num_opened, found.asked

        search_all = devices.split(lambda keys: jax.lax.map(one, keys, batch_size=abreast))
        return search_all(keys)

    keys = jax.random.split(jax.random.key(1), batch)
    begin = time.perf_counter()
    with devices.meshed():
        many.lower(search, value, keys).compile()
        compiled = time.perf_counter() - begin
        jax.block_until_ready(many(search, value, keys))
    seconds, spent = [], []
    for k in range(runs):
        keys = jax.random.split(jax.random.key(2 + k), batch)
        begin, used = time.perf_counter(), time.process_time()
        with devices.meshed():
            _, opened, asked = jax.block_until_ready(many(search, value, keys))
        seconds.append(time.perf_counter() - begin)
        spent.append(time.process_time() - used)
    each = statistics.median(seconds)
    return {
        "updates": updates,
        "value": value_name,
        "simulations": simulations,
        "per_update": per_update,
        "batch": batch,
        "abreast": abreast,
        "threads": processors(),
        "devices": 1 if (mesh := devices.chosen()) is None else mesh.size,
        "device": device_name(),
        "compile_seconds": round(compiled, 2),
        "searches_per_second": batch / each,
        "searches_per_processor_second": batch / statistics.median(spent),
        "leaves_per_second": float(asked.sum()) / each,
        "opened": float(opened.mean()),
        "leaves_asked": float(asked.mean()),
    }


def main(argv: list[str] | None = None) -> Report:
    """Runs the benchmark and returns its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench_growing"))
    parser.add_argument("--quick", action="store_true", help="a batch of 64 only, fewer runs")
    parser.add_argument(
        "--split", action="store_true", help="only what iterations and simulations cost"
    )
    parser.add_argument(
        "--record", action="store_true", help="also write experiments/bench/results"
    )
    parser.add_argument(
        "--devices", type=int, default=1, help="share batches; of a CPU so many are made"
    )
    parser.add_argument("--batch", type=int, help="this one only")
    given = parser.parse_args(argv)
    start_jax(devices=str(given.devices))
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("bench_growing", given.quick, 0.0, rows)
    report.extra = {"load_average_at_start": os.getloadavg()[0]}
    batches = (64,) if given.quick else (1, 64, 1024)
    batches = batches if given.batch is None else (given.batch,)
    jobs: list[Any] = [
        (updates, value, 100, batch, 2 if given.quick else 5)
        for batch in batches
        for value in ("zero", "network")
        for updates in SOLVERS
    ]
    if given.split:
        jobs = [("paper", v, 100, 64, 3, c) for v in ("zero", "network") for c in (1.0, 0.5)]
    for job in jobs:
        rows.append(measure(*job))
        last = rows[-1]
        print(
            f"{last['updates']}, {last['value']}, batch {last['batch']}: "
            f"{last['searches_per_second']:.4g} searches a second, "
            f"{last['searches_per_processor_second']:.4g} of processor time, "
            f"c = {last['per_update']:g}, {last['leaves_asked']:.0f} leaves asked, "
            f"compiled in {last['compile_seconds']} s"
        )
        report.seconds = time.perf_counter() - begin
        report.save(given.out)
        jax.clear_caches()
    report.extra["load_average_at_end"] = os.getloadavg()[0]
    report.save(given.out)
    if given.record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "growing-" + slug(f"{jax.default_backend()} {device_name()}")
        stem += f"-{given.devices}-devices" if given.devices > 1 else ""
        (RESULTS / f"{stem}-jax{jax.__version__}.json").write_text(report.as_json(digits=5))
    return report


if __name__ == "__main__":
    main()
