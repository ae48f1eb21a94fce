"""Iterations in C++ against the loop in JAX, and what is kept of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve import native
from jaxsolve.holdem._engine import SpotEngine, SpotState, predicts, spot_engine
from jaxsolve.holdem._report import Reports
from jaxsolve.holdem._solution import Averages, OnTensors, averages, places
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.regret import Step, normalise
from jaxsolve.solvers import SolveState, init_state, run
from jaxsolve.tree import join_blocks, split_blocks

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TURN = {
    "board": "Ts9s8s2h",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}
RIVER = {**TURN, "board": "Ts9s8s2h3c"}
FLOP = {**TURN, "board": "Ts9s8s", "stack": 60, "sizes": {"bet": ["a"], "raise": ["a"]}}
pytestmark = pytest.mark.skipif(
    native.host_library("spots") is None, reason="no C++ compiler here: nothing to compare"
)

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("flop", "wide river")]
"""Tens of seconds of compilation and plain iterations each."""


@pytest.fixture(scope="module", params=["turn, raked", *SLOW])
def spot(request: pytest.FixtureRequest) -> SpotTree:
    """Two, three and one streets, the longer ones with symmetric suits; different ranges."""
    if request.param == "wide river":
        river = he.Spot.load(EXAMPLES / "river.toml").as_dict()
        wide = he.Spot.parse({**river, "oop": "full", "ip": "22+,A2+,K2+,Q2+"})
        return he.spot_tree(wide)
    rake = {"rake": 0.05, "rake_cap": 8} if "raked" in request.param else {}
    return he.spot_tree(he.Spot.parse({**(FLOP if request.param == "flop" else TURN), **rake}))


def engine_of(spot: SpotTree, solver: str = "dcfr", **options: int) -> SpotEngine:
    engine = spot_engine(spot, js.load_solver(solver), **options)  # type: ignore[arg-type]
    assert engine is not None
    return engine


def vector(spot: SpotTree, player: int, rows: np.ndarray) -> np.ndarray:
    """Returns numbers of a player's sequences and hands in the order of the tensors."""
    tree = spot.tree.players[player]
    out = np.zeros((tree.num_sequences, tree.num_hands), np.float32)
    mine = spot.player_hands[player]
    for s, outs in enumerate(spot.streets):
        for b in range(len(outs.boards)):
            first = spot.offset(player, s, b)
            at = places(spot, player, s, b)
            out[np.ix_(at, mine)] = rows[first : first + len(at)]
    return out


def random_states(
    spot: SpotTree, engine: SpotEngine, solver: js.Solver
) -> tuple[SpotState, SolveState]:
    """Returns the same random regrets and averages in both forms; no two actions are equal."""
    rng = np.random.default_rng(7)
    ours = engine.fresh()
    ours.iteration, ours.weight = 3, 3.0
    least = float(
        solver.minimizer.coefficients(Step(jnp.ones(()), jnp.ones(()))).least  # type: ignore[misc]
    )
    theirs = init_state(spot.tree, solver)
    minimizer, policies, means = [], [], []
    for i, player in enumerate(spot.tree.players):
        drawn = rng.normal(size=ours.regret[i].shape).astype(np.float32)
        ours.regret[i][...] = 0.1 + np.abs(drawn) if least == 0 else drawn
        ours.mean[i][...] = rng.random(ours.mean[i].shape)
        blocks = split_blocks(player, jnp.asarray(vector(spot, i, ours.regret[i])))
        both = list(zip(blocks, player.legal, strict=True))
        policy = tuple(normalise(jnp.maximum(r, 0), legal) for r, legal in both)
        if predicts(solver):
            rows = np.asarray(join_blocks(player, policy))
            for s, outs in enumerate(spot.streets):
                for b in range(len(outs.boards)):
                    first, at = spot.offset(i, s, b), places(spot, i, s, b)
                    ours.play[i][first : first + len(at)] = rows[at][:, spot.player_hands[i]]
        start = zip(theirs.minimizer[i], blocks, strict=True)
        minimizer.append(tuple(type(state)(r) for state, r in start))
        policies.append(policy)
        mean = jnp.asarray(vector(spot, i, ours.mean[i]))
        mean = mean.at[0].set(theirs.reach[i][0])
        old = theirs.average[i]
        means.append(old._replace(mean=mean, weight=jnp.full_like(old.weight, 3)))
    reach = tuple(
        js_reach(p, policy) for p, policy in zip(spot.tree.players, policies, strict=True)
    )
    return ours, theirs._replace(
        iteration=jnp.asarray(3, jnp.int32),
        minimizer=tuple(minimizer),
        policy=tuple(policies),
        reach=reach,
        average=tuple(means),
    )


