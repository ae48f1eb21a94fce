"""Which sampler trains a blueprint."""

from __future__ import annotations

from collections.abc import Callable

import jax

from jaxsolve import native
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._vector_game import HandVectors
from jaxsolve.holdem._vector_sampler import HandVectorSampler
from jaxsolve.mccfr import ExternalSampler, Options, Sampler, VectorSampler


def _external(game: HoldemGame, options: Options | None, seed: int, threads: int) -> Sampler:
    if options is None:
        options = Options(seed=seed, average_stages=None if game.menu.players == 2 else 1)
    return ExternalSampler(game, options, threads=threads)


def _vector(game: HoldemGame, options: Options | None, seed: int, threads: int) -> Sampler:
    options = Options(seed=seed, unit=10) if options is None else options
    if jax.default_backend() == "cpu" and native.host_library("mccfr") is not None:
        return HandVectorSampler(game, options, threads=threads)
    return VectorSampler(HandVectors(game), options)


SAMPLERS: dict[str, Callable[[HoldemGame, Options | None, int, int], Sampler]] = {
    "external": _external,
    "vector": _vector,
}
"""By name: one deal a pass, or all hands on a board."""


def default_sampler(players: int, bits: int = 32) -> str:
    """Returns the name of the sampler that is stronger after equal time.

    Heads-up these are vectors of hands (docs/blueprints.md, "Strength by minutes and buckets");
    they are not for more players, and need tables of 32 bits.
    """
    return "vector" if players == 2 and bits == 32 else "external"


def make_sampler(
    game: HoldemGame,
    name: str | None = None,
    *,
    options: Options | None = None,
    seed: int = 0,
    threads: int = 1,
) -> Sampler:
    """Returns a sampler of `SAMPLERS`, with options that suit it unless they are given.

    Args:
        game: menu and buckets.
        name: "external", for any number of players; or "vector", heads-up, in C++ on a CPU and
            in JAX elsewhere; by default `default_sampler`.
        options: weights and pruning, the seed included; by default weights are linear. External
            sampling averages in passes heads-up; with more players it does so on the first street,
            and later ones are averaged by snapshots.
        seed: of the default options.
        threads: they share the tables.

    Raises:
        ValueError: an unknown name, or a sampler that is not for this game.
    """
    name = default_sampler(game.menu.players) if name is None else name
    if name not in SAMPLERS:
        raise ValueError(f"unknown sampler {name!r}; known are {', '.join(SAMPLERS)}")
    return SAMPLERS[name](game, options, seed, threads)
