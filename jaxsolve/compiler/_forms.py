"""From a table of world states and its sequence form to a PublicTree with names."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from jaxsolve.game import Game
from jaxsolve.tree import (
    Bucket,
    CompiledInfo,
    ListedInfo,
    PlayerInfo,
    PublicTree,
    SequenceForm,
    SequenceLayout,
    StateTable,
    assemble,
    exact,
    laid_out,
    to_device,
)


def from_form(
    form: SequenceForm,
    table: StateTable,
    game: Game,
    *,
    start: float,
    bucket: Bucket = exact,
    keep_states: bool = True,
) -> PublicTree:
    """Returns the tree of a sequence form, with names from the table it came from."""
    tree, layouts = assemble(form, bucket=bucket)
    total = table.utility.sum(1)
    constant = len(total) and np.ptp(total) <= 1e-9 * max(1.0, np.abs(table.utility).max())
    facts: dict[str, Any] = {
        "game": game,
        "name": game.name,
        "players": tuple(player_info(form, table, layouts, i) for i in range(form.num_players)),
        "num_states": table.num_states,
        "num_public_states": len(table.public_states.parent),
        "utility_sum": float(total[0]) if constant else None,
        "build_seconds": time.perf_counter() - start,
        "form": form,
    }
    names = ListedInfo(**facts, states=table) if keep_states else CompiledInfo(**facts)
    return laid_out(to_device(tree, game.name)).replace(names=names)


def player_info(
    form: SequenceForm, table: StateTable, layouts: tuple[SequenceLayout, ...], player: int
) -> PlayerInfo:
    """Returns the canonical order of a player's infosets: that of the sequence form."""
    rows = form.rows[player]
    return PlayerInfo(
        offset=rows.offset - rows.roots,
        action=rows.action,
        position=layouts[player].sequence[rows.roots :],
        infostate=rows.infostate,
        public=rows.public,
        states=table.infostates[player],
    )
