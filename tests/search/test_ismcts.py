"""IS-MCTS does what a slow search over dictionaries does, draw for draw."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.testing import Sample, world_states
from jaxsolve.tree import listed
from jaxsolve.types import CHANCE, TERMINAL, Array


class Picked(NamedTuple):
    choice: Array  # int32 [], -1 before it


@dataclasses.dataclass(frozen=True)
class OneChoice:
    """Player 0 chooses once, and that is all."""

    name = "one_choice"
    num_players = 2
    num_actions = 3
    payoffs = (0.3, 1.0, -0.5)

    def init(self):
        return Picked(jnp.int32(-1))

    def actor(self, state):
        return jnp.where(state.choice < 0, 0, TERMINAL).astype(jnp.int32)

    def legal(self, state):
        return jnp.full(3, state.choice < 0)

    def chance(self, state):
        return jnp.zeros(3)

    def step(self, state, action):
        return Picked(jnp.asarray(action, jnp.int32))

    def observe(self, state):
        return state.choice[None], jnp.zeros((2, 0), jnp.int32)

    def utility(self, state):
        won = jnp.array(self.payoffs)[state.choice]
        return jnp.stack([won, -won])


@functools.cache
def states(name: str) -> Sample:
    return world_states(games.load(name))


@functools.cache
def compiled(name: str) -> tuple[js.PublicTree, search.InfostateBeliefs]:
    tree = js.compile(games.load(name))
    return tree, search.infostate_beliefs(tree)


@functools.partial(jax.jit, static_argnums=1)
def uniforms(key: Array, count: int) -> Array:
    return jax.random.uniform(key, (count,))


def slow_ismcts(
    world: Sample,
    roots: np.ndarray,
    odds: np.ndarray,
    key: Array,
    *,
    simulations: int,
    uct_c: float,
    steps: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (visits, values) at the root, from tables of world states and Python dictionaries."""
    child = {
        (int(p), int(a)): k for k, (p, a) in enumerate(zip(world.parent, world.action, strict=True))
    }
    tree: dict[tuple[int, int], np.ndarray] = {}

    def draw(weights: Any, u: np.float32) -> int:
        below = np.cumsum(np.asarray(weights, np.float32))
        return int((below <= u * below[-1]).sum())

    def infostate(k: int) -> tuple[int, int]:
        actor = int(world.actor[k])
        return actor, int(world.infostate[k, actor])

    for i in range(simulations):
        u = np.asarray(uniforms(jax.random.fold_in(key, i), steps + 1))
        at, inside, path = int(roots[draw(odds, u[-1])]), True, []
        for step in range(steps):
            if world.actor[at] == TERMINAL:
                break
            weights = world.legal[at].astype(np.float32)
            if world.actor[at] == CHANCE:
                weights = world.chance[at]
            elif inside and infostate(at) not in tree:
                tree[infostate(at)] = np.zeros((len(weights), 2), np.float32)
                inside = False
            elif inside:
                visits, total = tree[infostate(at)].T
                legal = world.legal[at]
                tried = np.maximum(visits, 1)
                bonus = np.sqrt(np.log(np.maximum(visits.sum(), 1)) / tried)
                score = np.where(legal, total / tried + np.float32(uct_c) * bonus, -np.inf)
                untried = legal & (visits == 0)
                weights = untried if untried.any() else score >= score.max() - 1e-6
            action = draw(weights, u[step])
            if inside and world.actor[at] != CHANCE:
                path.append((infostate(at), action))
            at = child[at, action]
        for name, action in path:
            tree[name][action] += 1, world.utility[at, name[0]]
    visits, total = tree[infostate(int(roots[0]))].T
    return visits, total / np.maximum(visits, 1)


@pytest.mark.parametrize("uct_c", [0.1, 1.0, 1000.0])
def test_one_decision_is_the_bandit_algorithm(uct_c: float):
    game, count = OneChoice(), 200
    belief = search.certain(search.first_world(game))
    root, table = search.ismcts(
        game, belief, jax.random.key(1), simulations=count, uct_c=uct_c, max_steps=1
    )
    visits = np.ones(3)  # each action once, in any order, after the simulation that opens the root
    for n in range(3, count - 1):
        visits[np.argmax(game.payoffs + uct_c * np.sqrt(np.log(n) / visits))] += 1
    np.testing.assert_array_equal(root.visits, visits)
    np.testing.assert_allclose(root.values, game.payoffs, rtol=1e-5)
    assert (int(table.simulations), int(table.unstored), int(table.unfinished)) == (count, 0, 0)
    if uct_c == 1000:  # exploration alone: alike
        np.testing.assert_allclose(root.policy(), np.full(3, 1 / 3), atol=0.01)
    assert root.policy("max_value").tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("name", "uct_c"),
    few([("kuhn", 2.0), ("tic_tac_toe(columns=2)", 1.4)], lambda p: p[0] == "kuhn"),
)
def test_same_as_a_slow_search_draw_for_draw(name: str, uct_c: float):
    """The second is a game of perfect information: plain UCT."""
    game, world = games.load(name), states(name)
    tree, beliefs = compiled(name)
    table = listed(tree).states
    count = 100
    picks = np.linspace(0, len(beliefs.steps) - 1, 4).astype(int)
    start = np.cumsum([0, *tree.info.num_infosets])
    for k in picks:
        player = int(np.searchsorted(start, k, "right")) - 1
        infostate = tree.info.players[player].infostate[k - start[player]]
        roots = np.flatnonzero(
            (table.actor == player) & (table.infostate[:, player] == infostate)
        )  # the compiler and the slow table both go breadth first
        key = jax.random.key(int(k))
        steps = int(beliefs.steps[k])
        visits, values = slow_ismcts(
            world,
            roots,
            table.chance[roots] / table.chance[roots].sum(),
            key,
            simulations=count,
            uct_c=uct_c,
            steps=steps,
        )
        belief = jax.tree.map(lambda x, k=k: x[k], beliefs.belief)
        root, _ = jax.jit(
            lambda b, key, steps=steps: search.ismcts(
                game, b, key, simulations=count, uct_c=uct_c, max_steps=steps
            )
        )(belief, key)
        np.testing.assert_array_equal(root.visits, visits)
        np.testing.assert_allclose(root.values, values, atol=1e-5)


