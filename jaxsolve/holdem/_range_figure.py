"""Hold'em ranges and strategies as the 13 x 13 table of starting hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import RANKS, cards_name
from jaxsolve.holdem._cells import (
    CELL_NAMES,
    SIDE,
    action_colours,
    action_frequencies,
    cell_means,
    cell_shares,
    possible,
)
from jaxsolve.plot import new_figure

_EMPTY = "#f1f1ee"
"""Cells without weight."""

GONE = "#d9d9d6"
"""Cells of which the board leaves no hand."""

_WEIGHT = ["#f1f1ee", "#bfe0cf", "#63b894", "#1f8a63", "#0c5b40"]
"""From weight 0 to weight 1."""


def range_grid(weights: Any, *, board: Sequence[int] = (), title: str | None = None) -> Any:
    """Returns a matplotlib figure of a range: the colour of a cell is the mean weight of its hands.

    Pairs are on the diagonal, suited hands above it, offsuit hands below.

    Args:
        weights: float [1326], in [0, 1].
        board: cards that nobody can hold; a cell of only such hands is grey.
        title: by default the number of combinations, and the board.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
        ValueError: weights of another shape.
    """
    means = cell_means(weights, board)
    figure = new_figure(6.2, 5.5)
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    colours = LinearSegmentedColormap.from_list("weight", _WEIGHT)
    axes = table_axes(figure)
    for row in range(SIDE):
        for column in range(SIDE):
            weight = means[row, column]
            face = colours(np.nan_to_num(weight))
            paint(axes, row, column, 1, 1, GONE if np.isnan(weight) else face)
            write_name(axes, row, column, _on(face) if weight > 0 else "#9a9a96")
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), colours), ax=axes, fraction=0.04, pad=0.02, aspect=30
    )
    bar.set_label("mean weight of the hands", fontsize=8.5)
    bar.ax.tick_params(labelsize=7.5, length=2)
    bar.outline.set_visible(False)
    _title(figure, title, weights, board)
    return figure


def range_strategy(
    strategy: Mapping[str, Any],
    weights: Any,
    *,
    board: Sequence[int] = (),
    title: str | None = None,
) -> Any:
    """Returns a matplotlib figure of a strategy: in each cell the actions side by side.

    The widths are the probabilities, averaged over the hands of the cell by their weight; the
    height is the mean weight. The legend has the frequency of each action over the whole range.

    Args:
        strategy: float [1326] by action: probabilities. Hands without weight may have any value.
        weights: float [1326], in [0, 1].
        board: cards that nobody can hold; a cell of only such hands is grey.
        title: by default the number of combinations, and the board.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
        ValueError: another shape, or probabilities of a hand with weight that do not sum to 1.
    """
    shares, means = cell_shares(strategy, weights, board), cell_means(weights, board)
    figure = new_figure(6.2, 6.5)
    from matplotlib.patches import Patch

    axes = table_axes(figure)
    colours = action_colours(list(shares))
    for row in range(SIDE):
        for column in range(SIDE):
            weight = means[row, column]
            paint(axes, row, column, 1, 1, GONE if np.isnan(weight) else _EMPTY)
            if weight > 0:
                left = 0.0
                for action, share in shares.items():
                    width = share[row, column]
                    if width > 0:
                        paint(axes, row, column, width, weight, colours[action], left)
                    left += width
            write_name(axes, row, column, "#1c1c1c" if weight > 0 else "#9a9a96", halo=weight > 0)
    often = action_frequencies(strategy, weights, board)
    figure.legend(
        handles=[
            Patch(color=colours[action], label=f"{action}  {100 * often[action]:.1f}%")
            for action in shares
        ],
        loc="outside lower center",
        ncols=max(1, min(len(shares), int(70 / (9 + max(map(len, shares)))))),
        frameon=False,
        fontsize=8.5,
        handlelength=1.0,
        handleheight=1.0,
        handletextpad=0.5,
        columnspacing=1.4,
    )
    _title(figure, title, weights, board)
    return figure


def table_axes(figure: Any) -> Any:
    """Returns axes for 13 x 13 unit cells with the ranks beside them."""
    axes = figure.subplots()
    axes.set_xlim(-0.5, SIDE - 0.5)
    axes.set_ylim(SIDE - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(SIDE), RANKS[::-1], fontsize=8.5)
    axes.set_yticks(range(SIDE), RANKS[::-1], fontsize=8.5)
    axes.tick_params(length=0, pad=2)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("above the diagonal: suited", fontsize=8.5)
    axes.set_ylabel("below the diagonal: offsuit", fontsize=8.5)
    axes.spines[:].set_visible(False)
    return axes


def paint(
    axes: Any, row: int, column: int, width: float, height: float, face: Any, left: float = 0.0
) -> None:
    """Paints a part of a cell; its lower edge is that of the cell."""
    from matplotlib.patches import Rectangle

    inner = 0.94
    low = row + inner / 2
    axes.add_patch(
        Rectangle(
            (column + inner * (left - 0.5), low - inner * height),
            inner * width,
            inner * height,
            facecolor=face,
            linewidth=0,
        )
    )


def write_name(axes: Any, row: int, column: int, colour: str, *, halo: bool = False) -> None:
    from matplotlib.patheffects import withStroke

    text = axes.text(
        column,
        row,
        CELL_NAMES[row][column],
        color=colour,
        ha="center",
        va="center_baseline",
        fontsize=7.5,
        fontweight="bold" if row == column else "normal",
    )
    if halo:  # several colours meet behind the words
        text.set_path_effects([withStroke(linewidth=1.8, foreground="#ffffffd0")])


def _on(face: tuple[float, ...]) -> str:
    """Returns a colour that can be read on another."""
    bright = 0.299 * face[0] + 0.587 * face[1] + 0.114 * face[2]
    return "#1c1c1c" if bright > 0.5 else "white"


def _title(figure: Any, title: str | None, weights: Any, board: Sequence[int]) -> None:
    if title is None:
        title = f"{np.asarray(weights, np.float64)[possible(board)].sum():,.1f} combinations"
        title += f" on {cards_name(board)}" if len(board) else ""
    figure.suptitle(title, fontsize=10, x=0.02, ha="left")
