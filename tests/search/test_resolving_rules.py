"""Continual re-solving from the rules alone equals that of the game's table, search by search."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.public import PublicTable, public_table, rules_model
from jaxsolve.search import Resolver, growing_resolver, resolve_game

OURS = js.cfr_plus(2.0)
ROOM: dict[str, dict[str, Any]] = {
    "kuhn": {"worlds": 6, "hands": 3, "children": 2, "actions": 2, "scale": 2.0},
    "leduc(suits=1,raises=1)": {
        "worlds": 6,
        "hands": 3,
        "children": 4,
        "actions": 3,
        "outcomes": 3,
        "scale": 7.0,
    },
    "leduc": {"worlds": 30, "hands": 6, "children": 7, "actions": 3, "outcomes": 6, "scale": 13.0},
    "liars_dice(sides=3)": {"worlds": 9, "hands": 3, "children": 7},
    "scotland_yard(rounds=3)": {
        "worlds": 12,
        "hands": (11, 1),
        "children": 3,
        "actions": 3,
        "merged": 4,
    },
}


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


def nothing(state: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


ZERO = jax.tree_util.Partial(nothing)


def from_rules(name: str, simulations: int, **options: Any) -> Resolver[Any]:
    where = table(name)
    model, root = rules_model(games.load(name), depth=where.depth, **ROOM[name])
    return growing_resolver(model, OURS, simulations=simulations, root=root, table=where, **options)


@pytest.mark.parametrize(
    ("name", "simulations", "seed", "when"),
    [
        ("kuhn", 4, 1, "own"),
        pytest.param("kuhn", 4, 1, "every", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=3)", 12, 1, "own", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=3)", 12, 1, "every", marks=pytest.mark.slow),
        # Of seeds 1 to 6, two have one search in which rounding decides between equal actions.
        pytest.param("leduc", 12, 2, "own", marks=pytest.mark.long),
        pytest.param("leduc", 12, 2, "every", marks=pytest.mark.long),
        pytest.param("scotland_yard(rounds=3)", 12, 1, "own", marks=pytest.mark.long),
        pytest.param("scotland_yard(rounds=3)", 12, 1, "every", marks=pytest.mark.long),
    ],
)
def test_searches_from_the_rules_are_those_of_the_table(
    name: str, simulations: int, seed: int, when: str
):
    """Equal keys grow equal trees, so every search of the composition gives the same policy."""
    where = table(name)
    room = {"capacity": 1 + where.depth + simulations, "batch": 8}
    listed = growing_resolver(where, OURS, simulations=simulations, **room)
    rules = from_rules(name, simulations, **room)
    want = resolve_game(listed, ZERO, jax.random.key(seed), when=when)
    got = resolve_game(rules, ZERO, jax.random.key(seed), when=when)
    np.testing.assert_allclose(got, want, atol=2e-4)


def test_bad_input():
    model, root = rules_model(games.load("kuhn"), depth=3, **ROOM["kuhn"])
    with pytest.raises(ValueError, match="rules_model returns it"):
        growing_resolver(model, OURS, simulations=4)
    with pytest.raises(ValueError, match="not of kuhn"):
        growing_resolver(
            model, OURS, simulations=4, root=root, table=table("leduc(suits=1,raises=1)")
        )
    alone = growing_resolver(model, OURS, simulations=4, root=root)
    with pytest.raises(ValueError, match=r"table=public\.public_table"):
        resolve_game(alone, ZERO, jax.random.key(0))
