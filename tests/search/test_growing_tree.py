"""Growing trees: against fixed trees, linear programs, and a plain account of what they hold."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.search import (
    Gadget,
    Grounds,
    Grown,
    actions_limit,
    grounds,
    growing_search,
    gt_cfr,
    no_gadget,
    oracle,
    policy_of,
    public_game,
    solve_belief,
    subgames,
)
from jaxsolve.search._beliefs import nodes_below
from jaxsolve.search._growing_tree import Guide, capacity_for, frontier_of, selection

SMALL = "leduc(suits=1,raises=1)"
PAPER = js.cfr_plus().simultaneous()
OURS = js.cfr_plus(2.0)
WIDEST = 20
"""A capacity for all searches of the small game, so that they share a program."""


@functools.cache
def made(name: str) -> Any:
    return public_game(games.load(name))


@functools.cache
def whole(name: str) -> js.PublicTree:
    return js.compile(games.load(name), layout="hands")


@functools.cache
def ground(name: str) -> Grounds:
    return grounds(made(name), kinds=[0])


@jax.jit
def _search(*args: Any, **options: Any) -> Grown:
    return gt_cfr(*args, **options)


def search(
    places: Grounds,
    value: Any,
    options: Any,
    key: Any,
    focus: int = 0,
    ranges: Any = None,
    gadget: Any = None,
) -> Grown:
    """One program for all searches of a game with equal static options."""
    hands = places.num_hands
    ranges = jnp.ones((2, hands)) if ranges is None else ranges
    gadget = no_gadget(hands) if gadget is None else gadget
    return _search(
        places,
        value,
        options,
        jnp.int32(0),
        ranges,
        key,
        gadget=gadget,
        focus=jnp.int32(focus),
    )


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tilted:
    """Values that are no equilibrium's, but depend on both beliefs: a cheap stand-in."""

    matrix: Any  # [H, H]

    def __call__(self, kind: Any, beliefs: Any) -> Any:
        sign = 1.0 - 2.0 * (kind % 2)
        first = sign[:, None] * (beliefs[:, 1] @ self.matrix.T)
        second = -sign[:, None] * (beliefs[:, 0] @ self.matrix)
        return jnp.stack([first, second], 1)


def tilted(hands: int) -> Tilted:
    matrix = np.random.default_rng(3).normal(size=(hands, hands))
    return Tilted(jnp.asarray(matrix - matrix.mean(), jnp.float32))  # no action good for all hands


SOLVERS = [
    pytest.param(PAPER, id="paper", marks=pytest.mark.slow),  # another program to compile
    pytest.param(OURS, id="alternating"),
]


def table_of(name: str, grown: Grown) -> np.ndarray:
    game = made(name)
    table = np.zeros((len(game.parent), max(map(len, game.children)), game.num_hands))
    local = np.asarray(grown.ground.game.nodes.child)
    policies = np.asarray(jax.vmap(grown.policy)(jnp.arange(len(local))))
    for m, node in enumerate(nodes_below(game, game.root, local)):
        if node >= 0 and game.actor[node] >= 0:
            table[node] = policies[m, : table.shape[1]]
    return table


@pytest.mark.slow  # seconds of compilation
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constrained", [False, True])
def test_a_tree_that_does_not_grow_is_a_depth_limited_search(solver: Any, constrained: bool):
    """All updates come before the only simulation: the fixed tree of one action, digit by digit."""
    game, hands = made(SMALL), made(SMALL).num_hands
    rng = np.random.default_rng(0)
    ranges = jnp.asarray(rng.random((2, hands)), jnp.float32)
    gadget = no_gadget(hands)
    if constrained:
        promised = jnp.asarray(rng.normal(size=(2, hands)), jnp.float32)
        gadget = Gadget(jnp.array([False, True]), promised, jnp.float32(0.5))
    value = tilted(hands)
    fixed = jax.jit(functools.partial(solve_belief, iterations=40))(
        subgames(game, actions_limit(1), kinds=[0]), value, solver, jnp.int32(0), ranges, gadget
    )
    options = growing_search(
        ground(SMALL), solver, simulations=1, per_update=1 / 40, capacity=WIDEST
    )
    grown = search(ground(SMALL), value, options, jax.random.key(0), ranges=ranges, gadget=gadget)
    assert grown.updates == 40
    want = fixed.policy(jnp.int32(0))
    np.testing.assert_allclose(grown.policy(jnp.int32(0))[: len(want)], want, atol=1e-5)
    assert np.ptp(want, axis=1).max() > 0.1  # hands play differently
    for m in range(len(game.children[game.root])):
        for i in range(2):
            np.testing.assert_allclose(
                grown.range_at(i, jnp.int32(1 + m)), fixed.range_at(i, jnp.int32(1 + m)), atol=1e-5
            )


