"""Student of Games against PimBot in London, trained here from the rules by sound self-play.

SoG(s, 1) is the paper's search: simultaneous updates of regret matching+, linear averages, beliefs
over Mr X's station. A point is `games` games, roles swapped for half of them; the interval is
Wilson's, 95 %. The paper's row is of SoG(400, 1) trained for long on many accelerators, 2,000 games
a point (Schmid et al. 2023, figure 4; values are read off the plot).

Rows of the opponent "PimBot" with the mark `equal_seconds` have as many iterations as fit in our
seconds a move, side by side in the same way; "ISMCTS" is our own information set MCTS with the same
belief as PimBot, at equal seconds, too.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import Report, device_name, wilson
from experiments._sog import first_kept
from experiments.sog_scotland_yard._opponents import ismcts_agent
from experiments.sog_scotland_yard._pimbot import PimBot, pimbot
from games.scotland_yard import ScotlandYard
from jaxsolve import agents, evaluate, learn, nets
from jaxsolve.files import write_atomic
from jaxsolve.game import Agent
from jaxsolve.public import hidden_piece_model
from jaxsolve.search import GrowingEngine, Resolver, growing_resolver

WIN_PAPER = {10: 99.0, 100: 97.1, 1_000: 83.6, 10_000: 65.8}
"""Wins of SoG(400, 1) in %, by PimBot's iterations."""

PAPER_SIMS = 400

LONG = 100
"""PimBots of more iterations play last."""

COLUMNS = (
    "opponent",
    "opponent_iterations",
    "equal_seconds",
    "sims",
    "network",
    "train_steps",
    "train_seconds",
    "wins",
    "games",
    "win",
    "low",
    "high",
    "seconds_per_move",
    "win_paper",
)

SOLVER = js.cfr_plus().simultaneous()
"""The paper's updates."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        game: the map and its rules.
        steps: of training at which the network is kept and plays a point of the learning curve;
            the last one plays all points.
        minutes: of training at most, of processor time of all threads together; a run that has
            reached them stops there.
        train_sims: s while training.
        episodes: side by side; their searches come two by two, which stay in a CPU's cache.
        p_td1: probability that an outcome becomes a target; 0 in the paper, which trains for long
            enough to do without.
        body: of the network. "mlp" has the paper's kind of input; "shared" is ours, one small
            network for all stations, which is also told how far detectives are from each.
        width: of the network.
        layers: of the network.
        minibatch: examples of an update.
        buffer: examples kept.
        simulations: s of the points.
        iterations: of PimBot.
        games: of a point.
        round: games that points of equal simulations have before one of them has more.
        curve_games: of a point of the learning curve, against PimBot(100) with the least s.
        group: games side by side.
        equal: also opponents that think as long.
    """

    game: str = "scotland_yard(board=london)"
    steps: tuple[int, ...] = (0, 400, 1600, 6400)
    minutes: float = 45.0
    train_sims: int = 24
    episodes: int = 8
    p_td1: float = 1.0
    body: str = "shared"
    width: int = 32
    layers: int = 2
    minibatch: int = 64
    buffer: int = 1 << 13
    simulations: tuple[int, ...] = (50, 200, 400)
    iterations: tuple[int, ...] = (10, 100, 1_000, 10_000)
    games: int = 400
    round: int = 8
    curve_games: int = 100
    group: int = 4
    equal: bool = True


QUICK = Settings(
    game="scotland_yard(board=london,rounds=3,reveals=[3],doubles=0)",
    steps=(0, 8),
    train_sims=4,
    episodes=2,
    width=16,
    minibatch=16,
    buffer=256,
    simulations=(8,),
    iterations=(10,),
    games=8,
    curve_games=0,
    group=8,
    equal=False,
)


