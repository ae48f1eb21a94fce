"""Exploitability curves."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxsolve.solvers import Curve, Result

MARKERS = "os^Dv<>pPX*hd"
COLOURS = (
    *("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"),
    *("#17a2b8", "#8c564b", "#e377c2", "#6b6b6b", "#a5a512"),
)
DASHES = ("-", "--", ":")
"""One more for each time the colours are used up."""

BESIDE = 6
"""More curves than this have their legend beside the axes, in the order of their last points."""

CROWDED = 60
"""Measurements of a curve above which they are not marked one by one."""

Drawable = Curve | Result


def curve(
    curves: Mapping[str, Drawable] | Sequence[Result] | Drawable,
    *,
    title: str = "",
    against: str = "iteration",
    unit: str = "game units",
) -> Any:
    """Returns a matplotlib figure of exploitability on log-log axes.

    Args:
        curves: a result or a curve; several results, named after their solvers; or either by the
            name in the legend. Points at 0 and points that are not finite are left out.
        title: usually the game.
        against: "iteration" or "seconds".
        unit: of the exploitability.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    if against not in ("iteration", "seconds"):
        raise ValueError(f'against must be "iteration" or "seconds", not {against!r}')
    named = _named(curves)
    beside = len(named) > BESIDE
    figure = new_figure(8.0 if beside else 6.4)
    axes = figure.subplots()
    for k, (name, one) in enumerate(named.items()):
        across = one.iteration if against == "iteration" else one.seconds
        shown = (one.exploitability > 0) & (across > 0) & np.isfinite(one.exploitability)
        axes.plot(
            across[shown],
            one.exploitability[shown],
            color=COLOURS[k % len(COLOURS)],
            linestyle=DASHES[k // len(COLOURS) % len(DASHES)],
            marker=MARKERS[k % len(MARKERS)] if len(one) <= CROWDED else None,
            markersize=3.5,
            linewidth=1.4,
            label=name,
        )
    if any(len(line.get_xdata()) for line in axes.get_lines()):
        axes.set_xscale("log")
        axes.set_yscale("log")
        _tick(axes.xaxis, *axes.get_xlim())
        _tick(axes.yaxis, *axes.get_ylim())
    axes.set_xlabel("iterations" if against == "iteration" else "time in iterations (s)")
    axes.set_ylabel(f"exploitability: NashConv / players ({unit})")
    axes.grid(True, which="major", alpha=0.35)
    axes.grid(True, which="minor", alpha=0.12)
    if title:
        axes.set_title(title)
    if beside:
        lines = sorted(axes.get_lines(), key=_last, reverse=True)
        axes.legend(handles=lines, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    elif any(named):
        axes.legend(frameon=False)
    return figure


def new_figure(width: float = 6.4, height: float = 4.4) -> Any:
    """Returns an empty matplotlib figure that belongs to no global state; notebooks show it."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        figure_class = _figure_class()
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "jaxsolve[plot]"') from None
    figure = figure_class(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


@functools.cache
def _figure_class() -> Any:
    """matplotlib's figures draw themselves in a notebook only if pyplot made them."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
            content = io.BytesIO()
            self.savefig(content)
            width, height = (round(96 * inches) for inches in self.get_size_inches())
            return content.getvalue(), {"width": width, "height": height}

    return NotebookFigure


def _named(curves: Mapping[str, Drawable] | Sequence[Result] | Drawable) -> dict[str, Curve]:
    """Returns curves by name; results of one solver are told apart by a number."""
    if isinstance(curves, Curve):
        return {"": curves}
    if isinstance(curves, Result):
        return {curves.solver.name: curves.curve}
    if isinstance(curves, Mapping):
        return {k: c.curve if isinstance(c, Result) else c for k, c in curves.items()}
    named: dict[str, Curve] = {}
    for result in curves:
        name = result.solver.name
        again = sum(n == name or n.startswith(f"{name} (") for n in named)
        named[f"{name} ({again + 1})" if again else name] = result.curve
    return named


def _tick(axis: Any, low: float, high: float) -> None:
    """Labels powers of ten, or 1, 2 and 5 times them where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _last(line: Any) -> float:
    points = line.get_ydata()
    return float(points[-1]) if len(points) else 0.0
