"""Priors of growing trees: whom they are asked about, and what `warm` makes of them."""

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
BOARD = "tic_tac_toe(rows=2,columns=2,line=2)"
PAPER = js.cfr_plus().simultaneous()
WARM = {"warm": 0.3}
EVEN = jnp.ones((2, 3))
TOLD = jnp.asarray([[1.0, 0.2, 0.7], [0.5, 1.0, 0.1]])


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


@jax.tree_util.Partial
def odd(state: Any, beliefs: Any) -> Any:
    """Values that depend on the private state, on the public one, and on beliefs."""
    hands = jnp.arange(1.0, 1 + beliefs.shape[-1])
    sign = 1.0 - 2.0 * (state.subgame_class % 2)
    value = sign[:, None] * hands / (1 + hands) * beliefs[..., :1].sum((1, 2))[:, None]
    return jnp.stack([value, -value], 1)


@jax.tree_util.Partial
def leaning(state: Any, beliefs: Any) -> Any:
    """Weights of three actions, by private state."""
    weights = jnp.asarray([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0], [1.0, 5.0, 2.0]])
    return jnp.broadcast_to(weights, (len(beliefs), 3, 3))


@jax.jit
def _search(*args: Any, **options: Any) -> Grown:
    return gt_cfr(*args, **options)


def grown(simulations: int, per_update: float, ranges: Any, prior: Any, **options: Any) -> Grown:
    chosen = growing_search(
        table(SMALL),
        PAPER,
        simulations=simulations,
        per_update=per_update,
        capacity=20,
        longest_path=2,
        **options,
    )
    path = jnp.full(2, -1, jnp.int32)
    return _search(
        chosen, odd, jnp.int32(0), ranges, jax.random.key(0), prior=prior, path_to_focus=path
    )


def against(where: PublicTable, ranges: Any) -> np.ndarray:
    """Returns float [H], the weight of what the actor at the root may meet."""
    weight, actor = np.asarray(where.weight[0]), int(where.transitions.actor[0])
    return weight @ np.asarray(ranges[1]) if actor == 0 else np.asarray(ranges[0]) @ weight


def test_a_prior_is_asked_about_the_beliefs_that_are_there() -> None:
    """At the root those it starts with, and after even play, which tells nothing, the same."""
    ranges = jnp.asarray([[1.0, 0.5, 0.1], [0.2, 0.2, 0.6]])
    weights = jnp.asarray([1.0, 2.0, 3.0])

    @jax.tree_util.Partial
    def telling(state: Any, beliefs: Any) -> Any:
        first = beliefs @ weights  # [F, 2]
        return jnp.stack([first, jnp.ones_like(first)], 1)[..., :1] * jnp.ones(3)

    path = jnp.asarray([0, -1], jnp.int32)
    found = _search(
        growing_search(table(SMALL), PAPER, simulations=1, capacity=20, longest_path=2),
        odd,
        jnp.int32(0),
        ranges,
        jax.random.key(0),
        path_to_focus=path,
        prior=telling,
    )
    first = (ranges[0] / ranges[0].sum()) @ weights
    assert abs(first - 2) > 0.1  # of even beliefs
    for n in (0, int(found.focus)):
        np.testing.assert_allclose(found.growth.prior[n, 0], first / (first + 1), atol=1e-6)


def test_regrets_start_at_the_prior() -> None:
    """The first two iterations are those of the formula in numpy."""
    where = table(SMALL)
    once, twice = (grown(1, c, EVEN, leaning, **WARM) for c in (1.0, 0.5))
    legal = where.transitions.legal[0]
    assert legal.sum(0).max() > 1
    prior = np.where(legal, leaning(None, np.zeros(1))[0][: len(legal)], 0)
    prior = prior / prior.sum(0)
    np.testing.assert_allclose(once.policy, prior, atol=1e-6)
    gains = np.asarray(once.action_values[0])
    scale = float(where.device_transitions.scale[0])
    unit = WARM["warm"] * against(where, EVEN) * scale
    regrets = unit * prior + np.where(legal, gains - (prior * gains).sum(0), 0)
    second = np.maximum(regrets, 0) / np.maximum(regrets, 0).sum(0)
    assert np.abs(second - prior).max() > 0.01
    np.testing.assert_allclose(twice.policy, (prior + 2 * second) / 3, atol=1e-5)  # linear