@dataclasses.dataclass(frozen=True)
class Point:
    """One line of the table.

    Attributes:
        opponent: "PimBot" or "ISMCTS".
        iterations: of it.
        sims: s of ours.
        step: of training.
        games: to play.
        equal: whether `iterations` follow from the seconds of ours.
    """

    opponent: str
    iterations: int
    sims: int
    step: int
    games: int
    equal: bool = False

    @property
    def key(self) -> str:
        """A name for the file of games."""
        return f"{self.opponent} {self.iterations} s {self.sims} step {self.step}"


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row for each opponent and number of simulations, and of the learning curve.

    Args:
        quick: a short game, a network that has learned for seconds, one point.
        out: folder; a run that was stopped goes on where it was, within a point, too.
        settings: instead of those of the full or the quick run.
        record: also write the result of this device to the study's folder; by default for the full
            run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    report = Report("sog_scotland_yard", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"settings": str(chosen), "complete": False}
    begin -= report.earlier(out, same=("settings",))[1]
    match = Matches(chosen, out)
    trained = train(match, chosen, out, say)
    report.extra["training"] = trained.curve
    last = max(trained.nets)

    def play(points: list[Point]) -> None:
        """Plays some points side by side, a round of games each in turn."""
        for upto in range(chosen.round, chosen.games + chosen.round, chosen.round):
            for point in points:
                match.play(trained.nets[point.step], point, min(upto, point.games), say)
                save()

    def save() -> None:
        rows[:] = [
            match.row(point) | {"train_seconds": round(trained.seconds[point.step], 1)}
            for point in every
            if match.won(point)
        ]
        report.seconds = time.perf_counter() - begin
        report.save(out, figure=_figure(rows, chosen))
        if record:
            report.record(Path(__file__).parent / "results")

    every: list[Point] = []
    for s in chosen.simulations:
        mine = [Point("PimBot", n, s, last, chosen.games) for n in chosen.iterations]
        every += mine
        play([point for point in mine if point.iterations <= LONG])
        if s == min(chosen.simulations) and chosen.curve_games:
            curve = [
                Point("PimBot", 100, s, step, chosen.curve_games)
                for step in trained.nets
                if step != last
            ]
            every += curve
            play(curve)
    if chosen.equal:
        every += match.equal_seconds(trained.nets[last], last)
    play(every)
    report.extra["complete"] = True
    save()
    return report


@dataclasses.dataclass(frozen=True)
class Networks:
    """Networks by step of training, the seconds that it took, and its curve."""

    nets: dict[int, nets.Net]
    seconds: dict[int, float]
    curve: list[dict[str, float]]


