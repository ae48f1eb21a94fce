"""Our rules and OpenSpiel's, walked in lockstep: the same tree with the same numbers.

Every reference with an OpenSpiel string, and further settings, is compared state by state: who
acts, legal actions, chance probabilities, returns, and which states share an infostate.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from few import few

import games
from jaxsolve.testing import Sample, random_states, world_states
from jaxsolve.types import CHANCE, TERMINAL

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")

WALKED = 30_000
"""World states up to which the whole tree is walked; random playthroughs beyond."""

FURTHER = {
    "kuhn(players=4)": "kuhn_poker(players=4)",
    "leduc(players=3)": "leduc_poker(players=3)",
    "leduc(players=5)": "leduc_poker(players=5)",
    "liars_dice(sides=3,dice=3)": "liars_dice(dice_sides=3,numdice=3)",
    "goofspiel(imp_info=false)": "goofspiel(num_cards=4,imp_info=false)",
    "goofspiel(cards=2)": "goofspiel(num_cards=2,imp_info=true)",
    "goofspiel(cards=13)": "goofspiel(num_cards=13,imp_info=true)",
    "goofspiel(cards=7,order=ascending,returns=point_difference)": (
        "goofspiel(num_cards=7,imp_info=true,points_order=ascending,returns_type=point_difference)"
    ),
    "goofspiel(cards=8,order=descending)": (
        "goofspiel(num_cards=8,imp_info=true,points_order=descending)"
    ),
    "phantom_ttt": "phantom_ttt",
    "phantom_ttt(obstype=reveal-numturns)": "phantom_ttt(obstype=reveal-numturns)",
    "phantom_ttt(gameversion=abrupt)": "phantom_ttt(gameversion=abrupt)",
    "dark_hex(gameversion=adh)": "dark_hex(gameversion=adh)",
    "dark_hex(num_rows=2,num_cols=4,gameversion=adh)": (
        "dark_hex(num_rows=2,num_cols=4,gameversion=adh)"
    ),
    "dark_hex(obstype=reveal-numturns)": "dark_hex(obstype=reveal-numturns)",
    "battleship(allow_repeated_shots=true,loss_multiplier=2)": (
        "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
        "loss_multiplier=2.0)"
    ),
    "battleship(board_width=3,ship_sizes=[2,3],ship_values=[1,2.5],num_shots=4)": (
        "battleship(board_width=3,board_height=2,ship_sizes=[2;3],ship_values=[1;2.5],num_shots=4,"
        "allow_repeated_shots=false)"
    ),
    "oshi_zumo": "oshi_zumo",
    "oshi_zumo(coins=20,min_bid=3,alesia=true)": "oshi_zumo(coins=20,min_bid=3,alesia=true)",
    "blotto(coins=3,fields=3,players=3)": "blotto(coins=3,fields=3,players=3)",
    "tic_tac_toe(rows=4,columns=5,line=4)": "mnk(m=5,n=4,k=4)",
}
"""Settings without a reference row, because they are large."""

FINER = {
    # OpenSpiel's string tells which bids were made, but not in which trick.
    "goofspiel(imp_info=false)",
}
"""Games whose infostates remember more than OpenSpiel's strings do."""


def pairs() -> dict[str, str]:
    """Game strings, ours to OpenSpiel's."""
    table = {}
    for name, entry in games.GAMES.items():
        for reference in entry.references:
            if reference.openspiel:
                table[games.load(f"{name}({reference.params})").name] = reference.openspiel
    return table | FURTHER


def references() -> list[tuple[str, int, tuple[int, ...]]]:
    """(game string, states, infosets) of the references small enough to be walked."""
    rows = []
    for name, entry in games.GAMES.items():
        for row in entry.references:
            if row.states <= WALKED:
                text = games.load(f"{name}({row.params})").name
                rows.append((text, row.states, row.infosets))
    return rows


@functools.cache
def explore(text: str) -> Sample:
    """The whole tree of a small game, random playthroughs of a large one."""
    game = games.load(text)
    try:
        return world_states(game, max_states=WALKED)
    except ValueError:
        return random_states(game, episodes=30)


@pytest.mark.parametrize(
    ("text", "states", "infosets"), few(references(), lambda row: row[1] < 100)
)
def test_sizes(text: str, states: int, infosets: tuple[int, ...]):
    game, sample = games.load(text), explore(text)
    assert len(sample.parent) == states
    assert tuple(sample.infosets(i) for i in range(game.num_players)) == infosets


@pytest.mark.parametrize(
    ("text", "openspiel"), few(pairs().items(), lambda pair: "(" not in pair[0])
)
def test_lockstep(text: str, openspiel: str):
    game, sample = games.load(text), explore(text)
    theirs = pyspiel.load_game_as_turn_based(openspiel)
    assert theirs.num_players() == game.num_players
    named = theirs.get_type().provides_information_state_string
    to_theirs: dict[tuple[int, int], str] = {}
    to_ours: dict[tuple[int, str], int] = {}
    states = []
    for k, (parent, action) in enumerate(zip(sample.parent, sample.action, strict=True)):
        state = theirs.new_initial_state() if parent < 0 else states[parent].child(int(action))
        states.append(state)
        actor = int(sample.actor[k])
        at = f"{text} after {state.history()}"
        if state.is_terminal():
            assert actor == TERMINAL, at
            np.testing.assert_allclose(sample.utility[k], state.returns(), rtol=1e-6, err_msg=at)
            continue
        legal = np.flatnonzero(sample.legal[k])
        assert legal.tolist() == sorted(state.legal_actions()), at
        if state.is_chance_node():
            assert actor == CHANCE, at
            outcomes, probabilities = zip(*sorted(state.chance_outcomes()), strict=True)
            assert legal.tolist() == list(outcomes), at
            np.testing.assert_allclose(sample.chance[k, legal], probabilities, rtol=1e-6)
            continue
        assert actor == state.current_player(), at
        if named:
            ours, string = int(sample.infostate[k, actor]), state.information_state_string(actor)
            assert to_theirs.setdefault((actor, ours), string) == string, at
            if text not in FINER:
                assert to_ours.setdefault((actor, string), ours) == ours, at
