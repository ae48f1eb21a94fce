"""Searches of Scotland Yard in London: `python experiments/bench/london.py --out D`.

SoG(s, 1) from the first decision with a network of 3 x 256 that has learned nothing, a batch of
searches with different keys: searches a second of processor time and by the clock, and the bytes
that one search keeps and that its program takes; the same with leaves worth nothing. With `--net
FILE` the network is another one, such as the study's, and with `--along N` searches start 0 to N
public states later, along random play, where fewer stations are possible. With `--beliefs N`,
beliefs over Mr X's station in N random games are compared with exact tracking.

Processor time is that of all threads: two cores that nothing else uses do at most two seconds of it
in a second.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import games
import jaxsolve as js
from experiments._report import Report, device_name, slug
from experiments.bench._london_beliefs import compared
from experiments.bench._london_positions import along
from experiments.bench.growing import nothing
from games.scotland_yard import ScotlandYard
from jaxsolve import devices, nets
from jaxsolve.public import hidden_piece_model
from jaxsolve.search import growing_search, gt_cfr

RESULTS = Path(__file__).parent / "results"
GROUP = 50
"""Games whose beliefs are compared at once."""


def measure(
    game: ScotlandYard,
    value_name: str,
    simulations: int,
    *,
    batch: int,
    abreast: int,
    tile: int = 16,
    per_update: float = 1.0,
    ask_every: int = 1,
    net: Path | None = None,
    along_by: int = 0,
    run: bool = True,
) -> dict[str, Any]:
    """Returns the row of one kind of search.

    Args:
        game: the map.
        value_name: "zero", or "network" for an MLP of 3 x 256.
        simulations: s.
        batch: searches.
        abreast: of them side by side, the others after these.
        tile: leaves that the network is asked about at once.
        per_update: c; at .5 there are two iterations of CFR for each simulation.
        ask_every: iterations from one question about all leaves to the next.
        net: file of another network.
        along_by: public states, from the first decision to where the last search starts.
        run: False for the memory alone.
    """
    model, root = hidden_piece_model(game)
    value: Any = jax.tree_util.Partial(nothing)
    if value_name == "network":
        fresh = nets.ValueNetwork(256, 3)
        value = nets.load_net(net) if net else nets.make_net(model, fresh, jax.random.key(0))
    search = growing_search(
        model,
        js.cfr_plus().simultaneous(),
        simulations=simulations,
        per_update=per_update,
        tile=tile,
        ask_every=ask_every,
    )
    ranges = jnp.ones((2, max(model.hands)))

    keys = jax.random.split(jax.random.key(1), batch)
    steps = jnp.linspace(0, along_by, batch).astype(jnp.int32)
    roots = jax.jit(jax.vmap(lambda key, n: along(model, root, key, n)))(keys, steps)

    def one(search: Any, value: Any, root: Any, key: Any) -> Any:
        return gt_cfr(search, value, root, ranges, key)

    @jax.jit
    def many(search: Any, value: Any, roots: Any, keys: Any) -> Any:
        def some(root: Any, key: Any) -> Any:
            found = one(search, value, root, key)
            return found.policy, found.growth.num_opened, found.growth.num_leaves, found.asked

        return devices.vmap(some, abreast)(roots, keys)

    kept = jax.eval_shape(one, search, value, root, keys[0])
    program = many.lower(search, value, roots, keys).compile()
    memory = program.memory_analysis()
    row = {
        "value": value_name if net is None or value_name == "zero" else net.stem,
        "simulations": simulations,
        "per_update": per_update,
        "ask_every": ask_every,
        "batch": batch,
        "abreast": abreast,
        "tile": tile,
        "along": along_by,
        "kept_megabytes": _bytes(kept) / 1e6,
        "program_megabytes": (memory.temp_size_in_bytes / abreast) / 1e6,
        "device": device_name(),
    }
    if not run:
        return row
    if jax.default_backend() != "cpu":
        # The first run also loads kernels.
        jax.block_until_ready(program(search, value, roots, keys))
    clock, spent = time.perf_counter(), time.process_time()
    _, opened, leaves, asked = jax.block_until_ready(program(search, value, roots, keys))
    clock, spent = time.perf_counter() - clock, time.process_time() - spent
    return row | {
        "searches_per_processor_second": batch / spent,
        "searches_per_second": batch / clock,
        "leaves_asked": float(asked.mean()),
        "leaves_at_the_end": float(leaves.mean()),
        "opened": float(opened.mean()),
    }


def _bytes(shapes: Any) -> int:
    return sum(math.prod(x.shape) * jnp.dtype(x.dtype).itemsize for x in jax.tree.leaves(shapes))


def main(argv: list[str] | None = None) -> Report:
    """Runs the benchmark and returns its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench_london"))
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--abreast", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--tile", type=int, nargs="+", default=[16])
    parser.add_argument("--memory", action="store_true", help="compile only, and say the memory")
    parser.add_argument("--per_update", type=float, nargs="+", default=[1.0])
    parser.add_argument("--ask_every", type=int, nargs="+", default=[1])
    parser.add_argument("--net", type=Path, help="file of a network, in place of one of 3 x 256")
    parser.add_argument("--along", type=int, default=0, help="public states to the last start")
    parser.add_argument("--beliefs", type=int, default=0, help="random games to compare beliefs in")
    parser.add_argument(
        "--record", action="store_true", help="also write experiments/bench/results"
    )
    given = parser.parse_args(argv)
    game = games.load("scotland_yard(board=london)")
    assert isinstance(game, ScotlandYard)
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("bench_london", False, 0.0, rows)
    report.extra = {"load_average_at_start": os.getloadavg()[0]}
    if given.beliefs:
        model, root = hidden_piece_model(game)
        counts = [min(GROUP, given.beliefs - k) for k in range(0, given.beliefs, GROUP)]
        found = sum(compared(game, model, root, n, seed) for seed, n in enumerate(counts))
        report.extra |= {"games": given.beliefs, "beliefs_equal": found, "beliefs_lost": 0}
        print(
            f"{found} beliefs of {given.beliefs} random games are those of exact tracking",
            flush=True,
        )
    options = given.abreast, given.tile, given.per_update, given.ask_every
    for abreast, tile, per_update, ask_every, value in itertools.product(
        *options, ("zero", "network")
    ):
        row = measure(
            game,
            value,
            given.simulations,
            batch=given.batch,
            abreast=abreast,
            tile=tile,
            per_update=per_update,
            ask_every=ask_every,
            net=given.net,
            along_by=given.along,
            run=not given.memory,
        )
        rows.append(row)
        print(", ".join(f"{k} {v}" for k, v in row.items()), flush=True)
        report.seconds = time.perf_counter() - begin
        report.save(given.out)
        jax.clear_caches()
    if given.record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "london-" + slug(f"{jax.default_backend()} {device_name()}")
        (RESULTS / f"{stem}-jax{jax.__version__}.json").write_text(report.as_json(digits=5))
    return report


if __name__ == "__main__":
    main()
