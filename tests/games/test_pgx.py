"""Games of pgx as rules: the same tic-tac-toe as ours, and what is refused."""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.game import Seen, load, load_pgx
from jaxsolve.game._pgx import CHANCE, GAMES, HIDDEN
from jaxsolve.testing import check_game, random_states
from jaxsolve.types import TERMINAL

pgx = pytest.importorskip("pgx", reason="pgx (extra `pgx`) is what is imported")

SMALL = ("tic_tac_toe", "connect_four", "hex", "othello")


@pytest.mark.slow
def test_same_tic_tac_toe_as_ours():
    """Random games of ours, played move by move with pgx's rules."""
    ours, theirs = games.load("tic_tac_toe"), load("pgx:tic_tac_toe")
    sample = random_states(ours, episodes=200, seed=1)
    look = jax.jit(
        jax.vmap(lambda s: (theirs.actor(s), theirs.legal(s), theirs.utility(s), theirs.observe(s)))
    )
    step = jax.jit(jax.vmap(theirs.step))
    assert theirs.num_actions == ours.num_actions
    depth = np.zeros(len(sample.parent), int)
    for k in np.flatnonzero(sample.parent >= 0):
        depth[k] = depth[sample.parent[k]] + 1
    states = jax.tree.map(lambda x: np.asarray(x)[None], theirs.init())
    rows = np.flatnonzero(depth == 0)
    for d in range(10):
        actor, legal, utility, (public, private) = look(states)
        over = sample.actor[rows] == TERMINAL
        np.testing.assert_array_equal(actor, sample.actor[rows])
        np.testing.assert_array_equal(legal, sample.legal[rows])
        np.testing.assert_array_equal(utility[over], sample.utility[rows][over])
        np.testing.assert_array_equal(public, sample.public[rows])
        assert private.shape == (len(rows), 2, 0)
        after = np.flatnonzero(depth == d + 1)
        if not len(after):
            break
        at = np.searchsorted(rows, sample.parent[after])
        states = step(jax.tree.map(lambda x, at=at: x[at], states), sample.action[after])
        rows = after
    assert d == 9  # somebody filled the board


@pytest.mark.parametrize("name", few(SMALL, next(iter(SMALL)).__eq__))
def test_keeps_the_promises_of_a_game(name: str):
    game = load(f"pgx:{name}")
    assert game.name == f"pgx:{name}"
    report = check_game(game, episodes=10, max_steps=150)
    assert report.zero_sum
    assert report.utility_range == (-1, 1)
    features = game.public_features(game.init())
    assert features.ndim == 1
    assert features.dtype == jnp.zeros(0, float).dtype


@pytest.mark.slow  # large rules compile for long
@pytest.mark.parametrize(
    "name",
    [
        "go(size=3)",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("go_9x9", "animal_shogi", "gardner_chess")
        ),
    ],
)
def test_larger_games_keep_them(name: str):
    assert check_game(load(f"pgx:{name}"), episodes=3).zero_sum


@pytest.mark.long  # minutes of compiling
@pytest.mark.timeout(900)
def test_chess_keeps_them():
    assert check_game(load("pgx:chess"), episodes=1).zero_sum


@pytest.mark.slow  # a minute of compiling
@pytest.mark.timeout(900)
def test_shogi_is_played_in_turns():
    game = load("pgx:shogi")
    look = jax.jit(lambda s: (game.actor(s), game.legal(s), game.observe(s)[0]))
    state, step, played = game.init(), jax.jit(game.step), -1
    for turn in range(20):
        actor, legal, last = look(state)
        assert int(actor) == turn % 2
        assert int(last[0]) == played
        played = int(np.random.default_rng(turn).choice(np.flatnonzero(legal)))
        state = step(state, jnp.int32(played))


