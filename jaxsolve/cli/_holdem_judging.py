"""`jaxsolve holdem match`, `lbr` and `best-response`: how strong blueprints are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from jaxsolve.cli._holdem_blueprint import Folder


def match(
    first: Folder,
    second: Annotated[
        str, typer.Argument(help='another directory, or "uniform", "call" or "allin"')
    ],
    boards: Annotated[int, typer.Option(help="heads-up: sampled boards, both seats", min=2)] = 100,
    hands: Annotated[
        int | None, typer.Option(help="play hand by hand, so many hands", min=2)
    ] = None,
    seed: Annotated[int, typer.Option(help="of the boards, deals and actions", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Play two blueprints of one stack against each other.

    Heads-up and of one menu: on sampled boards, exactly over all hands. With more players or other
    menus hand by hand, 100,000 unless --hands says another number: the first sits in one seat and
    the second in all others, and they move around the table; AIVAT takes much of the luck away.
    """
    import os

    from jaxsolve import holdem as he

    one = he.Blueprint.load(first)
    simple = {"uniform": None, "call": "c", "allin": "a"}
    if second in simple:
        letter = simple[second]
        sums = he.uniform_sums(one.game) if letter is None else he.always(one.game, letter)
        other = one.game, sums
    else:
        other = he.Blueprint.load(Path(second)).strategy
    players = one.game.menu.players
    found: he.RangeMatch | he.HandMatch
    if hands is None and players == 2 and other[0].menu == one.game.menu:
        found = he.range_match(
            *(one.strategy, other),
            boards=boards,
            seed=seed,
            threads=os.cpu_count() or 1,
            progress=True,
        )
        more: dict[str, float] = {"boards": boards}
    else:
        seats = [one.strategy, *[other] * (players - 1)]
        found = he.hand_match(seats, hands=hands or 100_000, seed=seed, progress=True)
        more = {"hands": found.hands, "p_value": found.p_value}
    if as_json:
        row = {"mbb": found.mbb, "low": found.low, "high": found.high, **more}
        print(json.dumps({"first": str(first), "second": second, **row}))
    else:
        print(f"{first} against {second}: {found}")


def lbr(
    folder: Folder,
    boards: Annotated[int, typer.Option(help="sampled boards, each in both seats", min=2)] = 20,
    raises: Annotated[bool, typer.Option(help="whether the responder raises, too")] = True,
    runouts: Annotated[int, typer.Option(help="by which it judges hands", min=1)] = 64,
    seed: Annotated[int, typer.Option(help="of boards and runouts", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Bound the exploitability of a heads-up blueprint from below, by local best response."""
    import os

    from jaxsolve import holdem as he

    made = he.Blueprint.load(folder)
    found = he.local_best_response(
        made.strategy,
        boards=boards,
        raises=raises,
        runouts=runouts,
        seed=seed,
        threads=os.cpu_count() or 1,
        progress=True,
    )
    if as_json:
        row = {"mbb": found.mbb, "low": found.low, "high": found.high, "boards": boards}
        print(json.dumps({"blueprint": str(folder), "raises": raises, **row}))
    else:
        print(f"a local best response wins {found} from {folder}")


def best_response(
    folder: Folder,
    flops: Annotated[int, typer.Option(help="that are sampled", min=1)] = 2,
    turns: Annotated[int, typer.Option(help="that are sampled for each flop", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="of the boards", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Show what the exact best response to a heads-up blueprint wins on sampled boards.

    The responder knows which boards there are, so that few boards give much more than the whole
    game would. The directory's result.json gets best_response_mbb, if there is one.
    """
    import os

    from jaxsolve import holdem as he

    made = he.Blueprint.load(folder)
    found = he.sampled_best_response(
        made.strategy,
        flops=flops,
        turns=turns,
        seed=seed,
        threads=os.cpu_count() or 1,
        progress=True,
    )
    row = {"best_response_mbb": found.mbb, "best_response_boards": found.boards}
    if not he.add_to_report(folder, row):
        print(f"{folder} has no result.json to write to", file=sys.stderr)
    if as_json:
        print(json.dumps({"blueprint": str(folder), "flops": flops, "turns": turns, **row}))
    else:
        print(f"a best response to {folder} wins {found}")
