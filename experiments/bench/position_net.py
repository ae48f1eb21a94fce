"""A network of positions of dark chess from self-play: `python experiments/bench/position_net.py`.

It plays games, trains on all but the last batch of them, saves the network in `--out`, and says how
well network and `game.evaluate` foretell how the games of the last batch end. A folder that has a
network keeps it. With `--matches N`
Obscuro with the network plays N games against Obscuro without it, colours swapped, the first move
of each side random, at `--seconds` of the processor a move.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path
from typing import Any

import jax

import games
from experiments._report import device_name, wilson
from jaxsolve import agents, evaluate, learn
from jaxsolve.nets import PositionNet, load_position_net, save_position_net
from jaxsolve.search.knowledge import Effort


def main() -> None:
    """Trains, unless the folder has a network, and plays."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("position_net"))
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--games", type=int, default=256, help="of a batch")
    parser.add_argument("--plies", type=int, default=200)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--matches", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    rules, path = games.load("dark_chess").positions, options.out / "dark_chess.npz"
    if not path.exists():
        train(rules, path, options)
    match(load_position_net(path, rules), options.matches, options.seconds)


def train(rules: Any, path: Path, options: argparse.Namespace) -> None:
    """Plays, trains, saves the network, and says how good it is."""
    begin = time.process_time()
    keys = jax.random.split(jax.random.key(0), options.batches + 1)
    played = [
        learn.position_games(
            rules, rules.evaluate, key, num_games=options.games, plies=options.plies
        )
        for key in keys[1:]
    ]
    jax.block_until_ready(played)
    middle = time.process_time()
    fit = learn.train_positions(rules, played, keys[0], steps=options.steps)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_position_net(fit.net, path)
    found = {
        "device": device_name(),
        "jax": jax.__version__,
        "games": options.batches * options.games,
        "decided": float(sum((g.result != 0).mean() for g in played) / len(played)),
        "positions": fit.positions,
        "loss": fit.loss,
        "loss_of_evaluate": fit.guess_loss,
        "processor_seconds_of_games": middle - begin,
        "processor_seconds_of_training": time.process_time() - middle,
    }
    print(json.dumps(found, indent=1), flush=True)


def match(net: PositionNet, count: int, seconds: float) -> None:
    """Plays games of Obscuro with a network against Obscuro without."""
    effort = Effort(seconds=seconds, clock=time.process_time)
    game = games.load("dark_chess(plies=400)")
    make = functools.partial(agents.obscuro, game, effort=effort, capacity=1 << 17, opening=1)
    arena = evaluate.rules_arena(game, max_moves=401, max_rows=4)
    pair, points = [make(value_fn=net, name="network"), make()], 0.0
    for k in range(count):
        seat = k % 2
        seats, key = pair if seat == 0 else pair[::-1], jax.random.key(k)
        game_ = evaluate.play_matches(arena, seats, 1, key, mirror=False, keep_policies=False)
        points += float(game_.utility[0, seat]) / 2 + 0.5
        low, high = wilson(points, k + 1)
        print(
            f"{points:g} of {k + 1}, 95 % {100 * max(low, 0):.0f} to {100 * high:.0f} %", flush=True
        )


if __name__ == "__main__":
    main()