def js_reach(player: js.PlayerTree, policy: tuple[jax.Array, ...]) -> jax.Array:
    from jaxsolve.tree import reach_of

    return reach_of(player, policy)


@pytest.mark.parametrize("name", few(["dcfr", "pdcfr+"], "dcfr".__eq__))
def test_one_iteration_equals_the_loop(spot: SpotTree, name: str):
    solver, engine = js.load_solver(name), engine_of(spot, name, threads=2)
    ours, theirs = random_states(spot, engine, solver)
    ours = engine.advance(ours, 1, 10)
    theirs = run(spot.tree.replace(names=None), solver, theirs, jnp.int32(1), jnp.int32(10))
    scale = max(float(jnp.abs(r).max()) for r in jax.tree.leaves(theirs.minimizer))
    for i, player in enumerate(spot.tree.players):
        mine = spot.player_hands[i]
        legal = vector(spot, i, np.ones_like(ours.mean[i])) > 0
        regret = join_blocks(player, tuple(r for (r,) in theirs.minimizer[i]))
        pairs = [
            (vector(spot, i, ours.regret[i]), regret, 2e-5 * scale),
            (vector(spot, i, ours.mean[i]), theirs.average[i].mean, 2e-6),
        ]
        if predicts(solver):
            policy = join_blocks(player, theirs.policy[i])
            pairs.append((vector(spot, i, ours.play[i]), policy, 5e-4))
        for a, b, tolerance in pairs:
            np.testing.assert_allclose(a[legal], np.asarray(b)[legal], atol=tolerance)
        assert len(mine) <= player.num_hands
    assert ours.weight == pytest.approx(float(theirs.average[0].weight.ravel()[0]), rel=1e-6)


@pytest.mark.parametrize("name", few(sorted(js.SOLVERS), {"cfr+"}.__contains__))
def test_runs_begin_as_in_jax(spot: SpotTree, name: str):
    solver = js.load_solver(name)
    engine = spot_engine(spot, solver)
    if engine is None:
        assert solver.minimizer.coefficients is None or solver.output != "average"
        return
    state = engine.advance(engine.fresh(), 2, 10)
    gap, values = engine.measure(state)
    want = js.solve(spot.tree, solver, iterations=2, measure_every=2, progress=False)
    np.testing.assert_allclose(values, want.values, atol=1e-5 * spot.spot.pot)
    assert gap == pytest.approx(want.exploitability, abs=1e-4 * spot.spot.pot)


