"""The programs that are compiled: loops of CFR+ on games, and of DCFR on spots of hold'em."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import games
import jaxsolve as js
from jaxsolve import holdem
from jaxsolve.solvers import init_state, run
from jaxsolve.tree import laid_out

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Program(NamedTuple):
    """A program, and what a user would compare it with.

    Attributes:
        make: for a platform of JAX, (jitted function, arguments or their shapes).
        quick: part of the short form of the study.
        peer: a published time an iteration, in words.
        peer_ms: that time.
    """

    make: Callable[[str], tuple[Any, tuple[Any, ...]]]
    quick: bool = False
    peer: str | None = None
    peer_ms: float | None = None


def _game(name: str, platform: str) -> tuple[Any, tuple[Any, ...]]:
    return _loop(laid_out(js.compile(games.load(name)), platform), js.cfr_plus())


def _spot(example: str, everything: bool, platform: str) -> tuple[Any, tuple[Any, ...]]:
    return _loop(_spot_tree(example, everything, platform), js.dcfr())


def _rivers(count: int, platform: str) -> tuple[Any, tuple[Any, ...]]:
    """Rivers with all hands in one vmapped call, as `solve_spots` makes it."""
    loop, arguments = _loop(_spot_tree("river", True, platform), js.dcfr())
    tree, solver, state, some, horizon = arguments

    def many(x: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((count, *x.shape), x.dtype)

    members = jax.jit(jax.vmap(loop, in_axes=(0, None, 0, None, None)), donate_argnums=2)
    return members, (jax.tree.map(many, tree), solver, jax.tree.map(many, state), some, horizon)


def _spot_tree(example: str, everything: bool, platform: str) -> js.PublicTree:
    spot = holdem.Spot.load(EXAMPLES / f"{example}.toml")
    if everything:
        spot = holdem.Spot.parse({**spot.as_dict(), "oop": "full", "ip": "full"})
    form = "prefix" if platform == "cpu" else "dense_bf16"
    return holdem.spot_tree(spot, operator=form).tree


def _loop(tree: js.PublicTree, solver: js.Solver) -> tuple[Any, tuple[Any, ...]]:
    tree = tree.replace(names=None)
    state = jax.eval_shape(init_state, tree, solver)
    count = jnp.int32(1)
    return run, (tree, solver, state, count, count)


RUST = "AVX Rust solver, 1 thread of a CPU"

PROGRAMS = {
    "CFR+, kuhn": Program(functools.partial(_game, "kuhn"), quick=True),
    "CFR+, leduc": Program(functools.partial(_game, "leduc")),
    "CFR+, liars_dice(sides=5)": Program(functools.partial(_game, "liars_dice(sides=5)")),
    "CFR+, goofspiel(cards=5)": Program(
        functools.partial(_game, "goofspiel(cards=5,order=descending,imp_info=true)")
    ),
    "river": Program(functools.partial(_spot, "river", False), True, RUST, 0.064),
    "river, all hands": Program(functools.partial(_spot, "river", True), True, RUST, 0.343),
    "turn, all hands": Program(functools.partial(_spot, "turn", True), False, RUST, 87.7),
    "64 rivers, all hands": Program(functools.partial(_rivers, 64)),
}
