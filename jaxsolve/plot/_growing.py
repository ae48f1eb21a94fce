"""A picture of a growing tree: what a search has opened, and its frontier."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from jaxsolve.plot._figure import new_figure


class Grown(Protocol):
    """How a search grew its tree (I opened public states at most, C children)."""

    @property
    def opened(self) -> Any:
        """int [I, C], number of the opened public state below, -1 for a leaf."""
        ...

    @property
    def inside(self) -> Any:
        """bool [I, C], children that are in the tree."""
        ...

    @property
    def visits(self) -> Any:
        """float [I, A, H], simulations through each action."""
        ...

    @property
    def num_opened(self) -> Any:
        """int [], public states that are opened."""
        ...


def growing_tree(growth: Grown, *, title: str | None = None) -> Any:
    """Returns a figure of a tree: public states by depth, the root on top.

    Opened public states are dots whose area grows with the simulations that went on from them;
    leaves are rings.

    Args:
        growth: the tree of a search, for instance `grown.growth` of a `search.Grown`.
        title: over the picture.
    """
    from matplotlib.collections import LineCollection

    opened, inside = np.asarray(growth.opened), np.asarray(growth.inside)
    visits = np.asarray(growth.visits).sum((1, 2))
    lines: list[list[tuple[float, float]]] = []
    leaves: list[tuple[float, int]] = []
    place = [(0.0, 0)] * int(growth.num_opened)
    free = 0

    def lay(node: int, depth: int) -> float:
        nonlocal free
        below = []
        for k in np.flatnonzero(inside[node]):
            if opened[node, k] >= 0:
                below.append(lay(int(opened[node, k]), depth + 1))
            else:
                leaves.append((float(free), depth + 1))
                below.append(float(free))
                free += 1
        if not below:
            below.append(float(free))
            free += 1
        x = (below[0] + below[-1]) / 2
        place[node] = (x, depth)
        if inside[node].any():
            lines.extend([(x, depth), (b, depth + 1)] for b in below)
        return x

    lay(0, 0)
    figure = new_figure()
    axes = figure.subplots()
    axes.add_collection(LineCollection(lines, color="lightgray", linewidth=0.8, zorder=1))
    if leaves:
        axes.scatter(*zip(*leaves, strict=True), s=12, facecolor="white", edgecolor="C0", zorder=2)
    area = 10 + 90 * visits[: len(place)] / max(visits.max(), 1)
    axes.scatter(*zip(*place, strict=True), s=area, color="C0", zorder=3)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set(ylabel="decisions since the root")
    axes.set_title(title or f"{len(place)} opened public states, {len(leaves)} leaves")
    return figure
