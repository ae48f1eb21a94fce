"""Exploitability of continual re-solving on Leduc, by leaf and by training time.

A network is trained on beliefs at the start of the second round, each solved with CFR: half of them
random, half those that searches of the first round ask about with the network as it is. The first
round is searched to its end, where the network (or a solver: the oracle) says what the second
is worth; the second is searched to the end of the game. Searches happen at every decision under the
gadget, and the policy they make up is measured exactly. Beside them stands CFR on the whole game
with as many iterations. Unit: mbb/h, thousandths of a chip; seeds differ in the policies that
searches start from.

Source of the comparison: Schmid et al. 2023 (Student of Games), figure 3: 24 mbb/h with
SoG(1000, 1).
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
from jaxsolve.public import PublicGame, no_limit, public_game, public_table, round_limit
from jaxsolve.search import fixed_resolver, oracle, resolve_game, subgames
from jaxsolve.types import CHANCE

RESULTS = Path(__file__).parent / "results"
"""Committed results, one JSON and one Markdown file per device and version of JAX."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        steps: batches of training data.
        measure: seconds of training after which the search is measured, besides its end.
        iterations: of searches with the last network and of CFR.
        oracle: (iterations of the search, of the oracle below it).
        seeds: searches of each measurement with the last network.
        few: searches of each measurement before.
        alpha: share of the gadget in the opponent's range.
        width: of the network.
        batch: random beliefs solved together.
        searches: of the first round, for each batch.
        leaves: beliefs from each that are solved with the batch.
        solver_iterations: of each.
        updates: of the network after each batch.
    """

    steps: int = 4000
    measure: tuple[float, ...] = (60, 180, 420)
    iterations: tuple[int, ...] = (100, 300, 1000)
    oracle: tuple[tuple[int, int], ...] = ((100, 30), (300, 30))
    seeds: int = 5
    few: int = 2
    alpha: float = 0.8
    width: int = 192
    batch: int = 128
    searches: int = 8
    leaves: int = 16
    solver_iterations: int = 100
    updates: int = 32


QUICK = Settings(
    steps=100,
    measure=(),
    iterations=(30, 100),
    oracle=((30, 30),),
    seeds=2,
    width=64,
    searches=4,
    solver_iterations=50,
    updates=8,
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per leaf, training time and number of iterations.

    Args:
        quick: a small network, trained for seconds.
        out: folder; training in it is resumed.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to `RESULTS`, as it comes; by default for the
            full run. It is `complete` once the network has been measured.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    study = _Study(chosen, out, say)
    report = Report("value_net_leduc", quick, 0.0, study.rows)
    for step in (study.whole, study.oracles, study.train):
        step()
        report.seconds = time.perf_counter() - begin
        report.extra = {"complete": step == study.train, "curve": study.curve}
        report.save(out, figure=_figure(study.rows))
        if record:
            report.record(RESULTS)
    return report


class _Study:
    """The game, and the rows so far."""

    def __init__(self, settings: Settings, out: Path, say: Callable[[str], None]) -> None:
        self.settings, self.out, self.say = settings, out, say
        rules = games.load("leduc")
        self.game: PublicGame = public_game(rules)
        self.table = public_table(self.game)
        self.tree = js.compile(rules, layout="hands")
        self.rows: list[dict[str, Any]] = []
        self.curve: list[dict[str, float]] = []
        self.classes = self.game.classes_after_chance()

    def whole(self) -> None:
        """CFR on the whole game."""
        for iterations in self.settings.iterations:
            found = js.solve(
                self.tree, "pcfr+", iterations=iterations, measure_every=iterations, progress=False
            )
            gap = float(js.exploitability(self.tree, found.average))
            self._add("none", 0.0, iterations, [gap])

    def train(self) -> None:
        """Trains, and measures on the way."""
        s = self.settings
        net = nets.make_net(self.game, nets.ValueNetwork(s.width, 3), jax.random.key(0))
        second = subgames(self.game, no_limit, classes=self.classes)
        solver = js.pcfr_plus()
        drawn = learn.random_beliefs(
            self.game,
            second,
            solver,
            stages=[self.classes],
            steps=1,
            iterations=s.solver_iterations,
            batch=s.batch,
        )
        roots = first_round(self.game)
        asked = learn.search_queries(
            self.game,
            subgames(self.game, round_limit, classes=roots),
            second,
            solver,
            roots=roots,
            search_iterations=s.solver_iterations // 2,
            iterations=s.solver_iterations,
            searches=s.searches,
            leaves=s.leaves,
            explore=0.5,
        )
        source = learn.mixed(drawn, asked)
        held = learn.held_out(
            self.game,
            js.pcfr_plus(),
            classes=self.classes,
            count=16,
            iterations=1000,
            key=jax.random.key(1),
        )

        def validate(net: nets.Net) -> dict[str, float]:
            found = learn.errors(net, held)
            by_state = np.asarray(found.each).reshape(len(self.classes), -1).mean(1)
            return {
                "error": float(found.mean),
                "weighted_error": float(found.weighted),
                "worst_public_state": float(by_state.max()),
            }

        plan = learn.Plan(steps=s.steps, updates=s.updates)
        every = max(1, s.steps // 60)
        done: learn.Trained | None = None
        for limit in (*s.measure, None):
            done = learn.train(
                net,
                source,
                plan,
                out=self.out / "training",
                resume=True,
                log_every=every,
                validate=validate,
                time_limit=limit,
                progress=False,
            )
            self.curve = done.curve
            last = done.curve[-1]
            self.say(
                f"trained {last['seconds']:.0f} s on {last['examples']:,.0f} beliefs: error "
                f"{last['weighted_error']:.4f} chips"
            )
            counts = s.iterations if limit is None else s.iterations[-1:]
            seeds = s.seeds if limit is None else s.few
            for iterations in counts:
                self._search("net", last["seconds"], iterations, done.net, seeds)

    def oracles(self) -> None:
        """The search with solved leaves."""
        for iterations, inner in self.settings.oracle:
            leaf = oracle(self.game, js.pcfr_plus(), iterations=inner, classes=self.classes)
            self._search("oracle", 0.0, iterations, leaf, 1)

    def _search(self, leaf: str, seconds: float, iterations: int, value: Any, seeds: int) -> None:
        resolver = fixed_resolver(
            self.table,
            round_limit,
            js.pcfr_plus(),
            iterations=iterations,
            alpha=self.settings.alpha,
        )
        gaps = []
        for seed in range(seeds):
            key = None if seeds == 1 else jax.random.key(seed)
            policy = self.table.policy_of(self.tree, resolve_game(resolver, value, key))
            gaps.append(float(js.exploitability(self.tree, policy)))
        self._add(leaf, seconds, iterations, gaps)

    def _add(self, leaf: str, seconds: float, iterations: int, gaps: list[float]) -> None:
        row = {
            "leaf": leaf,
            "train_seconds": round(seconds, 1),
            "iterations": iterations,
            "exploitability_mbb_mean": 1000 * float(np.mean(gaps)),
            "exploitability_mbb_min": 1000 * min(gaps),
            "exploitability_mbb_max": 1000 * max(gaps),
            "seeds": len(gaps),
        }
        self.rows.append(row)
        self.say(
            f"{leaf}, {seconds:.0f} s, {iterations} iterations: "
            f"{row['exploitability_mbb_mean']:.1f} mbb/h"
        )


def first_round(game: PublicGame) -> list[int]:
    """Returns the classes of subgames before the first public card; the start of the game first."""
    early = {game.root}
    for node in range(game.root + 1, len(game.parent)):
        if game.parent[node] in early and game.actor[game.parent[node]] != CHANCE:
            early.add(node)
    return list(
        dict.fromkeys(int(game.subgame_class[n]) for n in sorted(early) if game.actor[n] >= 0)
    )


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: training time across, a level for each line without training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    most = max(r["iterations"] for r in rows)
    trained = [r for r in rows if r["leaf"] == "net" and r["iterations"] == most]
    x = [r["train_seconds"] for r in trained]
    axes.plot(x, [r["exploitability_mbb_mean"] for r in trained], "o-", label="value network")
    axes.fill_between(
        x,
        [r["exploitability_mbb_min"] for r in trained],
        [r["exploitability_mbb_max"] for r in trained],
        alpha=0.3,
    )
    for leaf, style, words in (("oracle", "--", "oracle leaf"), ("none", ":", "CFR, whole game")):
        for r in (r for r in rows if r["leaf"] == leaf):
            line = axes.axhline(r["exploitability_mbb_mean"], ls=style, lw=1, color="gray")
            line.set_label("_")
            text = f"{words}, {r['iterations']}"
            axes.annotate(
                text,
                (1, r["exploitability_mbb_mean"]),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                fontsize=7,
            )
    axes.set(xlabel="seconds of training", ylabel="exploitability (mbb/h)", yscale="log")
    axes.set_title(f"Continual re-solving of Leduc, {most} iterations")
    axes.legend()
    return figure
