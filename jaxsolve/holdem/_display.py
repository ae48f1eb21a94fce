"""How ranges, strategies and spots show themselves in a notebook."""

from __future__ import annotations

import html as _html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxsolve.holdem._cards import card_name
from jaxsolve.holdem._cells import (
    CELL_NAMES,
    action_colours,
    action_frequencies,
    cell_means,
    cell_shares,
)

if TYPE_CHECKING:
    from jaxsolve.holdem._spot import Spot

_SUITS = {
    "c": ("♣", "#2e8b57"),
    "d": ("♦", "#2f6fc1"),
    "h": ("♥", "#cf3a3a"),
    "s": ("♠", "#333333"),
}
"""Sign and colour of each suit, in four colours."""

_TABLE = (
    "border-collapse:separate;border-spacing:1px;margin:2px 0;table-layout:fixed;width:392px;"
    "max-width:100%"
)
"""As wide as the page where that is narrow."""

_CELL = (
    "height:23px;padding:0;text-align:center;font:10px/23px sans-serif;overflow:hidden;"
    "border:1px solid rgba(128,128,128,.35);border-radius:2px"
)

_HALO = "color:#111;text-shadow:0 0 2px #fff,0 0 2px #fff,0 0 3px #fff"
"""Words that can be read where several colours meet."""


def range_html(weights: Any, board: Sequence[int] = (), *, title: str = "") -> str:
    """Returns a range as a 13 x 13 table; the colour of a cell is the mean weight of its hands.

    Args:
        weights: float [1326].
        board: cards that nobody can hold.
        title: by default the number of combinations.
    """
    means = cell_means(weights, board)

    def cell(row: int, column: int) -> tuple[str, str]:
        share = means[row, column]
        if np.isnan(share):
            return "opacity:.35", "on the board"
        if share == 0:
            return "opacity:.5", "not in the range"
        return f"background:rgba(38,150,104,{share:.3f});{_ink(share)}", f"{share:.3f}"

    total = float(np.asarray(weights, np.float64).sum())
    return _grid(cell, title or f"{total:,.1f} combinations")


def strategy_html(
    strategy: Mapping[str, Any], weights: Any, board: Sequence[int] = (), *, title: str = ""
) -> str:
    """Returns a strategy as a 13 x 13 table: the actions side by side, as high as the weight.

    The line below has the frequency of each action over the whole range.

    Args:
        strategy: float [1326] by action, probabilities.
        weights: float [1326], of the hands of the player.
        board: cards that nobody can hold.
        title: above the table.

    Raises:
        ValueError: as `cell_shares`.
    """
    shares, means = cell_shares(strategy, weights, board), cell_means(weights, board)
    colours = action_colours(list(shares))

    def cell(row: int, column: int) -> tuple[str, str]:
        weight = means[row, column]
        if not weight > 0:
            return "opacity:.35", "on the board" if np.isnan(weight) else "not in the range"
        stops, left = [], 0.0
        for action, share in shares.items():
            right = left + 100 * share[row, column]
            stops += [f"{colours[action]} {edge:.1f}%" for edge in (left, right)]
            left = right
        words = ", ".join(f"{a} {s[row, column]:.3f}" for a, s in shares.items())
        fill = f"linear-gradient(90deg,{','.join(stops)}) bottom/100% {100 * weight:.0f}% no-repeat"
        ink = _HALO if weight > 0.4 else ""  # below it, the words stand on the page
        return f"background:{fill};{ink}", f"weight {weight:.3f}: {words}"

    often = action_frequencies(strategy, weights, board)
    legend = " ".join(
        f"<span style='white-space:nowrap'><span style='display:inline-block;width:10px;"
        f"height:10px;background:{colour};border-radius:2px'></span> {_html.escape(action)} "
        f"{100 * often[action]:.1f}%</span>&ensp;"
        for action, colour in colours.items()
    )
    return _grid(cell, title) + f"<div style='font:12px sans-serif'>{legend}</div>"


def cards_html(cards: Sequence[int]) -> str:
    """Returns cards with the signs and colours of their suits."""
    out = []
    for name in map(card_name, cards):
        sign, colour = _SUITS[name[1]]
        out.append(
            f"<span style='display:inline-block;background:#fff;color:{colour};border:1px solid "
            f"#bbb;border-radius:4px;padding:2px 6px;margin-right:3px;font:bold 15px sans-serif'>"
            f"{name[0]}{sign}</span>"
        )
    return "".join(out)


def spot_html(spot: Spot) -> str:
    """Returns a spot: board, chips, both ranges and the menus of sizes."""
    facts = {"pot": f"{spot.pot:,}", "stacks": " / ".join(f"{s:,}" for s in spot.stack)}
    if spot.rake:
        cap = "" if spot.rake_cap is None else f" up to {spot.rake_cap:g}"
        facts["rake"] = f"{spot.rake:.2%}{cap}"
    if spot.raise_cap is not None:
        facts["raises a street"] = f"{spot.raise_cap}"
    if spot.allin_threshold is not None:
        facts["all-in from"] = f"{spot.allin_threshold:.0%} of the stack"
    line = "&emsp;".join(f"{k} <b>{v}</b>" for k, v in facts.items())
    grids = "".join(
        "<div style='display:inline-block;margin-right:24px;vertical-align:top'>"
        + range_html(weights, spot.board, title=f"{name}: {weights.sum():,.1f} combinations")
        + "</div>"
        for name, weights in zip(("oop", "ip"), spot.ranges, strict=True)
    )
    head = "".join(f"<th>{x}</th>" for x in ("street", "player", "bet", "raise", "donk"))
    rows = []
    for street in spot.streets:
        for player, menus in zip(("oop", "ip"), spot.sizes[street], strict=True):
            cells = [street, player, *map(_words, menus[:2])]
            cells.append("" if menus.donk is None else _words(menus.donk))
            rows.append("<tr>" + "".join(f"<td>{x}</td>" for x in cells) + "</tr>")
    return (
        f"<div>{cards_html(spot.board)}&emsp;<span style='font:13px sans-serif'>{line}</span></div>"
        f"{grids}<table><tr>{head}</tr>{''.join(rows)}</table>"
    )


def _words(menu: Sequence[Any]) -> str:
    return ", ".join(map(str, menu)) or "none"


def _ink(share: float) -> str:
    """Colour of the words: white on a strong background, that of the page elsewhere."""
    return "color:#fff" if share > 0.6 else ""


def _grid(cell: Any, title: str) -> str:
    """Returns a table; `cell(row, column)` gives (style, tooltip)."""
    rows = []
    for r, names in enumerate(CELL_NAMES):
        cells = []
        for c, name in enumerate(names):
            style, tip = cell(r, c)
            tip = _html.escape(f"{name}: {tip}", quote=True)
            cells.append(f"<td title='{tip}' style='{_CELL};{style}'>{name}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{_html.escape(title)}</caption>" if title else ""
    return f"<table style='{_TABLE}'>{caption}{''.join(rows)}</table>"
