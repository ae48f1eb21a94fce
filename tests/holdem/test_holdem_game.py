"""The game of hold'em: promises of the protocol, OpenSpiel in lockstep, golden playthroughs.

`python tests/holdem/test_holdem_game.py` writes the playthroughs of large settings anew after
rules were changed on purpose; those of the small ones are with the other games'.
"""

from __future__ import annotations

import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import OPTIMISED
from few import few

import games
import jaxsolve as js
from games.holdem import CALL, RAISE, Holdem, State
from jaxsolve import holdem
from jaxsolve.testing import check_game, playthrough, random_states, world_states
from jaxsolve.types import CHANCE, TERMINAL

GOLDEN = pathlib.Path(__file__).parent / "golden"

TINY = "holdem(stack=6,blinds=[1,2],streets=2,sizes=[1],ranks=7,suits=1)"
PAIRS = "holdem(stack=3,blinds=[1,2],streets=2,sizes=[1],ranks=4,suits=2)"
LIMIT = "holdem(blinds=[1,2],streets=2,limit=[2,4],raises=[1,1],ranks=7,suits=1)"
LARGE = {
    "hunl.txt": "holdem",
    "nlfh.txt": "holdem(streets=2,sizes=[0.33,0.75,1.5])",
    "three_players.txt": "holdem(players=3,stack=[300,120,500],ante=5)",
    "six_max.txt": "holdem(players=6,stack=10000)",
    "fixed_limit.txt": "holdem(blinds=[5,10],limit=[10,10,20,20],raises=[3,4,4,4])",
}


@pytest.mark.parametrize(
    "text",
    [
        TINY,
        LIMIT,
        *(pytest.param(t, marks=pytest.mark.slow) for t in ("holdem", LARGE["three_players.txt"])),
    ],
)
def test_keeps_the_promises_of_the_protocol(text: str):
    game = games.load(text)
    report = check_game(game, episodes=30)
    assert report.zero_sum
    assert report.public_turns
    assert games.load(game.name) == game


@pytest.mark.parametrize(("file", "text"), few(LARGE.items(), lambda pair: pair[0] == "hunl.txt"))
def test_playthrough(file: str, text: str):
    assert playthrough(games.load(text), seed=1) == (GOLDEN / file).read_text()


def universal_poker(game: Holdem) -> Any:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    n, rules = game.players, game.rules
    parameters = {
        "betting": "nolimit" if game.limit is None else "limit",
        "numPlayers": n,
        "numRounds": game.streets,
        "blind": " ".join(map(str, rules.blinds)),
        "firstPlayer": " ".join(str(seat + 1) for seat in rules.first),
        "numSuits": game.suits,
        "numRanks": game.ranks,
        "numHoleCards": 2,
        "numBoardCards": " ".join(["0", "3", "1", "1"][: game.streets]),
        "stack": " ".join([str(game.stack)] * n),
    }
    if game.limit is None:
        parameters["bettingAbstraction"] = "fullgame"
    else:
        parameters["raiseSize"] = " ".join(map(str, game.limit))
        parameters["maxRaises"] = " ".join(map(str, game.raises or ()))
    text = ",".join(f"{key}={value}" for key, value in parameters.items())
    return pyspiel.load_game(f"universal_poker({text})")


