"""Tables 1 and 2 of Zhang & Sandholm 2021, in the ranges that their optimal solutions span."""

from __future__ import annotations

import time

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import search, subgame

SLOW = pytest.mark.slow(reason="hundreds to thousands of linear programs")

TABLE_1 = [
    # game, largest payoff, action with a floor, blueprint, least and largest afterwards
    ("dark_hex(board_size=2,gameversion=adh)", 1, None, 0.068359, 0.0208, 0.0625),
    ("goofspiel(order=ascending)", 1, None, 0.171158, 0, 0.0019),
    ("kuhn", 2, None, 0.012401, 0.00149, 0.00496),
    ("kuhn", 2, "bet", 0.003472, 0, 0.00347),
    ("matching_pennies", 1, None, 0.001295, 0.00978, 0.00978),
    pytest.param("leduc", 13, None, 0.020730, 0.0188, 0.0194, marks=SLOW),
    pytest.param("leduc", 13, "fold", 0.006458, 0.0052, 0.0057, marks=SLOW),
    pytest.param("leduc", 13, "raise", 0.009733, 0.0087, 0.0100, marks=SLOW),
    pytest.param("goofspiel", 1, None, 0.171830, 0.0744, 0.0782, marks=SLOW),
    pytest.param(*("liars_dice(sides=5)", 1, None, 0.180980, 0.123, 0.137), marks=pytest.mark.long),
]


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def decimals(bound: float) -> int:
    """Digits after the point that a bound is printed with."""
    return len(f"{bound:.6f}".rstrip("0").split(".")[1])


@pytest.mark.parametrize(("game", "unit", "action", "weak", "least", "most"), TABLE_1)
def test_table_1(game: str, unit: int, action: str | None, weak: float, least: float, most: float):
    """Knowledge-limited re-solving of blueprints: what the paper's table says, to its digits."""
    tree = js.compile(games.load(game))
    value = js.solve_lp(tree).value
    blueprint = search.lp_blueprint(tree, epsilon=0.25, action=action, player=0)
    floor = blueprint.floors[0]
    if game == "kuhn" and action == "bet":  # the paper's: only where nobody has bet
        blueprint, floor = kuhn_bet(tree)
    assert (value - blueprint.values[0]) / unit == pytest.approx(weak, abs=6e-7)
    result = search.nested(tree, blueprint.policy, players=0, floor=floor)
    after = (value - result.worst_case[0]) / unit
    digits = max(decimals(least), decimals(most))
    assert least <= round(after, digits) <= most


def kuhn_bet(tree: js.PublicTree) -> tuple[search.FlooredBlueprint, np.ndarray]:
    """The blueprint whose bets have a floor where nobody has bet, and that floor."""
    rows = tree.info.form.rows[0]
    opens = np.array(["b" not in tree.info.label(0, int(r)) for r in rows.row_of])
    floor = np.where(opens, subgame.action_floor(tree, 0.25, action="bet"), 0)
    return search.lp_blueprint(tree, floors=(floor, None)), floor


TABLE_2 = [
    ("kuhn", (2.50, 3.50, 4.00, 4.00, 4.00)),
    ("goofspiel(order=ascending)", (5.83, 9.05, 9.31, 9.32, 9.32)),
    ("matching_pennies", (3.63, 4.29, 4.93, 5.57, 35.97)),
    pytest.param("leduc", (6.14, 14.71, 15.40, 15.40, 15.40), marks=SLOW),
    pytest.param("liars_dice(sides=5)", (7, 15, 15, 15, 15), marks=SLOW),
    pytest.param("goofspiel", (5.84, 8.90, 9.19, 9.20, 9.20), marks=SLOW),
]


@pytest.mark.parametrize(("game", "sizes"), TABLE_2)
def test_table_2(game: str, sizes: tuple[float, ...]):
    tree = js.compile(games.load(game))
    found = subgame.knowledge_sizes(tree, [1, 2, 3, 4, float("inf")])
    np.testing.assert_allclose(np.round(found, 2), sizes, atol=1e-9)


@SLOW
def test_common_knowledge_beats_limited_knowledge_on_leduc():
    tree = js.compile(games.load("leduc"))
    blueprint = search.lp_blueprint(tree, epsilon=0.25, player=0)
    options = {"players": 0, "floor": blueprint.floors[0]}
    limited = search.nested(tree, blueprint.policy, knowledge=1, **options)
    common = search.nested(tree, blueprint.policy, knowledge="common", **options)
    assert common.worst_case[0] > limited.worst_case[0] > blueprint.values[0]


@SLOW
def test_an_equilibrium_of_leduc_is_not_ruined():
    """eps = 0: at most .0003 afterwards, the spec's figure for Leduc."""
    tree = js.compile(games.load("leduc"))
    exact = js.solve_lp(tree)
    result = search.nested(tree, exact.policy, players=0)
    assert (exact.value - result.worst_case[0]) / 13 <= 0.0003


@pytest.mark.slow(reason="936 subgames, twenty seconds of processor time")
def test_all_subgames_of_leduc_in_one_run():
    """Both players' 1-KLSS subgames, compilation included, in twenty seconds of processor time."""
    with jax.enable_x64(False):
        tree = js.compile(games.load("leduc"))
        blueprint = search.lp_blueprint(tree, epsilon=0.25).policy
        begin = time.process_time()
        parts = [
            subgame.klss(tree, blueprint, np.concatenate(subgame.levels(tree, player=i)), player=i)
            for i in range(2)
        ]
        solutions = subgame.solve_subgames(parts, "pcfr+", target=1e-5 * 13)
        assert time.process_time() - begin < 20
    assert sum(len(s.gap) for s in solutions) == 936
    assert max(s.gap.max() for s in solutions) <= 1e-5 * 13
