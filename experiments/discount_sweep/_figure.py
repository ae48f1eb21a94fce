"""The landscape: alpha x gamma at every beta, a row of heat maps per game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

PAPER = (1.5, 0.0, 2.0)
"""Brown & Sandholm 2019."""


def landscape(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Returns a figure: log10 exploitability, the best setting and the paper's marked."""
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(r["game"] for r in rows))
    alphas, betas, gammas = (sorted({r[k] for r in rows}) for k in ("alpha", "beta", "gamma"))
    figure = Figure(figsize=(1.6 + 2.15 * len(betas), 0.7 + 2.5 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(betas), squeeze=False, sharex=True, sharey=True)
    for name, line in zip(names, grid, strict=True):
        mine = [r for r in rows if r["game"] == name]
        gaps = np.array([r["exploitability"] for r in mine])
        best = mine[int(gaps.argmin())]
        norm = LogNorm(max(gaps.min(), 1e-12), gaps.max())
        for axes, beta in zip(line, betas, strict=True):
            image = np.full((len(alphas), len(gammas)), np.nan)
            for r in mine:
                if r["beta"] == beta:
                    image[alphas.index(r["alpha"]), gammas.index(r["gamma"])] = r["exploitability"]
            shown = axes.imshow(image, norm=norm, cmap="viridis", origin="lower", aspect="auto")
            if best["beta"] == beta:
                at = gammas.index(best["gamma"]), alphas.index(best["alpha"])
                axes.plot(*at, "*", color="red", markersize=13, markeredgecolor="white")
            if beta == PAPER[1] and PAPER[0] in alphas and PAPER[2] in gammas:
                at = gammas.index(PAPER[2]), alphas.index(PAPER[0])
                axes.plot(*at, "o", color="none", markersize=9, markeredgecolor="red", mew=2)
            axes.set_xticks(range(len(gammas)), [f"{g:g}" for g in gammas], fontsize=7)
            axes.set_yticks(range(len(alphas)), [f"{a:g}" for a in alphas], fontsize=7)
            if name == names[0]:
                axes.set_title(rf"$\beta$ = {beta:g}", fontsize=10)
            if name == names[-1]:
                axes.set_xlabel(r"$\gamma$")
        line[0].set_ylabel(f"{name}\n" + r"$\alpha$")
        figure.colorbar(shown, ax=list(line), label="exploitability", pad=0.01)
    figure.suptitle(
        f"DCFR after {rows[0]['iterations']:,} iterations: "
        r"$\star$ best setting, $\circ$ the paper's (1.5, 0, 2)",
        fontsize=11,
    )
    return figure
