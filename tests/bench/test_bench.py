"""The benchmark's own arithmetic, its choices, and the shape of one iteration on the device."""

from __future__ import annotations

import dataclasses
import json

import pytest

import games
import jaxsolve as js
from experiments import Report, load, markdown, names
from experiments.bench import loop_body
from experiments.bench._bench import main, summary
from experiments.bench._games import GAMES, choose
from experiments.bench._kernels import read
from experiments.bench._limits import count_gathers
from experiments.bench._peers import PEERS
from experiments.bench._peers import choose as choose_peers
from experiments.bench._timing import Times, interleaved

HLO = """\
HloModule jit_run

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %g = f32[8]{0} gather(%p), offset_dims={}
}

%inner (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %s = f32[8]{0} sort(%q), to_apply=%less
}

%less (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %x = f32[8]{0} get-tuple-element(%t), index=1
  %copy = f32[8]{0} copy(%x)
  %fusion = f32[8]{0} fusion(%copy), kind=kLoop, calls=%fused
  %call = f32[8]{0} call(%fusion), to_apply=%inner
  %start = (f32[8]{0}, f32[8]{0}) copy-start(%call)
  %done = f32[8]{0} copy-done(%start)
  ROOT %out = (s32[], f32[8]{0}) tuple(%i, %done)
}

%condition (t.1: (s32[], f32[8])) -> pred[] {
  %t.1 = (s32[], f32[8]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%t.1), index=0
  %n = s32[] constant(3)
  ROOT %lt.1 = pred[] compare(%i.1, %n), direction=LT
}

ENTRY %main (x.1: f32[8]) -> (s32[], f32[8]) {
  %x.1 = f32[8]{0} parameter(0)
  %zero = s32[] constant(0)
  %tuple = (s32[], f32[8]{0}) tuple(%zero, %x.1)
  ROOT %while = (s32[], f32[8]{0}) while(%tuple), condition=%condition, body=%body
}
"""


def test_kernels_are_counted_once():
    body = read(HLO)
    assert body.kinds == {"copy": 2, "fusion": 1, "sort": 1}
    assert body.kernels == 4
    assert body.inside["gather"] == 1
    assert (body.scatters, body.transfers) == (0, 0)


def test_scatters_and_transfers_are_seen_inside_fusions():
    text = HLO.replace("gather(%p)", "scatter(%p)").replace(
        "copy(%x)", 'custom-call(%x), custom_call_target="xla_ffi_python_cpu_callback"'
    )
    body = read(text)
    assert (body.scatters, body.transfers) == (1, 1)
    with pytest.raises(ValueError, match="no loop"):
        read("HloModule empty")


@pytest.mark.parametrize(
    "solver", ["pcfr+", *(pytest.param(s, marks=pytest.mark.slow) for s in ("cfr+", "hs-dcfr"))]
)
@pytest.mark.parametrize(("game", "layout"), [("leduc", "rows"), ("liars_dice(sides=4)", "hands")])
def test_an_iteration_stays_on_the_device_and_never_scatters(game, layout, solver):
    tree = js.compile(games.load(game), layout=layout)
    body = loop_body(tree, js.load_solver(solver))
    assert body.scatters == 0
    assert body.transfers == 0
    # A handful of kernels per block of rows, whatever the number of rows.
    blocks = sum(len(p.blocks) for p in tree.players)
    assert body.kernels <= 16 * blocks


def test_gathers_are_counted():
    tree = js.compile(games.load("kuhn"))
    leaves = sum(i.size for g in tree.leaves[0].lists for i in g.index)
    parents = sum(b.parent.size for p in tree.players for b in p.blocks)
    children = sum(i.size for p in tree.players for g in p.children for i in g.index)
    orders = sum(g.order.size for p in tree.players for g in p.children if g.order is not None)
    orders += sum(g.order.size for g in tree.leaves[0].lists if g.order is not None)
    assert count_gathers(tree) == leaves + parents + children + orders


def test_solvers_take_turns():
    turns = []

    def solver(name):
        return lambda count: turns.append(name)

    times = interleaved({"a": solver("a"), "b": solver("b")}, rounds=4, seconds=1e-9)
    assert turns[-8:] == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert {len(t.ms) for t in times.values()} == {4}


def test_ratios_are_formed_within_a_round():
    ours, theirs = Times([1.0, 2.0, 4.0]), Times([10.0, 40.0, 40.0])
    assert theirs.ratio(ours) == 10
    assert theirs.median == 40


def test_geometric_mean_leaves_kuhn_out():
    larger = [g for g in GAMES if g.larger]
    assert len(larger) == 5
    rows = [{"game": "kuhn", "peer": "openspiel", "ratio": 1.0}]
    rows += [{"game": g.name, "peer": "openspiel", "ratio": 4.0**k} for k, g in enumerate(larger)]
    mean = summary(rows, list(GAMES))["openspiel"]
    assert mean["games"] == 5
    assert mean["ratio"] == pytest.approx(16)
    assert mean["smallest"] == 1


def test_games_are_chosen_by_name():
    assert [g.name for g in choose(None, quick=True)] == ["kuhn", "leduc"]
    assert len(choose(None)) == 6
    assert len(choose(None, large=True)) == 8
    some = choose("leduc,goofspiel(order=descending,cards=5),liars_dice(sides=4),coin_toss")
    assert [g.openspiel for g in some[:3]] == [
        "leduc_poker",
        "goofspiel(num_cards=5,imp_info=true,points_order=descending)",
        "liars_dice(dice_sides=4)",
    ]
    assert some[3].openspiel == ""
    with pytest.raises(ValueError, match="Known games"):
        choose("leduk")


def test_unknown_peer_lists_the_known():
    with pytest.raises(ValueError, match="openspiel, liteefg"):
        choose_peers("openspeil")
    assert choose_peers("none") == {}


@pytest.mark.slow
def test_missing_peer_is_named_and_left_out(tmp_path, monkeypatch):
    """A whole run on the smallest game, without one of its peers."""
    missing = PEERS["liteefg"]._replace(package="a_package_that_is_not_there")
    monkeypatch.setitem(PEERS, "liteefg", missing)
    said = []
    report = main(True, tmp_path, games="kuhn", against="openspiel,liteefg", say=said.append)
    assert any("liteefg is not installed" in s and missing.install in s for s in said)
    content = json.loads((tmp_path / "result.json").read_text())
    assert {"name", "quick", "device", "jax", "seconds", "rows"} <= content.keys()
    (row,) = content["rows"]
    assert row["peer"] == "openspiel"
    assert row["states"] == 58
    for key in ("build_seconds", "compile_seconds", "ms_per_iteration", "memory_mb", "ratio"):
        assert row[key] > 0
    assert row["scatters"] == row["host_transfers"] == 0
    assert "| kuhn |" in (tmp_path / "bench.md").read_text()
    assert report.table


def test_report_writes_plain_json(tmp_path):
    report = Report("some", True, 1.0, [{"x": 1, "y": float("nan")}, {"x": 2, "z": "w"}])
    report.save(tmp_path)
    rows = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert rows == [{"x": 1, "y": None}, {"x": 2, "z": "w"}]
    assert markdown(rows).splitlines()[1] == "|--:|--:|---|"
    chosen = dataclasses.replace(report, columns=("z",))
    assert chosen.table == [{"z": None}, {"z": "w"}]


def test_experiments_are_listed():
    assert {"bench", "parity"} <= set(names())
    assert callable(load("parity").main)
    with pytest.raises(ValueError, match="Did you mean 'parity'"):
        load("parityy")
