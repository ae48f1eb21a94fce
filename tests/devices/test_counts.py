"""Kernels, bytes and flops read from a compiled program; floors; bad input of the study."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from experiments.devices import _compile, _study
from experiments.devices._compile import DEVICES, compile_for
from experiments.devices._hlo import Counts, count, kernels, size
from experiments.devices._measure import floor, measure

HLO = """\
HloModule jit_run

%fused_gather (p: f32[100,8], i: s32[4,1]) -> f32[4,8] {
  %p = f32[100,8]{1,0} parameter(0)
  %i = s32[4,1]{1,0} parameter(1)
  %two = f32[] constant(2)
  %wide = f32[100,8]{1,0} broadcast(%two), dimensions={}
  %double = f32[100,8]{1,0} multiply(%p, %wide)
  ROOT %g = f32[4,8]{1,0} gather(%double, %i), offset_dims={1}
}

%command_buffer (q: f32[4,8]) -> f32[4,8] {
  %q = f32[4,8]{1,0} parameter(0)
  ROOT %n = f32[4,8]{1,0} copy(%q)
}

%body (t: (s32[], f32[100,8], s32[4,1], bf16[8,16])) -> (s32[], f32[100,8], s32[4,1], bf16[8,16]) {
  %t = (s32[], f32[100,8]{1,0}, s32[4,1]{1,0}, bf16[8,16]{1,0}) parameter(0)
  %k = s32[] get-tuple-element(%t), index=0
  %x = f32[100,8]{1,0} get-tuple-element(%t), index=1
  %at = s32[4,1]{1,0} get-tuple-element(%t), index=2
  %w = bf16[8,16]{1,0} get-tuple-element(%t), index=3
  %f = f32[4,8]{1,0} fusion(%x, %at), kind=kLoop, calls=%fused_gather
  %c = f32[4,8]{1,0} call(%f), to_apply=%command_buffer
  %h = bf16[4,8]{1,0} convert(%c)
  %d = (f32[4,16]{1,0}, s8[1024]{0}) custom-call(%h, %w), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
  ROOT %out = (s32[], f32[100,8]{1,0}, s32[4,1]{1,0}, bf16[8,16]{1,0}) tuple(%k, %x, %at, %w)
}

ENTRY %main (x.1: f32[100,8]) -> (s32[]) {
  %x.1 = f32[100,8]{1,0} parameter(0)
  ROOT %while = (s32[], f32[100,8]{1,0}, s32[4,1]{1,0}, bf16[8,16]{1,0}) while(%x.1), condition=%less, body=%body
}
"""  # noqa: E501

TPU = """\
%fused_product (p: f32[7,64,300], q: f32[7,300,50]) -> f32[7,64,50] {
  %p = f32[7,64,300]{1,2,0} parameter(0)
  %q = f32[7,300,50]{1,2,0} parameter(1)
  ROOT %c = f32[7,64,50]{1,2,0} convolution(%p, %q), window={WINDOW}, dim_labels=0bf_0io->0bf
}

