"""`check_game` accepts every registered game, and names what is wrong with a broken one."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
from jaxsolve.game import HasPublicFeatures
from jaxsolve.testing import check_game, playthrough, random_states, world_states
from jaxsolve.testing._sample import Explorer
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

SMALL = {
    "battleship": "battleship(ship_sizes=[1],ship_values=[1],num_shots=2)",
    "dark_chess": "dark_chess(fen=k3/4/2K1/4_w,plies=4)",
    "holdem": "holdem(stack=6,blinds=[1,2],streets=2,sizes=[1],ranks=7,suits=1)",
    "scotland_yard": "scotland_yard",
}


@pytest.mark.parametrize("name", few(games.GAMES, {"kuhn", "goofspiel", "dark_hex"}.__contains__))
def test_every_game_has_public_features(name: str) -> None:
    """They are the same in all world states of a public state, and tell some apart."""
    game = games.load(SMALL.get(name, name))
    assert isinstance(game, HasPublicFeatures)
    explorer = Explorer(game)
    explorer.start()
    explorer.expand_all(300)
    explorer.start()
    explorer.play(10, 0, 1000)
    sample = explorer.sample()
    features = np.asarray(jax.jit(jax.vmap(game.public_features))(sample.states))
    assert np.isfinite(features).all()
    assert np.abs(features).max() <= 2
    acts = sample.actor >= 0
    keys = sample.public_state[acts]
    first = np.unique(keys, return_index=True)[1][np.unique(keys, return_inverse=True)[1]]
    np.testing.assert_array_equal(features[acts], features[acts][first])


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


class MissingUtility(Toy):
    utility = None


class NoPlayers(Toy):
    num_players = 0


class PythonBranch(Toy):
    def actor(self, state):
        if state.coin < 0:
            return jnp.int32(CHANCE)
        return super().actor(state)


class ChangesDtype(Toy):
    def step(self, state, action):
        return super().step(state, action)._replace(coin=jnp.float32(0))


class ChangesStructure(Toy):
    def step(self, state, action):
        return tuple(super().step(state, action))


class ShortLegal(Toy):
    def legal(self, state):
        return super().legal(state)[:1]


class IntegerLegal(Toy):
    def legal(self, state):
        return super().legal(state).astype(jnp.int32)


class OneUtility(Toy):
    def utility(self, state):
        return super().utility(state)[0]


class UnsignedObservation(Toy):
    def observe(self, state):
        public, private = super().observe(state)
        return public.astype(jnp.uint8), private


class FlatPrivate(Toy):
    def observe(self, state):
        public, private = super().observe(state)
        return public, private[:, 0]


class OnlyPublic(Toy):
    def observe(self, state):
        return super().observe(state)[0]


class ThirdPlayer(Toy):
    def actor(self, state):
        actor = super().actor(state)
        return jnp.where(actor == 1, 2, actor)


class Stuck(Toy):
    def legal(self, state):
        return jnp.full(2, self.actor(state) == CHANCE)


class MovesAfterTheEnd(Toy):
    def legal(self, state):
        return jnp.full(2, True)


class NegativeChance(Toy):
    def chance(self, state):
        return jnp.array([1.5, -0.5])


class HalfChance(Toy):
    def chance(self, state):
        return jnp.array([0.25, 0.25])


class ImpossibleOutcome(Toy):
    def chance(self, state):
        return jnp.array([0.0, 1.0])


class InfiniteUtility(Toy):
    def utility(self, state):
        return super().utility(state) / 0


class MinusTwo(Toy):
    def observe(self, state):
        public, private = super().observe(state)
        return public, private - 1


class Silent(Toy):
    def observe(self, state):
        public, private = super().observe(state)
        return jnp.full_like(public, NOTHING), private


class LeaksByLegal(Toy):
    def legal(self, state):
        only = (jnp.arange(2) == state.coin) | (self.actor(state) != 1)
        return super().legal(state) & only


class Endless(Toy):
    def step(self, state, action):
        after = super().step(state, action)
        return after._replace(guesses=after.guesses.at[1].set(-1))

    def observe(self, state):
        public, private = super().observe(state)
        return public + 2, private


class Counts(Toy):
    calls = np.zeros(1, np.int32)

    def step(self, state, action):
        self.calls[0] += 1
        return super().step(state, action)._replace(coin=jnp.int32(self.calls[0]))


BROKEN = {
    MissingUtility: "lacks utility. A game has the methods",
    NoPlayers: "num_players must be a positive int, not 0",
    PythonBranch: r"actor\(\) cannot be traced.*Use jnp.where",
    ChangesDtype: r"changes coin from int32\[\].*to float32\[\].*astype\(jnp.int32\)",
    ChangesStructure: r"step\(\) must return the structure that init\(\) returned.*State",
    ShortLegal: r"legal\(\) must be bool\[2\].*not bool\[1\]",
    IntegerLegal: r"legal\(\) must be bool\[2\].*not int32\[2\]",
    OneUtility: r"utility\(\) must be float\[2\].*not float32\[\]",
    UnsignedObservation: r"the public observation must be int32\[1\].*not uint8\[1\]",
    FlatPrivate: r"the private observations must be int32\[2, m\].*not int32\[2\]",
    OnlyPublic: r"must return a pair \(public, private\)",
    ThirdPlayer: r"actor\(\) returned 2.*player 0\.\.1.*after: chance",
    Stuck: r"no action is legal for player 0, but the game is not over.*after: chance 0",
    MovesAfterTheEnd: r"actions \[0 1\] are legal in a terminal state.*return all False",
    NegativeChance: r"chance\(\) returned \[ ?1.5 -0.5\].*not negative",
    HalfChance: r"chance\(\) sums to 0.5, not to 1.*the initial state",
    ImpossibleOutcome: r"positive for \[1\], but legal\(\) allows \[0 1\]",
    InfiniteUtility: r"utility\(\) returned .*(inf|nan).*coin: 0",
    MinusTwo: r"private \[\[-2\], \[-2\]\].*Entries must be 0 or larger",
    Silent: r"player 1 cannot notice that it is their turn.*in which .* acts.*the other state",
    LeaksByLegal: r"player 1 may do \[1\] here but \[0\] in another state.*the other state",
    Endless: r"not over after max_steps=50 actions.*Let actor\(\) return TERMINAL",
    Counts: r"gives .* when called alone, but gave .*The rules must be pure",
}
"""Each rule broken in one way, and what the message has to say."""


def test_accepts_the_toy():
    report = check_game(Toy())
    assert report.zero_sum
    assert report.public_turns
    assert report.longest == 3
    assert report.utility_range == (-1, 1)


@pytest.mark.parametrize(
    ("broken", "message"), BROKEN.items(), ids=[broken.__name__ for broken in BROKEN]
)
def test_rejects(broken: type[Toy], message: str):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        check_game(broken(), episodes=20, max_steps=50)


@pytest.mark.parametrize(
    "name", few(games.GAMES, lambda name: name not in ("dark_chess", "holdem"))
)
def test_registered_games(name: str):
    smallest = min(games.GAMES[name].references, key=lambda reference: reference.states)
    game = games.load(f"{name}({smallest.params})")
    report = check_game(game, episodes=50)
    assert report.public_turns, "whose turn it is should be public"
    assert report.longest > 0


@pytest.mark.parametrize("name", games.GAMES)
def test_name_loads_the_same_game(name: str):
    for reference in games.GAMES[name].references:
        game = games.load(f"{name}({reference.params})")
        assert games.load(game.name) == game


@pytest.mark.parametrize("name", games.GAMES)
def test_tracing_in_64_bits_leaves_nothing_behind(name: str):
    """JAX remembers how a numpy array was traced, so tables of rules need dtypes of their own."""
    smallest = min(games.GAMES[name].references, key=lambda reference: reference.states)
    game = games.load(f"{name}({smallest.params})")

    def rules(action):
        state = game.step(game.init(), action)
        return state, game.actor(state), game.legal(state), game.chance(state), game.observe(state)

    for wide in (True, False):
        with jax.enable_x64(wide):
            jax.eval_shape(rules, jax.ShapeDtypeStruct((), jnp.int32))


def test_world_states_refuses_a_larger_game():
    with pytest.raises(ValueError, match="more than max_states=10 world states"):
        world_states(Toy(), max_states=10)


def test_random_states_follow_the_rules():
    everything, some = world_states(Toy()), random_states(Toy(), episodes=200)
    assert len(everything.parent) == 1 + 2 + 4 + 8
    assert everything.infosets(0) == some.infosets(0) == 2
    assert everything.infosets(1) == some.infosets(1) == 1


def test_playthrough_of_an_endless_game():
    with pytest.raises(ValueError, match="not over after max_steps=5"):
        playthrough(Endless(), max_steps=5)
