"""Connect four: a network trained by SoG with k = 1, and searches with it, judged exactly.

Positions are one of each of so many games, uniform random ones and games of the trained search
against itself, each cut at a random move. A move is optimal if it keeps the value of the game (win,
draw or loss); the loss is what it gives away, 2 from won to lost.

All searches have one network, which is asked about a board and its mirror image, and equal
simulations, and play without noise: SoG the likeliest move of its average policy, mctx's
MuZero-style search the most visited one, its Gumbel search the winner of its halving. "sog" is
SoG(s, 1), "sog, c=4" has four simulations after each update; the paper has c = 10 in chess and Go.
Rows of "warm" are ours: regrets of what is opened start at ten times the network's policy. So are
rows of "visits": the same search plays its most visited move. The network is given empty squares
where four would be complete, too, which it would have to learn.

Source: Schmid et al. 2023 (Student of Games) for the search; Danihelka et al. 2022 for the Gumbel
search; the solver is BitBully.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from experiments._report import Report, device_name, slug
from experiments.sog_connect_four._board import (
    COLUMNS,
    PLANES,
    ROWS,
    board_model,
    exact_values,
)
from experiments.sog_connect_four._figure import figure_of
from experiments.sog_connect_four._judged import COLUMNS_SHOWN, judge_searches
from experiments.sog_connect_four._mirror import both_ways, mirrored
from experiments.sog_connect_four._positions import kinds
from experiments.sog_connect_four._searches import SOLVER
from jaxsolve import learn, nets
from jaxsolve.search import growing_resolver

RESULTS = Path(__file__).parent / "results"


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        minutes: of training at most, of processor time of all threads together.
        steps: of training at most; the learning rate falls to 0 along a cosine of so many.
        train_sims: s while training.
        opening: random moves at the start of an episode, at most.
        episodes: side by side.
        width: channels of the network.
        blocks: residual blocks.
        simulations: s of the points.
        positions: of each kind.
        batch: searches side by side.
        log_every: steps between checkpoints.
    """

    minutes: float = 120.0
    steps: int = 10_000
    train_sims: int = 32
    opening: int = 16
    episodes: int = 64
    width: int = 32
    blocks: int = 3
    simulations: tuple[int, ...] = (1, 16, 64, 256)
    positions: int = 2_000
    batch: int = 50
    log_every: int = 100


QUICK = Settings(
    steps=6,
    train_sims=4,
    episodes=4,
    width=8,
    blocks=1,
    simulations=(16,),
    positions=20,
    batch=20,
    log_every=3,
)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row for each kind of positions, search and number of simulations.

    Args:
        quick: a network that has learned for seconds, and few positions.
        out: folder; a run that was stopped goes on where it was.
        settings: instead of those of the full or the quick run.
        record: also write the result and the network of this device to the study's folder; by
            default for the full run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and settings is None) if record is None else record
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    report = Report("sog_connect_four", quick, 0.0, rows, columns=COLUMNS_SHOWN)
    report.extra = {"settings": str(chosen), "complete": False}
    earlier, spent = report.earlier(out, same=("settings",))
    begin -= spent
    exact_values(np.full((1, ROWS * COLUMNS), -1))  # the solver is missing before any work
    alone, curve = train(chosen, out, say)
    net = both_ways(alone)
    nets.save_net(alone, out / "network.npz")
    if record:
        RESULTS.mkdir(parents=True, exist_ok=True)
        shutil.copy(out / "network.npz", RESULTS / f"network-{slug(device_name())}.npz")
    report.extra["training"] = curve

    def save() -> None:
        report.seconds = time.perf_counter() - begin
        report.save(out)
        if record:
            report.record(RESULTS)

    sims, batch = chosen.simulations, chosen.batch
    made = kinds(net, chosen.positions, out, simulations=chosen.train_sims, batch=batch, seed=1)
    judge_searches(rows, net, made, sims, batch, out, earlier=earlier, after=save, say=say)
    report.extra["complete"] = True
    save()
    report.save(out, figure=figure_of(rows))
    return report


def train(
    settings: Settings, out: Path, say: Callable[[str], None]
) -> tuple[nets.Net, list[dict[str, float]]]:
    """Returns (the network, its curve); a run that was stopped goes on where it was."""
    model, root = board_model()
    resolver = growing_resolver(model, SOLVER, simulations=settings.train_sims, root=root, top=1)
    source = learn.sound_self_play(
        resolver,
        episodes=settings.episodes,
        q_search=0.3,
        q_recursive=0.1,
        epsilon=0.05,
        p_td1=0.5,
        p_root=1.0,
        greedy_after=4,
        resign_below=-0.9,
        no_resign=0.2,
        max_moves=ROWS * COLUMNS,
        temperature=1.5,
        opening=settings.opening,
    )
    plan = learn.Plan(
        steps=settings.steps,
        updates=1,
        minibatch=256 if settings.episodes >= 32 else 16,
        buffer=1 << 16 if settings.episodes >= 32 else 1 << 10,
        policy_weight=1.0,
        value_weight=10.0,  # gradients of values are at most 0.1, see `Plan.huber`
        learning_rate=1e-3,
    )
    body = "conv " + "x".join(map(str, PLANES))
    module = nets.ValueNetwork(settings.width, settings.blocks, body=body, actions=COLUMNS)
    fresh = nets.make_net(model, module, jax.random.key(0), uniform_play=False)
    trained = learn.train(
        fresh,
        mirrored(source),
        plan,
        out=out / "training",
        resume=True,
        log_every=settings.log_every,
        time_limit=60 * settings.minutes,
        clock=time.process_time,
        progress=False,
    )
    last = trained.curve[-1]
    say(
        f"trained {last['seconds']:.0f} s of processor time: {last['episodes']:.0f} games, "
        f"{last['episodes'] / max(last['seconds'], 1e-9):.2f} a second, "
        f"{last['searches_per_second']:.0f} searches a second, loss {last['loss']:.3g}"
    )
    return trained.net, trained.curve
