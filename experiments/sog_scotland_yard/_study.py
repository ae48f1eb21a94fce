"""Student of Games against PimBot in London, trained here from the rules by sound self-play.

SoG(s, 1) is the paper's search: simultaneous updates of regret matching+, linear averages, beliefs
over Mr X's station. A point is `games` games, roles swapped for half of them; the interval is
Wilson's, 95 %. The paper's row is of SoG(400, 1) trained for long on many accelerators, 2,000 games
a point (Schmid et al. 2023, figure 4; values are read off the plot).

Networks may begin with games of greedy players, which the paper does not have; the column `network`
says so, and rows of step 0 are of such a network before any self-play. They play first, and so does
a greedy player alone, the rows without simulations. The paper's search plays its average policy;
rows that play its `likeliest` action are ours.

Rows of the opponent "PimBot" with the mark `equal_seconds` have as many iterations as fit in our
seconds a move, side by side in the same way; "ISMCTS" is our own information set MCTS with the same
belief as PimBot, at equal seconds, too. Games run in processes of one core each.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments._report import Report, device_name, slug
from experiments.sog_scotland_yard._greedy import greedy_games
from experiments.sog_scotland_yard._matches import WIN_PAPER, Matches, Point, players
from jaxsolve import learn, nets
from jaxsolve.hosts import processors

RESULTS = Path(__file__).parent / "results"

LONG, LONGER = 100, 1_000
"""PimBots of more iterations play last. On the learning curve there are none, but up to the second
number against the network before self-play, which plays its likeliest actions then."""

QUADRATIC = 2.0
"""Outcomes are -1 and 1, whose mean a value is; a linear loss would find the likelier of both."""

GREEDY = {
    "games": 128,
    "noise": 0.1,
    "minibatch": 512,
    "updates": 8,
    "buffer": 1 << 15,
    "learning_rate": 4e-3,
}
"""Of `greedy_games` and of learning from them."""

REUSE = 6
"""Updates that an example of self-play is part of, in the mean."""

COLUMNS = (
    "opponent",
    "opponent_iterations",
    "equal_seconds",
    "sims",
    "plays",
    "network",
    "train_steps",
    "train_seconds",
    "wins",
    "games",
    "wins_as_mr_x",
    "wins_as_detectives",
    "win",
    "low",
    "high",
    "seconds_per_move",
    "win_paper",
)


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        game: the map and its rules.
        greedy_steps: batches of games of greedy players that the network learns from before it
            plays itself; 0, as in the paper, for none.
        steps: of training at which the network is kept and plays a point of the learning curve;
            the last one plays all points.
        minutes: of training at most, on a CPU of processor time of all threads together; a run
            that has reached them stops there.
        train_sims: s while training.
        episodes: side by side; on a CPU their searches come two by two, which stay in its cache.
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
        curve_games: of a point of the learning curve, with the least s, against PimBot of up to
            `LONG` iterations.
        group: games that a process plays at a time; points of equal simulations have one in turn.
        likeliest: whether ours plays the likeliest action in place of its policy, both by default.
        equal: also opponents that think as long.
        processes: in which games are played; 0 for this one.
    """

    game: str = "scotland_yard(board=london)"
    greedy_steps: int = 768
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
    curve_games: int = 96
    group: int = 8
    likeliest: tuple[bool, ...] = (False, True)
    equal: bool = True
    processes: int = dataclasses.field(default_factory=processors)

    @property
    def about(self) -> str:
        """What networks and single games depend on, and not how many of them there are."""
        counts = ["simulations", "iterations", "games", "curve_games", "likeliest", "equal"]
        counts += ["processes"]
        every = dataclasses.asdict(self).items()
        chosen = {name: value for name, value in every if name not in counts}
        chosen |= {f"greedy_{name}": value for name, value in GREEDY.items()} | {"reuse": REUSE}
        return ", ".join(f"{name}={value}" for name, value in chosen.items())

    @property
    def network(self) -> str:
        """What the network is and where it began."""
        return f"{self.body}, greedy games first" if self.greedy_steps else self.body


