"""The viewer: positions of a card game and of a spot, locks, the server, and exported pages."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jaxsolve as js
from jaxsolve import holdem as he
from jaxsolve.cli import main
from jaxsolve.solvers import GameView, view_result, view_run
from jaxsolve.view import Lock, Position, Session, Viewable, export, serve

RIVER = {
    "board": "Ts9s8s2h2c",
    "pot": 100,
    "stack": 100,
    "oop": "JJ,77,AKo",
    "ip": "TT,66,AQo",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}


@pytest.fixture(scope="module")
def kuhn() -> GameView:
    return view_result(js.solve("kuhn", iterations=1000, measure_every=1000, progress=False))


@pytest.fixture(scope="module")
def river() -> he.SpotView:
    spot = he.Spot.parse(RIVER)
    return he.view_spot(he.solve(spot, iterations=300, measure_every=300, progress=False))


@pytest.fixture
def site(kuhn: GameView) -> Iterator[Site]:
    server = serve(kuhn)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Site(server.server_address[1])
    server.shutdown()
    server.server_close()
    thread.join()


class Site:
    """Requests to a server."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.port = port

    def ask(
        self, url: str, body: Any = None, method: str | None = None, **headers: str
    ) -> tuple[int, Any]:
        """Returns (status, JSON or text)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        text = None if body is None else json.dumps(body)
        send = {} if body is None else {"Content-Type": "application/json"}
        send |= {key.replace("_", "-"): value for key, value in headers.items()}
        connection.request(method or ("GET" if body is None else "POST"), url, text, send)
        reply = connection.getresponse()
        content = reply.read().decode()
        connection.close()
        is_json = reply.getheader("Content-Type") == "application/json"
        return reply.status, json.loads(content) if is_json else content


def check_sums(shown: Viewable, here: Position, places: float) -> int:
    """Checks that what follows a position adds up to it, all the way down; counts positions."""
    count = 1
    if here.moves:
        assert sum(move.probability for move in here.moves) == pytest.approx(1, abs=1e-5)
    for i, value in enumerate(here.values):
        after = sum(m.probability * m.values[i] for m in here.moves if m.probability > 0)
        assert not here.moves or after == pytest.approx(value, abs=places)
    for move in here.moves:
        below = shown.position((*here.path, move.name))
        if move.probability * here.probability > 1e-9:
            both = move.probability * here.probability
            assert below.probability == pytest.approx(both, rel=1e-3)
            count += check_sums(shown, below, places)
    return count


def test_kuhn_adds_up_from_any_position(kuhn: GameView):
    start = kuhn.position(())
    assert start.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-4)
    assert check_sums(kuhn, start, 1e-6) == 9
    assert [move.name for move in start.moves] == ["pass", "bet"]


def test_private_states_have_the_values_of_the_table(kuhn: GameView):
    """The other players' ranges too, which the table of infosets does not have."""
    here = kuhn.position(("pass", "bet"))
    acts, waits = here.privates
    assert acts.acts
    assert not waits.acts
    assert waits.strategy is None
    for values, names in ((acts.weight, acts.names), (waits.weight, waits.names)):
        assert values.sum() == pytest.approx(1)
        assert len(names) == 3
    table = kuhn.policy.table(values=True).set_index(["infoset", "action"])
    for h, name in enumerate(acts.names):
        rows = table.loc[name]
        assert acts.strategy is not None
        assert acts.strategy[h] == pytest.approx(rows["probability"])
        assert acts.value[h] == pytest.approx(rows["value"].iloc[0])
        assert acts.weight[h] == pytest.approx(rows["reach"].iloc[0] / here.probability)


def test_hidden_actions_are_one_move(kuhn: GameView):
    """In goofspiel the first player's card is not seen, so nothing tells the choices apart."""
    tree = js.compile("goofspiel(cards=3)")
    shown = GameView(tree, js.uniform_policy(tree), kuhn.curve, kuhn.solver, tree)
    prize = shown.position(()).moves[0].name
    first = shown.position((prize,))
    assert first.kind == "decision"
    assert len(first.actions) == 3
    assert [(move.name, move.label) for move in first.moves] == [("p0", "player 0, unseen")]


def test_games_that_show_nothing_in_public(kuhn: GameView):
    tree = js.compile("matching_pennies(numbers=2)")
    shown = GameView(tree, js.uniform_policy(tree), kuhn.curve, kuhn.solver, tree)
    assert check_sums(shown, shown.position(()), 1e-6) == 3


