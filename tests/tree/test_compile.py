"""The compiler against a plain walk of the rules: infosets, public states, order, names, errors."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from few import few
from hypothesis import given, settings
from random_games import random_games

import games
import jaxsolve as js
from jaxsolve.game import Game
from jaxsolve.testing import RandomGame, RandomTables, random_game
from jaxsolve.testing._random_game import NODES
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

WALKED = [
    "kuhn",
    "kuhn(players=3)",
    "leduc(suits=1)",
    "liars_dice(sides=2)",
    "goofspiel(cards=3)",
    "coin_toss",
    "rps_plus",
    "matching_pennies(numbers=4)",
    "dark_hex(board_size=2)",
    "tic_tac_toe(rows=2,columns=2,line=2)",
]


def decoded(tree: Any, player: int) -> list[oracle.Seen]:
    """What the player saw and did before each infoset, from the tables of the tree."""
    info = tree.info.players[player]
    out = []
    for at in info.infostate:
        seen: list[Any] = []
        while at >= 0:
            shown = tuple(info.states.observation[at].tolist())
            own = int(info.states.action[at])
            if own >= 0 or any(x != NOTHING for x in shown):
                seen.append((own, shown))
            at = info.states.parent[at]
        out.append(tuple(reversed(seen)))
    return out


def assert_same_game(game: Game) -> None:
    """Compares the compiled tree with the oracle's walk: sizes, infosets, their order, actions."""
    tree, reference = js.compile(game), oracle.walk(game)
    info = tree.info
    assert info.num_states == reference.num_states
    assert info.num_infosets == tuple(len(sets) for sets in reference.infosets)
    assert info.num_public_states == len(reference.public_states)
    for i, sets in enumerate(reference.infosets):
        assert decoded(tree, i) == [infoset.seen for infoset in sets]
        offset, action = info.players[i].offset, info.players[i].action
        for k, infoset in enumerate(sets):
            assert tuple(action[offset[k] : offset[k + 1]]) == infoset.actions
    np.testing.assert_allclose(
        js.expected_values(tree, js.uniform_policy(tree)),
        oracle.values(reference, oracle.uniform(reference)),
        atol=1e-5,
    )


@pytest.mark.parametrize("text", few(WALKED, lambda text: text in list(WALKED)[:4]))
def test_same_as_a_plain_walk(text: str):
    assert_same_game(games.load(text))


@settings(max_examples=12)
@given(game=random_games())
@pytest.mark.slow
def test_random_games_as_a_plain_walk(game: RandomGame):
    assert_same_game(game)


@settings(max_examples=5)
@given(game=random_games(players=3, zero_sum=False))
def test_random_games_of_three_players(game: RandomGame):
    assert_same_game(game)


def test_liars_dice_with_six_sides():
    tree = js.compile(games.load("liars_dice"))
    print(f"liars_dice: {tree.info.num_states:,} states in {tree.info.build_seconds:.1f} s")
    assert tree.info.num_states == 294_883
    assert tree.info.num_infosets == (12_288, 12_288)


def test_compiling_again_gives_the_same_tensors():
    game = games.load("leduc(suits=1)")
    first, second = js.compile(game), js.compile(game)
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(a, b)


def test_hidden_moves_at_other_depths_keep_the_infoset():
    """Player 1 acts after one or after two hidden moves of player 0, and cannot tell which."""
    game = _drawn(
        {  # node: (actor, menu, children)
            0: (0, (0, 1), (1, 2)),
            1: (0, (0, 1), (3, 4)),
            2: (1, (0, 1), (5, 6)),
            3: (1, (0, 1), (7, 8)),
            4: (1, (0, 1), (9, 10)),
        }
    )
    info = js.compile(game).info
    assert info.num_states == 11
    assert info.num_infosets == (2, 1)
    assert_same_game(game)


def test_names_of_infosets():
    info = js.compile(games.load("kuhn")).info
    assert set(info.labels[0]) == {"J", "Q", "K", "J|p|b", "Q|p|b", "K|p|b"}
    assert set(info.labels[1]) == {f"{card}|{move}" for card in "JQK" for move in "pb"}
    policy = js.uniform_policy(js.compile(games.load("kuhn")))
    assert policy["Q|p|b"] == {"pass": 0.5, "bet": 0.5}
    with pytest.raises(KeyError, match=r"no infoset is called 'A'"):
        policy["A"]


@pytest.mark.parametrize("text", ["leduc(suits=1)", "liars_dice(sides=2)", "goofspiel(cards=3)"])
def test_names_differ(text: str):
    for names in js.compile(games.load(text)).info.labels:
        assert len(set(names)) == len(names)


# --- Rules that are refused -----------------------------------------------------------------------


class State(NamedTuple):
    coin: Array  # int32 [], -1 before the flip
    guesses: Array  # int32 [2], -1 before the guess


