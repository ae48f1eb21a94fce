"""The benchmark as tables, one line per game with the peers side by side, and as a picture."""

from __future__ import annotations

from typing import Any

import jax

from experiments._report import Report, cell, device_name, markdown

_MAIN = {
    "game": "game",
    "world states": "states",
    "build s": "build_seconds",
    "compile s": "compile_seconds",
    "to 1e-3 s": "seconds_to_1e3",
    "cached: build s": "build_cached_seconds",
    "cached: compile s": "compile_cached_seconds",
    "cached: to 1e-3 s": "seconds_to_1e3_cached",
    "tensors MB": "memory_mb",
    "peak MB": "peak_mb",
    "ms/it": "ms_per_iteration",
}

_LIMITS = {
    "game": "game",
    "ms/it": "ms_per_iteration",
    "least ms/it": "floor_ms",
    "set by": "floor_reason",
    "bytes": "limit_bytes",
    "bytes ms": "limit_bytes_ms",
    "look-ups": "limit_gathers",
    "look-ups ms": "limit_gathers_ms",
    "kernels": "kernels",
    "launches ms": "limit_launches_ms",
}


def lines(report: Report) -> list[dict[str, Any]]:
    """Returns one mapping of column titles to values per game."""
    peers = list(dict.fromkeys(r["peer"] for r in report.rows if r["peer"]))
    out: dict[str, dict[str, Any]] = {}
    for row in report.rows:
        line = out.setdefault(row["game"], {title: row.get(k) for title, k in _MAIN.items()})
        for peer in peers:
            if row["peer"] == peer:
                line[f"{peer} ms/it"] = row["peer_ms_per_iteration"]
                line[f"{peer} / ours"] = row["ratio"]
            else:
                line.setdefault(f"{peer} ms/it", None)
                line.setdefault(f"{peer} / ours", None)
    return list(out.values())


def limits(report: Report) -> list[dict[str, Any]]:
    """Returns one mapping of column titles to values per game, of the limits of an iteration."""
    seen = {r["game"]: r for r in report.rows if r.get("kernels")}
    return [{title: row[k] for title, k in _LIMITS.items()} for row in seen.values()]


def text(report: Report) -> str:
    """Returns the tables in Markdown, with what they were measured on."""
    extra = report.extra
    made = f"`jaxsolve bench` on {device_name()}, JAX {jax.__version__}, {extra['dtype']}"
    if extra["load"] is not None:
        made += f"; mean load of the machine {extra['load']:.1f}"
    parts = [made + (" (quick).\n" if report.quick else ".\n"), markdown(lines(report))]
    parts += [f"- {line}\n" for line in means(report)]
    least = limits(report)
    return "\n".join(parts + ([markdown(least)] if least else []))


def means(report: Report) -> list[str]:
    """Returns one sentence per peer."""
    return [
        f"{peer} takes {cell(mean['ratio'])} times as long in the geometric mean over "
        f"{mean['games']} larger games, at least {cell(mean['smallest'])} times "
        f"({report.extra['peers'][peer]})"
        for peer, mean in report.extra["geometric_mean"].items()
    ]


def figure(report: Report) -> Any:
    """Returns a chart of milliseconds an iteration, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    games = list(dict.fromkeys(r["game"] for r in report.rows))
    series = {"jaxsolve": {r["game"]: r["ms_per_iteration"] for r in report.rows}}
    for r in report.rows:
        if r["peer"]:
            series.setdefault(r["peer"], {})[r["game"]] = r["peer_ms_per_iteration"]
    drawing = Figure(figsize=(8, 0.9 + 0.6 * len(games)))
    axes = drawing.subplots()
    thick = 0.8 / len(series)
    for k, (name, values) in enumerate(series.items()):
        at = [i + (k - (len(series) - 1) / 2) * thick for i, g in enumerate(games) if g in values]
        shown = [values[g] for g in games if g in values]
        bars = axes.barh(at, shown, height=thick, label=name)
        axes.bar_label(bars, [cell(v) for v in shown], padding=3, fontsize=8)
    axes.set_yticks(range(len(games)), games)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("milliseconds for one CFR+ iteration of both players (less is better)")
    axes.set_title(f"{device_name()}, JAX {jax.__version__}")
    axes.legend()
    return drawing
