"""Solved spots: published values, symmetry, locks, batches, and what reports say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve import native
from jaxsolve.holdem._engine import spot_engine
from jaxsolve.holdem._runouts import runouts
from jaxsolve.holdem._solve import measure, parse_target
from jaxsolve.holdem._spot_memory import check_tensors, spot_bytes
from jaxsolve.holdem._spot_tree import SpotTree, spot_betting
from jaxsolve.solvers import run

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SMALL = {
    "board": "Ts9s8s2h",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}


@pytest.fixture(scope="module")
def river() -> SpotTree:
    return he.spot_tree(he.Spot.load(EXAMPLES / "river.toml"))


@pytest.fixture(scope="module")
def solved(river: SpotTree) -> he.SpotResult:
    return he.solve(river, target="0.05%", progress=False)


def test_published_river(river: SpotTree, solved: he.SpotResult):
    """An established solver's values (specification of the spot in examples/river.toml)."""
    betting = river.betting
    assert river.num_decision_nodes == 32
    assert int((betting.kind != 0).sum()) == 61
    with jax.enable_x64(True):
        exact = he.spot_tree(river.spot)
        _, _, uniform = measure(exact, js.uniform_policy(exact.tree))
    assert 100 * uniform / 200 == pytest.approx(99.011, abs=5e-4)
    # The values of an equilibrium are within the exploitability of those of the solution.
    assert solved.exploitability_pot <= 0.0005
    assert solved.ev[0] == pytest.approx(91.1064, abs=0.01 + solved.exploitability_chips)
    assert sum(solved.ev) == pytest.approx(200, abs=1e-3)


@pytest.mark.slow  # 48 rivers: half a minute to build, a minute to solve on one core
def test_published_turn():
    tree = he.spot_tree(he.Spot.load(EXAMPLES / "turn.toml"))
    assert tree.num_decision_nodes == 32 + 48 * 136
    _, _, uniform = measure(tree, js.uniform_policy(tree.tree))
    assert 100 * uniform / 200 == pytest.approx(111.995, abs=5e-4)
    solved = he.solve(tree, target="0.1%", progress=False)
    assert solved.ev[0] == pytest.approx(91.9930, abs=0.01 + solved.exploitability_chips)


def test_values_of_the_root_add_up(solved: he.SpotResult):
    root = solved.node()
    assert root.player == 0
    assert root.actions == ("x", "b100", "b200", "a")
    weight = root.reach * root.weight
    worth = (weight[:, None] * root.strategy * root.value).sum()
    assert worth / weight.sum() == pytest.approx(solved.ev[0], abs=1e-3)
    assert (root.best >= root.value - 1e-3).all()
    np.testing.assert_allclose(root.strategy.sum(1), 1, atol=1e-6)
    assert root.frequency_by_matchup.sum() == pytest.approx(1, abs=1e-6)


def test_a_later_decision(solved: he.SpotResult):
    node = solved.node("x b100")
    assert (node.player, node.actions[0]) == (0, "f")
    # Folding gives up the pot: nothing is won from there on.
    np.testing.assert_allclose(node.value[:, 0], 0, atol=1e-3)
    assert len(node.table()) == int((node.reach > 0).sum())
    assert "x b100" in node._repr_html_()


@pytest.mark.parametrize(
    ("line", "board", "message"),
    [
        ("x q", None, "'q' cannot follow 'x'"),
        ("x x", None, "the betting is over"),
        ("", "Td9d6hQc3s", "not a board of that street"),
    ],
)
def test_unknown_places_are_refused(
    solved: he.SpotResult, line: str, board: str | None, message: str
):
    with pytest.raises(ValueError, match=message):
        solved.node(line, board)


@pytest.fixture(scope="module")
def small() -> tuple[SpotTree, SpotTree]:
    spot = he.Spot.parse(SMALL)
    return he.spot_tree(spot), he.spot_tree(spot, symmetric=False)


@pytest.mark.slow  # seconds of compilation
def test_symmetric_runouts_change_nothing(small: tuple[SpotTree, SpotTree]):
    """Clubs and diamonds are alike on this board: values and best responses stay the same.

    Later iterates differ: where all actions are worth the same, the sign of a rounding error
    decides what regret matching plays. So policies are compared after one iteration.
    """
    together, apart = small
    assert len(together.streets[1].boards) == 35
    assert len(apart.streets[1].boards) == 48
    found = []
    for tree in small:
        uniform = js.uniform_policy(tree.tree)
        one = js.solve(tree.tree, "cfr+", iterations=1, progress=False).current
        numbers = []
        for policy in (uniform, one):
            numbers += [
                *js.expected_values(tree.tree, policy),
                *js.best_response_values(tree.tree, policy),
            ]
        found.append(np.asarray(numbers))
    np.testing.assert_allclose(found[0], found[1], atol=1e-3)
    first, second = (he.node_report(t, js.uniform_policy(t.tree), "x") for t in small)
    np.testing.assert_allclose(first.value, second.value, atol=1e-3)
    np.testing.assert_allclose(first.best, second.best, atol=1e-3)


