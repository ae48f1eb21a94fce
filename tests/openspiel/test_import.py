"""Games of OpenSpiel as trees: sizes, values, names, and what is refused."""

from __future__ import annotations

import builtins
import dataclasses
import sys

import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.compiler import _watch
from jaxsolve.compiler._openspiel_size import far_too_large
from jaxsolve.game import OpenSpielGame, load, load_openspiel, wrap_openspiel

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is what is imported")

BATTLESHIP = (
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
    "allow_repeated_shots=False)"
)

SAME = {
    "kuhn_poker": "kuhn",
    "leduc_poker": "leduc",
    "liars_dice(dice_sides=3)": "liars_dice(sides=3)",
    "goofspiel(num_cards=3,imp_info=true)": "goofspiel(cards=3)",
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)": (
        "goofspiel(cards=4,order=descending)"
    ),
    BATTLESHIP: "battleship(allow_repeated_shots=false)",
    "dark_hex(board_size=2,gameversion=adh)": "dark_hex(board_size=2,gameversion=adh)",
    "oshi_zumo(coins=3,size=1,horizon=4)": "oshi_zumo(coins=3,size=1,horizon=4)",
    "matrix_rps": "matrix",
    "python_kuhn_poker": "kuhn",
}
"""Games that both have."""


@pytest.mark.parametrize(
    ("theirs", "ours"), few(SAME.items(), lambda pair: pair[0] in ("kuhn_poker", "matrix_rps"))
)
def test_same_game_as_from_rules(theirs: str, ours: str):
    imported, compiled = js.compile(f"openspiel:{theirs}"), js.compile(games.load(ours))
    if ours != "matrix":  # one state for a joint action there, one after the other here
        assert imported.info.num_states == compiled.info.num_states
    if "adh" not in ours:  # OpenSpiel counts moves in the strings of dark hex
        assert imported.info.num_infosets == compiled.info.num_infosets
    assert imported.info.utility_sum == 0
    assert js.solve_lp(imported).value == pytest.approx(js.solve_lp(compiled).value, abs=1e-8)


def test_known_values():
    assert js.solve_lp(js.compile("openspiel:kuhn_poker")).value == pytest.approx(-1 / 18)
    assert js.solve_lp(js.compile("openspiel:matrix_rps")).value == pytest.approx(0, abs=1e-9)
    # A second player who saw the first one's choice would win every round.
    assert js.solve_lp(js.compile("openspiel:matrix_mp")).value == pytest.approx(0, abs=1e-9)


def test_large_game_has_the_known_size():
    tree = js.compile("openspiel:liars_dice(dice_sides=5)")
    assert tree.info.num_states == 51_181
    assert tree.info.num_infosets == (2560, 2560)


def test_names():
    tree = js.compile("openspiel:leduc_poker")
    info = tree.info
    assert info.name == "openspiel:leduc_poker"
    assert info.labels[0][0] == (
        "[Observer: 0][Private: 0][Round 1][Player: 0][Pot: 2][Money: 99 99][Round1: ][Round2: ]"
    )
    assert [info.action_name(0, a) for a in range(3)] == ["Fold", "Call", "Raise"]
    assert info.action_name(-1, 4) == "Chance outcome:4"
    policy = js.uniform_policy(tree)
    assert policy[info.labels[1][0]] == {"Call": 0.5, "Raise": 0.5}


def test_strings_of_several_lines_become_one():
    labels = js.compile("openspiel:goofspiel(num_cards=3,imp_info=true)").info.labels[0]
    assert not any("\n" in name for name in labels)
    assert len(set(labels)) == len(labels)
    assert labels[0].startswith("Current player: 0 / P0 hand: 1 2 3 / ")


def test_actions_with_one_name_for_two_ids_are_told_apart():
    """A matrix whose rows are called alike."""
    game = pyspiel.create_matrix_game(
        "same", "Same", ["a", "a"], ["l", "r"], [[1, -1], [-1, 1]], [[-1, 1], [1, -1]]
    )
    tree = js.compile(game)
    assert [tree.info.action_name(0, a) for a in (0, 1)] == ["a #0", "a #1"]
    assert js.solve_lp(tree).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("text", ["kuhn_poker", "goofspiel(num_cards=3)", BATTLESHIP])
