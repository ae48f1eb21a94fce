"""A tree as SVG text: no plotting package, no program outside."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from pathlib import Path

COLOURS = {"chance": "#8a8a8a", "end": "#c9c9c9"}
"""Of dots; players have those of PLAYERS in turn."""

PLAYERS = ("#1f77b4", "#d6660b", "#2a9d3a", "#b8308f", "#7a52c7")

ROW, LETTER, SPACE = 20, 6.6, 34
"""Height of a line, width of a letter, and what a dot and its edge take, in pixels."""

STYLE = (
    "text{font:11px sans-serif;fill:#222}path{fill:none;stroke:#999}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}path{stroke:#777}}"
)


@dataclasses.dataclass(frozen=True)
class Svg:
    """A picture as SVG text, which a notebook shows.

    Attributes:
        text: the SVG element.
    """

    text: str

    def save(self, path: str | Path) -> None:
        """Writes the picture to a file, such as "tree.svg"."""
        Path(path).write_text(self.text, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.text


def tree_svg(
    parent: Sequence[int], words: Sequence[str], kinds: Sequence[str], notes: Sequence[str]
) -> Svg:
    """Returns a picture of a tree, its root on the left, with a legend.

    Args:
        parent: of each of N nodes, an earlier one; -1 of the first.
        words: [N], beside each dot: what led there.
        kinds: [N], "player 0", "chance", "end"; they colour the dots.
        notes: [N], shown where the pointer rests on a dot.
    """
    below: list[list[int]] = [[] for _ in parent]
    level = [0] * len(parent)
    for node, up in enumerate(parent):
        if up >= 0:
            below[up].append(node)
            level[node] = level[up] + 1
    widths = [0.0] * (max(level) + 1)
    for depth, word in zip(level, words, strict=True):
        widths[depth] = max(widths[depth], SPACE + LETTER * len(word))
    left = [10 + sum(widths[:depth]) for depth in range(len(widths))]
    rows = _rows(below)
    parts = []
    for node, up in enumerate(parent):
        x, y = left[level[node]], ROW * (rows[node] + 2.5)
        if up >= 0:
            start = left[level[up]] + 9 + LETTER * len(words[up])
            high, bend = ROW * (rows[up] + 2.5), x - 14
            parts.append(f"<path d='M{start:.0f} {high:.1f}H{bend:.0f}V{y:.1f}H{x - 4:.0f}'/>")
        parts.append(
            f"<circle cx='{x:.0f}' cy='{y:.1f}' r='4' fill='{_colour(kinds[node])}'>"
            f"<title>{html.escape(notes[node])}</title></circle>"
            f"<text x='{x + 7:.0f}' y='{y + 4:.1f}'>{html.escape(words[node])}</text>"
        )
    at = 10.0
    for kind in sorted(set(kinds), key=lambda kind: (not kind.startswith("player"), kind)):
        parts.append(f"<circle cx='{at:.0f}' cy='12' r='4' fill='{_colour(kind)}'/>")
        parts.append(f"<text x='{at + 7:.0f}' y='16'>{kind}</text>")
        at += SPACE + LETTER * len(kind)
    wide, high = max(at, left[-1] + widths[-1]), ROW * (max(rows) + 3.5)
    return Svg(
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{wide:.0f}' height='{high:.0f}' "
        f"viewBox='0 0 {wide:.0f} {high:.0f}' role='img'><style>{STYLE}</style>"
        f"{''.join(parts)}</svg>\n"
    )


def _rows(below: Sequence[Sequence[int]]) -> list[float]:
    """Returns the line of each node: leaves one after the other, others amid their children."""
    rows = [0.0] * len(below)
    free = 0
    order = [0]
    for node in order:  # breadth first, but leaves are numbered depth first
        order.extend(below[node])
    stack = [0]
    while stack:
        node = stack.pop()
        if not below[node]:
            rows[node] = free
            free += 1
        stack.extend(reversed(below[node]))
    for node in reversed(order):
        if below[node]:
            rows[node] = (rows[below[node][0]] + rows[below[node][-1]]) / 2
    return rows


def _colour(kind: str) -> str:
    if kind in COLOURS:
        return COLOURS[kind]
    return PLAYERS[int(kind.split()[-1]) % len(PLAYERS)]
