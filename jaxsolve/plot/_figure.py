"""Figures that belong to no global state."""

from __future__ import annotations

import functools
import io
from typing import Any


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
