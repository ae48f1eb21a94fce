"""Searches from beliefs: against whole games, linear programs and each other."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.evaluate._max_min import max_min, seen_from
from jaxsolve.public import (
    actions_limit,
    hands_of,
    no_limit,
    public_game,
    public_table,
    round_limit,
)
from jaxsolve.search import Gadget, fixed_resolver, oracle, resolve_game, solve_belief, subgames
from jaxsolve.search.fixed._engine import BATCHES
from jaxsolve.search.resolving import _resolve_game

SMALL = "leduc(suits=1,raises=1)"


@functools.cache
def made(name: str) -> Any:
    return public_game(games.load(name))


@functools.cache
def table(name: str) -> Any:
    return public_table(made(name))


@functools.cache
def whole(name: str) -> js.PublicTree:
    return js.compile(games.load(name), layout="hands")


@functools.partial(jax.jit, static_argnames="iterations")
def solved(
    games: Any, value: Any, subgame_class: Any, ranges: Any, gadget: Any = None, *, iterations: int
) -> Any:
    return solve_belief(
        games, value, js.pcfr_plus(), subgame_class, ranges, gadget, iterations=iterations
    )


@pytest.mark.parametrize("name", few(["kuhn", "leduc", "liars_dice(sides=4)"], "kuhn".__eq__))
def test_kinds_are_equal_subgames(name: str):
    game = made(name)
    acts = game.actor >= 0
    assert (game.subgame_class[acts] >= 0).all()
    assert (game.subgame_class[~acts] == -1).all()
    assert (game.subgame_class[game.representative] == np.arange(game.num_classes)).all()
    for node in np.flatnonzero(acts):
        other = int(game.representative[game.subgame_class[node]])
        assert game.actor[node] == game.actor[other]
        mine, theirs = game.children[node], game.children[other]
        assert (game.action[mine] == game.action[theirs]).all()
        assert (game.subgame_class[mine] == game.subgame_class[theirs]).all()
        assert (game.payoff[mine] == game.payoff[theirs]).all()
        assert (game.possible[node] == game.possible[other]).all()


def test_liars_dice_has_a_kind_for_each_bid_and_player():
    # 8 bids, of which either player can have made all but the first and last: 1 + 2 * 7 + 1.
    assert made("liars_dice(sides=4)").num_classes == 16
    assert made("leduc").num_classes == 6 + 6 * 18  # round 1, and 3 pots x 6 boards


@pytest.mark.slow  # seconds of compiling
@pytest.mark.parametrize("name", ["kuhn", SMALL])
def test_a_search_from_the_start_is_cfr_on_the_whole_game(name: str):
    game, tree = made(name), whole(name)
    games_ = subgames(game, no_limit, classes=[0])
    with jax.enable_x64(False):
        found = solved(games_, None, jnp.int32(0), jnp.ones((2, game.num_hands)), iterations=20)
        resolver = fixed_resolver(table(name), no_limit, js.pcfr_plus(), iterations=20)
        found_table = resolve_game(resolver, None, when="end")
        result = js.solve(tree, "pcfr+", iterations=20, measure_every=20, progress=False)
    value = float(found.value_at(0, jnp.int32(0)).sum())
    assert value == pytest.approx(float(js.expected_values(tree, result.average)[0]), abs=1e-5)
    composed = table(name).policy_of(tree, found_table)
    for i in range(2):
        np.testing.assert_allclose(
            composed.probabilities(i), result.average.probabilities(i), atol=2e-4
        )


@pytest.mark.slow  # seconds of compilation
def test_values_and_ranges_at_nodes_are_those_of_the_policies():
    """Against sums over all deals in numpy."""
    game = made(SMALL)
    games_ = subgames(game, no_limit, classes=[0])
    ranges = np.random.default_rng(0).random((2, game.num_hands))
    found = solved(games_, None, jnp.int32(0), jnp.asarray(ranges, jnp.float32), iterations=7)
    nodes = found.nodes
    local = len(nodes.actor)
    policy = [np.asarray(found.policy(jnp.int32(m))) for m in range(local)]
    reach = np.zeros((local, 2, game.num_hands))
    reach[0] = ranges
    where = np.full(local, game.root)
    order = [0]
    for m in order:
        below = [int(c) for c in nodes.child[m] if c >= 0]
        for slot, c in enumerate(below):
            where[c] = game.children[where[m]][slot]
            reach[c] = reach[m]
            if nodes.actor[m] >= 0:
                reach[c, int(nodes.actor[m])] *= policy[m][slot]
        order += below
    total = game.mass[game.root]
    worth = np.zeros((local, 2, game.num_hands))  # counterfactual, from the leaves up
    for m in reversed(order):
        below = [int(c) for c in nodes.child[m] if c >= 0]
        if not below:
            paid = game.payoff[where[m]] * game.weight[where[m]] / total
            worth[m, 0] = paid[0] @ reach[m, 1]
            worth[m, 1] = reach[m, 0] @ paid[1]
        for slot, c in enumerate(below):
            for i in range(2):
                weight = policy[m][slot] if nodes.actor[m] == i else 1.0
                worth[m, i] += weight * worth[c, i]
    for m in order:
        for i in range(2):
            if nodes.actor[m] < 0:
                continue
            np.testing.assert_allclose(found.range_at(i, jnp.int32(m)), reach[m, i], atol=1e-5)
            if m == 0 or nodes.actor[m] != i:
                mine = np.asarray(found.value_at(i, jnp.int32(m))) * float(nodes.factor[m])
                np.testing.assert_allclose(mine, worth[m, i], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("kuhn", actions_limit(2)),
        # A minute of solving.
        pytest.param(SMALL, round_limit, marks=pytest.mark.long),
    ],
)
def test_with_solved_leaves_a_depth_limited_search_is_part_of_an_equilibrium(name: str, limit: Any):
    """With the oracle as leaf, the trunk is worth the game's value to 1e-4 against everything.

    What it is worth is what a linear program finds, in which all below the trunk is free.
    """
    with jax.enable_x64(True):
        game = public_game(games.load(name))
        tree = js.compile(games.load(name), layout="hands")
        exact = js.solve_lp(tree)
        leaf = oracle(game, js.pcfr_plus(), iterations=120)
        cut = subgames(game, limit, classes=[0])
        ranges = jnp.ones((2, game.num_hands))
        found = solved(cut, leaf, jnp.int32(0), ranges, iterations=250)
        assert found.value_at(0, jnp.int32(0)).sum() == pytest.approx(exact.value, abs=1e-4)
        table = np.full((len(game.parent), max(map(len, game.children)), game.num_hands), np.nan)
        for m, node in enumerate(_inner(game, limit)):
            if node >= 0:
                policy = np.asarray(found.policy(jnp.int32(m)))
                table[node, : len(policy)] = policy
        assert np.isfinite(table).any()
    info = tree.info
    for i, player in enumerate(info.players):
        node, hand = hands_of(game, info, i)
        row = np.repeat(np.arange(player.num_infosets), np.diff(player.offset))
        slot = np.arange(len(row)) - player.offset[row]
        held = table[node[row], slot, hand[row]]
        floor = np.where(np.isnan(held), 0, np.nan_to_num(held)) * (1 - 1e-9)
        best = max_min(seen_from(info.form, i), floor=floor).value
        assert best >= (exact.value, -exact.value)[i] - 1e-4


def _inner(game: Any, limit: Any) -> list[int]:
    """The public nodes of the tree from the start, breadth first, -1 where nobody acts above it."""
    out, todo = [], [(game.root, 0, 0)]
    for node, actions, chances in todo:
        acts = bool(game.actor[node] >= 0)
        cut = len(out) > 0 and acts and limit(actions, chances)
        out.append(node if acts and not cut else -1)
        if not cut:
            todo += [(int(c), actions + acts, chances + (not acts)) for c in game.children[node]]
    return out


@pytest.mark.slow  # seconds of compilation
def test_resolving_keeps_what_the_gadget_promises():
    """The opponent gets no more than promised where the promise can be kept."""
    game = made("leduc")
    subgame_class = game.classes_after_chance()[4]
    games_ = subgames(game, no_limit, classes=[subgame_class])
    rng = np.random.default_rng(1)
    ranges = jnp.asarray(rng.random((2, 6)), jnp.float32)
    free = solved(games_, None, jnp.int32(subgame_class), ranges, iterations=500)
    promised = free.value_at(1, jnp.int32(0))
    gadget = Gadget(jnp.array([False, True]), jnp.stack([jnp.zeros(6), promised]), jnp.float32(0.5))
    found = solved(games_, None, jnp.int32(subgame_class), ranges, gadget, iterations=2000)
    best = _best_response(games_, subgame_class, found, ranges)
    assert float((best - promised).max()) <= 2e-3
    # With no promise worth taking the opponent always follows: an even range.
    low = gadget._replace(alternative=jnp.full((2, 6), -100.0))
    even = solved(games_, None, jnp.int32(subgame_class), ranges, low, iterations=500)
    possible = np.asarray(game.possible[game.representative[subgame_class], 1])
    follow = np.asarray(even.range_at(1, jnp.int32(0)))
    assert follow[possible] == pytest.approx(
        0.5 + 0.5 * np.asarray(ranges[1] / np.asarray(ranges[1])[possible].max())[possible],
        abs=0.01,
    )


def _best_response(games_: Any, subgame_class: int, found: Any, ranges: Any) -> np.ndarray:
    """Counterfactual values of a best response of player 1 at the root [H]."""
    nodes = found.nodes
    game = made("leduc")
    root = int(game.representative[subgame_class])

    def best(m: int, node: int, reach: np.ndarray) -> np.ndarray:
        below = [int(c) for c in nodes.child[m] if c >= 0]
        if not below:
            return reach @ (game.payoff[node, 1] * game.weight[node] / game.mass[root])
        policy = np.asarray(found.policy(jnp.int32(m)))
        mine = int(nodes.actor[m]) == 1
        parts = [
            best(c, int(game.children[node][k]), reach if mine else reach * policy[k])
            for k, c in enumerate(below)
        ]
        return np.max(parts, 0) if mine else np.sum(parts, 0)

    return best(0, root, np.asarray(ranges[0]))


def test_continual_resolving_with_whole_subgames_is_near_an_equilibrium():
    """All searches of continual re-solving as one policy, measured exactly."""
    where, tree = table("kuhn"), whole("kuhn")
    resolver = fixed_resolver(where, no_limit, js.pcfr_plus(), iterations=400)
    policy = where.policy_of(tree, resolve_game(resolver, None))
    assert float(js.exploitability(tree, policy)) < 2e-3


@pytest.mark.slow  # seconds of compilation
def test_searches_compile_once_and_seeds_differ():
    resolver = fixed_resolver(table("kuhn"), no_limit, js.pcfr_plus(), iterations=10)
    first = resolve_game(resolver, None, jax.random.key(1))
    traces = _resolve_game.search_batch._cache_size()
    again = resolve_game(resolver, None, jax.random.key(1))
    other = resolve_game(resolver, None, jax.random.key(2))
    assert _resolve_game.search_batch._cache_size() == traces
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("size", [1, 3, 5, 17, 45, 120, 210, 600])
def test_batches_hold_every_search_once_and_are_half_full(size: int):
    cut = _resolve_game.cut(size, BATCHES)
    ends = [low + batch for low, batch in cut]
    assert [low for low, _ in cut] == [0, *ends[:-1]]
    assert ends[-1] >= size
    for low, batch in cut:
        assert batch in BATCHES
        assert batch == BATCHES[0] or 2 * min(batch, size - low) >= batch


@pytest.mark.slow  # three compiled searches
def test_unsafe_and_sampled_searches_compose_too():
    where, tree = table("kuhn"), whole("kuhn")
    options: dict[str, Any] = {"iterations": 300, "alpha": None}
    resolver = fixed_resolver(where, no_limit, js.pcfr_plus(), **options)
    policy = where.policy_of(tree, resolve_game(resolver, None, when="end"))
    assert float(js.exploitability(tree, policy)) < 1e-3
    sampled = fixed_resolver(where, no_limit, js.pcfr_plus(), sampled=True, **options)
    tables = [resolve_game(sampled, None, jax.random.key(k), when="every") for k in range(2)]
    assert np.abs(tables[0] - tables[1]).max() > 1e-3
    with pytest.raises(ValueError, match="needs a key"):
        resolve_game(sampled, None)


def test_bad_input():
    game, where = made("kuhn"), table("kuhn")
    with pytest.raises(ValueError, match="alpha is a share"):
        fixed_resolver(where, no_limit, js.pcfr_plus(), iterations=1, alpha=2.0)
    with pytest.raises(ValueError, match="alpha=None"):
        fixed_resolver(where, no_limit, js.pcfr_plus(), iterations=1, sampled=True)
    with pytest.raises(ValueError, match="trees that grow"):
        fixed_resolver(
            public_table(games.load("matching_pennies"), cards=False),
            no_limit,
            js.pcfr_plus(),
            iterations=1,
        )
    whole_games, cut = subgames(game, no_limit), subgames(game, actions_limit(1))
    nobody = jnp.ones((2, 3)).at[1].set(0)
    with pytest.raises(ValueError, match=r"sum to \[3.0, 0.0\]"):
        solve_belief(whole_games, None, js.pcfr_plus(), jnp.int32(0), nobody, iterations=1)
    with pytest.raises(ValueError, match="nothing says what is below"):
        solve_belief(cut, None, js.pcfr_plus(), jnp.int32(0), jnp.ones((2, 3)), iterations=1)
    net = nets.make_net(made("leduc"), nets.ValueNetwork(4, 1), jax.random.key(0))
    with pytest.raises(ValueError, match="is of leduc"):
        resolve_game(fixed_resolver(where, actions_limit(1), js.pcfr_plus(), iterations=1), net)
    with pytest.raises(ValueError, match="unknown when"):
        resolve_game(
            fixed_resolver(where, no_limit, js.pcfr_plus(), iterations=1), None, when="all"
        )
    with pytest.raises(ValueError, match="3 players"):
        public_game(games.load("kuhn(players=3)"))
    with pytest.raises(ValueError, match="is not kuhn"):
        where.policy_of(whole(SMALL), np.zeros((9, 2, 3)))
