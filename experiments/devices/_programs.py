"""The programs that are compiled, in the sizes of users, and what each would be compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax

import jaxsolve as js
from experiments.devices._builders import (
    batch_of_games,
    belief_searches,
    best_response,
    game_loop,
    growing_searches,
    hand_vectors,
    loop,
    repeated,
    rules,
    training,
)
from jaxsolve import holdem

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Program(NamedTuple):
    """A program, and what a user would compare it with.

    Attributes:
        make: for a platform of JAX, (jitted function, arguments or their shapes).
        quick: part of the short form of the study.
        peer: a published time an iteration, in words.
        peer_ms: that time.
        large: left out unless it is asked for.
    """

    make: Callable[[str], tuple[Any, tuple[Any, ...]]]
    quick: bool = False
    peer: str | None = None
    peer_ms: float | None = None
    large: bool = False


def _spot(example: str, everything: bool, platform: str) -> tuple[Any, tuple[Any, ...]]:
    return loop(_spot_tree(example, everything, platform), js.dcfr())


def _rivers(count: int, platform: str) -> tuple[Any, tuple[Any, ...]]:
    """Rivers with all hands in one vmapped call, as `solve_spots` makes it."""
    one, (tree, solver, state, some, horizon) = loop(_spot_tree("river", True, platform), js.dcfr())
    members = jax.jit(jax.vmap(one, in_axes=(0, None, 0, None, None)), donate_argnums=2)
    return members, (repeated(tree, count), solver, repeated(state, count), some, horizon)


def _spot_tree(example: str, everything: bool, platform: str) -> js.PublicTree:
    spot = holdem.Spot.load(EXAMPLES / f"{example}.toml")
    if everything:
        spot = holdem.Spot.parse({**spot.as_dict(), "oop": "full", "ip": "full"})
    form = "prefix" if platform == "cpu" else "dense_bf16"
    return holdem.spot_tree(spot, operator=form).tree


RUST = "AVX Rust solver, 1 thread of a CPU"
GPU_CFR = "a published GPU solver of whole games, 8 to 29 ms by game"

GOOFSPIEL = "goofspiel(cards={},order=descending,imp_info=true)"

PROGRAMS = {
    "CFR+, kuhn": Program(partial(game_loop, "kuhn"), quick=True),
    "CFR+, leduc": Program(partial(game_loop, "leduc"), False, GPU_CFR),
    "CFR+, liars_dice(sides=5)": Program(partial(game_loop, "liars_dice(sides=5)")),
    "CFR+, liars_dice(sides=6)": Program(partial(game_loop, "liars_dice(sides=6)")),
    "CFR+, goofspiel(cards=5)": Program(partial(game_loop, GOOFSPIEL.format(5))),
    "CFR+, goofspiel(cards=7)": Program(partial(game_loop, GOOFSPIEL.format(7)), large=True),
    "CFR+, 256 leducs": Program(partial(batch_of_games, "leduc", 256)),
    "best response, leduc": Program(partial(best_response, "leduc")),
    "river": Program(partial(_spot, "river", False), True, RUST, 0.064),
    "river, all hands": Program(partial(_spot, "river", True), True, RUST, 0.343),
    "turn, all hands": Program(partial(_spot, "turn", True), False, RUST, 87.7),
    "64 rivers, all hands": Program(partial(_rivers, 64)),
    "1,024 GT-CFR searches, leduc": Program(partial(growing_searches, "leduc", 1024, 32, 64)),
    "1,024 belief searches, leduc": Program(partial(belief_searches, "leduc", 1024, 100, 64)),
    "training on beliefs, leduc": Program(partial(training, "leduc", False, 64, 64, 100)),
    "training by sound self-play, leduc": Program(partial(training, "leduc", True, 64, 64, 32)),
    "4,096 states of leduc": Program(partial(rules, "leduc", 4096)),
    "4,096 states of London": Program(partial(rules, "scotland_yard(board=london)", 4096)),
    "vectors of hands, 64 boards": Program(partial(hand_vectors, 64)),
}
"""By name. A whole game of goofspiel with 7 cards takes 11 GB while it is listed."""
