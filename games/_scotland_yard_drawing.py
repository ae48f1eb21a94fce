"""Maps of Scotland Yard as SVG: connections, detectives, and how likely Mr X is at each station.

Maps say which stations are joined and not where they lie. Here places follow from the connections:
distances in the picture are as close as can be to those along the connections (stress majorization:
Gansner, Koren & North 2004), so a picture of London is not the printed board.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

from ._scotland_yard_maps import Map

COLOURS = ("#d9a400", "#1f9e89", "#d1495b", "#333333")
"""Of connections by kind, in the order of `Map.kinds`; the last is also that of further kinds."""


@functools.cache
def layout(here: Map) -> np.ndarray:
    """Returns float [S, 2], where stations are drawn, in lengths of a taxi ride; centred.

    A connection of the k-th kind counts as k rides, so that long lines bend less than they pull.
    Parts that no line joins are drawn apart. The longest direction is the first.
    """
    joined = here.joined()
    rides = np.full(joined.shape[1:], np.inf)
    for k in reversed(range(len(joined))):
        rides[joined[k]] = k + 1
    apart = shortest_path(np.where(np.isfinite(rides), rides, 0), directed=False)
    apart[~np.isfinite(apart)] = apart[np.isfinite(apart)].max() + 1
    size = len(apart)
    # Classical scaling first, then a better stress step by step.
    middle = np.eye(size) - 1 / size
    lengths, ways = np.linalg.eigh(-0.5 * middle @ apart**2 @ middle)
    places = np.pad(ways, ((0, 0), (2, 0)))[:, -2:][:, ::-1]
    places = places * np.sqrt(np.maximum(np.pad(lengths, (2, 0))[-2:][::-1], 0))
    places = places * np.where(places[np.abs(places).argmax(0), [0, 1]] < 0, -1, 1)
    places = places + 1e-3 * np.stack([np.arange(size), np.arange(size) ** 2 % 7], 1) / size
    weights = 1 / np.where(apart > 0, apart, np.inf) ** 2
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    for _ in range(200):
        now = cdist(places, places)
        pull = weights * apart / np.where(now > 0, now, 1)
        places = inverse @ (pull.sum(1)[:, None] * places - pull @ places)
    return places - places.mean(0)


def as_svg(
    here: Map,
    detectives: np.ndarray,
    *,
    belief: np.ndarray | None = None,
    evader: int | None = None,
    width: int = 800,
) -> str:
    """Returns a picture of the map: discs whose area is the belief, squares for detectives.

    Args:
        here: the map.
        detectives: int [D], their stations from 0.
        belief: float [S], probability of each station of Mr X.
        evader: station of Mr X from 0, drawn as a ring; None where it is not to be seen.
        width: pixels.
    """
    joined = here.joined()
    known = joined.any((0, 1))
    places = layout(here)
    low, high = places[known].min(0), places[known].max(0)
    margin = 36
    unit = (width - 2 * margin) / max(float((high - low)[0]), 1e-9)
    places = (places - low) * unit + margin
    height = round(float((high - low)[1]) * unit) + 2 * margin
    near = np.median([np.linalg.norm(places[a - 1] - places[b - 1]) for a, b in here.edges[0]])
    dot = float(np.clip(near / 4, 3, 12))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width: 100%; height: auto" '
        'font-family="sans-serif" text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    drawn = np.zeros(joined.shape[1:], bool)
    for k in range(len(joined)):
        # The last kind of several goes along all lines: what is left for it are ferries.
        lines = joined[k] & ~drawn if k == len(joined) - 1 else joined[k]
        drawn |= joined[k]
        for a, b in np.argwhere(np.triu(lines)):
            (x, y), (u, v) = places[a], places[b]
            dashes = ' stroke-dasharray="6 4"' if k > 2 else ""
            parts.append(
                f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" '
                f'stroke="{COLOURS[min(k, 3)]}" stroke-width="{1 + min(k, 2)}" '
                f'opacity="0.6"{dashes}/>'
            )
    if belief is not None:
        for s in np.flatnonzero(belief > 0):
            x, y = places[s]
            radius = max(1.5, 3 * dot * float(np.sqrt(belief[s] / belief.max())))
            parts.append(
                f'<circle class="belief" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" '
                f'fill="#7b2d8b" opacity="0.5"><title>{s + 1}: {belief[s]:.3f}</title></circle>'
            )
    for s in np.flatnonzero(known):
        x, y = places[s]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}" fill="#fff" stroke="#777" '
            f'stroke-width="0.7"/><text x="{x:.1f}" y="{y + 0.35 * dot:.1f}" '
            f'font-size="{dot:.1f}">{s + 1}</text>'
        )
    for number, s in enumerate(detectives, 1):
        x, y = places[s]
        side = 2.6 * dot
        parts.append(
            f'<rect class="detective" x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" '
            f'width="{side:.1f}" height="{side:.1f}" fill="#1d4e9e"/>'
            f'<text x="{x:.1f}" y="{y + 0.6 * dot:.1f}" font-size="{1.7 * dot:.1f}" '
            f'fill="#fff"><title>detective {number} at {s + 1}</title>{number}</text>'
        )
    if evader is not None and evader >= 0:
        x, y = places[evader]
        parts.append(
            f'<circle class="evader" cx="{x:.1f}" cy="{y:.1f}" r="{1.7 * dot:.1f}" fill="none" '
            f'stroke="#000" stroke-width="3"><title>Mr X at {evader + 1}</title></circle>'
        )
    return "\n".join([*parts, "</svg>"])