@pytest.mark.parametrize("iterations", [1, 40])
def test_values_are_those_of_the_average_policy(spot: SpotTree, iterations: int):
    engine = engine_of(spot)
    state = engine.advance(engine.fresh(), iterations, 40)
    gap, values = engine.measure(state)
    found = averages(engine, state)
    policy = found.policy
    np.testing.assert_allclose(
        values, js.expected_values(spot.tree, policy), atol=1e-5 * spot.spot.pot
    )
    want = float(js.exploitability(spot.tree, policy))
    assert gap == pytest.approx(want, abs=2e-5 * spot.spot.pot)
    assert gap > 0
    ours, theirs = Reports(spot, found), Reports(spot, OnTensors(spot, policy))
    rng = np.random.default_rng(0)
    betting = spot.betting
    for node in rng.permutation(np.flatnonzero(betting.kind == 0))[:12].tolist():
        board = int(rng.integers(len(spot.streets[betting.street[node]].boards)))
        a, b = ours.at(node, board), theirs.at(node, board)
        here = b.reach > 1e-6
        np.testing.assert_allclose(a.reach, b.reach, atol=1e-6)
        np.testing.assert_allclose(a.weight, b.weight, atol=1e-6)
        np.testing.assert_allclose(a.strategy[here], b.strategy[here], atol=1e-4)
        seen = here & (b.weight > 1e-4)
        for x, y in ((a.value, b.value), (a.best, b.best)):
            np.testing.assert_allclose(x[seen], y[seen], atol=1e-2)


def test_threads_change_nothing(spot: SpotTree):
    one, three = (engine_of(spot, threads=n) for n in (1, 3))
    a, b = (e.advance(e.fresh(), 5, 5) for e in (one, three))
    for x, y in zip(a.arrays, b.arrays, strict=True):
        np.testing.assert_array_equal(x, y)
    assert one.measure(a)[0] == three.measure(b)[0]


def test_calls_change_nothing(spot: SpotTree):
    engine = engine_of(spot, bits=16)
    at_once = engine.advance(engine.fresh(), 7, 7)
    state = engine.fresh()
    for _ in range(7):
        state = engine.advance(state, 1, 7)
    for x, y in zip(at_once.arrays, state.arrays, strict=True):
        np.testing.assert_array_equal(x, y)


def test_runs_converge(spot: SpotTree):
    result = he.solve(spot, target=None, iterations=200, measure_every=100, progress=False)
    # Measured in JAX, from the average policy.
    found = float(js.exploitability(spot.tree, result.policy))
    assert found == pytest.approx(result.exploitability_chips, abs=2e-5 * spot.spot.pot)
    assert found < 0.005 * spot.spot.pot


@pytest.mark.parametrize("name", ["river", pytest.param("turn", marks=pytest.mark.long)])
def test_sixteen_bits_are_enough(name: str):
    """After 1,000 iterations at most 1.2 times as exploitable as 32 bits."""
    spot = he.Spot.load(EXAMPLES / f"{name}.toml")
    found = [
        he.solve(
            spot, target=None, iterations=1000, measure_every=1000, bits=bits, progress=False
        ).exploitability_chips
        for bits in (32, 16)
    ]
    assert found[0] < 0.001 * spot.pot
    assert found[1] <= 1.2 * found[0]


def test_locks_hold_in_every_part():
    free = he.spot_tree(he.Spot.parse(TURN))
    locked = he.lock(free, "", {"JJ": {"x": 1.0}, "AKo": {"b50": 0.25, "x": 0.75}})
    locked = he.lock(locked, "x x / x", {"b50": 0.5, "x": 0.5}, board="Ts9s8s2h3c")
    locked = he.lock(locked, "x b50", {"f": 1.0})
    engine = engine_of(locked)
    for iterations in (1, 2, 3):
        state = engine.advance(engine.fresh(), iterations, 10)
        gap, values = engine.measure(state)
        want = js.solve(locked.tree, "dcfr", iterations=iterations, progress=False)
        np.testing.assert_allclose(values, want.values, atol=1e-3)
        assert gap == pytest.approx(want.exploitability, abs=1e-2)
    assert (
        np.abs(values - js.solve(free.tree, "dcfr", iterations=3, progress=False).values).max() > 1
    )
    found = averages(engine, state)
    policy = found.policy
    assert float(js.exploitability(locked.tree, policy)) == pytest.approx(gap, abs=1e-3)
    node = Reports(locked, found).node("x x / x", "Ts9s8s2h3c")
    np.testing.assert_allclose(node.strategy, 0.5)
    again = he.solve(locked, target=None, iterations=300, progress=False)
    assert again.exploitability_chips < 0.05


