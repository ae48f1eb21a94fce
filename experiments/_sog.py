"""Figure 3 of Student of Games: exploitability of search while its network trains by self-play.

Three recipes. "paper" is the comparison at equal rules: the paper's updates (simultaneous, linear
averaging), SoG(100, 1) while training, measured with searches of each seat at every public state.
"ours" has alternating updates and averages of weight t ** 4, which ask the network twice in an
iteration, and two things that the paper does not have: from s = 50 on simulations skip what is
solved, and networks are told the exact value of uniform play, which a walk of the whole game finds.
"ours_plain" is "ours" without those two. In both, solvers take a random belief where there is no
query, and each seat re-solves at its own decisions only. The paper does not say how its
networks for these small games were trained; the network and the optimiser are ours in all.

GT-CFR(s, 1) under the gadget, composed into one policy per seed and measured exactly. Rows say in
`searches` where searches were made; the last network of "paper" is measured both ways. Source:
Schmid et al. 2023, figure 3; values are read off the plot, within about 1 %.
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
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table
from jaxsolve.search import GrowingEngine, Resolver, growing_resolver, resolve_game

COLUMNS = (
    "settings",
    "searches",
    "sims",
    "c",
    "train_steps",
    "train_seconds",
    "exploitability_mean",
    "exploitability_min",
    "exploitability_max",
    "seeds",
    "exploitability_paper",
)

EVERY, OWN = "every public state", "own decisions"
"""Where searches are made; see `resolve_game`."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to train and search.

    Attributes:
        name: in the rows.
        solver: updates of the search.
        simulations: s while training.
        steps: of training at which networks are measured; multiples of `Settings.log_every`.
        skip_solved: simulations from which on they pass by what is open to its ends; fewer are
            better spent on what is played. Never if None.
        fill: solvers take a random belief where there is no query.
        uniform_play: the network is told what uniform play is worth.
        every: measured with searches of each seat at every public state, as in the paper; otherwise
            each seat re-solves at its own decisions only.
    """

    name: str
    solver: js.Solver = dataclasses.field(repr=False)
    simulations: int
    steps: tuple[int, ...]
    skip_solved: int | None = None
    fill: bool = False
    uniform_play: bool = False
    every: bool = False

    def resolver(
        self, table: PublicTable, simulations: int, **room: Any
    ) -> Resolver[GrowingEngine]:
        """Returns the search of so many simulations."""
        skips = self.skip_solved is not None and simulations >= self.skip_solved
        return growing_resolver(
            table, self.solver, simulations=simulations, skip_solved=skips, **room
        )


PAPER = Recipe("paper", js.cfr_plus().simultaneous(), 100, (0, 100, 400), every=True)
OURS = Recipe(
    "ours",
    js.cfr_plus(4.0),
    50,
    (0, 100, 300, 900),
    skip_solved=50,
    fill=True,
    uniform_play=True,
)
OURS_PLAIN = dataclasses.replace(OURS, name="ours_plain", skip_solved=None, uniform_play=False)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        recipes: one after the other.
        simulations: s of each line.
        seeds: of each s, for the last network.
        curve_seeds: for networks before.
        log_every: steps between measurements of the loss.
        episodes: side by side.
        solvers: queries solved in a step.
        width: of the network.
        batch: searches side by side when measuring.
        game: another variant, for trying things out.
    """

    recipes: tuple[Recipe, ...] = (PAPER, OURS, OURS_PLAIN)
    simulations: tuple[int, ...] = (33, 100, 300, 1000)
    seeds: tuple[int, ...] = (50, 50, 20, 10)
    curve_seeds: int = 3
    log_every: int = 100
    episodes: int = 32
    solvers: int = 32
    width: int = 192
    batch: int = 16
    game: str | None = None


@dataclasses.dataclass(frozen=True)
class Study:
    """One of the two panels.

    Attributes:
        name: of the study.
        game: string of the game.
        preset: of training.
        unit: what exploitability is shown in.
        scale: unit per unit of the game.
        paper: per s, {training steps: exploitability} in that unit.
        results: folder of committed results.
        full: settings of the full run.
    """

    name: str
    game: str
    preset: str
    unit: str
    scale: float
    paper: dict[int, dict[int, float]]
    results: Path
    full: Settings = Settings()


QUICK = Settings(
    recipes=(dataclasses.replace(OURS, simulations=10, steps=(0, 60)),),
    simulations=(33, 100),
    seeds=(2, 1),
    curve_seeds=1,
    log_every=20,
    episodes=16,
    solvers=32,
    width=64,
)


