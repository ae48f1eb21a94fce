"""The tensors of a tree: however rows are grouped and padded, the game is the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import random_games

import games
import jaxsolve as js
from jaxsolve.solvers import average_policy, init_state, run
from jaxsolve.testing import RandomGame
from jaxsolve.tree import PublicTree, coarse, exact, policy_from_probabilities
from jaxsolve.tree._gather import Bucket, build, split

LEDUC = "leduc(suits=1,raises=1)"


def scattered(rng: np.random.Generator, tree: PublicTree) -> list[np.ndarray]:
    """A random behaviour policy, per player one probability per action."""
    out = []
    for info in tree.info.players:
        weights = 0.1 + rng.random(len(info.action))
        totals = np.add.reduceat(weights, info.offset[:-1]) if len(weights) else weights
        out.append(weights / np.repeat(totals, np.diff(info.offset)))
    return out


@jax.jit
def solved(tree: PublicTree) -> js.Policy:
    """Returns the average policy after some CFR."""
    state = run(tree, js.dcfr(), init_state(tree, js.dcfr()), 4, 4)
    return average_policy(tree, state)


def judged(tree: PublicTree, policy: js.Policy) -> list[Any]:
    """Returns values and best-response values."""
    return [js.expected_values(tree, policy), js.best_response_values(tree, policy)]


def assert_same_results(first: PublicTree, second: PublicTree) -> None:
    """Values and best responses of a random policy, and a few iterations of CFR, are equal."""
    given = scattered(np.random.default_rng(1), first)
    found = []
    for tree in (first, second):
        policy = dataclasses.replace(solved(tree), names=tree.info)
        average = [policy.probabilities(i) for i in range(tree.num_players)]
        found.append(judged(tree, policy_from_probabilities(tree, given)) + average)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


# --- padding --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("goofspiel(cards=3)", coarse),
        pytest.param("kuhn(players=3)", lambda size: size + 3, marks=pytest.mark.slow),
        pytest.param(LEDUC, coarse, marks=pytest.mark.slow),
    ],
)
def test_padded_equals_unpadded(text: str, bucket: Bucket):
    game = games.load(text)
    tight, padded = js.compile(game), js.compile(game, bucket=bucket)
    assert padded.players[0].num_sequences > tight.players[0].num_sequences
    assert_same_results(tight, padded)


def test_padding_holds_zeros():
    tree = js.compile(games.load(LEDUC), bucket=coarse)
    assert not all(np.asarray(x).any(0).all() for p in tree.players for x in p.legal)
    for policy in (js.uniform_policy(tree), solved(tree)):
        for player, blocks in zip(tree.players, policy.players, strict=True):
            for legal, block in zip(player.legal, blocks, strict=True):
                assert (np.asarray(block)[~np.asarray(legal)] == 0).all()
                rows = np.asarray(legal).any(0)
                np.testing.assert_allclose(block.sum(0), rows, atol=1e-6)


@given(st.integers(0, 100_000))
def test_coarse_rounds_up_by_less_than_half(size: int):
    assert size <= coarse(size) <= max(4, 1.5 * size)
    assert coarse(coarse(size)) == coarse(size)


# --- grouping -------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 40)), min_size=1, max_size=12))
def test_split_covers_all_in_order(groups: list[tuple[int, int]]):
    width = np.unique([w for _, w in groups])
    below = np.cumsum([n for n, _ in groups][: len(width)])
    ends, cost = split(below, width)
    assert ends == sorted(set(ends))
    assert ends[-1] == len(width) - 1
    counts = np.diff(below, prepend=0)
    assert cost >= (counts * width).sum()  # at least the cells that are not padding
    padded = below[-1] * width[-1]
    one_group, _ = split(below[-1:], width[-1:])
    assert one_group == [0]
    assert cost <= padded + max(3000, (counts * width).sum() // 200) + 1  # no worse than one group


@settings(max_examples=30)
@given(
    lists=st.lists(st.integers(0, 9), min_size=1, max_size=30),
    inputs=st.integers(1, 3),
    weighted=st.booleans(),
    seed=st.integers(0, 1000),
    bucket=st.sampled_from([exact, coarse]),
)
def test_gathered_sums(lists: list[int], inputs: int, weighted: bool, seed: int, bucket: Any):
    rng = np.random.default_rng(seed)
    size, total, length = len(lists), sum(lists), 13
    target = rng.permutation(np.repeat(np.arange(size), lists))
    sources = [rng.integers(length, size=total) for _ in range(inputs)]
    weight = rng.normal(size=total) if weighted else None
    x = rng.normal(size=(inputs, length + 1))
    x[:, length] = 0  # what padding points at
    expected = np.zeros(size)
    for e, s in enumerate(target):
        product = np.prod([x[j, sources[j][e]] for j in range(inputs)])
        expected[s] += product * (1 if weight is None else weight[e])
    gather = build(target, sources, size, pad=length, weight=weight, bucket=bucket)
    with jax.disable_jit():  # every example has other shapes
        np.testing.assert_allclose(gather(*map(jnp.asarray, x)), expected, atol=1e-4)


@pytest.mark.parametrize("text", [LEDUC, "goofspiel(cards=3)", "kuhn(players=3)"])
def test_levels_are_own_depths(text: str):
    """A row's level is how often its player has acted; its parent lies in the level above."""
    tree = js.compile(games.load(text))
    for player, info in zip(tree.players, tree.info.players, strict=True):
        above = player.root_reach.shape[0]
        rows = 0
        for level in player.levels:
            size = 0
            for block in level:
                assert block.legal.shape[1] == block.parent.shape[0]
                assert (np.asarray(block.parent) < above).all()
                rows += int(np.asarray(block.legal).any(0).sum())
                size += block.legal.shape[0] * block.legal.shape[1]
            above = size
        assert rows == info.num_infosets
        assert len(player.levels) == 1 + max(
            sum(a >= 0 for a in _own_actions(info, k)) for k in range(info.num_infosets)
        )


