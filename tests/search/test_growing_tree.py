"""Growing trees: against CFR on whole games, fixed trees, formulas, and what they must hold."""

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
from jaxsolve.evaluate import respond
from jaxsolve.public import PublicTable, actions_limit, public_game, public_table
from jaxsolve.search import (
    Gadget,
    GrowingSearch,
    Grown,
    growing_search,
    gt_cfr,
    no_gadget,
    solve_belief,
    solve_whole,
    subgames,
    table_oracle,
)
from jaxsolve.search.growing._simulate import Guide, selection
from jaxsolve.types import pytree

SMALL = "leduc(suits=1,raises=1)"
CHASE = "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,2],detectives=[5],rounds=3)"
PAPER = js.cfr_plus().simultaneous()
OURS = js.cfr_plus(2.0)
ROOM = 20
"""A capacity for all searches of the small game, so that they share a program."""


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


@pytree
@dataclasses.dataclass(frozen=True)
class Tilted:
    """Values that are no equilibrium's, but depend on both beliefs: a cheap stand-in."""

    matrix: Any  # [H, H]

    def __call__(self, state: Any, beliefs: Any) -> Any:
        sign = 1.0 - 2.0 * (state.subgame_class % 2)
        first = sign[:, None] * (beliefs[:, 1] @ self.matrix.T)
        second = -sign[:, None] * (beliefs[:, 0] @ self.matrix)
        return jnp.stack([first, second], 1)


def tilted(hands: int) -> Tilted:
    matrix = np.random.default_rng(3).normal(size=(hands, hands))
    return Tilted(jnp.asarray(matrix - matrix.mean(), jnp.float32))  # no action good for all hands


@jax.jit
def _search(*args: Any, **options: Any) -> Grown:
    return gt_cfr(*args, **options)


def search(
    options: GrowingSearch,
    value: Any,
    key: Any,
    path: tuple[int, ...] = (),
    ranges: Any = None,
    gadget: Any = None,
) -> Grown:
    """One program for all searches of a game with equal static options."""
    hands = options.model.table.num_hands
    ranges = jnp.ones((2, hands)) if ranges is None else ranges
    gadget = no_gadget(hands) if gadget is None else gadget
    way = jnp.asarray([*path, -1, -1][:2], jnp.int32)
    return _search(options, value, jnp.int32(0), ranges, key, gadget=gadget, path_to_focus=way)


def small(**options: Any) -> GrowingSearch:
    return growing_search(table(SMALL), OURS, capacity=ROOM, **options)


def policy_table(where: PublicTable, grown: Grown) -> np.ndarray:
    """The policy of a search at the first public state, uniform where it did not come."""
    legal = where.transitions.legal[where.subgame_class]
    out = legal / np.maximum(legal.sum(1, keepdims=True), 1)
    todo = [(0, 0)]
    while todo:
        p, n = todo.pop()
        out[p] = grown.average[n]
        for k, c in enumerate(where.children[p]):
            if c >= 0 and grown.growth.opened[n, k] >= 0:
                todo.append((int(c), int(grown.growth.opened[n, k])))
    return out


@functools.cache
def solved(name: str, solver_name: str, iterations: int) -> Grown:
    where, solver = (
        table(name),
        {"paper": PAPER, "ours": OURS, "pcfr+": js.pcfr_plus()}[solver_name],
    )
    options = table_oracle(where, solver, iterations=1, below=False).search
    ranges = jnp.ones((2, where.num_hands))
    return jax.jit(solve_whole)(options, jnp.int32(0), ranges, jnp.int32(iterations))


