"""Search on trees of positions that grow: solver, turns, and what they come to on small games."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from compiled import COMPILED, counted

import games
from jaxsolve import native
from jaxsolve.search import knowledge
from jaxsolve.search.ismcts import first_world
from jaxsolve.search.knowledge._charge import Charges
from jaxsolve.search.knowledge._plain import PlainSolver
from jaxsolve.search.knowledge._solver import NativeSolver

KINGS = "dark_chess(fen=k3/4/2K1/4_w,plies=4)"
PAWNS = "dark_chess(fen=3k/2pp/PP2/K3_w,plies=4,at_cap=material)"


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def grown(name: str, capacity: int = 8192) -> knowledge.PositionTree:
    """Returns a game's whole tree."""
    game = games.load(name)
    tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, capacity))
    assert not bool(tree.full)
    return tree


def library():
    """Returns the native code."""
    found = native.host_library("positions")
    if found is None:
        pytest.skip("no C++ compiler: there is nothing to compare the NumPy form with")
    return found


@pytest.mark.parametrize("gadget", ["unsafe", "resolve", "maxmargin", "both"])
def test_native_and_plain_solvers_have_the_same_numbers_while_the_tree_grows(gadget: str):
    game = games.load(KINGS)
    one = np.ones(1)
    roots = knowledge.single_root()._replace(gadget=gadget, player=1, alternative=0.3 * one)
    tree = knowledge.start_tree(game, 4096)
    first, second = NativeSolver(library(), roots, 1.5), PlainSolver(roots, 1.5)
    for k in range(12):
        first.extend(tree)
        second.extend(tree)
        for solver in (first, second):
            solver.iterate(3)
        for name, x, y in zip(knowledge.Read._fields, first.read(), second.read(), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-9, err_msg=name)
        leaves = first.leaves(k % 2, 8, k)
        np.testing.assert_array_equal(leaves, second.leaves(k % 2, 8, k))
        assert len(set(leaves.tolist())) == len(leaves)
        some = np.pad(leaves, (0, 8 - len(leaves)), constant_values=4096)
        tree = knowledge.grow(game, tree, some, 4 * game.num_actions)
    assert int(tree.num_nodes) > 50


def test_averages_are_of_the_tree_that_is_there():
    """Of iterations since it grew, by their squares; without any, they are what is played."""
    game, tree = games.load("kuhn"), knowledge.start_tree(games.load("kuhn"), 64)
    for count in (1, 3, 6):  # deals, then the first bets
        leaves = np.flatnonzero(~np.asarray(tree.opened)[: int(tree.num_nodes)])
        some = np.pad(leaves[:count], (0, 8 - len(leaves[:count])), constant_values=64)
        tree = knowledge.grow(game, tree, some, 8 * game.num_actions, lambda state: 0.1)
    solver = knowledge.growing_solver(tree, knowledge.single_root())
    solver.iterate(5)
    tree = knowledge.grow_breadth_first(game, tree)
    solver.extend(tree)
    read, n = solver.read(), int(tree.num_nodes)
    np.testing.assert_array_equal(read.average, read.current)
    played, above = [], np.asarray(tree.parent)[:n]
    first = (np.asarray(tree.actor)[above] == 0) & (np.asarray(tree.depth)[:n] == 3)
    assert first.sum() == 12
    for _ in range(4):
        played.append(solver.read().current[first])
        solver.iterate(1)
    assert np.ptp(played, axis=0).max() > 0.01
    mean = np.average(played, axis=0, weights=[1, 4, 9, 16])
    np.testing.assert_allclose(solver.read().average[first], mean)


@pytest.mark.parametrize(("name", "value"), [("kuhn", -1 / 18), (KINGS, 0.5)])
def test_a_whole_tree_is_solved(name: str, value: float):
    """Kuhn's value is known; the other one by the linear program of tests/games."""
    tree = grown(name)
    nodes = knowledge.positions_of(tree)
    for trunk, off in (("cfr", 1e-3), ("lp", 1e-6)):
        solver = knowledge.growing_solver(tree, knowledge.single_root(), trunk=trunk)
        solver.iterate(500)
        edge = solver.read().average
        for player in (0, 1):
            answered = knowledge.best_response(nodes, edge, player)
            assert knowledge.values_of(nodes, answered)[0] == pytest.approx(value, abs=off)


