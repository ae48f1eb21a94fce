"""External sampling against exact counterfactual regrets, a plain form, and tabular solutions."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from exact_regrets import exact
from few import few

import games
import jaxsolve as js
from jaxsolve import mccfr, native

NATIVE = native.host_library("mccfr") is not None


@functools.cache
def listed(name: str) -> mccfr.ListedGame:
    return mccfr.listed_game(js.compile(games.load(name)))


def plain(game: mccfr.ListedGame, options: mccfr.Options) -> mccfr.ExternalSampler:
    sampler = mccfr.ExternalSampler(game, options)
    sampler._library = None
    return sampler


@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow)])
def test_a_pass_is_unbiased(name: str) -> None:
    """The mean of single passes from one random policy, beside exact counterfactual regrets."""
    game = listed(name)
    start = mccfr.make_tables(game)
    rng = np.random.default_rng(1)
    start.regret[:] = rng.uniform(0.2, 1, len(start.regret))
    sampler = mccfr.ExternalSampler(game, mccfr.Options(power=0))
    passes = 4_000 if name == "kuhn" else 60_000
    total, squares, visits = np.zeros((3, 2, len(start.regret)))
    for k in range(passes):
        now = mccfr.Tables(start.row, start.regret.copy(), start.average.copy(), k)
        now, _ = sampler.run(now, 1)
        step = np.stack([now.regret - start.regret, now.average])
        total += step
        squares += np.square(step)
        visits += step != 0
    # Each player traverses, and is averaged, in every second pass.
    mean = total / passes
    error = np.sqrt(np.maximum(squares / passes - mean**2, 0) / passes) + 1e-6  # of float32
    want = np.stack(exact(game, start)) / game.tree.num_players
    often = visits > 100  # so that the mean is nearly normal
    assert often.mean() > 0.6
    score = ((mean - want) / error)[often]
    assert np.abs(score).max() < 5
    assert 0.5 < np.square(score).mean() < 1.5


@pytest.mark.skipif(not NATIVE, reason="needs a C++ compiler")
@pytest.mark.parametrize("name", few(["kuhn(players=3)", "leduc"], "leduc".__eq__))
@pytest.mark.parametrize("prune", [np.inf, 0.5])
def test_native_and_plain_give_the_same_numbers(name: str, prune: float) -> None:
    game = listed(name)
    options = mccfr.Options(seed=3, unit=50, prune=prune, floor=1.2 * prune, warm_up=40)
    fast, seen = mccfr.ExternalSampler(game, options).run(mccfr.make_tables(game), 300)
    slow, counted = plain(game, options).run(mccfr.make_tables(game), 300)
    assert seen == counted
    np.testing.assert_allclose(fast.regret, slow.regret, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(fast.average, slow.average, rtol=1e-4, atol=1e-3)
    if np.isfinite(prune) and name == "leduc":
        whole = mccfr.ExternalSampler(
            game, dataclasses.replace(options, prune=np.inf, floor=np.inf)
        )
        assert whole.run(mccfr.make_tables(game), 300)[1] > seen


@pytest.mark.parametrize(
    ("name", "passes", "bound"),
    [("kuhn", 60_000, 0.01), pytest.param("leduc", 1_000_000, 0.04, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("bits", [32, 16])
def test_it_converges_to_an_equilibrium(name: str, passes: int, bound: float, bits: int) -> None:
    if bits == 16 and not NATIVE:
        pytest.skip("entries of 16 bits need a C++ compiler")
    game = listed(name)
    sampler = mccfr.ExternalSampler(game, mccfr.Options(unit=1_000))
    tables, _ = sampler.run(mccfr.make_tables(game, bits), passes)
    assert js.exploitability(game.compiled, game.policy_of(tables)) < bound


@dataclasses.dataclass(frozen=True)
class Coarse:
    """Leduc whose players cannot tell the two lower cards of their own apart."""

    rules: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)

    def observe(self, state: Any) -> Any:
        public, private = self.rules.observe(state)
        ranks = jnp.where(private >= 0, jnp.maximum(private, 3), private)
        return public, ranks


@pytest.mark.slow
def test_lossy_buckets_are_the_merged_game() -> None:
    """Solved with merged buckets, exploitability is small in the merged game, large in Leduc."""
    tree = js.compile(games.load("leduc"))
    merged = js.compile(Coarse(games.load("leduc")))
    assert mccfr.listed_game(merged).num_buckets == (3, 16) != (6, 30)
    coarse, lossy = mccfr.listed_game(merged, _merged), mccfr.listed_game(tree, _merged)
    assert lossy.num_buckets == coarse.num_buckets == (3, 16)
    options = mccfr.Options(unit=1_000)
    one, _ = mccfr.ExternalSampler(coarse, options).run(mccfr.make_tables(coarse), 500_000)
    assert js.exploitability(merged, coarse.policy_of(one)) < 0.05
    two, _ = mccfr.ExternalSampler(lossy, options).run(mccfr.make_tables(lossy), 500_000)
    np.testing.assert_allclose(two.regret, one.regret, rtol=1e-4, atol=1e-2)
    assert js.exploitability(tree, lossy.policy_of(two)) > 0.1


def _merged(player: int, stage: int, shown: np.ndarray) -> int:
    """Shown is that a card is dealt (3), with the own card after it, and later the board."""
    return 10 * max(3, int(shown[1 + player])) + (int(shown[3]) if stage else 0)


def test_later_passes_count_more() -> None:
    assert mccfr.Options(power=0).weight(10**6) == 1
    assert mccfr.Options(unit=10).weight(25) == 3.5
    assert mccfr.Options(unit=10, until=20).weight(25) == 3


@pytest.mark.skipif(not NATIVE, reason="needs a C++ compiler")
def test_two_threads_do_the_same_passes() -> None:
    """Threads may lose a sum now and then; what they visit follows the policy all the same."""
    game = listed("kuhn")
    options = mccfr.Options(unit=1_000)
    sampler = mccfr.ExternalSampler(game, options, threads=2)
    tables, _ = sampler.run(mccfr.make_tables(game), 240_000)
    assert tables.passes == 240_000
    assert js.exploitability(game.compiled, game.policy_of(tables)) < 0.01


@pytest.mark.parametrize("native_code", [True, False])
def test_snapshots_are_sums_of_current_policies(native_code: bool) -> None:
    game = listed("leduc")
    sampler = mccfr.ExternalSampler(game, mccfr.Options(average_stages=1))
    if not native_code:
        sampler._library = None
    tables, _ = sampler.run(mccfr.make_tables(game), 500)
    last = np.flatnonzero((game.tree.stage == 1) & (game.tree.count > 0))
    for p in last:
        assert not mccfr.entries_of(game.tree, tables, tables.average, int(p)).any()
    sampler.add_snapshot(tables, 2.0)
    sampler.add_snapshot(tables, 0.5)
    for p in last:
        want = 2.5 * mccfr.matched(mccfr.entries_of(game.tree, tables, tables.regret, int(p)))
        got = mccfr.entries_of(game.tree, tables, tables.average, int(p))
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"power": -1}, "power is at least 0"),
        ({"power": np.nan}, "power is at least 0, not nan"),
        ({"unit": 0}, "unit is at least 1"),
        ({"prune_share": 1.0}, "from 0 to below 1"),
        ({"prune": 2.0, "floor": 1.0}, "floor is at least prune"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mccfr.Options(**options)
