"""Blueprints: trained, kept, resumed and looked at, with buckets that cost nothing."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_buckets import save_made_buckets

from jaxsolve import holdem
from jaxsolve.cli import main
from jaxsolve.holdem import Abstraction, BetMenu, Blueprint, train_blueprint

MENU = """
stack = "5bb"
preflop.sizes = [["100%", "a"]]
flop.sizes = [["100%", "a"]]
turn.sizes = [["a"]]
river.sizes = [["a"]]
"""


@pytest.fixture(scope="module")
def buckets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of an abstraction: hands by chance in three buckets on the flop, one later."""
    folder = tmp_path_factory.mktemp("buckets")
    save_made_buckets(folder, 3)
    return folder


@pytest.fixture(scope="module")
def abstraction(buckets: Path) -> Abstraction:
    return Abstraction.load(buckets, verify=False)


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    path = tmp_path / "menu.toml"
    path.write_text(MENU)
    return path


def test_train_load_and_look(tmp_path: Path, menu: Path, abstraction: Abstraction) -> None:
    out, rows = tmp_path / "out", []  # type: Path, list[dict[str, Any]]
    made = train_blueprint(
        BetMenu.load(menu),
        abstraction,
        out=out,
        passes=3_000,
        measure_seconds=0.2,
        boards=2,
        report=rows.append,
        progress=False,
    )
    assert rows[-1]["against"] == "snapshot before"
    assert rows[-1]["low"] < rows[-1]["mbb"] < rows[-1]["high"]
    again = Blueprint.load(out)
    np.testing.assert_array_equal(again.tables.average, made.tables.average)
    assert again.rows == made.rows
    policy = again.policy("")
    np.testing.assert_allclose(policy.sum(1), 1)
    assert again.actions("") == ("f", "c", "r300", "a")
    aces = (holdem.parse_range("AA") > 0).nonzero()[0]
    assert policy[aces, 0].max() < 0.01  # nobody folds aces
    board = holdem.parse_cards("Td9d6h")
    reach = again.reach("c x", board)
    assert 0 < reach.sum() < holdem.NUM_HANDS
    assert not reach[~(again.policy("c x", board).sum(1) > 0)].any()


def test_another_game_is_refused(tmp_path: Path, menu: Path, abstraction: Abstraction) -> None:
    read, quiet = BetMenu.load(menu), {"passes": 64, "progress": False, "boards": 0}
    train_blueprint(read, abstraction, out=tmp_path, **quiet)  # type: ignore[arg-type]
    other = dataclasses.replace(abstraction, checksum=5)
    with pytest.raises(ValueError, match="was trained on buckets"):
        Blueprint.load(tmp_path, abstraction=other)
    with pytest.raises(ValueError, match="was trained on buckets"):
        train_blueprint(read, other, out=tmp_path, resume=True, **quiet)  # type: ignore[arg-type]
    deep = BetMenu.load(menu, stack="6bb")
    with pytest.raises(ValueError, match="belongs to another run"):
        train_blueprint(deep, abstraction, out=tmp_path, resume=True, **quiet)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match=r"no blueprint\.json"):
        Blueprint.load(tmp_path / "nothing")
    made = Blueprint.load(tmp_path)
    for line, board, words in (
        ("c b7", (), "'b7' cannot follow 'c'"),
        ("f", (), "the hand is over"),
        ("c x", (0, 1), "whose board has 3 cards, not 2"),
    ):
        with pytest.raises(ValueError, match=words):
            made.policy(line, board)


