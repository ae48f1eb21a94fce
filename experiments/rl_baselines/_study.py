"""Exploitability of reinforcement learning in self-play on Kuhn and Leduc, by episodes.

Every learner is a pair, one for each seat, that see their own infostates only. Q-learning and DQN
are measured as greedy policies, A2C as what it plays. Means over seeds, which are trained in one
vmapped program. Unit: mbb/h, thousandths of a chip; exploitability is half of NashConv.

Source: Schmid et al. 2023 (Student of Games), supplement, figure S4. The paper gives where the
best of a sweep of hyperparameters ends, no number of episodes, and two figures for A2C on Leduc:
its text says 78, its plot about 800.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxsolve as js
from experiments._report import Report
from experiments.rl_baselines._a2c import a2c
from experiments.rl_baselines._dqn import dqn
from experiments.rl_baselines._qlearning import qlearning
from experiments.rl_baselines._selfplay import Env, Method, exploitability, make_env

METHODS: dict[str, Callable[..., Method]] = {"q-learning": qlearning, "dqn": dqn, "a2c": a2c}

PAPER = {
    ("kuhn", "q-learning"): 250.0,
    ("kuhn", "dqn"): 250.0,
    ("kuhn", "a2c"): 52.0,
    ("leduc", "q-learning"): 1300.0,
    ("leduc", "dqn"): 900.0,
    ("leduc", "a2c"): 800.0,
}
"""Where the paper's best learners end, mbb/h; all but Kuhn's A2C are read off the plot."""

A2C_LEDUC_TEXT = 78.0
"""What the paper's text says of A2C on Leduc."""

RESULTS = Path(__file__).parent / "results"
"""Where the full run is recorded."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes:
        episodes: of each learner, by game.
        measurements: of exploitability on the way, evenly spaced, besides the first.
        seeds: learners behind each mean.
    """

    episodes: tuple[tuple[str, int], ...] = (("kuhn", 400_000), ("leduc", 600_000))
    measurements: int = 20
    seeds: int = 3


QUICK = Settings(episodes=(("kuhn", 50_000), ("leduc", 100_000)), measurements=5, seeds=2)


def main(
    quick: bool,
    out: Path,
    *,
    settings: Settings | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per game, method and number of episodes.

    Args:
        quick: short training.
        out: folder.
        settings: instead of those of the full or the quick run.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    chosen = settings or (QUICK if quick else Settings())
    rows: list[dict[str, Any]] = []
    extra = {"a2c_leduc_text_paper": A2C_LEDUC_TEXT}
    report = Report("rl_baselines", quick, 0.0, rows, extra)
    for game, episodes in chosen.episodes:
        tree, env = make_env(game)
        uniform = np.asarray(env.legal / env.legal.sum(-1, keepdims=True))
        rows.append(_row(game, "uniform", 0, [exploitability(tree, uniform)]))
        for name, make in METHODS.items():
            rows += _train(tree, env, game, name, make(env), episodes, chosen)
            report.seconds = time.perf_counter() - begin
            report.shown = [_last(rows, r) for r in rows if r["episodes"] == 0]
            report.save(out)
            say(
                f"{game}, {name}: {rows[-1]['exploitability_mbb']:.0f} mbb/h, "
                f"{report.seconds:.0f} s"
            )
    report.save(out, figure=_figure(rows))
    if settings is None and not quick:
        report.record(RESULTS)
    return report


def _train(
    tree: js.PublicTree,
    env: Env,
    game: str,
    name: str,
    method: Method,
    episodes: int,
    settings: Settings,
) -> list[dict[str, Any]]:
    """Returns the rows of one method, from before its first game on."""
    updates = max(episodes // (method.batch * settings.measurements), 1)

    @jax.jit
    @functools.partial(jax.vmap, in_axes=(0, 0, None))
    def learn(state: Any, key: jax.Array, first: jax.Array) -> Any:
        def body(k: jax.Array, state: Any) -> Any:
            return method.update(state, jax.random.fold_in(key, k))

        return jax.lax.fori_loop(first, first + updates, body, state)

    key_init, key_games = jax.random.split(jax.random.key(0))
    state = jax.vmap(method.init)(jax.random.split(key_init, settings.seeds))
    keys = jax.random.split(key_games, settings.seeds)
    policies = jax.jit(jax.vmap(method.policy))
    rows = []
    for k in range(settings.measurements + 1):
        gaps = [exploitability(tree, table) for table in np.asarray(policies(state))]
        rows.append(_row(game, name, k * updates * method.batch, gaps))
        if k < settings.measurements:
            state = learn(state, keys, k * updates)
    return rows


def _row(game: str, method: str, episodes: int, gaps: list[float]) -> dict[str, Any]:
    return {
        "game": game,
        "method": method,
        "episodes": episodes,
        "seeds": len(gaps),
        "exploitability_mbb": float(np.mean(gaps)),
        "least": min(gaps),
        "most": max(gaps),
        "exploitability_paper": PAPER.get((game, method)),
    }


def _last(rows: list[dict[str, Any]], like: dict[str, Any]) -> dict[str, Any]:
    """Returns the last row of the game and method of another."""
    return [r for r in rows if (r["game"], r["method"]) == (like["game"], like["method"])][-1]


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a panel per game: exploitability by episodes, with the range over seeds."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    names = list(dict.fromkeys(r["game"] for r in rows))
    figure = Figure(figsize=(4.5 * len(names), 3.6), layout="constrained")
    for axes, game in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        mine = [r for r in rows if r["game"] == game]
        for k, method in enumerate(METHODS):
            line = [r for r in mine if r["method"] == method]
            x = [r["episodes"] for r in line]
            axes.plot(x, [r["exploitability_mbb"] for r in line], color=f"C{k}", label=method)
            axes.fill_between(
                x, [r["least"] for r in line], [r["most"] for r in line], color=f"C{k}", alpha=0.2
            )
            paper = PAPER.get((game, method))
            if paper is not None:
                axes.axhline(paper, color=f"C{k}", ls="--", lw=0.8)
        uniform = [r["exploitability_mbb"] for r in mine if r["method"] == "uniform"]
        axes.axhline(uniform[0], color="gray", label="uniform")
        axes.set(title=game, xlabel="episodes", ylabel="exploitability, mbb/h (dashed: paper)")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7)
    return figure
