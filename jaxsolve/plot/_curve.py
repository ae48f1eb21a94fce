"""Exploitability curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxsolve.solve._curve import Curve

MARKERS = "os^Dv<>pPX*hd"


def curve(
    curves: Mapping[str, Curve],
    *,
    title: str = "",
    against: str = "iteration",
    unit: str = "game units",
) -> Any:
    """Returns a matplotlib figure of exploitability on log-log axes.

    Args:
        curves: by the name in the legend.
        title: usually the game.
        against: "iteration" or "seconds".
        unit: of the exploitability.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
    """
    figure = new_figure()
    axes = figure.subplots()
    for k, (name, one) in enumerate(curves.items()):
        across = one.iteration if against == "iteration" else one.seconds
        shown = (one.exploitability > 0) & (across > 0)
        axes.plot(
            across[shown],
            one.exploitability[shown],
            marker=MARKERS[k % len(MARKERS)],
            markersize=3.5,
            linewidth=1.4,
            label=name,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("iterations" if against == "iteration" else "seconds of iterating")
    axes.set_ylabel(f"exploitability, NashConv / players ({unit})")
    axes.grid(True, which="major", alpha=0.35)
    axes.grid(True, which="minor", alpha=0.12)
    if title:
        axes.set_title(title)
    axes.legend(frameon=False)
    return figure


def new_figure(width: float = 6.4, height: float = 4.4) -> Any:
    """Returns an empty matplotlib figure that belongs to no global state."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "jaxsolve[plot]"') from None
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