@pytest.mark.parametrize(
    ("name", "solver_name"),
    [
        ("kuhn", "ours"),
        pytest.param(SMALL, "paper", marks=pytest.mark.slow),
        pytest.param("leduc", "paper", marks=pytest.mark.slow),
        pytest.param("leduc", "ours", marks=pytest.mark.slow),
    ],
)
def test_iterates_of_a_whole_tree_are_those_of_solve(name: str, solver_name: str):
    """GT-CFR is the solver once its tree is whole: equal iterates, equal exploitability."""
    where, tree = table(name), js.compile(games.load(name))
    grown = solved(name, solver_name, 30)
    assert (grown.growth.num_opened, grown.growth.num_leaves) == (where.below[0], 0)
    solver = {"paper": PAPER, "ours": OURS}[solver_name]
    want = js.solve(tree, solver, iterations=30, measure_every=30, progress=False).average
    got = where.policy_of(tree, policy_table(where, grown))
    for i in range(2):
        np.testing.assert_allclose(got.probabilities(i), want.probabilities(i), atol=2e-3)
        close = np.abs(got.probabilities(i) - want.probabilities(i)) < 1e-4
        assert close.mean() > 0.98  # ties are broken by rounding
    assert js.exploitability(tree, got) == pytest.approx(
        float(js.exploitability(tree, want)), rel=1e-3
    )


@pytest.mark.slow
def test_glasses_is_worth_minus_seven_ninths():
    """All ways of Mr X to a station are one private state: 1,005 public states of 113 classes."""
    where = table("scotland_yard")
    grown = solved("scotland_yard", "pcfr+", 1000)
    found = respond(where, policy_table(where, grown))
    assert found.exploitability < 1e-5
    assert found.value[0] == pytest.approx(-7 / 9, abs=1e-5)
    assert grown.root_values[0].sum() == pytest.approx(-7 / 9, abs=1e-4)


