"""Hands written in the PHH format, read and played again by pokerkit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from jaxsolve import holdem
from jaxsolve.cli import main
from jaxsolve.holdem import play

notation = pytest.importorskip("pokerkit.notation", reason="pokerkit reads the files")


def write_log(path: Path, players: int, hands: int) -> None:
    """Writes hands of players who choose at random, some of them all-in."""
    rules = holdem.no_limit(players)
    stacks = tuple(1_000 + 700 * i for i in range(players))
    log = play.HandLog(path, rules, stacks)
    seats = [play.RandomAgent() for _ in range(players)]
    names = [f"seat {i}" for i in range(players)]
    for number in range(hands):
        cards = play.shuffled([7, number], players)
        keys = [100 * number + i for i in range(players)]
        played = play.play_hand(seats, rules, stacks, cards, number=number, keys=keys)
        log.add(played, number, names)
    log.close()


@pytest.mark.parametrize("players", [2, pytest.param(3, marks=pytest.mark.slow), 6])
def test_pokerkit_pays_what_we_pay(players: int, tmp_path: Path, monkeypatch):
    write_log(tmp_path / "some.log", players, 40)
    ours = list(play.read_log(tmp_path / "some.log"))
    out = tmp_path / "hands.phhs"
    command = ["jaxsolve", "holdem", "replay", str(tmp_path / "some.log"), "--phh", str(out)]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    theirs = list(notation.HandHistory.load_all(io.BytesIO(out.read_bytes())))
    assert len(ours) == len(theirs) == 40
    showdowns = 0
    for mine, history in zip(ours, theirs, strict=True):
        *_, state = history
        assert not state.status
        won = np.array(state.stacks) - history.starting_stacks
        # They deal odd chips of a pot whole, at most one for each pot and seat.
        np.testing.assert_allclose(won, mine.chips, atol=players)
        showdowns += mine.hand.showdown
    assert showdowns > 3
