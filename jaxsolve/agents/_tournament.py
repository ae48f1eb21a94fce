"""Tournaments of agents and programs outside in chess and Go, game by game, each kept in a file.

Each pair plays so many games, colours in turn, after some moves, random or of a list of openings,
that are the same for both colours. A program that dies, is silent past its time or makes an illegal
move loses that game; the record says why, it is started again, and the tournament goes on. A
tournament that was stopped goes on after its last game.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from jaxsolve.agents._board import Board, Player, notation_of
from jaxsolve.agents._engine import EngineError
from jaxsolve.agents._notation import ChessNotation, in_check
from jaxsolve.agents._openings import check_line
from jaxsolve.agents._ratings import ratings
from jaxsolve.files import claim, write_atomic
from jaxsolve.game import PgxGame, Range, checked


class Entrant(NamedTuple):
    """A player by name.

    Attributes:
        name: for tables and records.
        start: makes the player; again after one that failed.
    """

    name: str
    start: Callable[[], Player]


@checked
@dataclasses.dataclass(frozen=True)
class Rules:
    """How games are played.

    Attributes:
        game: the rules, of pgx.
        games: of each pair, even: colours in turn.
        max_moves: moves after which a game is a draw.
        opening: random moves at the start, where there are no `openings`.
        seed: of the random moves.
        seconds: of a move; more lose the game.
        openings: lines of moves that pairs of games begin with, in turn; see `read_openings`.
    """

    game: PgxGame
    games: Annotated[int, Range(2)] = 2
    max_moves: Annotated[int, Range(1)] = 300
    opening: Annotated[int, Range(0)] = 0
    seed: Annotated[int, Range(0, 2**31 - 1)] = 0
    seconds: Annotated[float, Range(above=0)] = 10.0
    openings: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        notation_of(self.game)
        if self.games % 2:
            raise ValueError(f"games={self.games} of a pair must be even: colours take turns")

    @property
    def longest_opening(self) -> int:
        """Moves that are made for players at the start of a game, at most."""
        return max(map(len, self.openings), default=self.opening)


class Played(NamedTuple):
    """A game that is over.

    Attributes:
        points: of the first player, 1, 0.5 or 0.
        moves: words.
        why: how it ended.
        record: PGN or SGF.
    """

    points: float
    moves: list[str]
    why: str
    record: str


def play_game(
    rules: Rules, board: Board, players: Sequence[Player], names: tuple[str, str], opening: int
) -> tuple[Played, int | None]:
    """Returns (a game, the seat of a player that failed or None).

    Args:
        rules: how it is played.
        board: is reset.
        players: by seat.
        names: by seat.
        opening: number of the opening.
    """
    board.reset()
    shorts: list[str] = []
    notation = board.notation
    rng = np.random.default_rng([rules.seed, opening])

    def play(word: str) -> None:
        words, state = board.words(), board.state
        board.play(word)
        if isinstance(notation, ChessNotation):
            check = "" if board.result is None or board.result == 0.5 else "#"
            check = check or ("+" if in_check(board.state) else "")
            shorts.append(notation.short(state, words, word, check))
        else:
            shorts.append(word)

    points, why, failed = board.result, "normal", None
    for word in rules.openings[opening % len(rules.openings)] if rules.openings else ():
        play(word)
    for _ in range(0 if rules.openings else rules.opening):
        if board.result is None:
            play(str(rng.choice(sorted(board.words()))))
    seat = len(board.moves) % 2
    for player in players:
        try:
            player.new_game()
        except EngineError as error:
            seat = players.index(player)
            points, why, failed = float(seat), f"{names[seat]} {error}", seat
            break
    while points is None and failed is None:
        points = board.result
        if points is not None:
            break
        if len(board.moves) >= rules.max_moves:
            points, why = 0.5, f"{rules.max_moves} moves"
            break
        seat = len(board.moves) % 2
        begin = time.monotonic()
        try:
            word = players[seat].move(board.moves)
        except EngineError as error:
            points, why, failed = float(seat), f"{names[seat]} {error}", seat
            break
        spent, word = time.monotonic() - begin, _known(word, board)
        if word.lower() == "resign":
            points, why = float(seat), f"{names[seat]} resigned"
        elif spent > rules.seconds + 2:
            points, why, failed = float(seat), f"{names[seat]} took {spent:.1f} s", seat
        elif word not in board.words():
            points, why, failed = float(seat), f"{names[seat]} played {word!r}, not legal", seat
        else:
            play(word)
    assert points is not None
    chess = isinstance(notation, ChessNotation)
    text = {1.0: "1-0" if chess else "B+", 0.0: "0-1" if chess else "W+"}
    result = text.get(points, "1/2-1/2" if chess else "0")
    record = notation.record(names, shorts, result, why)
    return Played(points, list(board.moves), why, record), failed


def tournament(
    rules: Rules,
    entrants: Sequence[Entrant],
    out: Path,
    *,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Returns the cross table with ratings, after all games; writes each game as it is over.

    In `out`: games.jsonl, a line for each game; the games as PGN or SGF; result.json and table.md.

    Args:
        rules: how games are played.
        entrants: two or more.
        out: folder; a tournament that was stopped goes on there.
        say: receives a line for each game.

    Raises:
        ValueError: fewer than two entrants, equal names, one that cannot be started, an opening
            that is not one, or a folder with another tournament, or one that is in use.
    """
    names = [e.name for e in entrants]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"a tournament needs two players of different names; got {names}")
    board = Board(rules.game)
    for number, line in enumerate(rules.openings):
        check_line(board, line, f"opening {number + 1}")
    players: list[Player | None] = []

    def close() -> None:
        for player in players:
            if player is not None:
                player.close()

    with contextlib.ExitStack() as stack:
        stack.callback(close)
        for entrant in entrants:
            players.append(entrant.start())
        stack.enter_context(claim(out))
        games = _kept(rules, names, out)
        pairs = list(itertools.combinations(range(len(names)), 2))
        plan = [(k, pair) for k in range(rules.games) for pair in pairs]
        for number, (k, pair) in enumerate(plan):
            if number < len(games):
                continue
            seats = pair if k % 2 == 0 else pair[::-1]
            for i in seats:
                players[i] = players[i] or entrants[i].start()
            both = [p for p in (players[i] for i in seats) if p is not None]
            called = (names[seats[0]], names[seats[1]])
            played, failed = play_game(rules, board, both, called, k // 2)
            if failed is not None:
                both[failed].close()
                players[seats[failed]] = None
            suffix = "pgn" if isinstance(board.notation, ChessNotation) else "sgf"
            write_atomic(out / f"game-{number + 1:04d}.{suffix}", played.record.encode())
            games.append({"first": called[0], "second": called[1], **played._asdict()})
            del games[-1]["record"]
            lines = "".join(json.dumps(g) + "\n" for g in games)
            write_atomic(out / "games.jsonl", lines.encode())
            score = f"{called[0]} {played.points:g} {called[1]}"
            say(f"game {number + 1} of {len(plan)}: {score}, {played.why}")
            report(names, games, out)
        return report(names, games, out)


def report(names: Sequence[str], games: Sequence[dict[str, Any]], out: Path) -> dict[str, Any]:
    """Returns the cross table and writes it: points of row against column, ratings, failures."""
    n = len(names)
    points, failures = np.zeros((n, n)), dict.fromkeys(names, 0)
    for game in games:
        a, b = names.index(game["first"]), names.index(game["second"])
        points[a, b] += game["points"]
        points[b, a] += 1 - game["points"]
        for name in names:
            said = game["why"]
            lost = said.startswith(name + " ") and not said.endswith("resigned")
            failures[name] += int(lost)
    rating, width = ratings(points)
    rows = [
        {
            "name": names[i],
            "rating": round(float(rating[i]), 1),
            "low": round(float(rating[i] - width[i]), 1),
            "high": round(float(rating[i] + width[i]), 1),
            "points": float(points[i].sum()),
            "games": int((points[i] + points[:, i]).sum()),
            "failures": failures[names[i]],
            "against": {names[j]: float(points[i, j]) for j in range(n) if j != i},
        }
        for i in np.argsort(-rating, kind="stable")
    ]
    found = {"name": "tournament", "played": len(games), "rows": rows}
    write_atomic(out / "result.json", (json.dumps(found, indent=1) + "\n").encode())
    order = [row["name"] for row in rows]
    lines = [f"| player | rating | 95 % | points | games | failed | {' | '.join(order)} |"]
    lines.append("|---|--:|---|--:|--:|--:|" + "--:|" * n)
    for row in rows:
        each = (f"{row['against'][x]:g}" if x in row["against"] else "" for x in order)
        lines.append(
            f"| {row['name']} | {row['rating']:.0f} | {row['low']:.0f} to {row['high']:.0f} | "
            f"{row['points']:g} | {row['games']} | {row['failures']} | {' | '.join(each)} |"
        )
    write_atomic(out / "table.md", ("\n".join(lines) + "\n").encode())
    return found


def _kept(rules: Rules, names: list[str], out: Path) -> list[dict[str, Any]]:
    """Returns the games that a stopped tournament left."""
    same = {
        "game": rules.game.name,
        "players": names,
        **{k: v for k, v in vars(rules).items() if k != "game"},
    }
    same = json.loads(json.dumps(same))  # lists in place of tuples, as the file has them
    path = out / "tournament.json"
    if path.exists():
        found = json.loads(path.read_text())
        if found != same:
            wrong = ", ".join(k for k in same if found.get(k) != same[k])
            raise ValueError(f"{out} holds another tournament ({wrong}); choose another folder")
    write_atomic(path, (json.dumps(same, indent=1) + "\n").encode())
    kept = out / "games.jsonl"
    return [json.loads(x) for x in kept.read_text().splitlines()] if kept.exists() else []


def _known(word: str, board: Board) -> str:
    """Returns a program's word as the board writes it, whatever its case."""
    return next((w for w in board.words() if w.lower() == word.lower()), word)
