"""Vectors of hands of hold'em: C++ and JAX are alike, roulette and sampling keep the means."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_buckets import made_buckets

from jaxsolve import holdem, mccfr, native
from jaxsolve.holdem import BetMenu

BOARDS = np.array([[3, 17, 30, 44, 51], [0, 1, 2, 3, 4], [50, 8, 21, 34, 47]], np.uint8)
STREETS = ("preflop", "flop", "turn", "river")

compiled = pytest.mark.skipif(native.host_library("mccfr") is None, reason="needs a C++ compiler")


@functools.cache
def game(last: str = "river") -> holdem.HoldemGame:
    """Pot or all-in once before the flop, once on the last street; other streets are checked."""
    some, none = {"sizes": [["100%", "a"]]}, {"sizes": [[]]}
    streets = {s: some if s in ("preflop", last) else none for s in STREETS}
    menu = BetMenu.parse({"players": 2, "stack": "20bb", **streets})
    return holdem.holdem_game(menu, made_buckets(9))


@functools.cache
def random_regrets() -> np.ndarray:
    """Large ones, so that what the first player learns hardly moves what the second meets."""
    count = int(game().tree.rows(game().num_buckets)[-1])
    drawn = np.random.default_rng(1).normal(size=count)
    return (10_000 * drawn).astype(np.float32)


def start() -> mccfr.Tables:
    tables = mccfr.make_tables(game())
    tables.regret[:] = random_regrets()
    return tables


def steps(sampler: holdem.HandVectorSampler, boards: np.ndarray, first: int = 0) -> np.ndarray:
    """float32 [2, E], what boards add to the same tables, each alone, the mean."""
    total = np.zeros((2, len(random_regrets())))
    for k, board in enumerate(boards):
        tables = start()
        sampler.on(tables, board[None], first + k)
        total += tables.regret - random_regrets(), tables.average
    return total / len(boards)


@compiled
def test_native_and_jax_are_alike() -> None:
    """Both players; regrets are near 10,000, of which single precision leaves 1e-3."""
    here = holdem.HandVectors(game())
    sampler = holdem.HandVectorSampler(game(), mccfr.Options(), roulette=0)
    tree = mccfr.vector_tree(here.tree, here.num_buckets)
    update = jax.jit(mccfr.vector_steps, static_argnums=(2, 3))
    for board in BOARDS:
        batch = jax.tree.map(lambda x: x[None], here.on(here.data, jnp.asarray(board, jnp.int32)))
        regret, average = jnp.asarray(random_regrets()), 0
        for player in range(2):
            gained, played = update(tree, here.data, here.leaf_values, player, regret, batch)
            regret, average = regret + gained, average + played
        got = steps(sampler, board[None])
        np.testing.assert_allclose(got[0], regret - random_regrets(), atol=5e-3)
        np.testing.assert_allclose(got[1], average, atol=1e-5)
        assert np.abs(got[0]).max() > 1


@compiled
@pytest.mark.slow
def test_roulette_keeps_the_mean() -> None:
    """On one board, over many draws: every regret within five standard errors."""
    exact = holdem.HandVectorSampler(game(), mccfr.Options(power=0), roulette=0)
    lucky = holdem.HandVectorSampler(game(), mccfr.Options(power=0), roulette=0.3)
    want = steps(exact, BOARDS[:1])
    draws = np.stack([steps(lucky, BOARDS[:1], k) for k in range(2_000)])
    error = draws.std(0, ddof=1) / np.sqrt(len(draws))
    assert (error[0] > 0.01).sum() > 100
    rounding = np.array([[5e-3], [1e-5]])  # of regrets near 10,000 and of averages
    assert (np.abs(draws.mean(0) - want) <= 5 * error + rounding).all()


@compiled
@pytest.mark.slow
def test_external_sampling_has_the_same_mean() -> None:
    """Regrets before the flop over many boards, beside many deals of single hands."""
    vectors = holdem.HandVectorSampler(game(), mccfr.Options(power=0), roulette=0)
    rng = np.random.default_rng(3)
    boards = np.stack([rng.permutation(52)[:5] for _ in range(400)]).astype(np.uint8)
    singles = []
    for board in boards:
        tables = start()
        vectors.on(tables, board[None])
        singles.append(tables.regret - random_regrets())
    batches = []
    for k in range(60):
        total, deals = np.zeros(len(random_regrets())), 300
        for first in range(0, 2 * deals, 2):  # from the same tables each: both players once
            tables = dataclasses.replace(start(), passes=first)
            external = mccfr.ExternalSampler(game(), mccfr.Options(power=0, seed=k))
            total += external.run(tables, 2)[0].regret - random_regrets()
        batches.append(total / deals)
    first = slice(0, int(start().row[1]))
    many = [np.stack(x)[:, first] for x in (singles, batches)]
    means = [x.mean(0) for x in many]
    errors = [x.std(0, ddof=1) / np.sqrt(len(x)) for x in many]
    error = np.hypot(*errors)
    z = (means[0] - means[1])[error > 0] / error[error > 0]
    assert 0.7 < z.std() < 1.4
    assert np.abs(z).max() < 5.5


@compiled
def test_a_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    """Stopped within what would have been one call of the sampler."""
    tables = []
    for stops in ((12,), (5, 12)):
        out = tmp_path / str(len(stops))
        for passes in stops:
            sampler = holdem.HandVectorSampler(game(), mccfr.Options(seed=3, unit=10))
            found = mccfr.train(sampler, passes=passes, out=out, resume=True, progress=False)
        tables.append(found.tables)
    np.testing.assert_array_equal(tables[0].regret, tables[1].regret)
    np.testing.assert_array_equal(tables[0].average, tables[1].average)
    assert tables[1].average.any()


@compiled
def test_bad_samplers_are_refused() -> None:
    with pytest.raises(ValueError, match="neither prune"):
        holdem.HandVectorSampler(game(), mccfr.Options(prune=1, floor=2))
    with pytest.raises(ValueError, match="roulette"):
        holdem.HandVectorSampler(game(), mccfr.Options(), roulette=2)
    sampler = holdem.HandVectorSampler(game(), mccfr.Options())
    with pytest.raises(ValueError, match="32 bits"):
        sampler.run(mccfr.make_tables(game(), 16), 1)
