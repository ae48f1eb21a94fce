"""Vectors of hands: every board once is the exact counterfactual regret of all infosets."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_regrets import exact
from few import few

import games
import jaxsolve as js
from jaxsolve import mccfr
from jaxsolve.types import Array


@functools.cache
def boards(name: str) -> mccfr.ListedBoards:
    return mccfr.listed_boards(mccfr.listed_game(js.compile(games.load(name))))


update = jax.jit(mccfr.vector_steps, static_argnums=(2, 3))


@pytest.mark.parametrize("name", few(["kuhn", "leduc"], "leduc".__eq__))
def test_all_boards_together_are_exact(name: str) -> None:
    """Each board by its probability, from one random policy, beside a walk over world states."""
    where = boards(name)
    start = mccfr.make_tables(where.game)
    start.regret[:] = np.random.default_rng(1).normal(size=len(start.regret))
    want = exact(where.game, start)
    tree = mccfr.vector_tree(where.tree, where.num_buckets)
    regret, average = np.zeros((2, len(start.regret)))
    for b, chance in enumerate(where.chance):
        for player in range(2):
            board = where.data.at(jnp.array([b]))
            gained, played = update(
                tree, where.data, where.leaf_values, player, jnp.asarray(start.regret), board
            )
            regret += chance * np.asarray(gained)
            average += chance * np.asarray(played)
    np.testing.assert_allclose(regret, want[0], atol=1e-5)
    share = exact_share(average, where.game, start)
    np.testing.assert_allclose(share, exact_share(want[1], where.game, start), atol=1e-5)


def exact_share(sums: np.ndarray, game: mccfr.ListedGame, tables: mccfr.Tables) -> np.ndarray:
    """Sums [sequence, bucket] as probabilities; own reach is counted once a hand, or by chance."""
    out = np.zeros(len(sums))
    for p in np.flatnonzero(game.tree.count):
        first, last = tables.row[p : p + 2]
        rows = sums[first:last].reshape(-1, game.tree.count[p])
        out[first:last] = np.where(
            rows.sum(1, keepdims=True) > 1e-9, mccfr.matched(rows), 0
        ).ravel()
    return out


@pytest.mark.parametrize(
    ("name", "passes", "batch", "bound"),
    [("kuhn", 300, 1, 0.02), pytest.param("leduc", 2_000, 4, 0.05, marks=pytest.mark.slow)],
)
def test_it_converges_to_an_equilibrium(name: str, passes: int, batch: int, bound: float) -> None:
    where = boards(name)
    sampler = mccfr.VectorSampler(where, mccfr.Options(unit=10), boards=batch)
    tables, seen = sampler.run(mccfr.make_tables(where.game), passes)
    assert seen == 2 * passes * batch * where.tree.num_nodes
    assert js.exploitability(where.game.compiled, where.game.policy_of(tables)) < bound


def test_boards_come_as_often_as_they_should() -> None:
    where = boards("leduc")
    keys = jax.random.split(jax.random.key(0), 4_000)
    drawn = jax.vmap(lambda key: where.sample(where.data, key))(keys)
    payoff = where.data.payoff  # of boards that differ by a suit alone it is the same
    same = (payoff[:, None] == payoff[None]).all((2, 3, 4))
    found = (drawn.leaf[:, None] == payoff[None]).all((2, 3, 4))
    np.testing.assert_allclose(found.mean(0), same @ where.chance, atol=0.03)


def test_a_batch_is_the_sum_of_its_boards() -> None:
    where = boards("leduc")
    tree = mccfr.vector_tree(where.tree, where.num_buckets)
    regret = jnp.zeros(len(mccfr.make_tables(where.game).regret))

    def steps(rows: list[int]) -> Array:
        batch = where.data.at(jnp.array(rows))
        return update(tree, where.data, where.leaf_values, 0, regret, batch)[0]

    np.testing.assert_allclose(steps([0, 2]), steps([0]) + steps([2]), atol=1e-5)


def test_passes_are_one_program_and_go_on_where_they_stopped() -> None:
    where = boards("kuhn")
    sampler = mccfr.VectorSampler(where, mccfr.Options(unit=10))
    whole, _ = sampler.run(mccfr.make_tables(where.game), 7)
    traced = mccfr.vector_passes._cache_size()
    half, _ = sampler.run(mccfr.make_tables(where.game), 3)
    rest, _ = sampler.run(half, 4)
    assert mccfr.vector_passes._cache_size() == traced
    np.testing.assert_array_equal(whole.regret, rest.regret)
    np.testing.assert_array_equal(whole.average, rest.average)


def test_options_that_vectors_have_no_use_for_are_refused() -> None:
    where = boards("kuhn")
    with pytest.raises(ValueError, match="neither prune nor take snapshots"):
        mccfr.VectorSampler(where, mccfr.Options(average_stages=1))
    with pytest.raises(ValueError, match="0 boards cannot be shared by 1 devices: use 1"):
        mccfr.VectorSampler(where, mccfr.Options(), boards=0)
    with pytest.raises(ValueError, match="32 bits"):
        mccfr.VectorSampler(where, mccfr.Options()).run(mccfr.make_tables(where.game, 16), 1)


def test_three_players_are_refused() -> None:
    game = mccfr.listed_game(js.compile(games.load("kuhn(players=3)")))
    with pytest.raises(ValueError, match="for two players"):
        mccfr.listed_boards(game)
