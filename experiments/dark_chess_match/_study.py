"""Points of agents for dark chess against each other and against simple players.

The first move of each side is random, colours take turns, and everything else is the agents': two
games of a pair share no opening. Draws count half; intervals are Wilson's, 95 %. All who search
have the same seconds of the processor for a move, so that other work on the machine changes
nothing; `seconds_per_move` and `nodes` are medians, since the first moves of a process compile
programs. Games run side by side in processes of one core each, and each is kept as it ends: a
stopped study goes on, and the full one begins with the games that are recorded for its device.

Sources of the comparisons: KLSS against a search of depth 1 59.5 : 40.5 (Zhang & Sandholm 2021);
Obscuro against the KLSS agent 85.1 % of 1,000 games at 5 s a move (2025, arXiv 2506.01242).
"""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments._report import Report, device_name, slug, wilson
from experiments._workers import results_of
from jaxsolve.files import write_atomic
from jaxsolve.hosts import processors

COLUMNS = (
    *("agent", "opponent", "points", "games", "low", "high", "seconds_per_move"),
    *("opponent_seconds", "nodes", "plies", "points_paper"),
)
RESULTS = Path(__file__).parent / "results"
GAME = "dark_chess(plies=400)"
"""The rules; a game that is not over then is a draw."""

QUICK_GAME = "dark_chess(plies=100)"
"""Rules of the quick run, so that no game takes minutes."""


@dataclasses.dataclass(frozen=True)
class Match:
    """A pair of players.

    Attributes:
        agent: whose points are counted.
        opponent: the other.
        games: how many.
        seconds: of a move.
        paper: points in a paper, in %, where it has such a match.
    """

    agent: str
    opponent: str
    games: int
    seconds: float
    paper: float | None = None


FULL = (
    Match("klss", "random", 80, 0.2),
    Match("obscuro", "random", 80, 0.2),
    Match("klss", "greedy", 40, 0.2),
    Match("obscuro", "greedy", 40, 0.2),
    Match("klss", "depth-1", 60, 0.2, 59.5),
    Match("obscuro", "depth-1", 40, 0.2),
    Match("klss", "depth-1", 60, 1.0, 59.5),
    Match("obscuro", "klss", 220, 0.2, 85.1),
    Match("obscuro", "depth-2", 200, 1.0),
    Match("klss", "depth-2", 200, 1.0),
    Match("klss, purified", "depth-2", 200, 1.0),
)
QUICK = (
    Match("klss", "random", 2, 0.2),
    Match("obscuro", "random", 2, 0.2),
    Match("klss", "depth-1", 2, 0.2, 59.5),
    Match("obscuro", "depth-1", 2, 0.2),
    Match("obscuro", "klss", 2, 0.2, 85.1),
)


def main(
    quick: bool,
    out: Path,
    *,
    record: bool | None = None,
    plan: tuple[Match, ...] | None = None,
    game: str | None = None,
) -> Report:
    """Returns the table, after saving rows, games and a picture in `out`.

    Args:
        quick: a few games of each pair.
        out: folder; a stopped run goes on there.
        record: also write the result of this device and its games to the study's folder, as they
            are played; by default for the full run.
        plan: other matches.
        game: string of the rules; by default those of the full or the quick run.
    """
    record = (not quick and plan is None) if record is None else record
    recorded = RESULTS / f"{slug(device_name())}.games.jsonl"
    plan = plan or (QUICK if quick else FULL)
    game = game or (QUICK_GAME if quick else GAME)
    report = Report("dark_chess_match", quick, 0.0, [], columns=COLUMNS, extra={"complete": False})
    kept = out / "games.jsonl"
    out.mkdir(parents=True, exist_ok=True)
    source = recorded if record and not kept.exists() else kept
    played = [json.loads(x) for x in source.read_text().splitlines()] if source.exists() else []
    known = {_key(x) for x in played}
    tasks = [
        {"agent": m.agent, "opponent": m.opponent, "seconds": m.seconds, "game": k, "rules": game}
        for m in plan
        for k in range(m.games)
    ]
    waiting = [task for task in tasks if _key(task) not in known]
    count = max(1, min(processors(), len(waiting)))
    if waiting:
        print(f"{len(waiting)} games, {count} at a time", flush=True)
    for _, game_played in results_of(play, [(task,) for task in waiting], count):
        played.append(game_played)
        lines = "".join(json.dumps(g) + "\n" for g in played).encode()
        write_atomic(kept, lines)
        report.rows = [row for m in plan if (row := _row(m, played))]
        report.seconds = sum(g["took"] for g in played) / processors()
        report.save(out)
        if record:
            report.record(RESULTS)
            write_atomic(recorded, lines)
        last = played[-1]
        print(
            f"{len(played)} of {len(tasks)}: {last['agent']} {last['points']:g} "
            f"{last['opponent']}, {last['plies']} plies, {last['took']:.0f} s",
            flush=True,
        )
    report.rows = [row for m in plan if (row := _row(m, played))]
    report.extra["complete"] = True
    report.seconds = sum(g["took"] for g in played) / processors()
    report.save(out, figure=_figure(report.rows))
    if record:
        report.record(RESULTS)
    return report