def test_unknown_steps_say_what_can_follow(kuhn: GameView, river: he.SpotView):
    with pytest.raises(ValueError, match="'fold' cannot follow 'bet': pass, bet"):
        kuhn.position(("bet", "fold"))
    with pytest.raises(ValueError, match="'b7' cannot follow 'x': x, b50"):
        river.position(("x", "b7"))


def test_river_adds_up_from_any_position(river: he.SpotView):
    start = river.position(())
    assert start.values == pytest.approx(river.result.ev, abs=1e-3)
    assert sum(start.values) == pytest.approx(100, abs=1e-3)
    assert check_sums(river, start, 2e-3) > 10


def test_hands_of_a_spot_have_the_values_of_its_report(river: he.SpotView):
    report, here = river.result.node("x"), river.position(("x",))
    mine = here.privates[1]
    rows = {row["hand"]: row for row in report.rows()}
    assert set(mine.names) == set(rows)
    for h, name in enumerate(mine.names):
        row = rows[name]
        for key, value in (("reach", mine.reach), ("EV", mine.value), ("equity", mine.equity)):
            assert value is not None
            assert value[h] == pytest.approx(row[key], abs=1e-4)
    ends = river.position(("x", "x"))
    equity = ends.privates[0].equity
    assert equity is not None
    assert ends.privates[0].value == pytest.approx(100 * equity, nan_ok=True)


@pytest.mark.slow  # a turn compiles for ten seconds and has 45 rivers
def test_runouts_of_a_turn_add_up():
    spot = he.Spot.parse(RIVER | {"board": "Ts9s8s2h", "rake": 0.05})
    shown = he.view_spot(he.solve(spot, iterations=100, progress=False))
    here = shown.position(("x", "x"))
    assert here.kind == "chance"
    assert any("×2" in move.label for move in here.moves)  # clubs and diamonds are alike here
    assert all(sum(move.next.values()) == pytest.approx(1) for move in here.moves)
    check_sums(shown, shown.position(()), 5e-3)


def test_locks_are_played_and_answered(kuhn: GameView):
    """A player 1 who folds kings to a bet makes every bet of player 0 worth 1."""
    session = Session(kuhn)
    session.lock(Lock(("bet",), 1, ("J|b", "Q|b", "K|b"), {"pass": 1.0}))
    session.solve(300)
    session.wait()
    assert session.status()["error"] == ""
    assert session.status()["version"] == 1
    here = session.position(("bet",))
    assert here.privates[1].locked.all()
    assert here.values == pytest.approx((1, -1))
    assert session.position(()).values[0] == pytest.approx(1, abs=1e-3)
    session.unlock(0)
    session.solve(300)
    session.wait()
    assert not session.position(("bet",)).privates[1].locked.any()
    assert session.position(()).values[0] == pytest.approx(-1 / 18, abs=1e-3)


def test_locks_of_a_spot_are_played(river: he.SpotView):
    hands = river.position(("x",)).privates[1].names
    one = river.solve_again([Lock(("x",), 1, hands[:2], {"check": 1.0})], 50, lambda *_: None)
    mine = one.position(("x",)).privates[1]
    assert mine.strategy is not None
    assert mine.locked.tolist() == [name in hands[:2] for name in mine.names]
    assert mine.strategy[mine.locked][:, 0] == pytest.approx(1)
    again = one.solve_again([], 50, lambda *_: None)
    assert not again.position(("x",)).privates[1].locked.any()


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (Lock(("bet",), 0, ("K|b",), {"pass": 1.0}), "player 0 does not act"),
        (Lock(("bet",), 1, ("A|b",), {"pass": 1.0}), "no hand 'A|b'"),
        (Lock(("bet",), 1, ("K|b",), {"fold": 1.0}), "no action 'fold'"),
        (Lock(("fold",), 1, ("K|b",), {"pass": 1.0}), "cannot follow"),
    ],
)
def test_locks_that_do_not_fit_are_refused(kuhn: GameView, lock: Lock, message: str):
    with pytest.raises(ValueError, match=message.replace("|", r"\|")):
        Session(kuhn).lock(lock)


def test_server_answers_its_page_and_data(site: Site):
    status, page = site.ask("/")
    assert status == 200
    assert page.startswith("<!doctype html>")
    assert '<script type="application/json" id="data">null</script>' in page
    assert site.ask("/api/about")[1]["name"] == "kuhn"
    status, here = site.ask('/api/position?path=["bet"]')
    assert status == 200
    assert here["privates"][1]["names"] == ["Q|b", "K|b", "J|b"]
    assert site.ask("/api/nothing")[0] == 404


