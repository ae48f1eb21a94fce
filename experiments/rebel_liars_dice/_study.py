"""Exploitability of searches on liar's dice whose values are learned, against ReBeL's figures.

Searches see two bids ahead; below, a network says what beliefs are worth. It learns from one of two
sources: searches that follow their own play (`rebel`), or random beliefs, from the last bids
upwards (`deepstack`). The composed policy of the whole game is measured exactly, for three ways of
composing:

- "continual": each search is under the gadget of continual re-solving.
- "average": each search starts from the beliefs that the average policies of the one before come
  to, without a constraint.
- "random iteration": beliefs and play are those of a random iteration of each search. Many such
  policies are mixed.

The published figures are of the last way: means of 1,024 policies, searches of 1,024 iterations of
CFR, depth 2. Two ways are measured without a network, too: with searches that see the end of the
game, which shows what is due to composing and what to the network.

Source: Brown, Bakhtin, Lerer & Gong 2020, "Combining deep reinforcement learning and search for
imperfect-information games" (ReBeL), and its released program (`scripts/eval_all.py`).
Differs: the solver (CFR+, 64 iterations while training); the network is told what uniform play is
worth; minutes of training on a CPU.
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
from jaxsolve.public import PublicGame, actions_limit, no_limit, public_game, public_table
from jaxsolve.search import fixed_resolver, resolve_game, subgames

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""

SIZES = {
    # dice x faces: game, published exploitability (CFR, 1,024 iterations)
    "1x4": ("liars_dice(sides=4)", 0.017),
    "1x5": ("liars_dice(sides=5)", 0.015),
    "1x6": ("liars_dice", 0.024),
    "2x3": ("liars_dice(sides=3,dice=2)", 0.017),
}


@dataclasses.dataclass(frozen=True)
class Part:
    """A size and how its network is trained.

    Attributes:
        size: a key of `SIZES`.
        data: "rebel" or "deepstack".
        steps: batches of training.
        buffer: examples kept; targets age, since networks of before are in them.
    """

    size: str
    data: str
    steps: int = 500
    buffer: int = 1 << 15


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        parts: one after the other.
        exact: rows of `SIZES` that are also measured without a network.
        exact_iterations: of searches to the end of the game, which happen at every decision.
        seconds: a run that trains for longer stops before its last step.
        batch: beliefs solved together.
        updates: of the network after each batch.
        solver_iterations: of each search in training.
        iterations: of each search that is measured.
        repeats: policies of random iterations that are mixed; 0 for none.
        width: of the network's two layers.
        epsilon: exploration in self-play.
        alpha: share of the gadget in the opponent's range.
    """

    parts: tuple[Part, ...] = (
        Part("1x4", "rebel"),
        Part("1x5", "rebel"),
        Part("1x4", "deepstack"),
        Part("1x6", "rebel", steps=300, buffer=1 << 13),
        Part("2x3", "rebel", steps=300, buffer=1 << 13),
    )
    exact: tuple[str, ...] = ("1x4",)
    exact_iterations: int = 256
    seconds: float = 3600
    batch: int = 96
    updates: int = 16
    solver_iterations: int = 64
    iterations: int = 1024
    repeats: int = 0
    width: int = 256
    epsilon: float = 0.25
    alpha: float = 0.5


