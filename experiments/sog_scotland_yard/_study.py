"""Student of Games against PimBot in London, trained here from the rules by sound self-play.

SoG(s, 1) is the paper's search: simultaneous updates of regret matching+, linear averages, beliefs
over Mr X's station. A point is `games` games, roles swapped for half of them; the interval is
Wilson's, 95 %. The paper's row is of SoG(400, 1) trained for long on many accelerators, 2,000 games
a point (Schmid et al. 2023, figure 4; values are read off the plot).

Networks may begin with games of greedy players and then of players who look one move ahead, which
the paper does not have; the column `network` says so, and rows of step 0 are of such a network
before any self-play. They play first, and so does a greedy player alone, the rows without
simulations. "sog" draws from the average policy of the paper's search; "sog, likeliest" is ours:
the same search, of whose policy the likeliest action is played.

Rows with the mark `equal_seconds` are of opponents with as many iterations as fit in our seconds a
move, of the fewest simulations before self-play and of the most after it; "ISMCTS" is our own
information set MCTS with the same belief as PimBot. Games run in processes of one core each.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments._report import Report, device_name, slug
from experiments.sog_scotland_yard._matches import WIN_PAPER, Matches, Point, equal_trials
from experiments.sog_scotland_yard._settings import ACCELERATOR, QUICK, Settings, on_cpu
from experiments.sog_scotland_yard._training import networks

RESULTS = Path(__file__).parent / "results"

LONG, LONGER = 100, 1_000
"""PimBots of more iterations play last. On the learning curve there are none, but up to the second
number against the network before self-play."""

COLUMNS = (
    "opponent",
    "opponent_iterations",
    "equal_seconds",
    "sims",
    "search",
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
        if not points:
            return
        every.update({point.key: point for point in points})
        match.play(points, files, save)
        save()
        for point in points:
            won = match.won(point)
            say(f"{point.key}: {sum(x > 0 for x in won)} of {len(won)} games")

    def trained_seconds(point: Point) -> float | None:
        step = str(point.step)
        if not point.sims or step in match.kept.get("trained_elsewhere", []):
            return None
        return round(match.kept["trained"][step], 1)

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

    every |= {point.key: point for point in earlier_points(chosen, match)}
    for step, path in networks(match, chosen, out, say):
        files[step] = path
        play(curve_points(chosen, step))
        if chosen.curve_games and chosen.equal and not step:
            play(match.equal_seconds(path, 0, min(chosen.simulations), chosen.curve_games))
    last = max(files)
    points = last_points(chosen, last)
    for s in chosen.simulations:
        play([point for point in points if point.sims == s and point.iterations <= LONG])
    play([point for point in points if point.iterations > LONG])
    if chosen.equal:
        most = max(chosen.simulations)
        play(match.equal_seconds(files[last], last, most, chosen.games))
    report.extra["complete"] = True
    save()
    return report


def curve_points(settings: Settings, step: int) -> list[Point]:
    """Returns the points of the learning curve that a network of some step plays."""
    games, least = settings.curve_games, min(settings.simulations)
    if not games:
        return []
    most = LONG if step else LONGER
    points = [
        Point("PimBot", n, least, step, games, likeliest=likeliest)
        for likeliest in settings.likeliest
        for n in settings.iterations
        if n <= most
    ]
    if step or not settings.greedy_steps:
        return points
    short = [n for n in settings.iterations if n <= LONG]
    return [Point("PimBot", n, 0, step, games) for n in short] + points


def last_points(settings: Settings, step: int) -> list[Point]:
    """Returns the points that the network of the last step plays."""
    return [
        Point("PimBot", n, s, step, settings.games, likeliest=likeliest)
        for s in settings.simulations
        for likeliest in settings.likeliest
        for n in settings.iterations
    ]


def earlier_points(settings: Settings, match: Matches) -> list[Point]:
    """Returns the points that an earlier run may have played, for the table to begin with."""
    before = sorted(int(step) for step in match.kept.get("trained", {}))
    points = [point for step in before for point in curve_points(settings, step)]
    if not before:
        return points
    least, most = min(settings.simulations), max(settings.simulations)
    points += last_points(settings, before[-1])
    points += match.measured(equal_trials(0, least, settings.curve_games))
    return points + match.measured(equal_trials(before[-1], most, settings.games))


def _figure(rows: list[dict[str, Any]], settings: Settings) -> Any:
    """Returns a figure: wins by iterations of PimBot, ours with intervals, the paper's dashed.

    Of each search it shows the games of the network that was trained longest.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    last = max(row["train_steps"] for row in rows)
    against = [r for r in rows if r["opponent"] == "PimBot" and not r["equal_seconds"]]
    shown = [(0, "none")]
    shown += [(s, how) for s in settings.simulations for how in ("sog", "sog, likeliest")]
    for number, (s, search) in enumerate(shown):
        mine = [r for r in against if (r["sims"], r["search"]) == (s, search)]
        if not mine:
            continue
        step = max(r["train_steps"] for r in mine)
        mine = [r for r in mine if r["train_steps"] == step]
        # Side by side, so that intervals can be told apart.
        x = [r["opponent_iterations"] * 1.06**number for r in mine]
        y = np.array([r["win"] for r in mine])
        ends = [y - [r["low"] for r in mine], np.array([r["high"] for r in mine]) - y]
        name = f"SoG({s}, 1){search[3:]}" if s else "greedy moves"
        name += f", step {step}" if s and step < last else ""
        axes.errorbar(x, y, np.maximum(ends, 0), fmt="o-", capsize=3, label=name)
    axes.plot(list(WIN_PAPER), list(WIN_PAPER.values()), "k--", label="SoG(400, 1), paper")
    axes.set(xscale="log", ylim=(0, 100), xlabel="PimBot's iterations", ylabel="wins in %")
    axes.legend(fontsize=8)
    return figure