@pytest.mark.parametrize("bits", [32, 16])
def test_a_run_goes_on_where_it_was(tmp_path: Path, bits: int):
    spot = he.spot_tree(he.Spot.parse(RIVER))
    kind = {"solver": "dcfr", "target": None, "bits": bits, "progress": False}
    whole = he.solve(spot, iterations=40, measure_every=20, **kind)

    def stop(iteration: int, seconds: float, chips: float) -> None:
        if iteration == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        he.solve(
            spot, iterations=40, measure_every=20, out=tmp_path, checkpoint_seconds=0,
            callback=stop, **kind,
        )  # fmt: skip
    first = he.solve(
        spot, iterations=40, measure_every=10, out=tmp_path / "b", time_limit=1e-9,
        **kind,
    )  # fmt: skip
    assert first.status == "time limit"
    rest = he.solve(spot, iterations=40, measure_every=20, out=tmp_path / "b", resume=True, **kind)
    for a, b in zip(whole.solution.mean, rest.solution.mean, strict=True):
        np.testing.assert_array_equal(a, b)
    assert rest.exploitability_chips == whole.exploitability_chips
    other = he.spot_tree(he.Spot.parse({**RIVER, "pot": 101}))
    with pytest.raises(ValueError, match="another configuration"):
        he.solve(other, iterations=40, out=tmp_path / "b", resume=True, **kind)


@pytest.mark.parametrize("bits", [32, 16])
def test_a_saved_solution_is_read_with_and_without_a_compiler(
    tmp_path: Path, bits: int, monkeypatch: pytest.MonkeyPatch
):
    spot = he.lock(he.spot_tree(he.Spot.parse(RIVER)), "x", {"TT": {"b50": 0.25, "x": 0.75}})
    result = he.solve(spot, target=None, iterations=20, bits=bits, progress=False)
    result.save(tmp_path)
    lines = ("", "x", "b50 a")
    wanted = [result.node(line) for line in lines]
    loaded = [he.load_result(tmp_path).node(line) for line in lines]
    monkeypatch.setenv("JAXSOLVE_NATIVE", "0")
    plain = he.load_result(tmp_path)
    assert isinstance(plain.solution, Averages)
    assert plain.solution.engine is None
    for want, *found in zip(wanted, loaded, [plain.node(line) for line in lines], strict=True):
        for node in found:
            np.testing.assert_array_equal(node.hands, want.hands)
            here = want.reach > 0
            np.testing.assert_allclose(node.strategy[here], want.strategy[here], atol=1e-5)
            seen = here & (want.weight > 1e-4)
            np.testing.assert_allclose(node.value[seen], want.value[seen], atol=1e-2)


def test_what_is_left_to_jax_or_refused(monkeypatch: pytest.MonkeyPatch):
    spot = he.spot_tree(he.Spot.parse(RIVER))
    assert spot_engine(spot, js.dcfr().simultaneous()) is None
    assert spot_engine(spot, js.load_solver("mmd")) is None
    assert spot_engine(dataclasses.replace(spot, operator="prefix"), js.dcfr()) is None
    many = he.Spot.parse(
        {**RIVER, "sizes": {"bet": [f"{k}%" for k in range(30, 100)], "raise": []}}
    )
    assert spot_engine(he.spot_tree(many), js.dcfr()) is None  # more actions than it has room for
    with pytest.raises(ValueError, match="bits is one of 32, 16, not 8"):
        he.solve(spot, bits=8)
    with pytest.raises(ValueError, match="predicts regrets"):
        he.solve(spot, solver="pcfr+", bits=16)
    monkeypatch.setenv("JAXSOLVE_NATIVE", "0")
    with pytest.raises(ValueError, match="16 bits need a C"):
        he.solve(spot, bits=16)
    plain = he.solve(spot, target=None, iterations=3, progress=False)
    assert isinstance(plain.solution, OnTensors)
