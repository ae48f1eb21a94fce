"""Mean number of states within k steps of knowledge of a decision state."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import games
import jaxsolve as js
from experiments._report import Report
from jaxsolve import subgame

ORDERS = (1, 2, 3, 4, math.inf)

SIZES = {
    "dark_hex(board_size=2,gameversion=adh)": (5.23, 12.00, 18.17, 22.04, 29.58),
    "goofspiel": (5.84, 8.90, 9.19, 9.20, None),
    "goofspiel(order=ascending)": (5.83, 9.05, 9.31, 9.32, None),
    "kuhn": (2.50, 3.50, 4.00, None, None),
    "leduc": (6.14, 14.71, 15.40, None, None),
    "liars_dice(sides=5)": (7.00, 15.00, None, None, None),
    "matching_pennies": (3.63, 4.29, 4.93, 5.57, 35.97),
}
"""The paper's figures by k; None where its table has none because the sets no longer grow."""

QUICK = ("goofspiel(order=ascending)", "kuhn", "matching_pennies")


def main(quick: bool, out: Path) -> Report:
    """Returns the table, after saving rows, table and picture in `out`.

    Args:
        quick: the small games only.
        out: folder.
    """
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    shown = []
    for game, paper in SIZES.items():
        if quick and game not in QUICK:
            continue
        tree = js.compile(games.load(game))
        found = subgame.knowledge_sizes(tree, ORDERS)
        line: dict[str, Any] = {
            "game": game,
            "states": tree.info.num_states,
            "infosets": sum(tree.info.num_infosets),
        }
        for k, size, theirs in zip(ORDERS, found, paper, strict=True):
            name = "infinity" if math.isinf(k) else str(k)
            rows.append({"game": game, "k": name, "mean_size": size, "size_paper": theirs})
            beside = "" if theirs is None else f" ({theirs:.2f})"
            line[f"k = {name}, ours (paper)"] = f"{size:.2f}{beside}"
        shown.append(line)
    report = Report("klss_table2", quick, time.perf_counter() - begin, rows, shown=shown)
    report.save(out, figure=_figure(rows))
    return report


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns mean size by k, a line a game, the paper's figures as crosses."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawing = Figure(figsize=(6, 4))
    axes = drawing.subplots()
    names = [r["k"] for r in rows[: len(ORDERS)]]
    for i, game in enumerate(dict.fromkeys(r["game"] for r in rows)):
        mine = [r for r in rows if r["game"] == game]
        axes.plot(names, [r["mean_size"] for r in mine], color=f"C{i}", label=game)
        known = [r for r in mine if r["size_paper"] is not None]
        axes.plot(
            [r["k"] for r in known], [r["size_paper"] for r in known], "x", color=f"C{i}", ls="none"
        )
    axes.set_yscale("log")
    axes.set_xlabel("k (crosses: paper)")
    axes.set_ylabel("mean size of the knowledge set (states)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    drawing.tight_layout()
    return drawing
