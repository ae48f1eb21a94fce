"""Depth limits in sampled CFR against exact counterfactual regrets, and a plain form."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import mccfr, native
from jaxsolve.types import TERMINAL

NATIVE = native.host_library("mccfr") is not None


@functools.cache
def limited(both: bool = True, count: int = 4, bits: int = 32) -> mccfr.ListedGame:
    """Leduc to the end of its first round, beyond it a blueprint drawn by chance."""
    whole = mccfr.listed_game(js.compile(games.load("leduc")))
    tree = whole.tree
    rng = np.random.default_rng(3)
    sums = rng.uniform(0.1, 1, int(tree.rows(whole.num_buckets)[-1])).astype(np.float32)
    if bits == 16:
        sums = (sums.view(np.uint32) >> 16).astype(np.uint16)
    kinds = {"f": mccfr.Kind.FOLD, "c": mccfr.Kind.CALL, "r": mccfr.Kind.RAISE}
    made, origin = mccfr.limited_tree(
        tree,
        0,
        source=tree.rows(whole.num_buckets)[:-1],
        kind=np.array([kinds[(word or "c")[0]] for word in tree.label], np.uint8),
        beyond=mccfr.Continuations(sums, mccfr.bias(5, count)),
        choosers=np.broadcast_to([both, True], (tree.num_nodes, 2)),
    )
    ends = tree.end_number[origin[made.ends]]
    payoffs = mccfr.TablePayoffs(whole.payoffs.table[:, ends])
    return dataclasses.replace(whole, tree=made, payoffs=payoffs)


def exact(game: mccfr.ListedGame, tables: mccfr.Tables) -> np.ndarray:
    """Counterfactual regrets, by a walk over all deals, nodes and choices."""
    tree, regret = game.tree, np.zeros(len(tables.regret))
    assert isinstance(tree, mccfr.LimitedTree)

    def walk(node: int, deal: int, reach: np.ndarray, choice: tuple[int, int]) -> np.ndarray:
        if tree.actor[node] == TERMINAL:
            return game.payoffs.table[deal, tree.end_number[node]].astype(float)
        i, count = int(tree.actor[node]), int(tree.count[node])
        bucket = int(game.deals.bucket[deal, i, tree.stage[node]])
        first = int(tree.child[node])
        if tree.role[node] == mccfr.Role.FIXED:
            policy = tree.policy_beyond(node, bucket, choice[i]).astype(float)
        else:
            entries = mccfr.entries_of(tree, tables, tables.regret, node)
            policy = mccfr.matched(entries)[bucket]
        value = np.zeros((count, 2))
        for a in range(count):
            after = reach.copy()
            after[i] *= policy[a]
            if tree.role[node] == mccfr.Role.CHOICE:
                chosen = (a, choice[1]) if i == 0 else (choice[0], a)
                value[a] = walk(first, deal, after, chosen)
            else:
                value[a] = walk(first + a, deal, after, choice)
        mean = policy @ value
        if tree.role[node] != mccfr.Role.FIXED:
            at = int(tables.row[node]) + bucket * count
            regret[at : at + count] += reach[1 - i] * (value - mean)[:, i]
        return mean

    for deal, chance in enumerate(game.chance):
        walk(0, deal, np.full(2, chance), (0, 0))
    return regret


def random_tables(game: mccfr.ListedGame) -> mccfr.Tables:
    tables = mccfr.make_tables(game)
    tables.regret[:] = np.random.default_rng(1).uniform(0.2, 1, len(tables.regret))
    return tables


@pytest.mark.skipif(not NATIVE, reason="needs a C++17 compiler")
@pytest.mark.parametrize("both", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_pass_is_unbiased(both: bool) -> None:
    """The mean of single passes from one random policy, beside exact counterfactual regrets."""
    game = limited(both)
    start = random_tables(game)
    sampler = mccfr.ExternalSampler(game, mccfr.Options(power=0))
    passes = 20_000
    total, squares, visits = np.zeros((3, len(start.regret)))
    for k in range(passes):
        now = mccfr.Tables(start.row, start.regret.copy(), start.average.copy(), k)
        now, _ = sampler.run(now, 1)
        step = now.regret - start.regret
        total += step
        squares += np.square(step)
        visits += step != 0
    mean = total / passes
    error = np.sqrt(np.maximum(squares / passes - mean**2, 0) / passes) + 1e-6
    want = exact(game, start) / 2  # each player traverses in every second pass
    often = visits > 100
    assert often.mean() > 0.6
    score = ((mean - want) / error)[often]
    assert np.abs(score).max() < 5
    assert 0.5 < np.square(score).mean() < 1.5


@pytest.mark.skipif(not NATIVE, reason="needs a C++17 compiler")
@pytest.mark.parametrize("bits", [32, 16])
def test_native_passes_are_the_plain_ones(bits: int) -> None:
    """Equal seeds, equal tables; the blueprint beyond in 32 or 16 bits."""
    game = limited(True, 4, bits)
    found = []
    for library in (True, False):
        sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=3))
        if not library:
            sampler._library = None
        found.append(sampler.run(random_tables(game), 300)[0])
    np.testing.assert_allclose(found[0].regret, found[1].regret, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[0].average, found[1].average, rtol=1e-4, atol=1e-4)


def test_seats_that_traverse_take_turns() -> None:
    """One seat alone: only its regrets move, and averages are its own."""
    game = limited()
    found = []
    for library in (True, False) if NATIVE else (False,):
        sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=3), seats=[1])
        if not library:
            sampler._library = None
        now, _ = sampler.run(random_tables(game), 60)
        found.append(now)
        own = np.repeat(game.tree.actor == 1, np.diff(now.row))
        moved = now.regret != random_tables(game).regret
        assert moved.any()
        assert not moved[~own].any()
    np.testing.assert_allclose(found[0].regret, found[-1].regret, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="seats are some of 0 to 1"):
        mccfr.ExternalSampler(game, mccfr.Options(), seats=[2])


def test_a_choice_has_one_child_and_no_fixed_node_has_entries() -> None:
    tree = limited().tree
    assert isinstance(tree, mccfr.LimitedTree)
    chooses = np.flatnonzero(tree.role == mccfr.Role.CHOICE)
    assert (np.bincount(tree.parent[1:], minlength=tree.num_nodes)[chooses] == 1).all()
    width = np.diff(tree.rows((3, 9)))
    assert (width[tree.role == mccfr.Role.FIXED] == 0).all()
    assert (width[chooses] == 3 * 4).all()
    whole = mccfr.listed_game(js.compile(games.load("leduc"))).tree
    assert (tree.role != mccfr.Role.CHOICE).sum() == whole.num_nodes


def test_bad_continuations_are_refused() -> None:
    with pytest.raises(ValueError, match="1 to 4 continuations"):
        mccfr.bias(5, 5)
    with pytest.raises(ValueError, match="positive"):
        mccfr.bias(0)
    with pytest.raises(ValueError, match="positive"):
        mccfr.Continuations(np.ones(3, np.float32), np.zeros((1, 3)))
    with pytest.raises(ValueError, match="32 or 16 bits"):
        mccfr.Continuations(np.ones(3), mccfr.bias())
