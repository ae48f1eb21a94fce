"""All decisions of a solved spot as one CSV file."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._cards import cards_name, hand_name
from jaxsolve.holdem._node import NodeReport
from jaxsolve.holdem._report import lines
from jaxsolve.holdem._result import SpotResult
from jaxsolve.holdem._sizes import PLAYERS

COLUMNS = (
    *("line", "board", "player", "hand", "reach", "equity", "EV"),
    *("action", "probability", "action EV", "best EV"),
)
"""One row for each action of each hand in the range of the player who acts."""


def export_csv(
    result: SpotResult, path: str | Path, *, line: str | None = None, progress: bool = True
) -> int:
    """Writes every decision on every board, and returns the number of rows.

    The columns are `COLUMNS`; numbers have six digits. The file is whole or not there.

    Args:
        result: a solved spot.
        path: of the file.
        line: only this decision, "" for the root; all by default.
        progress: show a bar on standard error.

    Raises:
        ValueError: there is no such line.
    """
    path = Path(path)
    found = [x for x in lines(result.spot) if line is None or x.line == _canonical(result, line)]
    beside = path.with_name(path.name + ".tmp")
    count = 0
    total = sum(x.num_boards for x in found)
    with (
        beside.open("w", encoding="utf-8", newline="") as file,
        tqdm(total=total, disable=not progress, unit="node", desc=path.name) as bar,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in found:
            for node in result.reports.on_boards(one.line):
                rows = _rows(node)
                writer.writerows(rows)
                count += len(rows)
                bar.update()
    os.replace(beside, path)
    return count


def _canonical(result: SpotResult, line: str) -> str:
    betting = result.spot.betting
    return betting.line(betting.find(line))


def _rows(node: NodeReport) -> list[list[str]]:
    ev, equity = node.ev, node.equity
    head = [node.line, cards_name(node.board), PLAYERS[node.player]]
    out = []
    for h in np.flatnonzero(node.reach > 0):
        hand = [hand_name(int(node.hands[h])), *map(_number, (node.reach[h], equity[h], ev[h]))]
        for k, action in enumerate(node.actions):
            values = (node.strategy[h, k], node.value[h, k], node.best[h, k])
            out.append([*head, *hand, action, *map(_number, values)])
    return out


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