QUICK = Settings(
    parts=(Part("1x4", "rebel", steps=40, buffer=1 << 10),),
    exact=(),
    batch=48,
    solver_iterations=32,
    iterations=64,
    width=64,
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per size, source and way of composing.

    Args:
        quick: the smallest size, for seconds.
        out: folder; training in it is resumed.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to `RESULTS`, after each part; by default for
            the full run. It is `complete` after the last.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    curves: dict[str, Any] = {}
    report = Report("rebel_liars_dice", quick, 0.0, rows)
    parts = [*(Part(size, "exact") for size in chosen.exact), *chosen.parts]
    for k, part in enumerate(parts):
        if part.data == "exact":
            found = without_network(part.size, chosen)
        else:
            found, curve = learn_and_measure(part, chosen, out)
            curves[f"{part.size} {part.data}"] = curve
        rows += found
        for row in found:
            say(
                f"{part.size} {part.data}, {row['policy']}: {row['exploitability']:.4f} after "
                f"{row['train_seconds']:.0f} s (paper: {row['exploitability_paper']})"
            )
        report.seconds = time.perf_counter() - begin
        report.extra = {"complete": k + 1 == len(parts), "curves": curves}
        report.save(out, figure=_figure(rows))
        if record:
            report.record(RESULTS)
    return report


def without_network(size: str, settings: Settings) -> list[dict[str, Any]]:
    """Returns the rows of searches to the end of the game, one at every decision."""
    study = _Study(size, settings)
    iterations = settings.exact_iterations
    rows = []
    for name, alpha, when in (("continual", settings.alpha, "own"), ("average", None, "every")):
        resolver = fixed_resolver(
            study.table, no_limit, study.solver, iterations=iterations, alpha=alpha
        )
        gap = study.exploitability([resolve_game(resolver, None, when=when)])
        rows.append(study.row("exact", name, iterations, gap))
    return rows


def learn_and_measure(
    part: Part, settings: Settings, out: Path
) -> tuple[list[dict[str, Any]], list[dict[str, float]]]:
    """Returns the rows of one part, and the curve of its training."""
    study = _Study(part.size, settings)
    module = nets.ValueNetwork(settings.width, 2, activation="gelu", layer_norm=True)
    net = nets.make_net(study.game, module, jax.random.key(0))
    plan = learn.Plan(steps=part.steps, updates=settings.updates, buffer=part.buffer)
    done = learn.train(
        net,
        study.source(part),
        plan,
        out=out / f"training-{part.size}-{part.data}",
        resume=True,
        log_every=max(1, part.steps // 50),
        time_limit=settings.seconds,
        progress=False,
    )
    trained = {
        "train_seconds": round(done.curve[-1]["seconds"], 1),
        "examples": int(done.curve[-1]["examples"]),
    }
    rows = []
    for name, count, when, options in (
        ("continual", 1, "own", {"alpha": settings.alpha}),
        ("average", 1, "end", {"alpha": None}),
        ("random iteration", settings.repeats, "end", {"alpha": None, "sampled": True}),
    ):
        if not count:
            continue
        resolver = fixed_resolver(
            study.table, study.limit, study.solver, iterations=settings.iterations, **options
        )
        drawn = "sampled" in options
        keys = [jax.random.key(k) if drawn else None for k in range(count)]
        found = [resolve_game(resolver, done.net, key, when=when) for key in keys]
        gap = study.exploitability(found)
        label = f"{name}, {count} mixed" if drawn else name
        rows.append(study.row(part.data, label, settings.iterations, gap) | trained)
    return rows, done.curve


class _Study:
    """One size: its game, trees and rows."""

    def __init__(self, size: str, settings: Settings) -> None:
        name, self.paper = SIZES[size]
        self.size, self.settings = size, settings
        rules = games.load(name)
        self.game: PublicGame = public_game(rules)
        self.table = public_table(self.game)
        self.tree = js.compile(rules, layout="hands")
        self.limit, self.solver = actions_limit(2), js.cfr_plus()

    def source(self, part: Part) -> learn.Source:
        """Returns a source of training data."""
        s, game = self.settings, self.game
        every = subgames(game, self.limit)
        if part.data == "deepstack":
            stages = by_last_action(game)
            each = max(1, part.steps // (2 * len(stages)))
            return learn.random_beliefs(
                game,
                every,
                self.solver,
                stages=stages,
                steps=each,
                iterations=s.solver_iterations,
                batch=s.batch,
            )
        return learn.self_play(
            game,
            every,
            self.solver,
            iterations=s.solver_iterations,
            batch=s.batch,
            epsilon=s.epsilon,
        )

    def exploitability(self, tables: list[np.ndarray]) -> float:
        """Returns that of a mixture of composed policies."""
        policies = [self.table.policy_of(self.tree, table) for table in tables]
        return float(js.exploitability(self.tree, js.mix_policies(self.tree, policies)))

    def row(self, data: str, policy: str, iterations: int, gap: float) -> dict[str, Any]:
        """Returns a row of the result, without training."""
        return {
            "size": self.size,
            "data": data,
            "train_seconds": 0.0,
            "examples": 0,
            "policy": policy,
            "iterations": iterations,
            "exploitability": gap,
            "exploitability_paper": self.paper,
        }


def by_last_action(game: PublicGame) -> list[list[int]]:
    """Returns the classes of public states, those with the latest bids first."""
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
    classes = list(dict.fromkeys((r["data"], r["policy"]) for r in rows))
    width = 0.8 / (len(classes) + 1)
    for k, (data, policy) in enumerate(classes):
        mine = {r["size"]: r for r in rows if (r["data"], r["policy"]) == (data, policy)}
        x = [sizes.index(s) + k * width for s in mine]
        axes.bar(x, [r["exploitability"] for r in mine.values()], width, label=f"{data}, {policy}")
    paper = {r["size"]: r["exploitability_paper"] for r in rows}
    x = [sizes.index(s) + len(classes) * width for s in paper]
    axes.bar(x, list(paper.values()), width, label="ReBeL, published", color="lightgray")
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(sizes))], sizes)
    axes.set(ylabel="exploitability", yscale="log", title="Liar's dice, searches two bids deep")
    axes.legend(fontsize=7)
    return figure