def test_opponents_cards_follow_their_odds():
    """Of Leduc's cards all that are not seen are equally likely, whatever has been bet."""
    tree, beliefs = compiled("leduc")
    info = tree.info
    draws = 4000
    for k in (0, 100, 467, 468, 700, 935):  # of both players, before and after the board card
        player, row = (0, k) if k < 468 else (1, k - 468)
        belief = jax.tree.map(lambda x, k=k: x[k], beliefs.belief)
        keys = jax.random.split(jax.random.key(k), draws)
        worlds = jax.vmap(lambda key, b=belief: search.draw_world(b, key))(keys)
        cards, board = np.asarray(worlds.state.cards), np.asarray(worlds.state.board)
        mine, theirs = cards[:, player], cards[:, 1 - player]
        assert len(np.unique(mine)) == len(np.unique(board)) == 1
        seen = info.labels[player][row].split("|")
        assert any(games.load("leduc").action_name(CHANCE, mine[0]) in w for w in seen)
        unseen = sorted(set(range(6)) - {int(mine[0]), int(board[0])})
        observed = np.array([(theirs == c).sum() for c in unseen])
        assert observed.sum() == draws
        expected = draws / len(unseen)
        chi_square = ((observed - expected) ** 2 / expected).sum()
        assert chi_square < {5: 18.5, 4: 16.3}[len(unseen)]  # 99.9 % quantiles, 4 and 3 degrees


def test_going_on_is_not_stopping():
    game = games.load("kuhn")
    _, beliefs = compiled("kuhn")
    belief = jax.tree.map(lambda x: x[0], beliefs.belief)
    run = jax.jit(
        lambda count, table: search.ismcts(
            game,
            belief,
            jax.random.key(0),
            simulations=count,
            uct_c=2.0,
            capacity=64,
            max_steps=3,
            table=table,
        )
    )
    empty = search.empty_table(game, 64)
    whole = run(60, empty)
    parts = run(35, run(25, empty)[1])
    jax.tree.map(np.testing.assert_array_equal, whole, parts)
    assert run._cache_size() == 1


@pytest.mark.slow
def test_batch_is_the_searches_one_by_one():
    tree, beliefs = compiled("kuhn")
    few, many = search.ismcts_everywhere(
        tree, jax.random.key(3), simulations=(10, 40), uct_c=2.0, beliefs=beliefs
    )
    keys = jax.random.split(jax.random.key(3), len(beliefs.steps))
    for k in (0, 5, 11):
        belief = jax.tree.map(lambda x, k=k: x[k], beliefs.belief)
        alone, _ = search.ismcts(
            games.load("kuhn"), belief, keys[k], simulations=40, uct_c=2.0, max_steps=3
        )
        # Draws depend on how many there can be, hence on the longest game of a batch.
        if beliefs.steps[k] == 3:
            np.testing.assert_array_equal(alone.visits, many.visits[k])
        assert many.visits[k].sum() == 39
        assert few.visits[k].sum() == 9
    policy = search.ismcts_policy(tree, many, "visits")
    np.testing.assert_allclose(
        policy.probabilities(0),
        np.concatenate([many.visits[k][:2] / 39 for k in range(6)]),
        rtol=1e-6,
    )


def test_a_full_table_says_so():
    game = games.load("tic_tac_toe")
    belief = search.certain(search.first_world(game))
    root, table = search.ismcts(
        game, belief, jax.random.key(0), simulations=60, uct_c=1.0, capacity=1, max_steps=9
    )
    stored = int((np.asarray(table.keys) != 0).any(1).sum())
    assert stored == 8  # one window
    assert int(table.unstored) > 20
    assert float(root.visits.sum()) == 59
    _, short = search.ismcts(
        game, belief, jax.random.key(0), simulations=20, uct_c=1.0, max_steps=4
    )
    assert int(short.unfinished) == 20