@pytest.mark.parametrize(
    "text",
    [
        TINY,
        PAIRS,
        LIMIT,
        "holdem",
        pytest.param("holdem(stack=700,sizes=[0.33,0.75,1.5])", marks=pytest.mark.slow),
        pytest.param("holdem(streets=3,stack=2000,ranks=8)", marks=pytest.mark.slow),
        pytest.param("holdem(players=3,stack=1500)", marks=pytest.mark.slow),
        "holdem(players=4,stack=5000,limit=[100,100,200,200],raises=[3,4,4,4])",
        LARGE["fixed_limit.txt"],
    ],
)
def test_lockstep_with_openspiel(text: str):
    """Ours is a subset of their tree: fewer orders of the deal, fewer sizes of raises.

    Stacks of fixed-limit games are deep, as OpenSpiel lets players there spend more than they have.
    """
    game = games.load(text)
    assert isinstance(game, Holdem)
    theirs = universal_poker(game)
    small = text in (TINY, PAIRS, LIMIT)
    sample = world_states(game, max_states=30_000) if small else random_states(game, episodes=40)
    totals = np.asarray(jax.jit(jax.vmap(game.totals))(sample.states))
    states: list[Any] = []
    ours, other = np.ones(len(sample.parent)), np.ones(len(sample.parent))
    for k, (parent, action) in enumerate(zip(sample.parent, sample.action, strict=True)):
        state = theirs.new_initial_state() if parent < 0 else states[parent].clone()
        states.append(state)
        if parent >= 0:
            move, mover = int(action), sample.actor[parent]
            if mover == CHANCE:
                ours[k] = ours[parent] * sample.chance[parent, action]
                other[k] = other[parent] * dict(state.chance_outcomes())[move]
            else:
                ours[k], other[k] = ours[parent], other[parent]
                if move >= RAISE and game.limit is None:
                    move = int(totals[parent, move - RAISE])
            state.apply_action(move)
        actor, legal = sample.actor[k], np.flatnonzero(sample.legal[k])
        at = f"{text} after {state.history()}"
        if state.is_terminal():
            assert actor == TERMINAL, at
            np.testing.assert_allclose(sample.utility[k], state.returns(), rtol=1e-6, err_msg=at)
            # Two orders of each hand, six of a flop; the same cards are as likely in all.
            orders = 2**game.players * (6 if sample.states.dealt[k] > 2 * game.players else 1)
            np.testing.assert_allclose(ours[k], orders * other[k], rtol=1e-5, err_msg=at)
            continue
        assert actor == (CHANCE if state.is_chance_node() else state.current_player()), at
        if actor == CHANCE:
            assert set(legal) <= set(state.legal_actions()), at
            continue
        possible = state.legal_actions()
        assert legal[legal < RAISE].tolist() == [a for a in possible if a <= CALL], at
        raises = [a for a in possible if a >= RAISE]
        if game.limit is None:
            mine = totals[k, legal[legal >= RAISE] - RAISE].tolist()
            assert mine == sorted(set(mine)), at
            assert set(mine) <= set(raises), at
            assert max(mine, default=None) == max(raises, default=None), at
        else:
            assert legal[legal >= RAISE].tolist() == raises, at


