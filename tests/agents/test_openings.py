"""Openings of tournaments: games in PGN and SGF, read as their writers meant them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxsolve import agents
from jaxsolve.agents._board import Board
from jaxsolve.agents._tournament import play_game
from jaxsolve.cli._tournament import made, read_spec
from jaxsolve.game import load_pgx

PGN = """[Event "?"]
[White "A \\"b\\""]

1. e4 {best (they say)} e5 2. Nf3! $1 (2. f4 exf4 (2... d5)) 2... Nc6 3.Bb5 a6 ; and so on
4. Bxc6 dxc6 5. O-O 1/2-1/2

[Event "second"]

1. d4 Nf6 2. c4 g6 *
"""
SGF = "(;GM[1]SZ[9]C[a (b\\]];B[ee];W[gc](;B[cg];W[])(;B[gg]))\n(;SZ[9];B[aa];W[tt])"


@functools.cache
def board(name: str) -> Board:
    return Board(load_pgx(name))


def read(tmp_path: Path, name: str, text: str, first: int = 0) -> Any:
    path = tmp_path / "book"
    path.write_text(text)
    return agents.read_openings(path, load_pgx(name), first=first)


def test_main_lines_are_read(tmp_path: Path):
    one = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "e1g1"]
    two = ["d2d4", "g8f6", "c2c4", "g7g6"]
    assert read(tmp_path, "chess", PGN) == (tuple(one), tuple(two))
    assert read(tmp_path, "chess", PGN, first=3) == (tuple(one[:3]), tuple(two[:3]))
    assert read(tmp_path, "go_9x9", SGF) == (("E5", "G7", "C3", "pass"), ("A9", "pass"))


@pytest.mark.slow
def test_random_games_are_read_as_python_chess_writes_them(tmp_path: Path):
    chess = pytest.importorskip("chess", reason="pip install chess: the oracle of chess moves")
    pgn = pytest.importorskip("chess.pgn")
    rng, written, lines = np.random.default_rng(3), [], []
    for _ in range(4):
        theirs = chess.Board()
        while not theirs.is_game_over() and len(theirs.move_stack) < 60:
            theirs.push(rng.choice(np.array(list(theirs.legal_moves), object)))
        if theirs.is_game_over():
            theirs.pop()
        game = pgn.Game.from_board(theirs)
        game.end().comment = "the end)"
        game.add_variation(chess.Move.from_uci("a2a3"))
        written.append(str(game))
        lines.append(tuple(m.uci() for m in theirs.move_stack))
    assert read(tmp_path, "chess", "\n\n".join(written)) == tuple(lines)


def test_what_a_tournament_writes_is_read_again(tmp_path: Path):
    moves = ["E5", "C3", "pass", "J9"]
    text = board("go_9x9").notation.record(("a]", "b"), moves, "0", "4 moves")
    assert read(tmp_path, "go_9x9", text) == (tuple(moves),)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("chess", "", "book has no game in PGN"),
        ("go_9x9", "hello", "book has no game in SGF"),
        ("chess", "1. e4 e5 *\n\n1. e4 Ke5 *", "game 2, move 2: 'Ke5' is not a legal move"),
        ("chess", "1. e4 (1. d4 *", "bracket is not closed in game 1"),
        ("chess", '[FEN "8/8 w"]\n1. e4 *', r"position of its own \(FEN\)"),
        ("chess", '[Event "x"]\n*', "game 1 has no move"),
        ("chess", "1. f3 e5 2. g4 Qh4# 0-1", "game 1 is over"),
        ("go_9x9", "(;SZ[19];B[aa])", "on a board of 19, the tournament on 9"),
        ("go_9x9", "(;SZ[9]AB[cc];W[aa])", r"position of its own \(AB\)"),
        ("go_9x9", "(;SZ[9];B[aa];W[aa])", "game 1, move 2: 'aa' is not a legal move"),
        ("go_9x9", "(;SZ[9];B[aa];B[bb])", "move 2: 'B twice' is not"),
        ("go_9x9", "(;SZ[9];B[aa]", "bracket is not closed in game 1"),
    ],
)
def test_games_that_do_not_fit_are_named(tmp_path: Path, name: str, text: str, message: str):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, name, text)


def test_pairs_of_games_take_openings_in_turn(tmp_path: Path):
    """Through the file of a tournament; an opening that does not fit leaves nothing behind."""
    (tmp_path / "book.sgf").write_text(SGF)
    spec = tmp_path / "spec.toml"
    player = '[[players]]\nname="{}"\nagent="uniform"\n'
    head = 'game="pgx:go_9x9"\nmax_moves=3\nopening=2\nopenings="book.sgf"\n'
    spec.write_text(head + player.format("a") + player.format("b"))
    rules, entrants = made(read_spec(spec))
    assert rules.openings == (("E5", "G7"), ("A9", "pass"))
    players = [entrant.start() for entrant in entrants]
    for number in range(3):
        played, _ = play_game(rules, board("go_9x9"), players, ("a", "b"), number)
        assert tuple(played.moves[:2]) == rules.openings[number % 2]
    wrong = agents.Rules(load_pgx("go_9x9"), openings=(("E5", "E5"),))
    with pytest.raises(ValueError, match="opening 1, move 2: 'E5' is not a legal move"):
        agents.tournament(wrong, entrants, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    spec.write_text(head.replace('"book.sgf"', "3") + player.format("a") + player.format("b"))
    with pytest.raises(ValueError, match="openings is the name"):
        read_spec(spec)
