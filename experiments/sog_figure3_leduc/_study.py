"""Exploitability of continual re-solving with growing trees on Leduc, by number of simulations.

GT-CFR(s, 1) at every decision, under the gadget, composed into one policy and measured exactly,
with the paper's updates (simultaneous, linear averaging) and with alternating ones (quadratic
averaging), which ask the network twice in an iteration. Unit: mbb/h, thousandths of a chip.

Source: Schmid et al. 2023 (Student of Games), figure 3; its values are read off the plot, within
about 1 %: after 150,000 training steps, and before the first. Differs in training: the network
learns from solved random beliefs, the second round first, and not from self-play.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report
from jaxsolve import learn, nets
from jaxsolve.search import (
    PublicGame,
    compose_growing,
    growing_resolver,
    public_game,
    public_table,
    respond,
    round_limit,
    subgames,
)

TRAINED = {33: 202.0, 100: 109.0, 300: 61.0, 1000: 24.0}
"""SoG(s, 1) after 150,000 steps, mbb/h."""

UNTRAINED = {33: 854.0, 100: 774.0, 300: 540.0, 1000: 145.0}
"""SoG(s, 1) before training, mbb/h."""

UPDATES = {"paper": js.cfr_plus().simultaneous(), "alternating": js.cfr_plus(2.0)}


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        simulations: s of each row.
        seeds: searches of each row.
        steps: batches of training data, half of them of the second round alone.
        batch: beliefs solved together.
        solver_iterations: of each.
        width: of the network.
        updates: keys of `UPDATES`.
        game: another variant of Leduc, for trying things out.
    """

    simulations: tuple[int, ...] = (33, 100, 300, 1000)
    seeds: int = 5
    steps: int = 4000
    batch: int = 128
    solver_iterations: int = 100
    width: int = 192
    updates: tuple[str, ...] = ("paper", "alternating")
    game: str = "leduc"


QUICK = Settings(
    simulations=(33,),
    seeds=1,
    steps=40,
    batch=32,
    solver_iterations=30,
    width=64,
    updates=("paper",),
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per network, updates and number of simulations.

    Args:
        quick: one number of simulations, one seed and a network that has learned for seconds.
        out: folder; training in it is resumed.
        settings: instead of those of the full or the quick run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    chosen = settings or (QUICK if quick else Settings())
    rules = games.load(chosen.game)
    game = public_game(rules)
    table = public_table(game)
    fresh = nets.make_net(game, nets.ValueNetwork(chosen.width, 3), jax.random.key(0))
    trained = _train(game, fresh, chosen, out)
    seconds = round(float(trained.curve[-1]["seconds"]), 1)
    say(f"trained {seconds} s")
    rows: list[dict[str, Any]] = []
    report = Report("sog_figure3_leduc", quick, 0.0, rows, {"curve": trained.curve})
    nets_ = {"untrained": (fresh, 0.0, UNTRAINED), "trained": (trained.net, seconds, TRAINED)}
    for updates in chosen.updates:
        for simulations in chosen.simulations:
            resolver = growing_resolver(table, UPDATES[updates], simulations=simulations)
            for label, (net, spent, paper) in nets_.items():
                gaps = [
                    1000 * respond(table, policy).exploitability
                    for policy in (
                        compose_growing(resolver, net, jax.random.key(k))
                        for k in range(chosen.seeds)
                    )
                ]
                rows.append(
                    {
                        "network": label,
                        "train_seconds": spent,
                        "updates": updates,
                        "simulations": simulations,
                        "seeds": chosen.seeds,
                        "mbb": float(np.mean(gaps)),
                        "least": min(gaps),
                        "most": max(gaps),
                        "mbb_paper": paper.get(simulations),
                    }
                )
                say(f"{label}, {updates}, s = {simulations}: {np.mean(gaps):.0f} mbb/h")
                report.seconds = time.perf_counter() - begin
                report.save(out)
    report.save(out, figure=_figure(rows))
    return report


def _train(game: PublicGame, net: nets.Net, settings: Settings, out: Path) -> learn.Trained:
    """Trains on solved random beliefs of the second round, then of both."""
    second = set(game.kinds_after_chance())
    later = sorted(k for k in range(game.num_kinds) if k in second or _is_below(game, k, second))
    first = [k for k in range(game.num_kinds) if k not in later]
    source = learn.random_beliefs(
        game,
        subgames(game, round_limit),  # below the first round, what the network says
        js.pcfr_plus(),
        stages=[later, first],
        steps=settings.steps // 2,
        iterations=settings.solver_iterations,
        batch=settings.batch,
    )
    plan = learn.Plan(steps=settings.steps, updates=8)
    return learn.train(
        net, source, plan, out=out / "training", resume=True, log_every=20, progress=False
    )


def _is_below(game: PublicGame, kind: int, second: set[int]) -> bool:
    """Whether a kind lies in the second round."""
    node = int(game.representative[kind])
    while game.parent[node] >= 0:
        node = int(game.parent[node])
        if game.kind[node] in second:
            return True
    return False


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: exploitability by simulations, a line for each network and its updates."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 3.8), layout="constrained")
    axes = figure.subplots()
    for label, updates in dict.fromkeys((r["network"], r["updates"]) for r in rows):
        mine = [r for r in rows if (r["network"], r["updates"]) == (label, updates)]
        x = [r["simulations"] for r in mine]
        axes.plot(x, [r["mbb"] for r in mine], "o-", label=f"{label}, {updates}")
    for label, paper in (("trained", TRAINED), ("untrained", UNTRAINED)):
        axes.plot(list(paper), list(paper.values()), "--", color="gray", label=f"paper, {label}")
    axes.set(xscale="log", yscale="log", xlabel="simulations", ylabel="exploitability, mbb/h")
    axes.legend(fontsize=7)
    return figure
