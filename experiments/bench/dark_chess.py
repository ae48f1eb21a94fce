"""Speed of dark chess, beside OpenSpiel in the same run: `python experiments/bench/dark_chess.py`.

Positions are those of random games. Rates are per second of this process's processor time with one
thread, which other work on the machine disturbs little; those of the clock stand beside them.
`--belief-games N` also follows the exact infoset along N random games with several caps, to see
where the true position is lost; it goes on from the games that `--out` has.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import games
from experiments._report import Report, cell, device_name, slug
from experiments.bench._belief import followed, make_rules, speed
from jaxsolve.files import write_atomic

RESULTS = Path(__file__).parent / "results"
CAPS = (100, 1_000, 65_536)
PLIES = 60


def timed(call: Callable[[], Any], runs: int) -> tuple[float, float]:
    """Returns the medians of a call's processor time and of its time by the clock, in seconds."""
    cpu, wall = [], []
    for _ in range(runs):
        began, begun = time.perf_counter(), time.process_time()
        call()
        cpu.append(time.process_time() - begun)
        wall.append(time.perf_counter() - began)
    return statistics.median(cpu), statistics.median(wall)


def random_states(game: games.DarkChess, batch: int, plies: int) -> Any:
    """Returns positions after random moves, and a move of each; games that end stay as they are."""

    def play(state: Any, key: Any) -> Any:
        def ply(k: Any, state: Any) -> Any:
            legal = game.legal(state)
            drawn = jax.random.uniform(jax.random.fold_in(key, k), legal.shape)
            after = game.step(state, jnp.argmax(jnp.where(legal, drawn, -1)))
            over = game.actor(after) < 0
            return jax.tree.map(lambda x, y: jnp.where(over, x, y), state, after)

        state = jax.lax.fori_loop(0, plies, ply, state)
        return state, jnp.argmax(game.legal(state))

    keys = jax.random.split(jax.random.key(0), batch)
    return jax.jit(jax.vmap(lambda key: play(game.init(), key)))(keys)


def ours(batch: int, runs: int) -> list[dict[str, Any]]:
    """Returns a row for each thing that is done to a batch of positions."""
    game = games.DarkChess().positions
    states, actions = random_states(game, batch, 30)

    def moves(state: Any, action: Any) -> Any:
        words = game.move_words(state)
        return words, jax.lax.population_count(words).sum()

    work: dict[str, Callable[[Any, Any], Any]] = {
        "moves": moves,
        "mask": lambda state, action: game.legal(state),
        "step": game.step,
        "views": lambda state, action: game.observe(state),
    }
    rows = []
    for what, function in work.items():
        program = jax.jit(jax.vmap(function)).lower(states, actions).compile()

        def call(program: Any = program, repeats: int = 1) -> None:
            for _ in range(repeats):
                jax.block_until_ready(program(states, actions))

        call()
        repeats = max(1, round(0.1 / max(timed(call, 3)[0], 1e-5)))
        cpu, wall = timed(functools.partial(call, repeats=repeats), runs)
        each = batch * repeats
        rows.append(
            {
                "what": what,
                "program": "jaxsolve",
                "batch": batch,
                "positions_per_core_second": each / cpu,
                "positions_per_second": each / wall,
            }
        )
    return rows


def openspiel(count: int, runs: int) -> list[dict[str, Any]]:
    """Returns OpenSpiel's rows, from Python: moves of fresh positions, steps, both views.

    A state of OpenSpiel remembers its moves once they were asked for: fresh ones, clones of parents
    with a move made, are there before the time begins.
    """
    import pyspiel

    rng, states = random.Random(0), []
    while len(states) < count:
        state = pyspiel.load_game("dark_chess").new_initial_state()
        for _ in range(30):
            if state.is_terminal():
                break
            states.append((state.clone(), rng.choice(state.legal_actions())))
            state.apply_action(states[-1][1])
    states = states[:count]

    def step() -> list[Any]:
        return [state.child(action) for state, action in states]

    def of_fresh(look: Callable[[Any], Any]) -> Callable[[], Any]:
        fresh = iter([step() for _ in range(runs)])

        def call() -> None:
            for state in next(fresh):
                look(state)

        return call

    def views(state: Any) -> None:
        state.observation_string(0)
        state.observation_string(1)

    out = []
    for what, call in (
        ("moves", of_fresh(lambda state: state.legal_actions())),
        ("step", step),
        ("views", of_fresh(views)),
    ):
        cpu, wall = timed(call, runs)
        out.append(
            {
                "what": what,
                "program": "OpenSpiel",
                "batch": 1,
                "positions_per_core_second": count / cpu,
                "positions_per_second": count / wall,
            }
        )
    return out


