"""What the study of London runs, and what its networks and games depend on."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxsolve.hosts import processors

QUADRATIC = 2.0
"""Outcomes are -1 and 1, whose mean a value is; a linear loss would find the likelier of both."""

GREEDY_GAMES: dict[str, Any] = {"games": 128, "noise": 0.1}
"""Of `greedy_games`."""

GREEDY_PLAN = {"minibatch": 512, "updates": 8, "buffer": 1 << 15, "learning_rate": 4e-3}
"""Of learning from them."""

LOOK_GAMES: dict[str, Any] = {
    "games": 64,
    "temperature": (0.2, 0.05),
    "noise": (0.05, 0.05),
    "trace": 0.95,
    "most": 2.0,
}
"""Of `look_ahead_games`."""

LOOK_PLAN = {"minibatch": 512, "updates": 8, "buffer": 1 << 15, "learning_rate": 1e-3}
"""Of learning from them."""

REUSE = 6
"""Updates that an example of self-play is part of, in the mean."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        game: the map and its rules.
        greedy_steps: batches of games of greedy players that the network learns from before it
            plays itself; 0, as in the paper, for none.
        look_steps: batches of games of players who look one move ahead with it, after those.
        steps: of training at which the network is kept and plays a point of the learning curve;
            the last one plays all points.
        minutes: of training at most, on a CPU of processor time of all threads together; a run
            that has reached them stops there.
        train_sims: s while training.
        episodes: side by side; on a CPU their searches come one by one, which is faster.
        p_td1: probability that an outcome becomes a target; 0 in the paper, too.
        learning_rate: of self-play. Ten times as much made the network worse, when what looks one
            move ahead with it is measured.
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
        likeliest: whether ours plays the likeliest action of what it finds, both by default.
        equal: also opponents that think as long.
        processes: in which games are played; 0 for this one.
    """

    game: str = "scotland_yard(board=london)"
    greedy_steps: int = 256
    look_steps: int = 250
    steps: tuple[int, ...] = (0, 400, 1600, 6400)
    minutes: float = 45.0
    train_sims: int = 24
    episodes: int = 8
    p_td1: float = 0.0
    learning_rate: float = 1e-4
    body: str = "shared"
    width: int = 64
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
        counts = ["simulations", "iterations", "games", "curve_games", "likeliest"]
        counts += ["equal", "processes"]
        every = dataclasses.asdict(self).items()
        chosen = {name: value for name, value in every if name not in counts}
        chosen |= {f"greedy_{name}": value for name, value in (GREEDY_GAMES | GREEDY_PLAN).items()}
        chosen |= {f"look_{name}": value for name, value in (LOOK_GAMES | LOOK_PLAN).items()}
        chosen |= {"reuse": REUSE}
        return ", ".join(f"{name}={value}" for name, value in chosen.items())

    @property
    def network(self) -> str:
        """What the network is and where it began."""
        first = ["greedy games"] if self.greedy_steps else []
        first += ["one move ahead"] if self.look_steps else []
        return ", ".join([self.body, *first])


ACCELERATOR = Settings(episodes=512, minibatch=1024, buffer=1 << 17)
"""Where programs run on a GPU or a TPU: more episodes at once. CPUs play the games there, too."""

QUICK = Settings(
    game="scotland_yard(board=london,rounds=3,reveals=[3],doubles=0)",
    greedy_steps=0,
    look_steps=2,
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


def on_cpu() -> bool:
    """Returns whether programs run on a CPU."""
    return jax.default_backend() == "cpu"
