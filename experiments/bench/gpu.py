"""All that a machine with a GPU can say in nine minutes: `python experiments/bench/gpu.py`.

Milliseconds an iteration of the CFR+ loop beside the floors that `jaxsolve devices` counted for an
H100 and beside OpenSpiel's on one thread of the CPU (where it is installed), batches of Kuhn to
65,536, steps of sound self-play, batches of rivers to 1,024, positions of dark chess, searches of
London. Each part has a time budget; what there was no time for is a row that says so, and every row
is written as soon as it is known.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax

import games
import jaxsolve as js

if __name__ == "__main__":  # as a script, this folder is on the path and the clone is not
    sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from experiments import Report
from experiments.bench import dark_chess, london
from experiments.bench._games import GAMES
from experiments.bench._peers import PEERS
from experiments.bench._timing import interleaved, ours

ROOT = Path(__file__).parent.parent.parent
Row = dict[str, Any]

SECONDS = {
    "loops": 70,
    "openspiel": 20,
    "batches": 50,
    "self-play": 60,
    "rivers": 60,
    "positions": 30,
    "searches": 110,
}
"""Budget of each part: 400 of 540 s. A part ends once its budget is spent, between two rows; the
longest rows on an H200, a compilation included, took some 30 s."""

PLANS: dict[bool, dict[str, Any]] = {
    False: {
        "loops": ["kuhn", "leduc", "liars_dice(sides=5)", "goofspiel(cards=5,order=descending)"],
        "turn": 1.0,
        "batches": [256, 1024, 4096, 16_384, 65_536],
        "iterations": 100,
        "episodes": [64, 256, 1024],
        "rivers": [1, 16, 64, 256, 1024],
        "positions": [4096, 65_536],
        "map": "scotland_yard(board=london)",
        "searches": [(50, 64), (50, 1024), (400, 64), (400, 256)],
    },
    True: {
        "loops": ["kuhn"],
        "turn": 0.01,
        "batches": [4],
        "iterations": 2,
        "episodes": [2],
        "rivers": [2],
        "positions": [2],
        "map": "scotland_yard",
        "searches": [(2, 2)],
    },
}
"""Sizes, in full and tiny."""


def main(quick: bool, out: Path, seconds: dict[str, float] | None = None) -> Report:
    """Runs all parts and writes result.json, a table and nothing else.

    Args:
        quick: tiny sizes.
        out: a folder.
        seconds: budget of each part, in place of `SECONDS`.
    """
    budget = {**SECONDS, **(seconds or {})}
    report = Report("gpu", quick, 0.0, [])
    start = time.perf_counter()
    for part, rows in PARTS.items():
        end = time.perf_counter() + budget[part]
        steps = rows(PLANS[quick])
        while True:
            if time.perf_counter() >= end:
                report.rows.append({"part": part, "skipped": f"after {budget[part]:g} s"})
                break
            try:
                row = next(steps)
            except StopIteration:
                break
            except (ImportError, MemoryError, jax.errors.JaxRuntimeError) as error:
                report.rows.append({"part": part, "skipped": str(error).splitlines()[0][:200]})
                break
            report.rows.append({"part": part, **row})
            report.seconds = time.perf_counter() - start
            report.save(out)
    report.seconds = time.perf_counter() - start
    report.save(out)
    return report


def loops(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields ms an iteration of each game, beside its floor on an H100."""
    floors = _floors()
    for name in plan["loops"]:
        tree = js.compile(games.load(name))
        times = interleaved({"ours": ours(tree, js.cfr_plus())}, rounds=3, seconds=plan["turn"])
        key = "CFR+, " + name.replace(",order=descending", "")
        yield {"size": name, "ms": times["ours"].median, **floors.get(key, {})}


def _floors() -> dict[str, Row]:
    """Returns what `jaxsolve devices --record` left of programs on an H100, by program."""
    found: dict[str, Row] = {}
    for path in sorted((ROOT / "experiments" / "devices" / "results").glob("*.json")):
        for row in json.loads(path.read_text())["rows"]:
            if row["device"] == "h100":
                keys = ("kernels", "launches_ms", "bytes_ms", "floor_ms")
                found[row["program"]] = {f"h100_{k}": row[k] for k in keys}
    return found


