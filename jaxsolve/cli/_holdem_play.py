"""`jaxsolve holdem match`, `serve`, `join` and `replay`: hands between agents."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._games import show as show_table
from jaxsolve.files import write_atomic
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.holdem.play import BlueprintAgent, HandAgent, RangeAgent

AGENT = 'such as "blueprint:DIR", "always-call", "random" or "acpc:HOST:PORT"'

Stack = Annotated[
    str | None,
    typer.Option(help='such as "200bb" or chips; by default a blueprint\'s, or 200bb'),
]
Players = Annotated[
    int | None, typer.Option(help="seats; by default a blueprint's, or 2", min=2, max=9)
]
Seconds = Annotated[
    float | None, typer.Option(help="that a decision of an agent of ours may take", min=0)
]


def match(
    first: Annotated[str, typer.Argument(help=AGENT)],
    second: Annotated[
        str,
        typer.Argument(help='another, or "uniform", "call" or "allin" on the menu of the first'),
    ],
    boards: Annotated[
        int | None, typer.Option(help="play over ranges, on so many boards in both seats", min=2)
    ] = None,
    hands: Annotated[
        int | None, typer.Option(help="play hand by hand, so many hands", min=2)
    ] = None,
    seed: Annotated[int, _setup.seed("of the boards, deals and actions")] = 0,
    stack: Stack = None,
    out: _setup.Out = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on in --out")] = False,
    every: Annotated[int, typer.Option(help="hands between two checkpoints", min=1)] = 50,
    limit: Annotated[
        float, typer.Option(help="seconds for each answer of a program outside", min=0.01)
    ] = 60.0,
    seconds: Seconds = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Play two agents against each other; the first sits in one seat, the second in all others.

    Heads-up blueprints of one menu play over ranges: on sampled boards, exactly over all hands.
    Others play hand by hand, every deal in all rotations; AIVAT takes much of the luck away where
    one of them is a blueprint. --out gets result.json, and of agents that are no tables a log of
    the hands and a checkpoint, from which --resume goes on.
    """
    if hands is not None and boards is not None:
        raise ValueError("say --boards, to play over ranges, or --hands, to play hand by hand")
    if resume and out is None:
        raise ValueError("--resume needs --out, the directory of the match to continue")
    _setup.check_out(out)
    from jaxsolve.holdem import play

    with contextlib.ExitStack() as opened:
        agents: list[HandAgent] = []
        table = {"uniform", "call", "allin"}
        for text in (first, *([] if second in table else [second])):
            with waiting(f"opening {text}"):
                agents.append(play.open_agent(text, patience=limit))
            opened.callback(play.close_agent, agents[-1])
        if second in table:
            agents.append(_simple(agents[0], second))
        tables = [a for a in agents if isinstance(a, play.BlueprintAgent)]
        below = _tables(agents)
        players = below[0].game.menu.players if below else 2
        chips = stack_of(stack, agents)
        same = len(tables) == 2 and tables[0].game.menu == tables[1].game.menu
        if hands is None and boards is None and same and players == 2:
            boards = 100
        kept: dict[str, Any] = {"seed": seed, "out": out, "resume": resume, "progress": True}
        words = ""
        if boards is not None:
            one, other = _that_tell(agents, players)
            threads = os.cpu_count() or 1
            known = play.play_on_boards(
                one, other, chips, boards=boards, seconds=seconds, threads=threads, **kept
            )
            rows, finished, words = known.rows, known.finished, repr(known.found)
        elif len(tables) == 2:
            known = play.play_by_tables(*tables, hands=hands or 100_000, **kept)
            rows, finished, words = known.rows, known.finished, repr(known.found)
        else:
            if players > 2 and isinstance(agents[1], play.AcpcAgent):
                raise ValueError(f"{second}: a program outside plays one seat, not several")
            values = None
            if below:
                from jaxsolve.holdem import hand_values

                with waiting("learning values for AIVAT"):
                    values = hand_values((below[0].game, below[0].sums), seed=seed)
            found = play.play_match(
                [agents[0], *[agents[1]] * (players - 1)],
                chips,
                hands=hands or 1_000,
                values=values,
                seconds=seconds,
                every=every,
                **kept,
            )
            rows, finished, words = found.rows(), found.finished, repr(found)
    if not finished:
        print(f"stopped: {words}", file=sys.stderr)
        raise typer.Exit(130)
    if as_json:
        print(json.dumps({"first": first, "second": second, **rows[0]}))
    else:
        print(f"{first} against {second}: {words}")


