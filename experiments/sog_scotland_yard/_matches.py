"""Games of Student of Games in London against PimBot and our information set MCTS."""

from __future__ import annotations

import dataclasses
import functools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

import games
import jaxsolve as js
from experiments._report import device_name, wilson
from experiments._workers import results_of
from experiments.sog_scotland_yard._opponents import greedy_agent, ismcts_agent
from experiments.sog_scotland_yard._pimbot import PimBot, pimbot
from games.scotland_yard import ScotlandYard
from jaxsolve import agents, devices, evaluate, nets
from jaxsolve.files import write_atomic
from jaxsolve.game import Agent
from jaxsolve.public import hidden_piece_model
from jaxsolve.search import GrowingEngine, Resolver, growing_resolver

if TYPE_CHECKING:
    from experiments.sog_scotland_yard._settings import Settings

WIN_PAPER = {10: 99.0, 100: 97.1, 1_000: 83.6, 10_000: 65.8}
"""Wins of SoG(400, 1) in %, by PimBot's iterations."""

PAPER_SIMS = 400

SOLVER = js.cfr_plus().simultaneous()
"""The paper's updates."""


@dataclasses.dataclass(frozen=True)
class Point:
    """One line of the table.

    Attributes:
        opponent: "PimBot" or "ISMCTS".
        iterations: of it.
        sims: s of ours; 0 for the greedy player, who has neither a search nor a network.
        step: of training.
        games: to play.
        equal: whether `iterations` follow from the seconds of ours.
        likeliest: ours plays the likeliest action of what it finds, the paper's draws one.
    """

    opponent: str
    iterations: int
    sims: int
    step: int
    games: int
    equal: bool = False
    likeliest: bool = False

    @property
    def key(self) -> str:
        """A name for the file of games."""
        how = " likeliest" if self.likeliest else ""
        return f"{self.opponent} {self.iterations} s {self.sims} step {self.step}{how}"

    @property
    def search(self) -> str:
        """A name for ours."""
        how = "sog, likeliest" if self.likeliest else "sog"
        return how if self.sims else "none"


class Players:
    """The rules, and who plays by them."""

    def __init__(self, game: str):
        found = games.load(game)
        if not isinstance(found, ScotlandYard):
            raise ValueError(f"{game} is not Scotland Yard")
        self.game = found
        self.model, self.root = hidden_piece_model(found)
        self.arena = evaluate.rules_arena(found, max_moves=self.model.depth + 2, max_rows=8)

    def resolver(self, simulations: int) -> Resolver[GrowingEngine]:
        """Returns the search SoG(s, 1)."""
        return growing_resolver(self.model, SOLVER, simulations=simulations, root=self.root)

    def ours(self, net: nets.Net, simulations: int, likeliest: bool) -> Agent:
        """Returns who plays what `resolver` finds, if `likeliest` its likeliest action."""
        agent = agents.resolving(
            self.resolver(simulations),
            net,
            prior=nets.policy_prior(net),
            name=f"SoG({simulations})",
        )
        return agents.thresholded(agent, 1.0) if likeliest else agent

    def theirs(self, opponent: str, iterations: int) -> Agent:
        """Returns an opponent."""
        if opponent == "ISMCTS":
            return ismcts_agent(self.game, iterations)
        return pimbot(self.game, PimBot(iterations))

    def seconds(self, agent: Agent, count: int) -> float:
        """Returns the seconds of a move, one after the other as in a match: Mr X's first one."""
        position = self.arena.step(self.arena.start(), jax.numpy.int32(self.game.map.evader[0] - 1))
        seen = self.arena.observation(position, 0)
        seat = jax.numpy.int32(0)
        keys = jax.random.split(jax.random.key(0), count)

        def act(key: Any) -> Any:
            first, second = jax.random.split(key)
            return agent.act(agent.init(seat, first), seen, second)[0].action

        run = jax.jit(devices.vmap(act, 1)).lower(keys).compile()
        run(keys).block_until_ready()
        begin = time.perf_counter()
        run(keys).block_until_ready()
        return round((time.perf_counter() - begin) / count, 5)


@functools.cache
def players(game: str) -> Players:
    """Returns the players of a game, made once in a process."""
    return Players(game)


@functools.cache
def mine(game: str, net: Path, sims: int, likeliest: bool) -> Agent:
    """Returns ours, the same object for all games of a process."""
    here = players(game)
    return here.ours(nets.load_net(net), sims, likeliest) if sims else greedy_agent(here.game)


@functools.cache
def theirs(game: str, opponent: str, iterations: int) -> Agent:
    """Returns the opponent, the same object for all games of a process."""
    return players(game).theirs(opponent, iterations)


def seats(game: str, net: Path, point: Point) -> tuple[Agent, Agent]:
    """Returns (ours, theirs)."""
    ours = mine(game, net, point.sims, point.likeliest)
    return ours, theirs(game, point.opponent, point.iterations)


def played(game: str, net: Path, point: Point, first: int, count: int) -> list[float]:
    """Returns what games are worth to us, roles swapped for every other one.

    Args:
        game: string of the rules.
        net: file of the network.
        point: who plays.
        first: number of the first game.
        count: how many.
    """
    both = seats(game, net, point)
    key = jax.random.fold_in(jax.random.key(1), first)
    arena = players(game).arena
    match = evaluate.play_matches(arena, both, count, key, keep_policies=False, in_turn=True)
    return [float(x) for x in np.asarray(match.utility[:, 0])]