def caps(out: Path, count: int) -> list[dict[str, Any]]:
    """Returns a row for each cap: what became of the true position along random games.

    Each game's line is appended to OUT/belief.jsonl, from which a later call goes on.
    """
    rules = make_rules(games.DarkChess().positions)
    file = out / "belief.jsonl"
    lines = [json.loads(x) for x in file.read_text().splitlines()] if file.exists() else []
    known = {(line["game"], line["cap"]) for line in lines}
    for seed in range(count):
        for cap in CAPS:
            if (seed, cap) not in known:
                lines.append(followed(rules, seed, PLIES, cap))
                text = "".join(json.dumps(line) + "\n" for line in lines)
                write_atomic(file, text.encode())
    rows = []
    for cap in CAPS:
        mine = [line for line in lines if line["cap"] == cap and line["game"] < count]
        plies = sum(line["plies"] for line in mine)
        exact = sum(line["exact_plies"] for line in mine)
        kept = sum(line["plies_with_true_position"] for line in mine)
        rows.append(
            {
                "what": "cap",
                "cap": cap,
                "games": len(mine),
                "plies": plies,
                "games_exact_throughout": sum(x["exact_plies"] == x["plies"] for x in mine),
                "exact_share": exact / plies,
                "true_position_share": kept / plies,
                "true_position_share_when_inexact": (
                    (kept - exact) / (plies - exact) if plies > exact else None
                ),
                "games_with_nothing_left": sum(x["nothing_left"] for x in mine),
                "most_positions": max(x["most_positions"] for x in mine),
            }
        )
    return rows


def main(argv: list[str] | None = None) -> Report:
    """Runs the benchmark and returns its report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench_dark_chess"))
    parser.add_argument("--quick", action="store_true", help="a batch of 64, a few plies of belief")
    parser.add_argument("--belief-games", type=int, default=0, metavar="N")
    parser.add_argument("--record", action="store_true", help="write experiments/bench/results")
    given = parser.parse_args(argv)
    given.out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("bench_dark_chess", given.quick, 0.0, rows)
    report.extra = {"device": device_name(), "load_average_at_start": os.getloadavg()[0]}
    runs = 3 if given.quick else 9
    batches = (64,) if given.quick else (64, 512, 4096)
    jobs: list[Callable[[], list[dict[str, Any]]]] = [
        *(functools.partial(ours, batch, runs) for batch in batches),
        lambda: openspiel(100 if given.quick else 3_000, runs),
        lambda: [_belief(given.quick)],
    ]
    if given.belief_games:
        jobs.append(lambda: caps(given.out, given.belief_games))
    for job in jobs:
        found = job()
        rows.extend(found)
        for row in found:
            print("; ".join(f"{k} {cell(v)}" for k, v in row.items()), flush=True)
        report.seconds = time.perf_counter() - begin
        report.save(given.out)
    report.extra["load_average_at_end"] = os.getloadavg()[0]
    report.save(given.out)
    if given.record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stem = "dark_chess-" + slug(f"{jax.default_backend()} {device_name()}")
        (RESULTS / f"{stem}-jax{jax.__version__}.json").write_text(report.as_json(digits=5))
    return report


def _belief(quick: bool) -> dict[str, Any]:
    if quick:
        rules = make_rules(games.load("dark_chess(fen=3k/2pp/PP2/K3_w)").positions)
        return speed(rules, [0], 8, 4_096, least=1)
    return speed(make_rules(games.DarkChess().positions), [4, 6], 44, 262_144)


if __name__ == "__main__":
    main()
