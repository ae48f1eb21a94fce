"""Hands in the PHH format, which other tools for poker read.

A file of hands is TOML with a table for each hand. Seats are p1, p2, ... in the order in which they
act after the flop, as ours are. A raise names the player's total on the street.

Source: Kim 2023, "Recording and describing poker hands" (arXiv 2312.11753).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable

import numpy as np

from jaxsolve.holdem._betting import FOLD
from jaxsolve.holdem._cards import cards_name
from jaxsolve.holdem.play._log import LoggedHand


def phh_actions(one: LoggedHand) -> list[str]:
    """Returns what dealer and players did, in the words of PHH.

    Hands are shown when nobody can bet any more, before the cards that are still to come.
    """
    out = [f"d dh p{i + 1} {cards_name(two)}" for i, two in enumerate(one.hands)]
    base = np.zeros(len(one.hands), int)  # chips of earlier streets
    shown = len(out)
    for before, after in itertools.pairwise(one.hand.path()):
        if after.move is None:
            base = np.asarray(before.state.spent)
            out.append(f"d db {cards_name(after.board[len(before.board) :])}")
            continue
        seat, total = before.actor, after.move
        word = "f" if total == FOLD else "cc"
        if total > int(before.state.bet):
            word = f"cbr {total - int(base[seat])}"
        out.append(f"p{seat + 1} {word}")
        shown = len(out)
    live = np.flatnonzero(~one.hand.state.folded) if one.hand.showdown else np.zeros(0, int)
    out[shown:shown] = [f"p{i + 1} sm {cards_name(one.hands[i])}" for i in live]
    return out


def phh_text(hands: Iterable[LoggedHand]) -> str:
    """Returns a file of no-limit hands (.phhs).

    Args:
        hands: of `read_log`.
    """
    tables = []
    for place, one in enumerate(hands, 1):
        rules = one.hand.rules
        facts = {
            "variant": "NT",
            "antes": [rules.ante] * rules.num_players,
            # Two players' blinds are told small one first, though p1 posts the big one.
            "blinds_or_straddles": sorted(rules.blinds) if len(one.hands) == 2 else [*rules.blinds],
            "min_bet": rules.min_bet,
            "starting_stacks": list(one.hand.stacks),
            "actions": phh_actions(one),
            "hand": one.number,
            "players": list(one.names),
        }
        # Strings and lists of JSON are those of TOML.
        lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
        tables.append("\n".join([f"[{place}]", *lines]))
    return "\n\n".join(tables) + "\n"