def test_server_locks_and_solves(site: Site):
    lock = {"path": ["bet"], "player": 1, "hands": ["K|b"], "strategy": {"pass": 0.5, "bet": 0.5}}
    status, now = site.ask("/api/lock", lock, Origin=f"http://{site.host}")
    assert status == 200
    assert [one["hands"] for one in now["locks"]] == [["K|b"]]
    assert site.ask("/api/unlock", {"index": 0})[1]["locks"] == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", ""])
def test_server_refuses_other_hosts(site: Site, host: str):
    assert site.ask("/api/about", Host=host)[0] == 403
    assert site.ask("/api/solve", {"iterations": 1}, Host=host)[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Length": "99999999"}, 400),
    ],
)
def test_server_takes_changes_from_its_page_only(site: Site, headers: dict[str, str], status: int):
    assert site.ask("/api/solve", {"iterations": 1}, **headers)[0] == status
    assert site.ask("/api/status")[1]["planned"] == 0


@pytest.mark.parametrize(
    ("url", "body", "message"),
    [
        ("/api/position?path=bet", None, "path is a JSON list"),
        ('/api/position?path={"a":1}', None, "path is a list of names"),
        ('/api/position?path=["fold"]', None, "cannot follow"),
        ("/api/solve", {"iterations": 0}, "iterations must be 1"),
        ("/api/solve", {"iterations": "many"}, "whole number"),
        ("/api/solve", {"iterations": True}, "whole number"),
        ("/api/solve", [1], "JSON object"),
        ("/api/unlock", {"index": 3}, "there is no lock 3"),
        ("/api/lock", {}, "player is the number"),
        ("/api/lock", {"player": 1, "hands": []}, "hands is empty"),
        (
            "/api/lock",
            {"path": [], "player": 0, "hands": ["K"], "strategy": {"bet": 0.2}},
            "must sum to 1",
        ),
        (
            "/api/lock",
            {"path": [], "player": 0, "hands": ["K"], "strategy": {"bet": float("nan")}},
            "0 or more",
        ),
    ],
)
def test_wrong_requests_say_what_is_wrong(site: Site, url: str, body: Any, message: str):
    status, answer = site.ask(url.replace('"', "%22"), body)
    assert status == 400
    assert message in answer["error"]


def test_exported_page_holds_positions(kuhn: GameView, tmp_path: Path):
    page = export(kuhn)
    assert page.complete
    assert page.positions == 9
    page.save(tmp_path / "kuhn.html")
    text = (tmp_path / "kuhn.html").read_text()
    inside = text.split('id="data">')[1].split("</script>")[0]
    assert json.loads(inside)["positions"]['["pass","bet"]']["title"] == "player 0 to act"
    assert "srcdoc=" in page._repr_html_()
    few = export(kuhn, limit=1)
    assert (few.positions, few.complete) == (1, False)
    with pytest.raises(ValueError, match="bytes"):
        export(kuhn, limit=0)


def test_names_cannot_end_the_script(kuhn: GameView):
    class Named:
        def about(self) -> Any:
            return {"name": "</script><script>alert(1)</script>"}

        def position(self, path: Any) -> Any:
            return kuhn.position(("bet", "bet"))

    page = export(Named())  # type: ignore[arg-type]
    assert "<script>alert" not in page.html


def test_results_show_themselves(kuhn: GameView, river: he.SpotView):
    assert "positions" in repr(river.result.view())
    with pytest.raises(ValueError, match="no table of world states"):
        js.solve(js.compile("kuhn", keep_states=False), iterations=1, progress=False).view()


def test_folders_are_opened(
    tmp_path: Path, river: he.SpotView, capsys: pytest.CaptureFixture[str], monkeypatch: Any
):
    def cli(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["jaxsolve", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    out = str(tmp_path / "kuhn")
    monkeypatch.setattr("jaxsolve.cli._setup.start_jax", lambda **_: None)
    assert cli("solve", "kuhn", "--iterations", "10", "--out", out) == 0
    assert cli("view", out, "--export", str(tmp_path / "kuhn.html")) == 0
    assert "all 9 positions" in capsys.readouterr().err
    shown = view_run(Path(out))
    assert np.array_equal(shown.curve.iteration[-1:], [10])

    river.result.save(tmp_path / "river")
    assert cli("view", str(tmp_path / "river"), "--export", str(tmp_path / "river.html")) == 0
    for wrong, message in (
        (str(tmp_path / "none"), "there is no folder"),
        (str(tmp_path), "holds no solution"),
    ):
        assert cli("view", wrong) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "kuhn" / "config.json").write_text("{}")
    assert cli("view", out) == 2
    assert "does not name a game and a solver" in capsys.readouterr().err
