"""Training of the study's networks: before self-play, and by it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax

from experiments.sog_scotland_yard._greedy import greedy_games
from experiments.sog_scotland_yard._look_ahead_games import look_ahead_games
from experiments.sog_scotland_yard._matches import Matches, players
from experiments.sog_scotland_yard._settings import (
    GREEDY_GAMES,
    GREEDY_PLAN,
    LOOK_GAMES,
    LOOK_PLAN,
    QUADRATIC,
    REUSE,
    Settings,
    on_cpu,
)
from jaxsolve import learn, nets


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


def clock() -> Callable[[], float]:
    """Returns what training is timed by: on a CPU the processor's seconds, of all threads."""
    return time.process_time if on_cpu() else time.perf_counter


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
    greedy = greedy_games(here.model, here.game, **GREEDY_GAMES)
    abreast = 1 if on_cpu() else None
    look = look_ahead_games(here.model, here.root, abreast=abreast, **LOOK_GAMES)
    seconds = 0.0
    for name, steps, source, options in (
        ("greedy", settings.greedy_steps, greedy, GREEDY_PLAN),
        ("look", settings.look_steps, look, LOOK_PLAN),
    ):
        if not steps:
            continue
        found = learn.train(
            net,
            source,
            plan_of(source, steps=steps, policy_weight=0.0, **options),
            out=out / name,
            resume=True,
            clock=clock(),
            progress=False,
        )
        net, seconds = found.net, seconds + float(found.curve[-1]["seconds"])
    return net, seconds


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
        clock=clock(),
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
            episodes=settings.episodes, p_td1=settings.p_td1, abreast=1 if on_cpu() else None
        ),
    )
    plan = plan_of(
        source,
        steps=max(settings.steps),
        minibatch=settings.minibatch,
        buffer=settings.buffer,
        updates=max(1, round(REUSE * source.batch / settings.minibatch)),
        learning_rate=settings.learning_rate,
    )
    return source, plan
