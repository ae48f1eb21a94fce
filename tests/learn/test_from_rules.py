"""The example of the documentation: goofspiel trained, searched and played from its rules alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import games
import jaxsolve as js
from jaxsolve import nets
from jaxsolve.cli._play import play
from jaxsolve.cli._train import train
from jaxsolve.public import public_table, room_for, rules_model
from jaxsolve.search import growing_search, gt_cfr

PAGE = Path(__file__).parent.parent.parent / "docs" / "sound_self_play.md"
GAME = "goofspiel(cards=3,order=descending)"


@pytest.mark.long  # compiles three large programs
@pytest.mark.timeout(900)
def test_the_example_trains_and_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """After 200 steps two simulations lose less than half of what uniform play does, 2/3."""
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S) if GAME in c)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    assert names["gaps"]["trained"] < names["gaps"]["untrained"]
    assert names["gaps"]["trained"] < 1 / 3
    again = nets.load_net("goofspiel.net")
    assert (again.module, again.format) == (names["trained"].module, names["trained"].format)
    for x, y in zip(*map(jax.tree.leaves, (again.params, names["trained"].params)), strict=True):
        np.testing.assert_array_equal(x, y)
    monkeypatch.setattr("builtins.input", lambda prompt: re.findall(r"\d", prompt)[0])
    play(GAME, agent="sog", net=Path("goofspiel.net"), iterations=2, matches=1)
    assert "after 1" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"network of goofspiel.*, not of kuhn"):
        play("kuhn", agent="sog", net=Path("goofspiel.net"))


@pytest.mark.slow  # compiles training
@pytest.mark.timeout(900)
def test_the_command_line_trains_and_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    train("kuhn", tmp_path, steps=2, simulations=2, episodes=2, log_every=1)
    assert {"network", "curve.csv"} <= {file.name for file in tmp_path.iterdir()}
    assert nets.load_net(tmp_path / "network").format.game == "kuhn"
    monkeypatch.setattr("builtins.input", lambda _: "pass")
    play("kuhn", net=tmp_path / "network", iterations=2, matches=1)
    assert "after 1" in capsys.readouterr().out


def test_what_cannot_be_trained_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="beliefs here are of two"):
        train("kuhn(players=3)", tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file, not a directory"):
        train("kuhn", tmp_path / "file")


@pytest.mark.parametrize("name", few(["kuhn", GAME], lambda _: False))
def test_the_room_that_is_found_is_enough(name: str):
    """All of the game is opened from the rules, and nothing was left out."""
    rules = games.load(name)
    model, root = rules_model(rules, **room_for(rules))
    search = growing_search(model, js.cfr_plus(2.0), simulations=30, skip_solved=True)
    value = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))
    even = jnp.ones((2, max(model.hands)))
    found = jax.jit(gt_cfr)(search, value, root, even, jax.random.key(0))
    assert int(found.status) == 0
    assert int(found.growth.num_opened) == public_table(rules).below[0]


def test_bad_input():
    with pytest.raises(ValueError, match="network of --agent sog"):
        play("kuhn", agent="uniform", net=Path("none.net"))
