"""`jaxsolve holdem lbr` and `best-response`: how far a strategy can be beaten."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._holdem_blueprint import Folder
from jaxsolve.cli._holdem_play import stack_of


def lbr(
    agent: Annotated[
        str,
        typer.Argument(help='a directory of jaxsolve holdem blueprint --out, or such as "random"'),
    ],
    boards: Annotated[int, typer.Option(help="sampled boards, each in both seats", min=2)] = 20,
    raises: Annotated[bool, typer.Option(help="whether the responder raises, too")] = True,
    runouts: Annotated[int, typer.Option(help="by which it judges hands", min=1)] = 64,
    seed: Annotated[int, _setup.seed("of boards and runouts")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> None:
    """Bound the exploitability of a heads-up agent from below, by local best response.

    The responder raises by the menu of a blueprint, and against other agents by the pot and all-in.
    Against agents that search, it goes on from one end of each street, drawn by chance.
    """
    import os

    from jaxsolve import holdem as he
    from jaxsolve.holdem import play

    who = play.open_agent(agent)
    how: dict[str, Any] = {
        "boards": boards,
        "raises": raises,
        "runouts": runouts,
        "seed": seed,
        "progress": True,
    }
    if isinstance(who, play.BlueprintAgent):
        found = he.local_best_response(
            (who.game, who.sums),
            threads=os.cpu_count() or 1,
            **how,
        )
    elif isinstance(who, play.RangeAgent):
        if isinstance(who, play.SearchAgent):
            how |= {"drawn": True, "quick": who.after}
        found = play.agent_local_best_response(who, stack_of(None, [who]), **how)
    else:
        play.close_agent(who)
        raise ValueError(f"{agent} does not tell its range, which a local best response needs")
    if as_json:
        row = {"mbb": found.mbb, "low": found.low, "high": found.high, "boards": boards}
        print(json.dumps({"blueprint": agent, "raises": raises, **row}))
    else:
        print(f"a local best response wins {found} from {agent}")


def best_response(
    folder: Folder,
    flops: Annotated[int, typer.Option(help="that are sampled", min=1)] = 2,
    turns: Annotated[int, typer.Option(help="that are sampled for each flop", min=1)] = 2,
    seed: Annotated[int, _setup.seed("of the boards")] = 0,
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
