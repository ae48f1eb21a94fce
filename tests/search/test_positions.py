"""Trees of positions grown from rules, against the same games compiled."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import subgame
from jaxsolve.search import knowledge
from jaxsolve.tree import uniform_policy, with_probabilities

SLOW = pytest.mark.slow  # compilation


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(
    ("name", "capacity", "bound"),
    [
        ("kuhn", 64, 1e-4),
        pytest.param("dark_hex(board_size=2,gameversion=adh)", 512, 1e-4, marks=SLOW),
        pytest.param("leduc", 9_457, 1e-3, marks=SLOW),
        pytest.param("dark_chess(fen=k3/4/2K1/4_w,plies=4)", 1_000, 1e-4, marks=SLOW),
    ],
)
def test_grown_to_the_end_it_is_the_whole_game(name: str, capacity: int, bound: float):
    game = games.load(name)
    compiled = js.compile(game)
    index = subgame.index_of(compiled)
    table = index.table
    grown = knowledge.grow_breadth_first(game, knowledge.start_tree(game, capacity))
    count = int(grown.num_nodes)
    assert not bool(grown.full)
    assert count == table.num_states
    found = knowledge.solve_positions(grown, 1000)
    assert int(found.num_infosets) == sum(compiled.info.num_infosets)
    for mine, theirs in (
        ("parent", table.parent),
        ("action", table.action),
        ("actor", table.actor),
    ):
        assert np.array_equal(np.asarray(getattr(grown, mine))[:count], theirs)
    assert np.asarray(grown.value)[table.terminal] == pytest.approx(table.utility[:, 0])
    behaviour = []
    for player, seat in enumerate(index.seats):
        out = np.full(seat.rows.num_sequences - seat.rows.roots, np.nan)
        chosen = np.flatnonzero(table.actor[np.maximum(table.parent, 0)] == player)
        chosen = chosen[table.parent[chosen] >= 0]
        row = seat.row_at[table.infostate[table.parent[chosen], player]]
        # One infoset of the table is one of the tree.
        numbers = np.asarray(found.infoset)[table.parent[chosen]]
        assert (
            len(np.unique(row)) == len(np.unique(numbers)) == len(np.unique(row * count + numbers))
        )
        rows = seat.rows
        pairs = zip(rows.row_of.tolist(), rows.action.tolist(), strict=True)
        listed = {pair: k for k, pair in enumerate(pairs)}
        took = zip(row.tolist(), table.action[chosen].tolist(), strict=True)
        entry = [listed[pair] for pair in took]
        out[entry] = np.asarray(found.average)[chosen]
        behaviour.append(out)
    policy = with_probabilities(uniform_policy(compiled), behaviour)
    assert js.exploitability(compiled, policy) < bound
    assert abs(float(found.value) - js.solve_lp(compiled).value) < 2 * bound


def test_second_calls_compile_nothing():
    game = games.load("kuhn")
    tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, 64))
    knowledge.solve_positions(tree, 3)
    before = knowledge.solve_positions._cache_size()
    knowledge.solve_positions(knowledge.start_tree(game, 64), 7)
    assert knowledge.solve_positions._cache_size() == before


def test_a_full_tree_says_so_and_holds_whole_nodes():
    game = games.load("kuhn")
    tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, 20))
    assert bool(tree.full)
    parent, count = np.asarray(tree.parent), int(tree.num_nodes)
    children = np.bincount(parent[1:count], minlength=20)
    assert count <= 20
    assert (children[np.asarray(tree.opened)] >= 2).all()
    assert not children[~np.asarray(tree.opened)].any()


def test_what_makes_no_sense_is_refused():
    game = games.load("kuhn")
    with pytest.raises(ValueError, match="capacity=0"):
        knowledge.start_tree(game, 0)
    with pytest.raises(ValueError, match="room=1"):
        knowledge.grow_breadth_first(game, knowledge.start_tree(game, 8), room=1)
