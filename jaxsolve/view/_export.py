"""The page as one file: with data inside for a file or a notebook, or without for the server."""

from __future__ import annotations

import dataclasses
import heapq
import html
import importlib.resources
import itertools
import json
from pathlib import Path
from typing import Any

from jaxsolve.files import write_atomic
from jaxsolve.view._position import Viewable, plain

FILE_BYTES = 20_000_000
"""Bytes of positions in an exported file."""

NOTEBOOK_BYTES = 2_000_000
"""The same in a notebook, which stores them with its outputs."""


@dataclasses.dataclass(frozen=True)
class Page:
    """A page with its data; the last expression of a notebook's cell shows it.

    Attributes:
        html: the whole page.
        positions: positions inside.
        complete: whether these are all.
    """

    html: str
    positions: int
    complete: bool

    def save(self, path: str | Path) -> None:
        """Writes the page to a file that a browser opens without a server."""
        write_atomic(Path(path), self.html.encode())

    def __repr__(self) -> str:
        some = "all" if self.complete else "the most reached"
        return f"Page({some} {self.positions:,} positions, {len(self.html) / 1e6:.1f} MB)"

    def _repr_html_(self) -> str:
        return (
            '<iframe title="viewer" style="width:100%;height:640px;border:1px solid #8884" '
            f'sandbox="allow-scripts" srcdoc="{html.escape(self.html, quote=True)}"></iframe>'
        )


def export(shown: Viewable, *, limit: int = NOTEBOOK_BYTES) -> Page:
    """Returns a page with a solved game's positions inside, those that play reaches most first.

    Args:
        shown: the solved game.
        limit: bytes of positions; the page says when some were left out.

    Raises:
        ValueError: the limit is not positive.
    """
    if not limit > 0:
        raise ValueError(f"limit is a number of bytes, not {limit}")
    positions: dict[str, Any] = {}
    size, order = 0, itertools.count()
    waiting: list[tuple[float, int, tuple[str, ...]]] = [(-1.0, next(order), ())]
    while waiting and size < limit:
        chance, _, path = heapq.heappop(waiting)
        here = shown.position(path)
        found = plain(here)
        positions[json.dumps(list(path), ensure_ascii=False, separators=(",", ":"))] = found
        size += len(json.dumps(found))
        for move in here.moves:
            step = (chance * move.probability, next(order), (*path, move.name))
            heapq.heappush(waiting, step)
    data = {"about": plain(shown.about()), "positions": positions, "complete": not waiting}
    return Page(page(data), len(positions), not waiting)


def document(title: str, body: str, *, style: str = "") -> str:
    """Returns a page of its own in the colours of the viewer, light and dark; it loads nothing.

    Args:
        title: in words, not yet escaped.
        body: HTML.
        style: more CSS; `page.css` has names for the colours.
    """
    css = (importlib.resources.files("jaxsolve.view") / "page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{css}{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def page(data: dict[str, Any] | None) -> str:
    """Returns the page, with data inside or, for None, one that asks its server."""
    files = importlib.resources.files("jaxsolve.view")
    text = {name: (files / f"page.{name}").read_text("utf-8") for name in ("html", "css", "js")}
    # "<" is written as an escape, so that no name can end the script.
    inside = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    out = text["html"].replace("/* style */", text["css"])
    return out.replace("/* script */", text["js"]).replace("/* data */", inside)
