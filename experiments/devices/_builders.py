"""Main programs in any size: each maker returns (function, arguments).

Keys of random numbers are made inside the functions, because an exported program cannot take them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import games
import jaxsolve as js
from jaxsolve import holdem, learn, mccfr, nets
from jaxsolve.learn._train import init_train, train_steps
from jaxsolve.public import actions_limit, public_game, public_table
from jaxsolve.search import growing_resolver, growing_search, gt_cfr, solve_belief, subgames
from jaxsolve.solvers import init_state, run
from jaxsolve.tree import laid_out

Program = tuple[Callable[..., Any], tuple[Any, ...]]


def loop(tree: js.PublicTree, solver: js.Solver) -> Program:
    """Returns the loop of a solver on a tree; its state is given in shapes."""
    tree = tree.replace(names=None)
    state = jax.eval_shape(init_state, tree, solver)
    count = jnp.int32(1)
    return run, (tree, solver, state, count, count)


def game_loop(name: str, platform: str) -> Program:
    """Returns the loop of CFR+ on a game."""
    return loop(laid_out(js.compile(games.load(name)), platform), js.cfr_plus())


def batch_of_games(name: str, count: int, platform: str) -> Program:
    """Returns the loop of CFR+ on one game in many settings, vmapped."""
    one, (tree, solver, state, some, horizon) = game_loop(name, platform)
    many = jax.jit(jax.vmap(one, in_axes=(None, None, 0, None, None)), donate_argnums=2)
    return many, (tree, solver, repeated(state, count), some, horizon)


def repeated(tree: Any, count: int) -> Any:
    """Returns shapes with a leading axis."""
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct((count, *x.shape), x.dtype), tree)


def best_response(name: str, platform: str) -> Program:
    """Returns exploitability, two best responses."""
    tree = laid_out(js.compile(games.load(name)), platform)
    return jax.jit(js.exploitability), (tree.replace(names=None), js.uniform_policy(tree))


def growing_searches(name: str, count: int, simulations: int, width: int, _: str) -> Program:
    """Returns searches of growing trees (GT-CFR) from the start of a game, with a network."""
    table = public_table(games.load(name))
    search = growing_search(table, js.cfr_plus(), simulations=simulations)
    value = nets.make_net(table, nets.ValueNetwork(width, 1), jax.random.key(0))
    ranges = jnp.ones((2, table.num_hands))

    def many(search: Any, value: Any, ranges: Any, seeds: Any) -> Any:
        def one(seed: Any) -> Any:
            return gt_cfr(search, value, jnp.int32(0), ranges, jax.random.key(seed)).policy

        return jax.vmap(one)(seeds)

    return jax.jit(many), (search, value, ranges, jnp.arange(count))


def belief_searches(name: str, count: int, iterations: int, width: int, _: str) -> Program:
    """Returns searches of fixed depth from the start of a game under many beliefs."""
    game = public_game(games.load(name))
    cut = subgames(game, actions_limit(1))
    value = nets.make_net(game, nets.ValueNetwork(width, 1), jax.random.key(0))

    def many(cut: Any, value: Any, beliefs: Any) -> Any:
        def one(ranges: Any) -> Any:
            return solve_belief(
                cut, value, js.cfr_plus(), jnp.int32(0), ranges, iterations=iterations
            )

        return jax.vmap(one)(beliefs)

    return jax.jit(many), (cut, value, jnp.ones((count, 2, game.num_hands)))


def training(name: str, sound: bool, batch: int, width: int, effort: int, _: str) -> Program:
    """Returns a training step on random beliefs, or on sound self-play, whose data it makes.

    Args:
        name: of the game.
        sound: which of the two.
        batch: games or subgames at once.
        width: of the network.
        effort: simulations of a search, or iterations of a solve.
    """
    if sound:
        table = public_table(games.load(name))
        resolver = growing_resolver(table, js.cfr_plus(2.0), simulations=effort)
        source = learn.sound_self_play(resolver, episodes=batch, solvers=batch, queue=4 * batch)
        net = nets.make_net(table, nets.ValueNetwork(width, 1), jax.random.key(0))
    else:
        game = public_game(games.load(name))
        source = learn.random_beliefs(
            game,
            subgames(game, actions_limit(1)),
            js.pcfr_plus(),
            stages=[[1, 2], [0]],
            steps=2,
            iterations=effort,
            batch=batch,
        )
        net = nets.make_net(game, nets.ValueNetwork(width, 1), jax.random.key(0))
    plan = learn.Plan(steps=2, updates=1, minibatch=batch, buffer=4 * source.batch)
    leaves, form = jax.tree.flatten(init_train(net, source, plan))
    keys = [jnp.issubdtype(x.dtype, jax.dtypes.prng_key) for x in leaves]
    plain = [jax.random.key_data(x) if k else x for x, k in zip(leaves, keys, strict=True)]

    def step(net: Any, plain: list[Any]) -> Any:
        pairs = zip(plain, keys, strict=True)
        state = jax.tree.unflatten(
            form, [jax.random.wrap_key_data(x) if k else x for x, k in pairs]
        )
        after, losses = train_steps(net, state, source=source, plan=plan, count=1)
        return after.params, losses

    return jax.jit(step), (net, plain)


def rules(name: str, count: int, _: str) -> Program:
    """Returns a step of many states, each by its first legal action or outcome."""
    game = games.load(name)
    states = jax.tree.map(lambda x: jnp.stack([jnp.asarray(x)] * count), game.init())

    def step(state: Any) -> Any:
        legal = jnp.where(
            game.actor(state) == js.types.CHANCE, game.chance(state) > 0, game.legal(state)
        )
        after = game.step(state, jnp.argmax(legal))
        return after, game.observe(after), game.utility(after)

    return jax.jit(jax.vmap(step)), (states,)


def hand_vectors(boards: int, _: str) -> Program:
    """Returns a pass of sampled CFR over all hands of a small menu of hold'em."""
    some, none = {"sizes": [["a"]]}, {"sizes": [[]]}
    streets = {s: some if s == "preflop" else none for s in ("preflop", "flop", "turn", "river")}
    menu = holdem.BetMenu.parse({"players": 2, "stack": "20bb", **streets})
    buckets = holdem.Abstraction(
        flop=np.zeros((1_755, holdem.NUM_HANDS), np.uint16),
        turn=np.zeros((16_432, holdem.NUM_HANDS), np.uint16),
        river=np.zeros((134_459, holdem.NUM_HANDS), np.uint16),
        buckets=(169, 9, 1, 1),
        mean_strength={},
        seed=0,
        checksum=0,
    )
    game = holdem.holdem_game(menu, buckets)
    vectors = holdem.HandVectors(game)
    tree = mccfr.vector_tree(game.tree, game.num_buckets)
    tables = mccfr.make_tables(game)

    def passes(data: Any, regret: Any, average: Any) -> Any:
        return mccfr.vector_passes(
            tree,
            data,
            regret,
            average,
            jnp.uint32(0),
            jnp.int32(0),
            jnp.int32(1),
            jnp.ones(3),
            sample=vectors.sample,
            leaf_values=vectors.leaf_values,
            boards=boards,
        )

    arrays = (jnp.asarray(tables.regret), jnp.asarray(tables.average))
    return jax.jit(passes), (vectors.data, *arrays)


SMALL: dict[str, Callable[[str], Program]] = {
    "CFR+ on Kuhn": functools.partial(game_loop, "kuhn"),
    "CFR+ on Leduc": functools.partial(game_loop, "leduc(ranks=2)"),
    "CFR+ on liar's dice": functools.partial(game_loop, "liars_dice(sides=2)"),
    "CFR+ on goofspiel": functools.partial(game_loop, "goofspiel(cards=3)"),
    "a batch of Kuhns": functools.partial(batch_of_games, "kuhn", 4),
    "best response": functools.partial(best_response, "kuhn"),
    "growing-tree searches": functools.partial(growing_searches, "kuhn", 4, 8, 8),
    "belief searches": functools.partial(belief_searches, "kuhn", 4, 5, 8),
    "a training step, random beliefs": functools.partial(training, "kuhn", False, 4, 8, 5),
    "a training step, sound self-play": functools.partial(training, "kuhn", True, 4, 8, 8),
    "rules of Leduc": functools.partial(rules, "leduc", 4),
    "rules of Scotland Yard": functools.partial(rules, "scotland_yard(board=london)", 4),
    "vectors of hands": functools.partial(hand_vectors, 2),
}
"""What the default tests export for every platform; `_programs` has the sizes of the study."""
