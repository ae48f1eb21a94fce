"""A game without some of its public states: fewer bets, the same cards."""

from __future__ import annotations

import time

import numpy as np

from jaxsolve.compiler import from_form, in_rows
from jaxsolve.tree import PublicTree, listed, sequence_form
from jaxsolve.types import TERMINAL
from jaxsolve.values._limit import DepthLimit
from jaxsolve.values._table import limit_table


def pruned(tree: PublicTree, keep: np.ndarray) -> PublicTree:
    """Returns a game without some of its public states and everything below them.

    Numbers of public states and infostates stay those of the whole game.

    Args:
        tree: a compiled game.
        keep: bool [N], public states that remain.

    Raises:
        ValueError: chance would have nowhere to go, or a player no action.
    """
    begin = time.perf_counter()
    info = listed(in_rows(tree))
    table = info.states
    none = DepthLimit("pruned", np.zeros(len(keep), bool), np.zeros(0, np.int64))
    cut = limit_table(table, none, (1,) * len(info.players), (), keep).table
    children = np.bincount(cut.parent[1:], minlength=cut.num_states)
    if (children[cut.actor != TERMINAL] == 0).any():
        raise ValueError(f"{info.name}: nothing follows some state once public states are left out")
    return from_form(sequence_form(cut), cut, cut.game, start=begin)