def test_the_name_loads_the_game_again(text: str):
    game = load(f"openspiel:{text}")
    assert isinstance(game, OpenSpielGame)
    again = load(game.name)
    assert again == game
    assert str(again.spiel) == str(game.spiel)


def test_accepts_objects():
    first = js.compile("openspiel:kuhn_poker")
    for game in (pyspiel.load_game("kuhn_poker"), load_openspiel(" kuhn_poker ")):
        assert js.compile(game).info.name == first.info.name
    assert js.compile(pyspiel.load_game("matrix_rps")).info.num_infosets == (1, 1)
    turns = pyspiel.load_game_as_turn_based("matrix_rps")
    assert wrap_openspiel(turns).num_players == 2


def test_three_players():
    tree = js.compile("openspiel:kuhn_poker(players=3)")
    assert tree.info.num_infosets == (16, 16, 16)
    result = js.solve(tree, js.cfr_plus(), iterations=300, progress=False)
    assert js.nash_conv(tree, result.average) < 0.01
    assert js.compile("openspiel:matching_pennies_3p").info.utility_sum is None


def test_perfect_information_without_information_states():
    """Histories are the infostates; every state is a public state."""
    tree = js.compile("openspiel:breakthrough(rows=3,columns=2)")
    assert tree.info.num_public_states == tree.info.num_states == 69
    assert abs(js.solve_lp(tree).value) == pytest.approx(1)


def test_stochastic_simultaneous_game():
    tree = js.compile("openspiel:goofspiel(num_cards=3,imp_info=true,points_order=random)")
    assert js.solve_lp(tree).value == pytest.approx(0, abs=1e-9)


def test_solving():
    tree = js.compile(f"openspiel:{BATTLESHIP}")
    result = js.solve(tree, js.pcfr_plus(), iterations=500, progress=False)
    assert js.exploitability(tree, result.average) < 1e-3
    assert js.expected_values(tree, result.average)[0] == pytest.approx(0.125, abs=1e-3)


REFUSED = {
    "leduc_pokr": ["cannot load 'leduc_pokr'", "Unknown game", "Did you mean 'leduc_poker'"],
    "zzz": ["cannot load 'zzz'", "Unknown game", "leduc_poker"],
    "leduc_poker(plaers=3)": ["Unknown parameter 'plaers'", "players"],
    "leduc_poker(players=77)": ["OpenSpiel says", "77"],
    "leduc_poker(": ["OpenSpiel says: Missing closing bracket"],
    "liars_dice_ir": ["imperfect recall", "information state: P1 1 2-3", "one path: chance:Roll 1"],
    "phantom_ttt_ir": ["player 0 has imperfect recall", r"P0 xox\noxo\n.x."],
    "goofspiel(num_cards=4)": ["imperfect recall", "Win sequence"],
    "mfg_garnet": ["mean-field"],
    "2048": ["one player"],
    "markov_soccer": ["one player after the other", "no information states"],
    "dark_chess": ["no information states"],
    "negotiation": ["samples its chance moves"],
}


@pytest.mark.parametrize(("text", "parts"), REFUSED.items())
def test_refused(text: str, parts: list[str]):
    with pytest.raises(ValueError, match=r".") as caught:
        js.compile(f"openspiel:{text}")
    for part in parts:
        assert part in str(caught.value)


def test_payoffs_of_general_sum_are_kept():
    """In the prisoners' dilemma both defect; what needs a zero sum refuses the tree."""
    tree = js.compile("openspiel:matrix_pd")
    assert tree.info.utility_sum is None
    pairs = np.sort(tree.info.states.utility, 0)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(pairs, [[0, 0], [1, 1], [5, 5], [10, 10]])
    result = js.solve(tree, "pcfr+", iterations=50, measure_every=50, progress=False)
    np.testing.assert_allclose(result.values, [1, 1], atol=1e-3)
    assert js.nash_conv(tree, result.average) < 1e-3
    with pytest.raises(ValueError, match="sum"):
        js.solve_lp(tree)


