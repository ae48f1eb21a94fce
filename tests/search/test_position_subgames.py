"""Knowledge-limited subgames of grown trees, against those of the same games compiled."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.search import knowledge
from jaxsolve.tree import uniform_policy, with_probabilities

SLOW = pytest.mark.slow  # compilation, and many subgames


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


class Both:
    """A game compiled and grown to its end, with one blueprint for both."""

    def __init__(self, name: str, seed: int = 0):
        game = games.load(name)
        self.compiled = js.compile(game)
        self.index = index = subgame.index_of(self.compiled)
        table = index.table
        size = 1 << (table.num_states - 1).bit_length()
        self.tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, size))
        assert int(self.tree.num_nodes) == table.num_states
        rng, behaviour = np.random.default_rng(seed), []
        nodes = knowledge.positions_of(self.tree)
        self.edge = nodes.odds.copy()
        for player, seat in enumerate(index.seats):
            rows = seat.rows
            weight = rng.exponential(size=len(rows.action))
            total = np.bincount(rows.row_of, weight, rows.num_rows)
            behaviour.append(weight / total[rows.row_of])
            chosen = np.flatnonzero(nodes.chooser == player)
            row = seat.row_at[table.infostate[nodes.parent[chosen], player]]
            listed = {
                pair: k
                for k, pair in enumerate(
                    zip(rows.row_of.tolist(), rows.action.tolist(), strict=True)
                )
            }
            took = zip(row.tolist(), nodes.action[chosen].tolist(), strict=True)
            self.edge[chosen] = behaviour[-1][[listed[pair] for pair in took]]
        self.policy = with_probabilities(uniform_policy(self.compiled), behaviour)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"gadget": "resolve"},
    {"gadget": "unsafe"},
    {"knowledge": 3},
    {"frozen": False},
    {"frozen": False, "gadget": "resolve"},
    {"alternative": "estimate"},
    {"reach": "exact"},
    {"reach": "estimate", "alternative": "estimate"},
]
"""What subgames may be."""

LARGER = (
    "dark_hex(board_size=2,gameversion=adh)",
    "phantom_ttt(rows=2,columns=3,line=2)",
    "leduc",
    "dark_chess(fen=k3/4/2K1/4_w,plies=4)",
    "dark_chess(fen=3k/2pp/PP2/K3_w,plies=3,at_cap=material)",
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_composed_play_in_kuhn_is_that_of_the_compiled_game(options: dict[str, Any]):
    solved, listed = check("kuhn", options)
    assert solved == listed


@SLOW
@pytest.mark.parametrize("name", LARGER)
def test_composed_play_in_larger_games_is_that_of_the_compiled_game(name: str):
    """With frozen play; what a free one comes to depends on which of its optima is found."""
    solved, listed = check(name, {})
    assert sum(solved) == sum(listed)


def test_what_makes_no_subgame_is_refused():
    both = Both("kuhn")
    nodes = knowledge.positions_of(both.tree)
    own = nodes.memory[nodes.actor == 0, 0][0]

    def cut(**options: Any) -> None:
        knowledge.knowledge_subgame(both.tree, both.edge, 0, own, **options)

    for options, words in (
        ({"gadget": "none"}, "gadget must be one of unsafe, resolve, maxmargin"),
        ({"knowledge": 2}, "odd number"),
        ({"alternative": "none"}, "one of exact, estimate"),
        ({"capacity": 4}, "capacity=4: this subgame has"),
        ({"frozen": False, "reach": "exact"}, "goes without reach"),
    ):
        with pytest.raises(ValueError, match=words):
            cut(**options)
    with pytest.raises(ValueError, match="has no infostate"):
        knowledge.knowledge_subgame(both.tree, both.edge, 0, 1)
    with pytest.raises(ValueError, match="edge has shape"):
        knowledge.knowledge_subgame(both.tree, both.edge[:3], 0, own)


def test_searches_that_look_ahead():
    """Kings, White to move; the game is worth .5 to White, who has to see that."""
    game = games.load("dark_chess(fen=k3/4/2K1/4_w,plies=4)")
    tree = knowledge.grow_breadth_first(game, knowledge.start_tree(game, 1024))
    nodes = knowledge.positions_of(tree)
    width = np.bincount(nodes.parent[1:], minlength=len(nodes.parent))
    edge = np.where(nodes.chooser >= 0, 1 / np.maximum(nodes.above(width), 1), nodes.odds)
    leaf = np.zeros(len(edge))

    def played(look_ahead: int, values: np.ndarray | None = leaf, **options: Any) -> float:
        found = knowledge.nested_positions(
            tree, edge, 0, look_ahead=look_ahead, leaf=values, iterations=400, **options
        )
        return found.worst_case

    assert played(4) == pytest.approx(0.5, abs=2e-3)
    assert played(3) == pytest.approx(0.5, abs=2e-3)
    assert knowledge.worst_case(nodes, edge, 0) < played(2) < 0.4
    assert played(4, gadget="unsafe") <= 0.5 + 1e-6
    for wrong, words in (
        ((0, leaf), "look_ahead=0: a search sees at least 1 edge"),
        ((2, None), "look_ahead needs a leaf value for each of 912 nodes"),
        ((1, leaf), "ends above the infostate"),
    ):
        with pytest.raises(ValueError, match=words):
            played(*wrong)


def check(
    name: str, options: dict[str, Any], iterations: int = 300
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Compares composed play of both after as many iterations of the same algorithm.

    Returns:
        (solved, skipped) of both. Which infosets are reached may depend on ties.
    """
    both = Both(name)
    listed = search.nested(
        both.compiled,
        both.policy,
        players=0,
        solver="pcfr+",
        iterations=iterations,
        measure_every=iterations,
        target=0.0,
        **options,
    )
    grown = knowledge.nested_positions(both.tree, both.edge, 0, iterations=iterations, **options)
    assert grown.blueprint_worst_case == pytest.approx(listed.blueprint_worst_case[0], abs=1e-9)
    assert grown.worst_case == pytest.approx(listed.worst_case[0], abs=1e-4)
    assert abs(grown.worst_case - grown.blueprint_worst_case) > 1e-3
    return (grown.solved, grown.skipped), (listed.solved, listed.skipped)
