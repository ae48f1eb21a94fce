"""Safe roots: hands that may stay out of a spot, for what an earlier solution promised them.

A player P who solves a spot again, with a guess of the other player O's range, may lose what the
first solution had won. It does not if each of O's hands gets, where the spot begins, the choice to
take what it had in the first solution: then P's new strategy gives no hand more than that (Burch,
Johanson and Bowling 2014; Moravcik et al. 2017). With what O gave up on the way added, hands may
get that much more (Brown and Sandholm 2017).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxsolve.holdem._boards import compatible
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._sizes import PLAYERS

if TYPE_CHECKING:
    from jaxsolve.holdem._spot_tree import SpotTree


@dataclasses.dataclass(frozen=True, eq=False)
class SafeRoot:
    """What hands get for staying out of a spot.

    Attributes:
        player: who may stay out, 0 (oop) or 1 (ip); the other one is who is safe.
        values: float [1326], chips that each hand wins on the average against the hands that it can
            meet, the pot included, as `NodeReport.value`.
    """

    player: int
    values: np.ndarray

    def __post_init__(self) -> None:
        if self.player not in (0, 1):
            raise ValueError(f"a player is 0 (oop) or 1 (ip), not {self.player!r}")
        if np.shape(self.values) != (NUM_HANDS,):
            raise ValueError(f"values are [{NUM_HANDS}], not {list(np.shape(self.values))}")


def staying_out(spot: SpotTree, root: SafeRoot) -> np.ndarray:
    """Returns float32 [H], counterfactual values of staying out, of the player's hands in a spot.

    Raises:
        ValueError: a hand of the player has no value.
    """
    own = np.flatnonzero(spot.ranges[root.player] > 0)
    value = np.asarray(root.values, np.float64)[own]
    if not np.isfinite(value).all():
        name = PLAYERS[root.player]
        raise ValueError(f"{int((~np.isfinite(value)).sum())} hands of {name} have no value")
    theirs = spot.ranges[1 - root.player][spot.hands].astype(np.float64)
    scale = spot.ranges[0][spot.hands] @ compatible(spot.hands) @ spot.ranges[1][spot.hands]
    weight = (compatible(spot.hands) @ theirs)[np.searchsorted(spot.hands, own)]
    chips = value - float(spot.betting.spent[0, root.player])
    return (chips * weight / scale).astype(np.float32)
