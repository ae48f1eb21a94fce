"""Safe roots: hands that may stay out of a spot, for what an earlier solution promised them.

A player P who solves a spot again, with a guess of the other player O's range, may lose what the
first solution had won. It does not if each of O's hands gets, where the spot begins, the choice to
take what it had in the first solution: then P's new strategy gives no hand more than that (Burch,
Johanson and Bowling 2014; Moravcik et al. 2017). With what O gave up on the way added, hands may
get that much more (Brown and Sandholm 2017).

Where hands were promised more than they can get, all of them stay out, and nothing says how P
should play. With a belief there are two copies of each hand, one that has the choice and one that
comes as P believes: P then plays best against the belief among the strategies that keep the
promises, as far as the weight of the choices enforces them.
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
        belief: float [1326], weights of hands that come without a choice, in the units of the
            player's range in the spot, which are the weights of those that have one; None for
            none.
    """

    player: int
    values: np.ndarray
    belief: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.player not in (0, 1):
            raise ValueError(f"a player is 0 (oop) or 1 (ip), not {self.player!r}")
        for name, array in zip(("values", "weights of a belief"), self.arrays, strict=False):
            if np.shape(array) != (NUM_HANDS,):
                raise ValueError(f"{name} are [{NUM_HANDS}], not {list(np.shape(array))}")
        if self.belief is not None and not (np.isfinite(self.belief) & (self.belief >= 0)).all():
            raise ValueError("a belief has weights of 0 and more")

    @property
    def arrays(self) -> list[np.ndarray]:
        """Values, and the belief if there is one."""
        return [self.values] if self.belief is None else [self.values, self.belief]


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


def coming(spot: SpotTree, root: SafeRoot) -> np.ndarray:
    """Returns float32 [H], reach of the player's hands in a spot that have no choice.

    Raises:
        ValueError: the belief has a hand that the range does not have.
    """
    has = spot.ranges[root.player] > 0
    belief = np.zeros(NUM_HANDS) if root.belief is None else np.asarray(root.belief)
    if (belief[~has] > 0).any():
        name, extra = PLAYERS[root.player], int((belief[~has] > 0).sum())
        raise ValueError(f"{extra} hands of the belief are not in the range of {name}")
    return belief[has].astype(np.float32)
