"""Searches whose regrets start at the prior: the formula, and what must not depend on it."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, public_table, rules_model
from jaxsolve.search import Grown, growing_resolver, growing_search, gt_cfr, resolve_game

SMALL = "leduc(suits=1,raises=1)"
CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,2],detectives=[5],rounds=3)"
PAPER = js.cfr_plus().simultaneous()
WARM = 0.3


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


@jax.tree_util.Partial
def odd(state: Any, beliefs: Any) -> Any:
    """Values that depend on the private state and on the public one."""
    hands = jnp.arange(1.0, 1 + beliefs.shape[-1])
    sign = 1.0 - 2.0 * (state.subgame_class % 2)
    return sign[:, None, None] * jnp.stack([hands, -hands]) + 0 * beliefs


@jax.tree_util.Partial
def nothing(state: Any, beliefs: Any) -> Any:
    return jnp.zeros_like(beliefs)


@jax.tree_util.Partial
def leaning(state: Any, beliefs: Any) -> Any:
    """Weights of three actions, by private state."""
    weights = jnp.asarray([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0], [1.0, 5.0, 2.0]])
    return jnp.broadcast_to(weights, (len(beliefs), 3, 3))


@jax.jit
def _search(*args: Any, **options: Any) -> Grown:
    return gt_cfr(*args, **options)


def grown(simulations: int, per_update: float, reach: float = 1.0, warm: float = WARM) -> Grown:
    options = growing_search(
        table(SMALL),
        PAPER,
        simulations=simulations,
        per_update=per_update,
        capacity=20,
        warm=warm,
    )
    ranges = reach * jnp.ones((2, 3))
    return _search(options, odd, jnp.int32(0), ranges, jax.random.key(0), prior=leaning)


def test_regrets_start_at_the_prior() -> None:
    """The first two iterations are those of the formula in numpy."""
    where, once, twice = table(SMALL), grown(1, 1.0), grown(1, 0.5)
    legal = where.transitions.legal[0]
    assert legal.sum(0).max() > 1
    prior = np.where(legal, leaning(None, np.zeros(1))[0][: len(legal)], 0)
    prior = prior / prior.sum(0)
    np.testing.assert_allclose(once.policy, prior, atol=1e-6)
    gains = np.asarray(once.action_values[0])
    against = where.weight[0].sum(1)  # to come is certain
    unit = WARM * against * np.asarray(where.device_transitions.scale[0])
    regrets = unit * prior + np.where(legal, gains - (prior * gains).sum(0), 0)
    second = np.maximum(regrets, 0) / np.maximum(regrets, 0).sum(0)
    assert np.abs(second - prior).max() > 0.01
    np.testing.assert_allclose(twice.policy, (prior + 2 * second) / 3, atol=1e-5)  # linear


def test_ranges_on_another_scale_change_nothing() -> None:
    one, other = grown(6, 1.0), grown(6, 1.0, reach=0.01)
    np.testing.assert_array_equal(one.growth.visits, other.growth.visits)
    np.testing.assert_allclose(one.policy, other.policy, atol=1e-4)
    traces = _search._cache_size()
    assert np.abs(np.asarray(grown(6, 1.0, warm=3).policy - one.policy)).max() > 0.01
    assert _search._cache_size() == traces  # a number, not a size


def test_what_is_not_in_the_tree_is_not_played() -> None:
    """With one action at a time, actions that are not there yet have regrets, but no share."""
    board = table("tic_tac_toe(rows=2,columns=2,line=2)")
    options = growing_search(board, PAPER, simulations=9, top=1, warm=1.0)
    found = jax.jit(gt_cfr)(options, odd, jnp.int32(0), jnp.ones((2, 1)), jax.random.key(0))
    count = int(found.growth.num_opened)
    allowed, average = np.asarray(found.growth.allowed), np.asarray(found.average)
    legal = board.transitions.legal[np.asarray(found.growth.row)[:count]]
    assert (allowed[:count] != legal).any()
    assert not average[:count][~allowed[:count]].any()
    np.testing.assert_allclose(average[:count].sum(1), 1, atol=1e-6)


def test_it_comes_to_the_equilibrium_whatever_the_prior() -> None:
    """Kuhn poker with a prior that nearly always bets: what it counts for is paid back."""
    where = table("kuhn")
    prior = jax.tree_util.Partial(lambda s, b: jnp.ones((len(b), 2, 3)).at[:, 0].set(0.02))
    gaps = {}
    for s in (2, 400):
        resolver = growing_resolver(
            where, js.cfr_plus(2.0), simulations=s, skip_solved=True, warm=WARM
        )
        policy = resolve_game(resolver, nothing, jax.random.key(0), prior=prior)
        gaps[s] = float(respond(where, policy).exploitability)
    assert gaps[2] > 0.2
    assert gaps[400] < 0.01


def test_trees_from_the_rules_are_those_of_the_table() -> None:
    """Four private states against one: Mr X, and a detective."""
    where, ranges = table(CHASE), jnp.ones((2, 4))
    room: dict[str, Any] = {
        "hands": (4, 1),
        "children": 3,
        "actions": 3,
        "merged": 3,
        "branches": 1,
        "worlds": 4,
    }
    model, root = rules_model(games.load(CHASE), depth=where.depth, **room)
    found = [
        jax.jit(gt_cfr)(options, nothing, at, ranges, jax.random.key(0))
        for options, at in (
            (growing_search(where, PAPER, simulations=30, warm=WARM), jnp.int32(0)),
            (growing_search(model, PAPER, simulations=30, warm=WARM), root),
        )
    ]
    want, got = found
    count, shape = int(want.growth.num_opened), want.average.shape
    assert got.growth.num_opened == count > 3
    np.testing.assert_array_equal(got.growth.up[:count], want.growth.up[:count])
    kept = got.average[:count, : shape[1], : shape[2]]
    np.testing.assert_allclose(kept, want.average[:count], atol=1e-5)


@pytest.mark.parametrize("warm", [0, -1.0, float("inf"), float("nan")])
def test_bad_weights_are_refused(warm: float) -> None:
    with pytest.raises(ValueError, match="must be positive and finite"):
        growing_search(table("kuhn"), PAPER, simulations=1, warm=warm)