def test_a_turn_has_the_weights_and_alternatives_of_the_subgame():
    """Against `knowledge_subgame`, at each second decision of Black with pawns."""
    tree = grown(PAWNS)
    roots = knowledge.single_root()
    solver = knowledge.growing_solver(tree, roots)
    solver.iterate(20)  # rough, so that there are gifts
    read = solver.read()
    nodes = knowledge.positions_of(tree)
    before = knowledge.Before(tree, roots, read, read.average, None)
    depth = np.asarray(tree.depth)[: len(nodes.parent)]
    state = jax.tree.map(lambda x: np.asarray(x)[:0], tree.worlds.state)
    checked = 0
    for name in np.unique(nodes.memory[(nodes.actor == 1) & (depth == 3), 1]):
        memory = np.array([name >> np.uint64(32), name & np.uint64(0xFFFFFFFF)], np.uint32)
        options = {"alternative": "estimate", "reach": "estimate"}
        part = knowledge.knowledge_subgame(tree, read.average, 1, name, **options)
        if part is None:
            continue
        turn = knowledge.begin_turn(
            1, memory, state, np.zeros(0), before, capacity=8192, frozen=True
        )
        classes = np.asarray(turn.tree.worlds.memory)[turn.roots.node, 0].astype(np.uint64)
        classes = (classes[:, 0] << np.uint64(32)) | classes[:, 1]
        first = [int(np.flatnonzero(turn.roots.klass == j)[0]) for j in range(len(part.classes))]
        order = np.argsort(classes[first])
        np.testing.assert_array_equal(classes[first][order], part.classes)
        np.testing.assert_allclose(turn.roots.alternative[order], part.alternative, atol=1e-6)
        for j in range(len(first)):
            assert turn.roots.weight[turn.roots.klass == j].sum() == pytest.approx(1)
        assert turn.drawn == 0
        few = knowledge.begin_turn(
            1, memory, state, np.zeros(0), before, capacity=8192, frozen=True, most=1
        )
        comes = turn.roots.share.argmax()  # half of it is how likely O comes
        assert len(few.roots.share) == 1
        np.testing.assert_allclose(few.roots.alternative, turn.roots.alternative[comes], atol=1e-6)
        assert turn.roots.share.sum() == pytest.approx(1)
        if checked % 8 == 0:
            check_program(turn)
        checked += 1
    assert checked > 20


def check_program(turn: knowledge.Turn) -> None:
    """Compares the linear program of a turn with PCFR+ by what the gadgets maximise."""
    for gadget in ("resolve", "maxmargin", "both"):
        roots, found = turn.roots._replace(gadget=gadget), []
        for trunk in ("cfr", "lp"):
            solver = knowledge.growing_solver(turn.tree, roots, trunk=trunk)
            solver.iterate(3000)
            read = solver.read()
            found.append(guaranteed(turn, read))
        steady, exact = found
        entered, margin = exact
        if gadget == "resolve" or (gadget == "both" and margin > 1e-6):
            assert entered == pytest.approx(steady[0], abs=2e-3)
            assert entered <= steady[0] + 1e-7
        else:
            assert margin == pytest.approx(steady[1], abs=2e-3)
            assert margin <= steady[1] + 1e-7


def guaranteed(turn: knowledge.Turn, read: knowledge.Read) -> tuple[float, float]:
    """Returns what P's average strategy lets O gain: the mean over classes entered, the most."""
    nodes, roots = knowledge.positions_of(turn.tree), turn.roots
    start = np.zeros(len(nodes.parent))
    start[roots.node] = roots.weight
    answer = knowledge.best_response(nodes, read.average, 1 - roots.player, start=start)
    worth = (2 * roots.player - 1) * knowledge.values_of(nodes, answer)[roots.node]
    gain = np.bincount(roots.klass, roots.weight * worth) - roots.alternative
    return float(roots.share @ np.maximum(gain, 0)), float(gain.max())


def test_a_search_of_everything_finds_the_value():
    game = games.load(KINGS)
    world = first_world(game)
    states = jax.tree.map(lambda x: np.asarray(x)[None], world.state)
    for growth, most, trunk in (  # 912 are all there are
        *(("one_sided", 911, "cfr"), ("deepening", 912, "cfr")),
        ("deepening", 912, "lp"),
    ):
        turn = knowledge.begin_turn(
            0, np.asarray(world.memory[0]), states, np.zeros(1), None, capacity=4096
        )
        effort = knowledge.Effort(seconds=None, rounds=400, iterations=8, last=0.8, batch=8)
        found = knowledge.search_turn(
            game, turn, lambda state: jax.numpy.zeros(()), effort=effort, growth=growth, trunk=trunk
        )
        assert found.value == pytest.approx(0.5, abs=0.02)
        assert found.average.sum() == pytest.approx(1)
        assert found.nodes <= most


