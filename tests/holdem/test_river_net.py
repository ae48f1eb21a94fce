"""River networks: boards, targets, what a network sees, and turns solved with one."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxsolve import holdem, learn, native
from jaxsolve.evaluate import expected_values
from jaxsolve.holdem import river_net
from jaxsolve.holdem.river_net._boards import bucket_shares, ties
from jaxsolve.holdem.river_net._network import decode, encode
from jaxsolve.holdem.river_net._values import _values
from jaxsolve.solvers import cfr, dcfr, es_mccfr

needs_native = pytest.mark.skipif(not native.available(), reason="no C++ compiler here")
BOARD = holdem.parse_cards("Td9d6hQc2s")
PLAYS = holdem.parse_cards("TcJdQhKsAc")  # a straight on the board: most hands tie
SIZES: dict[str, Any] = {"bet": ["100%", "a"], "raise": ["100%", "a"]}


def hand_table(board: tuple[int, ...]) -> list[tuple[int, tuple[int, int], int]]:
    """Returns (number, cards, strength) of the possible hands, from the NumPy side."""
    strength = holdem.strengths_on_board(jnp.asarray(board))
    return [
        (k, tuple(cards), int(s))
        for k, (cards, s) in enumerate(zip(holdem.HANDS.tolist(), strength, strict=True))
        if s >= 0
    ]


def ranges_of(seed: int) -> Any:
    keys = jax.random.split(jax.random.key(seed))
    return np.stack([np.asarray(river_net.random_range(k)) for k in keys])


def perturbed(net: Any, seed: int = 3) -> Any:
    """Returns a network that has something to say."""
    leaves, tree = jax.tree.flatten(net.params)
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    moved = [x + 0.05 * jax.random.normal(k, x.shape) for x, k in zip(leaves, keys, strict=True)]
    return net.replace(jax.tree.unflatten(tree, moved))


@pytest.mark.parametrize("cards", [BOARD, PLAYS])
def test_hands_of_a_board_are_in_order_of_strength(cards: tuple[int, ...]) -> None:
    board = river_net.river_board(jnp.asarray(cards))
    table = hand_table(cards)
    strength = {number: s for number, _, s in table}
    assert sorted(np.asarray(board.hands).tolist()) == sorted(strength)
    ranked = np.asarray([strength[int(h)] for h in board.hands])
    assert (np.diff(ranked) >= 0).all()
    np.testing.assert_array_equal(board.pair, holdem.HANDS[np.asarray(board.hands)])
    for k in (0, 500, 1080):
        tied = np.flatnonzero(ranked == ranked[k])
        assert (int(board.low[k]), int(board.high[k])) == (tied[0], tied[-1] + 1)
        assert float(board.place[k]) == pytest.approx((tied[0] + tied[-1] + 1) / 2 / 1081)


def test_buckets_share_every_hand() -> None:
    board = river_net.river_board(jnp.asarray(PLAYS))
    shares = bucket_shares(board.place, 3)
    np.testing.assert_allclose(shares.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(bucket_shares(jnp.asarray(0.25), 3), [0.75, 0.25, 0], atol=1e-6)
    tied = np.asarray(ties(board, shares))
    table = hand_table(PLAYS)
    straight = max(sum(s == x for _, _, s in table) for x in {s for _, _, s in table})
    assert tied.max() == pytest.approx(straight / 1081, rel=0.2)


def test_random_ranges_are_ranges() -> None:
    for seed in range(4):
        for split_all in (False, True):
            found = np.asarray(river_net.random_range(jax.random.key(seed), split_all=split_all))
            assert found.shape == (1081,)
            assert found.sum() == pytest.approx(1, abs=1e-5)
            assert found.min() > 0
    # Halves share evenly on the average, and single hands do, too.
    keys = jax.random.split(jax.random.key(9), 400)
    many = np.asarray(jax.vmap(lambda k: river_net.random_range(k, split_all=True))(keys))
    assert many[:, :540].sum(1).mean() == pytest.approx(0.5, abs=4 * (1 / 12 / 400) ** 0.5)
    assert many[:, :540].sum(1).std() == pytest.approx(12**-0.5, rel=0.1)


@pytest.mark.parametrize("form", ["dense", pytest.param("native", marks=needs_native)])
def test_check_down_equals_a_sum_over_pairs(form: Any) -> None:
    board = river_net.river_board(jnp.asarray(BOARD))
    ranges = ranges_of(1)
    shown, meets = river_net.check_down(board, jnp.asarray(ranges), form)
    table = hand_table(BOARD)
    by_number = {number: (cards, s) for number, cards, s in table}
    order = [by_number[int(h)] for h in board.hands]
    for me, k in ((0, 3), (0, 700), (1, 1080)):
        cards, mine = order[k]
        worth = met = 0.0
        for j, (other, theirs) in enumerate(order):
            if not set(cards) & set(other):
                met += float(ranges[1 - me, j])
                worth += float(ranges[1 - me, j]) * (int(mine > theirs) - int(mine < theirs)) / 2
        assert float(meets[me, k]) == pytest.approx(met, abs=2e-6)
        assert float(shown[me, k]) == pytest.approx(worth, abs=2e-6)


@needs_native
def test_rivers_in_cpp_and_in_jax_agree() -> None:
    board = river_net.river_board(jnp.asarray(BOARD))
    ranges, few = ranges_of(2), 8
    stack: Any = np.float32(2.5)
    values, gap = river_net.native_rivers(
        river_net.river_template(river_net.RiverMenu()), dcfr(), few
    )(np.asarray(board.pair)[None], np.asarray(board.high)[None], ranges[None], stack[None])
    forms: tuple[Any, ...] = ("native", "dense")
    for form in forms:
        template = river_net.river_template(river_net.RiverMenu(), form)
        one = jax.jit(
            lambda r, s, t=template: river_net.solve_river(t, dcfr(), board, r, s, iterations=few)
        )
        found = one(jnp.asarray(ranges), stack)
        np.testing.assert_allclose(found.values, values[0], atol=2e-4)
        assert float(found.exploitability) == pytest.approx(float(gap[0]), rel=1e-3)


@needs_native
@pytest.mark.parametrize("stack", [0.3, 1.0, 2.5])
def test_targets_are_those_of_the_spot_solver(stack: float) -> None:
    board = river_net.river_board(jnp.asarray(BOARD))
    ranges = ranges_of(5)
    weights = np.zeros((2, 1326))
    weights[:, np.asarray(board.hands)] = ranges / ranges.max(1, keepdims=True)
    pot = 20_000
    sizes = holdem.parse_sizes({"river": SIZES}, ("river",))
    spot = holdem.Spot(
        BOARD, pot, (int(pot * stack),) * 2, (weights[0], weights[1]), sizes, raise_cap=2
    )
    exact = holdem.solve(spot, solver="dcfr", iterations=300, target=None, progress=False)
    template = river_net.river_template(river_net.RiverMenu())
    values, gap = river_net.native_rivers(template, dcfr(), 300)(
        np.asarray(board.pair)[None],
        np.asarray(board.high)[None],
        ranges[None],
        np.asarray([stack], np.float32),
    )
    pairs = ranges[0] @ np.asarray(river_net.check_down(board, jnp.asarray(ranges), "native")[1][0])
    worth = (ranges * values[0]).sum(1) / pairs
    both = float(gap[0]) + exact.exploitability_pot
    assert both < 3e-3
    np.testing.assert_allclose(worth, np.asarray(exact.values) / pot, atol=both)


def test_an_untrained_network_says_that_betting_adds_nothing() -> None:
    net = river_net.river_net(jax.random.key(0), buckets=8, width=16, depth=2)
    board = river_net.river_board(jnp.asarray(BOARD))
    ranges = jnp.asarray(ranges_of(3))
    weights = np.zeros((1, 2, 1326), np.float32)
    weights[0][:, np.asarray(board.hands)] = 3 * ranges
    found = river_net.river_values(net, [BOARD], weights, 200, 500)
    shown, _ = river_net.check_down(board, ranges, "dense")
    # Running sums of 1,081 numbers in float32, against a product with a matrix.
    rounding = 1081 * float(np.finfo(np.float32).eps) / 2
    want = 600 * np.asarray(shown)
    np.testing.assert_allclose(found[0][:, np.asarray(board.hands)], want, atol=600 * rounding)
    assert (np.delete(found, np.asarray(board.hands), -1) == 0).all()
    program: Any = _values
    traces = program._cache_size()
    changed = river_net.river_values(perturbed(net), [PLAYS], weights, 300, 100)
    assert program._cache_size() == traces  # second calls compile nothing
    assert np.abs(changed - river_net.river_values(net, [PLAYS], weights, 300, 100)).max() > 1


def test_ranges_weigh_what_betting_adds_to_zero() -> None:
    net = perturbed(river_net.river_net(jax.random.key(0), buckets=8, width=16, depth=2))
    board = river_net.river_board(jnp.asarray(BOARD))
    seen = encode(board, jnp.asarray(ranges_of(4)), 8, "dense")
    added = (decode(net, seen, jnp.asarray(2.0)) - seen.shown) / seen.meets
    assert float(jnp.abs(added).max()) > 0.01
    assert float((jnp.asarray(ranges_of(4)) * added).sum()) == pytest.approx(0, abs=1e-6)


def test_bad_input_is_refused_at_the_door() -> None:
    net = river_net.river_net(jax.random.key(0), buckets=4, width=8, depth=1)
    even = np.ones((1, 2, 1326))
    for boards, ranges, pot, stack, words in (
        ([BOARD[:4]], even, 1, 1, r"boards: give whole numbers \[R, 5\]"),
        ([(0, 0, 1, 2, 3)], even, 1, 1, "twice"),
        ([(0, 1, 2, 3, 52)], even, 1, 1, "0 to 51"),
        ([BOARD], even[:, :1], 1, 1, "ranges: give"),
        ([BOARD], -even, 1, 1, "not negative"),
        ([BOARD], even, 0, 1, "pot: chips are"),
        ([BOARD], even, 1, np.nan, "stack: chips are"),
        ([BOARD], even, [1, 2], 1, "pot: give one number"),
    ):
        with pytest.raises(ValueError, match=words):
            river_net.river_values(net, boards, ranges, pot, stack)
    Menu, Data = river_net.RiverMenu, river_net.RiverData
    with pytest.raises(ValueError, match="cuts them off"):
        river_net.river_template(Menu(deepest=10.0), "dense")
    with pytest.raises(ValueError, match="not a share of the pot"):
        river_net.river_template(Menu(bet=("50c",)), "dense")
    for data, words in (
        (Data(least=0.0), "stacks lie between"),
        (Data(most=100.0), "as deep"),
        (Data(iterations=0), "iterations is 0"),
        (Data(engine="gpu"), "unknown engine"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=words):
            river_net.river_source(net, data)
    river = holdem.Spot.parse(
        {"board": "Td9d6hQc2s", "pot": 100, "stack": 100, "oop": "AA", "ip": "KK",
         "sizes": {"river": SIZES}}
    )  # fmt: skip
    with pytest.raises(ValueError, match="a turn has 4"):
        river_net.turn_tree(river, net)
    with pytest.raises(ValueError, match="knows no rake"):
        river_net.turn_tree(turn_spot(rake=0.05), net)


@needs_native
def test_cpp_refuses_solvers_that_it_does_not_know() -> None:
    template = river_net.river_template(river_net.RiverMenu())
    for solver in (cfr().simultaneous(), es_mccfr()):
        with pytest.raises(ValueError, match="solver of the kind of dcfr"):
            river_net.native_rivers(template, solver, 10)


def turn_spot(**changes: Any) -> holdem.Spot:
    data: dict[str, Any] = {
        "board": "Td9d6hQc",
        "pot": 200,
        "stack": 500,
        "oop": "66+,A8s+,KQo,QTs+,JTs",
        "ip": "QQ-22,AQs-A2s,ATo+,KJo+",
        "raise_cap": 1,
        "sizes": {"turn": {"bet": ["100%"], "raise": ["a"]}, "river": SIZES},
    }
    return holdem.Spot.parse(data | changes)


@pytest.mark.slow
def test_a_network_that_adds_nothing_gives_the_turn_without_river_bets() -> None:
    net = river_net.river_net(jax.random.key(0), buckets=8, width=16, depth=2)
    turn = river_net.turn_tree(turn_spot(), net)
    found = river_net.solve_turn(turn, iterations=200)
    quiet = turn_spot(sizes={"turn": {"bet": ["100%"], "raise": ["a"]},
                             "river": {"bet": [], "raise": []}})  # fmt: skip
    tree = holdem.spot_tree(quiet, symmetric=False)
    for line, shares in found.strategy.items():
        tree = holdem.lock(tree, line, shares)
    judged = holdem.solve(tree, solver="dcfr", iterations=1, target=None, progress=False)
    mine = np.asarray(expected_values(turn.tree, found.policy))
    np.testing.assert_allclose(mine, judged.values, atol=0.02)
    free = holdem.solve(
        holdem.spot_tree(quiet), solver="dcfr", iterations=200, target=None, progress=False
    )
    np.testing.assert_allclose(mine, free.values, atol=0.5)


@pytest.mark.slow
def test_all_rivers_at_once_are_near_river_by_river() -> None:
    net = perturbed(river_net.river_net(jax.random.key(0), buckets=16, width=16, depth=2))
    spot = turn_spot(oop="full", ip="full")
    turn = river_net.turn_tree(spot, net)
    operator = next(x for x in turn.tree.leaves if isinstance(x, river_net.RiverLeaves))
    hands = turn.spot.hands
    generator = np.random.default_rng(0)
    ranges = generator.random((2, 1, len(hands))) ** 2
    leaf = dataclasses.replace(operator, stack=operator.stack[:1], amount=operator.amount[:1])
    pot = float(turn.betting.spent[turn.rivers[0]].sum())
    boards = [[*spot.board, c] for c in range(52) if c not in spot.board]
    weights = np.zeros((len(boards), 2, 1326), np.float32)
    weights[:, :, hands] = ranges[:, 0]
    stack = pot * float(leaf.stack[0])
    plain = river_net.river_net(jax.random.key(0), buckets=16, width=16, depth=2)
    exact = river_net.river_values(net, boards, weights, pot, stack)
    exact = exact - river_net.river_values(plain, boards, weights, pot, stack)
    each = exact.sum(0)[:, hands] / 44 / spot.pairs
    for player in range(2):
        found = leaf.values(jnp.asarray(ranges, jnp.float32))[player, 0]
        error = np.abs(found - each[player]).max() / np.abs(each[player]).max()
        assert error < 0.02


@needs_native
@pytest.mark.slow
def test_a_resumed_training_equals_an_uninterrupted_one(tmp_path: Any) -> None:
    net = river_net.river_net(jax.random.key(0), buckets=8, width=16, depth=2)
    data = river_net.RiverData(iterations=20)
    plan = learn.Plan(steps=6, updates=4, minibatch=8)
    options: dict[str, Any] = {"log_every": 2, "progress": False}
    source = river_net.river_source(net, data, batch=4)
    whole = learn.train(net, source, plan, **options)
    learn.train(net, source, plan, out=tmp_path, until=2, **options)
    again = learn.train(net, source, plan, out=tmp_path, resume=True, **options)
    for x, y in zip(
        jax.tree.leaves(whole.net.params), jax.tree.leaves(again.net.params), strict=True
    ):
        np.testing.assert_array_equal(x, y)
    assert [r["loss"] for r in whole.curve] == [r["loss"] for r in again.curve]


@needs_native
@pytest.mark.slow
def test_training_learns_and_both_engines_make_the_same_targets() -> None:
    net = river_net.river_net(jax.random.key(0), buckets=16, width=64, depth=2)
    engines: tuple[Any, ...] = ("native", "jax")
    sources = [
        river_net.river_source(net, river_net.RiverData(iterations=10, engine=e), batch=4)
        for e in engines
    ]
    made = [jax.jit(s.sample)(net, jnp.int32(0), jax.random.key(7))[0] for s in sources]
    np.testing.assert_allclose(made[0].beliefs, made[1].beliefs, atol=1e-6)
    np.testing.assert_allclose(made[0].values, made[1].values, atol=2e-3)
    held = river_net.solved_rivers(jax.random.key(1), river_net.RiverData(iterations=100), 16)
    before = river_net.river_errors(net, held)
    assert before["mae"] == pytest.approx(before["mae_check_down"], rel=1e-5)
    source = river_net.river_source(net, river_net.RiverData(iterations=50), batch=16)
    done = learn.train(net, source, learn.Plan(steps=16, minibatch=64, huber=0.5), progress=False)
    assert river_net.river_errors(done.net, held)["mae"] < 0.7 * before["mae"]
