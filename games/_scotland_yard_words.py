"""Scotland Yard in words: where a player stands, and where Mr X may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxsolve.game import Seen
from jaxsolve.types import NOTHING

from ._scotland_yard_maps import Map


def situation(here: Map, player: int, seen: Sequence[Seen]) -> str:
    """Returns where a player stands; see `game.DescribesSituations`."""
    drawn = len(here.evader) > 1
    # Mr X is where the player knows that he was last, 0 if they do not; after how many moves.
    at, known = [0 if drawn else here.evader[0], *here.detectives], 0
    tickets = np.array([here.evader_tickets] + [here.tickets] * len(here.detectives))
    turn, due, moves, doubles = 0, 1, 0, here.doubles
    for action, public, private in seen:
        used, place = int(public[0]), int(public[1])
        if private[0] != NOTHING:
            at[0] = int(private[0]) + 1
        if used == NOTHING:
            continue
        if turn == 0 and used > len(here.kinds):
            due, doubles = 2, doubles - 1
            continue
        if used < len(here.kinds):
            tickets[turn, used] -= 1
            tickets[0, used] += turn > 0
        if turn == 0:
            moves, due = moves + 1, due - 1
            place = action % here.num_stations if action >= 0 else place
            known = known if place == NOTHING else moves
        at[turn] = at[turn] if place == NOTHING else place + 1
        if turn > 0 or due == 0:
            turn = (turn + 1) % len(at)
            due = 1
    left = [
        " ".join(f"{kind} {n}" for kind, n in zip(here.kinds, row, strict=True)) for row in tickets
    ]
    where = f"at {at[0]}" if player == 0 else f"seen at {at[0]} after move {known}"
    lines = [
        f"Mr X {where if at[0] else 'not seen yet'}; moves {moves} of {here.rounds}; tickets "
        f"{left[0]}{f', double {doubles}' if here.doubles else ''}",
        *(f"detective {k} at {at[k]}; tickets {left[k]}" for k in range(1, len(at))),
    ]
    mover = f"detective {turn}" if turn else "Mr X"
    return "\n".join([*lines, f"you move {mover}"])


def beliefs_in_words(belief: np.ndarray) -> str:
    """Returns the ten likeliest stations of Mr X (float [S]), and how many are possible."""
    likely = np.argsort(-belief, kind="stable")[: min(10, np.count_nonzero(belief))]
    rows = [("station", [str(s + 1) for s in likely])]
    rows.append(("percent", [f"{100 * belief[s]:.0f}" for s in likely]))
    return "\n".join(
        [
            f"where Mr X is, for all who saw the same ({np.count_nonzero(belief)} possible):",
            *(f"  {word} {' '.join(f'{x:>4}' for x in row)}" for word, row in rows),
        ]
    )