def play(task: dict[str, Any]) -> dict[str, Any]:
    """Returns one game: the task, points of its agent, moves, seconds and nodes."""
    import jax

    from experiments.dark_chess_match._players import arena_of, player
    from jaxsolve import evaluate

    begin, seat = time.perf_counter(), task["game"] % 2
    text = task["rules"]
    arena, rules = arena_of(text)
    mine, own = player(task["agent"], text, task["seconds"])
    other, theirs = player(task["opponent"], text, task["seconds"])
    own.clear()
    theirs.clear()
    seats = [mine, other] if seat == 0 else [other, mine]
    key = jax.random.key(task["game"])
    match = evaluate.play_matches(arena, seats, 1, key, mirror=False, keep_policies=False)
    moves = [int(a) for a in match.actions[0] if a >= 0]
    return {
        **task,
        "points": float(match.utility[0, seat]) / 2 + 0.5,
        "plies": len(moves),
        "moves": " ".join(rules.action_name(k % 2, a) for k, a in enumerate(moves)),
        "seconds_per_move": float(np.median(own.seconds or [0])),
        "opponent_seconds": float(np.median(theirs.seconds or [0])),
        "nodes": own.nodes,
        "positions": own.positions,
        "took": time.perf_counter() - begin,
    }


def _key(game: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(game[k] for k in ("agent", "opponent", "seconds", "game", "rules"))


def _row(match: Match, played: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Returns the row of a match, None without a game."""
    mine = [
        g
        for g in played
        if (g["agent"], g["opponent"], g["seconds"]) == (match.agent, match.opponent, match.seconds)
        and g["game"] < match.games
    ]
    if not mine:
        return None
    points = sum(g["points"] for g in mine)
    low, high = wilson(points, len(mine))
    nodes = [n for g in mine for n in g["nodes"]]
    held = [n for g in mine for n in g["positions"]]
    return {
        "agent": match.agent,
        "opponent": match.opponent,
        "points": 100 * points / len(mine),
        "games": len(mine),
        "low": 100 * low,
        "high": 100 * high,
        "draws": sum(g["points"] == 0.5 for g in mine),
        "seconds_per_move": float(np.median([g["seconds_per_move"] for g in mine])),
        "opponent_seconds": float(np.median([g["opponent_seconds"] for g in mine])),
        "nodes": float(np.median(nodes)) if nodes else None,
        "positions_mean": float(np.mean(held)) if held else None,
        "plies": float(np.mean([g["plies"] for g in mine])),
        "points_paper": match.paper,
    }


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: points of each pair with intervals, those of the papers as crosses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 0.45 * len(rows) + 1.2), layout="constrained")
    axes, place = figure.subplots(), np.arange(len(rows))[::-1]
    points = np.array([row["points"] for row in rows])
    off = np.array([[row["points"] - row["low"], row["high"] - row["points"]] for row in rows])
    axes.errorbar(points, place, xerr=np.maximum(off.T, 0), fmt="o", capsize=3, label="ours, 95 %")
    paper = [(row["points_paper"], y) for row, y in zip(rows, place, strict=True)]
    paper = [pair for pair in paper if pair[0] is not None]
    if paper:
        axes.plot(*zip(*paper, strict=True), "x", color="black", label="paper")
    axes.axvline(50, color="grey", linewidth=0.8)
    names = [
        f"{r['agent']} v {r['opponent']}, {r['seconds_per_move']:.1f} s ({r['games']})"
        for r in rows
    ]
    axes.set_yticks(place, names)
    axes.set_xlim(0, 102)
    axes.set_xlabel("points, % (games)")
    figure.legend(loc="outside upper center", ncols=2)
    return figure
