"""Knowledge-limited subgames in which nothing stays fixed, against closed forms and KLSS."""

from __future__ import annotations

from typing import Any

import jax
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame
from jaxsolve.tree import uniform_policy


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def test_kuhn_frees_every_answer_against_the_two_hands():
    """After a pass and a bet, with the jack: O holds queen or king, P any card that this leaves.

    Against the king P folds everything, for -1 instead of the -3/2 of uniform answers. That margin
    of 1/2 is the least: against the queen, folding the jack and calling with the king gives up to
    (-1 + 2) / 2 instead of -1/2.
    """
    tree = js.compile(games.load("kuhn"))
    index = subgame.index_of(tree)
    jack = next(r for r in range(6) if tree.info.label(0, r) == "J|p|b")
    start = [subgame.probabilities(index, uniform_policy(tree), i) for i in (0, 1)]
    limited = subgame.subgame_roots(index, 0, [jack], 1)
    where = subgame.unfrozen(index, limited)
    assert len(limited.own) == 1
    assert len(where.own) == 3
    assert where.classes.tolist() == limited.classes.tolist()
    assert len(where.top) == 4  # JQ, KQ, JK, QK
    base = subgame.base_of(index, 0, start[0], start[1])
    built = subgame.build(index, where, base, subgame.GadgetOptions())
    core = built.core
    # P passes half of the time, and each of two deals has probability 1/6.
    assert core.weight == pytest.approx([1 / 6, 1 / 6])
    assert core.whole == pytest.approx(core.weight)
    alternative = built.alternative / core.weight
    assert sorted(alternative) == pytest.approx([-1.5, -0.5])
    found = subgame.solve_forest(built.gadget.form, "lp", unit=built.unit)
    rows = index.seats[0].rows
    odds = dict(zip(core.source[0].tolist(), found.behaviour, strict=True))
    call = {tree.info.label(0, r)[0]: odds[int(rows.offset[r]) - rows.roots + 1] for r in (3, 4, 5)}
    assert call["J"] == pytest.approx(0, abs=1e-9)
    assert call["Q"] == pytest.approx(0, abs=1e-9)
    assert call["K"] >= 2 / 3 - 1e-9  # (-1 + 3 call - 1) / 2 + 1/2 is at least 1/2
    margins = core.class_values(found.behaviour) / core.weight - alternative
    assert margins.min() == pytest.approx(0.5)


def test_full_knowledge_leaves_nothing_to_freeze():
    """With an order so large that a knowledge set is common, both kinds are one subgame."""
    tree = js.compile(games.load("kuhn"))
    options: dict[str, Any] = {"players": 0, "knowledge": 99, "solver": "pcfr+", "target": 1e-7}
    frozen, free = (
        search.nested(tree, uniform_policy(tree), frozen=f, **options) for f in (True, False)
    )
    assert free.worst_case[0] == pytest.approx(frozen.worst_case[0], abs=1e-6)
    assert free.solved == frozen.solved
    assert frozen.worst_case[0] > frozen.blueprint_worst_case[0] + 0.1


@pytest.mark.slow  # a hundred linear programs, and compilation
def test_small_board_of_dark_chess():
    """King against king: exact whichever is used; 1/2 is the value of the game."""
    tree = js.compile(games.load("dark_chess(fen=k3/4/2K1/4_w,plies=4)"))
    for frozen in (True, False):
        found = search.nested(tree, uniform_policy(tree), players=0, frozen=frozen)
        assert found.worst_case[0] == pytest.approx(0.5, abs=1e-7)
        assert found.blueprint_worst_case[0] < 0.4


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"knowledge": "common"}, "nothing is frozen"),
        ({"safety": "write-back"}, "everywhere"),
        ({"reach": "exact"}, "neither reach"),
        ({"merge_transpositions": True}, "nor merge"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], match: str):
    tree = js.compile(games.load("kuhn"))
    with pytest.raises(ValueError, match=match):
        search.nested(tree, uniform_policy(tree), players=0, frozen=False, **options)