def train(match: Matches, settings: Settings, out: Path, say: Callable[[str], None]) -> Networks:
    """Returns the networks; a run that was stopped goes on where it was."""
    preset = learn.preset("scotland_yard")
    source = learn.sound_self_play(
        match.resolver(settings.train_sims),
        preset.self_play(episodes=settings.episodes, p_td1=settings.p_td1, abreast=2),
    )
    plan = preset.plan(
        steps=max(1, *settings.steps),
        batch=source.batch,
        minibatch=settings.minibatch,
        buffer=settings.buffer,
        updates=1,
        reuse=None,
        optimiser="adam",
        learning_rate=1e-3,
        decay=None,
    )
    module = preset.network(
        actions=match.model.num_actions,
        body=settings.body,
        width=settings.width,
        depth=settings.layers,
    )
    fresh = nets.make_net(match.model, module, jax.random.key(0), uniform_play=False)
    found, seconds = {0: fresh}, {0: 0.0}
    curve: list[dict[str, float]] = []
    for step in settings.steps:
        if not step:
            continue
        trained = learn.train(
            fresh,
            source,
            plan,
            out=out / "training",
            resume=True,
            log_every=max(1, min(s for s in settings.steps if s) // 4),
            until=step,
            time_limit=60 * settings.minutes,
            clock=time.process_time,
            progress=False,
        )
        curve, net = trained.curve, first_kept(trained.net, out / f"network-{step}.npz")
        row = next((r for r in curve if r["step"] == step), curve[-1])
        found[int(row["step"])], seconds[int(row["step"])] = net, float(row["seconds"])
        say(
            f"trained {row['seconds']:.0f} s: {row['episodes']:.0f} games, "
            f"{row['episodes'] / max(row['seconds'], 1e-9):.3f} a second, "
            f"{row['searches_per_second']:.1f} searches a second"
        )
        if row["step"] < step:  # out of time
            break
    return Networks(found, seconds, curve)


class Matches:
    """Games of ours against others, in groups, kept in a file as they are played."""

    def __init__(self, settings: Settings, out: Path):
        self.settings = settings
        self.path = out / "matches.json"
        game = games.load(settings.game)
        if not isinstance(game, ScotlandYard):
            raise ValueError(f"{settings.game} is not Scotland Yard")
        self.game = game
        self.model, self.root = hidden_piece_model(self.game)
        most = self.model.depth + 2
        self.arena = evaluate.rules_arena(self.game, max_moves=most, max_rows=8)
        same = {"settings": str(settings), "device": device_name(), "jax": jax.__version__}
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        if any(self.kept.get(k) != v for k, v in same.items()):
            self.kept = same | {"points": {}, "seconds": {}}

    def resolver(self, simulations: int) -> Resolver[GrowingEngine]:
        """Returns the search SoG(s, 1)."""
        return growing_resolver(self.model, SOLVER, simulations=simulations, root=self.root)

    def ours(self, net: nets.Net, simulations: int) -> Agent:
        """Returns SoG(s, 1)."""
        return agents.resolving(
            self.resolver(simulations),
            net,
            prior=nets.policy_prior(net),
            name=f"SoG({simulations})",
        )

    def theirs(self, point: Point) -> Agent:
        """Returns the opponent of a point."""
        if point.opponent == "ISMCTS":
            return ismcts_agent(self.game, point.iterations)
        return pimbot(self.game, PimBot(point.iterations))

    def won(self, point: Point) -> list[float]:
        """Returns what the games of a point that have been played were worth to us."""
        found: list[float] = self.kept["points"].get(point.key, [])
        return found

    def play(self, net: nets.Net, point: Point, games: int, say: Callable[[str], None]) -> None:
        """Plays a point until it has so many games."""
        won = self.won(point)
        if len(won) >= games:
            return
        ours, theirs = self.ours(net, point.sims), self.theirs(point)
        if str(point.sims) not in self.kept["seconds"]:
            self.kept["seconds"][str(point.sims)] = self.seconds(ours)
        begin = time.perf_counter()
        while len(won) < games:
            count = min(self.settings.group, games - len(won))
            match = evaluate.play_matches(
                self.arena,
                [ours, theirs],
                count,
                jax.random.fold_in(jax.random.key(1), len(won)),
                keep_policies=False,
            )
            won += [float(x) for x in np.asarray(match.utility[:, 0])]
            self.kept["points"][point.key] = won
            write_atomic(self.path, json.dumps(self.kept).encode())
        wins = sum(x > 0 for x in won)
        say(f"{point.key}: {wins} of {len(won)} games, {time.perf_counter() - begin:.0f} s")

    def row(self, point: Point) -> dict[str, Any]:
        """Returns the row of a point."""
        won = self.won(point)
        wins = sum(x > 0 for x in won)
        low, high = wilson(wins, len(won))
        listed = point.opponent == "PimBot" and point.sims == PAPER_SIMS and not point.equal
        return {
            "opponent": point.opponent,
            "opponent_iterations": point.iterations,
            "equal_seconds": point.equal,
            "sims": point.sims,
            "network": self.settings.body,
            "train_steps": point.step,
            "wins": wins,
            "games": len(won),
            "win": round(100 * wins / len(won), 1),
            "low": round(100 * low, 1),
            "high": round(100 * high, 1),
            "seconds_per_move": self.kept["seconds"][str(point.sims)],
            "win_paper": WIN_PAPER.get(point.iterations) if listed else None,
        }

    def seconds(self, agent: Agent) -> float:
        """Returns the seconds of a move, games side by side as in a match: Mr X's first one."""
        count = self.settings.group
        position = self.arena.step(self.arena.start(), jax.numpy.int32(self.game.map.evader[0] - 1))
        seen = self.arena.observation(position, 0)
        seat = jax.numpy.int32(0)
        keys = jax.random.split(jax.random.key(0), count)

        def act(key: Any) -> Any:
            first, second = jax.random.split(key)
            return agent.act(agent.init(seat, first), seen, second)[0].action

        run = jax.jit(jax.vmap(act)).lower(keys).compile()
        run(keys).block_until_ready()
        begin = time.perf_counter()
        run(keys).block_until_ready()
        return round((time.perf_counter() - begin) / count, 5)

    def equal_seconds(self, net: nets.Net, step: int) -> list[Point]:
        """Returns points against opponents that think as long as the largest search of ours."""
        sims = max(self.settings.simulations)
        mine, points = self.seconds(self.ours(net, sims)), []
        for name in ("PimBot", "ISMCTS"):
            trial = Point(name, 100, sims, step, self.settings.games, equal=True)
            each = self.seconds(self.theirs(trial)) / trial.iterations
            count = int(min(max(1, mine / max(each, 1e-9)), 30_000))
            points.append(dataclasses.replace(trial, iterations=count))
        return points


def _figure(rows: list[dict[str, Any]], settings: Settings) -> Any:
    """Returns a figure: wins by iterations of PimBot, ours with intervals, the paper's dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    last = max(row["train_steps"] for row in rows)
    for s in settings.simulations:
        mine = [
            r
            for r in rows
            if (r["sims"], r["train_steps"], r["opponent"]) == (s, last, "PimBot")
            and not r["equal_seconds"]
        ]
        x, y = [r["opponent_iterations"] for r in mine], np.array([r["win"] for r in mine])
        ends = [y - [r["low"] for r in mine], np.array([r["high"] for r in mine]) - y]
        axes.errorbar(x, y, np.maximum(ends, 0), fmt="o-", capsize=3, label=f"SoG({s}, 1)")
    axes.plot(list(WIN_PAPER), list(WIN_PAPER.values()), "k--", label="SoG(400, 1), paper")
    axes.set(xscale="log", ylim=(0, 100), xlabel="PimBot's iterations", ylabel="wins in %")
    axes.legend(fontsize=8)
    return figure