def _own_actions(info: Any, infoset: int) -> list[int]:
    at, out = int(info.infostate[infoset]), []
    while at >= 0:
        out.append(int(info.states.action[at]))
        at = int(info.states.parent[at])
    return out


def test_every_sequence_has_its_place():
    tree = js.compile(games.load(LEDUC), bucket=coarse)
    for player, info in zip(tree.players, tree.info.players, strict=True):
        assert len(np.unique(info.position)) == len(info.position) == info.offset[-1]
        legal = np.concatenate([np.zeros(1, bool), *(np.ravel(x) for x in player.legal)])
        assert legal[info.position].all()
        assert legal.sum() == len(info.position)


# --- public states x hands ------------------------------------------------------------------------


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(
    "text",
    [
        "kuhn",
        pytest.param("leduc(ranks=2,raises=1)", marks=pytest.mark.slow),
        pytest.param("liars_dice(sides=2)", marks=pytest.mark.slow),
    ],
)
def test_hands_equal_rows(text: str):
    """Built directly, a card game has the same infosets and gives the same numbers."""
    game = games.load(text)
    rows, hands = js.compile(game), js.compile(game, layout="hands")
    assert hands.players[0].num_hands > 1
    assert hands.info.num_states == rows.info.num_states
    assert hands.info.num_infosets == rows.info.num_infosets
    # Orders differ; names tell which infoset is which.
    orders = [{name: k for k, name in enumerate(labels)} for labels in (*rows.info.labels,)]
    given = scattered(np.random.default_rng(2), rows)
    moved = []
    for i in range(2):
        a, b = rows.info.players[i], hands.info.players[i]
        assert sorted(rows.info.labels[i]) == sorted(hands.info.labels[i])
        parts = []
        for k, name in enumerate(hands.info.labels[i]):
            at = orders[i][name]
            assert tuple(a.action[a.offset[at] : a.offset[at + 1]]) == tuple(
                b.action[b.offset[k] : b.offset[k + 1]]
            )
            parts.append(given[i][a.offset[at] : a.offset[at + 1]])
        moved.append(np.concatenate(parts))
    first = judged(rows, policy_from_probabilities(rows, given))
    second = judged(hands, policy_from_probabilities(hands, moved))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-9)
    averages = [
        {(i, name): list(actions.values()) for i, name, actions in named.rows()}
        for tree in (rows, hands)
        for named in [dataclasses.replace(solved(tree), names=tree.info)]
    ]
    for key, probabilities in averages[0].items():
        np.testing.assert_allclose(averages[1][key], probabilities, atol=1e-9)
    np.testing.assert_allclose(js.solve_lp(rows).value, js.solve_lp(hands).value, atol=1e-9)


