"""Multi-valued states: rock-paper-scissors+, and values against a slow independent reference."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import subgame
from jaxsolve.tree import listed
from jaxsolve.types import CHANCE, TERMINAL
from jaxsolve.values import (
    after_actions,
    after_round,
    at_public_states,
    continuations,
    extend,
    poker_class,
    pruned,
    restrict,
    rollouts,
    set_values,
)
from jaxsolve.values import biased as biased_policy


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def rps() -> js.PublicTree:
    with jax.enable_x64(True):
        return js.compile(games.load("rps_plus"))


@pytest.fixture(scope="module")
def leduc() -> tuple[js.PublicTree, list[js.Policy]]:
    """One-suited no-limit Leduc, an equilibrium and two random policies."""
    with jax.enable_x64(True):
        tree = js.compile(games.load("nolimit_leduc(ranks=4,suits=1,stack=5,sizes=[1.0])"))
        return tree, [js.solve_lp(tree).policy, *(noise(tree, s) for s in range(2))]


def noise(tree: js.PublicTree, seed: int) -> js.Policy:
    rng, parts = np.random.default_rng(seed), []
    for p in tree.info.players:
        odds = rng.uniform(0.1, 1, len(p.action))
        parts.append(odds / np.repeat(np.add.reduceat(odds, p.offset[:-1]), np.diff(p.offset)))
    return js.tree.policy_from_probabilities(tree, parts)


def pure(tree: js.PublicTree, action: int) -> js.Policy:
    return js.tree.policy_from_probabilities(tree, [np.array([0.4, 0.4, 0.2]), np.eye(3)[action]])


def expected(tree: js.PublicTree, state: int, policies: tuple[js.Policy, js.Policy]) -> float:
    """Player 0's expected payoff from a world state on, by plain recursion."""
    info = listed(tree)
    table = info.states
    children = np.flatnonzero(table.parent == state)
    actor = table.actor[state]
    if actor == TERMINAL:
        return float(table.utility[np.searchsorted(table.terminal, state), 0])
    if actor == CHANCE:
        odds = table.chance[children] / table.chance[state]
    else:
        p = info.players[actor]
        row = int(np.flatnonzero(p.infostate == table.infostate[state, actor])[0])
        odds = policies[actor].probabilities(actor)[p.offset[row] : p.offset[row + 1]]
    worth = (expected(tree, int(c), policies) for c in children)
    return float(sum(o * w for o, w in zip(odds, worth, strict=True)))


def test_one_value_is_not_enough_and_three_are(rps):
    blueprint = js.solve_lp(rps).policy
    limit = after_actions(rps, 1)
    one = continuations(rps, limit, [blueprint])
    assert np.abs(one.info.values).max() < 1e-9  # every action looks alike
    for solve in (lambda t: js.solve_lp(t).policy, pcfr):
        naive = extend(one, solve(one), blueprint)
        assert float(js.best_response(rps, naive, 1).value) >= 0.2
        three = continuations(rps, limit, [pure(rps, a) for a in range(3)])
        found = extend(three, solve(three), blueprint)
        np.testing.assert_allclose(found.probabilities(0), [0.4, 0.4, 0.2], atol=1e-3)
        assert float(js.best_response(rps, found, 1).value) < 5e-3


def pcfr(tree: js.PublicTree) -> js.Policy:
    return js.solve(tree, "pcfr+", iterations=1000, measure_every=1000, progress=False).average


@pytest.mark.parametrize("choosers", ["opponent", "all"])
def test_exact_values_are_expected_payoffs(leduc, choosers: str):
    tree, policies = leduc
    limit = after_round(tree)
    limited = continuations(tree, limit, policies, choosers=choosers)
    values = limited.info.values
    assert values.shape == (len(limit.leaf), 3 if choosers == "all" else 1, 3, 2)
    for at in range(0, len(limit.leaf), 7):
        for a in range(values.shape[1]):
            for b in range(values.shape[2]):
                want = expected(tree, int(limit.leaf[at]), (policies[a], policies[b]))
                assert values[at, a, b] == pytest.approx([want, -want], abs=1e-9)


