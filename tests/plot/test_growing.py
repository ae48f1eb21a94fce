"""Pictures of growing trees: a dot for each opened public state, a ring for each leaf."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib")


def test_shows_what_is_opened_and_the_frontier() -> None:
    """The root has two children, of which one is opened; that has two leaves."""
    from jaxsolve.plot import growing_tree

    visits = np.zeros((3, 2, 1))
    visits[0], visits[1] = 5, 2
    growth = SimpleNamespace(
        num_opened=2,
        opened=np.array([[-1, 1], [-1, -1], [-1, -1]]),
        inside=np.array([[True, True], [True, True], [False, False]]),
        visits=visits,
    )
    figure = growing_tree(growth)
    figure.canvas.draw()
    (axes,) = figure.axes
    lines, leaves, dots = axes.collections
    assert len(lines.get_segments()) == 4
    assert sorted(map(tuple, leaves.get_offsets())) == [(0, 1), (1, 2), (2, 2)]
    assert sorted(map(tuple, dots.get_offsets())) == [(0.75, 0), (1.5, 1)]
    assert dots.get_sizes()[0] > dots.get_sizes()[1]
    assert axes.get_title() == "2 opened public states, 3 leaves"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the root is on top