def run(
    study: Study,
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per recipe, network and number of simulations.

    Args:
        study: the game and the paper's figures.
        quick: two numbers of simulations and a network that has learned for seconds.
        out: folder; a run that was stopped goes on where it was.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to the study's folder, after each recipe; by
            default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else study.full)
    table = public_table(games.load(chosen.game or study.game))
    rows: list[dict[str, Any]] = []
    curves: dict[str, Any] = {}
    report = Report(study.name, quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"settings": str(chosen), "training": curves, "complete": False}
    earlier, spent = report.earlier(out, same=("settings",))
    begin -= spent
    # Room for the largest search: all numbers of simulations are one program.
    largest = max(chosen.simulations)
    for recipe in chosen.recipes:
        networks, curve = _train(study, table, recipe, chosen, out / recipe.name, say)
        curves[recipe.name] = curve
        room = recipe.resolver(table, largest).engine.options.capacity
        for step, (net, updates, seconds) in networks.items():
            last = step == recipe.steps[-1]
            points = [
                (recipe.every, s, seeds if last else chosen.curve_seeds)
                for s, seeds in zip(chosen.simulations, chosen.seeds, strict=True)
            ]
            if recipe.every and last:
                points += [(False, s, chosen.curve_seeds) for s in chosen.simulations]
            for every, s, seeds in points:
                if len(rows) < len(earlier):
                    rows.append(earlier[len(rows)])
                    continue
                resolver = recipe.resolver(table, s, capacity=room, batch=chosen.batch)
                prior = nets.policy_prior(net)
                gaps = []
                for k in range(seeds):
                    when = "every" if every else "own"
                    found = resolve_game(resolver, net, jax.random.key(k), prior=prior, when=when)
                    gaps.append(study.scale * respond(table, found).exploitability)
                curve_paper = study.paper.get(s, {})
                paper = curve_paper.get(max(curve_paper, default=0) if last and step else step)
                rows.append(
                    {
                        "settings": recipe.name,
                        "searches": EVERY if every else OWN,
                        "sims": s,
                        "c": 1.0,
                        "train_steps": updates,
                        "train_seconds": round(seconds, 1),
                        "exploitability_mean": float(np.mean(gaps)),
                        "exploitability_min": min(gaps),
                        "exploitability_max": max(gaps),
                        "seeds": len(gaps),
                        "exploitability_paper": paper,
                    }
                )
                say(
                    f"{recipe.name}, {updates} updates, s = {s}, at {EVERY if every else OWN}: "
                    f"{np.mean(gaps):.4g} {study.unit}"
                )
                report.seconds = time.perf_counter() - begin
                report.save(out)
        report.extra["complete"] = recipe == chosen.recipes[-1]
        if record:
            report.record(study.results)
    report.save(out, figure=_figure(study, rows))
    return report


def _train(
    study: Study,
    table: PublicTable,
    recipe: Recipe,
    settings: Settings,
    out: Path,
    say: Callable[[str], None],
) -> tuple[dict[int, tuple[nets.Net, int, float]], list[dict[str, float]]]:
    """Returns ({step: (network, updates, seconds)}, the curve of training)."""
    chosen = learn.preset(study.preset)
    source = learn.sound_self_play(
        recipe.resolver(table, recipe.simulations),
        chosen.self_play(episodes=settings.episodes, solvers=settings.solvers, fill=recipe.fill),
    )
    plan = chosen.plan(steps=recipe.steps[-1], batch=source.batch)
    module = chosen.network(actions=table.transitions.num_actions, width=settings.width)
    fresh = nets.make_net(table, module, jax.random.key(0), uniform_play=recipe.uniform_play)
    found: dict[int, nets.Net] = {}
    curve: list[dict[str, float]] = []
    for step in recipe.steps:
        net = fresh
        if step:
            trained = learn.train(
                fresh,
                source,
                plan,
                out=out,
                resume=True,
                log_every=settings.log_every,
                until=step,
                progress=False,
            )
            curve, net = trained.curve, first_kept(trained.net, out / f"network-{step}.npz")
            at = next(row for row in curve if row["step"] == step)
            say(
                f"{recipe.name}, trained {at['seconds']:.1f} s, "
                f"{at['searches_per_second']:.0f} a second"
            )
        found[step] = net
    seconds = {int(row["step"]): row["seconds"] for row in curve} | {0: 0.0}
    networks = {k: (net, k * plan.updates, float(seconds[k])) for k, net in found.items()}
    return networks, curve


def first_kept(net: nets.Net, path: Path) -> nets.Net:
    """Returns the network in a file, as a resumed run is further on; keeps this one if none is."""
    if path.exists():
        return nets.load_net(path)
    nets.save_net(net, path)
    return net


def _figure(study: Study, rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: exploitability by training steps, ours with a ribbon, the paper dashed."""
    from matplotlib.figure import Figure

    recipes = list(dict.fromkeys(row["settings"] for row in rows))
    figure = Figure(figsize=(4.2 * len(recipes), 4), layout="constrained")
    panels = figure.subplots(1, len(recipes), sharey=True, squeeze=False)[0]
    for axes, recipe in zip(panels, recipes, strict=True):
        for n, (s, paper) in enumerate(study.paper.items()):
            mine = [r for r in rows if r["settings"] == recipe and r["sims"] == s]
            colour = f"C{n}"
            axes.plot(list(paper), list(paper.values()), "--", color=colour, linewidth=1)
            # The last network is measured in a second way, too: crosses apart from the line.
            for row in (r for r in mine if r["searches"] != mine[0]["searches"]):
                at = row["train_steps"], row["exploitability_mean"]
                axes.plot(*at, "x", color=colour, markersize=5)
            mine = [r for r in mine if r["searches"] == mine[0]["searches"]]
            if mine:
                x = [r["train_steps"] for r in mine]
                low, mean, high = (
                    [r[f"exploitability_{k}"] for r in mine] for k in ("min", "mean", "max")
                )
                axes.plot(x, mean, "o-", color=colour, markersize=3, label=f"s = {s}")
                axes.fill_between(x, low, high, color=colour, alpha=0.2)
        kinds = list(dict.fromkeys(r["searches"] for r in rows if r["settings"] == recipe))
        if len(kinds) > 1:
            axes.plot([], [], "kx", markersize=5, label=f"at {kinds[1]}")
        axes.set(
            title=f"{recipe}, at {kinds[0]}\n(dashed: figure 3)", xlabel="updates", yscale="log"
        )
        axes.set_xscale("symlog", linthresh=100)
        axes.set_xlim(left=0)
        axes.legend(fontsize=7)
    panels[0].set_ylabel(f"exploitability, {study.unit}")
    return figure
