"""Networks of London against each other, as players who look one move ahead: seconds a pair.

    python -m experiments.sog_scotland_yard.networks runs/london/network-*.npz --games 256

Says which network has the better values long before a match of searches would: a game takes a
tenth of a second. Rows are Mr X, columns detectives; the number is the share of games Mr X wins.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import pandas as pd

from experiments._report import wilson
from experiments.sog_scotland_yard._look_ahead_games import play
from experiments.sog_scotland_yard._matches import players
from experiments.sog_scotland_yard._settings import LOOK_GAMES, Settings
from jaxsolve import devices, nets
from jaxsolve.nets import Net
from jaxsolve.types import Array


def matcher(game: str, games: int) -> Callable[[Net, Net], float]:
    """Returns a function (network of Mr X, network of the detectives) -> share that Mr X wins.

    Without noise, with the temperatures of training; any two networks have the same random numbers.

    Args:
        game: string of the rules.
        games: to play.
    """
    here, sharp = players(game), jnp.asarray(LOOK_GAMES["temperature"])

    @jax.jit
    def outcomes(evader: Net, detectives: Net) -> Array:
        def one(key: Array) -> Array:
            both = evader, detectives
            return play(here.model, both, here.root, key, temperature=sharp, noise=jnp.zeros(2))[0]

        return devices.vmap(one, 1)(jax.random.split(jax.random.key(7), games))

    return lambda evader, detectives: float((outcomes(evader, detectives) > 0).mean())


def main() -> None:
    """Prints the share of games that Mr X wins, and the widest interval."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--games", type=int, default=128)
    parser.add_argument("--game", default=Settings().game)
    options = parser.parse_args()
    if options.games < 1:
        parser.error(f"--games: {options.games} is not a number of games")
    try:
        every = {str(path): nets.load_net(path) for path in options.networks}
        for net in every.values():
            net.check(players(options.game).model)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    share = matcher(options.game, options.games)
    rows = {
        name: {other: share(evader, detectives) for other, detectives in every.items()}
        for name, evader in every.items()
    }
    print(pd.DataFrame.from_dict(rows, orient="index").rename_axis("Mr X").round(3).to_string())
    low, high = wilson(options.games // 2, options.games)
    print(f"95 % intervals of {options.games} games: up to {100 * (high - low) / 2:.0f} points")


if __name__ == "__main__":
    main()
