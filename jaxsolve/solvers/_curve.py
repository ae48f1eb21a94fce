"""The curve of a run: exploitability by iteration and by time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.files import write_atomic
from jaxsolve.solvers._svg import log_log

COLUMNS = ("iteration", "seconds", "exploitability")


@dataclasses.dataclass(frozen=True)
class Curve:
    """Measurements of one run, M rows.

    Attributes:
        iteration: int [M].
        seconds: float [M], time spent in iterations, without compiling and measuring.
        exploitability: float [M], NashConv / players, in the game's units.
    """

    iteration: np.ndarray
    seconds: np.ndarray
    exploitability: np.ndarray

    @staticmethod
    def of(rows: list[tuple[int, float, float]]) -> Curve:
        """Returns the curve of (iteration, seconds, exploitability) rows."""
        table = np.asarray(rows, np.float64).reshape(-1, 3)
        return Curve(table[:, 0].astype(int), table[:, 1], table[:, 2])

    def rows(self) -> list[tuple[int, float, float]]:
        """Returns (iteration, seconds, exploitability) of each measurement."""
        columns = (self.iteration.tolist(), self.seconds.tolist(), self.exploitability.tolist())
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self.iteration)

    def save(self, path: str | Path) -> None:
        """Writes a CSV file."""
        lines = [",".join(COLUMNS)]
        lines += [f"{i},{s:.6f},{e:.9g}" for i, s, e in self.rows()]
        write_atomic(Path(path), ("\n".join(lines) + "\n").encode())

    @staticmethod
    def load(path: str | Path) -> Curve:
        """Returns the curve of a file that `save` wrote.

        Raises:
            ValueError: it is no such file.
        """
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        try:
            if not lines or lines[0] != ",".join(COLUMNS):
                raise ValueError
            cells = (line.split(",") for line in lines[1:])
            return Curve.of([(int(i), float(s), float(e)) for i, s, e in cells])
        except ValueError:
            raise ValueError(f"{path} is not a curve: its columns are {COLUMNS}") from None

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame(dict(zip(COLUMNS, zip(*self.rows(), strict=True), strict=True)))

    def __repr__(self) -> str:
        head = f"{'iteration':>10} {'seconds':>10} {'exploitability':>15}"
        return "\n".join([head, *(f"{i:>10} {s:>10.3f} {e:>15.6g}" for i, s, e in self.rows())])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><td>{i}</td><td>{s:.3f}</td><td>{e:.6g}</td></tr>" for i, s, e in self.rows()
        )
        head = "".join(f"<th>{c}</th>" for c in COLUMNS)
        table = f"<table><tr>{head}</tr>{body}</table>"
        return f"<div style='display:flex;gap:2em'>{table}{self.svg()}</div>"

    def svg(self) -> str:
        """Returns a small log-log picture for a notebook; `Result.plot` draws one for a paper."""
        return log_log(self.iteration, self.exploitability, "exploitability by iteration")


def measurement_points(iterations: int, every: int | None) -> list[int]:
    """Returns the iterations to measure at: 1, 2, 3, 4, 5, 7, 10, 15, 20, ... by default."""
    if every is not None:
        return [*range(every, iterations, every), iterations]
    steps = (10, 15, 20, 30, 40, 50, 70)
    spread = {s * 10**k // 10 for k in range(len(str(iterations))) for s in steps}
    return sorted({x for x in spread if x < iterations} | {iterations})
