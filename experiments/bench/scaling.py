"""Searches, sampled CFR, training and a spot on 1, 2 and 4 devices of one CPU.

`python experiments/bench/scaling.py` writes a table, and what `_scaling_model` makes of eight and
256 GPUs.

Strong scaling keeps the batch, weak scaling gives every device as much as one had. Forced devices
of one CPU share its cores, so what they show is the price of sharing: processor seconds for a
member of a batch, which stay equal if sharing costs nothing. Collectives and their bytes are
counted in the compiled program.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")

import jax
import jax.numpy as jnp

import games
import jaxsolve as js
from jaxsolve import devices, holdem, learn, mccfr, nets
from jaxsolve.holdem._parts import PartsEngine, advance_parts
from jaxsolve.learn._train import init_train, train_steps
from jaxsolve.public import actions_limit, public_game, public_table
from jaxsolve.search import growing_search, gt_cfr, subgames
from jaxsolve.solvers import init_state, run

if __name__ == "__main__":  # as a script, this folder is on the path and the clone is not
    sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from experiments import Report
from experiments.bench._scaling_model import Exchange, modelled, recorded_floors
from experiments.devices._hlo import collectives
from experiments.devices._programs import EXAMPLES
from experiments.devices._programs import PROGRAMS as PROGRAMS_OF_USERS

Program = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""A jitted function and its arguments."""


def searches(batch: int) -> Program:
    """A batch of GT-CFR searches from the start of Kuhn, leaves worth what a network says."""
    table = public_table(games.load("kuhn"))
    search = growing_search(table, js.cfr_plus(), simulations=16)
    value = nets.make_net(table, nets.ValueNetwork(32, 2), jax.random.key(0))
    ranges = jnp.ones((2, table.num_hands))

    @jax.jit
    def many(search: Any, value: Any, keys: Any) -> Any:
        def one(key: Any) -> Any:
            return gt_cfr(search, value, jnp.int32(0), ranges, key).policy

        return devices.vmap(one)(keys)

    return many, (search, value, jax.random.split(jax.random.key(0), batch)), {}


def sampled(batch: int) -> Program:
    """Four passes of CFR on sampled boards of Leduc, `batch` boards for each player."""
    where = mccfr.listed_boards(mccfr.listed_game(js.compile(games.load("leduc"))))
    tree = mccfr.vector_tree(where.tree, where.num_buckets)
    tables = mccfr.make_tables(where.game)
    given = (jnp.uint32(0), jnp.int32(0), jnp.int32(4), jnp.ones(3))
    arrays = (jnp.asarray(tables.regret), jnp.asarray(tables.average))
    static = {"sample": where.sample, "leaf_values": where.leaf_values, "boards": batch}
    return mccfr.vector_passes, (tree, where.data, *arrays, *given), static


def training(batch: int) -> Program:
    """A step of self-play from beliefs of Kuhn and one update with as many examples."""
    game = public_game(games.load("kuhn"))
    limited = subgames(game, actions_limit(1))
    source = learn.self_play(game, limited, js.pcfr_plus(), iterations=50, batch=batch)
    net = nets.make_net(game, nets.ValueNetwork(32, 2), jax.random.key(0))
    plan = learn.Plan(steps=100, updates=1, minibatch=batch, buffer=8 * batch)
    static = {"source": source, "plan": plan, "count": 1}
    return train_steps, (net, init_train(net, source, plan)), static


def turn(rivers: int) -> Program:
    """Four iterations of DCFR on a turn with 48 rivers and 28 hands; there are no more rivers."""
    sizes = {"bet": ["50%"], "raise": ["a"]}
    text = {"board": "Ts9s8s2h", "pot": 100, "stack": 400, "sizes": sizes}
    ranges = {"oop": "JJ,77,AKo,QJs", "ip": "TT,66,AQo,KJs"}
    spot = holdem.spot_tree(
        holdem.Spot.parse(text | ranges), operator="dense", symmetric=False, check=False
    )
    assert len(spot.streets[1].boards) == rivers
    mesh, count = devices.chosen(), jnp.int32(4)
    if mesh is None or mesh.size == 1:
        tree, function = spot.tree.replace(names=None), run
        state = init_state(tree, js.dcfr())
    else:
        engine = PartsEngine(spot, js.dcfr(), mesh)
        tree, function, state = engine.tree, advance_parts, engine.fresh()
    # Compiled once more, around the programs that give their state away.
    return jax.jit(lambda *given: function(*given)), (tree, js.dcfr(), state, count, count), {}


