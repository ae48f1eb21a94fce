"""Searches whose passes are operators in C++: what they find is what the loops find."""

from __future__ import annotations

import shutil
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import native, public
from jaxsolve.search import Gadget, Grown, growing_search, gt_cfr
from jaxsolve.search.growing._fused import fused_rows
from jaxsolve.types import Array

PAPER = js.cfr_plus().simultaneous()
CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5],[5,6]],evader=[1,5,6],detectives=[3],"
    "rounds=4,reveals=[2],doubles=1)"
)
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++"))), reason="no C++ compiler here"
)


def worth(state: Any, beliefs: Array) -> Array:
    """Stands for a network, without ties: beliefs change what private states are worth."""
    number, places = jnp.arange(beliefs.shape[-1]), jnp.arange(state.features.shape[-1])
    seen = (state.features @ jnp.cos(1.0 + places))[:, None, None] + jnp.arange(2)[:, None]
    mean = (beliefs * number).sum(-1)[..., ::-1, None]
    return jnp.sin(1 + seen + 1.3 * number + mean)


def model_of(name: str) -> tuple[Any, Any]:
    """Returns a model of public states and where it begins."""
    if name == "chase":
        return public.hidden_piece_model(games.load(CHASE))
    if name == "goofspiel":
        rules = games.load("goofspiel(cards=3,order=descending)")
        return public.rules_model(rules, depth=4, worlds=6, hands=(6, 3), children=3)
    if name == "pgx:tic_tac_toe":
        return public.made_model(games.load(name))
    table = public.public_table(games.load(name))
    return table, jnp.int32(0)