@pytest.mark.slow
def test_commands(
    tmp_path: Path, menu: Path, buckets: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(holdem.Abstraction, "load", _unverified(holdem.Abstraction.load))
    words = ["blueprint", str(menu), "--abstraction", str(buckets), "--boards", "0"]
    for name in ("one", "two"):
        seed = ["--seed", "1" if name == "one" else "2"]
        out = ["--out", str(tmp_path / name)]
        how = ["--sampler", "external", "--passes", "20000", "--threads", "1"]
        call(monkeypatch, *words, *how, *seed, *out)
    capsys.readouterr()
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    call(monkeypatch, "match", one, two, "--boards", "2", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["low"] < found["mbb"] < found["high"]
    monkeypatch.setattr("sys.argv", ["jaxsolve", "holdem", "match", one, two, "--stack", "6bb"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "plays stacks of 500 chips, not 600" in capsys.readouterr().err
    call(monkeypatch, "match", one, "uniform", "--boards", "8", "--json")
    assert json.loads(capsys.readouterr().out)["mbb"] > 0
    call(monkeypatch, "match", one, "allin", "--hands", "20000", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["hands"], found["low"] > 0, found["p_value"] < 0.025) == (20_000, True, True)
    menu.write_text(MENU.replace('flop.sizes = [["100%", "a"]]', 'flop.sizes = [["60%"]]'))
    call(
        monkeypatch, *words, "--passes", "2000", "--threads", "1", "--out", str(tmp_path / "third")
    )
    capsys.readouterr()
    call(monkeypatch, "match", one, str(tmp_path / "third"), "--hands", "2000")
    assert "in 2,000 hands" in capsys.readouterr().out
    files = [tmp_path / "node.png", tmp_path / "node.html"]
    draw = ["--png", str(files[0]), "--html", str(files[1])]
    call(monkeypatch, "show", one, "c x", "--board", "Td9d6h", "--hand", "AhAd", *draw)
    assert "AhAd" in capsys.readouterr().out
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].read_text().count("<td title=") == 169
    assert "First in" in (tmp_path / "one" / "preflop.html").read_text()
    result = json.loads((tmp_path / "one" / "result.json").read_text())
    assert [p["position"] for p in result["positions"]] == ["BTN", "BB"]
    call(monkeypatch, "positions", one, "--hands", "2000", "--json")
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[0]["fold"] == result["positions"][0]["fold"]
    call(monkeypatch, "best-response", one, "--flops", "1", "--turns", "1", "--json")
    found = json.loads(capsys.readouterr().out)
    result = json.loads((tmp_path / "one" / "result.json").read_text())
    row = result["rows"][0]
    assert row["best_response_mbb"] == found["best_response_mbb"] > 0
    assert row["best_response_boards"] == 48
    assert row["nodes_per_second"] > row["passes_per_second"]
    assert (row["sampler"], row["passes"]) == ("external", 20_000)
    call(monkeypatch, *words, "--passes", "2", "--out", str(tmp_path / "vector"))
    row = json.loads((tmp_path / "vector" / "result.json").read_text())["rows"][0]
    assert (row["sampler"], row["passes"]) == ("vector", 2)
    assert Blueprint.load(tmp_path / "vector").sampler == "vector"
    rows = tuple({"seconds": k, "mbb": 5.0, "low": 1.0, "high": 9.0} for k in (60, 120))
    made = dataclasses.replace(Blueprint.load(tmp_path / "one"), rows=rows)
    holdem.write_blueprint_report(made, tmp_path)
    assert (
        (tmp_path / "preflop.png").stat().st_size > 10_000 < (tmp_path / "curve.png").stat().st_size
    )


def test_a_picture_needs_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none" / "a.png"
    monkeypatch.setattr("sys.argv", ["jaxsolve", "holdem", "show", "runs", "--png", str(file)])
    with pytest.raises(SystemExit):
        main()
    assert "there is no directory" in capsys.readouterr().err


def _unverified(load: Any) -> Any:
    """The tables here have made-up checksums."""
    return lambda path, *, verify=True: load(path, verify=False)


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Runs `jaxsolve holdem ...`, which has to succeed."""
    monkeypatch.setattr("sys.argv", ["jaxsolve", "holdem", *words])
    status: Any = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    assert not status
