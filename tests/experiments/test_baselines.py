"""The studies of baselines, with settings so small that they only show that every step runs."""

from __future__ import annotations

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxsolve as js
from experiments import ismcts_leduc, rl_baselines
from experiments.rl_baselines import _selfplay
from experiments.rl_baselines._qlearning import qlearning


def quiet(line: str) -> None:
    assert line


@pytest.mark.slow  # seconds of compilation
def test_ismcts_leduc(tmp_path: Path):
    settings = ismcts_leduc.Settings(
        (10, 100), (10.0, 11.0), constructions=2, game="leduc(suits=1)"
    )
    report = ismcts_leduc.main(True, tmp_path, settings=settings, say=quiet)
    assert [(r["sims"], r["uct_c"]) for r in report.rows[::3]] == [
        (10, 10),
        (10, 11),
        (100, 10),
        (100, 11),
    ]
    assert [r["exploitability_paper"] for r in report.rows[:6]] == [1738, 2555, 2360] + [None] * 3
    assert all(r["least"] <= r["exploitability_mbb"] <= r["most"] for r in report.rows)
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / "ismcts_leduc.png").stat().st_size > 1000


def test_games_of_learners():
    """Who decides, where each player decides next, and what they won, against the sequence form."""
    tree, env = _selfplay.make_env("kuhn")
    assert len(np.unique(np.asarray(env.features).reshape(12, -1), axis=0)) == 12
    uniform = np.asarray(env.legal / env.legal.sum(-1, keepdims=True))
    count = 2000
    played = _selfplay.play(env, jnp.asarray(uniform), jax.random.key(0), count)
    actor, row, action, after, payoff = (np.asarray(x) for x in played)
    for i, rows in enumerate(tree.info.form.rows):
        entry = {
            (r, int(rows.action[s - rows.roots])): s
            for r in range(rows.num_rows)
            for s in range(rows.offset[r], rows.offset[r + 1])
        }
        for step, game in zip(*np.nonzero(actor == i), strict=True):
            later = [row[t, game] for t in range(step + 1, len(row)) if actor[t, game] == i]
            assert after[step, game] == (later[0] if later else -1)
            if later:
                assert rows.parent[later[0]] == entry[row[step, game], action[step, game]]
        won = payoff[actor == i].reshape(-1)
        assert set(np.unique(won)) <= {-1, -0.5, 0.5, 1}
    first = payoff[2][actor[2] == 0]  # after two cards player 0 always decides
    exact = float(js.expected_values(tree, js.tree.uniform_policy(tree))[0]) / 2
    assert len(first) == count
    assert abs(first.mean() - exact) < 4 * first.std() / np.sqrt(count)
    gap = 1000 * float(js.exploitability(tree, js.tree.uniform_policy(tree)))
    assert _selfplay.exploitability(tree, uniform) == pytest.approx(gap, rel=1e-5)


@pytest.mark.slow
def test_qlearning_solves_a_game_of_perfect_information():
    tree, env = _selfplay.make_env("tic_tac_toe(columns=2)")
    method = qlearning(env, step_size=0.3, epsilon=0.5)
    key = jax.random.key(1)

    def learn(k: int, state: jax.Array) -> jax.Array:
        return method.update(state, jax.random.fold_in(key, k))

    learned = jax.jit(lambda state: jax.lax.fori_loop(0, 4000, learn, state))(
        method.init(jax.random.key(0))
    )
    greedy = np.asarray(method.policy(learned))
    uniform = np.asarray(env.legal / env.legal.sum(-1, keepdims=True))
    assert _selfplay.exploitability(tree, uniform) > 100
    assert _selfplay.exploitability(tree, greedy) == pytest.approx(0, abs=1e-3)


@pytest.mark.slow  # a minute of compiling
def test_rl_baselines(tmp_path: Path):
    settings = rl_baselines.Settings(episodes=(("kuhn", 40_000),), measurements=2, seeds=2)
    report = rl_baselines.main(True, tmp_path, settings=settings, say=quiet)
    gap = {(r["method"], r["episodes"] > 30_000): r["exploitability_mbb"] for r in report.rows}
    assert gap["uniform", False] == pytest.approx(11 / 24 * 1000, rel=1e-4)
    assert gap["a2c", True] < 200
    assert gap["q-learning", True] < 400
    assert [r["exploitability_paper"] for r in report.rows[:2]] == [None, 250.0]
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == report.rows
    assert (tmp_path / "rl_baselines.png").stat().st_size > 1000
