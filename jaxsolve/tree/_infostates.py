"""Infostates of a player, or public states, as a tree of observations."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass
class Infostates:
    """Every infostate of one player (or every public state), as a tree of observations.

    Attributes:
        parent: int32 [I], the infostate before; -1 for the first.
        action: int32 [I], the player's own action in between, -1 if none.
        observation: int32 [I, k], what was seen: public entries, then private ones.
        key: the string of each infostate in the program it was imported from; None where the
            entries above are all there is.
        name: the same for people.
    """

    parent: np.ndarray
    action: np.ndarray
    observation: np.ndarray
    key: tuple[str, ...] | None = None
    name: tuple[str, ...] | None = None
