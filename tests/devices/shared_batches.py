"""Run by test_many_devices.py in a process of four devices: each part, on one device and on all."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import agents, devices, evaluate, holdem, hosts, learn, mccfr, nets
from jaxsolve.public import actions_limit, public_game, public_table
from jaxsolve.search import growing_resolver, resolve_game, subgames


@functools.cache
def tree() -> js.PublicTree:
    """Not made on import: hosts have to meet before JAX computes."""
    return js.compile(games.load("kuhn"))


def both(function: Any) -> tuple[Any, Any]:
    """Returns what a function gives on one device, and where four share its batches."""
    alone = function()
    with devices.use("all") as mesh:
        assert mesh.size == 4
        return alone, function()


def batches_of_games() -> None:
    """Six members: two of each device, padded to eight."""
    solvers = [js.dcfr(alpha=1 + 0.3 * k) for k in range(6)]

    def run(count: devices.Devices) -> np.ndarray:
        return js.solve_batch(tree(), solvers, iterations=12, chunk=2, devices=count).exploitability

    np.testing.assert_array_equal(run(1), run("all"))


def boards() -> None:
    where = mccfr.listed_boards(mccfr.listed_game(tree()))

    def run() -> Any:
        sampler = mccfr.VectorSampler(where, mccfr.Options(unit=10), boards=4)
        return sampler.run(mccfr.make_tables(where.game), 5)[0]

    one, four = both(run)
    np.testing.assert_allclose(one.regret, four.regret, atol=1e-5)
    np.testing.assert_allclose(one.average, four.average, atol=1e-5)
    with devices.use("all"), pytest.raises(ValueError, match=r"6 boards .* 4 devices: use 4 or 8"):
        mccfr.VectorSampler(where, mccfr.Options(), boards=6)


def spots(out: Path) -> None:
    """A turn: 35 rivers, nine on each device, the last one of them not there."""
    fields = {
        "board": "Ts9s8s2h",
        "pot": 100,
        "stack": 150,
        "rake": 0.05,
        "rake_cap": 3,
        "oop": "JJ,77,AKo,QJs",
        "ip": "TT,66,AQo,KJs",
        "sizes": {"bet": ["50%"], "raise": ["a"]},
    }
    whole = holdem.spot_tree(holdem.Spot.parse(fields), operator="dense")

    def run(iterations: int, **options: Any) -> holdem.SpotResult:
        return holdem.solve(
            whole, iterations=iterations, target=None, measure_every=2, progress=False, **options
        )

    one, four = both(functools.partial(run, 4))
    assert len(four.spot.streets[1].boards) == 35
    np.testing.assert_allclose(four.curve.exploitability, one.curve.exploitability, rtol=1e-4)
    for street, board, player in [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 34, 1)]:
        told = (
            (x.solution.reach(player, street, board), *x.solution.values(player, street, board))
            for x in (one, four)
        )
        for a, b in zip(*told, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4)
    with devices.use("all"):
        late = run(40)
        run(20, out=out)
        again = run(40, out=out, resume=True)
    # Best responses are exact, and do not depend on how boards are shared.
    gap = float(evaluate.exploitability(whole.tree, late.solution.policy))
    assert gap < one.exploitability_chips / 4
    np.testing.assert_allclose(late.exploitability_chips, gap, rtol=1e-4)
    np.testing.assert_array_equal(late.curve.exploitability, again.curve.exploitability)


def searches_and_matches() -> None:
    """Models and networks that are made inside of the block work, too."""

    def run() -> Any:
        table = public_table(games.load("kuhn"))
        resolver = growing_resolver(table, js.cfr_plus(2.0), simulations=4)
        net = nets.make_net(table, nets.ValueNetwork(8, 1), jax.random.key(0))
        return resolve_game(resolver, net, jax.random.key(1))

    np.testing.assert_allclose(*both(run), atol=1e-5)

    def play() -> Any:
        players = [agents.uniform(), agents.uniform()]
        return evaluate.play_matches(evaluate.arena(tree()), players, 10, jax.random.key(2))

    one, four = both(play)
    jax.tree.map(np.testing.assert_array_equal, one, four)


def training(source: learn.Source, net: nets.Net, out: Path) -> None:
    """One device; four; and four for two of four steps, then two devices from their checkpoint."""
    plan = learn.Plan(steps=4, updates=2, minibatch=8, buffer=4 * source.batch)

    def run(**options: Any) -> Any:
        return learn.train(net, source, plan, log_every=2, progress=False, **options)

    def same(a: learn.Trained, b: learn.Trained) -> None:
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-6), a.net, b.net)
        assert [row["step"] for row in b.curve] == [2, 4]
        np.testing.assert_allclose(*([r["loss"] for r in t.curve] for t in (a, b)), rtol=1e-5)

    one, four = both(run)
    same(one, four)
    examples = four.state.buffer.beliefs
    if source.batch % 4 == 0:  # each device holds its share of every batch
        assert examples.addressable_shards[0].data.shape[1] == source.batch // 4
    first = jax.jit(lambda net, x: devices.vmap(lambda y: y * jax.tree.leaves(net)[0].sum())(x))
    with devices.use("all"), devices.meshed():  # batches are given what was trained so
        first(four.net, jnp.ones(4))
    with devices.use("all"):
        run(out=out, until=2)
    with devices.use(2):
        same(one, run(out=out, resume=True))
    three = learn.Plan(steps=1, updates=1, minibatch=6, buffer=64)
    with devices.use("all"), pytest.raises(ValueError, match=r"6 examples .*: use 4 or 8"):
        learn.train(net, source, three, progress=False)


def beliefs(out: Path) -> None:
    game = public_game(games.load("kuhn"))
    source = learn.self_play(
        game, subgames(game, actions_limit(1)), js.pcfr_plus(), iterations=4, batch=4
    )
    training(source, nets.make_net(game, nets.ValueNetwork(8, 1), jax.random.key(0)), out)


def one_host(out: Path, width: int) -> None:
    """One of several processes that train together; goes on from the checkpoint if there is one."""
    hosts.start()
    devices.use_always("all")
    game = public_game(games.load("kuhn"))
    limited = subgames(game, actions_limit(1))
    source = learn.self_play(game, limited, js.pcfr_plus(), iterations=4, batch=4)
    net = nets.make_net(game, nets.ValueNetwork(width, 1), jax.random.key(0))
    plan = learn.Plan(steps=60, updates=2, minibatch=8, buffer=16)
    learn.train(net, source, plan, log_every=10, progress=False, out=out, resume=True)


def sound(out: Path) -> None:
    """Six episodes, which four devices cannot share equally."""
    table = public_table(games.load("kuhn"))
    resolver = growing_resolver(table, js.cfr_plus(2.0), simulations=4)
    source = learn.sound_self_play(resolver, episodes=6, solvers=4, queue=16)
    training(source, nets.make_net(table, nets.ValueNetwork(8, 1), jax.random.key(0)), out)


if __name__ == "__main__":
    folder, part = Path(sys.argv[1]), sys.argv[2]
    if part == "games":
        batches_of_games()
        boards()
    elif part == "spots":
        spots(folder)
    elif part == "searches":
        searches_and_matches()
        beliefs(folder)
    elif part == "sound":
        sound(folder)
    else:
        one_host(folder, int([*sys.argv, "8"][3]))
