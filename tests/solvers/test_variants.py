"""Every row of SOLVERS, iterate by iterate, against its formulas in plain Python.

First iterations only: later ones of CFR+ and its relatives are chaotic (clipping turns rounding
into different branches), so two correct programs part ways after some dozens of iterations.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import oracle
import pytest
from few import few
from random_games import Tilted

import games
import jaxsolve as js
from jaxsolve.solvers import Solver, average_policy, current_policy, init_state, run
from jaxsolve.solvers.variants import SOLVERS
from jaxsolve.testing import random_game

ITERATIONS, HORIZON = 5, 4
"""One more than planned, so that schedules are also seen after their end."""

TREES = {
    "kuhn": lambda: Tilted(games.load("kuhn")),
    "leduc": lambda: Tilted(games.load("leduc(suits=1,raises=1)")),
    "random": lambda: random_game(5, depth=6, silence=0.8),
}

HYPER: dict[str, dict[str, float]] = {
    "cfr+": {"gamma": 2.0},
    "dcfr": {"alpha": 2.0, "beta": -1.0, "gamma": 3.0},
    "dcfr+": {"alpha": 1.0, "gamma": 2.0},
    "pcfr+": {"gamma": 1.0},
    "sapcfr+": {"gamma": 1.0},
    "apcfr+": {"gamma": 1.0, "longest": 1.5},
    "pdcfr+": {"alpha": 1.0, "gamma": 2.0},
    "hs-dcfr": {"start": 15.0},
    "hs-pcfr+": {"start": 15.0},
    "modicum-cfr+": {"warmup": 2.0},
    "mmd": {"eta": 0.5, "alpha": 0.2},
}
"""Settings other than the defaults, of every variant that has any."""

STATED = {"mmd": {"eta": 0.1, "alpha": 0.05}}
"""Settings that no paper gives a default for."""


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


@functools.cache
def both(name: str) -> tuple[Any, oracle.OracleGame]:
    game = TREES[name]()
    return js.compile(game), oracle.walk(game)


@jax.jit
def after(tree: Any, solver: Solver, iterations: int, horizon: int) -> tuple[js.Policy, js.Policy]:
    state = run(tree, solver, init_state(tree, solver), iterations, horizon)
    return current_policy(tree, state), average_policy(tree, state)


def agree(name: str, solver: Solver, row: str, **options: Any) -> None:
    """Checks the current and the average policy after 0, 1, ... iterations."""
    tree, game = both(name)
    assert tree.players[0].root_reach.dtype == np.float64
    options = {"iterations": ITERATIONS, "horizon": HORIZON} | options
    for t, snapshot in enumerate(oracle.solve(game, row, **options)):
        for got, want in zip(after(tree, solver, t, options["horizon"]), snapshot, strict=True):
            if want is None:
                continue
            policy = js.Policy(got.players, tree.info)
            for i, expected in enumerate(oracle.flat(want)):
                np.testing.assert_allclose(
                    policy.probabilities(i), expected, atol=1e-9, err_msg=f"player {i}, t={t}"
                )


def test_every_row_has_an_oracle():
    assert set(SOLVERS) == set(oracle.ROWS)


@pytest.mark.parametrize(
    ("name", "row"),
    few(
        [(name, row) for name in TREES for row in SOLVERS],
        lambda pair: pair[0] == "kuhn" or pair in (("leduc", "cfr+"), ("random", "dcfr")),
    ),
)
def test_alternating(name: str, row: str):
    hyper = STATED.get(row, {})
    agree(name, SOLVERS[row].build(**hyper), row, **hyper)


@pytest.mark.parametrize(
    ("name", "row"),
    few(
        [("kuhn", row) for row in SOLVERS] + [("random", row) for row in ("cfr", "cfr+", "pcfr+")],
        lambda pair: pair[0] == "kuhn",
    ),
)
def test_simultaneous(name: str, row: str):
    hyper = STATED.get(row, {})
    solver = SOLVERS[row].build(**hyper).simultaneous()
    agree(name, solver, row, simultaneous=True, **hyper)


@pytest.mark.parametrize(("row", "hyper"), HYPER.items())
def test_hyper_parameters(row: str, hyper: dict[str, float]):
    agree("kuhn", SOLVERS[row].build(**hyper), row, **hyper)


def test_modicum_stops_discounting_after_its_warm_up():
    agree("kuhn", js.modicum_cfr_plus(), "modicum-cfr+", iterations=34, horizon=34)