def test_the_first_player_is_player_0():
    for name in ("tic_tac_toe", "hex", "othello"):
        game = load(f"pgx:{name}")
        state = game.init()
        assert int(game.actor(state)) == 0
        state = game.step(state, jnp.argmax(game.legal(state)))
        assert int(game.actor(state)) == 1
    game = load("pgx:tic_tac_toe")
    state = game.init()
    for cell in (0, 3, 1, 4, 2):
        state = game.step(state, jnp.int32(cell))
    assert game.utility(state).tolist() == [1, -1]
    assert not game.legal(state).any()


def test_rules_do_not_depend_on_the_width_of_numbers():
    """The compiler counts chance in 64 bits, where pgx's own functions fail."""
    game = load("pgx:othello")
    outcomes = []
    for wide in (False, True):
        with jax.enable_x64(wide):
            state, step = game.init(), jax.jit(game.step)
            for _ in range(10):
                state = step(state, jnp.argmax(game.legal(state)))
            outcomes.append(jax.tree.map(np.asarray, state))
    for a, b in zip(*map(jax.tree.leaves, outcomes), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_loads_once():
    assert load("pgx:hex") is load(" pgx:hex ")
    assert hash(load("pgx:go(size=4)")) != hash(load("pgx:go(size=5)"))
    assert load("pgx:go(size=4)").num_actions == 17


@pytest.mark.slow
def test_search_plays_connect_four():
    """Three in a column and a free cell above: the search takes it."""
    game = load("pgx:connect_four")
    world = search.first_world(game)
    for column in (3, 0, 3, 0, 3, 6):
        world = search.next_world(game, world, jnp.int32(column))
    root, _ = search.ismcts(
        game, search.certain(world), jax.random.key(0), simulations=100, uct_c=1.0, max_steps=42
    )
    assert root.policy("max_visits")[3] == 1
    assert root.values[3] == 1


@pytest.mark.slow  # half a million states
def test_compiles():
    tree = js.compile("pgx:tic_tac_toe")
    assert tree.info.num_states == 549946
    assert float(js.solve_lp(js.compile("pgx:go(size=2,max_terminal_steps=5)")).value) == (
        pytest.approx(-1)  # five moves win no territory worth the komi of 7.5
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_information_is_refused(name: str):
    with pytest.raises(ValueError, match="hidden information"):
        load(f"pgx:{name}")


@pytest.mark.parametrize("name", CHANCE)
def test_chance_inside_steps_is_refused(name: str):
    with pytest.raises(ValueError, match="chance"):
        load(f"pgx:{name}")


def test_every_game_of_pgx_is_known():
    assert {*pgx.available_envs()} <= {*GAMES, *HIDDEN, *CHANCE}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pgx:tictactoe", "Did you mean 'tic_tac_toe'"),
        ("pgx:hex(size=4)", "has no parameters"),
        ("pgx:go(komis=4)", "komi=7.5"),
        ("pgx:go(size=1)", "from 2 to 19"),
        ("pgx:go(5)", "expected key=value"),
        ("pgx:go(komi=black)", "must be a number"),
        ("pgx:", "expected a pgx game name"),
    ],
)
def test_bad_strings(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        load(text)


def test_says_how_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pgx", None)
    with pytest.raises(ImportError, match=r'pip install "jaxsolve\[pgx\]"'):
        load_pgx("go(size=7)")


def test_boards_are_drawn_from_the_moves():
    def moves(*played: int) -> list[Seen]:
        return [Seen(-1, np.array([move]), np.zeros(0, int)) for move in (-1, *played)]

    drawn = load("pgx:tic_tac_toe").situation(1, moves(4, 0))
    assert drawn.splitlines() == ["you are o", "o 1 2", "3 x 5", "6 7 8"]
    drawn = load("pgx:connect_four").situation(0, moves(3, 3, 2))
    assert drawn.splitlines()[-2:] == [". . . o . . .", ". . x x . . ."]
    assert load("pgx:hex").situation(0, moves(7)) == "you are player 0; moves so far: 7"
