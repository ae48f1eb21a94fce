"""Training: it learns, resumes bit for bit, stops at what is not finite, compiles once."""

from __future__ import annotations

import csv
import functools
import itertools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.learn import _train
from jaxsolve.public import actions_limit, no_limit, public_game
from jaxsolve.search import subgames

PLAN = learn.Plan(steps=8, updates=4, minibatch=32, buffer=64)


@functools.cache
def kuhn() -> Any:
    return public_game(games.load("kuhn"))


@functools.cache
def deepstack() -> learn.Source:
    game = kuhn()
    return learn.random_beliefs(
        game,
        subgames(game, no_limit),
        js.pcfr_plus(),
        stages=[[1, 2], [0]],
        steps=2,
        iterations=10,
        batch=16,
    )


@functools.cache
def net() -> nets.Net:
    return nets.make_net(kuhn(), nets.ValueNetwork(32, 2), jax.random.key(0))


def run(**options: Any) -> learn.Trained:
    return learn.train(net(), deepstack(), PLAN, log_every=2, progress=False, **options)


def losses(trained: learn.Trained) -> list[float]:
    return [row["loss"] for row in trained.curve]


@pytest.mark.slow  # seconds of compilation
def test_it_learns_exact_values():
    game = kuhn()
    held = learn.held_out(
        game, js.pcfr_plus(), classes=[1, 2], count=32, iterations=200, key=jax.random.key(5)
    )
    plan = learn.Plan(steps=40, updates=16, minibatch=64, buffer=1024)
    before = learn.errors(net(), held)
    after = learn.errors(
        learn.train(net(), deepstack(), plan, log_every=20, progress=False).net, held
    )
    assert after.weighted < 0.35 * before.weighted
    assert after.each.shape == (64,)
    # Held-out values are those of the games that they start.
    values = np.asarray(held.values * held.beliefs).sum((1, 2))
    np.testing.assert_allclose(values, 0, atol=1e-5)


@pytest.mark.slow
def test_a_limit_of_time_is_by_the_clock_that_is_given():
    """Each reading is ten seconds later, so each part of training takes ten seconds."""
    ticks = itertools.count(step=10.0)
    found = run(time_limit=15.0, clock=lambda: next(ticks))
    assert len(found.curve) == 2
    assert [row["seconds"] for row in found.curve] == [10.0, 20.0]


