"""Tournaments: words of moves, records, ratings, engines that fail, and what was stopped."""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxsolve import agents
from jaxsolve.agents._board import Board, notation_of
from jaxsolve.agents._notation import in_check
from jaxsolve.agents._tournament import play_game
from jaxsolve.cli._play import _from_rules
from jaxsolve.cli._tournament import made, read_spec
from jaxsolve.game import load_pgx

DEBIAN = "apt-get install gnugo stockfish"

GTP = """
import sys
moves = {moves!r}
for line in sys.stdin:
    word = line.split()[0]
    if word == "genmove":
        move = moves.pop(0) if moves else "pass"
        if move == "die": sys.exit(1)
        if move == "hang": continue
        print("= " + move + "\\n", flush=True)
    else:
        print("= fake\\n", flush=True)
"""


def fake(tmp_path: Path, name: str, *moves: str) -> str:
    """The command of a Go program that plays some moves, then passes."""
    path = tmp_path / f"{name}.py"
    path.write_text(GTP.format(moves=list(moves)))
    return f"{sys.executable} {path}"


def go_entrant(command: str, name: str, seconds: float = 5.0) -> agents.Entrant:
    def start() -> Any:
        return agents.GtpEngine(command, size=9, komi=7.5, seconds=seconds)

    return agents.Entrant(name, start)


def test_ratings_of_two_players_are_the_closed_form():
    points = np.array([[0, 7.0], [3.0, 0]])
    rating, width = agents.ratings(points)
    gap = 400 * math.log10(7.5 / 3.5)
    assert rating[0] - rating[1] == pytest.approx(gap, abs=1e-6)
    # The difference has variance 1 / (n p q); each rating, half of it from the mean, a quarter.
    p, n = 7.5 / 11, 11
    deviation = 400 / math.log(10) / math.sqrt(n * p * (1 - p)) / 2
    np.testing.assert_allclose(width, 1.96 * deviation, rtol=1e-6)
    lost, _ = agents.ratings(np.array([[0, 4.0, 4], [0, 0, 2], [0, 2, 0]]))
    assert np.isfinite(lost).all()
    assert lost[0] > lost[1] == pytest.approx(lost[2], abs=1e-6)
    with pytest.raises(ValueError, match="square"):
        agents.ratings(np.zeros((2, 3)))


@pytest.mark.slow
def test_words_and_records_of_chess_are_those_of_python_chess():
    """Random games: every legal move's word, and the record read back."""
    chess = pytest.importorskip("chess", reason="pip install chess: the oracle of chess moves")
    pgn = pytest.importorskip("chess.pgn")

    board = Board(load_pgx("chess"))
    rng = np.random.default_rng(0)
    for _ in range(3):
        board.reset()
        theirs, shorts = chess.Board(), []
        while board.result is None and len(board.moves) < 120:
            words = board.words()
            assert set(words) == {m.uci() for m in theirs.legal_moves}
            word = str(rng.choice(sorted(words)))
            move = chess.Move.from_uci(word)
            state = board.state
            board.play(word)
            want = theirs.san(move)
            theirs.push(move)
            assert in_check(board.state) == theirs.is_check()
            check = "#" if theirs.is_checkmate() else "+" if in_check(board.state) else ""
            shorts.append(board.notation.short(state, words, word, check))
            assert shorts[-1] == want
    text = board.notation.record(("a", "b"), shorts, "1/2-1/2", "120 moves")
    import io

    read = pgn.read_game(io.StringIO(text))
    assert [m.uci() for m in read.mainline_moves()] == board.moves
    assert not read.errors


@pytest.mark.slow
def test_programs_that_fail_lose_with_a_record(tmp_path: Path):
    """One dies, one hangs, one plays what is not legal; the fourth wins all, and it goes on."""
    rules = agents.Rules(load_pgx("go_9x9"), games=2, seconds=0.5)
    entrants = [
        go_entrant(fake(tmp_path, "good", "E5"), "good"),
        go_entrant(fake(tmp_path, "dies", "die"), "dies"),
        go_entrant(fake(tmp_path, "hangs", "hang"), "hangs", seconds=0.2),
        go_entrant(fake(tmp_path, "cheats", "Z9"), "cheats"),
    ]
    lines: list[str] = []
    out = tmp_path / "out"
    found = agents.tournament(rules, entrants, out, say=lines.append)
    assert found["played"] == 12 == len(lines)
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["good"]["points"] == 6
    assert rows["good"]["failures"] == 0
    assert all(rows[x]["failures"] > 0 for x in ("dies", "hangs", "cheats"))
    assert found["rows"][0]["name"] == "good"
    text = "".join(lines)
    assert "dies died" in text
    assert "hangs no answer in" in text
    assert "'Z9', not legal" in text
    record = (out / "game-0001.sgf").read_text()
    assert record.startswith("(;GM[1]FF[4]SZ[9]KM[7.5]PB[good]PW[dies]RE[B+]")
    assert ";B[ee]" in record
    # Stopped after five games: the rest is played again, and the table is the same.
    games = (out / "games.jsonl").read_text().splitlines(keepends=True)
    (out / "games.jsonl").write_text("".join(games[:5]))
    again = agents.tournament(rules, entrants, out, say=lambda _: None)
    assert again["played"] == 12
    assert {r["name"]: r["points"] for r in again["rows"]} == {
        n: r["points"] for n, r in rows.items()
    }
    with pytest.raises(ValueError, match=r"another tournament \(players\)"):
        agents.tournament(rules, entrants[:2], out)


