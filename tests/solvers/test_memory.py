"""What a dry run announces is what a run then takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve.solvers import average_policy, current_policy, init_state, run
from jaxsolve.solvers._memory import memory
from jaxsolve.tree import _memory, check_fits, run_bytes

CASES = [
    ("leduc", "rows", "cfr+"),
    ("leduc", "hands", "dcfr"),
    ("leduc", "rows", "apcfr+"),
    ("goofspiel(cards=4)", "rows", "pcfr+"),
    ("kuhn(players=3)", "rows", "mmd"),
]


@pytest.fixture(
    scope="module",
    params=few([[*case] for case in CASES], lambda case: case[0].startswith("kuhn")),
    ids="-".join,
)
def case(request):
    game, layout, solver = request.param
    return js.compile(games.load(game), layout=layout), js.load_solver(solver)


def test_tree_and_state_are_counted_exactly(case):
    tree, solver = case
    needed = memory(tree, solver)
    assert sum(needed.tree.values()) == sum(x.nbytes for x in jax.tree.leaves(tree))
    state = init_state(tree, solver)
    assert sum(needed.state.values()) == sum(x.nbytes for x in jax.tree.leaves(state))


def test_peak_is_within_ten_percent_of_the_programs(case):
    tree, solver = case
    needed = memory(tree, solver)
    state = init_state(tree, solver)

    @jax.jit
    def measure(tree, state):
        pick = current_policy if solver.output == "current" else average_policy
        return js.exploitability(tree, pick(tree, state))

    loop = run.lower(tree, solver, state, jnp.int32(7), jnp.int32(7)).compile().memory_analysis()
    gauge = measure.lower(tree, state).compile().memory_analysis()
    there = sum(x.nbytes for x in jax.tree.leaves((tree, state)))
    assert loop.argument_size_in_bytes == pytest.approx(there, rel=0.01)
    new = loop.output_size_in_bytes - loop.alias_size_in_bytes + loop.temp_size_in_bytes
    # The whole state is kept during a measurement, also what the program does not read.
    used = there + max(new, gauge.output_size_in_bytes + gauge.temp_size_in_bytes)
    assert needed.device == pytest.approx(used, rel=0.1)


def test_the_estimate_from_sizes_is_near(case):
    """What refuses a tree and what a dry run announces differ by less than a half."""
    tree, solver = case
    entries = sum(p.num_sequences * p.num_hands for p in tree.players)
    tensors = sum(x.nbytes for x in jax.tree.leaves(tree))
    ratio = run_bytes(entries, tensors=tensors) / memory(tree, solver).device
    assert 2 / 3 < ratio < 3 / 2


def test_what_does_not_fit_is_refused_with_the_figure(monkeypatch):
    monkeypatch.setattr(_memory, "free_bytes", lambda: 2**20)
    check_fits("a small tree", 2**19, what="7 sequences", instead="Do something.")
    with pytest.raises(MemoryError, match=r"needs about 0.50 GiB \(7 sequences\).*Do something"):
        check_fits("a tree", 2**29, what="7 sequences", instead="Do something.")


@pytest.mark.slow  # seconds of compilation
def test_nothing_is_allocated_and_the_process_peak_is_near():
    """In a process of its own: arrays on the device, and the peak of the process."""
    program = """
        import json, resource, sys
        import jax, games, jaxsolve as js
        from jaxsolve.solvers import memory

        tree = js.compile(games.load("liars_dice(sides=4)"))
        solver = js.cfr_plus()
        before = len(jax.live_arrays())
        needed = memory(tree, solver)
        new = len(jax.live_arrays()) - before
        result = js.solve(tree, solver, iterations=10, progress=False)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"new": new, "announced": needed.process, "peak": peak}))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    found = json.loads(done.stdout)
    assert found["new"] == 0
    assert found["announced"] == pytest.approx(found["peak"], rel=0.1)


def test_command_line_prints_one_object(capsys):
    from jaxsolve.cli import _dry_run

    _dry_run.show(js.compile(games.load("kuhn")), js.cfr_plus(), as_json=True)
    content = json.loads(capsys.readouterr().out)
    assert content["states"] == 58
    assert content["infosets"] == [6, 6]
    parts = content["bytes"]
    device = sum(v for k, v in parts.items() if k.startswith(("tree", "solver")))
    rest = max(parts["intermediate: iterations"], parts["intermediate: measurements"])
    assert parts["peak: device"] == device + rest