@pytest.mark.slow  # seconds of compilation
@pytest.mark.parametrize("solver", SOLVERS)
def test_with_solved_leaves_it_comes_to_the_equilibrium(solver: Any):
    """The tree is whole after three simulations of Kuhn poker, and the rest is CFR."""
    value = oracle(made("kuhn"), js.pcfr_plus(), iterations=30)
    options = growing_search(ground("kuhn"), solver, simulations=800)
    grown = search(ground("kuhn"), value, options, jax.random.key(0))
    assert not frontier_of(grown.ground, grown.growth).any()
    policy = policy_of(whole("kuhn"), made("kuhn"), table_of("kuhn", grown))
    assert js.exploitability(whole("kuhn"), policy) < 3e-3
    assert grown.value_at(0, jnp.int32(0)).sum() == pytest.approx(-1 / 18, abs=3e-3)


def test_the_tree_only_grows_and_counts_add_up():
    value = tilted(made(SMALL).num_hands)
    before = None
    for simulations in (1, 4, 16):
        options = growing_search(ground(SMALL), OURS, simulations=simulations, capacity=WIDEST)
        grown = search(ground(SMALL), value, options, jax.random.key(5))
        growth, nodes = grown.growth, grown.ground.game.nodes
        opened, inside = np.asarray(growth.opened), np.asarray(growth.inside)
        assert growth.visits[0].sum() == simulations  # every simulation leaves the root once
        assert opened.sum() == 1 + growth.expanded <= 1 + simulations
        assert not (opened & ~inside).any()
        child = np.asarray(nodes.child)
        for m in np.flatnonzero(inside):
            below = child[m][child[m] >= 0]
            stops = nodes.actor[m] >= 0 and not opened[m]
            assert inside[below].all() != (stops and len(below) > 0)
        if before is not None:
            # The same key: the shorter search is the beginning of the longer one.
            assert (inside >= before[0]).all()
            assert (opened >= before[1]).all()
            assert opened.sum() > before[1].sum()
        before = inside, opened


def test_a_capacity_that_may_not_be_enough_is_refused():
    places = ground(SMALL)
    needed = capacity_for(places, 3)
    assert capacity_for(places, 1) < needed <= capacity_for(places, 1000) == places.widest
    with pytest.raises(ValueError, match=f"use capacity={needed} or more"):
        growing_search(places, OURS, simulations=3, capacity=needed - 1)


