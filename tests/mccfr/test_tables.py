"""Public actions, payoffs by pots, and tables on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import holdem, mccfr, native
from jaxsolve.mccfr import PotPayoffs
from jaxsolve.types import TERMINAL


@pytest.fixture(scope="module")
def kuhn() -> mccfr.ListedGame:
    return mccfr.listed_game(js.compile(games.load("kuhn")))


def test_public_actions_of_kuhn(kuhn: mccfr.ListedGame) -> None:
    """The table in the docstring of the module."""
    tree = kuhn.tree
    end = TERMINAL
    assert tree.actor.tolist() == [0, 1, 1, end, 0, end, end, end, end]
    assert tree.child.tolist() == [1, 3, 5, -1, 7, -1, -1, -1, -1]
    assert tree.rows([3])[[0, 1, 2, 4, 9]].tolist() == [0, 6, 12, 18, 24]
    assert (tree.num_sequences, tree.num_stages, len(tree.ends)) == (8, 1, 5)
    assert tree.line(7) == "pass bet pass"
    assert tree.find("pass bet pass") == 7
    with pytest.raises(ValueError, match="'raise' cannot follow 'pass': pass, bet"):
        tree.find("pass raise")


def test_pruning_spares_the_last_stage_and_the_end_of_the_game() -> None:
    tree = mccfr.listed_game(js.compile(games.load("leduc"))).tree
    bits = tree.prunable()
    for p in np.flatnonzero(tree.count):
        for a in range(tree.count[p]):
            child = tree.child[p] + a
            want = tree.stage[p] == 0 and tree.count[child] > 0
            assert bool(bits[p] >> a & 1) == want


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("goofspiel(cards=3,order=descending)", "a player cannot see every action"),
        ("scotland_yard(rounds=2)", "depends on the deal|cannot see"),
    ],
)
def test_games_that_are_refused(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        mccfr.listed_game(js.compile(games.load(name)))


@pytest.mark.parametrize("players", few([2, 3, 6], (3).__eq__))
def test_pots_are_those_of_the_rules_of_betting(players: int) -> None:
    """Random ends of hands, beside `holdem.payoffs`, in Python and in C++."""
    rng = np.random.default_rng(players)
    rules = holdem.no_limit(players)
    count = 300
    spent = rng.choice([0, 50, 100, 300, 700], (count, players)).astype(np.int32)
    folded = rng.random((count, players)) < 0.4
    folded[np.arange(count), spent.argmax(1)] = False  # the largest bet is not folded
    rank = rng.integers(0, 4, (count, players)).astype(np.int32)
    start = holdem.start(rules, 10_000)
    state = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))), start)
    state = state._replace(spent=spent, folded=folded)
    want = np.asarray(jax.vmap(lambda s, r: holdem.payoffs(rules, s, r))(state, rank))
    pots = PotPayoffs(spent, folded)
    got = np.stack([pots(k, rank[k]) for k in range(count)])
    np.testing.assert_allclose(got, want, atol=1e-3)
    assert np.abs(got.sum(1)).max() < 1e-9
    if native.host_library("mccfr") is not None:
        np.testing.assert_allclose(mccfr.pots_native(pots, np.arange(count), rank), want, atol=1e-3)


@pytest.mark.parametrize("bits", [32, 16])
def test_a_resumed_run_equals_an_uninterrupted_one(
    tmp_path: Path, kuhn: mccfr.ListedGame, bits: int
) -> None:
    if bits == 16 and native.host_library("mccfr") is None:
        pytest.skip("entries of 16 bits need a C++ compiler")
    sampler = mccfr.ExternalSampler(kuhn, mccfr.Options(seed=5))
    whole, _ = sampler.run(mccfr.make_tables(kuhn, bits), 2_000)
    half, _ = sampler.run(mccfr.make_tables(kuhn, bits), 700)
    mccfr.save_tables(tmp_path / "t.npz", kuhn, half, seconds=1.5)
    again, more = mccfr.load_tables(tmp_path / "t.npz", kuhn, bits)
    assert more == {"seconds": 1.5}
    again, _ = sampler.run(again, 1_300)
    assert again.passes == whole.passes
    np.testing.assert_array_equal(again.regret, whole.regret)
    np.testing.assert_array_equal(again.average, whole.average)


def test_files_that_are_refused(tmp_path: Path, kuhn: mccfr.ListedGame) -> None:
    path = tmp_path / "t.npz"
    mccfr.save_tables(path, kuhn, mccfr.make_tables(kuhn))
    with pytest.raises(ValueError, match="bits: 32 instead of 16"):
        mccfr.load_tables(path, kuhn, 16)
    other = dataclasses.replace(kuhn, name="kuhn(ranks=4)")
    with pytest.raises(ValueError, match="game: 'kuhn' instead of"):
        mccfr.load_tables(path, other)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 8
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        mccfr.load_tables(path, kuhn)


def test_tables_that_are_refused(kuhn: mccfr.ListedGame) -> None:
    with pytest.raises(ValueError, match="write 32 or 16"):
        mccfr.make_tables(kuhn, 8)
    with pytest.raises(ValueError, match="not 70,000"):
        mccfr.make_tables(dataclasses.replace(kuhn, num_buckets=(70_000,)))
    many = np.where(kuhn.tree.count > 0, 40, 0)
    with pytest.raises(ValueError, match="40 actions; at most 32"):
        dataclasses.replace(kuhn.tree, count=many)
