"""The two engines of continual re-solving on one game: `python experiments/bench/engines.py`.

All of Leduc is re-solved, each seat at its own decisions, with searches that go to the end of the
game, so that both engines face the same subgames and need no value function. The fixed engine knows
each subgame's tree before it starts; the growing one opens it public state by public state. Times
are of whole games after compilation.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import jax
import jax.numpy as jnp

import games
import jaxsolve as js
from experiments._report import device_name
from jaxsolve.evaluate import respond
from jaxsolve.public import no_limit, public_table
from jaxsolve.search import fixed_resolver, growing_resolver, resolve_game


def main(game: str, lengths: tuple[int, ...]) -> None:
    """Prints a line for each engine and length of its searches."""
    table = public_table(games.load(game))
    print(f"{game} on {device_name()}, JAX {jax.__version__}: {len(table.parent)} public states")
    nothing: Any = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))
    for count in lengths:
        fixed = fixed_resolver(table, no_limit, js.cfr_plus(), iterations=count)
        growing = growing_resolver(
            table, js.cfr_plus(), simulations=count, skip_solved=True, batch=16
        )
        for name, resolver, value in (("fixed", fixed, None), ("growing", growing, nothing)):
            seconds = []
            for k in range(3):
                begin = time.perf_counter()
                found = resolve_game(resolver, value, jax.random.key(k))
                jax.block_until_ready(found)
                seconds.append(time.perf_counter() - begin)
            gap = respond(table, found).exploitability
            print(
                f"{name}, {count} iterations a search: {min(seconds[1:]):.3g} s a game, "
                f"the first {seconds[0]:.3g} s with compilation; exploitability {gap:.3g}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--lengths", type=int, nargs="+", default=[300, 1000])
    chosen = parser.parse_args()
    main(chosen.game, tuple(chosen.lengths))
