"""Every main program lowers for CPU, GPU and TPU: no callback, no custom call of one device."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import holdem, learn, mccfr, nets
from jaxsolve.learn._train import init_train, train_steps
from jaxsolve.public import actions_limit, public_game, public_table
from jaxsolve.search import growing_resolver, growing_search, gt_cfr, subgames
from jaxsolve.solvers import init_state, run

PLATFORMS = ("cpu", "cuda", "tpu")
RIVER = {
    "board": "Ts9s8s2h3c",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}
Program = tuple[Callable[..., Any], tuple[Any, ...]]


def cfr_plus(tree: js.PublicTree) -> Program:
    tree, solver = tree.replace(names=None), js.cfr_plus()
    state = init_state(tree, solver)
    count = jnp.int32(3)
    return functools.partial(run), (tree, solver, state, count, count)


def game_loop(name: str) -> Program:
    return cfr_plus(js.compile(games.load(name)))


def batch_of_games() -> Program:
    loop, (tree, solver, state, count, _) = game_loop("kuhn")
    states = jax.tree.map(lambda x: jnp.stack([x] * 4), state)
    return jax.vmap(loop, in_axes=(None, None, 0, None, None)), (tree, solver, states, count, count)


def best_response() -> Program:
    tree = js.compile(games.load("kuhn"))
    return js.exploitability, (tree.replace(names=None), js.uniform_policy(tree))


def spot(board: str) -> Program:
    found = holdem.Spot.parse({**RIVER, "board": board})
    return cfr_plus(holdem.spot_tree(found, operator="dense").tree)


def growing() -> Program:
    table = public_table(games.load("kuhn"))
    search = growing_search(table, js.cfr_plus(), simulations=8)
    value = nets.make_net(table, nets.ValueNetwork(8, 1), jax.random.key(0))
    ranges = jnp.ones((2, table.num_hands))

    def many(search: Any, value: Any, seeds: Any) -> Any:
        def one(seed: Any) -> Any:
            return gt_cfr(search, value, jnp.int32(0), ranges, jax.random.key(seed)).policy

        return jax.vmap(one)(seeds)

    return many, (search, value, jnp.arange(4))


def training(sound: bool) -> Program:
    if sound:
        table = public_table(games.load("kuhn"))
        resolver = growing_resolver(table, js.cfr_plus(2.0), simulations=8)
        source = learn.sound_self_play(resolver, episodes=4, solvers=4, queue=16)
        net = nets.make_net(table, nets.ValueNetwork(8, 1), jax.random.key(0))
    else:
        game = public_game(games.load("kuhn"))
        source = learn.random_beliefs(
            game,
            subgames(game, actions_limit(1)),
            js.pcfr_plus(),
            stages=[[1, 2], [0]],
            steps=2,
            iterations=5,
            batch=4,
        )
        net = nets.make_net(game, nets.ValueNetwork(8, 1), jax.random.key(0))
    plan = learn.Plan(steps=2, updates=1, minibatch=4, buffer=4 * source.batch)
    state = init_train(net, source, plan)
    # Keys cannot be arguments of an exported program; everything else is one.
    leaves, form = jax.tree.flatten(state)
    keys = [jnp.issubdtype(x.dtype, jax.dtypes.prng_key) for x in leaves]
    plain = [jax.random.key_data(x) if k else x for x, k in zip(leaves, keys, strict=True)]

    def step(net: Any, plain: list[Any]) -> Any:
        pairs = zip(plain, keys, strict=True)
        state = jax.tree.unflatten(
            form, [jax.random.wrap_key_data(x) if k else x for x, k in pairs]
        )
        after, losses = train_steps(net, state, source=source, plan=plan, count=1)
        return after.params, losses

    return step, (net, plain)


def rules(name: str) -> Program:
    """A batch of states, each stepped by its first legal action or outcome."""
    game = games.load(name)
    states = jax.tree.map(lambda x: jnp.stack([jnp.asarray(x)] * 4), game.init())

    def step(state: Any) -> Any:
        legal = jnp.where(
            game.actor(state) == js.types.CHANCE, game.chance(state) > 0, game.legal(state)
        )
        after = game.step(state, jnp.argmax(legal))
        return after, game.observe(after), game.utility(after)

    return jax.vmap(step), (states,)


def sampler() -> Program:
    from made_buckets import made_buckets

    some, none = {"sizes": [["a"]]}, {"sizes": [[]]}
    streets = {s: some if s == "preflop" else none for s in ("preflop", "flop", "turn", "river")}
    menu = holdem.BetMenu.parse({"players": 2, "stack": "20bb", **streets})
    game = holdem.holdem_game(menu, made_buckets(9))
    vectors = holdem.HandVectors(game)
    tree = mccfr.vector_tree(game.tree, game.num_buckets)
    tables = mccfr.make_tables(game)

    def passes(regret: Any, average: Any) -> Any:
        return mccfr.vector_passes(
            *(tree, vectors.data, regret, average),
            *(jnp.uint32(0), jnp.int32(0), jnp.int32(1), jnp.ones(3)),
            sample=vectors.sample,
            leaf_values=vectors.leaf_values,
            boards=2,
        )

    return passes, (jnp.asarray(tables.regret), jnp.asarray(tables.average))


PROGRAMS: dict[str, Callable[[], Program]] = {
    "CFR+ on Kuhn": functools.partial(game_loop, "kuhn"),
    "CFR+ on Leduc": functools.partial(game_loop, "leduc(ranks=2)"),
    "CFR+ on liar's dice": functools.partial(game_loop, "liars_dice(sides=3)"),
    "CFR+ on goofspiel": functools.partial(game_loop, "goofspiel(cards=3)"),
    "a batch of Kuhns": batch_of_games,
    "best response": best_response,
    "a river": functools.partial(spot, "Ts9s8s2h3c"),
    "a turn": functools.partial(spot, "Ts9s8s2h"),
    "growing-tree searches": growing,
    "a training step, random beliefs": functools.partial(training, False),
    "a training step, sound self-play": functools.partial(training, True),
    "rules of Leduc": functools.partial(rules, "leduc"),
    "rules of Scotland Yard": functools.partial(rules, "scotland_yard(board=london)"),
    "vectors of hands": sampler,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_lowers_for_every_kind_of_device(name: str):
    function, arguments = PROGRAMS[name]()
    made = jax.export.export(jax.jit(function), platforms=PLATFORMS)(*arguments)
    assert made.platforms == PLATFORMS
    doubles = [x for x in jax.tree.leaves(made.out_avals) if x.dtype in (np.float64, np.int64)]
    assert not doubles


def test_a_host_callback_is_caught():
    def call(x: Any) -> Any:
        return jax.ffi.ffi_call("only_here", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    with pytest.raises(ValueError, match="only_here"):
        jax.export.export(jax.jit(call), platforms=PLATFORMS)(jnp.ones(3))
