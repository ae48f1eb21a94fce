"""One spot on many boards: each is solved and kept in a folder, and a table compares them."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from jaxsolve.files import write_atomic
from jaxsolve.holdem._cards import cards_name, parse_cards
from jaxsolve.holdem._result import SPOT, SpotResult, load_result
from jaxsolve.holdem._solve import parse_target, solve
from jaxsolve.holdem._spot import Spot

REPORT = "report.csv"


class BoardRow(NamedTuple):
    """What the solution of one board says about its root.

    Attributes:
        board: cards.
        ev_oop, ev_ip: expected chips, the pot included.
        equity_oop: share of the pot that oop's range wins if nobody bets.
        exploitability_chips: of the solution.
        frequency: {action: frequency by matchup} of who acts first.
    """

    board: str
    ev_oop: float
    ev_ip: float
    equity_oop: float
    exploitability_chips: float
    frequency: dict[str, float]


def solve_boards(
    spot: str | Path,
    boards: Sequence[str],
    out: str | Path,
    *,
    target: str | float | None = "0.5%",
    progress: bool = True,
    **options: Any,
) -> list[BoardRow]:
    """Solves a spot on many boards and returns a row for each, in their order.

    Each board has a folder in `out` that `load_result` reads; the rows are in report.csv there. A
    board that is there is not solved again, and one that was stopped goes on from its checkpoint.

    Args:
        spot: path of a SPOT.toml, whose own board does not count.
        boards: such as ["Td9d6h", "AhKh2c"]; `sizes` of the spot must name their streets.
        out: a folder.
        target: see `solve`.
        progress: show a bar on standard error.
        **options: of `solve`.

    Raises:
        ValueError: a board makes no sense, comes twice, or `out` holds another spot on it.
    """
    path, out = Path(spot), Path(out)
    parse_target(target, 1.0)
    spots = _spots(path, boards)
    rows: list[BoardRow] = []
    with tqdm(total=len(spots), disable=not progress, unit="board") as bar:
        for one in spots:
            name = cards_name(one.board)
            bar.set_postfix_str(name)
            folder = out / name
            if (folder / SPOT).exists():
                result = load_result(folder)
                found = result.spot.spot
                if not isinstance(found, Spot) or found.as_dict() != one.as_dict():
                    raise ValueError(f"{folder} holds another spot; choose another --out")
            else:
                result = solve(
                    one, target=target, out=folder, resume=True, progress=False, **options
                )
                if result.status == "interrupted":
                    raise KeyboardInterrupt
                result.save(folder)
            rows.append(_row(name, result))
            write_atomic(out / REPORT, _csv(rows).encode())
            bar.update()
    return rows


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
