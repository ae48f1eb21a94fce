"""Vectors of hands: every board once is the exact counterfactual regret of all infosets."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from exact_regrets import exact

import games
import jaxsolve as js
from jaxsolve import mccfr


@functools.cache
def boards(name: str) -> mccfr.ListedBoards:
    return mccfr.listed_boards(mccfr.listed_game(js.compile(games.load(name))))


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
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
            zero = jnp.zeros(len(start.regret))
            after, played = mccfr.vector_pass(
                tree,
                where.leaf_values,
                player,
                jnp.asarray(start.regret),
                zero,
                where.at(np.array([b])),
                jnp.float32(1),
            )
            regret += chance * (np.asarray(after) - start.regret)
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
    assert seen == 2 * passes * batch
    assert js.exploitability(where.game.compiled, where.game.policy_of(tables)) < bound


@pytest.mark.slow
def test_a_batch_is_the_mean_of_its_boards() -> None:
    where = boards("leduc")
    start = mccfr.make_tables(where.game)
    options = mccfr.Options(power=0)
    both, _ = mccfr.VectorSampler(where, options, boards=2).run(start, 1)
    tree = mccfr.vector_tree(where.tree, where.num_buckets)
    zero = jnp.zeros(len(start.regret))
    one = [
        mccfr.vector_pass(
            tree, where.leaf_values, 0, zero, zero, where.boards(0, k, 1), jnp.float32(1)
        )[0]
        for k in range(2)
    ]
    first = np.concatenate([
        np.arange(start.row[p], start.row[p + 1]) for p in np.flatnonzero(where.tree.actor == 0)
    ])  # fmt: skip
    np.testing.assert_allclose(both.regret[first], np.mean(one, 0)[first], atol=1e-5)


def test_three_players_are_refused() -> None:
    game = mccfr.listed_game(js.compile(games.load("kuhn(players=3)")))
    with pytest.raises(ValueError, match="for two players"):
        mccfr.listed_boards(game)
