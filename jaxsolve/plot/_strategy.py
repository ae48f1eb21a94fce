"""Strategies: a bar of action probabilities for each infostate."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from jaxsolve.plot._curve import Named
from jaxsolve.plot._figure import new_figure

_ROW = 0.23
"""Height of a row in inches."""

_BAR = 4.4
"""Width of a bar in inches."""

_LETTER = 0.056
"""Width of a letter inside a bar in inches."""


_LEGEND = 24
"""Most actions that a legend lists."""


class Strategy(Protocol):
    """Action probabilities by infoset (R infosets), such as a `Policy`."""

    @property
    def info(self) -> Named:
        """The game, for the title."""
        ...

    def rows(self) -> list[tuple[int, str, dict[str, float]]]:
        """Returns (player, infoset, {action: probability}) of every infoset."""
        ...

    def reach(self) -> np.ndarray | None:
        """Returns float [R], how likely play reaches each infoset; None where it is not known."""
        ...


def strategy(
    policy: Strategy,
    *,
    infosets: Sequence[str] | None = None,
    player: int | None = None,
    limit: int = 40,
    name: Callable[[str], str] | None = None,
    title: str | None = None,
) -> Any:
    """Returns a matplotlib figure: per infoset a bar, divided among the actions.

    Args:
        policy: what to show.
        infosets: names of the infosets to show, in that order. By default those that play
            reaches most often, in the order of the game.
        player: show only this player's.
        limit: show at most so many (without `infosets`).
        name: what to write beside a bar, from the infoset's name; by default long names are cut
            in the middle, as far as they stay distinct.
        title: the game's name and how many infosets are shown by default.

    Raises:
        ImportError: matplotlib is missing; says how to install it.
        KeyError: an infoset is unknown.
    """
    every = policy.rows()
    mine = np.array([k for k, (i, _, _) in enumerate(every) if player in (None, i)], int)
    rows = [every[k] for k in mine]
    total = len(rows)
    if infosets is not None:
        by_name = {label: (i, label, bar) for i, label, bar in reversed(rows)}
        unknown = [label for label in infosets if label not in by_name]
        if unknown:
            raise KeyError(f"no infoset is called {unknown[0]!r}; policy.rows() lists them")
        rows, chosen = [by_name[label] for label in infosets], ""
    else:
        keep, chosen = _most_reached(policy, mine, limit)
        rows = [rows[k] for k in keep]
    if title is None:
        game = policy.info.name
        title = f"{game}: {len(rows)} of {total:,} infosets{chosen}"
    labels = [label for _, label, _ in rows]
    return _draw(rows, [name(x) for x in labels] if name else _shorten(labels), title)


def _most_reached(policy: Strategy, mine: np.ndarray, limit: int) -> tuple[np.ndarray, str]:
    """Returns (positions in `mine` of the rows to show, words about the choice)."""
    if len(mine) <= limit:
        return np.arange(len(mine)), ""
    reach = policy.reach()
    if reach is None:
        return np.arange(limit), ", the first"
    most = np.argsort(-reach[mine], kind="stable")[:limit]
    return np.sort(most), ", most often reached"


def _draw(rows: list[tuple[int, str, dict[str, float]]], labels: list[str], title: str) -> Any:
    players = sorted({i for i, _, _ in rows})
    if len(players) > 1:
        labels = [f"{label}   p{i}" for label, (i, _, _) in zip(labels, rows, strict=True)]
    width = _BAR + 0.3 + 0.062 * max((len(x) for x in labels), default=0)
    colors = _colors([a for _, _, bar in rows for a in bar])
    lines = textwrap.wrap(title, int(width / 0.075), break_on_hyphens=False)
    longest = max((len(action) for action in colors), default=0)
    columns = max(1, min(len(colors), int(width / (0.5 + 0.06 * longest))))
    legend = -(-len(colors) // columns) if len(colors) <= _LEGEND else 0
    height = 0.6 + _ROW * max(len(rows), 2) + 0.17 * (len(lines) + legend)
    figure = new_figure(width, height)
    axes = figure.subplots()
    left = np.zeros(len(rows))
    at = np.arange(len(rows))
    for action, (face, text) in colors.items():
        part = np.array([bar.get(action, 0.0) for _, _, bar in rows])
        axes.barh(at, part, 0.82, left, color=face, label=action, edgecolor="white", lw=0.4)
        for y, x, w in zip(at, left, part, strict=True):
            for words in (f"{action} {w:.2f}", f"{w:.2f}"):
                if len(words) * _LETTER < w * _BAR:
                    axes.text(
                        x + w / 2,
                        y,
                        words,
                        ha="center",
                        va="center_baseline",
                        fontsize=6.5,
                        color=text,
                    )
                    break
        left += part
    axes.set_yticks(at, labels, fontsize=7.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("probability", fontsize=8)
    axes.tick_params(axis="x", labelsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.suptitle("\n".join(lines), fontsize=9, x=0.01, ha="left")
    if legend:
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=7.5,
        )
    return figure


def _colors(actions: list[str]) -> dict[str, tuple[Any, str]]:
    """Returns {action: (colour of the bar, colour of the words on it)}, by first appearance."""
    from matplotlib import colormaps

    names = list(dict.fromkeys(actions))
    table = colormaps["tab10" if len(names) <= 10 else "tab20"]
    out = {}
    for k, name in enumerate(names):
        face = table(k % table.N)
        bright = 0.299 * face[0] + 0.587 * face[1] + 0.114 * face[2]
        out[name] = (face, "black" if bright > 0.5 else "white")
    return out


def _shorten(labels: list[str]) -> list[str]:
    """The labels with the middle left out of long ones, as far as that keeps them distinct."""
    for half in (26, 36, 48, 64):
        short = [x if len(x) <= 2 * half + 3 else f"{x[:half]} … {x[-half:]}" for x in labels]
        if len(set(short)) == len(set(labels)):
            return short
    return labels
