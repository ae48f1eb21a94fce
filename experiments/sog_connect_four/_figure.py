"""The picture of both studies of connect four."""

from __future__ import annotations

from typing import Any

from experiments.sog_connect_four._searches import SEARCHES


def figure_of(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: the share of optimal moves by simulations, a panel for each kind.

    Rows of visits are in the table alone.
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(row["positions"] for row in rows))
    figure = Figure(figsize=(2 + 4 * len(kinds), 3.5), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        for place, search in enumerate(SEARCHES):
            mine = [r for r in rows if (r["positions"], r["search"]) == (kind, search)]
            x = [r["sims"] * 1.08 ** (place - len(SEARCHES) / 2) for r in mine]  # beside each other
            y = [r["optimal_share"] for r in mine]
            ends = [[r["optimal_share"] - r["low"] for r in mine]]
            ends.append([r["high"] - r["optimal_share"] for r in mine])
            axes.errorbar(x, y, ends, fmt="o-", markersize=4, elinewidth=0.7, label=search)
        axes.set(title=f"{kind} positions", xscale="log", xlabel="simulations")
        sims = sorted({r["sims"] for r in rows if r["sims"]})
        axes.set_xticks(sims, [str(s) for s in sims])
        axes.minorticks_off()
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center")
    figure.axes[0].set_ylabel("share of optimal moves, 95 % intervals")
    return figure
