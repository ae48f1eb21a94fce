"""One spot on many boards: each is solved and kept in a folder, and a table compares them."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from jaxsolve.files import write_atomic
from jaxsolve.holdem._canonical import canonical_boards
from jaxsolve.holdem._cards import cards_name, parse_cards
from jaxsolve.holdem._result import SPOT, SpotResult, load_result
from jaxsolve.holdem._solve import parse_target, solve
from jaxsolve.holdem._spot import Spot
from jaxsolve.solvers import CHECKPOINT

REPORT = "report.csv"


ROW = "row.json"

Boards = Sequence[str] | Mapping[str, float]
"""Names of boards, or how often each counts."""


class BoardRow(NamedTuple):
    """What the solution of one board says about its root.

    Attributes:
        board: cards; "all" for the mean over boards.
        weight: how often the board counts, times the pairs of hands that can be on it.
        ev_oop, ev_ip: expected chips, the pot included.
        equity_oop: share of the pot that oop's range wins if nobody bets.
        exploitability_chips: of the solution.
        frequency: {action: frequency by matchup} of who acts first.
    """

    board: str
    weight: float
    ev_oop: float
    ev_ip: float
    equity_oop: float
    exploitability_chips: float
    frequency: dict[str, float]


def solve_boards(
    spot: str | Path,
    boards: Boards,
    out: str | Path,
    *,
    target: str | float | None = "0.5%",
    keep: bool = True,
    progress: bool = True,
    **options: Any,
) -> list[BoardRow]:
    """Solves a spot on many boards and returns a row for each, in their order.

    Each board has a folder in `out`; the rows are in report.csv there, with their mean. A board
    that is there is not solved again, and one that was stopped goes on from its checkpoint.

    Args:
        spot: path of a SPOT.toml, whose own board does not count.
        boards: such as ["Td9d6h", "AhKh2c"], or with how often each counts, as `flop_sample`
            gives them; `sizes` of the spot must name their streets.
        out: a folder.
        target: see `solve`.
        keep: the solutions too, which `load_result` reads, and not the rows alone.
        progress: show a bar on standard error.
        **options: of `solve`.

    Raises:
        ValueError: a board makes no sense, comes twice, or `out` holds another spot on it.
    """
    path, out = Path(spot), Path(out)
    parse_target(target, 1.0)
    copies = boards if isinstance(boards, Mapping) else dict.fromkeys(boards, 1.0)
    spots = _spots(path, list(boards))
    rows: list[BoardRow] = []
    with tqdm(total=len(spots), disable=not progress, unit="board") as bar:
        for one, times in zip(spots, copies.values(), strict=True):
            name = cards_name(one.board)
            bar.set_postfix_str(name)
            folder = out / name
            row = _known(folder, one, whole=keep)
            if row is None:
                result = solve(
                    one, target=target, out=folder, resume=True, progress=False, **options
                )
                if result.status == "interrupted":
                    raise KeyboardInterrupt
                if keep:
                    result.save(folder)
                row = _row(name, result)
                known = {"spot": one.as_dict(), "row": row._asdict()}
                write_atomic(folder / ROW, json.dumps(known).encode())
                if not keep:
                    (folder / CHECKPOINT).unlink(missing_ok=True)
            rows.append(row._replace(weight=row.weight * times))
            write_atomic(out / REPORT, _csv([*rows, mean_row(rows)]).encode())
            bar.update()
    return rows


def flop_sample(count: int | None = None) -> dict[str, float]:
    """Returns flops and how many of the 22,100 each stands for.

    All 1,755 that differ by more than names of suits, or `count` of them, spread evenly over the
    flops in order of their ranks and suits, each with the same number.

    Raises:
        ValueError: `count` is not from 1 to 1,755.
    """
    every = canonical_boards(3)
    boards = sorted(
        (sorted((c // 4 for c in b), reverse=True), len({c % 4 for c in b}), cards_name(b), int(n))
        for b, n in zip(every.boards.tolist(), every.count.tolist(), strict=True)
    )
    names, copies = [b[2] for b in boards], np.asarray([b[3] for b in boards], float)
    if count is None:
        return dict(zip(names, copies.tolist(), strict=True))
    if not 1 <= count <= len(names):
        raise ValueError(f"there are {len(names):,} flops, so count is from 1 to that, not {count}")
    ends, total = np.cumsum(copies), copies.sum()
    at = np.searchsorted(ends, (np.arange(count) + 0.5) * total / count)
    # Two of them can fall on one flop, which then counts twice.
    chosen, times = np.unique(at, return_counts=True)
    return {names[k]: float(n * total / count) for k, n in zip(chosen, times, strict=True)}


def mean_row(rows: Sequence[BoardRow]) -> BoardRow:
    """Returns the mean over boards by their weights; its board is "all"."""
    weight = np.asarray([r.weight for r in rows])
    actions = list(dict.fromkeys(a for row in rows for a in row.frequency))

    def mean(values: Sequence[float]) -> float:
        return float(weight @ np.asarray(values) / weight.sum())

    numbers = {f: mean([getattr(r, f) for r in rows]) for f in BoardRow._fields[2:-1]}
    shares = {a: mean([r.frequency.get(a, 0.0) for r in rows]) for a in actions}
    return BoardRow("all", float(weight.sum()), **numbers, frequency=shares)


def boards_figure(rows: Sequence[BoardRow], *, title: str = "") -> Any:
    """Returns a matplotlib figure: what is done at the root of each board, and what it is worth.

    Boards are in order of how often the first action is taken (needs the extra `plot`).
    """
    from matplotlib.figure import Figure

    from jaxsolve.holdem._cells import action_colours

    mean = mean_row(rows)
    first = next(iter(mean.frequency))
    ordered = sorted(rows, key=lambda r: r.frequency.get(first, 0.0))
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    x, base = np.arange(len(rows)), np.zeros(len(rows))
    for action, colour in action_colours(list(mean.frequency)).items():
        share = np.asarray([r.frequency.get(action, 0.0) for r in ordered])
        label = f"{action} {100 * mean.frequency[action]:.1f}%"
        above.bar(x, share, 1.0, bottom=base, color=colour, label=label)
        base += share
    above.set(ylabel="frequency", ylim=(0, 1), xlim=(-0.5, len(rows) - 0.5), title=title)
    above.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    below.plot(x, [r.ev_oop for r in ordered], ".", markersize=4, label="oop")
    below.axhline(mean.ev_oop, color="#888888", linewidth=0.8, label=f"mean {mean.ev_oop:.2f}")
    below.set(ylabel="EV of oop, chips", xlabel="boards")
    below.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8)
    few = len(rows) <= 40
    below.set_xticks(x if few else [], [r.board for r in ordered] if few else [], rotation=90)
    return figure


def _known(folder: Path, spot: Spot, *, whole: bool) -> BoardRow | None:
    """Returns the row of a board that was solved before, None if it was not.

    Raises:
        ValueError: the folder holds another spot.
    """
    if (folder / ROW).exists() and not whole:
        known = json.loads((folder / ROW).read_text(encoding="utf-8"))
        if known["spot"] != json.loads(json.dumps(spot.as_dict())):
            raise ValueError(f"{folder} holds another spot; choose another --out")
        return BoardRow(**known["row"])
    if not (folder / SPOT).exists():
        return None
    result = load_result(folder)
    found = result.spot.spot
    if not isinstance(found, Spot) or found.as_dict() != spot.as_dict():
        raise ValueError(f"{folder} holds another spot; choose another --out")
    return _row(cards_name(spot.board), result)


def _spots(path: Path, boards: Sequence[str]) -> list[Spot]:
    if not boards:
        raise ValueError("no boards to solve")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        spots = [Spot.parse(data, directory=path.parent, board=parse_cards(b)) for b in boards]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    names = [frozenset(one.board) for one in spots]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"{boards[k]} is there twice")
    return spots


def _row(name: str, result: SpotResult) -> BoardRow:
    root = result.node()
    weight = root.reach * root.weight
    some = weight > 0
    equity = float((weight * root.equity)[some].sum() / weight[some].sum())
    shares = root.frequency_by_matchup
    return BoardRow(
        board=name,
        weight=result.reports.scale,
        ev_oop=result.ev[0],
        ev_ip=result.ev[1],
        equity_oop=equity if root.player == 0 else 1 - equity,
        exploitability_chips=result.exploitability_chips,
        frequency={a: float(s) for a, s in zip(root.actions, shares, strict=True)},
    )


def _csv(rows: Sequence[BoardRow]) -> str:
    actions = list(dict.fromkeys(a for row in rows for a in row.frequency))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*BoardRow._fields[:-1], *(f"frequency {a}" for a in actions)])
    for row in rows:
        shares = [row.frequency.get(a, "") for a in actions]
        writer.writerow([row.board, *(f"{x:.6g}" for x in row[1:-1]), *map(_number, shares)])
    return text.getvalue()


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
