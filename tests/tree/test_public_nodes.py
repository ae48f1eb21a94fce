"""Public states by name, and their picture."""

from __future__ import annotations

import runpy
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import jaxsolve as js
from jaxsolve.types import CHANCE, TERMINAL

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_names_are_what_everybody_saw() -> None:
    tree = js.compile("leduc")
    node = tree.public("raise call / Kh")
    assert (node.actors, node.actions) == ((0,), ("call", "raise"))
    assert [len(inside) for inside in node.infosets] == [5, 0]
    labels = [tree.info.label(0, k) for k in node.infosets[0]]
    assert all(label.endswith("|r|c|Kh") for label in labels)
    assert tree.public(" raise  call ").actors == (CHANCE,)
    assert tree.public("raise fold").actors == (TERMINAL,)
    assert tree.public().actors == (0,)  # after the private deals, which have no words
    nodes = tree.public_nodes()
    assert [nodes[k].name for k in tree.public("raise").children] == [
        "raise fold",
        "raise call",
        "raise raise",
    ]
    for wrong in ("raise cal", "bet", "raise call Kh"):
        with pytest.raises(ValueError, match="no public state"):
            tree.public(wrong)
    with pytest.raises(ValueError, match="After 'raise': raise fold, raise call, raise raise"):
        tree.public("raise check")


@pytest.mark.parametrize("game", ["goofspiel(cards=2)", "rps_plus", "coin_toss", "kuhn(players=3)"])
def test_only_private_deals_share_a_name(game: str) -> None:
    nodes = js.compile(game).public_nodes()
    for node in nodes:
        up = nodes[node.parent]
        assert node.parent < 0 or node.name != up.name or up.actors == (CHANCE,)
    decisions = [node.name for node in nodes if node.actors[0] >= 0]
    assert len(set(decisions)) == len(decisions)


def test_a_policy_at_a_public_state() -> None:
    tree = js.compile("kuhn")
    rows = js.uniform_policy(tree).at("pass bet")
    assert rows == [(0, f"{card}|p|b", {"pass": 0.5, "bet": 0.5}) for card in "JQK"]


def test_the_picture_has_a_dot_for_each_public_state(tmp_path: Path) -> None:
    tree = js.compile("kuhn")
    picture = tree.draw()
    picture.save(tmp_path / "kuhn.svg")
    root = ElementTree.parse(tmp_path / "kuhn.svg").getroot()
    notes = [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert [note.partition(":")[0] for note in notes] == [
        *("start", "pass", "bet", "pass pass", "pass bet", "bet pass", "bet bet"),
        *("pass bet pass", "pass bet bet"),
    ]
    assert len(tree.draw("pass", depth=1).text) < len(tree.draw("pass").text) < len(picture.text)
    with pytest.raises(ValueError, match="more than 3 public states below 'start'"):
        tree.draw(limit=3)


def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "public_tree.py"))
    assert "raise call / Ks: player 0 may call or raise" in capsys.readouterr().out
    ElementTree.parse(tmp_path / "leduc.svg")