@pytest.mark.slow
def test_merged_ways_do_not_change_the_value():
    where, tree = table(CHASE), js.compile(games.load(CHASE))
    grown = solved(CHASE, "pcfr+", 200)
    policy = policy_table(where, grown)
    assert respond(where, policy).exploitability < 1e-4
    assert js.exploitability(tree, where.policy_of(tree, policy)) < 1e-4
    assert grown.root_values[0].sum() == pytest.approx(js.solve_lp(tree).value, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("solver", [PAPER, OURS])
def test_a_tree_that_does_not_grow_is_a_depth_limited_search(solver: Any, constrained: bool):
    """All updates come before the only simulation: the fixed tree of one action, digit by digit."""
    where, hands = table(SMALL), table(SMALL).num_hands
    rng = np.random.default_rng(0)
    ranges = jnp.asarray(rng.random((2, hands)), jnp.float32)
    gadget = no_gadget(hands)
    if constrained:
        promised = jnp.asarray(rng.normal(size=(2, hands)), jnp.float32)
        gadget = Gadget(jnp.array([False, True]), promised, jnp.float32(0.5))
    value = tilted(hands)
    fixed = jax.jit(functools.partial(solve_belief, iterations=40, mean_values=True))(
        subgames(public_game(games.load(SMALL)), actions_limit(1), classes=[0]),
        value,
        solver,
        jnp.int32(0),
        ranges,
        gadget,
    )
    options = growing_search(where, solver, simulations=1, per_update=1 / 40, capacity=ROOM)
    grown = search(options, value, jax.random.key(0), ranges=ranges, gadget=gadget)
    assert grown.updates == 40
    want = fixed.policy(jnp.int32(0))
    np.testing.assert_allclose(grown.policy[: len(want)], want, atol=1e-5)
    assert np.ptp(want, axis=1).max() > 0.1  # hands play differently
    if solver is PAPER:  # an alternating search sums values under the reaches of its own turns
        np.testing.assert_allclose(
            grown.root_values, [fixed.value_at(i, jnp.int32(0)) for i in range(2)], atol=1e-5
        )


@pytest.mark.slow  # seconds of compiling
def test_with_solved_leaves_it_comes_to_the_equilibrium_and_keeps_the_bound():
    """Theorem 1 on Kuhn poker, whose tree is whole after three simulations: the rest is CFR."""
    where = table("kuhn")
    value = table_oracle(where, js.pcfr_plus(), iterations=30)
    uniform_average = js.cfr().simultaneous()
    options = growing_search(where, uniform_average, simulations=100, tile=1)
    gaps = {}
    for count in (100, 900):
        grown = search(
            dataclasses.replace(options, rounds=jnp.int32(count)), value, jax.random.key(0)
        )
        assert grown.growth.num_leaves == 0
        gaps[count] = 2 * respond(where, policy_table(where, grown)).exploitability
        # |S_i| is 3 in each of 2 public states of a player; U: at most 2 chips lost or won for
        # each of the 2 hands that the opponent may hold, with probability 1/6; A = 2.
        regret = 2 * 3 * (4 * 2 / 6) * np.sqrt(2 * count)
        assert gaps[count] * count <= 2 * regret
    assert gaps[900] < gaps[100] / 2  # the rate is 1 / sqrt(T): a third
    assert grown.root_values[0].sum() == pytest.approx(-1 / 18, abs=3e-2)


@pytest.mark.slow
def test_the_tree_only_grows_and_counts_add_up():
    value, rows = tilted(3), table(SMALL).transitions
    before = None
    for simulations in (1, 4, 16):
        grown = search(small(simulations=simulations), value, jax.random.key(5))
        growth = grown.growth
        count, leaves = int(growth.num_opened), int(growth.num_leaves)
        assert growth.visits[0].sum() == simulations  # every simulation leaves the root once
        assert (growth.visits.sum((1, 2))[1:] <= simulations).all()
        assert count == 1 + growth.expanded <= 1 + simulations
        inside, opened = np.asarray(growth.inside), np.asarray(growth.opened)
        codes = np.asarray(growth.leaf)[:leaves]
        assert len(set(codes.tolist())) == leaves
        frontier = np.zeros(inside.shape, bool)
        frontier[np.divmod(codes, inside.shape[1])] = True
        np.testing.assert_array_equal(frontier, inside & (opened < 0))
        np.testing.assert_array_equal(np.sort(opened[opened >= 0]), np.arange(1, count))
        for n in range(count):
            subgame_class = int(growth.row[n])
            np.testing.assert_array_equal(inside[n], rows.child[subgame_class] >= 0)
            np.testing.assert_array_equal(growth.allowed[n], rows.legal[subgame_class])
            if n:
                assert opened[growth.up[n], growth.step[n]] == n > growth.up[n]
        assert not inside[count:].any()
        assert grown.asked > 0
        if before is not None:
            # The same key: the shorter search is the beginning of the longer one.
            assert count > len(before)
            np.testing.assert_array_equal(growth.public[: len(before)], before)
        before = np.asarray(growth.public)[:count]


def test_a_capacity_that_may_not_be_enough_is_refused():
    where = table(SMALL)
    with pytest.raises(ValueError, match="can open 4 public states, and capacity=3; use capa"):
        growing_search(where, OURS, simulations=3, capacity=3)
    with pytest.raises(ValueError, match="use capacity=6 or more"):
        growing_search(where, OURS, simulations=3, capacity=5, longest_path=2)
    most = growing_search(where, OURS, simulations=1000)
    assert most.capacity == where.below[0]
    assert growing_search(where, OURS, simulations=1000, capacity=where.below[0]) is not None


def test_keys_updates_and_traces():
    value = tilted(3)
    options = small(simulations=6, per_update=2.0)
    alone = [search(options, value, jax.random.key(k)) for k in range(3)]
    traces = _search._cache_size()
    again = search(options, value, jax.random.key(0))
    np.testing.assert_array_equal(again.average, alone[0].average)
    assert alone[0].updates == 3  # two simulations after each
    assert search(small(simulations=6, per_update=0.5), value, jax.random.key(0)).updates == 12
    assert search(small(simulations=8, per_update=4.0), value, jax.random.key(0)).updates == 2
    other = growing_search(
        table(SMALL), js.cfr_plus(1.5), simulations=7, capacity=ROOM, exploration=3.0
    )
    assert search(other, value, jax.random.key(0)).updates == 7
    assert _search._cache_size() == traces  # numbers are arguments
    assert alone[0].growth.visits[0].sum() == 6
    assert not alone[0].growth.pending.any()
    assert len({np.asarray(a.growth.visits).tobytes() for a in alone}) > 1


@pytest.mark.slow  # seconds of compilation
def test_a_batch_is_what_single_searches_are():
    """Of trees of different sizes, and with different ways to the focus."""
    value = tilted(3)
    options = small(simulations=6, per_update=2.0)
    keys = jnp.stack([jax.random.key(k) for k in range(3)])
    ways = jnp.asarray([[-1, -1], [1, -1], [1, 0]], jnp.int32)
    gadget = no_gadget(3)

    def one(key: Any, way: Any) -> Grown:
        return gt_cfr(
            options, value, jnp.int32(0), jnp.ones((2, 3)), key, gadget=gadget, path_to_focus=way
        )

    batch = jax.jit(jax.vmap(one))(keys, ways)
    assert len(set(batch.growth.num_opened.tolist())) > 1
    for k in range(3):
        way = tuple(int(x) for x in ways[k] if x >= 0)
        alone = search(options, value, jax.random.key(k), way)
        count = int(alone.growth.num_opened)
        assert batch.growth.num_opened[k] == count
        np.testing.assert_array_equal(batch.growth.opened[k], alone.growth.opened)
        np.testing.assert_array_equal(batch.growth.visits[k], alone.growth.visits)
        np.testing.assert_allclose(batch.average[k, :count], alone.average[:count], atol=1e-5)
        np.testing.assert_allclose(
            batch.child_values[k, :count], alone.child_values[:count], atol=1e-5
        )


def test_growth_below_a_focus():
    """The way to it is opened, what leaves the way stays on the frontier."""
    where, value = table(SMALL), tilted(3)
    grown = search(small(simulations=6, longest_path=2), value, jax.random.key(2), (1, 0))
    growth = grown.growth
    assert (grown.focus, growth.num_opened > 4) == (2, True)
    assert [(int(growth.up[n]), int(growth.step[n])) for n in (1, 2)] == [(0, 1), (1, 0)]
    assert growth.visits[2].sum() == 6
    assert not growth.visits[:2].any()
    below = {2}
    for n in range(3, int(growth.num_opened)):
        assert int(growth.up[n]) in below
        below.add(n)
    assert growth.inside[0, 0]
    assert growth.opened[0, 0] == -1
    assert where.actor[where.children[where.children[0, 1], 0]] == 0


@pytest.mark.parametrize("pending", [0, 1])
def test_selection_is_half_puct_and_half_the_average(pending: int):
    """Against the formula in numpy, for one hand at the root; a pending simulation is a loss."""
    where, hand = table(SMALL), 1
    grown = search(small(simulations=1), tilted(3), jax.random.key(0))
    rng = np.random.default_rng(4)
    growth, shape = grown.growth, grown.growth.visits.shape
    visits = rng.integers(1, 5, shape).astype(np.float32)
    prior, total, values = (rng.random(shape).astype(np.float32) for _ in range(3))
    action_reach = rng.random(grown.action_reach.shape).astype(np.float32)
    growth = growth._replace(
        visits=jnp.asarray(visits),
        pending=jnp.full(shape, pending, jnp.float32),
        prior=jnp.asarray(prior),
    )
    start = jnp.ones((2, 3))
    guide = Guide(*(jnp.asarray(x) for x in (total, values, action_reach)), start, jnp.float32(7.0))
    rows = where.device_transitions
    got = jax.jit(selection)(rows, growth, guide, jnp.int32(0), jnp.int32(hand), 1.25)
    legal = where.transitions.legal[0, :, hand]
    average = np.where(legal, total[0, :, hand], 0)
    average = average / average.sum()
    mass = where.weight[0, hand] @ action_reach[0, 1, 0]
    q, n = values[0, :, hand] / mass / 7.0, visits[0, :, hand]
    q = (q * (1 + n - pending) - pending) / (1 + n)
    score = q + 1.25 * prior[0, :, hand] * np.sqrt(1 + n.sum()) / (1 + n)
    best = np.argmax(np.where(legal, score, -np.inf))
    np.testing.assert_allclose(got, (average + np.eye(len(legal))[best]) / 2, rtol=1e-5)


@pytest.mark.parametrize("present", [None, 1])
def test_the_first_visit_goes_where_a_sharp_prior_says(present: int | None):
    """Nothing was visited and all values are alike; with k = 1 only one action is in the tree."""
    where, hand, favourite = table(SMALL), 1, 1
    growth = search(small(simulations=1), tilted(3), jax.random.key(0)).growth
    nothing = jnp.zeros_like(growth.visits)
    legal = jnp.asarray(where.transitions.legal[0])
    allowed = legal if present is None else legal & (jnp.arange(len(legal)) == present)[:, None]
    growth = growth._replace(
        visits=nothing,
        pending=nothing,
        prior=nothing.at[0, favourite].set(0.98).at[0, 0].set(0.02),
        allowed=growth.allowed.at[0].set(allowed),
    )
    action_reach = jnp.ones((len(nothing), 2, nothing.shape[1] + 1, nothing.shape[2]))
    guide = Guide(nothing, nothing, action_reach, jnp.ones((2, 3)), jnp.float32(7.0))
    got = selection(where.device_transitions, growth, guide, jnp.int32(0), jnp.int32(hand), 1.25)
    average = np.asarray(allowed[:, hand]) / allowed[:, hand].sum()
    np.testing.assert_allclose(got, (average + np.eye(len(got))[favourite]) / 2)


BOARD = "tic_tac_toe(rows=2,columns=2,line=2)"


@functools.cache
def perfect(top: int | None, simulations: int = 60) -> Grown:
    options = growing_search(table(BOARD), PAPER, simulations=simulations, top=top)
    return search(options, Tilted(jnp.full((1, 1), 0.1)), jax.random.key(0))


@pytest.mark.slow
def test_perfect_information_adds_one_action_at_a_time():
    """Any two marks win on a board of 2 x 2: the first player wins whatever they do."""
    growth = perfect(1).growth
    inside, rows = np.asarray(growth.inside), table(BOARD).transitions
    count = int(growth.num_opened)
    widths = (rows.child[np.asarray(growth.row)[:count]] >= 0).sum(1)
    sizes = inside[:count].sum(1)
    assert sizes[0] == 4  # the root has all its children from the start
    assert any(0 < size < width for size, width in zip(sizes, widths, strict=True))
    partial = np.flatnonzero(sizes < widths)
    assert not (np.asarray(growth.allowed)[partial].all((1, 2))).any()
    assert perfect(1).root_values[0].sum() > 0.5
    assert growth.visits[0].sum() == 60


@pytest.mark.slow  # seconds of compilation
def test_a_leaf_of_perfect_information_is_asked_about_once():
    """The count of questions, and the same search if the question is asked every time."""
    grown = perfect(None)
    growth = grown.growth
    seen = int(np.asarray(growth.inside).sum())
    assert grown.asked == seen  # every public state in the tree, once

    # The same game with a private state that nobody holds has to ask again and again.
    rows = table(BOARD).device_transitions
    wide = {
        "legal": 2,
        "parents_of": 3,
        "child_of_action": 2,
        "child_of_waiting": 1,
        "possible": 2,
    }
    actions, width = rows.num_actions, rows.num_children
    padded = {}
    for name, axis in wide.items():
        x = getattr(rows, name)
        # With one more private state, codes a * 1 + 0 become a * 2 + 0.
        x = x * 2 if x.dtype == jnp.int32 else x
        pad = {
            "parents_of": 2 * actions,
            "child_of_action": 2 * width,
            "child_of_waiting": 2 * width,
        }.get(name, 0)
        shape = [(0, 0)] * x.ndim
        shape[axis] = (0, 1)
        padded[name] = jnp.pad(x, shape, constant_values=pad)
    model = growing_search(table(BOARD), PAPER, simulations=60).model
    model = dataclasses.replace(model, table=rows._replace(**padded))
    options = growing_search(model, PAPER, simulations=60)
    again = search(options, Tilted(jnp.full((2, 2), 0.1)), jax.random.key(0))
    assert again.asked > 3 * seen
    np.testing.assert_array_equal(again.growth.opened, growth.opened)
    np.testing.assert_allclose(again.average[..., :1], grown.average, atol=1e-5)
    np.testing.assert_allclose(again.root_values[:, :1], grown.root_values, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulations": 0}, "must be positive"),
        ({"simulations": 5, "per_update": 2.0}, "use simulations=6"),
        ({"simulations": 5, "per_update": 0.0}, "must be positive"),
        ({"simulations": 5, "top": 0}, "must be positive"),
        ({"simulations": 5, "tile": 0}, "must be positive"),
        ({"simulations": 5, "ask_every": 0}, "must be positive"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        growing_search(table("kuhn"), OURS, **options)


def test_sampling_solvers_are_refused():
    with pytest.raises(ValueError, match="samples nothing"):
        growing_search(table("kuhn"), js.SAMPLERS["os-mccfr"].build(), simulations=1)