# --- names, policies ------------------------------------------------------------------------------


def test_names_do_not_travel_through_jit():
    tree = js.compile(games.load("kuhn"))
    assert jax.jit(lambda t: t)(tree).names is None
    policy = jax.jit(js.uniform_policy)(tree)
    assert policy.names is None
    with pytest.raises(ValueError, match=r"dataclasses.replace\(policy, names=tree.info\)"):
        policy.probabilities(0)
    again = dataclasses.replace(policy, names=tree.info)
    np.testing.assert_allclose(again.probabilities(0), 0.5)
    assert tree.replace(leaves=tree.leaves).info is tree.info


@settings(max_examples=6)
@given(game=random_games(), seed=st.integers(0, 1000))
def test_policies_come_back(game: RandomGame, seed: int):
    tree = js.compile(game)
    given = scattered(np.random.default_rng(seed), tree)
    policy = policy_from_probabilities(tree, given)
    for i, probabilities in enumerate(given):
        np.testing.assert_allclose(policy.probabilities(i), probabilities, atol=1e-6)
    rows = policy.rows()
    assert len(rows) == sum(tree.info.num_infosets)
    for _, _, actions in rows:
        assert sum(actions.values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("layout", ["rows", "hands"])
def test_policies_come_back_in_both_layouts(layout: str):
    tree = js.compile(games.load(LEDUC), layout=layout)
    given = scattered(np.random.default_rng(0), tree)
    policy = policy_from_probabilities(tree, given)
    for i, probabilities in enumerate(given):
        np.testing.assert_allclose(policy.probabilities(i), probabilities, atol=1e-6)


def test_policies_of_another_game_are_refused():
    kuhn, leduc = js.compile(games.load("kuhn")), js.compile(games.load(LEDUC))
    given = scattered(np.random.default_rng(0), leduc)
    with pytest.raises(ValueError, match="kuhn has 12; is it a policy of another game"):
        policy_from_probabilities(kuhn, given)
    given = scattered(np.random.default_rng(0), kuhn)
    given[1][3] += 0.1
    with pytest.raises(ValueError, match=r"probabilities at '.*' of player 1 .*not a distribution"):
        policy_from_probabilities(kuhn, given)
    given[1][2:4] = 1.5, -0.5
    with pytest.raises(ValueError, match="not a distribution"):
        policy_from_probabilities(kuhn, given)


def test_worked_example_of_gathers():
    """The numbers of Kuhn poker in the docstring of `tree/_gather.py`."""
    tree = js.compile(games.load("kuhn"))
    (children,) = tree.players[0].children[1].index
    np.testing.assert_array_equal(children, np.array([[[0], [1], [2], [3], [3], [3]]]))
    (leaves,) = tree.leaves
    (index,), (weight,) = leaves.lists[0].index, leaves.lists[0].weight
    np.testing.assert_array_equal(index[0, 1], [1, 3, 0, 0])
    np.testing.assert_allclose(weight[1], [-1 / 6, -1 / 6, 0, 0], rtol=1e-6)
    for player, name, action, position in (
        *((0, card, "pass", k) for k, card in enumerate("JQK", 1)),
        *((0, card, "bet", k) for k, card in enumerate("JQK", 4)),
        *((0, f"{card}|p|b", "pass", k) for k, card in enumerate("JQK", 7)),
        *((0, f"{card}|p|b", "bet", k) for k, card in enumerate("JQK", 10)),
        (1, "Q|p", "pass", 1),
        (1, "K|p", "pass", 3),
    ):
        names = tree.info.players[player]
        entry = names.offset[tree.info.labels[player].index(name)] + ("pass", "bet").index(action)
        assert names.position[entry] == position


def test_trees_show_their_sizes():
    tree = js.compile(games.load("kuhn"))
    for text in (repr(tree), tree._repr_html_()):
        for word in ("kuhn", "58", "11", "6 + 6", "MiB"):
            assert word in text
    assert "2 + 1" in repr(jax.jit(lambda t: t)(tree))
    assert "Q" in js.uniform_policy(tree)._repr_html_()
