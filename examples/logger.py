"""The numbers of a run in a logger of your own: one function, called with each new row.

    python examples/logger.py

trains a small value network on Kuhn poker for seconds, prints the loss and writes train.csv. The
function of another logger goes to the same place: `learn.train(..., callback=wandb.log)`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import jax

import jaxsolve as js
from jaxsolve import games, learn, nets, public, search

FILE = Path("train.csv")
rows: list[dict[str, float]] = []


def log(row: dict[str, float]) -> None:
    """Prints a row and writes the file anew; every row has the same keys."""
    rows.append(row)
    print(", ".join(f"{name} {row[name]:.3g}" for name in ("step", "loss", "seconds")))
    with FILE.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerows(rows)


game = public.public_game(games.load("kuhn"))
source = learn.random_beliefs(
    game,
    search.subgames(game, public.no_limit),
    js.pcfr_plus(),
    stages=[[1, 2], [0]],  # classes of public states, the last to act first
    steps=5,
    iterations=10,
    batch=16,
)
net = nets.make_net(game, nets.ValueNetwork(32, 2), jax.random.key(0))
plan = learn.Plan(steps=20, updates=4, minibatch=32, buffer=256)
learn.train(net, source, plan, log_every=5, progress=False, callback=log)


def log_solve(iteration: int, seconds: float, exploitability: float) -> None:
    """Prints a measurement: the callback of `js.solve` is called with three numbers."""
    print(f"iteration {iteration}, exploitability {exploitability:.3g}")


js.solve("kuhn", iterations=100, measure_every=50, progress=False, callback=log_solve)
