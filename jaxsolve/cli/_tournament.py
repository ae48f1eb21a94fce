"""`jaxsolve tournament`: agents and programs outside in chess and Go, with a cross table."""

from __future__ import annotations

import dataclasses
import functools
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup

if TYPE_CHECKING:
    from jaxsolve.agents import Entrant, Rules

KEYS = ("game", "games", "max_moves", "opening", "openings", "seed", "seconds", "players")
"""What the file of a tournament may have."""

PLAYER_KEYS = {
    "uci": ("name", "uci", "limit", "options"),
    "gtp": ("name", "gtp"),
    "agent": ("name", "agent", "net", "simulations"),
}
"""What a player may have, by kind."""

AGENTS = ("uniform", "sog")


def tournament(
    spec: Annotated[Path, typer.Argument(help="a TOML file: the game and the players")],
    out: Annotated[Path, typer.Option(help="folder for games, result.json and table.md")],
) -> None:
    """Play a tournament of pgx:chess or pgx:go_9x9; one that was stopped goes on.

    The file has game, games (of each pair), max_moves, opening (random moves), openings (a file of
    games in PGN or SGF, whose first `opening` moves are played in place of random ones), seed,
    seconds (of a move), and for each player a table of the list `players` with a name and one of
    uci = "stockfish" (limit = "nodes 50", options = {}), gtp = "gnugo --mode gtp", agent =
    "uniform" or "sog" (net, simulations).
    """
    found = read_spec(spec)
    _setup.check_out(out)
    _setup.start_jax()
    from jaxsolve.agents import tournament as play

    rules, entrants = made(found)
    result = play(rules, entrants, out, say=lambda line: print(line, file=sys.stderr))
    print((out / "table.md").read_text(), end="")
    print(f"{result['played']} games written to {out}", file=sys.stderr)


def read_spec(path: Path) -> dict[str, Any]:
    """Returns the file of a tournament, checked.

    Raises:
        ValueError: not TOML, or an entry that is missing or unknown; names it.
        OSError: the file cannot be read.
    """
    try:
        found = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    _only(found, KEYS, str(path))
    players = found.get("players")
    if not isinstance(found.get("game"), str) or not isinstance(players, list):
        raise ValueError(f'{path} needs game = "pgx:chess" or "pgx:go_9x9", and [[players]]')
    if "openings" in found:
        if not isinstance(found["openings"], str):
            raise ValueError(f"{path}: openings is the name of a PGN or SGF file")
        found["openings"] = str(path.parent / found["openings"])
    for player in players:
        kinds = [k for k in PLAYER_KEYS if k in player]
        name = player.get("name")
        if not isinstance(name, str) or not name or len(kinds) != 1:
            raise ValueError(
                f"{path}: a player needs a name and one of uci, gtp and agent: {player}"
            )
        _only(player, PLAYER_KEYS[kinds[0]], f"{path}, player {name}")
        if kinds == ["agent"] and player["agent"] not in AGENTS:
            raise ValueError(f"{path}, player {name}: agent must be one of {', '.join(AGENTS)}")
    return found


def made(spec: Mapping[str, Any]) -> tuple[Rules, list[Entrant]]:
    """Returns how games are played, and who plays.

    Raises:
        ValueError: the game or a player does not fit; says why.
    """
    from jaxsolve.agents import Entrant, GtpEngine, Rules, UciEngine, notation_of, read_openings
    from jaxsolve.game import PgxGame, load

    game = load(spec["game"])
    if not isinstance(game, PgxGame):
        raise ValueError(f"{spec['game']} is not a board game of pgx: use pgx:chess or pgx:go_9x9")
    named = ("game", "players", "openings")
    rules = Rules(game, **{k: v for k, v in spec.items() if k not in named})
    if "openings" in spec:
        lines = read_openings(Path(spec["openings"]), game, first=rules.opening)
        rules = dataclasses.replace(rules, openings=lines)
    notation, entrants = notation_of(game), []
    for player in spec["players"]:
        name = player["name"]
        if ("uci" in player) != (game.name == "pgx:chess") and "agent" not in player:
            raise ValueError(f"player {name}: chess is played over uci, Go over gtp")
        if "uci" in player:
            start: Any = functools.partial(
                UciEngine,
                player["uci"],
                options=player.get("options", {}),
                limit=player.get("limit", "movetime 100"),
                seconds=rules.seconds,
            )
        elif "gtp" in player:
            size, komi = getattr(notation, "size", 0), getattr(notation, "komi", 0.0)
            start = functools.partial(
                GtpEngine, player["gtp"], size=size, komi=komi, seconds=rules.seconds
            )
        else:
            start = functools.partial(_agent, game, player, rules.longest_opening)
        entrants.append(Entrant(name, start))
    return rules, entrants


def _agent(game: Any, player: Mapping[str, Any], opening: int) -> Any:
    from jaxsolve import agents
    from jaxsolve.cli._play import _from_rules

    if player["agent"] == "uniform":
        return agents.AgentPlayer(game, agents.uniform())
    file = Path(player["net"]) if "net" in player else None
    simulations = int(player.get("simulations", 16))
    return agents.AgentPlayer(game, _from_rules(game, file, simulations, opening=opening))


def _only(entries: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    unknown = [k for k in entries if k not in known]
    if unknown:
        raise ValueError(f"{where}: no entry {unknown[0]!r}; there are {', '.join(known)}")
