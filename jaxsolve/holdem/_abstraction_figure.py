"""The buckets of a board as the 13 x 13 table of starting hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._canonical import STREETS, check_board
from jaxsolve.holdem._cards import cards_name
from jaxsolve.holdem._cells import CELL, SIDE, possible
from jaxsolve.holdem._range_figure import GONE, paint, table_axes, write_name
from jaxsolve.plot import new_figure

_COLOURS = ["#313695", "#4f86bd", "#9fc8e0", "#f3efe0", "#f6b26b", "#db5a3c", "#8e0b26"]
"""From equity 0 to equity 1."""


def bucket_grid(abstraction: Abstraction, board: Sequence[int]) -> Any:
    """Returns a matplotlib figure of the buckets of every hand on a board.

    A cell has a strip for each bucket of its hands, as wide as they are many, the weakest on the
    left. The colour is the mean equity of the bucket.

    Args:
        abstraction: the buckets.
        board: three, four or five cards; a cell whose hands all meet it is grey.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
        ValueError: another number of cards, one that is no card, or one twice.
    """
    cards = check_board(board)
    figure = new_figure(6.4, 5.8)
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    colours = LinearSegmentedColormap.from_list("equity", _COLOURS)
    bucket, live = abstraction.bucket(cards), possible(cards)
    strength = abstraction.strength(cards)
    axes = table_axes(figure)
    for cell in range(SIDE**2):
        row, column = divmod(cell, SIDE)
        hands = np.flatnonzero(live & (cell == CELL))
        if not len(hands):
            paint(axes, row, column, 1, 1, GONE)
            write_name(axes, row, column, "#9a9a96")
            continue
        left = 0.0
        for one, count in zip(*np.unique(bucket[hands], return_counts=True), strict=True):
            paint(axes, row, column, count / len(hands), 1, colours(strength[one]), left)
            left += count / len(hands)
        write_name(axes, row, column, "#1c1c1c", halo=True)
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), colours), ax=axes, fraction=0.04, pad=0.02, aspect=30
    )
    bar.set_label("mean equity of the bucket", fontsize=8.5)
    bar.ax.tick_params(labelsize=7.5, length=2)
    bar.outline.set_visible(False)
    used = len(np.unique(bucket[live]))
    title = (
        f"{cards_name(cards)}: {used} of the {len(strength)} buckets of the {STREETS[len(cards)]}"
    )
    figure.suptitle(title, fontsize=10, x=0.02, ha="left")
    return figure
