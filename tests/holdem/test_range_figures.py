"""Pictures of ranges: cells are where they belong and show the weights and probabilities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxsolve.holdem import (
    HANDS,
    action_colours,
    cell_means,
    cell_shares,
    parse_cards,
    parse_range,
    range_html,
    strategy_html,
)

pytest.importorskip("matplotlib")

BOARD = parse_cards("QdQhQc2s")


def drawn(figure: Any) -> Any:
    figure.canvas.draw()
    return figure.axes[0]


def boxes(axes: Any, row: int, column: int) -> list[tuple[float, float, tuple[float, ...]]]:
    """(width, height, colour) of what is painted in a cell, in shares of the cell."""
    return [
        (p.get_width() / 0.94, p.get_height() / 0.94, p.get_facecolor())
        for p in axes.patches
        if round(p.get_x() + p.get_width() / 2) == column
        and round(p.get_y() + p.get_height() / 2) == row
    ]


def mixed(seed: int = 0) -> dict[str, np.ndarray]:
    table = np.random.default_rng(seed).dirichlet([1, 1, 1], len(HANDS))
    return dict(zip(["check", "bet 100", "all-in"], table.T, strict=True))


def test_cells_of_classes() -> None:
    for text, row, column in (("AA", 0, 0), ("22", 12, 12), ("AKs", 0, 1), ("AKo", 1, 0)):
        means = cell_means(parse_range(text))
        assert means[row, column] == 1
        assert means.sum() == 1
    assert cell_means(parse_range("T2s:0.5"))[4, 12] == 0.5
    assert cell_means(parse_range("AhKh"))[0, 1] == 1 / 4
    # Of AQs the board leaves one hand, of QQ none.
    means = cell_means(parse_range("AsQs:0.5"), BOARD)
    assert means[0, 2] == 0.5
    assert np.isnan(means[2, 2])


def test_shares_are_weighted_means() -> None:
    weights = parse_range("AhKh,AsKs:0.5,QQ")
    strategy = {"check": np.full(1326, np.nan), "bet": np.full(1326, np.nan)}
    for text, check in (("AhKh", 1.0), ("AsKs", 0.25), ("QQ", 0.5)):
        strategy["check"][parse_range(text) > 0] = check
        strategy["bet"][parse_range(text) > 0] = 1 - check
    shares = cell_shares(strategy, weights)
    assert shares["check"][0, 1] == (1 + 0.5 * 0.25) / 1.5
    assert shares["bet"][2, 2] == 0.5
    assert shares["check"][5, 5] == 0


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ({}, "no action"),
        ({"check": np.full(1326, 0.5)}, "sum to 0.5000"),
        ({"check": np.full(1326, np.nan)}, "not a number"),
        ({"check": np.full(1326, 2.0), "bet": np.full(1326, -1.0)}, "negative"),
        ({"check": np.ones(169)}, r"strategy\['check'\] has one number for each of 1326"),
    ],
)
def test_wrong_strategies_are_refused(strategy: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cell_shares(strategy, parse_range("QQ+"))


def test_actions_have_colours_of_their_own() -> None:
    names = ["f", "c", "r300", "r500", "r900", "a"]
    colours = action_colours(names)
    assert len(set(colours.values())) == len(names)
    light = [sum(int(colours[n][k : k + 2], 16) for k in (1, 3, 5)) for n in names[2:]]
    assert light == sorted(light, reverse=True)
    assert action_colours(["fold"]) == {"fold": colours["f"]}
    assert action_colours(["check"])["check"] == colours["c"]
    assert action_colours(["all-in"])["all-in"] == colours["a"]


def test_range_grid(tmp_path: Path) -> None:
    from jaxsolve.holdem import range_grid

    figure = range_grid(parse_range("AA,AKs:0.5"), board=BOARD)
    axes = drawn(figure)
    assert len(axes.patches) == len(axes.texts) == 169
    assert [t.get_text() for t in axes.texts[:2]] == ["AA", "AKs"]
    (full,), (half,), (none,), (gone,) = (
        boxes(axes, *cell) for cell in ((0, 0), (0, 1), (1, 0), (2, 2))
    )
    assert len({full[2], half[2], none[2], gone[2]}) == 4
    assert sum(full[2]) < sum(half[2]) < sum(none[2])
    assert figure.axes[1].get_ylabel() == "mean weight of the hands"
    assert "suited" in axes.get_xlabel()
    assert "offsuit" in axes.get_ylabel()
    assert figure.get_suptitle() == "8.0 combinations on QdQhQc2s"
    figure.savefig(tmp_path / "range.png")


def test_range_strategy(tmp_path: Path) -> None:
    from jaxsolve.holdem import range_strategy

    weights = parse_range("AA,AKs:0.5")
    strategy = mixed()
    figure = range_strategy(strategy, weights, title="river")
    axes = drawn(figure)
    shares = cell_shares(strategy, weights)
    for row, column, height in ((0, 0, 1.0), (0, 1, 0.5)):
        ground, *parts = boxes(axes, row, column)
        assert ground[:2] == pytest.approx((1, 1))
        assert [p[1] for p in parts] == pytest.approx([height] * 3)
        expected = [shares[a][row, column] for a in strategy]
        assert [p[0] for p in parts] == pytest.approx(expected)
        assert sum(p[0] for p in parts) == pytest.approx(1)
    assert len(boxes(axes, 5, 5)) == 1
    often = weights @ strategy["check"] / weights.sum()
    words = [t.get_text() for t in figure.legends[0].get_texts()]
    assert words[0] == f"check  {100 * often:.1f}%"
    assert [w.split("  ")[0] for w in words] == list(strategy)
    # The legend is inside the picture.
    box, page = figure.legends[0].get_window_extent(), figure.bbox
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1
    assert figure.get_suptitle() == "river"
    figure.savefig(tmp_path / "strategy.png")


def test_legends_fit_however_many_actions(tmp_path: Path) -> None:
    from jaxsolve.holdem import range_strategy

    names = ["fold", "call", *(f"raise to {n},000" for n in range(1, 9)), "all-in"]
    strategy = {name: np.full(1326, 1 / len(names)) for name in names}
    figure = range_strategy(strategy, parse_range("full"))
    drawn(figure)
    box, page = figure.legends[0].get_window_extent(), figure.bbox
    assert page.x0 <= box.x0
    assert box.x1 <= page.x1


def test_html_forms() -> None:
    html = range_html(parse_range("AA,AKs:0.5"), BOARD)
    assert html.count("<td") == 169
    assert "title='AKs: 0.500' style='" in html
    assert "title='QQ: on the board'" in html
    assert "8.0 combinations" in html
    strategy = mixed()
    html = strategy_html(strategy, parse_range("AA"), title="<b>")
    check = cell_shares(strategy, parse_range("AA"))["check"][0, 0]
    assert f"title='AA: weight 1.000: check {check:.3f}, bet 100" in html
    assert f"{action_colours(list(strategy))['check']} {100 * check:.1f}%" in html
    assert "&lt;b&gt;" in html
    assert html.count("not in the range") == 168


def test_without_matplotlib_the_message_says_how_to_get_it(monkeypatch: Any) -> None:
    from jaxsolve.holdem import range_grid, range_strategy

    for module in ("matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "jaxsolve\[plot\]"'):
        range_grid(parse_range("AA"))
    with pytest.raises(ImportError, match=r'pip install "jaxsolve\[plot\]"'):
        range_strategy(mixed(), parse_range("AA"))