def programs(name: str, solver: Any, batch: tuple[int, ...], **options: Any) -> list[Any]:
    """Returns (text of the program, outcome) of equal searches, without operators and with them."""
    model, root = model_of(name)
    search = growing_search(model, solver, simulations=16, tile=4, longest_path=1, **options)
    hands = max(search.model.hands)
    ranges = jnp.linspace(0.2, 1, 2 * hands).reshape(2, hands)
    on = jnp.array([False, hands > 1])
    gadget = Gadget(on, jnp.full((2, hands), 0.1), jnp.float32(0.5))
    path = jnp.array([0 if hands > 1 else -1])

    def one(key: Array) -> Grown:
        given = jax.tree_util.Partial(worth)
        return gt_cfr(search, given, root, ranges, key, gadget=gadget, path_to_focus=path)

    keys, many = jax.random.split(jax.random.key(0), batch), one
    for _ in batch:
        many = jax.vmap(many)
    out = []
    for use in ("0", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JAXSOLVE_NATIVE", use)
            lowered = jax.jit(lambda k: many(k)).lower(keys)
        out.append((lowered.as_text(), lowered.compile()(keys)))
    return out


@needs_compiler
@pytest.mark.parametrize(
    ("name", "solver", "batch", "options"),
    [
        ("chase", PAPER, (), {}),
        pytest.param("leduc", js.pcfr_plus(), (2, 2), {"ask_every": 3}, marks=pytest.mark.slow),
        pytest.param("chase", js.dcfr(), (3,), {"skip_solved": True}, marks=pytest.mark.slow),
        pytest.param("chase", js.pcfr_plus(), (), {"warm": 2.0}, marks=pytest.mark.slow),
        pytest.param("goofspiel", js.cfr_plus(2.0), (), {"top": 2}, marks=pytest.mark.long),
        pytest.param("pgx:tic_tac_toe", PAPER, (3,), {"top": 1}, marks=pytest.mark.slow),
        pytest.param("leduc", js.cfr(), (), {"per_update": 0.5}, marks=pytest.mark.slow),
    ],
)
def test_the_search_is_that_of_the_loops(
    name: str, solver: Any, batch: tuple[int, ...], options: dict[str, Any]
):
    (loops, expected), (operators, got) = programs(name, solver, batch, **options)
    for operator in ("jaxsolve_down", "jaxsolve_up"):
        assert operator in operators
        assert operator not in loops
    np.testing.assert_array_equal(got.growth.row, expected.growth.row)
    np.testing.assert_array_equal(got.growth.opened, expected.growth.opened)
    assert int(jnp.max(got.growth.num_opened)) > 5
    # `action_reach` is `average` times reach: where nobody comes, rounding adds up to more.
    for field in ("action_reach", "child_values", "root_values", "action_values"):
        found, right = np.asarray(getattr(got, field)), np.asarray(getattr(expected, field))
        if field == "action_values":  # those of illegal actions mean nothing
            found, right = (np.where(got.growth.allowed, x, 0) for x in (found, right))
        if field != "root_values":  # nor does what comes after the last public state
            there = (
                np.arange(found.shape[len(batch)]) < np.asarray(got.growth.num_opened)[..., None]
            )
            found, right = found[there], right[there]
        np.testing.assert_allclose(found, right, atol=1e-4, err_msg=field)
        assert np.ptp(right) > 0.1, field


def test_what_has_no_operator_keeps_the_loops():
    (loops, expected), (same, got) = programs("leduc", js.apcfr_plus(), ())
    assert "jaxsolve_up" not in same
    np.testing.assert_array_equal(got.average, expected.average)
    assert loops == same


@needs_compiler
def test_other_devices_have_the_loops():
    model, root = model_of("chase")
    options = growing_search(model, PAPER, simulations=2)

    def one(key: Array) -> Grown:
        return gt_cfr(options, jax.tree_util.Partial(worth), root, jnp.ones((2, 6)), key)

    traced = jax.jit(one).trace(jax.random.key(0))
    for platform in ("cpu", "cuda", "tpu"):
        text = traced.lower(lowering_platforms=(platform,)).as_text()
        assert ("jaxsolve_" in text) == (platform == "cpu")


@needs_compiler
@pytest.mark.slow  # compiles searches of boards with operators and without
def test_games_that_are_over_leave_others_alone():
    """Agents search in all games of a batch, also in those that are over."""
    model, root = model_of("pgx:tic_tac_toe")
    game, over = model.game, jax.tree.map(lambda x: x[0], root.states)
    for move in (0, 3, 1, 4, 2):
        over = game.step(over, jnp.int32(move))
    ended = root._replace(states=jax.tree.map(lambda x: x[None], over))
    roots = jax.tree.map(lambda x, y: jnp.stack([x, y, x]), root, ended)
    options = growing_search(model, PAPER, simulations=16, top=1)

    def one(root: Any) -> Grown:
        given = jax.tree_util.Partial(worth)
        return gt_cfr(options, given, root, jnp.ones((2, 1)), jax.random.key(0))

    found = []
    for use in ("0", "1"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JAXSOLVE_NATIVE", use)
            found.append(jax.jit(jax.vmap(lambda r: one(r)))(roots))
    loops, operators = found
    for alive in (0, 2):
        got, right = (jax.tree.map(lambda x, k=alive: x[k], x) for x in (operators, loops))
        np.testing.assert_array_equal(got.growth.row, right.growth.row)
        np.testing.assert_allclose(got.action_reach, right.action_reach, atol=1e-5)
        assert int(got.growth.num_opened) > 10


@needs_compiler
def test_lists_of_rows_are_slices_of_them():
    assert native.available("growing")
    rows = jnp.arange(60, dtype=jnp.float32).reshape(2, 10, 3)
    begin = jnp.array([[0, 4, -1], [7, 9, 2]])  # the ends are clamped, as slices are

    def sliced(rows: Array, begin: Array) -> Array:
        return jax.vmap(lambda at: jax.lax.dynamic_slice_in_dim(rows, jnp.maximum(at, 0), 4))(begin)

    for axes in ((0, 0), (None, 0)):
        some = rows if axes[0] == 0 else rows[1]
        found = jax.vmap(lambda x, at: fused_rows(x, at, 4), axes)(some, begin)
        np.testing.assert_array_equal(found, jax.vmap(sliced, axes)(some, begin))
    np.testing.assert_array_equal(fused_rows(rows[0], begin[1], 4), sliced(rows[0], begin[1]))
