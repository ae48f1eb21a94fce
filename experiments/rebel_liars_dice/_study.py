"""Exploitability of a recursive search on liar's dice, whose values are learned.

Searches see two bids ahead; below, a network says what beliefs are worth. It learns from one of two
sources: searches that follow their own play (ReBeL), or random beliefs from the last bids upwards
(DeepStack). The policy is the search's own, all the way down: each search starts from the beliefs
that the one before came to, without a constraint, and the composed policy is measured exactly.

Two recursions are measured. In one, beliefs and play follow the average policies, as in ReBeL's
`exploitability` column. In the other both are those of a random iteration, which is what makes
ReBeL's play sound; many such policies are mixed.

Source: Brown, Bakhtin, Lerer & Gong 2020, "Combining deep reinforcement learning and search for
imperfect-information games" (ReBeL), and its released program: 1,024 iterations of CFR, depth 2.
Differs: the solver, the number of iterations in training, and the size of the runs, which are given
with each row.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from jaxsolve import learn, nets
from jaxsolve.search import (
    actions_limit,
    compose,
    continual,
    policy_of,
    public_game,
    subgames,
)

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""

SIZES = {
    # dice x faces: game, published exploitability (CFR, 1,024 iterations)
    "1x4": ("liars_dice(sides=4)", 0.017),
    "1x5": ("liars_dice(sides=5)", 0.015),
    "1x6": ("liars_dice", 0.024),
    "2x3": ("liars_dice(sides=3,dice=2)", 0.017),
}

SOURCES = ("rebel", "deepstack")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        sizes: rows of `SIZES`.
        seconds: of training, each size and source.
        steps: batches of the plan; a run that is over time stops before.
        batch: beliefs solved together.
        updates: of the network after each batch.
        solver_iterations: of each search in training.
        iterations: of each search that is measured.
        repeats: policies of random iterations that are mixed; 0 for none.
        width: of the network's two layers.
        epsilon: exploration in self-play.
    """

    sizes: tuple[str, ...] = ("1x4", "1x5", "1x6", "2x3")
    seconds: float = 3000
    steps: int = 3000
    batch: int = 64
    updates: int = 8
    solver_iterations: int = 64
    iterations: int = 1024
    repeats: int = 16
    width: int = 256
    epsilon: float = 0.25


QUICK = Settings(
    sizes=("1x4",),
    seconds=30,
    steps=40,
    batch=32,
    solver_iterations=32,
    iterations=64,
    repeats=0,
    width=64,
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    sources: Sequence[str] = SOURCES,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per size, source and way of recursing.

    Args:
        quick: the smallest size, for seconds.
        out: folder; training in it is resumed.
        settings: instead of those of the full or the quick run.
        sources: "rebel", "deepstack".
        record: also write the result of this device to `RESULTS`; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    curves: dict[str, Any] = {}
    report = Report("rebel_liars_dice", quick, 0.0, rows, {"curves": curves})
    for size in chosen.sizes:
        for source in sources:
            found, curve = learn_and_measure(size, source, chosen, out)
            rows += found
            curves[f"{size} {source}"] = curve
            for row in found:
                say(
                    f"{size} {source}, {row['policy']}: {row['exploitability']:.4f} after "
                    f"{row['train_seconds']:.0f} s (paper: {row['exploitability_paper']})"
                )
            report.seconds = time.perf_counter() - begin
            report.save(out)
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


def learn_and_measure(
    size: str, data: str, settings: Settings, out: Path
) -> tuple[list[dict[str, Any]], list[dict[str, float]]]:
    """Returns the rows of one size and source, and the curve of its training."""
    name, paper = SIZES[size]
    rules = games.load(name)
    game = public_game(rules)
    limit, solver = actions_limit(2), js.cfr_plus()
    depth_two = subgames(game, limit)
    module = nets.ValueNetwork(settings.width, 2, activation="gelu", layer_norm=True)
    net = nets.make_net(game, module, jax.random.key(0))
    same: dict[str, Any] = {"iterations": settings.solver_iterations, "batch": settings.batch}
    if data == "rebel":
        source = learn.self_play(game, depth_two, solver, epsilon=settings.epsilon, **same)
    else:
        stages = by_last_action(game)
        each = max(1, settings.steps // (2 * len(stages)))
        source = learn.random_beliefs(game, depth_two, solver, stages=stages, steps=each, **same)
    plan = learn.Plan(
        steps=settings.steps, updates=settings.updates, learning_rate=1e-3, buffer=1 << 15
    )
    done = learn.train(
        net,
        source,
        plan,
        out=out / f"training-{size}-{data}",
        resume=True,
        log_every=max(1, settings.steps // 50),
        time_limit=settings.seconds,
        progress=False,
    )
    tree = js.compile(rules, layout="hands")
    common = {
        "size": size,
        "data": data,
        "train_seconds": round(done.curve[-1]["seconds"], 1),
        "examples": int(done.curve[-1]["examples"]),
    }
    rows = []
    for sampled in (False, True):
        search = continual(
            game,
            limit,
            solver,
            iterations=settings.iterations,
            every=sampled,
            safe=False,
            sampled=sampled,
        )
        count = settings.repeats if sampled else 1
        if not count:
            continue
        policies = [
            policy_of(
                tree,
                game,
                compose(search, done.net, jax.random.key(k) if sampled else None),
            )
            for k in range(count)
        ]
        gap = float(js.exploitability(tree, js.mix_policies(tree, policies)))
        rows.append(
            {
                **common,
                "policy": f"random iteration, {count} mixed" if sampled else "average",
                "iterations": settings.iterations,
                "exploitability": gap,
                "exploitability_paper": paper,
            }
        )
    return rows, done.curve


def by_last_action(game: Any) -> list[list[int]]:
    """Returns the kinds of public states, those with the latest bids first."""
    last = game.action[game.representative]
    return [
        sorted(int(k) for k in np.flatnonzero(last == action))
        for action in sorted(set(last.tolist()), reverse=True)
    ]


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: a group of bars for each size."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    sizes = list(dict.fromkeys(r["size"] for r in rows))
    kinds = list(dict.fromkeys((r["data"], r["policy"]) for r in rows))
    width = 0.8 / (len(kinds) + 1)
    for k, (data, policy) in enumerate(kinds):
        mine = {r["size"]: r for r in rows if (r["data"], r["policy"]) == (data, policy)}
        x = [sizes.index(s) + k * width for s in mine]
        axes.bar(x, [r["exploitability"] for r in mine.values()], width, label=f"{data}, {policy}")
    paper = {r["size"]: r["exploitability_paper"] for r in rows}
    x = [sizes.index(s) + len(kinds) * width for s in paper]
    axes.bar(x, list(paper.values()), width, label="ReBeL, published", color="lightgray")
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(sizes))], sizes)
    axes.set(ylabel="exploitability", title="Liar's dice, searches two bids deep")
    axes.legend(fontsize=7)
    return figure