@pytest.mark.slow
def test_turn_equals_a_slow_evaluation(small: tuple[SpotTree, SpotTree]):
    """Both check down with uniform play replaced by checks: the value is all-in equity."""
    from phevaluator import evaluate_cards

    tree = small[1]
    spot = tree.spot
    locked = tree
    for line in ("", "x"):
        locked = he.lock(locked, line, {"x": 1.0})
    for line in ("x x", "x x x"):
        locked = he.lock(locked, line, {"x": 1.0})
    value = np.asarray(js.expected_values(locked.tree, js.uniform_policy(locked.tree)))[0]
    board = [he.card_name(c) for c in spot.board]
    total = equity = 0.0
    strength: dict[tuple[int, int], int] = {}
    for a in np.flatnonzero(spot.ranges[0]):
        for b in np.flatnonzero(spot.ranges[1]):
            cards = {*he.HANDS[a].tolist(), *he.HANDS[b].tolist()}
            if len(cards) < 4:
                continue
            for river in set(range(52)) - cards - set(spot.board):
                for hand in (a, b):
                    if (hand, river) not in strength:
                        names = [he.card_name(c) for c in (*he.HANDS[hand], river)]
                        strength[hand, river] = evaluate_cards(*board, *names)
                equity += 50 * np.sign(strength[b, river] - strength[a, river])
                total += 1
    assert value == pytest.approx(equity / total, abs=1e-3)


@pytest.mark.slow
def test_a_locked_node_is_part_of_the_game(river: SpotTree):
    locked = he.lock(river, "", {"a": 1.0})
    result = he.solve(locked, target="0.1%", progress=False)
    root = result.node()
    np.testing.assert_allclose(root.strategy[:, root.actions.index("a")], 1)
    # Best responses do not deviate there: the first player has nothing to gain from other actions.
    assert result.exploitability_pot <= 0.001
    assert result.ev[0] < 91.1064 - 1
    free = js.exploitability(river.tree, dataclasses.replace(result.policy, names=river.tree.info))
    assert float(free) > 1


def test_locks_are_checked(river: SpotTree):
    with pytest.raises(ValueError, match="no action 'b7'"):
        he.lock(river, "", {"b7": 1.0})
    with pytest.raises(ValueError, match="sum to 1"):
        he.lock(river, "", {"x": 0.7})


@pytest.mark.slow  # seconds of compilation
def test_forms_agree(river: SpotTree):
    """Same iterates from every payoff operator and from C++, to float32 rounding."""
    found = []
    for form in (None, "native", "prefix", "dense"):
        tree = he.spot_tree(river.spot, operator=form)
        one = he.solve(tree, target=None, iterations=20, measure_every=20, progress=False)
        found.append([*one.values, one.exploitability_chips])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=5e-3)


@pytest.mark.parametrize("operator", [None, "prefix"])
def test_batch_equals_single_spots(operator: str | None):
    base = {**SMALL, "board": "Ts9s8s2h3c"}
    variants = [
        base,
        {**base, "pot": 60, "stack": 200},
        {**base, "board": "Ts9s8s2hKd"},
        {**base, "rake": 0.05, "rake_cap": 3},
    ]
    spots = [he.Spot.parse(v) for v in variants[: 3 if operator else 4]]
    room = max(len(he.spot_tree(s).hands) for s in spots)
    trees = [he.spot_tree(s, operator=operator, symmetric=False, num_hands=room) for s in spots]
    found = he.solve_spots(trees, iterations=50)
    for one, tree in zip(found, trees, strict=True):
        alone = he.solve(tree, target=None, iterations=50, measure_every=50, progress=False)
        assert one.exploitability_chips == pytest.approx(alone.exploitability_chips, abs=2e-3)
        np.testing.assert_allclose(one.values, alone.values, atol=2e-3)
        np.testing.assert_allclose(one.node().value, alone.node().value, atol=0.05)


def test_a_vmapped_batch_of_different_trees_is_refused():
    base = {**SMALL, "board": "Ts9s8s2h3c"}
    other = {**base, "sizes": {"bet": ["50%", "a"], "raise": ["a"]}}
    spots = [he.Spot.parse(base), he.Spot.parse(other)]
    trees = [he.spot_tree(s, operator="prefix") for s in spots]
    with pytest.raises(ValueError, match="different betting trees"):
        he.solve_spots(trees)