ACCELERATOR = Settings(episodes=512, minibatch=1024, buffer=1 << 17)
"""Where programs run on a GPU or a TPU: more episodes at once. CPUs play the games there, too."""

QUICK = Settings(
    game="scotland_yard(board=london,rounds=3,reveals=[3],doubles=0)",
    greedy_steps=0,
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
    likeliest=(False,),
    equal=False,
    processes=0,
)


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
        record: also write the result of this device to the study's folder, with its games and
            networks, from which a new folder begins; by default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    full = Settings() if on_cpu() else ACCELERATOR
    chosen = settings or (QUICK if quick else full)
    rows: list[dict[str, Any]] = []
    report = Report("sog_scotland_yard", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"settings": chosen.about, "complete": False}
    begin -= report.earlier(out, same=("settings",))[1]
    recorded = RESULTS / slug(device_name())
    if record and recorded.exists() and not (out / "matches.json").exists():
        shutil.copytree(recorded, out, dirs_exist_ok=True)
    match = Matches(chosen, out)
    every: dict[str, Point] = {}
    files: dict[int, Path] = {}

    def play(points: list[Point]) -> None:
        every.update({point.key: point for point in points})
        match.play(points, files, save)
        save()
        for point in points:
            won = match.won(point)
            say(f"{point.key}: {sum(x > 0 for x in won)} of {len(won)} games")

    def trained_seconds(point: Point) -> float | None:
        return round(match.kept["trained"][str(point.step)], 1) if point.sims else None

    def save() -> None:
        rows[:] = [
            match.row(point) | {"train_seconds": trained_seconds(point)}
            for point in every.values()
            if match.won(point)
        ]
        report.extra["training"] = match.kept["curve"]
        report.seconds = time.perf_counter() - begin
        report.save(out, figure=_figure(rows, chosen))
        if record:
            report.record(RESULTS)
            recorded.mkdir(parents=True, exist_ok=True)
            for path in (match.path, *files.values()):
                shutil.copy(path, recorded)

    least, short = min(chosen.simulations), [n for n in chosen.iterations if n <= LONG]
    for step, path in networks(match, chosen, out, say):
        files[step] = path
        if chosen.curve_games:
            if chosen.greedy_steps and not step:
                play([Point("PimBot", n, 0, step, chosen.curve_games) for n in short])
            for likeliest in chosen.likeliest:
                most = LONGER if likeliest and not step else LONG
                play(
                    [
                        Point("PimBot", n, least, step, chosen.curve_games, likeliest=likeliest)
                        for n in chosen.iterations
                        if n <= most
                    ]
                )
    last = max(files)
    points = [
        Point("PimBot", n, s, last, chosen.games, likeliest=likeliest)
        for s in chosen.simulations
        for likeliest in chosen.likeliest
        for n in chosen.iterations
    ]
    for s in chosen.simulations:
        play([point for point in points if point.sims == s and point.iterations <= LONG])
    if more := [point for point in points if point.iterations > LONG]:
        play(more)
    if chosen.equal:
        play(match.equal_seconds(files[last], last))
    report.extra["complete"] = True
    save()
    return report


def networks(
    match: Matches, settings: Settings, out: Path, say: Callable[[str], None]
) -> Iterator[tuple[int, Path]]:
    """Yields (step, file) of networks as they are trained, those that are there already at once."""
    trained: dict[str, float] = match.kept.setdefault("trained", {})
    match.kept.setdefault("curve", [])

    def file_of(step: int) -> Path:
        return out / f"network-{step}.npz"

    there = [step for step in sorted(map(int, trained)) if file_of(step).exists()]
    yield from ((step, file_of(step)) for step in there)
    for planned in sorted({0, *settings.steps}):
        if there and (planned <= there[-1] or trained[str(there[-1])] >= 60 * settings.minutes):
            continue
        if planned:
            net, step, seconds = trained_net(match, settings, planned, out)
        else:
            (net, seconds), step = first_net(settings, out), 0
        nets.save_net(net, file_of(step))
        there.append(step)
        trained[str(step)] = seconds
        match.save()
        say(f"network of step {step}: {seconds:.0f} s of training")
        yield step, file_of(step)


