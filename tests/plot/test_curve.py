"""Pictures of curves: everything is drawn, labelled and told apart."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve.solvers import Curve
from jaxsolve.solvers.variants import SOLVERS

pytest.importorskip("matplotlib")


def straight(last: int, slope: float = 1.0) -> Curve:
    """Exploitability t^-slope at t = 1, 2, ..., measured every millisecond."""
    return Curve.of([(t, 1e-3 * t, t**-slope) for t in range(1, last + 1)])


def drawn(*arguments: Any, **options: Any) -> Any:
    from jaxsolve.plot import curve

    figure = curve(*arguments, **options)
    figure.canvas.draw()
    (axes,) = figure.axes
    return axes


def test_solvers_are_told_apart() -> None:
    curves = {name: straight(20, 1 + 0.1 * k) for k, name in enumerate(SOLVERS)}
    axes = drawn(curves)
    looks = {(x.get_color(), x.get_linestyle(), x.get_marker()) for x in axes.get_lines()}
    assert len(looks) == len(SOLVERS)
    # The legend is in the order in which the curves end, and covers none of them.
    assert [x.get_text() for x in axes.get_legend().get_texts()] == list(SOLVERS)
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1


def test_results_are_named_after_their_solvers() -> None:
    results = [js.solve("kuhn", s, iterations=10, progress=False) for s in ("cfr", "cfr", "cfr+")]
    names = [x.get_text() for x in drawn(results).get_legend().get_texts()]
    assert names == ["cfr", "cfr (2)", "cfr+"]
    (line,) = drawn(results[2]).get_lines()
    np.testing.assert_array_equal(line.get_ydata(), results[2].curve.exploitability)


def test_axes_say_what_they_show() -> None:
    axes = drawn(straight(9), title="kuhn", against="seconds", unit="chips")
    assert axes.get_xlabel() == "time in iterations (s)"
    assert axes.get_ylabel() == "exploitability: NashConv / players (chips)"
    assert axes.get_title() == "kuhn"
    assert axes.get_legend() is None
    with pytest.raises(ValueError, match=r"must be .* not 'time'"):
        drawn(straight(9), against="time")


@pytest.mark.parametrize("curve", [straight(1), straight(2), straight(500), Curve.of([(1, 0, 0)])])
def test_labels_do_not_overlap(curve: Curve, tmp_path: Path) -> None:
    axes = drawn({"one": curve})
    for axis in (axes.xaxis, axes.yaxis):
        boxes = [x.get_window_extent() for x in axis.get_ticklabels() if x.get_text()]
        shown = [b for b in boxes if axes.get_window_extent().overlaps(b.expanded(2, 2))]
        assert not any(a.overlaps(b) for k, a in enumerate(shown) for b in shown[:k])
    axes.figure.savefig(tmp_path / "curve.png")


def test_points_that_have_no_place_are_left_out() -> None:
    rows = [(1, 0.1, 1.0), (2, 0.2, 0.0), (3, 0.3, float("nan")), (4, 0.4, 0.1)]
    (line,) = drawn({"one": Curve.of(rows)}).get_lines()
    assert line.get_xdata().tolist() == [1, 4]


def test_without_matplotlib_the_message_says_how_to_get_it(monkeypatch: Any) -> None:
    for module in ("matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "jaxsolve\[plot\]"'):
        drawn(straight(3))