def test_rake_is_taken_from_both():
    spot = he.Spot.parse({**SMALL, "board": "Ts9s8s2h3c", "rake": 0.05, "rake_cap": 3})
    tree = he.spot_tree(spot)
    worth = js.expected_values(tree.tree, js.uniform_policy(tree.tree))
    # Every pot is at least 100, so the cap is always reached.
    assert float(worth.sum()) == pytest.approx(-3, abs=1e-3)


def test_too_large_a_spot_is_refused_with_the_figure(monkeypatch: pytest.MonkeyPatch):
    spot = he.Spot.parse(
        {
            **SMALL,
            "board": "Ts9s8s",
            "stack": 400,
            "oop": "full",
            "ip": "full",
            "sizes": {"bet": ["33%", "75%", "a"], "raise": ["50%", "a"]},
            "raise_cap": 2,
        }
    )
    monkeypatch.setattr("jaxsolve.tree._memory.free_bytes", lambda: 2**30)
    monkeypatch.setattr("jaxsolve.holdem._spot_memory.free_bytes", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"needs about [\d.]+ GiB .* 16 bits: state"):
        he.spot_tree(spot)
    with pytest.raises(MemoryError, match=r"needs about [\d.]+ GiB .* actions of public states"):
        he.spot_tree(spot, operator="prefix")


def test_memory_is_estimated_before_building():
    tree = he.spot_tree(he.Spot.load(EXAMPLES / "river.toml"))
    need = check_tensors("river", tree.betting, tree.streets, len(tree.hands))
    state = sum(p.num_sequences * p.num_hands for p in tree.tree.players) * 4
    assert need >= 5 * state  # regrets, policy, reach, and two arrays of the average


@pytest.mark.skipif(native.host_library("spots") is None, reason="no C++ compiler here")
@pytest.mark.parametrize("bits", [32, 16])
def test_memory_of_the_state_is_exact(bits: int):
    tree = he.spot_tree(he.Spot.parse(SMALL))
    engine = spot_engine(tree, js.dcfr(), bits=bits)
    assert engine is not None
    need = spot_bytes(tree, bits)
    assert need.state == sum(x.nbytes for x in engine.fresh().arrays)
    assert need.tables == pytest.approx(tree.tables.nbytes, rel=0.3)


@pytest.mark.parametrize("target", ["0", "-1%", "abc", "1%%"])
def test_targets_are_checked(target: str):
    with pytest.raises(ValueError, match="target is"):
        parse_target(target, 100)


def test_targets():
    assert parse_target("0.5%", 200) == 1.0
    assert parse_target(0.25, 200) == 0.25
    assert parse_target(None, 200) is None


def test_donk_sizes_are_for_the_first_player_after_a_bet():
    data = {**SMALL, "sizes": {"bet": ["50%"], "raise": [], "donk": ["100%"]}}
    betting = spot_betting(he.Spot.parse(data))
    after_bet = [betting.label[c] for c in betting.children(betting.find("x b50 c"))]
    after_check = [betting.label[c] for c in betting.children(betting.find("x x"))]
    assert after_bet == ["x", "a"]  # the pot of 200 is more than what is left
    assert after_check == ["x", "b50"]


def test_another_spot_of_the_same_shape_compiles_nothing(river: SpotTree):
    """Ranges, pot and stack are arguments of the compiled program."""
    river, again = (he.spot_tree(river.spot, operator="prefix") for _ in range(2))
    with jax.debug_key_reuse(False):  # which traces every call anew
        he.solve(river, target=None, iterations=3, progress=False)
        before = run._cache_size()
        he.solve(again, target=None, iterations=3, progress=False)
        assert run._cache_size() == before


@pytest.mark.slow  # 2,352 runouts: half a minute on a busy core
def test_symmetric_flop_changes_nothing():
    """Two cards to come: permutations of suits shrink from street to street."""
    spot = he.Spot.parse(
        {
            **SMALL,
            "board": "Ts9s8s",
            "stack": 100,
            "oop": "JJ,AhKd,AdKh",
            "ip": "77,QdJh,QhJd",
            "sizes": {"bet": ["a"], "raise": []},
        }
    )
    found = []
    for symmetric in (True, False):
        tree = he.spot_tree(spot, symmetric=symmetric)
        uniform = js.uniform_policy(tree.tree)
        numbers = [
            js.expected_values(tree.tree, uniform),
            js.best_response_values(tree.tree, uniform),
        ]
        found.append((len(tree.streets[2].boards), np.concatenate(numbers)))
    assert found[0][0] < found[1][0] == 49 * 48
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-3)


def test_flops_and_their_weights():
    """1,755 flops up to suits; given two hands, C(48, 3) flops are left of 22,100."""
    full = np.ones((2, 1326))
    flops = runouts((), full, last=3)[1]
    assert len(flops.boards) == 1755
    assert flops.weight.sum() == pytest.approx(22_100 / 17_296)
