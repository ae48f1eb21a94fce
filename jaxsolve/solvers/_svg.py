"""A line on logarithmic axes as SVG text, for notebooks without a plotting package."""

from __future__ import annotations

import math

import numpy as np

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 12, 36
TEXT = "font-size='11' fill='currentColor'"
GRID = "stroke='currentColor' stroke-opacity='.15'"


def log_log(x: np.ndarray, y: np.ndarray, caption: str) -> str:
    """Returns an SVG element with the points [M] joined by a line, "" of fewer than two points.

    Points that are not positive have no place on these axes and are left out.
    """
    shown = (x > 0) & (y > 0) & np.isfinite(y)
    if shown.sum() < 2:
        return ""
    across, up = np.log10(x[shown]), np.log10(y[shown])
    low, high = math.floor(up.min()), math.ceil(up.max() + 1e-9)
    begin, end = float(across.min()), float(across.max())
    wide = (WIDTH - LEFT - RIGHT) / max(end - begin, 1e-9)
    tall = (HEIGHT - TOP - BOTTOM) / max(high - low, 1)
    column = [LEFT + (a - begin) * wide for a in across]
    row = [TOP + (high - b) * tall for b in up]
    floor = HEIGHT - BOTTOM
    parts = []
    for k in range(math.ceil(begin), math.floor(end) + 1):
        at = f"{LEFT + (k - begin) * wide:.1f}"
        parts.append(f"<path d='M{at} {TOP}V{floor}' {GRID}/>")
        parts.append(
            f"<text x='{at}' y='{floor + 14}' text-anchor='middle' {TEXT}>{10**k:,}</text>"
        )
    for k in range(low, high + 1):
        at = TOP + (high - k) * tall
        parts.append(f"<path d='M{LEFT} {at:.1f}H{WIDTH - RIGHT}' {GRID}/>")
        parts.append(
            f"<text x='{LEFT - 6}' y='{at + 4:.1f}' text-anchor='end' {TEXT}>{10.0**k:g}</text>"
        )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(column, row, strict=True))
    parts.append(f"<polyline points='{points}' fill='none' stroke='#1f77b4' stroke-width='1.6'/>")
    middle = (LEFT + WIDTH - RIGHT) // 2
    parts.append(
        f"<text x='{middle}' y='{HEIGHT - 5}' text-anchor='middle' {TEXT}>{caption}</text>"
    )
    return f"<svg width='{WIDTH}' height='{HEIGHT}'>{''.join(parts)}</svg>"
