"""What every experiment leaves behind: result.json, a Markdown table and a picture."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from jaxsolve.files import write_atomic, write_figure
from jaxsolve.hosts import processors

Row = Mapping[str, Any]


@dataclasses.dataclass
class Report:
    """The outcome of an experiment.

    Attributes:
        name: of the experiment.
        quick: whether it was run with reduced settings.
        seconds: wall time of the whole experiment.
        rows: one mapping per point or table line, plain values only; figures that a paper gives
            have keys ending in `_paper`.
        extra: further entries of result.json.
        columns: keys of the rows that tables show, in order; None for all.
        shown: lines of the table, where it is not simply the rows.
    """

    name: str
    quick: bool
    seconds: float
    rows: list[dict[str, Any]]
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)
    columns: Sequence[str] | None = None
    shown: Sequence[Row] | None = None

    @property
    def table(self) -> list[Row]:
        """The lines of the table: `shown` or the rows, with the chosen columns."""
        lines = self.rows if self.shown is None else self.shown
        if self.columns is None:
            return list(lines)
        return [{k: line.get(k) for k in self.columns} for line in lines]

    def as_json(self, *, digits: int | None = None) -> str:
        """Returns the text of result.json, a line per row; a number that is not finite is null.

        Args:
            digits: significant digits of numbers; all by default.
        """
        content = {
            "name": self.name,
            "quick": self.quick,
            "device": device_name(),
            "jax": jax.__version__,
            "seconds": round(self.seconds, 3),
            "rows": self.rows,
            **self.extra,
        }
        entries = (f" {json.dumps(k)}: {_entry(_plain(v, digits))}" for k, v in content.items())
        return "{\n" + ",\n".join(entries) + "\n}\n"

    def earlier(self, out: Path, *, same: Sequence[str]) -> tuple[list[dict[str, Any]], float]:
        """Returns the rows that a stopped run left, and how long it took; none of another run.

        Args:
            out: folder that it was saved in.
            same: keys of `extra` that must be equal, besides the study, device and version of JAX.
        """
        path = out / "result.json"
        if not path.exists():
            return [], 0.0
        found, now = json.loads(path.read_text()), json.loads(self.as_json())
        keys = ("name", "quick", "device", "jax", *same)
        if found.get("complete", True) or any(found.get(k) != now[k] for k in keys):
            return [], 0.0
        return found["rows"], found["seconds"]

    def save(self, out: Path, *, figure: Any = None) -> list[Path]:
        """Writes result.json, NAME.md and, if there is a figure, NAME.png; returns their paths.

        Args:
            out: folder, made if it is not there.
            figure: a matplotlib Figure.
        """
        out.mkdir(parents=True, exist_ok=True)
        written = [out / "result.json", out / f"{self.name}.md"]
        write_atomic(written[0], self.as_json().encode())
        write_atomic(written[1], markdown(self.table).encode())
        if figure is not None:
            written.append(out / f"{self.name}.png")
            write_figure(written[-1], figure, dpi=150, bbox_inches="tight")
        return written

    def record(self, folder: Path, *, text: str | None = None) -> Path:
        """Writes the result and its table under the name of this device and version of JAX.

        Numbers have six significant digits there, so that results stay small enough to commit.

        Args:
            folder: made if it is not there.
            text: in place of the table.

        Returns:
            Path of the Markdown file; the result lies beside it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        stem = slug(f"{jax.default_backend()} {device_name()}") + f"-jax{jax.__version__}"
        write_atomic(folder / f"{stem}.json", self.as_json(digits=6).encode())
        path = folder / f"{stem}.md"
        write_atomic(path, (markdown(self.table) if text is None else text).encode())
        return path


def markdown(rows: Sequence[Row]) -> str:
    """Returns rows as a Markdown table, numbers to the right."""
    keys = columns(rows)
    lines = [f"| {' | '.join(keys)} |", f"|{''.join(_rule(rows, k) for k in keys)}"]
    lines += [f"| {' | '.join(cell(row.get(k)) for k in keys)} |" for row in rows]
    return "\n".join(lines) + "\n"


def columns(rows: Sequence[Row]) -> list[str]:
    """Returns the keys of all rows, in order of appearance."""
    return list(dict.fromkeys(k for row in rows for k in row))


def cell(value: Any) -> str:
    """Returns a value as a table shows it: four significant digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(v) for v in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def device_name() -> str:
    """Returns the device that JAX computes on, e.g. "AMD EPYC, 2 cores" or "NVIDIA H200"."""
    device = jax.devices()[0]
    if device.platform != "cpu":
        return str(device.device_kind)
    return f"{_processor()}, {processors()} cores"


def slug(text: str) -> str:
    """Returns text as part of a file name: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")


def _processor() -> str:
    try:
        lines: Iterable[str] = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = ()
    for line in lines:
        if line.startswith("model name"):
            return re.sub(r"\(R\)|\(TM\)|CPU|Processor|@.*", "", line.split(":", 1)[1]).strip()
    return platform.processor() or platform.machine()


def _rule(rows: Sequence[Row], key: str) -> str:
    return "---|" if any(isinstance(row.get(key), str) for row in rows) else "--:|"


def _entry(value: Any) -> str:
    """Returns a value as JSON; a list of mappings has one line for each."""
    if isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
        return "[\n" + ",\n".join(f"  {json.dumps(v)}" for v in value) + "\n ]"
    return json.dumps(value)


def _plain(value: Any, digits: int | None) -> Any:
    """Returns a value with lists for tuples, None for what is not finite, and rounded numbers."""
    if isinstance(value, Mapping):
        return {k: _plain(v, digits) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, digits) for v in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if digits is None else float(f"{value:.{digits}g}")
    return value


def wilson(points: float, count: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share of points (Wilson 1927); draws make it too wide."""
    z, share = 1.96, points / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)
