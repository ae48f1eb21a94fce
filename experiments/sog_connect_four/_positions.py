"""Positions that moves are judged in: of uniform random games and of games of our own search."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.sog_connect_four._board import (
    COLUMNS,
    ROWS,
    connect_four,
    cut,
    exact_values,
    replay,
)
from experiments.sog_connect_four._searches import best_moves
from jaxsolve import nets
from jaxsolve.files import write_atomic
from jaxsolve.tree import pick


def kinds(
    net: nets.Net, count: int, out: Path, *, simulations: int, batch: int, seed: int
) -> dict[str, Callable[[], np.ndarray]]:
    """Returns what makes the positions of each kind, int32 [P, 42], one of each game.

    Args:
        net: plays the games of its own.
        count: P.
        out: folder that those games are kept in.
        simulations: s of those games.
        batch: searches side by side.
        seed: of games, and of which positions they are cut at.
    """

    def own() -> np.ndarray:
        path = out / "games.npz"
        return own_games(net, count, path, simulations=simulations, batch=batch, seed=seed)

    made = {"random": lambda: random_games(count, seed), "self-play": own}

    def cut_of(games: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
        return lambda: cut(games(), np.random.default_rng(seed))

    return {kind: cut_of(games) for kind, games in made.items()}


def random_games(count: int, seed: int = 1) -> np.ndarray:
    """Returns int32 [G, 42], moves of uniform random games, -1 after the last."""
    game = connect_four()

    def one(key: Any) -> Any:
        draws = jax.random.uniform(key, (ROWS * COLUMNS,))

        def step(state: Any, draw: Any) -> tuple[Any, Any]:
            legal = game.legal(state)
            move = jnp.where(legal.any(), pick(legal.astype(float), draw), -1)
            after = game.step(state, jnp.maximum(move, 0))
            go = move >= 0
            return jax.tree.map(lambda x, y: jnp.where(go, x, y), after, state), move

        return jax.lax.scan(step, game.init(), draws)[1]

    return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(seed), count)))


def own_games(
    net: nets.Net, count: int, path: Path, *, simulations: int, batch: int, seed: int
) -> np.ndarray:
    """Returns int32 [G, 42], games of SoG(s, 1) against itself after four random moves.

    They are kept in a file, since they take minutes.
    """
    settings = f"{count} games of SoG({simulations}, 1), {batch} at a time, seed {seed}"
    if path.exists():
        kept = np.load(path)
        if kept["settings"] == settings:
            return np.asarray(kept["games"])
    game = connect_four()
    games = random_games(count, seed).copy()
    games[:, 4:] = -1

    @jax.jit
    def over(moves: Any) -> Any:
        return jax.vmap(lambda m: ~game.legal(replay(m)).any())(moves)

    for ply in range(4, ROWS * COLUMNS):
        live = np.flatnonzero(~np.asarray(over(jnp.asarray(games))))
        if not len(live):
            break
        games[live, ply] = best_moves("sog", net, simulations, games[live], batch)[0]
    keep(path, games=games, settings=np.asarray(settings))
    return games


def known_values(positions: np.ndarray, path: Path) -> np.ndarray:
    """Returns `exact_values`, kept in a file."""
    if path.exists():
        kept = np.load(path)
        if np.array_equal(kept["positions"], positions):
            return np.asarray(kept["values"])
    values = exact_values(positions)
    keep(path, positions=positions, values=values)
    return values


def keep(path: Path, **arrays: np.ndarray) -> None:
    """Writes arrays to a file, whole or not at all."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_atomic(path, content.getvalue())