def test_an_error_of_openspiel_is_passed_on():
    game = load("openspiel:breakthrough(rows=3,columns=2)")
    with pytest.raises(ValueError, match=r"state 1 of the walk.*InformationStateString is not"):
        js.compile(dataclasses.replace(game, by_history=False))


def test_too_many_states():
    with pytest.raises(
        ValueError,
        match=r"at least 1,00\d world states, over the limit of "
        r"max_states=1,000\. .* GiB",
    ):
        js.compile("openspiel:leduc_poker", max_states=1000)
    assert js.compile("openspiel:leduc_poker", max_states=9457).info.num_states == 9457
    with pytest.raises(ValueError, match="at least 9,457 world states"):
        js.compile("openspiel:leduc_poker", max_states=9456)


@pytest.mark.parametrize("text", ["bridge", "chess"])
def test_games_that_are_far_too_large_are_refused_early(text: str):
    with pytest.raises(ValueError, match=r"far more world states .* max_states=2,000,000"):
        js.compile(f"openspiel:{text}")


@pytest.mark.parametrize("text", ["leduc_poker", "liars_dice", "goofspiel(num_cards=4)"])
def test_games_are_not_called_far_too_large_without_need(text: str):
    # The estimate is unbiased: no limit near the true size, or somewhat below it, sets it off.
    assert not far_too_large(load(f"openspiel:{text}").spiel, 1_000)


def test_has_no_rules():
    tree = js.compile("openspiel:kuhn_poker")
    game = tree.info.game
    for call in (
        game.init,
        lambda: game.actor(0),
        lambda: game.legal(0),
        lambda: game.chance(0),
        lambda: game.step(0, 0),
        lambda: game.observe(0),
        lambda: game.utility(0),
    ):
        with pytest.raises(ValueError, match="comes from OpenSpiel as a tree, not as JAX rules"):
            call()
    with pytest.raises(ValueError, match="not as JAX rules"):
        js.compile("openspiel:kuhn_poker", layout="hands")


def test_without_openspiel(monkeypatch: pytest.MonkeyPatch):
    plain = builtins.__import__

    def without(name: str, *args, **kwargs):
        if name == "pyspiel":
            raise ImportError("No module named 'pyspiel'")
        return plain(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "pyspiel")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "jaxsolve\[openspiel\]"'):
        js.compile("openspiel:kuhn_poker")


def test_equal_strings_of_states_that_differ_in_actions():
    """Two states with one information state and other legal actions: the strings lie."""
    game = pyspiel.load_efg_game(OTHER_ACTIONS)
    with pytest.raises(ValueError, match="other legal actions") as caught:
        js.compile(game)
    assert "one path: p0:L" in str(caught.value)
    assert "another:  p0:R" in str(caught.value)


OTHER_ACTIONS = """EFG 2 R "lies" { "A" "B" } ""
p "" 1 1 "" { "L" "R" } 0
p "" 2 1 "" { "l" "r" } 0
t "" 1 "" { 1.0 -1.0 }
t "" 2 "" { -1.0 1.0 }
p "" 2 1 "" { "l" "r" "m" } 0
t "" 3 "" { 1.0 -1.0 }
t "" 4 "" { -1.0 1.0 }
t "" 5 "" { 0.0 0.0 }
"""


def test_constant_sum_is_accepted():
    """Payoffs that sum to 3 everywhere."""
    row = np.array([[1.0, 2.0], [3.0, 0.0]])
    game = pyspiel.create_matrix_game(row.tolist(), (3 - row).tolist())
    tree = js.compile(game)
    assert tree.info.utility_sum == 3
    assert js.solve_lp(tree).value == pytest.approx(1.5)


def test_states_that_fill_the_memory_end_in_a_sentence(monkeypatch: pytest.MonkeyPatch):
    """Few states, but each with the strings of all moves before it."""
    monkeypatch.setattr(_watch, "MEMORY_SHARE", 1e-3)
    with pytest.raises(MemoryError, match=r"listing [\d,]+ world states took .* GiB; the limit is"):
        js.compile("openspiel:oshi_zumo(coins=3,size=1)")