def test_ranges_on_another_scale_change_nothing_and_numbers_do() -> None:
    one, other = (grown(6, 1.0, ranges, leaning, **WARM) for ranges in (TOLD, 0.01 * TOLD))
    np.testing.assert_array_equal(one.growth.visits, other.growth.visits)
    np.testing.assert_allclose(one.policy, other.policy, atol=1e-4)
    np.testing.assert_allclose(one.growth.prior, other.growth.prior, atol=1e-4)
    traces = _search._cache_size()
    changed = grown(6, 1.0, TOLD, leaning, warm=3.0)
    assert np.abs(np.asarray(changed.policy - one.policy)).max() > 0.01
    assert _search._cache_size() == traces  # a number, not a size


def test_what_is_not_in_the_tree_is_not_played() -> None:
    """With one action at a time, actions that are not there yet have regrets, but no share."""
    board = table(BOARD)
    options = growing_search(board, PAPER, simulations=9, top=1, warm=1.0)
    found = jax.jit(gt_cfr)(options, odd, jnp.int32(0), jnp.ones((2, 1)), jax.random.key(0))
    count = int(found.growth.num_opened)
    allowed, average = np.asarray(found.growth.allowed), np.asarray(found.average)
    legal = board.transitions.legal[np.asarray(found.growth.row)[:count]]
    assert (allowed[:count] != legal).any()
    assert not average[:count][~allowed[:count]].any()
    np.testing.assert_allclose(average[:count].sum(1), 1, atol=1e-6)


def test_it_comes_to_the_equilibrium_whatever_the_prior() -> None:
    """Kuhn poker, a prior that nearly always bets and values of which nothing is true."""
    where = table("kuhn")
    prior = jax.tree_util.Partial(lambda s, b: jnp.ones((len(b), 2, 3)).at[:, 0].set(0.02))
    gaps = {}
    for s in (2, 400):
        resolver = growing_resolver(
            where, js.cfr_plus(2.0), simulations=s, skip_solved=True, **WARM
        )
        policy = resolve_game(resolver, odd, jax.random.key(0), prior=prior)
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

    @jax.tree_util.Partial
    def first(state: Any, beliefs: Any) -> Any:
        """What differs between private states, and not between a table and the rules."""
        value = jnp.tanh(beliefs @ jnp.arange(1.0, 5.0))[:, :1] * jnp.asarray([0.9, 0.1, -0.4, 0.3])
        return jnp.stack([value, -value], 1)

    found = [
        jax.jit(gt_cfr)(chosen, first, at, ranges, jax.random.key(0))
        for chosen, at in (
            (growing_search(where, PAPER, simulations=30, **WARM), jnp.int32(0)),
            (growing_search(model, PAPER, simulations=30, **WARM), root),
        )
    ]
    want, got = found
    count, shape = int(want.growth.num_opened), want.average.shape
    assert got.growth.num_opened == count > 3
    np.testing.assert_array_equal(got.growth.up[:count], want.growth.up[:count])
    kept = got.average[:count, : shape[1], : shape[2]]
    np.testing.assert_allclose(kept, want.average[:count], atol=1e-5)
    kept = got.growth.prior[:count, : shape[1], : shape[2]]
    np.testing.assert_allclose(kept, want.growth.prior[:count], atol=1e-5)


@pytest.mark.parametrize("number", [0, -1.0, float("inf"), float("nan")])
def test_bad_numbers_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match=r"warm=.* must be positive and finite"):
        growing_search(table("kuhn"), PAPER, simulations=1, warm=number)