@pytest.mark.slow
def test_a_resumed_run_is_the_same_bit_for_bit(tmp_path: Path):
    rows: list[dict[str, float]] = []
    whole = run(callback=rows.append)
    assert rows == whole.curve
    first = run(out=tmp_path, time_limit=1e-9)  # one measurement
    assert len(first.curve) == 1
    second = run(out=tmp_path, resume=True)
    assert losses(second) == losses(whole)
    for a, b in zip(
        jax.tree.leaves(second.state._replace(source=())),
        jax.tree.leaves(whole.state._replace(source=())),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    with (tmp_path / "curve.csv").open() as file:
        assert [float(row["loss"]) for row in csv.DictReader(file)] == losses(whole)
    with pytest.raises(ValueError, match="other settings"):
        learn.train(
            net(),
            deepstack(),
            learn.Plan(steps=9, updates=4, minibatch=32, buffer=64),
            out=tmp_path,
            resume=True,
            progress=False,
        )


@pytest.mark.slow  # seconds of compilation
def test_what_is_not_finite_stops_it_and_the_last_checkpoint_is_good(tmp_path: Path):
    source = deepstack()

    def broken(net: Any, state: Any, key: Any) -> Any:
        examples, after = source.sample(net, state, key)
        bad = jnp.where(state == 5, jnp.nan, examples.values)
        return examples._replace(values=bad), after

    spoilt = source._replace(sample=broken)
    with pytest.raises(learn.NonFiniteError, match="batch 5"):
        learn.train(net(), spoilt, PLAN, log_every=2, out=tmp_path, progress=False)
    start = _train.init_train(net(), spoilt, PLAN)
    kept, _ = _train.Checkpoints(tmp_path, _train._identity(net(), spoilt, PLAN)).load(start)
    assert int(kept.step) == 4
    assert all(bool(jnp.isfinite(x).all()) for x in jax.tree.leaves(kept.params))


@pytest.mark.slow  # seconds of compiling
def test_a_second_run_compiles_nothing():
    run()
    before = _train.train_steps._cache_size()
    run()
    assert _train.train_steps._cache_size() == before


@pytest.mark.slow  # seconds of compilation
def test_a_policy_head_learns_the_policies_too():
    game = kuhn()
    both = nets.make_net(game, nets.ValueNetwork(32, 2, actions=2), jax.random.key(0))
    plan = learn.Plan(
        steps=32, updates=8, minibatch=64, buffer=512, policy_weight=1.0, learning_rate=1e-2
    )
    found = learn.train(both, deepstack(), plan, log_every=16, progress=False)
    examples, _ = jax.jit(deepstack().sample)(both, jnp.int32(9), jax.random.key(7))
    target = np.asarray(examples.policy)

    def distance(net: nets.Net) -> float:
        logits = net.output(game.states.at(examples.public), examples.beliefs).logits
        assert logits is not None
        policy = np.asarray(jax.nn.softmax(logits, 1))
        return float(np.abs(policy - target).mean())

    assert distance(found.net) < 0.6 * distance(both)


@pytest.mark.slow
def test_stages_go_from_the_bottom_up():
    source = deepstack()
    state = source.init(jax.random.key(0))
    classes, sample = [], jax.jit(source.sample)
    for step in range(4):
        examples, state = sample(net(), state, jax.random.fold_in(jax.random.key(1), step))
        classes.append(set(np.asarray(examples.public).tolist()))
    assert classes[0] | classes[1] == {1, 2}
    assert 0 in classes[2] | classes[3]


@pytest.mark.slow  # seconds of compilation
def test_self_play_starts_at_the_start_and_follows_the_search():
    game = kuhn()
    source = learn.self_play(
        game,
        subgames(game, actions_limit(1)),
        js.cfr_plus(),
        iterations=5,
        batch=16,
        epsilon=0.5,
    )
    state = source.init(jax.random.key(0))
    sample = jax.jit(source.sample)
    seen = set()
    for step in range(6):
        examples, state = sample(net(), state, jax.random.fold_in(jax.random.key(2), step))
        if step == 0:
            assert set(np.asarray(examples.public).tolist()) == {0}
            np.testing.assert_allclose(examples.beliefs, 1 / 3, atol=1e-6)
        seen |= set(np.asarray(examples.public).tolist())
        np.testing.assert_allclose(examples.beliefs.sum(-1), 1, atol=1e-5)
        assert bool(jnp.isfinite(examples.values).all())
    assert seen == set(range(game.num_classes))


def test_bad_input():
    with pytest.raises(ValueError, match="steps must be"):
        learn.train(net(), deepstack(), learn.Plan(steps=0), progress=False)
    with pytest.raises(ValueError, match="does not hold a batch"):
        learn.train(net(), deepstack(), learn.Plan(buffer=8), progress=False)
    with pytest.raises(ValueError, match="needs out="):
        learn.train(net(), deepstack(), PLAN, resume=True, progress=False)


def test_a_buffer_that_does_not_fit_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    each = learn.example_bytes(net(), deepstack())
    state = _train.init_train(net(), deepstack(), PLAN)
    held = sum(x.nbytes for x in jax.tree.leaves(state.buffer))
    assert held == each * (PLAN.buffer // deepstack().batch) * deepstack().batch
    monkeypatch.setattr(_train, "free_host_bytes", lambda: 2 * held)
    with pytest.raises(MemoryError, match=r"a buffer of [\d,]+ examples .* use a buffer of [\d,]+"):
        learn.train(net(), deepstack(), PLAN, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(_train, "free_host_bytes", lambda: 3 * held)
    assert learn.train(net(), deepstack(), PLAN, until=1, progress=False).curve