def openspiel(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields ms an iteration of OpenSpiel's CFR+ on the CPU."""
    peer = PEERS["openspiel"]
    for game in GAMES:
        if game.name in plan["loops"]:
            run = peer.start(game.openspiel)
            times = interleaved({"peer": run}, rounds=3, seconds=plan["turn"])
            yield {"size": game.name, "ms": times["peer"].median, "device": "CPU, 1 thread"}


def batches(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields ms an iteration of batches of Kuhn under DCFR of other settings."""
    tree = js.compile(games.load("kuhn"))
    for size in plan["batches"]:
        solvers = [js.dcfr(alpha=1 + k / size) for k in range(size)]

        def run(solvers: list[js.Solver] = solvers) -> None:
            js.solve_batch(tree, solvers, iterations=plan["iterations"])

        ms = 1e3 * _second_call(run) / plan["iterations"]
        yield {"size": f"{size} Kuhns", "ms": ms, "members_per_second": 1e3 * size / ms}


def self_play(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields steps a second of sound self-play on Leduc, with updates of a network."""
    from jaxsolve import learn, nets
    from jaxsolve.public import public_table
    from jaxsolve.search import growing_resolver

    table = public_table(games.load("kuhn" if plan["episodes"] == [2] else "leduc"))
    net = nets.make_net(table, nets.ValueNetwork(64, 3), jax.random.key(0))
    resolver = growing_resolver(table, js.cfr_plus(2.0), simulations=10)
    for episodes in plan["episodes"]:
        source = learn.sound_self_play(resolver, episodes=episodes, solvers=episodes, fill=True)
        settings = learn.Plan(steps=2, updates=4, minibatch=8 * episodes, buffer=64 * episodes)
        # The curve's seconds are those of a compiled program.
        curve = learn.train(net, source, settings, log_every=1, progress=False).curve
        spent = curve[1]["seconds"] - curve[0]["seconds"]
        yield {
            "size": f"{episodes} episodes",
            "ms": 1e3 * spent,
            "steps_per_second": 1 / spent,
            "searches_per_second": source.batch / spent,
        }


def rivers(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields ms an iteration of batches of rivers with all hands, in the JAX form."""
    from jaxsolve import holdem

    data = holdem.Spot.load(ROOT / "examples" / "river.toml").as_dict()
    everybody = {} if plan["rivers"] == [2] else {"oop": "full", "ip": "full"}
    form = "dense" if jax.default_backend() == "cpu" else "dense_bf16"
    tree = holdem.spot_tree(holdem.Spot.parse({**data, **everybody}), operator=form).tree
    for size in plan["rivers"]:
        trees = [
            tree.replace(leaves=tuple(leaf.with_scale(1 + k / size) for leaf in tree.leaves))
            for k in range(size)
        ]

        def run(trees: list[js.PublicTree] = trees) -> None:
            js.solve_batch(trees, js.dcfr(), iterations=plan["iterations"])

        ms = 1e3 * _second_call(run) / plan["iterations"]
        yield {"size": f"{size} rivers", "ms": ms, "members_per_second": 1e3 * size / ms}


def positions(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields moves, masks, steps and views a second of batches of positions of dark chess."""
    for size in plan["positions"]:
        for row in dark_chess.ours(size, runs=3):
            rate = row["positions_per_second"]
            yield {
                "size": f"{size} positions, {row['what']}",
                "ms": 1e3 * size / rate,
                "members_per_second": rate,
            }


def searches(plan: dict[str, Any]) -> Iterator[Row]:
    """Yields searches of London by SoG(s, 1), leaves worth nothing and with a network."""
    game = games.load(plan["map"])
    assert isinstance(game, games.ScotlandYard)
    for simulations, size in plan["searches"]:
        for value in ("zero", "network"):
            row = london.measure(game, value, simulations, batch=size, abreast=size)
            rate = row["searches_per_second"]
            yield {
                "size": f"{size} searches, s {simulations}, {value}",
                "ms": 1e3 * size / rate,
                "searches_per_second": rate,
                "program_megabytes": row["program_megabytes"],
            }
        jax.clear_caches()


def _second_call(run: Callable[[], None]) -> float:
    """Returns seconds of a call that compiles nothing any more."""
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


PARTS: dict[str, Callable[[dict[str, Any]], Iterator[Row]]] = {
    "loops": loops,
    "openspiel": openspiel,
    "batches": batches,
    "self-play": self_play,
    "rivers": rivers,
    "positions": positions,
    "searches": searches,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--out", type=Path, default=Path("runs/gpu"), help="folder")
    given = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        main(given.quick, given.out)
    print((given.out / "gpu.md").read_text())