def test_another_number_of_positions_compiles_nothing():
    world = first_world(games.load(PAWNS))
    memory = np.asarray(world.memory[0])
    for count in (5, 7):
        states = jax.tree.map(lambda x, n=count: np.stack([np.asarray(x)] * n), world.state)
        with counted(COMPILED) as programs:
            knowledge.begin_turn(0, memory, states, np.zeros(count), None, capacity=64)
    assert not programs


def test_what_makes_no_search_is_refused():
    game = games.load(KINGS)
    world = first_world(game)
    nothing = jax.tree.map(lambda x: np.asarray(x)[None][:0], world.state)
    memory = np.asarray(world.memory[0])
    with pytest.raises(ValueError, match="no position fits"):
        knowledge.begin_turn(0, memory, nothing, np.zeros(0), None, capacity=64)
    one = jax.tree.map(lambda x: np.asarray(x)[None], world.state)
    turn = knowledge.begin_turn(0, memory, one, np.zeros(1), None, capacity=4)
    with pytest.raises(ValueError, match="capacity=4 has no room"):
        knowledge.search_turn(game, turn, lambda state: jax.numpy.zeros(()))
    with pytest.raises(ValueError, match="trunk must be one of cfr, lp, the latter"):
        knowledge.search_turn(game, turn, lambda state: jax.numpy.zeros(()), trunk="lp")
    with pytest.raises(ValueError, match="growth must be one of"):
        knowledge.search_turn(game, turn, lambda state: jax.numpy.zeros(()), growth="all")
    for wrong in ({"seconds": 0.0}, {"rounds": 0}, {"last": 1.0}):
        with pytest.raises(ValueError, match=r"positive|1 or more"):
            knowledge.Effort(**wrong)


@pytest.mark.slow  # searches with a charge and without
def test_actions_that_find_nothing_out_cost_more():
    """Black's king stands on b4 or on c4, which White sees from a4, and not from d2."""
    games_ = [games.load(f"dark_chess(fen={fen}/4/4/R2K_w)") for fen in ("1k2", "2k1")]
    game = games_[0].positions
    states = jax.tree.map(lambda *x: np.stack(x), *(g.positions.init() for g in games_))
    memory = np.asarray(first_world(game).memory[0])
    turn = knowledge.begin_turn(0, memory, states, np.zeros(2), None, capacity=1024)
    plain = knowledge.grow(game, turn.tree, turn.own.astype(np.int32), 512)
    charges = Charges(plain, turn.own, 0, 0.25)
    cost = {game.action_name(0, action): x for action, x in charges.cost.items()}
    assert cost["a1a4"] == pytest.approx(0.125)
    assert cost["d1d2"] == pytest.approx(0.25)
    first, count = charges.added(plain), int(plain.num_nodes)
    below = np.arange(count - 6, count, dtype=np.int32)
    more = charges.added(knowledge.grow(game, first, below, 512), count)
    plain = knowledge.grow(game, plain, below, 512)
    nodes, edge = knowledge.positions_of(plain), np.ones(int(plain.num_nodes))
    paid = knowledge.positions_of(more).value
    leaves = ~np.asarray(plain.opened)[: len(edge)]
    top = np.arange(len(edge))
    while (deep := nodes.parent[nodes.parent[top]] >= 0).any():
        top = np.where(deep, nodes.parent[top], top)
    lost = np.array([charges.cost.get(int(a), 0) for a in nodes.action[top]])
    np.testing.assert_allclose(paid, nodes.value - np.where(leaves, lost, 0), atol=1e-7)
    np.testing.assert_allclose(charges.removed(more).value, plain.value, atol=1e-7)

    effort = knowledge.Effort(seconds=None, rounds=3, iterations=5, batch=8)
    found = knowledge.search_turn(
        game, turn, lambda state: jax.numpy.zeros(()), effort=effort, charge=10
    )
    chosen = int(found.actions[found.policy.argmax()])
    assert charges.cost[chosen] == min(charges.cost.values())
    assert set(np.unique(found.before.tree.value)) <= {-1.0, 0.0, 1.0}