def serve(
    agent: Annotated[str, typer.Option(help='such as "blueprint:DIR" or "always-call"')],
    port: Annotated[int, typer.Option(help="0 for one that is free", min=0, max=65535)] = 0,
    host: Annotated[str, typer.Option(help="the address to listen at")] = "127.0.0.1",
    log: Annotated[Path | None, typer.Option(help="file that gets a line for each hand")] = None,
    hands: Annotated[
        int | None, typer.Option(help="for each client; by default until it leaves", min=1)
    ] = None,
    clients: Annotated[int, typer.Option(help="that play at once", min=1)] = 16,
    limit: Annotated[float, typer.Option(help="seconds for a line of a client", min=0.01)] = 60.0,
    seconds: Seconds = None,
    stack: Stack = None,
    players: Players = None,
    seed: Annotated[
        int | None,
        _setup.seed("of cards and decisions; by default nobody knows"),
    ] = None,
) -> None:
    """Play hands with whoever connects, by the lines of the ACPC; Ctrl-C ends it.

    This side is the dealer; a client has one seat, the agent all others. A client that sends
    MATCHSTATE first deals itself. Who comes, and why they leave, is said on standard error and in
    the log.
    """
    import logging

    from jaxsolve.holdem import play

    with waiting(f"opening {agent}"):
        who = play.open_agent(agent)
    if isinstance(who, play.AcpcAgent):
        play.close_agent(who)
        raise ValueError(f"{agent}: a program outside cannot play with several clients at once")
    tables = _tables([who])
    server = play.HoldemServer(
        who,
        stack_of(stack, [who]),
        players=_seats(players, tables),
        host=host,
        port=port,
        log=log,
        hands=hands,
        clients=clients,
        patience=limit,
        seconds=seconds,
        seed=seed,
    )
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    logging.getLogger("jax").setLevel(logging.WARNING)
    with server:
        print(f"{who.name} is at {server.address}; Ctrl-C ends", file=sys.stderr, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    print("ended", file=sys.stderr)


def join(
    address: Annotated[str, typer.Argument(help="HOST:PORT of a dealer", metavar="HOST:PORT")],
    agent: Annotated[str, typer.Option(help='such as "blueprint:DIR" or "always-call"')],
    stack: Stack = None,
    players: Players = None,
    limit: Annotated[float, typer.Option(help="seconds without a line", min=0.01)] = 600.0,
    seconds: Seconds = None,
    seed: Annotated[int, _setup.seed("of decisions")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Play at the table of a dealer that listens, by the lines of the ACPC, until it hangs up."""
    import numpy as np

    from jaxsolve import holdem as he
    from jaxsolve.holdem import play

    with waiting(f"opening {agent}"):
        who = play.open_agent(agent)
    tables = _tables([who])
    seats = _seats(players, tables)
    with contextlib.closing(play.dial(address, patience=limit)) as lines:
        lines.send(he.VERSION)
        done = play.answer_dealer(
            lines,
            who,
            he.no_limit(seats),
            stack_of(stack, [who]),
            key=seed,
            seconds=seconds,
        )
    chips = np.array(done.chips)
    row: dict[str, Any] = {"agent": who.name, "opponent": address, "hands": done.hands}
    if len(chips) > 1:
        mean = 1000 / 100 * chips.mean()
        margin = 1.96 * 1000 / 100 * chips.std(ddof=1) / len(chips) ** 0.5
        row |= {"mbb": mean, "low": mean - margin, "high": mean + margin}
    if as_json:
        print(json.dumps(row))
        return
    words = f"{who.name} played {done.hands:,} hands at {address}"
    if "mbb" in row:
        words += f": {row['mbb']:+.1f} [{row['low']:.1f}, {row['high']:.1f}] mbb/h"
    if done.unfinished:
        words += "; the dealer hung up in the middle of another"
    print(words)


def replay(
    log: Annotated[Path, typer.Argument(help="a log of hands, or a directory with some")],
    phh: Annotated[
        Path | None, typer.Option(help="also write the hands to this file, in the PHH format")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object per name")] = False,
) -> None:
    """Play every hand of a log again by the rules, and show what was won."""
    import dataclasses
    import itertools

    import rich.table

    from jaxsolve.holdem import play

    files = sorted(log.glob("*.log")) if log.is_dir() else [log]
    if not files:
        raise ValueError(f"{log} has no log of hands in it")
    for file in files:
        found = play.check_log(file)
        cut = "; the last line is not whole and does not count" if found.cut else ""
        print(f"{file}: {found.hands:,} hands, all by the rules{cut}", file=sys.stderr)
        table = rich.table.Table("name", "hands", "chips", "mbb/h", "95 %")
        for one in found.totals:
            if as_json:
                print(json.dumps(dataclasses.asdict(one)))
            interval = f"{one.low:.1f} to {one.high:.1f}"
            chips = f"{one.chips:g}"
            table.add_row(one.name, f"{one.hands:,}", chips, f"{one.mbb:+.1f}", interval)
        if not as_json:
            show_table(table)
    if phh is not None:
        every = itertools.chain.from_iterable(play.read_log(file) for file in files)
        write_atomic(phh, play.phh_text(every).encode())
        print(f"written to {phh}", file=sys.stderr)


def _simple(first: HandAgent, word: str) -> HandAgent:
    """Returns a table on the menu of the first agent.

    Raises:
        ValueError: that has no menu.
    """
    from jaxsolve import holdem as he
    from jaxsolve.holdem import play

    if not isinstance(first, play.BlueprintAgent):
        raise ValueError(f"{word!r} plays on the menu of a blueprint, and {first.name} has none")
    letter = {"uniform": None, "call": "c", "allin": "a"}[word]
    sums = he.uniform_sums(first.game) if letter is None else he.always(first.game, letter)
    return play.BlueprintAgent(first.game, sums, name=word)


def stack_of(text: str | None, agents: Iterable[HandAgent]) -> int:
    """Returns the chips of each player: what is said, or what agents are for, or 200 big blinds.

    Raises:
        ValueError: these differ.
    """
    from jaxsolve.holdem import parse_stack

    chips = None if text is None else parse_stack(text)
    for table in _tables(agents):
        if chips not in (None, own := table.game.menu.stack):
            raise ValueError(f"{table.name} plays stacks of {own} chips, not {chips}")
        chips = own
    return 20_000 if chips is None else chips


def players_of(count: int | None, agents: Iterable[HandAgent]) -> int:
    """Returns how many sit at a table: what is said, or what agents are for, or two.

    Raises:
        ValueError: these differ.
    """
    for table in _tables(agents):
        if count not in (None, own := table.game.menu.players):
            raise ValueError(f"{table.name} is for {own} players, not {count}")
        count = own
    return 2 if count is None else count


def _tables(agents: Iterable[HandAgent]) -> list[BlueprintAgent]:
    """Returns the blueprints among agents, and those that agents search from."""
    from jaxsolve.holdem import play

    below = [agent.blueprint if isinstance(agent, play.SearchAgent) else agent for agent in agents]
    return [agent for agent in below if isinstance(agent, play.BlueprintAgent)]


def _that_tell(agents: list[HandAgent], players: int) -> tuple[RangeAgent, RangeAgent]:
    """Returns two agents that can play over ranges.

    Raises:
        ValueError: they cannot, or there are more than two players.
    """
    from jaxsolve.holdem import play

    if players > 2:
        raise ValueError(f"matches over ranges are for two players, not {players}: say --hands")
    one, other = agents
    for agent in agents:
        if not isinstance(agent, play.RangeAgent):
            raise ValueError(f"{agent.name} does not tell its range: say --hands, not --boards")
    assert isinstance(one, play.RangeAgent)
    assert isinstance(other, play.RangeAgent)
    return one, other


def _seats(players: int | None, tables: list[BlueprintAgent]) -> int:
    """Returns the seats of a table.

    Raises:
        ValueError: a blueprint is for another number of players.
    """
    trained = tables[0].game.menu.players if tables else None
    if players is not None and trained not in (None, players):
        raise ValueError(f"--players {players}, but the blueprint is for {trained}")
    return players or trained or 2