def test_float32_values_agree_to_a_millionth():
    with jax.enable_x64(False):
        tree = js.compile(games.load("leduc(ranks=2)"))
        policy = js.uniform_policy(tree)
        limit = after_round(tree)
        values = continuations(tree, limit, [policy]).info.values[:, 0, 0, 0]
    for at in range(0, len(values), 7):
        want = expected(tree, int(limit.leaf[at]), (policy, policy))
        assert values[at] == pytest.approx(want, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("choosers", ["opponent", "all"])
@pytest.mark.parametrize("player", [0, 1])
def test_the_blueprint_is_worth_the_same_in_both_games(leduc, choosers: str, player: int):
    tree, policies = leduc
    limited = continuations(tree, after_round(tree), policies[1:], choosers=choosers, player=player)
    inside = js.expected_values(limited, restrict(limited, policies[1]))
    np.testing.assert_allclose(inside, js.expected_values(tree, policies[1]), atol=1e-9)
    back = extend(limited, restrict(limited, policies[1]), policies[1])
    for i in range(2):
        np.testing.assert_allclose(back.probabilities(i), policies[1].probabilities(i), atol=1e-9)


def test_with_an_equilibrium_blueprint_the_value_of_the_game_stays(leduc):
    """The opponent cannot gain by leaving equilibrium; the searcher keeps it (proposition 1)."""
    tree, policies = leduc
    whole = js.solve_lp(tree).value
    for choosers in ("opponent", "all"):
        limited = continuations(tree, after_round(tree), policies, choosers=choosers)
        equilibrium = restrict(limited, policies[0])
        worst = -float(js.best_response(limited, equilibrium, 1).value)
        assert worst == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize(
    ("gadget", "solver", "choosers"),
    [
        *itertools.product(("unsafe", "resolve", "maxmargin"), ("lp",), ("opponent", "all")),
        pytest.param("resolve", "pcfr+", "all", marks=pytest.mark.slow),
        ("maxmargin", "cfr+", "opponent"),
    ],
)
def test_gadgets_take_limited_games(leduc, gadget: str, solver: str, choosers: str):
    """Solving again under a safe gadget with exact values never gives up a margin."""
    tree, policies = leduc
    limited = continuations(tree, after_round(tree), policies, choosers=choosers)
    blueprint = restrict(limited, policies[0])
    at = subgame.levels(limited, player=0, knowledge="common")[0]
    part = getattr(subgame, gadget)(limited, blueprint, at)
    (found,) = subgame.solve_subgames(part, solver, target=1e-4, iterations=4000)
    assert found.gap.max() <= 1e-4
    if gadget != "unsafe":
        uniform = [np.repeat(1 / np.diff(p.offset), np.diff(p.offset)) for p in part.info.players]
        uniform[0] = found.behaviour
        policy = js.tree.policy_from_probabilities(part, uniform)
        assert part.info.margins(policy).min() >= -2e-3


def test_values_can_be_swapped_batched_and_compile_once(leduc):
    tree, policies = leduc
    limit = after_round(tree)
    limited = continuations(tree, limit, policies)
    other = continuations(tree, limit, policies[::-1])
    swapped = set_values(limited, other.info.values)
    assert js.solve_lp(swapped).value == pytest.approx(js.solve_lp(other).value, abs=1e-9)
    traces = []

    @jax.jit
    def worth(values: Any) -> Any:
        traces.append(1)

        def one(v: Any) -> Any:
            game = set_values(limited.replace(names=None), v)
            return js.best_response(game, js.uniform_policy(game), 1).value

        return jax.vmap(one)(values)

    both = jnp.stack([limited.info.values, other.info.values])
    got, again = worth(both), worth(both[::-1])
    assert len(traces) == 1
    np.testing.assert_allclose(got, again[::-1], atol=1e-12)
    for game, value in zip((limited, other), got, strict=True):
        alone = js.best_response(game, js.uniform_policy(game), 1).value
        assert float(value) == pytest.approx(float(alone), abs=1e-12)


def test_weakening_leaves_no_continuation_better_than_the_blueprint(leduc):
    tree, policies = leduc
    limit = after_round(tree)
    blueprint = policies[1]
    best = js.Policy((blueprint.players[0], js.best_response(tree, blueprint, 1).policy), tree.info)
    plain = continuations(tree, limit, [blueprint, best])
    weak = continuations(tree, limit, [blueprint, best], weakened=True)
    restricted = restrict(weak, blueprint)
    # Nothing is gained by choosing, so that against the blueprint the best choice is the first.
    only = weak.info.chooses(1)
    gain = {}
    for name, game in (("plain", plain), ("weak", weak)):
        parts = [restricted.probabilities(i) for i in range(2)]
        p = game.info.players[1]
        answer = js.best_response(game, restricted, 1)
        parts[1] = dataclasses.replace(
            js.Policy((restricted.players[0], answer.policy)), names=game.info
        ).probabilities(1)
        entries = ~np.repeat(only, np.diff(p.offset))
        parts[1][entries] = restricted.probabilities(1)[entries]
        chosen = js.tree.policy_from_probabilities(game, parts)
        gain[name] = float(
            js.expected_values(game, chosen)[1] - js.expected_values(tree, blueprint)[1]
        )
    assert gain["weak"] < 1e-9
    assert gain["plain"] > 0.05
    # A continuation that was no better stays as it was.
    worse = continuations(tree, limit, [best, best], weakened=True)
    np.testing.assert_allclose(
        worse.info.values[:, 0, 0, 0], worse.info.values[:, 0, 1, 0], atol=1e-9
    )


@pytest.fixture(scope="module")
def kuhn3() -> js.PublicTree:
    with jax.enable_x64(True):
        return js.compile(games.load("kuhn(players=3)"))


@pytest.mark.parametrize("choosers", ["opponent", pytest.param("all", marks=pytest.mark.slow)])
def test_three_players_choose(kuhn3, choosers: str):
    """Whoever chooses which continuation: payoffs are those of the whole game."""
    policies = [noise(kuhn3, seed) for seed in range(2)]
    limit = after_actions(kuhn3, 2)
    limited = continuations(kuhn3, limit, policies, player=1, choosers=choosers)
    ways = (2, 1, 2) if choosers == "opponent" else (2, 2, 2)
    assert limited.info.values.shape == (limit.num_leaves, *ways, 3)
    above = js.uniform_policy(kuhn3)
    for chosen in itertools.product(*(range(k) for k in ways)):
        parts = [restrict(limited, above).probabilities(i) for i in range(3)]
        whole = []
        for i, p in enumerate(limited.info.players):
            rows = np.flatnonzero(limited.info.chooses(i))
            for row in rows:
                parts[i][p.offset[row] : p.offset[row + 1]] = np.eye(ways[i])[chosen[i]]
            q = kuhn3.info.players[i]
            below = np.repeat(limit.below[q.public], np.diff(q.offset))
            odds = policies[chosen[i]].probabilities(i)
            whole.append(np.where(below, odds, above.probabilities(i)))
        np.testing.assert_allclose(
            js.expected_values(limited, js.tree.policy_from_probabilities(limited, parts)),
            js.expected_values(kuhn3, js.tree.policy_from_probabilities(kuhn3, whole)),
            atol=1e-12,
        )
    if choosers == "all":
        draw = rollouts(kuhn3, limit, policies, count=2000, choosers="all")
        drawn = np.asarray(draw(jax.random.key(0)))
        assert drawn.shape == limited.info.values.shape
        np.testing.assert_allclose(drawn, limited.info.values, atol=0.25)


def test_three_players_against_the_blueprint(kuhn3):
    """With the blueprint alone at the limit, best responses see the blueprint below it."""
    blueprint = noise(kuhn3, 5)
    limit = after_actions(kuhn3, 3)
    limited = continuations(kuhn3, limit, [blueprint])
    above = noise(kuhn3, 6)
    whole = extend(limited, restrict(limited, above), blueprint)
    np.testing.assert_allclose(
        js.expected_values(limited, restrict(limited, whole)),
        js.expected_values(kuhn3, whole),
        atol=1e-12,
    )
    for i in range(3):
        inside = js.best_response(limited, restrict(limited, whole), i).value
        answer = js.best_response(kuhn3, whole, i).value
        assert float(inside) <= float(answer) + 1e-12
    with pytest.raises(ValueError, match="two players and constant sum"):
        continuations(kuhn3, limit, [blueprint, above], weakened=True)


def test_bad_input(leduc, rps):
    tree, policies = leduc
    limit = after_round(tree)
    with pytest.raises(ValueError, match=r"values of shape \(\d+, 2\).*public state \d+"):
        continuations(tree, limit, policies, values=lambda s: np.zeros((len(s.state), 2)))
    broken = [p.probabilities(i) for i, p in enumerate((policies[0], policies[0]))]
    broken[1] = broken[1].copy()
    info = tree.info.players[1]
    row = int(np.flatnonzero(limit.below[info.public])[0])
    broken[1][info.offset[row] : info.offset[row + 1]] = 0
    missing = js.Policy(
        (policies[0].players[0], uncovered(tree, policies[0], broken[1])), tree.info
    )
    place = f"no strategy for player 1 in public state {info.public[row]}"
    with pytest.raises(ValueError, match=place):
        continuations(tree, limit, [policies[0], missing])
    small = js.compile(games.load("nolimit_leduc(ranks=3,suits=1,stack=5,sizes=[1.0])"))
    coarse = js.lift(js.uniform_policy(small), tree)  # it has never seen the lowest rank
    with pytest.raises(ValueError, match=r"in public state \d+.*no infoset of the coarser game"):
        continuations(tree, limit, [policies[0], coarse])
    with pytest.raises(ValueError, match="must be one of opponent, all"):
        continuations(tree, limit, policies, choosers="both")
    with pytest.raises(ValueError, match="at least the blueprint"):
        continuations(tree, limit, [])
    with pytest.raises(ValueError, match="never comes to the limit"):
        continuations(tree, after_actions(tree, 50), policies)
    with pytest.raises(ValueError, match="no limit after round 3"):
        after_round(tree, 3)
    with pytest.raises(ValueError, match="there is no"):
        at_public_states(tree, [10**6])
    with pytest.raises(ValueError, match="no depth limit"):
        set_values(tree, np.zeros(3))
    with pytest.raises(ValueError, match="positive factor"):
        biased_policy(tree, policies[0], factor=0)


def uncovered(tree: js.PublicTree, policy: js.Policy, odds: np.ndarray) -> Any:
    """Player 1's blocks with some probabilities, even if they are no distribution."""
    info = tree.info.players[1]
    flat = np.concatenate([np.asarray(b).reshape(-1) for b in policy.players[1]])
    flat[info.position - info.roots] = odds
    pieces = np.split(flat, np.cumsum([b.size for b in policy.players[1]])[:-1])
    return tuple(
        jnp.asarray(x.reshape(b.shape)) for x, b in zip(pieces, policy.players[1], strict=True)
    )


def test_a_limit_through_an_infoset_is_refused():
    """Phantom moves are hidden: who waits does not know how many there have been."""
    tree = js.compile(games.load("dark_hex(board_size=2)"))
    with pytest.raises(ValueError, match="goes through public state"):
        after_actions(tree, 2)


def test_limits_hold_the_states_they_name(leduc):
    tree, _ = leduc
    table = listed(tree).states
    limit = after_actions(tree, 1)
    assert (table.actor[table.parent[limit.leaf]] >= 0).all()
    assert len(np.unique(table.public[limit.leaf])) == 3  # check, bet, all-in
    ends = after_round(tree)
    assert (table.actor[ends.leaf] == CHANCE).all()
    upper = at_public_states(tree, np.unique(table.public[limit.leaf]))
    both = at_public_states(tree, np.flatnonzero(upper.below))
    np.testing.assert_array_equal(limit.leaf, upper.leaf)
    np.testing.assert_array_equal(both.leaf, upper.leaf)


def test_bias_moves_odds_by_the_factor(leduc):
    tree, policies = leduc
    words = {int(a): tree.info.action_name(0, int(a)) for a in tree.info.players[0].action}
    plain, *biased = biased_policy(tree, policies[1], classes=poker_class, factor=5)
    assert len(biased) == 3
    for policy, kind in zip(biased, ("call", "raise", "fold"), strict=True):
        for i, p in enumerate(tree.info.players):
            mine = [poker_class(words[int(a)]) == kind for a in p.action]
            want = plain.probabilities(i) * np.where(mine, 5, 1)
            row = np.repeat(np.arange(p.num_infosets), np.diff(p.offset))
            want = want / np.bincount(row, want)[row]
            np.testing.assert_allclose(policy.probabilities(i), want, atol=1e-12)
    assert len(biased_policy(tree, policies[1])) == 1 + len(words)  # a class for each action


def test_pruned_games_keep_their_names(leduc):
    tree, _ = leduc
    info = listed(tree)
    table = info.states
    size = next(a for a in range(9) if info.action_name(0, a) == "all-in")
    keep = table.public_states.observation[:, 0] != size
    small = pruned(tree, keep)
    rules = "nolimit_leduc(ranks=4,suits=1,stack=5,sizes=[1.0],all_in=false)"
    alone = js.compile(games.load(rules))
    assert set(small.info.labels[0]) == set(alone.info.labels[0])
    assert js.solve_lp(small).value == pytest.approx(js.solve_lp(alone).value, abs=1e-9)
