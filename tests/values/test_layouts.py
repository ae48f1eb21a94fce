"""Trees of public states x hands take depth limits and gadgets, with the results of rows."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.compiler import in_rows
from jaxsolve.tree import listed, relaid
from jaxsolve.values import after_actions, biased, continuations, extend, leaf_values, restrict

GAMES = ("kuhn", "leduc(ranks=2)", "liars_dice(dice=1,sides=3)")


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module", params=few(GAMES, "kuhn".__eq__))
def both(request: pytest.FixtureRequest) -> tuple[js.PublicTree, js.PublicTree]:
    with jax.enable_x64(True):
        game = games.load(request.param)
        return js.compile(game), js.compile(game, layout="hands")


def noise(tree: js.PublicTree) -> js.Policy:
    rng, parts = np.random.default_rng(0), []
    for p in tree.info.players:
        odds = rng.uniform(0.1, 1, len(p.action))
        parts.append(odds / np.repeat(np.add.reduceat(odds, p.offset[:-1]), np.diff(p.offset)))
    return js.tree.policy_from_probabilities(tree, parts)


def test_both_layouts_list_the_same_states(both):
    """States, infosets and actions come in the same order; infostates split states alike."""
    rows, hands = both
    a, b = listed(rows), listed(in_rows(hands))
    for name in ("parent", "action", "actor", "terminal", "utility", "depth_start"):
        np.testing.assert_array_equal(getattr(a.states, name), getattr(b.states, name), name)
    np.testing.assert_allclose(a.states.chance, b.states.chance)
    for i, (p, q) in enumerate(zip(a.players, hands.info.players, strict=True)):
        same_partition(a.states.infostate[:, i], b.states.infostate[:, i])
        np.testing.assert_array_equal(p.offset, q.offset)
        np.testing.assert_array_equal(p.action, q.action)
        assert a.labels[i] == b.labels[i] == hands.info.labels[i]
    same_partition(a.states.public, b.states.public)
    policy = noise(hands)
    np.testing.assert_allclose(
        js.expected_values(hands, policy), js.expected_values(rows, relaid(policy, rows))
    )
    np.testing.assert_array_equal(
        relaid(relaid(policy, rows), hands).probabilities(0), policy.probabilities(0)
    )


def same_partition(a: np.ndarray, b: np.ndarray) -> None:
    pairs = np.unique(np.stack([a, b], 1), axis=0)
    assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)


def test_continuations_are_equal(both):
    found = []
    for tree in both:
        policies = biased(tree, noise(tree))
        limit = after_actions(tree, 2)
        limited = continuations(tree, limit, policies, choosers="all")
        values = leaf_values(tree, limit, policies, choosers="all")
        np.testing.assert_allclose(limited.info.values, values)
        solution = js.solve_lp(limited)
        whole = extend(limited, solution.policy, policies[0])
        assert [b.shape for b in whole.players[0]] == [b.shape for b in policies[0].players[0]]
        start = js.exploitability(limited, restrict(limited, policies[0]))
        found.append((values, solution.value, js.exploitability(tree, whole), start))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("gadget", ["unsafe", "resolve", "maxmargin"])
def test_gadgets_are_equal(both, gadget: str):
    found = []
    for tree in both:
        blueprint = noise(tree)
        at = tree.info.players[0].public[-1]
        assert at in np.concatenate(subgame.levels(tree, knowledge="common"))
        part = getattr(subgame, gadget)(tree, blueprint, at)
        exact = js.solve_lp(part)
        whole = subgame.write(blueprint, part, exact.policy)
        assert [b.shape for b in whole.players[0]] == [b.shape for b in blueprint.players[0]]
        found.append((exact.value, np.sort(part.info.alternative), js.exploitability(tree, whole)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_searches_are_equal():
    """Nested re-solving, Modicum and Pluribus return policies in the layout of their blueprint."""
    game = games.load("kuhn")
    found = []
    for tree in (js.compile(game), js.compile(game, layout="hands")):
        blueprint = noise(tree)
        safe = search.nested(tree, blueprint, knowledge="common", gadget="resolve")
        modicum = search.depth_limited(tree, search.DepthSearch([blueprint]))
        settings = search.DepthSearch([blueprint], solver="cfr+", iterations=20)
        results = [safe, modicum, search.pluribus(tree, settings)]
        for result in results:
            value = float(js.exploitability(tree, result.policy))
            assert value == pytest.approx(result.exploitability, abs=1e-9)
        found.append([r.exploitability for r in results])
    np.testing.assert_allclose(*found, atol=1e-9)
