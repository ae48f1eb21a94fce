"""Maps of Scotland Yard: which stations are joined, by what, and how a game starts on them.

"glasses" is the map of Schmid et al. 2023 (Student of Games), figure S3, with taxis only. "london"
is the board of the game: 199 stations, their connections in `scotland_yard_london.csv`; a fourth
ticket, black, goes along any connection, ferries included.
"""

from __future__ import annotations

import csv
import functools
import pathlib
from typing import Any, NamedTuple

import numpy as np

GLASSES = (
    *((1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6)),
    *((6, 7), (7, 8), (7, 9), (8, 10), (9, 10), (10, 11)),
)

LONDON_STARTS = (35, 45, 51, 71, 78, 104, 106, 127, 132, 146, 166, 170, 172)
"""Stations on the starting cards of Mr X."""


class Map(NamedTuple):
    """A map and how a game starts on it (K kinds of tickets).

    Attributes:
        edges: per kind of ticket, pairs of stations.
        kinds: names of the tickets.
        evader: stations at which Mr X may start.
        detectives: stations of the detectives.
        rounds: moves of Mr X.
        reveals: after which of them Mr X shows where he is.
        tickets: of each detective, by kind.
        evader_tickets: of Mr X, by kind.
        doubles: double moves of Mr X.
    """

    edges: tuple[tuple[tuple[int, int], ...], ...]
    kinds: tuple[str, ...]
    evader: tuple[int, ...]
    detectives: tuple[int, ...]
    rounds: int
    reveals: tuple[int, ...]
    tickets: tuple[int, ...]
    evader_tickets: tuple[int, ...]
    doubles: int

    def with_(self, **changes: Any) -> Map:
        """Returns the map with what is not None put in the place of its own."""
        return self._replace(**{k: v for k, v in changes.items() if v is not None})

    @property
    def num_stations(self) -> int:
        """The largest number of a station."""
        return max(max(pair) for kind in self.edges for pair in kind)

    def joined(self) -> np.ndarray:
        """Returns bool [K, stations, stations], symmetric; station n is number n - 1."""
        out = np.zeros((len(self.edges), self.num_stations, self.num_stations), bool)
        for k, pairs in enumerate(self.edges):
            a, b = np.array(pairs).reshape(-1, 2).T - 1
            out[k, a, b] = out[k, b, a] = True
        return out


@functools.cache
def named_map(name: str) -> Map:
    """Returns the map "glasses" or "london"."""
    if name == "glasses":
        return taxi_map(GLASSES, (6,), (1, 11), 5)
    kinds = ("taxi", "bus", "underground")
    pairs: dict[str, list[tuple[int, int]]] = {}
    with pathlib.Path(__file__).with_name("scotland_yard_london.csv").open() as file:
        for row in csv.DictReader(file):
            pairs.setdefault(row["transport"], []).append(
                (int(row["station_a"]), int(row["station_b"]))
            )
    everything = tuple(sorted({pair for kind in pairs.values() for pair in kind}))
    return Map(
        edges=(*(tuple(pairs[kind]) for kind in kinds), everything),
        kinds=(*kinds, "black"),
        evader=LONDON_STARTS,
        detectives=(26, 29, 50, 53, 91),
        rounds=24,
        reveals=(3, 8, 13, 18, 24),
        tickets=(10, 8, 4, 0),
        evader_tickets=(4, 3, 3, 5),
        doubles=2,
    )


def taxi_map(
    edges: tuple[tuple[int, int], ...],
    evader: tuple[int, ...],
    detectives: tuple[int, ...],
    rounds: int,
) -> Map:
    """Returns a map with taxis only and a ticket for every round."""
    return Map((edges,), ("taxi",), evader, detectives, rounds, (), (rounds,), (rounds,), 0)
