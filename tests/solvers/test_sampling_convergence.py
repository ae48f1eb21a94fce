"""Sampled solvers converge: against nodes touched, and no slower than OpenSpiel's.

One iteration of OpenSpiel's solvers is one trajectory for each player, so a batch of B stands for
B of its iterations.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.solvers import NodePoint, node_curve

slow = pytest.mark.slow
"""Runs of many seeds, and five samplers to compile: minutes on a busy machine."""


class Case(NamedTuple):
    """A sampler on a game.

    Attributes:
        batch: samples in an iteration.
        samples: trajectories of each player in all; a tenth of them is measured too.
        seeds: how many runs; a mean over them is known to about 7 per cent.
        nodes: world states that they touch at most.
        bound: of the exploitability in the end, mean over the seeds.
        fall: by which factor the last nine tenths lower it at least.
    """

    batch: int
    samples: int
    seeds: int
    nodes: int
    bound: float
    fall: float


CASES = {
    ("kuhn", "es-mccfr"): Case(10, 10_000, 20, 150_000, 0.015, 2.0),
    ("kuhn", "os-mccfr"): Case(10, 10_000, 20, 110_000, 0.04, 2.0),
    ("leduc", "es-mccfr"): Case(50, 10_000, 3, 470_000, 0.4, 3.0),
    ("leduc", "os-mccfr"): Case(50, 10_000, 3, 170_000, 1.3, 1.5),
    ("leduc", "pcs-mccfr"): Case(1, 300, 3, 1_250_000, 0.5, 3.0),
}


@functools.cache
def tree_of(game: str) -> js.PublicTree:
    return js.compile(games.load(game))


@functools.cache
def curves(game: str, solver: str) -> list[list[NodePoint]]:
    case, build = CASES[game, solver], js.SAMPLERS[solver].build
    times = case.samples // case.batch
    return [
        node_curve(tree_of(game), build(batch=case.batch, seed=s), [times // 10, times])
        for s in range(case.seeds)
    ]


@pytest.mark.parametrize(
    ("game", "solver"),
    [c if c == ("kuhn", "es-mccfr") else pytest.param(*c, marks=slow) for c in CASES],
)
def test_exploitability_falls_with_nodes_touched(game: str, solver: str):
    """Samplers converge: the bound in the end, and the fall in the last nine tenths of a run."""
    case = CASES[game, solver]
    early, late = (np.mean([c[k].exploitability for c in curves(game, solver)]) for k in (0, 1))
    assert max(c[1].nodes for c in curves(game, solver)) <= case.nodes
    assert late <= case.bound
    assert early / late >= case.fall


@slow
@pytest.mark.parametrize(("game", "solver"), [c for c in CASES if c[1] != "pcs-mccfr"])
def test_as_good_as_openspiel_after_equal_samples(game: str, solver: str):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the peer")
    theirs = pyspiel.load_game(f"{game}_poker")
    gaps = []
    for seed in range(CASES[game, solver].seeds):
        if solver == "es-mccfr":
            peer = pyspiel.ExternalSamplingMCCFRSolver(
                theirs, seed, pyspiel.MCCFRAverageType.SIMPLE
            )
        else:
            peer = pyspiel.OutcomeSamplingMCCFRSolver(theirs, 0.6, seed)
        for _ in range(CASES[game, solver].samples):
            peer.run_iteration()
        gaps.append(pyspiel.exploitability(theirs, peer.average_policy()))
    ours = np.mean([c[1].exploitability for c in curves(game, solver)])
    assert ours <= 1.25 * np.mean(gaps)


def mean_gap(tree: js.PublicTree, solver: Any, iterations: int, seeds: int, **options: Any) -> Any:
    """Mean exploitability over seeds."""
    runs = [node_curve(tree, solver(seed=s, **options), [iterations]) for s in range(seeds)]
    return np.mean([r[0].exploitability for r in runs])


@slow
def test_linear_weights_help():
    plain, linear = (
        mean_gap(tree_of("leduc"), js.pcs_mccfr, 300, 3, linear=option) for option in (False, True)
    )
    assert linear < 0.95 * plain


@slow
def test_clipped_regrets_converge_with_large_batches():
    tree = tree_of("kuhn")
    options = {"batch": 64, "clip": True}
    assert mean_gap(tree, js.os_mccfr, 2000, 10, **options) < 0.015
    # With one sample, clipping forgets what was only bad luck.
    one, clipped = (mean_gap(tree, js.os_mccfr, 2000, 10, batch=1, clip=c) for c in (False, True))
    assert clipped > one
