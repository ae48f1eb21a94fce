"""Tic-tac-toe, phantom tic-tac-toe, dark hex and battleship: what the generic tests leave out."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import games
from games.dark_hex import DarkHex
from jaxsolve.game import Game, State
from jaxsolve.testing import random_states, world_states
from jaxsolve.types import NOTHING, TERMINAL


def play(game: Game, *actions: int) -> State:
    state = game.init()
    for action in actions:
        assert game.legal(state)[action]
        state = game.step(state, jnp.int32(action))
    return state


def slow_phantom(
    rows: int, columns: int, line: int, *, classical: bool, counted: bool
) -> tuple[int, tuple[int, int]]:
    """World states and infosets of phantom tic-tac-toe, in plain Python from the rules."""
    places = [(r, c) for r in range(rows) for c in range(columns)]
    lines = [
        {(r + i * down, c + i * right) for i in range(line)}
        for r, c in places
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    infosets: tuple[set, set] = (set(), set())
    states = 0

    def visit(marks: dict, told: tuple[tuple, tuple], turn: int) -> None:
        nonlocal states
        states += 1
        own = {place for place, player in marks.items() if player == 1 - turn}
        if any(cells <= own for cells in lines) or len(marks) == len(places):
            return
        infosets[turn].add(told[turn])
        named = {entry[0] for entry in told[turn]}
        for place in places:
            if place in named:
                continue
            free = place not in marks
            mine = (*told[turn], (place, free))
            other = told[1 - turn]
            if counted and not free and classical:
                other = (*other, ("a failed try",))
            both = (mine, other) if turn == 0 else (other, mine)
            after = {**marks, place: turn} if free else marks
            visit(after, both, turn if classical and not free else 1 - turn)

    visit({}, ((), ()), 0)
    return states, (len(infosets[0]), len(infosets[1]))


@pytest.mark.parametrize("version", ["classical", "abrupt"])
@pytest.mark.parametrize("obstype", ["reveal-nothing", "reveal-numturns"])
@pytest.mark.parametrize(("rows", "columns", "line"), [(2, 3, 2), (1, 5, 3), (4, 1, 2), (2, 2, 2)])
def test_phantom_against_a_slow_walk(rows, columns, line, version, obstype):
    game = games.PhantomTicTacToe(rows, columns, line, version, obstype)
    sample = world_states(game, max_states=30_000)
    found = len(sample.parent), (sample.infosets(0), sample.infosets(1))
    classical, counted = version == "classical", obstype == "reveal-numturns"
    assert found == slow_phantom(rows, columns, line, classical=classical, counted=counted)


@pytest.mark.parametrize("size", [2, 3])
def test_dark_hex_hides_failed_tries(size: int):
    """OpenSpiel's infostates without the move count that they give away."""
    pyspiel = pytest.importorskip("pyspiel")
    game = DarkHex(board_size=size)
    sample = world_states(game) if size == 2 else random_states(game, episodes=100)
    theirs = pyspiel.load_game(f"dark_hex(board_size={size})")
    shown, counted, states = {}, set(), []
    for k, (parent, action) in enumerate(zip(sample.parent, sample.action, strict=True)):
        states.append(theirs.new_initial_state() if parent < 0 else states[parent].child(action))
        state, actor = states[-1], int(sample.actor[k])
        if state.is_terminal():
            assert actor == TERMINAL
            assert sample.utility[k].tolist() == state.returns()
            continue
        assert actor == state.current_player()
        assert np.flatnonzero(sample.legal[k]).tolist() == state.legal_actions()
        text = state.information_state_string(actor)
        *view, _, tries = text.split("\n")
        ours = actor, int(sample.infostate[k, actor])
        assert shown.setdefault((actor, *view, tries), ours) == ours
        counted.add((actor, text))
    assert len(set(shown.values())) == len(shown) < len(counted)
    if size == 2:
        assert (len(shown), len(counted)) == (17 + 53, 33 + 101)


def test_a_failed_try_is_private():
    for game in (DarkHex(), games.PhantomTicTacToe()):
        public, private = game.observe(play(game, 4, 4))  # the second player finds it occupied
        assert public.tolist() == [NOTHING]
        assert private.tolist() == [[NOTHING], [0]]
    public, private = DarkHex(gameversion="adh").observe(play(DarkHex(gameversion="adh"), 4, 4))
    assert public.tolist() == [0]
    assert private.tolist() == [[NOTHING], [0]]
    game = DarkHex(obstype="reveal-numturns")
    assert game.observe(play(game, 4, 4))[0].tolist() == [1]


def test_hex_connections():
    """Player 0 from top to bottom, player 1 from left to right, around a bend."""
    game = DarkHex(gameversion="adh")
    state = play(game, 0, 1, 4, 2, 8)  # cells of the falling diagonal do not touch
    assert game.actor(state) == 1
    state = play(game, 0, 1, 3, 2, 4, 6, 5, 7)
    assert game.actor(state) == 0
    state = play(game, 0, 1, 3, 2, 4, 6, 5, 7, 8)  # x: down, along the middle row, down
    assert game.utility(state).tolist() == [1, -1]
    state = play(game, 0, 6, 1, 4, 8, 2)  # o: 6, 4, 2 up the diagonal
    assert game.utility(state).tolist() == [-1, 1]


def test_battleship_hits_and_sinks():
    game = games.load("battleship(board_width=3,ship_sizes=[2,1],ship_values=[3,1],num_shots=3)")
    placed = (6, 6 + 3, 6 + 5, 6)  # player 0 in cells 0, 1 and 5, player 1 in 3, 4 and 0
    seen = [game.observe(play(game, *placed, *shots))[0].tolist() for shots in ((3,), (3, 2))]
    assert seen == [[3, 2], [2, 1]]  # hit, water
    state = play(game, *placed, 3, 2, 4, 5)
    assert game.observe(state)[0].tolist() == [5, 3]  # sunk
    state = play(game, *placed, 3, 2, 4, 5, 1, 1)
    assert game.actor(state) == TERMINAL
    assert game.utility(state).tolist() == [2, -2]


def test_battleship_leaves_room_for_the_next_ship():
    game = games.Battleship(3, 1, (1, 2), (1, 1), 1)
    assert np.flatnonzero(game.legal(game.init())).tolist() == [3, 5]  # not the middle


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tic_tac_toe(line=4)", "does not fit"),
        ("phantom_ttt(gameversion=blunt)", "classical, abrupt"),
        ("dark_hex(obstype=all)", "reveal-nothing, reveal-numturns"),
        ("dark_hex(num_rows=1)", "num_rows should be a whole number from 2 to 60 or None"),
        ("battleship(ship_sizes=[1,2])", "one entry per ship"),
        ("battleship(num_shots=5)", "allow_repeated_shots"),
        ("battleship(ship_sizes=[3])", "do not fit"),
        (
            "battleship(board_width=9,board_height=9,ship_sizes=[1,1,1],ship_values=[1,1,1])",
            "smaller board",
        ),
    ],
)
def test_bad_parameters(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        games.load(text)
