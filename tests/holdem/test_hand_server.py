"""The server of hands over real sockets: what it plays, and whoever means it no good."""

from __future__ import annotations

import contextlib
import pickle
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hand_agents import STACK, blueprint

from jaxsolve import holdem
from jaxsolve.holdem import play


class Caller:
    """A client of a few lines, which calls."""

    def __init__(self, address: str, players: int = 2) -> None:
        self.rules = holdem.no_limit(players)
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.file = self.socket.makefile("rwb")
        self.states: list[str] = []
        self.comments: list[str] = []

    def say(self, line: str | bytes) -> None:
        self.file.write(line if isinstance(line, bytes) else line.encode() + b"\r\n")
        self.file.flush()

    def hear(self) -> str | None:
        """The next state; None when the server has hung up."""
        try:
            while line := self.file.readline():
                text = line.decode().rstrip("\r\n")
                if text.startswith("#"):
                    self.comments.append(text)
                else:
                    self.states.append(text)
                    return text
        except OSError:
            pass
        return None

    def play(self, most: int = 10_000) -> int:
        """Calls until the server hangs up, or for so many answers; returns how many there were."""
        self.say("VERSION:2.0.0")
        answers = 0
        while answers < most and (line := self.hear()):
            if self.acts(line):
                self.say(f"{line}:c")
                answers += 1
        return answers

    def acts(self, line: str) -> bool:
        """Whether the reader of a line is to act."""
        match = holdem.parse_matchstate(line)
        return int(holdem.replay(self.rules, STACK, match).actor) == match.position

    def close(self) -> None:
        with contextlib.suppress(ConnectionError):  # what was said too late is still to be sent
            self.file.close()
        self.socket.close()


@contextlib.contextmanager
def serving(agent: play.HandAgent, log: Path | None = None, **how) -> Iterator[play.HoldemServer]:
    with play.HoldemServer(agent, STACK, log=log, **{"patience": 20.0, "seed": 1, **how}) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def left(log: Path, count: int) -> list[str]:
    """The reasons why clients left, when there are so many; waits for the server's threads."""
    for _ in range(400):
        notes = [x for x in log.read_text().splitlines() if " left: " in x or "refused" in x]
        if len(notes) >= count:
            return notes
        time.sleep(0.02)
    raise AssertionError(log.read_text())


def test_many_hands_and_many_clients(tmp_path: Path) -> None:
    """Three clients after each other; the log replays, and totals are those of the lines."""
    log = tmp_path / "hands.log"
    with serving(blueprint(), log, hands=4) as server:
        for number in range(3):
            client = Caller(server.address)
            assert client.play() > 4
            positions = [line.split(":")[1] for line in client.states]
            assert {"0", "1"} == set(positions)
            assert client.comments == ["# closed: all 4 hands are played"]
            client.close()
            notes = left(log, number + 1)
        assert notes == [f"# client {k} left: all 4 hands are played" for k in (1, 2, 3)]
    found = play.check_log(log)
    assert (found.hands, found.cut) == (12, False)
    ours, *others = found.totals
    assert (ours.name, ours.hands) == ("menu 100%", 12)
    assert [(x.name, x.hands) for x in others] == [(f"client {k}", 4) for k in (1, 2, 3)]
    assert sum(x.chips for x in found.totals) == pytest.approx(0, abs=1e-3)
    assert ours.low < ours.mbb < ours.high