@dataclasses.dataclass(frozen=True)
class Toy:
    """Chance flips a coin that only player 0 sees; both guess it, one after the other."""

    name = "toy"
    num_players = 2
    num_actions = 2

    def init(self):
        return State(jnp.int32(-1), jnp.full(2, -1, jnp.int32))

    def actor(self, state):
        guessed = (state.guesses >= 0).sum()
        player = jnp.where(guessed == 2, TERMINAL, guessed)
        return jnp.where(state.coin < 0, CHANCE, player).astype(jnp.int32)

    def legal(self, state):
        return jnp.full(2, self.actor(state) != TERMINAL)

    def chance(self, state):
        return jnp.array([0.5, 0.5])

    def step(self, state, action):
        mine = jnp.arange(2) == self.actor(state)
        return State(
            coin=jnp.where(state.coin < 0, action, state.coin).astype(jnp.int32),
            guesses=jnp.where(mine, action, state.guesses).astype(jnp.int32),
        )

    def observe(self, state):
        guessed = (state.guesses >= 0).sum()
        public = jnp.where(guessed > 0, guessed, NOTHING)
        first = jnp.where(guessed == 0, state.coin, NOTHING)
        return public[None], jnp.stack([first, jnp.int32(NOTHING)])[:, None]

    def utility(self, state):
        right = (state.guesses == state.coin).astype(float)
        return right - right[::-1]


class HiddenTurn(Toy):
    def observe(self, state):
        public, private = super().observe(state)
        return jnp.full_like(public, NOTHING), private


class LeaksByLegal(Toy):
    def legal(self, state):
        only = (jnp.arange(2) == state.coin) | (self.actor(state) != 1)
        return super().legal(state) & only


class HalfChance(Toy):
    def chance(self, state):
        return jnp.array([0.25, 0.25])


class NaNChance(Toy):
    def chance(self, state):
        return jnp.array([0.5, jnp.nan])


class ImpossibleOutcome(Toy):
    def chance(self, state):
        return jnp.array([0.0, 1.0])


class InfiniteUtility(Toy):
    def utility(self, state):
        return super().utility(state) / 0


class Stuck(Toy):
    def legal(self, state):
        return jnp.full(2, self.actor(state) == CHANCE)


class ThirdPlayer(Toy):
    def actor(self, state):
        actor = super().actor(state)
        return jnp.where(actor == 1, 2, actor)


class Endless(Toy):
    def step(self, state, action):
        after = super().step(state, action)
        return after._replace(guesses=after.guesses.at[1].set(-1))

    def observe(self, state):
        public, private = super().observe(state)
        return public + 2, private


FLIPPED = r"path: chance:0\n  state: State\(coin=0, guesses=\[-1, -1\]\)"
GUESSED = r"path: chance:\d, p0:\d\n  state: State\(coin=\d, guesses=\[\d, -1\]\)"
REFUSED = {
    HiddenTurn: rf"player 1 cannot tell whether it is their turn.*observe\(\).*{GUESSED}",
    LeaksByLegal: rf"player 1 has other legal actions .*observe\(\) show the difference.*{GUESSED}",
    HalfChance: r"sum to 0.5, not 1.*path: \(initial state\)\n  state: State\(coin=-1",
    NaNChance: r"sum to nan, not 1.*path: \(initial state\)",
    ImpossibleOutcome: r"legal\(\) at a chance state must be True.*path: \(initial state\)",
    InfiniteUtility: r"utility\(\) returned .*(inf|nan).*path: chance:0, p0:0, p1:0\n  state: S",
    Stuck: rf"no action is legal, but the state is not terminal.*{FLIPPED}",
    ThirdPlayer: rf"actor\(\) returned 2.*{GUESSED}",
    Endless: r"has at least 1,\d\d\d world states .*max_states=1,000.*GiB.*smaller parameters",
}


@pytest.mark.parametrize(("broken", "message"), REFUSED.items(), ids=[b.__name__ for b in REFUSED])
def test_refuses(broken: type[Toy], message: str):
    with pytest.raises(ValueError, match=f"(?s)^toy:? .*{message}"):
        js.compile(broken(), max_states=1000)


def test_accepts_as_many_states_as_allowed():
    assert js.compile(Toy(), max_states=15).info.num_states == 15
    with pytest.raises(ValueError, match="max_states=14"):
        js.compile(Toy(), max_states=14)


def test_refuses_an_unknown_layout():
    with pytest.raises(ValueError, match="layout should be one of rows, hands, not 'columns'"):
        js.compile(Toy(), layout="columns")


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (games.load("kuhn(players=3)"), "3 players; the hand layout needs 2"),
        (games.load("goofspiel(cards=3)"), "the first deal is not private"),
        (games.load("rps_plus"), 'hidden.*layout="rows"'),
    ],
)
def test_refuses_to_share_hands_that_are_not_shared(game: Game, message: str):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        js.compile(game, layout="hands")


def _drawn(nodes: dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]]) -> RandomGame:
    """Returns a game drawn by hand: only turns are shown, every other node ends the game."""
    blank = random_game(0, depth=1, silence=1.0).tables
    tables = RandomTables(
        child=np.full_like(blank.child, -1),
        actor=np.full(NODES, TERMINAL, np.int32),
        chance=np.zeros_like(blank.chance),
        public=np.full_like(blank.public, NOTHING),
        private=np.full_like(blank.private, NOTHING),
        utility=np.zeros_like(blank.utility),
    )
    for node, (actor, menu, children) in nodes.items():
        tables.actor[node] = actor
        tables.child[node, list(menu)] = children
        tables.private[node, actor, 0] = 0
    first = np.arange(NODES) % 3 - 1.0
    return RandomGame(2, tables._replace(utility=np.stack([first, -first], 1)), "drawn")