class Scaled(NamedTuple):
    """A program, and its batch on one device.

    Attributes:
        make: for a batch.
        batch: of the strong form.
        weak: whether larger batches exist.
    """

    make: Callable[[int], Program]
    batch: int
    weak: bool = True


PROGRAMS = {
    "GT-CFR searches": Scaled(searches, 256),
    "sampled CFR": Scaled(sampled, 64),
    "training step": Scaled(training, 256),
    "one turn spot": Scaled(turn, 48, weak=False),
}


def measured(make: Callable[[int], Program], batch: int, count: int, seconds: float) -> dict:
    """Returns seconds a call and processor seconds a member, and what devices exchange."""
    with devices.use(count):
        function, arguments, static = make(batch)
    with devices.use(count), devices.meshed():
        text = function.lower(*arguments, **static).compile().as_text()
        jax.block_until_ready(function(*arguments, **static))
        calls, start, busy = 0, time.perf_counter(), time.process_time()
        while calls < 3 or time.process_time() - busy < seconds:
            jax.block_until_ready(function(*arguments, **static))
            calls += 1
        wall, busy = time.perf_counter() - start, time.process_time() - busy
    moved = collectives(text)
    return {
        "batch": batch,
        "devices": count,
        "ms": 1e3 * wall / calls,
        "processor_us_a_member": 1e6 * busy / calls / batch,
        "collectives": len(moved),
        "bytes": sum(moved),
    }


def exchanged() -> list[Exchange]:
    """Returns what larger programs exchange in a step.

    Sums over boards: tables of regrets and averages, once for each player, and values of all
    sequences on the turn; of training, the gradient of each parameter.
    """
    turn = holdem.Spot.load(EXAMPLES / "turn.toml")
    spot = holdem.spot_tree(turn, check=False)
    above = 4 * sum(spot.numbers.streets[0].sequences) * len(turn.hands)
    _, (_, *tables) = PROGRAMS_OF_USERS["vectors of hands, 64 boards"].make("cpu")
    table = public_table(games.load("leduc"))
    net = nets.make_net(table, nets.ValueNetwork(64, 1), jax.random.key(0))
    gradient = sum(x.nbytes for x in jax.tree.leaves(net.params))
    return [
        Exchange("1,024 GT-CFR searches, leduc", 0, 0),
        Exchange("vectors of hands, 64 boards", 4, 2 * sum(x.nbytes for x in tables)),
        Exchange("training by sound self-play, leduc", 1, gradient),
        Exchange("turn, all hands", 2, above, weak=False),
    ]


def main(quick: bool, out: Path) -> Report:
    """Measures all programs on 1, 2 and 4 devices and writes the result."""
    start, report = time.perf_counter(), Report("scaling", quick, 0.0, [])
    for name, program in PROGRAMS.items():
        batch = 8 if quick and program.weak else program.batch
        kinds = ("strong", "weak") if program.weak else ("strong",)
        for scaling, count in (("one", 1), *((s, d) for s in kinds for d in (2, 4))):
            size = batch * count if scaling == "weak" else batch
            row = measured(program.make, size, count, 0.0 if quick else 2.0)
            report.rows.append({"program": name, "scaling": scaling, **row})
            report.seconds = time.perf_counter() - start
            report.save(out)
    model = Report("scaling_model", quick, 0.0, modelled(exchanged(), recorded_floors()))
    model.save(out / "model")
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny batches")
    parser.add_argument("--out", type=Path, default=Path("runs/scaling"), help="folder")
    given = parser.parse_args()
    main(given.quick, given.out)
    for part in ("scaling.md", "model/scaling_model.md"):
        print((given.out / part).read_text())
