"""Public states: every infoset within one, a tree, and the finest one where nothing is public."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.compiler._components import public_components
from jaxsolve.compiler._openspiel import enumerate_openspiel
from jaxsolve.compiler._openspiel_ids import infostate_ids
from jaxsolve.compiler._walker import enumerate_states
from jaxsolve.game import load
from jaxsolve.testing import check_game
from jaxsolve.tree._states import StateTable
from jaxsolve.types import TERMINAL

BATTLESHIP = (
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=1,"
    "allow_repeated_shots=False)"
)

IMPORTED = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=2)",
    "goofspiel(num_cards=3,imp_info=true)",
    "dark_hex(board_size=2)",
    "dark_hex(board_size=2,gameversion=adh)",
    BATTLESHIP,
    "coordinated_mp",
    "matrix_rps",
    "mnk(m=2,n=2,k=2)",
]


@dataclasses.dataclass(frozen=True)
class NothingPublic:
    """A game in which everybody is told in private what was public."""

    game: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.game, name)

    def action_name(self, actor: int, action: int) -> str:  # 3.12 wants a method
        return self.game.action_name(actor, action)

    def observe(self, state: Any) -> tuple[Any, Any]:
        public, private = self.game.observe(state)
        told = jnp.broadcast_to(public, (self.game.num_players, len(public)))
        return jnp.zeros(0, jnp.int32), jnp.concatenate([told, private], 1)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        assert len(public) == 0
        split = len(self.game.observe(self.game.init())[0])
        return self.game.observation_name(private[:split], private[split:])


def imported(text: str) -> StateTable:
    pytest.importorskip("pyspiel")
    return enumerate_openspiel(load(f"openspiel:{text}"), max_states=100_000)


def depth_of(table: StateTable) -> np.ndarray:
    return np.repeat(np.arange(len(table.depth_start) - 1), np.diff(table.depth_start))


def check(table: StateTable) -> None:
    """What every table must satisfy, by plain loops."""
    public, parents = table.public.tolist(), table.public_states.parent.tolist()
    for state, up in enumerate(table.parent.tolist()):
        if up < 0:
            assert (public[state], parents[0]) == (0, -1)
        elif public[up] != public[state]:
            assert parents[public[state]] == public[up]
    for i, states in enumerate(table.infostates):
        place: dict[int, int] = {}
        acts: dict[int, bool] = {}
        for state, infostate in enumerate(table.infostate[:, i].tolist()):
            assert place.setdefault(infostate, public[state]) == public[state]
            if table.actor[state] != TERMINAL:
                turn = bool(table.actor[state] == i)
                assert acts.setdefault(infostate, turn) == turn
            up = int(table.parent[state])
            if up >= 0 and table.infostate[up, i] != infostate:
                own = table.action[state] if table.actor[up] == i else -1
                assert states.parent[infostate] == table.infostate[up, i]
                assert states.action[infostate] == own
        assert len(states.parent) == len(place)
        assert (states.parent < np.arange(len(place))).all()


@pytest.mark.parametrize("text", IMPORTED)
def test_imported(text: str):
    check(imported(text))


@pytest.mark.parametrize("text", IMPORTED)
def test_decisions_are_openspiels_information_states(text: str):
    table = imported(text)
    for i, states in enumerate(table.infostates):
        turn = table.actor == i
        ids = np.unique(table.infostate[turn, i])
        assert len({states.key[k] for k in ids}) == len(ids)


def test_observed_and_unobserved():
    assert len(imported("kuhn_poker").public_states.parent) == 11
    ours = enumerate_states(games.load("kuhn"))
    np.testing.assert_array_equal(imported("kuhn_poker").public, ours.public)
    # Each tie in the first round is known to both, so it is public which it was.
    table = imported("goofspiel(num_cards=3,imp_info=true,points_order=descending)")
    assert (table.public[np.flatnonzero(depth_of(table) == 3)] >= 0).all()
    assert len(np.unique(table.public[depth_of(table) == 3])) == 5


def slow_components(table: StateTable) -> list[int]:
    """The same partition, merged pair by pair until nothing changes."""
    x = table.num_states
    label, parent = list(range(x)), table.parent.tolist()

    def merge(a: int, b: int) -> bool:
        keep, drop = sorted((label[a], label[b]))
        if keep == drop:
            return False
        for k in range(x):
            if label[k] == drop:
                label[k] = keep
        return True

    for i in range(table.infostate.shape[1]):
        for a, b in itertools.combinations(range(x), 2):
            if table.infostate[a, i] == table.infostate[b, i]:
                merge(a, b)
    changed = True
    while changed:
        changed = False
        entered: dict[int, int] = {}
        for k in range(1, x):
            if label[k] != label[parent[k]]:
                changed |= merge(parent[k], entered.setdefault(label[k], parent[k]))
        follows = {(label[parent[k]], label[k]) for k in range(1, x)}
        for mid, a, b in itertools.product(sorted(set(label)), repeat=3):
            if (a, mid) in follows and (mid, b) in follows:
                follows.add((a, b))
        for a, b in itertools.combinations(sorted(set(label)), 2):
            if {(a, b), (b, a)} <= follows and {a, b} <= set(label):
                changed |= merge(label.index(a), label.index(b))
    first: dict[int, int] = {}
    return [first.setdefault(label[k], len(first)) for k in range(x)]


def random_table(seed: int, hidden: bool) -> StateTable:
    """A small random tree with random infostates, which need not make sense as a game."""
    rng = np.random.default_rng(seed)
    parent, depth = [-1], [0]
    while len(parent) < 24:
        up = len(parent) - 1 - int(rng.integers(min(len(parent), 6)))
        parent.append(up)
        depth.append(depth[up] + 1)
    order = np.argsort(depth, kind="stable")
    place = np.argsort(order)
    parent = np.array([-1, *(place[parent[k]] for k in order[1:])], np.int32)
    depth = np.array(depth)[order]
    shared = (
        rng.integers(0, 9, size=(24, 2))
        if hidden
        else 100 * depth[:, None] + rng.integers(0, 3, size=(24, 2))
    )
    table = enumerate_states(games.load("matching_pennies"))
    return dataclasses.replace(
        table,
        parent=parent,
        infostate=shared,
    )


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_components_against_slow_merging(seed: int, hidden: bool):
    table = random_table(seed, hidden)
    fast = public_components(table.parent, table.infostate)
    assert fast.tolist() == slow_components(table)


@pytest.mark.parametrize("text", ["blotto(coins=2)", "coordinated_mp", "matrix_mp", "kuhn_poker"])
def test_components_of_games_against_slow_merging(text: str):
    table = imported(text)
    fast = public_components(table.parent, table.infostate)
    assert fast.tolist() == slow_components(table)


@pytest.mark.parametrize(
    "text",
    [
        "kuhn",
        pytest.param("leduc(suits=1)", marks=pytest.mark.slow),  # half a minute to compile
        pytest.param("liars_dice(sides=2)", marks=pytest.mark.slow),
        pytest.param("dark_hex(board_size=2)", marks=pytest.mark.slow),
    ],
)
def test_rules_without_public_observations(text: str):
    game = games.load(text)
    told, hidden = enumerate_states(game), enumerate_states(NothingPublic(game))
    check(hidden)
    assert hidden.public_states.observation.shape == (len(hidden.public_states.parent), 0)
    for i in range(2):  # the same decisions, whatever is public
        turn = told.actor == i
        pairs = np.unique(np.stack([told.infostate[turn, i], hidden.infostate[turn, i]]), axis=1)
        assert pairs.shape[1] == len(np.unique(pairs[0])) == len(np.unique(pairs[1]))
    pairs = np.unique(np.stack([hidden.public, told.public]), axis=1).shape[1]
    if text == "kuhn":  # nothing is known to both but what was public
        assert pairs == len(hidden.public_states.parent) == len(told.public_states.parent)
    if text == "leduc(suits=1)":  # of three cards, the board leaves two: both know the deal
        assert pairs == len(hidden.public_states.parent) > len(told.public_states.parent)
    tree, other = js.compile(NothingPublic(game)), js.compile(game)
    assert tree.info.labels == other.info.labels
    assert js.solve_lp(tree).value == pytest.approx(js.solve_lp(other).value, abs=1e-8)


def test_hidden_moves_are_not_counted_in_public():
    """Whose turn it is, is public in dark hex; how often they tried is not."""
    hidden = enumerate_states(NothingPublic(games.load("dark_hex(board_size=2)")))
    assert len(hidden.public_states.parent) == 8


def test_hidden_rules_are_rules():
    check_game(NothingPublic(games.load("kuhn")))


def test_waiting_time_is_no_information():
    """A player waits one move or two under one string, then has one infostate."""
    # 0: player 1 moves; 1: player 0 (after a), 2: player 1 again (after b); 3: player 0; ends.
    parent = np.array([-1, 0, 0, 1, 2, 4])
    action = np.array([-1, 0, 1, 0, 0, 0])
    actor = np.array([1, 0, 1, TERMINAL, 0, TERMINAL])
    start = np.array([0, 1, 3, 5, 6])
    text = np.array([0, 0, 0, 1, 0, 1])
    ids = infostate_ids(parent, action, actor, start, text, 0)
    assert ids[1] == ids[4] != ids[0] == ids[2]


def test_strings_that_split_an_infoset_while_waiting_are_left_out():
    """Player 0 is shown player 1's move, but not any more when it is their turn."""
    parent = np.array([-1, 0, 0, 1, 2, 3, 4])
    action = np.array([-1, 0, 1, 0, 0, 0, 0])
    actor = np.array([1, -1, -1, 0, 0, TERMINAL, TERMINAL])
    start = np.array([0, 1, 3, 5, 7])
    text = np.array([0, 1, 2, 3, 3, 4, 4])
    ids = infostate_ids(parent, action, actor, start, text, 0)
    assert ids.tolist() == [0, 0, 0, 1, 1, 2, 2]
