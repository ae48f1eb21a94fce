"""Games of greedy players as examples: what a network can learn before it plays itself.

Mr X goes where the nearest detective is farthest, detectives to where the sum of distances to all
stations that he may be on is least; each plays any legal move instead with some probability. Where
Mr X may be follows from the tickets alone. A game gives some of its positions, with its outcome as
the target of the station that Mr X was on. Not in the paper, whose networks begin with nothing.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._outcomes import Seen, ended, positions_source
from experiments.sog_scotland_yard._pimbot import greedy, memory_of
from experiments.sog_scotland_yard._pimbot_parts import (
    board_of,
    filtered,
    moves_of,
    possible_after,
)
from games.scotland_yard import PLAYING, ScotlandYard
from jaxsolve import learn
from jaxsolve.public import HiddenPieceModel, HiddenRoot
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey


def greedy_games(
    model: HiddenPieceModel,
    game: ScotlandYard,
    *,
    games: int = 64,
    positions: int = 16,
    noise: float = 0.1,
) -> learn.Source:
    """Returns examples of values from games that are played for them, games x positions in a batch.

    Args:
        model: of the game.
        game: the rules.
        games: in a batch.
        positions: of a game, drawn with replacement.
        noise: probability of any legal move.
    """
    board, longest = board_of(game), game.longest()[0]

    def played(key: PRNGKey) -> Seen:
        """Returns positions of one game."""
        memory = memory_of(game, jnp.int32(0))
        keys = jax.random.split(key, 3)
        station = pick(memory.possible.astype(float), jax.random.uniform(keys[0]))
        start = game.place(memory.state, station), memory.possible

        def ply(carry: Any, draws: Array) -> tuple[Any, Any]:
            world, possible = carry
            here = moves_of(game, board, world)
            allowed = filtered(game, board, world, here, possible)
            best = greedy(board, world, here, allowed, possible, jnp.int32(0), draws[1])
            other = pick(here.legal.astype(float), draws[2])
            moved = game.step(world, here.action[jnp.where(draws[0] < noise, other, best)])
            after = moved, possible_after(board, possible, world, game.observe(moved)[0])
            on = world.result == PLAYING
            return jax.tree.map(lambda x, y: jnp.where(on, x, y), after, carry), (*carry, on)

        draws = jax.random.uniform(keys[1], (longest, 3))
        (end, _), (worlds, possible, on) = jax.lax.scan(ply, start, draws)
        some = jax.random.uniform(keys[2], (positions,)) * on.sum()
        worlds, possible = jax.tree.map(lambda x: x[some.astype(jnp.int32)], (worlds, possible))
        weight = possible / possible.sum(1, keepdims=True)
        root = HiddenRoot(worlds, weight, jnp.zeros(positions, jnp.int32))
        number = worlds.stations[:, 0].astype(jnp.int32)
        return jax.vmap(ended, (0, 0, 0, None))(root, weight, number, game.utility(end)[0])

    return positions_source(
        model,
        lambda _, key: jax.vmap(played)(jax.random.split(key, games)),
        games=games,
        positions=positions,
        settings=f"greedy games, noise {noise}",
    )
