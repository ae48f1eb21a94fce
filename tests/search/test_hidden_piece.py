"""Games that hide one number: values of whole trees, moves in tables, and beliefs over stations."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from experiments.bench._london_beliefs import compared
from jaxsolve import agents, evaluate
from jaxsolve.evaluate import play_matches
from jaxsolve.public import (
    hidden_piece_model,
    no_limit,
    public_table,
)
from jaxsolve.search import (
    beliefs_at,
    beliefs_below,
    depths,
    fixed_resolver,
    growing_resolver,
    growing_search,
    gt_cfr,
)

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
    "reveals=[2],doubles=1)"
)
ZERO = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        (CHASE, 0.0),
        ("scotland_yard(rounds=3)", -1 / 3),
        ("scotland_yard(rounds=4)", None),
    ],
)
def test_whole_trees_have_the_value_of_the_game(name: str, value: float | None):
    """CFR on the opened tree finds the value of the linear program; Mr X shows himself in CHASE."""
    game: Any = games.load(name)
    if value is None:
        value = js.solve_lp(js.compile(game)).value
    model, root = hidden_piece_model(game)
    search = growing_search(model, js.cfr_plus(2.0), simulations=400, skip_solved=True)
    ranges = jnp.ones((2, max(model.hands)))
    got = jax.jit(gt_cfr)(search, ZERO, root, ranges, jax.random.key(0))
    assert got.growth.num_leaves == 0
    assert got.root_values[0].sum() == pytest.approx(value, abs=1e-2)
    assert got.root_values[1].sum() == pytest.approx(-value, abs=1e-2)


def taken_out(program: str, shape: str) -> list[str]:
    """Returns arrays of loops of one turn or none, by actor, that are computed outside of them."""
    inside = r"[^\n]*op_name=\"[^\n\"]*/cond/branch_0_fun/while"
    found = []
    for computation in program.split("\n\n"):
        if re.search(r" while\(" + inside + r'"', computation):
            found += re.findall(r"= " + shape + r"\S* fusion\(" + inside + "/body/", computation)
    return found


@pytest.mark.parametrize("abreast", [1, 3])
def test_iterations_copy_no_array_of_the_whole_tree(abreast: int):
    """One search of London took twenty times as long where a loop copied what it wrote a row of.

    It took twice as long where both actors' programs ran at every public state.
    """
    model, root = hidden_piece_model(games.load(CHASE))
    search = growing_search(model, js.cfr_plus().simultaneous(), simulations=96)
    ranges = jnp.ones((2, max(model.hands)))

    def one(key: Any) -> Any:
        found = gt_cfr(search, ZERO, root, ranges, key)
        return found.policy, found.action_reach, found.child_values

    keys = jax.random.split(jax.random.key(0), abreast)
    run = jax.vmap(one) if abreast > 1 else lambda keys: one(keys[0])
    program = jax.jit(run).lower(keys).compile().as_text().split("\nENTRY ")[0]
    assert not taken_out(program, rf"f32\[{abreast},{model.num_actions},{max(model.hands)}\]")
    for width in (model.num_actions + 1, model.num_children + 1):
        shape = rf"\[(?:{abreast},)?97,2,{width},{max(model.hands)}\]"
        assert re.search(shape, program)
        assert not re.search(shape + r"\S* copy\(", program)


@pytest.mark.parametrize(
    "name",
    [
        CHASE,
        pytest.param("scotland_yard(board=london)", marks=pytest.mark.long),
    ],
)
def test_tables_are_the_moves_of_the_rules(name: str):
    """For every station: legal actions, ends and payoffs, by stepping the rules."""
    game: Any = games.load(name)
    tables = game.move_tables()
    moves, legal = jax.jit(game.hidden_moves), jax.jit(game.legal)
    place, step = jax.jit(game.place), jax.jit(game.step)

    @jax.jit
    def after(state: Any, number: Any, action: Any) -> Any:
        end = game.step(game.place(state, number), action)
        return game.actor(end) < 0, game.utility(end)[0], end.stations[0], game.observe(end)[0]

    rng, checked, ended = np.random.default_rng(0), 0, 0
    hidden = range(0, game.map.num_stations, 1 if name == CHASE else 37)
    for _ in range(6 if name == CHASE else 2):
        state = step(game.init(), game.map.evader[0] - 1)
        while int(game.actor(state)) >= 0:
            found = moves(state)
            taken = np.asarray(state.stations[1:])
            for h in hidden:
                if h in taken:
                    continue
                world = place(state, h)
                slots = np.flatnonzero(found.legal[:, h])
                actions = np.asarray(found.action)[slots, h]
                np.testing.assert_array_equal(actions, np.flatnonzero(legal(world)))
                for a, action in zip(slots[:4], actions[:4], strict=True):
                    over, pays, at, shown = after(state, h, action)
                    assert over == found.ends[a, h]
                    ended += int(over)
                    if over:
                        assert pays == found.payoff[a, h]
                    else:
                        assert at == tables.after[found.kind, a, h]
                    evader = int(game.actor(state)) == 0
                    shows = bool(found.shows[a])
                    assert shows == (evader and shown[1] >= 0)
                    checked += 1
            choice = rng.choice(np.flatnonzero(legal(state)))
            state = step(state, choice)
    assert checked > 100
    assert ended > 0


def test_bad_input():
    with pytest.raises(ValueError, match="have not the methods move_tables"):
        hidden_piece_model(games.load("kuhn"))  # type: ignore[arg-type]


@pytest.mark.slow  # compiles a search of an agent
def test_an_agent_plays_its_search_where_moves_have_gaps():
    """Composed play of CHASE, in which detectives stand on Mr X's first connections.

    What is legal to him there are not the first slots.
    """
    game: Any = games.load(CHASE)
    model, root = hidden_piece_model(game)
    resolver = growing_resolver(
        model, js.cfr_plus(2.0), simulations=150, root=root, skip_solved=True
    )
    tree = js.compile(game)
    policy = evaluate.agent_policy(tree, agents.resolving(resolver, ZERO), jax.random.key(0))
    assert js.exploitability(tree, policy) < 0.01
    assert js.exploitability(tree, js.uniform_policy(tree)) > 0.2


@pytest.mark.slow  # compiles a search of an agent
def test_an_agent_tells_the_belief_that_its_policy_makes():
    """In a match on CHASE: before each move, after it, and in words, against stepping the rules."""
    game: Any = games.load(CHASE)
    model, root = hidden_piece_model(game)
    resolver = growing_resolver(model, js.cfr_plus(), simulations=6, root=root)
    thoughts: list[agents.Thought] = []
    agent = agents.resolving(resolver, ZERO, log=thoughts.append)
    arena = evaluate.rules_arena(game, max_moves=20)
    play_matches(arena, [agent, agents.uniform()], 1, jax.random.key(2), mirror=False)
    assert len(thoughts) >= 2
    last = np.array([0.5, 0, 0, 0, 0.5])  # where Mr X starts
    for number, thought in enumerate(thoughts):
        found, at = thought.found, thought.at
        store = found.growth.store
        here = model.root_of(store, found.growth.public[at])
        before = np.asarray(beliefs_at(model, found, at))[0]
        if number == 0:
            np.testing.assert_allclose(before, last, atol=1e-6)
        moves, after = game.hidden_moves(here.state), np.zeros(5)
        for station in np.flatnonzero(before):
            for slot in np.flatnonzero(moves.legal[:, station]):
                world = game.place(here.state, station)
                end = game.step(world, moves.action[slot, station])
                # What everybody sees of the move that was made.
                made = game.step(world, jnp.int32(thought.action))
                if game.observe(end)[0][0] == game.observe(made)[0][0]:
                    share = before[station] * float(found.average[at, slot, station])
                    after[int(end.stations[0])] += share
        told = np.asarray(beliefs_below(model, found, at, thought.child))
        np.testing.assert_allclose(told[0], after / after.sum(), atol=1e-5)
        assert len(depths(found.growth)) == found.growth.num_opened
        words = game.beliefs_in_words(told).splitlines()
        assert words[1].split()[1] == str(1 + after.argmax())
    table = public_table(games.load("kuhn"))
    fixed = fixed_resolver(table, no_limit, js.cfr_plus(), iterations=2, grouped=False)
    with pytest.raises(ValueError, match="log= is for trees that grow"):
        agents.resolving(fixed, None, js.compile(table.game), log=thoughts.append)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_beliefs_are_exact_tracking():
    """In random games in London: no observation is lost, beliefs sum to 1 and are the tracker's."""
    game: Any = games.load("scotland_yard(board=london)")
    model, root = hidden_piece_model(game)
    assert compared(game, model, root, 8, 0) > 250
