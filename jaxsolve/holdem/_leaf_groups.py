"""What the ends of the betting pay, in chips."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxsolve.holdem._betting_tree import BettingTree, Kind
from jaxsolve.holdem._payoffs import Pays


class Rake(NamedTuple):
    """What the house takes of a pot.

    Attributes:
        share: of the pot.
        cap: largest rake in chips.
    """

    share: float = 0.0
    cap: float = np.inf

    def of(self, pot: np.ndarray) -> np.ndarray:
        """Returns the rake in chips of pots in chips."""
        return np.minimum(self.share * pot, self.cap)


class LeafGroup(NamedTuple):
    """Leaves of one street that pay in one way (T betting nodes).

    Attributes:
        pays: for what.
        street: theirs.
        nodes: int [T].
        amount: float [T, 2], chips of each player.
    """

    pays: Pays
    street: int
    nodes: np.ndarray
    amount: np.ndarray


def leaf_groups(betting: BettingTree, streets: int, rake: Rake) -> list[LeafGroup]:
    """Returns the leaves of each of the streets, by what they pay for."""
    groups = []
    matched = betting.spent.min(1)
    taken = rake.of(2 * matched)
    for street in range(streets):
        on_street = betting.street == street
        folded = np.flatnonzero(on_street & (betting.kind == Kind.FOLDED))
        shown = np.flatnonzero(
            on_street & ((betting.kind == Kind.SHOWDOWN) | (betting.kind == Kind.ALL_IN))
        )
        gain = np.repeat(-matched[folded, None].astype(float), 2, 1)
        winner = 1 - betting.actor[betting.parent[folded]]
        gain[np.arange(len(folded)), winner] = (matched - taken)[folded]
        always, chips = folded, gain
        if rake.share > 0:  # of a showdown: either player pays half of the rake in any case
            always = np.concatenate([folded, shown])
            chips = np.concatenate([gain, np.repeat(-taken[shown, None] / 2, 2, 1)])
        last = street + 1 == streets
        for kind, nodes, amount in (
            (Pays.COMPATIBLE, always, chips),
            (
                Pays.SHOWDOWN if last else Pays.ALL_IN,
                shown,
                np.repeat((matched - taken / 2)[shown, None], 2, 1),
            ),
        ):
            if len(nodes):
                groups.append(LeafGroup(kind, street, nodes, amount))
    return groups