def seconds_of(game: str, net: Path, point: Point, count: int, agent: int) -> float:
    """Returns the seconds of a move of ours (agent 0) or theirs (1)."""
    both = seats(game, net, point)
    return players(game).seconds(both[agent], count)


class Matches:
    """Games in groups, kept in a file as they are played, by number of the first game.

    What was played and trained on another device counts; its seconds do not.
    """

    def __init__(self, settings: Settings, out: Path):
        self.settings = settings
        self.path = out / "matches.json"
        same = {"settings": settings.about, "jax": jax.__version__}
        self.kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        if any(self.kept.get(k) != v for k, v in same.items()):
            self.kept = same | {"points": {}}
        if self.kept.get("device") != device_name():
            self.kept |= {"device": device_name(), "seconds": {}, "equal": {}}
            self.kept["trained_elsewhere"] = [*self.kept.get("trained", {})]

    def groups(self, point: Point) -> dict[str, list[float]]:
        """Returns the groups of games of a point that have been played."""
        found: dict[str, list[float]] = self.kept["points"].get(point.key, {})
        return found

    def won(self, point: Point) -> list[float]:
        """Returns what those games were worth to us."""
        groups = self.groups(point)
        return [x for first in sorted(groups, key=int) for x in groups[first]]

    def play(
        self, points: list[Point], nets_at: dict[int, Path], after: Callable[[], None]
    ) -> None:
        """Plays what is left of some points, a round of each in turn.

        Args:
            points: whose.
            nets_at: files of networks, by step of training.
            after: called with every group that is over.
        """
        chosen = self.settings
        tasks = [
            (chosen.game, nets_at[point.step], point, first, min(chosen.group, point.games - first))
            for first in range(0, max(point.games for point in points), chosen.group)
            for point in points
            if first < point.games and str(first) not in self.groups(point)
        ]
        unknown = {
            str(point.sims): (chosen.game, nets_at[point.step], point, chosen.group, 0)
            for point in points
            if str(point.sims) not in self.kept["seconds"]
        }
        for task, seconds in results_of(seconds_of, [*unknown.values()], chosen.processes):
            self.kept["seconds"][str(task[2].sims)] = seconds
        for (_, _, point, first, _), won in results_of(played, tasks, chosen.processes):
            self.kept["points"].setdefault(point.key, {})[str(first)] = won
            self.save()
            after()

    def save(self) -> None:
        """Writes what is kept, whole or not at all."""
        write_atomic(self.path, json.dumps(self.kept).encode())

    def row(self, point: Point) -> dict[str, Any]:
        """Returns the row of a point."""
        won = self.won(point)
        wins = sum(x > 0 for x in won)
        low, high = wilson(wins, len(won))
        listed = point.opponent == "PimBot" and point.sims == PAPER_SIMS
        listed &= not point.equal and not point.likeliest
        return {
            "opponent": point.opponent,
            "opponent_iterations": point.iterations,
            "equal_seconds": point.equal,
            "sims": point.sims,
            "search": point.search,
            "network": self.settings.network if point.sims else "none, greedy moves",
            "train_steps": point.step,
            "wins": wins,
            "games": len(won),
            "wins_as_mr_x": sum(x > 0 for x in won[::2]),
            "wins_as_detectives": sum(x > 0 for x in won[1::2]),
            "win": round(100 * wins / len(won), 1),
            "low": round(100 * low, 1),
            "high": round(100 * high, 1),
            "seconds_per_move": self.kept["seconds"].get(str(point.sims)),
            "win_paper": WIN_PAPER.get(point.iterations) if listed else None,
        }

    def equal_seconds(self, net: Path, step: int, sims: int, count: int) -> list[Point]:
        """Returns points against opponents that think as long as a search of ours.

        How many iterations that is, is measured once and kept.

        Args:
            net: file of the network.
            step: of its training.
            sims: s of ours.
            count: games of a point.
        """
        game, group, processes = self.settings.game, self.settings.group, self.settings.processes
        trials = equal_trials(step, sims, count)
        kept = self.kept.setdefault("equal", {})
        if any(trial.key not in kept for trial in trials):
            tasks = [(game, net, trials[0], group, 0), *((game, net, x, group, 1) for x in trials)]
            found = {task[2:]: s for task, s in results_of(seconds_of, tasks, processes)}
            mine = found[trials[0], group, 0]
            for trial in trials:
                each = found[trial, group, 1] / trial.iterations
                kept[trial.key] = int(min(max(1, mine / max(each, 1e-9)), 30_000))
            self.save()
        return self.measured(trials)

    def measured(self, trials: list[Point]) -> list[Point]:
        """Returns those of some `equal_trials` whose iterations have been measured, with them."""
        kept = self.kept.get("equal", {})
        return [
            dataclasses.replace(trial, iterations=kept[trial.key])
            for trial in trials
            if trial.key in kept
        ]


def equal_trials(step: int, sims: int, count: int) -> list[Point]:
    """Returns points against opponents with iterations that their seconds are measured with."""
    return [Point(name, 100, sims, step, count, equal=True) for name in ("PimBot", "ISMCTS")]
