"""A network of positions of dark chess from self-play: `python experiments/bench/position_net.py`.

It plays games, trains on all but the last batch of them, saves the network in `--out`, and says how
well network and `game.evaluate` foretell how the games of the last batch end. With `--matches N`
Obscuro with the network plays N games against Obscuro without it, colours swapped, the first move
of each side random, at `--seconds` of the processor a move.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path

import jax

import games
from experiments._report import device_name, wilson
from jaxsolve import agents, evaluate, learn
from jaxsolve.nets import save_position_net
from jaxsolve.search.knowledge import Effort


def main() -> None:
    """Plays, trains, saves and measures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("position_net"))
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--games", type=int, default=256, help="of a batch")
    parser.add_argument("--plies", type=int, default=200)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--matches", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.1)
    options = parser.parse_args()
    game = games.load("dark_chess")
    rules, begin = game.positions, time.process_time()
    keys = jax.random.split(jax.random.key(0), options.batches + 1)
    played = [
        learn.position_games(
            *(rules, rules.evaluate, key), num_games=options.games, plies=options.plies
        )
        for key in keys[1:]
    ]
    jax.block_until_ready(played)
    middle = time.process_time()
    fit = learn.train_positions(rules, played, keys[0], steps=options.steps)
    options.out.mkdir(parents=True, exist_ok=True)
    save_position_net(fit.net, options.out / "dark_chess.npz")
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
    effort = Effort(seconds=options.seconds, clock=time.process_time)
    make = functools.partial(agents.obscuro, game, effort=effort, capacity=1 << 17, opening=1)
    arena = evaluate.rules_arena(games.load("dark_chess(plies=400)"), max_moves=401, max_rows=4)
    pair, points = [make(value_fn=fit.net, name="network"), make()], 0.0
    for k in range(options.matches):
        seat = k % 2
        seats = pair if seat == 0 else pair[::-1]
        key = jax.random.key(k)
        match = evaluate.play_matches(arena, seats, 1, key, mirror=False, keep_policies=False)
        points += float(match.utility[0, seat]) / 2 + 0.5
        low, high = wilson(points, k + 1)
        print(f"{points:g} of {k + 1}, 95 % {100 * low:.0f} to {100 * high:.0f} %", flush=True)


if __name__ == "__main__":
    main()