@pytest.mark.slow
def test_two_passes_and_openings(tmp_path: Path):
    """Colours have the same opening; White has the komi."""
    game = load_pgx("go_9x9")
    rules = agents.Rules(game, opening=4, max_moves=10)
    board = Board(game)
    quiet = [go_entrant(fake(tmp_path, n), n).start() for n in "ab"]
    try:
        one, _ = play_game(rules, board, quiet, ("a", "b"), 0)
        two, _ = play_game(rules, board, quiet[::-1], ("b", "a"), 0)
        other, _ = play_game(rules, board, quiet, ("a", "b"), 1)
    finally:
        for player in quiet:
            player.close()
    assert one.moves == two.moves != other.moves
    assert one.moves[4:] == ["pass", "pass"]
    assert (one.points, one.why) == (0.0, "normal")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "source", "game", "player", "moves"),
    [
        ("gnugo", DEBIAN, 'game="pgx:go_9x9"', 'gtp="gnugo --mode gtp --level 1"', 12),
        ("stockfish", DEBIAN, 'game="pgx:chess"', 'uci="stockfish"\nlimit="nodes 20"', 8),
        ("pachi", "github.com/pasky/pachi", 'game="pgx:go_9x9"', 'gtp="pachi -t =500"', 12),
    ],
)
def test_real_programs(
    tmp_path: Path, program: str, source: str, game: str, player: str, moves: int
):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: {source}")
    path = tmp_path / "spec.toml"
    text = f'{game}\nmax_moves={moves}\n[[players]]\nname="x"\n{player}\n'
    path.write_text(text + '[[players]]\nname="random"\nagent="uniform"\n')
    found = agents.tournament(*made(read_spec(path)), tmp_path / "out", say=len)
    assert found["played"] == 2
    assert all(row["failures"] == 0 for row in found["rows"])


def test_bad_input(tmp_path: Path):
    with pytest.raises(ValueError, match="'no-such-program' cannot be started"):
        agents.GtpEngine("no-such-program", size=9, komi=7.5, seconds=1)
    with pytest.raises(ValueError, match="does not speak UCI"):
        agents.UciEngine("true", options={}, limit="nodes 1", seconds=1)
    path, out = tmp_path / "spec.toml", tmp_path / "out"
    lost = '[[players]]\nname="x"\ngtp="no-such-program"\n'
    path.write_text(f'game="pgx:go_9x9"\n[[players]]\nname="y"\nagent="uniform"\n{lost}')
    with pytest.raises(ValueError, match="'no-such-program' cannot be started"):
        agents.tournament(*made(read_spec(path)), out, say=len)
    assert not out.exists()
    for text, message in (
        ("game = ", "is not TOML"),
        ('gane = "pgx:chess"', "no entry 'gane'"),
        ('game = "pgx:chess"', r"and \[\[players\]\]"),
        ('game="pgx:chess"\n[[players]]\nname="a"', "one of uci, gtp and agent"),
        ('game="pgx:chess"\n[[players]]\nname="a"\nagent="b"', "agent must be one of"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            read_spec(path)
    game = load_pgx("connect_four")
    with pytest.raises(ValueError, match="no words of UCI or GTP"):
        notation_of(game)


@pytest.mark.slow
@pytest.mark.parametrize(
    "opening",
    [("D4", "E5", "C3", "F6"), pytest.param(("D4", "E5", "C3"), marks=pytest.mark.long)],
)
def test_a_search_goes_on_after_moves_that_were_made_for_it(opening: tuple[str, ...]) -> None:
    """Openings are random for both colours; the search follows what was shown of its own moves."""
    game = load_pgx("go_9x9")
    player = agents.AgentPlayer(game, _from_rules(game, None, 1, opening=len(opening)))
    compiled = player.act._cache_size()
    board = Board(game)
    board.reset()
    for word in opening:
        board.play(word)
    for _ in range(2):
        board.play(player.move(board.moves))
        board.play(next(w for w in board.words() if w != "pass"))
    assert len(board.moves) == len(opening) + 4
    assert player.act._cache_size() == compiled == 1  # no move waits for the compiler
