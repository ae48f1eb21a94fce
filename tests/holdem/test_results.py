"""Reports of a solved spot, locks by range, equity, and the folder of a result."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve.cli import _holdem_results
from jaxsolve.holdem import _batch

RIVER = {
    "board": "Ts9s8s2h3c",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo:0.5,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}


@pytest.fixture(scope="module")
def solved() -> he.SpotResult:
    tree = he.lock(he.spot_tree(he.Spot.parse(RIVER)), "x", {"TT": {"b50": 0.25, "x": 0.75}})
    return he.solve(tree, target=None, iterations=20, progress=False)


def test_equity_counts_every_pair_on_every_runout():
    from phevaluator import evaluate_cards

    weights = he.parse_range("QQ:0.5,AhKd,7s6s,JcTc")
    hands = [he.hand_index(*he.parse_cards(h)) for h in ("AsAd", "QhQc", "6c6d", "AhKd")]
    for text in ("Ts9s8s2h", "Ts9s8s2h3c"):
        board = he.parse_cards(text)
        got = he.equity(weights, board)
        for hand in hands:
            won = met = 0.0
            for other in np.flatnonzero(weights):
                cards = {*he.HANDS[hand].tolist(), *he.HANDS[other].tolist(), *board}
                if len(cards) < 4 + len(board):
                    continue
                for more in itertools.combinations(set(range(52)) - cards, 5 - len(board)):
                    names = [he.card_name(c) for c in (*board, *more)]
                    mine, theirs = (
                        evaluate_cards(*names, *map(he.card_name, he.HANDS[h]))
                        for h in (hand, other)
                    )
                    won += weights[other] * (1 + np.sign(theirs - mine)) / 2
                    met += weights[other]
            assert got[hand] == pytest.approx(won / met, abs=1e-12)
        assert np.isnan(got[he.hand_index(*board[:2])])
    with pytest.raises(ValueError, match="the board has 2 cards"):
        he.equity(weights, board[:2])


def test_lines_name_every_decision(solved: he.SpotResult):
    lines = solved.lines()
    assert lines[0] == he.Line("", "river", "oop", ("x", "b50"), 1)
    assert sum(line.num_boards for line in lines) == solved.spot.num_decision_nodes
    every = list(solved.reports.every())
    assert [node.line for node in every] == [line.line for line in lines]
    assert he.boards(solved.spot, "x") == ["Ts9s8s2h3c"]


def test_hands_are_looked_up(solved: he.SpotResult):
    node = solved.node("x")
    (row,) = node.rows("TcTd")
    assert row["x"] == 0.75
    assert row["EV"] == pytest.approx(0.75 * row["EV x"] + 0.25 * row["EV b50"])
    assert row["equity"] > 0.5
    assert {r["hand"][::2] for r in node.rows("TT,KJs")} == {"TT", "KJ"}
    with pytest.raises(ValueError, match="'22': ip has none of these hands"):
        node.rows("22")
    by_action = {r["action"]: r for r in node.summary_rows()}
    weighted = node.reach @ node.strategy / node.reach.sum()
    assert by_action["x"]["frequency by range"] == pytest.approx(weighted[0])
    assert by_action["x"]["frequency by matchup"] != pytest.approx(weighted[0])
    np.testing.assert_allclose(node.ranges[1][node.hands], node.reach)
    assert len(repr(node)) < 200 > len(repr(solved.spot))


def test_a_folder_holds_the_whole_result(solved: he.SpotResult, tmp_path: Path):
    solved.save(tmp_path)
    again = he.load_result(tmp_path)
    assert again.curve.rows()[-1][0] == solved.curve.rows()[-1][0]
    assert again.ev == solved.ev
    for first, second in zip(solved.reports.every(), again.reports.every(), strict=True):
        np.testing.assert_allclose(first.strategy, second.strategy, atol=1e-6)
        np.testing.assert_allclose(first.value, second.value, atol=1e-3)
    # The lock is there, too: a best response does not deviate from it.
    trees = [r.spot.tree for r in (solved, again)]
    uniform = [js.exploitability(tree, js.uniform_policy(tree)) for tree in trees]
    assert float(uniform[0]) == pytest.approx(float(uniform[1]), abs=1e-4)
    (tmp_path / "spot.json").write_text("{}")
    with pytest.raises(ValueError, match="damaged"):
        he.load_result(tmp_path)
    with pytest.raises(ValueError, match="has no spot"):
        he.load_result(tmp_path / "other")


def test_locks_take_ranges():
    tree = he.spot_tree(he.Spot.parse(RIVER))
    by_action = he.lock(tree, "", {"x": "JJ,AKo:0.5", "b50": "AKo:0.5"})
    by_range = he.lock(tree, "", {"JJ": {"x": 1.0}, "AKo": {"x": 0.5, "b50": 0.5}})
    for first, second in zip(
        by_action.tree.players[0].blocks, by_range.tree.players[0].blocks, strict=True
    ):
        assert (first.locked is None) == (second.locked is None)
        if first.locked is not None:
            np.testing.assert_array_equal(first.locked, second.locked)
            held = set(np.flatnonzero(np.asarray(first.locked).sum((0, 1)) > 0))
            names = {he.hand_name(int(tree.hands[h]))[::2] for h in held}
            assert names == {"JJ", "AK"}
    with pytest.raises(ValueError, match="no action 'KK\\+'"):
        he.lock(tree, "", {"KK+": 1.0})
    with pytest.raises(ValueError, match="wrong range"):
        he.lock(tree, "", {"KKs": {"x": 1.0}})


def test_every_node_is_exported(solved: he.SpotResult, tmp_path: Path):
    path = tmp_path / "all.csv"
    count = he.export_csv(solved, path, progress=False)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == count
    assert {row["line"] for row in rows} == {line.line for line in solved.lines()}
    (bet,) = [r for r in rows if (r["line"], r["hand"], r["action"]) == ("x", "TdTc", "b50")]
    assert float(bet["probability"]) == 0.25
    only = he.export_csv(solved, path, line="x", progress=False)
    assert 0 < only < count
    with pytest.raises(ValueError, match="cannot follow"):
        he.export_csv(solved, path, line="q", progress=False)


def test_many_boards_are_solved_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    spot = tmp_path / "spot.toml"
    spot.write_text(
        'board = "Ts9s8s2h3c"\npot = 100\nstack = 150\noop = "JJ,77,AhKd"\nip = "TT,66,KJs"\n'
        'sizes = {bet = ["50%"], raise = []}\n'
    )
    boards = ["Ts9s8s2h3c", "AhAcKd7d2s"]
    options: dict[str, Any] = {"target": None, "iterations": 10, "progress": False}
    (first,) = he.solve_boards(spot, boards[:1], tmp_path / "out", **options)
    with monkeypatch.context() as patch:
        patch.setattr(_batch, "solve", None)  # nothing is solved again
        (again,) = he.solve_boards(spot, boards[:1], tmp_path / "out", **options)
    assert again[:5] == first[:5]
    both = he.solve_boards(spot, boards, tmp_path / "out", **options)
    assert both[0] == again
    assert [row.board for row in both] == boards
    assert both[1].ev_oop + both[1].ev_ip == pytest.approx(100, abs=1e-3)
    assert sum(both[1].frequency.values()) == pytest.approx(1, abs=1e-5)
    lines = (tmp_path / "out" / "report.csv").read_text().splitlines()
    assert lines[0].startswith("board,weight,ev_oop,ev_ip,equity_oop")
    assert len(lines) == 4
    assert lines[3].startswith("all,")
    spot.write_text(spot.read_text().replace("pot = 100", "pot = 120"))
    with pytest.raises(ValueError, match="another spot"):
        he.solve_boards(spot, boards, tmp_path / "out", **options)
    with pytest.raises(ValueError, match="there twice"):
        he.solve_boards(spot, ["Ts9s8s2h3c", "9sTs8s2h3c"], tmp_path / "out", **options)


def test_rows_alone_are_kept_and_their_mean_counts_deals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    spot = tmp_path / "spot.toml"
    spot.write_text(
        'board = "Ts9s8s2h3c"\npot = 100\nstack = 150\noop = "JJ,77"\nip = "TT,66"\n'
        'sizes = {bet = ["50%"], raise = []}\n'
    )
    boards = {"Ts9s8s2h3c": 1.0, "7c7d6h2s3s": 3.0}
    options: dict[str, Any] = {"target": None, "iterations": 10, "progress": False, "keep": False}
    rows = he.solve_boards(spot, boards, tmp_path / "out", **options)
    assert {f.name for f in (tmp_path / "out" / "7c7d6h2s3s").iterdir()} <= {"row.json", ".lock"}
    with monkeypatch.context() as patch:
        patch.setattr(_batch, "solve", None)
        assert he.solve_boards(spot, boards, tmp_path / "out", **options) == rows
    # Six pairs of jacks and six of sevens, three and six of tens and sixes; then one of sevens and
    # three of sixes.
    assert [row.weight for row in rows] == [12 * 9, 3 * 7 * 9]
    mean = he.mean_row(rows)
    want = (108 * rows[0].ev_oop + 189 * rows[1].ev_oop) / 297
    assert mean.ev_oop == pytest.approx(want)
    assert sum(mean.frequency.values()) == pytest.approx(1, abs=1e-5)
    assert he.boards_figure(rows).axes


def test_samples_of_flops_stand_for_all():
    every = he.flop_sample()
    assert len(every) == 1755
    assert sum(every.values()) == 22_100
    some = he.flop_sample(95)
    assert sum(some.values()) == pytest.approx(22_100)
    assert set(some) <= set(every)

    def paired(flops: dict[str, float]) -> float:
        return sum(n for f, n in flops.items() if len({f[0], f[2], f[4]}) < 3) / 22_100

    assert paired(some) == pytest.approx(paired(every), abs=0.02)
    with pytest.raises(ValueError, match="from 1 to that, not 0"):
        he.flop_sample(0)
    with pytest.raises(ValueError, match='write "flops" or'):
        _holdem_results._boards("flops:many")
    assert len(_holdem_results._boards("flops:3")) == 3


def test_results_on_the_command_line(
    solved: he.SpotResult, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    solved.save(tmp_path)
    _holdem_results.lines(tmp_path)
    assert "x b50" in capsys.readouterr().out
    _holdem_results.show(tmp_path, "x", hand="TdTc", board=None)
    shown = capsys.readouterr().out
    assert "TdTc" in shown
    assert "0.2500" in shown
    _holdem_results.show(tmp_path, "", hand=None, board=None)
    assert "frequency by range" in capsys.readouterr().out
