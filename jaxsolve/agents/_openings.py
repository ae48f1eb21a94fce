"""Openings of tournaments, read from games in PGN or SGF.

Of each game the main line counts; comments and variations are passed by. Moves are matched with the
words of the legal ones, so that whatever the rules do not allow is named with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from jaxsolve.agents._board import Board, notation_of
from jaxsolve.agents._notation import GoNotation
from jaxsolve.game import PgxGame

PGN = re.compile(
    r'\[\s*(?P<tag>\w+)\s+"(?P<value>(?:\\.|[^"\\])*)"\s*\]'
    r"|\{[^}]*\}|;[^\n]*|\$\d+|(?P<bracket>[()])"
    r"|(?P<result>1-0|0-1|1/2-1/2|\*)(?=\s|$)|\d+\.+|(?P<move>[^\s(){};]+)"
)
SGF = re.compile(
    r"(?P<bracket>[()])|(?P<name>[A-Za-z]+)|\[(?P<value>(?:\\.|[^\]\\])*)\]", re.DOTALL
)


class Line(NamedTuple):
    """The main line of a game.

    Attributes:
        tags: what the game says of itself, such as "FEN" or "SZ".
        moves: as they are written.
    """

    tags: dict[str, str]
    moves: list[str]


def read_openings(path: Path, game: PgxGame, *, first: int = 0) -> tuple[tuple[str, ...], ...]:
    """Returns the lines of moves in a file of games, in the words of the game.

    Args:
        path: PGN for chess, SGF for Go.
        game: the rules.
        first: moves of each that are taken; all if 0.

    Raises:
        ValueError: no game is in it, or one does not fit the rules; says which and where.
        OSError: the file cannot be read.
    """
    board, notation = Board(game), notation_of(game)
    text = path.read_text(encoding="utf-8", errors="replace")
    found: list[tuple[str, ...]] = []
    try:
        for line in _sgf(text) if isinstance(notation, GoNotation) else _pgn(text):
            where = f"{path}, game {len(found) + 1}"
            _check_start(line, notation, where)
            moves = line.moves[:first] if first else line.moves
            found.append(check_line(board, moves, where))
    except _NotClosedError:
        raise ValueError(f"{path}: a bracket is not closed in game {len(found) + 1}") from None
    if not found:
        kind = "SGF" if isinstance(notation, GoNotation) else "PGN"
        raise ValueError(f"{path} has no game in {kind}")
    return tuple(found)


def check_line(board: Board, moves: Sequence[str], where: str) -> tuple[str, ...]:
    """Returns moves from the start in the words of the game.

    Args:
        board: is reset.
        moves: words, or as PGN or SGF write them.
        where: of the line, for errors.

    Raises:
        ValueError: there is none, one is not legal, or the game is over after them.
    """
    board.reset()
    for move in moves:
        words = board.words()
        word = move if move in words else board.notation.find(board.state, words, move)
        if word is None:
            number = len(board.moves) + 1
            raise ValueError(f"{where}, move {number}: {move!r} is not a legal move of the game")
        board.play(word)
    if not moves or board.result is not None:
        said = "is over" if moves else "has no move"
        raise ValueError(f"{where} {said}; give the first moves of a game (opening= takes so many)")
    return tuple(board.moves)


class _NotClosedError(Exception):
    """A game ends within brackets."""


def _check_start(line: Line, notation: object, where: str) -> None:
    """Refuses games on another board or from another position."""
    if isinstance(notation, GoNotation):
        size = line.tags.get("SZ", "19")
        if size != str(notation.size):
            raise ValueError(f"{where} is on a board of {size}, the tournament on {notation.size}")
    for tag in ("FEN", "AB", "AW", "AE"):
        if tag in line.tags:
            raise ValueError(f"{where} begins from a position of its own ({tag}), not at the start")


def _pgn(text: str) -> Iterator[Line]:
    """Yields the games of a PGN file."""
    line, depth = Line({}, []), 0
    for found in PGN.finditer(re.sub(r"(?m)^%.*$", "", text)):
        if found["bracket"]:
            depth += 1 if found["bracket"] == "(" else -1
        elif depth > 0:
            continue
        elif found["result"] or (found["tag"] and line.moves):
            yield line
            line = Line({}, [])
        if depth == 0 and found["tag"]:
            line.tags[found["tag"]] = found["value"]
        elif depth == 0 and found["move"]:
            line.moves.append(found["move"])
    if depth != 0:
        raise _NotClosedError
    if line.moves:
        yield line


def _sgf(text: str) -> Iterator[Line]:
    """Yields the games of an SGF file; the main line is the first branch everywhere."""
    line, depth, ended, name = Line({}, []), 0, False, ""
    for found in SGF.finditer(text[max(text.find("("), 0) :]):
        if found["bracket"] == "(":
            depth += 1
        elif found["bracket"]:
            depth, ended = depth - 1, True
            if depth == 0:
                yield line
                line, ended = Line({}, []), False
        elif depth == 0 or ended:
            continue
        elif found["name"]:
            name = found["name"]
        elif name in ("B", "W"):
            in_turn = name == "BW"[len(line.moves) % 2]
            line.moves.append(found["value"] if in_turn else f"{name} twice")
        else:
            line.tags.setdefault(name, found["value"])
    if depth != 0:
        raise _NotClosedError