def test_sizes_are_those_of_openspiels_pot_sized_betting():
    """With `sizes=[1]` the actions are fold, call, pot and all-in: its abstraction "fcpa"."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    theirs = pyspiel.load_game(
        "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=100 50,firstPlayer=2 1 1 1,"
        "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack=20000 20000,"
        "bettingAbstraction=fcpa)"
    )
    sample = random_states(games.load("holdem(sizes=[1])"), episodes=60)
    states: list[Any] = []
    for k, (parent, action) in enumerate(zip(sample.parent, sample.action, strict=True)):
        state = theirs.new_initial_state() if parent < 0 else states[parent].child(int(action))
        states.append(state)
        if state.is_terminal():
            np.testing.assert_array_equal(sample.utility[k], state.returns())
        elif not state.is_chance_node():
            assert np.flatnonzero(sample.legal[k]).tolist() == state.legal_actions()


def test_the_deal_makes_all_hands_and_flops_equally_likely():
    game = games.load(PAIRS)
    sample = world_states(game, max_states=30_000)
    probability = np.ones(len(sample.parent))
    for k in range(1, len(sample.parent)):
        parent = sample.parent[k]
        at_chance = sample.actor[parent] == CHANCE
        probability[k] = probability[parent] * (
            sample.chance[parent, sample.action[k]] if at_chance else 1
        )
    cards, dealt = sample.states.cards, sample.states.dealt
    hands = dealt == 4
    np.testing.assert_allclose(probability[hands], 1 / (28 * 15), rtol=1e-5)
    flops = dealt == 7
    np.testing.assert_allclose(probability[flops], 1 / (28 * 15 * 4), rtol=1e-5)
    assert len(np.unique(cards[flops], axis=0)) == 28 * 15 * 4
    for group in (cards[:, :2], cards[:, 2:4], cards[:, 4:]):
        complete = (group >= 0).all(1)
        assert (np.diff(group[complete]) > 0).all()


def play_many(game: Holdem, key: jax.Array, hands: int) -> tuple[State, jax.Array, jax.Array]:
    """Returns the last states of random hands, their payoffs, and how many steps they took."""

    def step(carry: tuple[State, jax.Array, jax.Array]) -> tuple[State, jax.Array, jax.Array]:
        states, key, count = carry
        key, now = jax.random.split(key)
        actor = jax.vmap(game.actor)(states)
        legal = jax.vmap(game.legal)(states)
        weight = jnp.where((actor == CHANCE)[:, None], jax.vmap(game.chance)(states), legal)
        total = jnp.cumsum(weight, 1)  # one random number for each hand, not one for each action
        mark = jax.random.uniform(now, (hands, 1), maxval=1 - 1e-6) * total[:, -1:]
        actions = (total > mark).argmax(1)
        after = jax.vmap(game.step)(states, actions)
        over = actor == TERMINAL

        def keep(old: jax.Array, new: jax.Array) -> jax.Array:
            return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), old, new)

        return jax.tree.map(keep, states, after), key, count + 1

    def running(carry: tuple[State, jax.Array, jax.Array]) -> jax.Array:
        return (jax.vmap(game.actor)(carry[0]) != TERMINAL).any() & (carry[2] < 200)

    first = jax.tree.map(lambda x: jnp.broadcast_to(x, (hands, *x.shape)), game.init())
    states, _, count = jax.lax.while_loop(running, step, (first, key, jnp.int32(0)))
    return states, jax.vmap(game.utility)(states), count


@pytest.mark.parametrize(
    ("text", "hands"),
    few(
        [("holdem", 20_000), ("holdem(players=3,stack=[300,120,5000])", 5_000)],
        lambda case: case[0] == "holdem",
    ),
)
def test_random_hands_of_one_program_sum_to_zero(text: str, hands: int):
    game = games.load(text)
    assert isinstance(game, Holdem)
    play = jax.jit(play_many, static_argnums=(0, 2), compiler_options=OPTIMISED)
    states, payoffs, count = play(game, jax.random.key(0), hands)
    assert int(count) < 200
    assert (np.asarray(jax.vmap(game.actor)(states)) == TERMINAL).all()
    payoffs, spent = np.asarray(payoffs), np.asarray(states.betting.spent)
    # float32, thirds of pots: half a unit in the last place of the largest share for each seat.
    np.testing.assert_allclose(payoffs.sum(1), 0, atol=0 if game.players == 2 else 0.01)
    assert (payoffs >= -spent).all()
    cards = np.sort(np.asarray(states.cards), 1)
    assert ((np.diff(cards) > 0) | (cards[:, :-1] < 0)).all()


@pytest.mark.slow  # seconds of compiling
def test_solves_a_tiny_deck():
    result = js.solve(js.compile(games.load(TINY)), js.cfr_plus(), iterations=300)
    assert result.curve.exploitability[-1] < 1e-3


def test_a_showdown_reads_the_cards_of_the_real_deck():
    """Aces over the rest of a deck of three ranks: the highest ranks, two suits."""
    game = Holdem(ranks=7, suits=2, streets=2)
    state = game.init()
    aces, eights, board = (12, 13), (0, 1), (3, 5, 7)
    for card in (*aces, *eights, *board[:0]):
        state = game.step(state, jnp.int32(card))
    for _ in range(2):
        state = game.step(state, jnp.int32(CALL))
    for card in board:
        state = game.step(state, jnp.int32(card))
    for _ in range(2):
        state = game.step(state, jnp.int32(CALL))
    assert int(game.actor(state)) == TERMINAL
    np.testing.assert_array_equal(game.utility(state), [100, -100])
    assert game.action_name(CHANCE, 12) == "Ac"
    assert holdem.card_name(game._card(0)) == "8c"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"players": 10}, "players should be a whole number from 2 to 9"),
        ({"streets": 1}, "streets should be a whole number from 2 to 4"),
        ({"ranks": 14}, "ranks should be a whole number from 1 to 13"),
        ({"ranks": 2}, "needs 9 cards; 2 ranks of 4 suits are only 8"),
        ({"stack": (100,)}, "one per seat, 2 in all"),
        ({"stack": 0}, "stack should be a whole number from 1 to 1,000,000 or a list"),
        ({"blinds": (1, 2, 3)}, "blinds should be a list of 2, each a whole number"),
        ({"sizes": (1.0, 0.5)}, "sizes must ascend"),
        ({"sizes": (0.0,)}, "each a number above 0, at most 100"),
        ({"limit": (10,)}, "one number per street, 4 in all"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(fields: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        Holdem(**fields)


if __name__ == "__main__":
    for file, text in LARGE.items():
        (GOLDEN / file).write_text(playthrough(games.load(text), seed=1))
