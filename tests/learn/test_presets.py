"""Presets are the paper's table S2, and make settings that training accepts."""

from __future__ import annotations

import pytest

from jaxsolve import learn, nets

# Schmid et al. 2023, supplement, table S2, a column per game; the table's order of rows.
TABLE = {
    "chess": (2048, "sgd", 0.1, 40e3, 0.8, 1, 0.25, 50e6, 1, 0, 1, 0.2, 0, -0.9, 0.2, 30, 512, 1.5),
    "go": (2048, "sgd", 0.02, 200e3, 0.1, 1, 0.5, 50e6, 0.2, 0.2, 0, 0, 0, -0.9, 0.2, 30, 722, 1.5),
    "scotland_yard": (
        *(1024, "sgd", 0.1, 2e6, 0.5, 0.05, 1, 1e6, 5, 0, 0.3, 0.1, 0),
        *(None, None, None, None, 1),
    ),
    "holdem": (
        *(1024, "adam", 1e-4, 2e6, 0.5, 0.01, 1, 1e6, 10, 0, 0.9, 0.1, 0.1),
        *(None, None, None, None, 1),
    ),
}

NAMES = (
    *("minibatch", "optimiser", "learning_rate", "decay_updates", "decay", "policy_weight"),
    *("value_weight", "buffer", "reuse", "p_td1", "q_search", "q_recursive", "epsilon"),
    *("resign_below", "no_resign", "greedy_after", "max_moves", "temperature"),
)


@pytest.mark.parametrize("name", TABLE)
def test_numbers_are_those_of_the_table(name: str):
    chosen = learn.preset(name)
    assert tuple(getattr(chosen, field) for field in NAMES) == TABLE[name]
    assert "table" in chosen.source


def test_presets_make_settings():
    chosen = learn.preset("scotland_yard")
    play = chosen.self_play(episodes=60)
    assert (play.q_search, play.q_recursive, play.num_solvers) == (0.3, 0.1, 20)
    plan = chosen.plan(steps=10, batch=410)
    assert (plan.updates, plan.optimiser, plan.decay, plan.reuse) == (2, "sgd", 0.5, 5.0)
    assert plan.updates * plan.minibatch / 410 <= plan.reuse
    assert chosen.plan(steps=1, batch=8, minibatch=16).updates == 2
    assert chosen.network(actions=5) == nets.ValueNetwork(512, 6, actions=5)
    assert learn.preset("leduc").source.startswith("ours")


def test_bad_input():
    with pytest.raises(ValueError, match="no preset 'shogi'; choose one of chess, go,"):
        learn.preset("shogi")
    with pytest.raises(ValueError, match="Make it 205 with more episodes"):
        learn.preset("scotland_yard").plan(steps=1, batch=204)
    with pytest.raises(ValueError, match="whose size it does not give"):
        learn.preset("go").network(actions=3)