ENTRY %main (x: f32[7,64,300], y: f32[7,300,50]) -> f32[7,64,50] {
  %x = f32[7,64,300]{1,2,0} parameter(0)
  %y = f32[7,300,50]{1,2,0} parameter(1)
  ROOT %f = f32[7,64,50]{1,2,0} fusion(%x, %y), kind=kOutput, calls=%fused_product
}
"""


@pytest.mark.parametrize(
    ("window", "factors"), [("size=7 stride=6 lhs_dilate=7", 300), ("size=3 pad=1_1", 3 * 300)]
)
def test_a_convolution_is_a_product(window: str, factors: int):
    """A dilated window holds the batch of a product; any other one adds factors."""
    (product,) = kernels(TPU.replace("WINDOW", window))
    assert (product.kind, product.flops) == ("product", 2 * 7 * 64 * 50 * factors)


def test_a_loop_is_counted_by_hand():
    found = {k.kind: k for k in kernels(HLO)}
    assert sorted(found) == ["convert", "copy", "fusion", "product"]
    # Four rows of the hundred, and where they are.
    assert (found["fusion"].read, found["fusion"].written) == (4 * 8 * 4 + 4 * 4, 4 * 8 * 4)
    assert found["copy"].recorded
    assert not found["fusion"].recorded
    product = found["product"]
    assert (product.flops, product.half) == (2 * 4 * 16 * 8, True)
    assert (product.read, product.written) == (4 * 8 * 2 + 8 * 16 * 2, 4 * 16 * 4)
    whole = count(HLO)
    assert (whole.kernels, whole.recorded, whole.half_flops, whole.flops) == (4, 1, 1024, 0)
    assert whole.read == sum(k.read for k in found.values())
    assert size("(f32[2,3]{1,0}, s8[5]{0}, pred[])") == 24 + 5 + 1


def test_text_that_is_no_program_is_refused():
    with pytest.raises(ValueError, match="no compiled program"):
        count("HloModule nothing\n")


def test_the_largest_of_three_times_is_the_floor():
    some = Counts({"fusion": 100}, 100, 0, read=3_350_000, written=0, flops=0, half_flops=0)
    found = floor(some, DEVICES["h100"])
    assert found["launches_ms"] == pytest.approx(0.2)
    assert found["bytes_ms"] == pytest.approx(0.001)
    assert (found["floor_ms"], found["bound_by"]) == (found["launches_ms"], "launches")
    more = floor(some._replace(half_flops=990 * 10**9), DEVICES["h100"])
    assert (more["floor_ms"], more["bound_by"]) == (pytest.approx(1.0), "flops")
    assert floor(some, DEVICES["cpu"])["floor_ms"] is None


def test_kuhn_is_measured_on_this_processor():
    row = measure("CFR+, kuhn", "cpu")
    assert row["kernels"] >= row["fusions"] > 5
    assert 0 < row["bytes_written"] < row["bytes"] < 1e5
    assert set(row) >= {"program", "device", "copies", "flops", "temp_bytes", "floor_ms"}


def test_bad_input_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="unknown device 'h200'; known: h100, v5e, cpu"):
        _study.main(True, tmp_path, devices=("h200",))
    with pytest.raises(ValueError, match=r"unknown program 'chess'; known: CFR\+, kuhn"):
        _study.main(True, tmp_path, programs=("chess",))
    monkeypatch.setattr(_compile.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"H100.* is not installed; .*jaxsolve\[devices\]"):
        _study.main(True, tmp_path, devices=("cpu", "h100"))
    with pytest.raises(ImportError, match=r"jaxsolve\[devices\]"):
        compile_for(DEVICES["h100"], None, ())  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made: list[str] = []

    def one(program: str, device: str) -> dict[str, object]:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(program)
        kept = ("bytes", "bytes_read", "bytes_written", "flops", "temp_bytes", "copies")
        kept += ("collectives", "custom_calls", "in_command_buffers", "counted")
        times = ("floor_ms", "bound_by", "estimate_ms", "cycles_ms", "peer_ms")
        row = {"program": program, "device": device, "kernels": 1, "fusions": 1, "products": 0}
        return row | dict.fromkeys(kept, 0) | dict.fromkeys(times)

    monkeypatch.setattr(_study, "_in_process", one)
    with pytest.raises(KeyboardInterrupt):
        _study.main(True, tmp_path, devices=("cpu",), say=lambda _: None)
    made.clear()
    report = _study.main(True, tmp_path, devices=("cpu",), say=lambda _: None)
    assert len(made) == 1
    assert len(report.rows) == 3


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("jax_cuda12_plugin") is None, reason="the extra devices is not here"
)
def test_rivers_compile_for_an_h100(tmp_path: Path):
    report = _study.main(True, tmp_path, devices=("h100",), say=lambda _: None)
    rows = {row["program"]: row for row in report.rows}
    assert rows["river, all hands"]["kernels"] <= 30
    assert rows["river, all hands"]["copies"] == 0
