"""Exploitability curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from jaxsolve.plot._figure import new_figure

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


class Points(Protocol):
    """A curve of M measurements, such as a `Curve`."""

    @property
    def iteration(self) -> np.ndarray:
        """int [M]."""
        ...

    @property
    def seconds(self) -> np.ndarray:
        """float [M]."""
        ...

    @property
    def exploitability(self) -> np.ndarray:
        """float [M]."""
        ...


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name in a legend or title."""
        ...


@runtime_checkable
class Run(Protocol):
    """A solver's run and its curve, such as a `Result`."""

    @property
    def solver(self) -> Named:
        """The solver."""
        ...

    @property
    def curve(self) -> Points:
        """Its measurements."""
        ...


def curve(
    curves: Mapping[str, Points | Run] | Sequence[Run] | Points | Run,
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
            marker=MARKERS[k % len(MARKERS)] if len(one.iteration) <= CROWDED else None,
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


def _named(curves: Mapping[str, Points | Run] | Sequence[Run] | Points | Run) -> dict[str, Points]:
    """Returns curves by name; results of one solver are told apart by a number."""
    if isinstance(curves, Mapping):
        return {name: one.curve if isinstance(one, Run) else one for name, one in curves.items()}
    if isinstance(curves, Run):
        return {curves.solver.name: curves.curve}
    if not isinstance(curves, Sequence):
        return {"": curves}
    named: dict[str, Points] = {}
    for run in curves:
        name = run.solver.name
        again = sum(n == name or n.startswith(f"{name} (") for n in named)
        named[f"{name} ({again + 1})" if again else name] = run.curve
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
