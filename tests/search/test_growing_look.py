"""Searches whose priors look one move ahead: what an iteration of CFR finds, and the formula."""

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
from jaxsolve.search import (
    Grown,
    growing_resolver,
    growing_search,
    gt_cfr,
    resolve_game,
)
from jaxsolve.search.growing import reach_at

SMALL = "leduc(suits=1,raises=1)"
CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,2],detectives=[5],rounds=3)"
PAPER = js.cfr_plus().simultaneous()
LOOK = 0.2


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


@jax.tree_util.Partial
def odd(state: Any, beliefs: Any) -> Any:
    """Values that depend on the private state, on the public one, and on beliefs."""
    hands = jnp.arange(1.0, 1 + beliefs.shape[-1])
    sign = 1.0 - 2.0 * (state.subgame_class % 2)
    value = sign[:, None] * hands / (1 + hands) * beliefs[:, ::-1][..., :1].sum((1, 2))[:, None]
    return jnp.stack([value, -value], 1)


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


def grown(simulations: int, prior: Any, reach: float = 1.0, **options: Any) -> Grown:
    chosen = growing_search(table(SMALL), PAPER, simulations=simulations, capacity=20, **options)
    ranges = reach * jnp.asarray([[1.0, 0.2, 0.7], [0.5, 1.0, 0.1]])
    return _search(chosen, odd, jnp.int32(0), ranges, jax.random.key(0), prior=prior)


def expected(where: PublicTable, at: int, against: Any, gains: Any, prior: Any) -> np.ndarray:
    """Returns a prior times the odds of what actions are worth, in numpy."""
    unit = np.asarray(against) * float(where.device_transitions.scale[0])
    worth = np.clip(np.asarray(gains) / unit, -0.995, 0.995)
    legal = np.asarray(where.transitions.legal[at])
    odds = np.where(legal, prior * np.exp(np.arctanh(worth) / LOOK), 0)
    return odds / odds.sum(0)


@pytest.mark.parametrize("prior", [None, leaning])
def test_the_prior_is_what_an_iteration_of_even_play_or_of_the_prior_finds(prior: Any) -> None:
    """Values of actions come back through the tree in an iteration whose policy is the prior."""
    where = table(SMALL)
    plain = grown(1, prior, **({} if prior is None else {"warm": 1.0}))  # plays the prior first
    found = grown(1, prior, look=LOOK)
    before = np.asarray(plain.growth.prior[0])
    ranges = np.asarray([[1.0, 0.2, 0.7], [0.5, 1.0, 0.1]])
    actor = int(where.transitions.actor[0])
    weight = np.asarray(where.weight[0])
    against = weight @ ranges[1] if actor == 0 else ranges[0] @ weight
    want = expected(where, 0, against, plain.action_values[0], before)
    assert np.abs(want - before).max() > 0.1
    np.testing.assert_allclose(found.growth.prior[0], want, atol=1e-5)


def test_a_public_state_is_looked_at_from_where_it_is_opened_as_from_its_own_root() -> None:
    where, found = table(SMALL), grown(1, None, look=LOOK)
    assert int(found.growth.num_opened) == 2
    here, transitions = int(found.growth.public[1]), where.device_transitions
    assert transitions.scale[here] == transitions.scale[0]
    chosen = growing_search(where, PAPER, simulations=1, capacity=20, look=LOOK)
    zero = jnp.zeros((), jnp.int32)
    ranges = reach_at(transitions, found.action_reach, zero, zero, found.growth.step[1])
    alone = _search(chosen, odd, found.growth.public[1], ranges, jax.random.key(0), prior=None)
    assert np.abs(np.asarray(alone.growth.prior[0]) - 0.5).max() > 0.1
    np.testing.assert_allclose(found.growth.prior[1], alone.growth.prior[0], atol=1e-5)


def test_ranges_on_another_scale_change_nothing() -> None:
    one, other = grown(6, None, look=LOOK), grown(6, None, 0.01, look=LOOK)
    np.testing.assert_array_equal(one.growth.visits, other.growth.visits)
    np.testing.assert_allclose(one.growth.prior, other.growth.prior, atol=1e-4)
    traces = _search._cache_size()
    changed = grown(6, None, look=3)
    assert np.abs(np.asarray(changed.growth.prior - one.growth.prior)).max() > 0.01
    assert _search._cache_size() == traces  # a number, not a size


def test_boards_are_opened_by_the_best_action_first() -> None:
    """One action at a time: the first one is that whose child is worth most."""
    board = table("tic_tac_toe(rows=2,columns=2,line=2)")

    right = int(board.transitions.child[0, 1])

    @jax.tree_util.Partial
    def second(state: Any, beliefs: Any) -> Any:
        """Player 0 wins wherever their stone is in the second square."""
        best = state.subgame_class == right
        value = jnp.where(best, 1.0, -1.0)[:, None]
        return jnp.stack([value, -value], 1) + 0 * beliefs

    options = growing_search(board, PAPER, simulations=1, top=1, look=LOOK)
    found = jax.jit(gt_cfr)(options, second, jnp.int32(0), jnp.ones((2, 1)), jax.random.key(0))
    want = np.exp(np.arctanh(np.where(np.arange(4) == 1, 0.995, -0.995)) / LOOK)
    np.testing.assert_allclose(found.growth.prior[0, :, 0], want / want.sum(), atol=1e-6)


def test_it_comes_to_the_equilibrium() -> None:
    """Kuhn poker, with values of which nothing is true."""
    where = table("kuhn")
    resolver = growing_resolver(
        where, js.cfr_plus(2.0), simulations=400, skip_solved=True, look=LOOK
    )
    policy = resolve_game(resolver, odd, jax.random.key(0))
    assert float(respond(where, policy).exploitability) < 0.01


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
        jax.jit(gt_cfr)(options, first, at, ranges, jax.random.key(0))
        for options, at in (
            (growing_search(where, PAPER, simulations=30, look=LOOK), jnp.int32(0)),
            (growing_search(model, PAPER, simulations=30, look=LOOK), root),
        )
    ]
    want, got = found
    count, shape = int(want.growth.num_opened), want.average.shape
    assert got.growth.num_opened == count > 3
    np.testing.assert_array_equal(got.growth.up[:count], want.growth.up[:count])
    kept = got.growth.prior[:count, : shape[1], : shape[2]]
    np.testing.assert_allclose(kept, want.growth.prior[:count], atol=1e-5)


@pytest.mark.parametrize("look", [0, -1.0, float("inf"), float("nan")])
def test_bad_temperatures_are_refused(look: float) -> None:
    with pytest.raises(ValueError, match="must be positive and finite"):
        growing_search(table("kuhn"), PAPER, simulations=1, look=look)