def test_a_client_has_one_seat_of_six(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    with serving(play.RandomAgent(), log, players=6, hands=6) as server:
        client = Caller(server.address, players=6)
        assert client.play() > 0
        assert {line.split(":")[1] for line in client.states} == set("012345")
        client.close()
        assert left(log, 1) == ["# client 1 left: all 6 hands are played"]
    hands = list(play.read_log(log))
    assert [one.names.index("client 1") for one in hands] == [1, 2, 3, 4, 5, 0]
    assert all(set(one.names) == {"random", "client 1"} for one in hands)


def test_whoever_says_nothing_at_a_table_of_three_passes(tmp_path: Path) -> None:
    """Its hand is played to its end, with a record, and is its last one."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log, players=3, hands=5, patience=0.3) as server:
        client = Caller(server.address, players=3)
        client.play(1)
        client.hear()
        (why,) = left(log, 1)
        assert "# client 1 passes: no line for 0.3 s" in log.read_text()
        assert "no line for 0.3 s" in why
        client.close()
    (one,) = play.read_log(log)
    assert one.hand.over
    assert one.hand.showdown  # nobody bet, so it checked


BAD = {
    "no version": (b"HELLO\r\n", "expected VERSION:2.0.0 as the first line, not 'HELLO'"),
    "other version": (b"VERSION:1.0.0\r\n", "expected VERSION:2.0.0"),
    "a pickle": (pickle.dumps(print) + b"\n", "a line that is not plain ASCII"),
    "code": (b"__import__('os').abort()\r\n", "as the first line, not"),
    "a megabyte": (b"x" * (1 << 20), "a line of more than 8,192 bytes"),
    "a megabyte with its end": (b"VERSION:2.0.0" + b" " * (1 << 20) + b"\r\n", "more than 8,192"),
    "comments": (b"# hi\n" * 1_000, "100 comments in a row"),
    "other seats": (b"MATCHSTATE:0:0::AdAc||\r\n", "a line for 3 seats"),
    "no line of a dealer": (b"MATCHSTATE:0:0:zz:AdAc|\r\n", "expected f, c, r<total> or"),
    "no cards": (b"MATCHSTATE:0:0::|AdAc\r\n", "without the cards of its own seat"),
    "a bet of a dealer": (b"MATCHSTATE:0:0:r150:AdAc|\r\n", "'r150' is not allowed here"),
    "a street too early": (b"MATCHSTATE:0:0:c/:AdAc|/2c3c4c\r\n", "no cards are due here"),
}


def test_bad_first_lines_cost_the_connection_only(tmp_path: Path) -> None:
    """One server takes them all, and then plays."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log, hands=2) as server:
        for number, (said, why) in enumerate(BAD.values(), 1):
            client = Caller(server.address)
            with contextlib.suppress(OSError):  # it may hang up before a megabyte is there
                client.say(said)
            while client.hear():
                pass
            client.close()
            assert why in left(log, number)[-1]
        last = Caller(server.address)
        assert last.play() >= 2
        number = len(BAD) + 1
        assert left(log, number)[-1] == f"# client {number} left: all 2 hands are played"
        last.close()
    assert play.check_log(log).hands == 2


ANSWERS = {
    "an illegal bet": ("{line}:r150", "'r150' is not allowed here"),
    "a huge bet": ("{line}:r" + "9" * 5_000, "expected one action"),
    "more than the stack": ("{line}:r2001", "'r2001' is not allowed here"),
    "a word": ("{line}:raise", "expected one action"),
    "no action": ("{line}", "expected ':' and an action"),
    "other states": (
        "\r\n".join(["MATCHSTATE:1:0:c:AdAc|:c"] * 100),
        "100 answers to other states",
    ),
    "an empty state": (":::::", "expected MATCHSTATE"),
    "nonsense": ("{line}:c\x1b[2J", "a line that is not plain ASCII"),
}


def test_a_bad_answer_ends_the_hand(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log) as server:
        for number, (answer, why) in enumerate(ANSWERS.values(), 1):
            client = Caller(server.address)
            client.play(3)
            while not client.acts(line := client.hear() or ""):
                pass
            client.say(answer.format(line=line))
            assert client.hear() is None
            note = left(log, number)[-1]
            assert why in note
            assert "which does not count" in note
            assert client.comments[-1].startswith("# closed: in hand ")
            client.close()
    play.check_log(log)


def test_answers_that_nobody_asked_for_do_not_count(tmp_path: Path) -> None:
    """A client that answers every line plays on, as with the ACPC's dealer."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log, hands=10) as server:
        client = Caller(server.address)
        client.say("VERSION:2.0.0")
        while line := client.hear():
            with contextlib.suppress(ConnectionError):  # the server hangs up after the last line
                client.say(f"{line}:c")
        assert left(log, 1) == ["# client 1 left: all 10 hands are played"]
        client.close()
    found = play.check_log(log)
    assert found.hands == 10
    assert sum("ignored an answer to" in x for x in found.notes) == 10


def test_who_hangs_up_in_a_hand(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log) as server:
        for count in (0, 1, 2):
            client = Caller(server.address)
            client.play(count)
            client.hear()
            client.close()
            assert "which does not count: hung up" in left(log, count + 1)[-1]
        last = Caller(server.address)
        last.play(9)
        last.close()
        left(log, 4)
    assert play.check_log(log).hands >= 1


def test_silence_ends_it(tmp_path: Path) -> None:
    """Before the first line, in the middle of it, and in the middle of a hand."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log, patience=0.3) as server:
        for number, said in enumerate((b"", b"VERSION:2", b"VERSION:2.0.0\r\n"), 1):
            client = Caller(server.address)
            client.say(said)
            while client.hear():
                pass
            client.close()
            assert "no line for 0.3 s" in left(log, number)[-1]
    assert "in hand 0, which does not count: no line" in left(log, 3)[-1]


def test_a_hundred_clients_at_once(tmp_path: Path) -> None:
    """Four play and wait for each other's moves, the others are told that there is no room."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log, clients=4, hands=1) as server:
        clients = [Caller(server.address) for _ in range(100)]
        refused = left(log, 96)
        assert len(refused) == 96
        assert all("refused: no room for more at once" in x for x in refused)
        played = sum(client.play() > 0 for client in clients if not _refused(client))
        assert played == 4
        left(log, 100)
        after = Caller(server.address)
        assert after.play() > 0
        for client in (*clients, after):
            client.close()
    assert play.check_log(log).hands == 5


def _refused(client: Caller) -> bool:
    """Whether the server has said so; those that play are told nothing yet."""
    client.socket.settimeout(0.3)
    try:
        return client.socket.recv(1, socket.MSG_PEEK) == b"#"
    except TimeoutError:
        client.socket.settimeout(20)
        return False


def test_an_agent_joins_a_table(tmp_path: Path) -> None:
    """Both sides of the protocol are ours: what the one has won is what the log says."""
    log = tmp_path / "hands.log"
    with serving(blueprint(), log, hands=40) as server:
        host, port = server.address.split(":")
        lines = play.Lines(socket.create_connection((host, int(port))))
        lines.send(holdem.VERSION)
        done = play.answer_dealer(lines, play.RandomAgent(), holdem.HUNL, STACK, key=3)
        lines.close()
        left(log, 1)
    found = {x.name: x for x in play.check_log(log).totals}
    assert done.hands == found["client 1"].hands == 40
    assert len(done.chips) == 40
    assert sum(done.chips) == pytest.approx(found["client 1"].chips, abs=1e-3)
    assert len(set(np.round(done.chips))) > 5


def test_a_dealer_that_hangs_up(tmp_path: Path) -> None:
    """It deals itself; the agent answers where it is asked, and nobody waits for the rest."""
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log) as server:
        dealer = Caller(server.address)
        dealer.say("MATCHSTATE:1:5::|AdAc")
        assert dealer.hear() == "VERSION:2.0.0"
        assert dealer.hear() == "MATCHSTATE:1:5::|AdAc:c"
        dealer.say("MATCHSTATE:1:5:cf:|AdAc")
        dealer.close()
        assert "'f' is not allowed here" in left(log, 1)[0]
        dealer = Caller(server.address)
        dealer.say("MATCHSTATE:1:5:r300f:|AdAc\r\nMATCHSTATE:0:6::2c2d|")
        dealer.say("MATCHSTATE:0:6:r300:2c2d|")
        assert dealer.hear() == "VERSION:2.0.0"
        assert dealer.hear() == "MATCHSTATE:0:6:r300:2c2d|:c"
        dealer.close()
        want = "client 2 left: hung up after 1 hands that it dealt, in the middle of another"
        assert want in left(log, 2)[1]


def test_a_match_with_an_agent_that_is_served(tmp_path: Path) -> None:
    """The same hands, card by card and move by move, as without lines in between."""
    with serving(play.AlwaysCall(), tmp_path / "log") as server:
        outside = play.connect(server.address)
        with contextlib.closing(outside):
            found = play.play_match([play.RandomAgent(), outside], STACK, hands=16, seed=4)
    want = play.play_match([play.RandomAgent(), play.AlwaysCall()], STACK, hands=16, seed=4)
    np.testing.assert_array_equal(found.plain, want.plain)
    assert found.rows()[0]["opponent"].startswith("acpc:127.0.0.1:")
    assert found.rows()[0]["mbb"] == want.rows()[0]["mbb"]


PROGRAM = """
import socket, sys
host, port = sys.argv[-2:]
file = socket.create_connection((host, int(port))).makefile("rwb")
file.write(b"VERSION:2.0.0\\r\\n"); file.flush()
for line in file:
    line = line.decode().strip()
    _, position, _, betting, _ = line.split(":")
    if (len(betting) + 1) % 2 == int(position) and "f" not in betting:
        file.write((line + (":f" if len(betting) else ":c") + "\\r\\n").encode()); file.flush()
"""


def test_a_program_is_started_and_ended(tmp_path: Path) -> None:
    """It limps, and folds to everything: a raiser wins its blinds."""

    class Raises(play.AlwaysCall):
        name = "raises"

        def moves(self, hand, key):
            return np.array([STACK]), np.ones(1)

    (tmp_path / "program.py").write_text(PROGRAM)
    program = play.run_program(f"{sys.executable} '{tmp_path / 'program.py'}'")
    try:
        found = play.play_match([Raises(), program], STACK, hands=8)
    finally:
        program.close()
    np.testing.assert_array_equal(found.plain, [[100, -100]] * 4)
    with pytest.raises(OSError, match=r"nobody connected within 0\.2 s"):
        play.run_program(f"{sys.executable} -c pass", patience=0.2)
    with pytest.raises(ValueError, match="an address is HOST:PORT"):
        play.connect("127.0.0.1")


def test_addresses_of_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(OSError, match="refused"):
        play.connect(address, patience=1)
    with pytest.raises(OSError, match="nobody connected"):
        play.listen(address, patience=0.1)
    with pytest.raises(ValueError, match="2 stacks of 2000"):
        play.HoldemServer(blueprint(), 20_000)


def test_logs_that_do_not_replay(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    hands = play.HandLog(log, holdem.HUNL, (STACK, STACK))
    cards = holdem.parse_cards("AdAc2c3dTd9d6hQc2s")
    played = play.play_hand([play.AlwaysCall()] * 2, holdem.HUNL, STACK, cards, keys=[0, 0])
    hands.add(played, 0, ["a:b|c", "two"])
    hands.note("one\ntwo")
    hands.close()
    header, state, note = log.read_text().splitlines()
    assert state == "STATE:0:cc/cc/cc/cc:AdAc|3d2c/Td9d6h/Qc/2s:100|-100:a b c|two".replace(
        "3d2c", "2c3d"
    )
    assert note == "# one two"
    assert [x.chips for x in play.check_log(log).totals] == [100, -100]
    for old, new, why in (
        ("100|-100", "-100|100", "the chips are -100|100, and by the rules 100|-100"),
        ("100|-100", "100|nan", "the chips are 100|nan"),
        ("100|-100", "100", "chips and names of 2 seats"),
        ("100|-100", "x|y", "chips are numbers"),
        ("cc/cc/cc/cc", "cc/cc/cc/c", "the hand is not over"),
        ("cc/cc/cc/cc", "cc/cc/cc/r50c", "'r50' is not allowed here"),
        ("2c3d", "Ad3d", "Ad is there twice"),
        ("2c3d", "", "a seat without cards"),
        ("STATE:0", "STATE", "expected STATE:hand"),
    ):
        log.write_text("\n".join([header, state.replace(old, new), note, ""]))
        with pytest.raises(ValueError, match="line 2: ") as error:
            play.check_log(log)
        assert why in str(error.value)
    log.write_text("\n".join([header, state, state[:30]]))  # as a kill leaves it
    assert (play.check_log(log).hands, play.check_log(log).cut) == (1, True)
    again = play.HandLog(log, holdem.HUNL, (STACK, STACK))
    again.add(played, 1, ["a", "two"])
    again.close()
    assert (play.check_log(log).hands, play.check_log(log).cut) == (2, False)
    with pytest.raises(ValueError, match="no log of this game"):
        play.HandLog(log, holdem.HUNL, (STACK, STACK - 1))
    for text in ("", "STATE\n", "# hold'em {}\n", '# hold\'em {"players": 99}\n'):
        log.write_text(text)
        with pytest.raises(ValueError, match=r"no log of hands|not the header"):
            play.check_log(log)


def test_a_server_ends_while_somebody_plays(tmp_path: Path) -> None:
    log = tmp_path / "hands.log"
    with serving(play.AlwaysCall(), log) as server:
        client = Caller(server.address)
        client.play(3)
    assert "the server ended; in hand" in left(log, 1)[0]
    while client.hear():
        pass
    assert "closed" not in "".join(client.comments)
    client.close()
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OSError, match="in use"),
    ):
        play.HoldemServer(play.AlwaysCall(), STACK, port=taken.getsockname()[1], log=log)