@pytest.mark.slow
def test_room_that_is_not_needed_changes_nothing():
    places, value = ground(SMALL), tilted(made(SMALL).num_hands)
    needed = capacity_for(places, 3)
    tight = growing_search(places, OURS, simulations=3)
    wide = growing_search(places, OURS, simulations=3, capacity=WIDEST)
    assert (tight.capacity, wide.capacity) == (needed, WIDEST)
    found = [search(places, value, options, jax.random.key(1)) for options in (tight, wide)]
    assert 1 < frontier_of(found[0].ground, found[0].growth).sum() <= needed
    for a, b in zip(found[0].reach, found[1].reach, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_keys_and_traces():
    places, value = ground(SMALL), tilted(made(SMALL).num_hands)
    options = growing_search(places, OURS, simulations=6, per_update=2.0, capacity=WIDEST)
    alone = [search(places, value, options, jax.random.key(k)) for k in range(3)]
    traces = _search._cache_size()
    again = search(places, value, options, jax.random.key(0))
    other = growing_search(
        places, js.cfr_plus(1.5), simulations=7, capacity=WIDEST, exploration=3.0
    )
    assert search(places, value, other, jax.random.key(0)).updates == 7
    assert _search._cache_size() == traces  # numbers are arguments
    assert alone[0].updates == 3  # two simulations after each
    assert alone[0].growth.visits[0].sum() == 6
    np.testing.assert_array_equal(again.reach[0], alone[0].reach[0])
    assert len({np.asarray(a.growth.visits).tobytes() for a in alone}) > 1


@pytest.mark.slow
def test_a_batch_is_what_single_searches_are():
    places, value = ground(SMALL), tilted(made(SMALL).num_hands)
    options = growing_search(places, OURS, simulations=6, per_update=2.0, capacity=WIDEST)
    alone = [search(places, value, options, jax.random.key(k)) for k in range(3)]
    keys = jnp.stack([jax.random.key(k) for k in range(3)])
    batch = jax.vmap(lambda key: search(places, value, options, key))(keys)
    for k in range(3):
        np.testing.assert_array_equal(batch.growth.inside[k], alone[k].growth.inside)
        np.testing.assert_allclose(batch.reach[0][k], alone[k].reach[0], atol=1e-5)


def test_growth_below_a_focus():
    """The way to it is opened, what leaves the way stays on the frontier."""
    places, value = ground(SMALL), tilted(made(SMALL).num_hands)
    nodes = places.at(jnp.int32(0)).game.nodes
    child = np.asarray(nodes.child)
    focus = int(child[0, 1])
    options = growing_search(places, OURS, simulations=6, focused=True, capacity=WIDEST)
    grown = search(places, value, options, jax.random.key(2), focus)
    below = np.zeros(len(child), bool)
    below[focus] = True
    for m in range(len(child)):
        if below[m]:
            below[child[m][child[m] >= 0]] = True
    opened = np.asarray(grown.growth.opened)
    assert opened[0]
    assert opened[focus]
    assert not (opened & ~below)[1:].any()
    assert opened.sum() > 3
    assert frontier_of(grown.ground, grown.growth)[child[0, 0]]


@pytest.mark.slow  # seconds of compilation
@pytest.mark.parametrize("pending", [0, 1])
def test_selection_is_half_puct_and_half_the_average(pending: int):
    """Against the formula in numpy, for one hand at the root."""
    places = ground(SMALL)
    grown = search(
        places, tilted(3), growing_search(places, OURS, simulations=1), jax.random.key(0)
    )
    here, hand = 0, 1
    nodes = grown.ground.game.nodes
    rng = np.random.default_rng(4)
    visits = rng.integers(1, 5, grown.growth.visits.shape).astype(np.float32)
    waiting = np.full_like(visits, pending)
    prior = rng.random(visits.shape).astype(np.float32)
    growth = grown.growth._replace(visits=visits, pending=waiting, prior=prior)
    reach, values, seen = (
        tuple(jnp.asarray(rng.random(r.shape), jnp.float32) for r in grown.reach) for _ in range(3)
    )
    got = jax.jit(selection)(
        grown.ground, growth, Guide(reach, values, seen), jnp.int32(here), jnp.int32(hand), 1.25
    )
    own = np.asarray(nodes.own)[here]
    legal = own > 0
    average = np.where(legal, np.asarray(reach[0])[own, hand], 0)
    average = average / average.sum()
    game = made(SMALL)
    mass = game.weight[game.root][hand] @ np.asarray(seen[1])[int(nodes.at[1, here])]
    q = np.asarray(values[0])[own, hand] / mass / game.scale[0]
    n, lost = visits[here, :, hand], waiting[here, :, hand]
    q = (q * (1 + n - lost) - lost) / (1 + n)
    score = q + 1.25 * prior[here, :, hand] * np.sqrt(n.sum()) / (1 + n)
    best = np.argmax(np.where(legal, score, -np.inf))
    np.testing.assert_allclose(got, (average + np.eye(len(own))[best]) / 2, rtol=1e-5)


@pytest.mark.slow
def test_perfect_information_adds_one_action_at_a_time():
    """Any two marks win on a board of 2 x 2: the first player wins whatever they do."""
    name = "tic_tac_toe(rows=2,columns=2,line=2)"
    zero = Tilted(jnp.zeros((1, 1)))
    options = growing_search(ground(name), PAPER, simulations=60, top=1)
    grown = search(ground(name), zero, options, jax.random.key(0))
    growth, child = grown.growth, np.asarray(grown.ground.game.nodes.child)
    inside = np.asarray(growth.inside)
    sizes = [inside[row[row >= 0]].sum() for row in child[np.asarray(growth.opened)]]
    widths = [(row >= 0).sum() for row in child[np.asarray(growth.opened)]]
    assert sizes[0] == 4  # the root has all its children from the start
    assert any(0 < size < width for size, width in zip(sizes, widths, strict=True))
    assert grown.value_at(0, jnp.int32(0)).sum() > 0.5
    assert growth.visits[0].sum() == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "must be positive"),
        ({"simulations": 5, "per_update": 2.0}, "use simulations=6"),
        ({"simulations": 5, "per_update": 0.0}, "must be positive"),
        ({"simulations": 5, "top": 0}, "must be positive"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        growing_search(ground("kuhn"), OURS, **options)


def test_sampling_solvers_are_refused():
    places = ground("kuhn")
    with pytest.raises(ValueError, match="samples nothing"):
        growing_search(places, js.SAMPLERS["os-mccfr"].build(), simulations=1)