def test_policies_at_the_root():
    root = search.IsmctsRoot(
        visits=jnp.array([[2.0, 6.0, 0.0], [0.0, 0.0, 0.0]]),
        values=jnp.array([[1.0, -2.0, 0.0], [0.0, 0.0, 0.0]]),
        legal=jnp.array([[True, True, True], [True, False, True]]),
    )
    assert root.policy("visits").tolist() == [[0.25, 0.75, 0], [0.5, 0, 0.5]]
    assert root.policy("max_visits").tolist() == [[0, 1, 0], [0.5, 0, 0.5]]
    assert root.policy("max_value").tolist() == [[1, 0, 0], [0.5, 0, 0.5]]
    with pytest.raises(ValueError, match="max_visits"):
        root.policy("most")


def test_bad_input():
    game = games.load("kuhn")
    tree, beliefs = compiled("kuhn")
    belief = jax.tree.map(lambda x: x[0], beliefs.belief)
    key = jax.random.key(0)
    with pytest.raises(ValueError, match="3 players"):
        search.ismcts(games.load("kuhn(players=3)"), belief, key, simulations=9, uct_c=1.0)
    with pytest.raises(ValueError, match="1 or more"):
        search.ismcts(game, belief, key, simulations=0, uct_c=1.0)
    with pytest.raises(ValueError, match="power of two"):
        search.ismcts(game, belief, key, simulations=9, uct_c=1.0, capacity=12)
    with pytest.raises(ValueError, match="capacity"):
        search.ismcts(game, belief, key, simulations=jnp.int32(9), uct_c=1.0)
    with pytest.raises(ValueError, match="at least one move"):
        search.ismcts(game, belief, key, simulations=9, uct_c=1.0, max_steps=0)
    with pytest.raises(ValueError, match="ascending"):
        search.ismcts_everywhere(tree, key, simulations=(9, 3), uct_c=1.0)
    with pytest.raises(ValueError, match="world states"):
        search.infostate_beliefs(js.compile(game, layout="hands"))


@pytest.mark.parametrize(
    ("places", "count", "seeds"),
    [
        ([[2, 5, 1]], 50, 100),
        # Half a minute of searches: of both players, in both rounds.
        pytest.param([[0, 3], [2, 5, 1], [4, 1, 2, 1, 3]], 200, 400, marks=pytest.mark.slow),
    ],
)
def test_agrees_with_openspiel_on_leduc(places: list[list[int]], count: int, seeds: int):
    """Mean visits of many searches at one infostate: OpenSpiel's IS-MCTS does the same.

    Places are cards and bets from the start.
    """
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    _, beliefs = compiled("leduc")
    uct_c = 2.0
    for actions in places:
        state = pyspiel.load_game("leduc_poker").new_initial_state()
        for action in actions:
            state.apply_action(action)
        theirs = []
        for seed in range(seeds):
            evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
            bot = pyspiel.ISMCTSBot(seed, evaluator, uct_c, count)
            policy = dict(bot.get_policy(state))
            theirs.append([policy.get(a, 0.0) for a in range(3)])
        ours = _searches_after(beliefs, actions, count, seeds, uct_c)
        a, b = np.array(theirs), np.asarray(ours)[:, :3]
        error = np.sqrt((a.var(0) + b.var(0)) / seeds)
        assert (np.abs(a.mean(0) - b.mean(0)) <= 4 * error + 1e-6).all()


def _searches_after(
    beliefs: search.InfostateBeliefs, actions: list[int], count: int, seeds: int, uct_c: float
) -> Array:
    """Returns [seeds, A], normalised visits at the infostate after some actions of Leduc."""
    game = games.load("leduc")
    world = search.first_world(game)
    for action in actions:
        world = search.next_world(game, world, jnp.int32(action))
    same = (beliefs.belief.worlds.memory == world.memory).all((-1, -2))
    k = int(np.flatnonzero(np.asarray(same.any(1)))[0])
    belief = jax.tree.map(lambda x: x[k], beliefs.belief)

    def one(key: Array) -> Array:
        root, _ = search.ismcts(
            game, belief, key, simulations=count, uct_c=uct_c, max_steps=int(beliefs.steps[k])
        )
        return root.policy()

    return jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(1), seeds))


def test_math_of_the_memory():
    """Fingerprints of infostates differ exactly where infostates do."""
    for name in ("leduc", "kuhn"):
        tree, beliefs = compiled(name)
        player = np.repeat([0, 1], tree.info.num_infosets)
        memory = np.asarray(beliefs.belief.worlds.memory)
        mine = memory[np.arange(len(player)), :, player]
        there = np.asarray(beliefs.belief.probability) > 0
        first = mine[:, 0]
        assert ((mine == first[:, None]).all(-1) | ~there).all()
        assert len(np.unique(first, axis=0)) == len(first)
        assert math.isclose(float(beliefs.belief.probability.sum()), len(first), rel_tol=1e-5)