def plan_of(source: learn.Source, **options: Any) -> learn.Plan:
    """Returns a plan of training from outcomes."""
    return learn.preset("scotland_yard").plan(
        batch=source.batch, reuse=None, optimiser="adam", decay=None, huber=QUADRATIC, **options
    )


def first_net(settings: Settings, out: Path) -> tuple[nets.Net, float]:
    """Returns the network before self-play, and the seconds of its training."""
    here, preset = players(settings.game), learn.preset("scotland_yard")
    module = preset.network(
        actions=here.model.num_actions,
        body=settings.body,
        width=settings.width,
        depth=settings.layers,
        skip=here.game.num_placed if settings.body == "shared" else 0,
    )
    net = nets.make_net(here.model, module, jax.random.key(0), uniform_play=False)
    if not settings.greedy_steps:
        return net, 0.0
    options = dict(GREEDY)
    games, noise = int(options.pop("games")), options.pop("noise")
    source = greedy_games(here.model, here.game, games=games, noise=noise)
    plan = plan_of(source, steps=settings.greedy_steps, policy_weight=0.0, **options)
    found = learn.train(
        net,
        source,
        plan,
        out=out / "greedy",
        resume=True,
        clock=time.process_time,
        progress=False,
    )
    return found.net, float(found.curve[-1]["seconds"])


def trained_net(
    match: Matches, settings: Settings, until: int, out: Path
) -> tuple[nets.Net, int, float]:
    """Returns (network, its step, seconds of training) after self-play, by the time there is."""
    source, plan = self_play_of(settings)
    found = learn.train(
        nets.load_net(out / "network-0.npz"),
        source,
        plan,
        out=out / "training",
        resume=True,
        log_every=max(1, min(s for s in settings.steps if s) // 4),
        until=until,
        time_limit=60 * settings.minutes,
        clock=time.process_time if on_cpu() else time.perf_counter,
        progress=False,
    )
    match.kept["curve"] = found.curve
    return found.net, int(found.state.step), float(found.curve[-1]["seconds"])


def self_play_of(settings: Settings) -> tuple[learn.Source, learn.Plan]:
    """Returns the examples of self-play, and the plan of training with them."""
    here, preset = players(settings.game), learn.preset("scotland_yard")
    source = learn.sound_self_play(
        here.resolver(settings.train_sims),
        preset.self_play(
            episodes=settings.episodes, p_td1=settings.p_td1, abreast=2 if on_cpu() else None
        ),
    )
    plan = plan_of(
        source,
        steps=max(settings.steps),
        minibatch=settings.minibatch,
        buffer=settings.buffer,
        updates=max(1, round(REUSE * source.batch / settings.minibatch)),
        learning_rate=1e-3,
    )
    return source, plan


def on_cpu() -> bool:
    """Returns whether programs run on a CPU."""
    return jax.default_backend() == "cpu"


def _figure(rows: list[dict[str, Any]], settings: Settings) -> Any:
    """Returns a figure: wins by iterations of PimBot, ours with intervals, the paper's dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    last = max(row["train_steps"] for row in rows)
    shown = [(0, "likeliest")]
    shown += [(s, how) for s in settings.simulations for how in ("average", "likeliest")]
    for s, plays in shown:
        key = s, plays, last if s else 0, "PimBot", False
        fields = ("sims", "plays", "train_steps", "opponent", "equal_seconds")
        mine = [r for r in rows if tuple(r[field] for field in fields) == key]
        if not mine:
            continue
        x, y = [r["opponent_iterations"] for r in mine], np.array([r["win"] for r in mine])
        ends = [y - [r["low"] for r in mine], np.array([r["high"] for r in mine]) - y]
        name = f"SoG({s}, 1), {plays}" if s else "greedy moves"
        axes.errorbar(x, y, np.maximum(ends, 0), fmt="o-", capsize=3, label=name)
    axes.plot(list(WIN_PAPER), list(WIN_PAPER.values()), "k--", label="SoG(400, 1), paper")
    axes.set(xscale="log", ylim=(0, 100), xlabel="PimBot's iterations", ylabel="wins in %")
    axes.legend(fontsize=8)
    return figure
