"""The table of a game's world states, breadth first, on the host."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from jaxsolve.game import Game, action_name
from jaxsolve.tree._infostates import Infostates
from jaxsolve.types import CHANCE


@dataclasses.dataclass
class StateTable:
    """World states of a game in breadth-first order (X states, n players).

    Attributes:
        game: the rules.
        parent: int32 [X], -1 for the initial state.
        action: int16 [X], the action that led here, -1 for the initial state.
        actor: int8 [X], player, CHANCE or TERMINAL.
        public: int32 [X], public state.
        infostate: int32 [X, n].
        chance: float64 [X], product of the chance probabilities on the path.
        terminal: int32 [Z], the terminal states.
        utility: float64 [Z, n], their payoffs.
        depth_start: int64 [D + 1], first state of each depth.
        infostates: per player.
        public_states: as `Infostates`, with the public entries only.
    """

    game: Game
    parent: np.ndarray
    action: np.ndarray
    actor: np.ndarray
    public: np.ndarray
    infostate: np.ndarray
    chance: np.ndarray
    terminal: np.ndarray
    utility: np.ndarray
    depth_start: np.ndarray
    infostates: tuple[Infostates, ...]
    public_states: Infostates

    @property
    def num_states(self) -> int:
        """X."""
        return len(self.parent)


def describe_path(game: Game, table: Any, index: int) -> str:
    """Returns the actions that lead to a state, e.g. "chance:0, p0:pass, p1:bet"."""
    words = []
    while table.parent[index] >= 0:
        up, action = int(table.parent[index]), int(table.action[index])
        actor = int(table.actor[up])
        who = "chance" if actor == CHANCE else f"p{actor}"
        words.append(f"{who}:{action_name(game, actor, action)}")
        index = up
    return ", ".join(reversed(words))
