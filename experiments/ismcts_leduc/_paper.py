"""Table S5 of the paper, and the order of its columns."""

from __future__ import annotations

POLICIES = ("visits", "max_visits", "max_value")
"""How a search becomes a policy; the paper's mvd, mvis and mval."""

PAPER: dict[tuple[int, float], tuple[int, int, int]] = {
    (10, 1.0): (2168, 2449, 2173),
    (10, 2.0): (2058, 2408, 2341),
    (10, 5.0): (1902, 2615, 2517),
    (10, 10.0): (1738, 2555, 2360),
    (10, 13.0): (1799, 2517, 2598),
    (10, 20.0): (1821, 2830, 2349),
    (10, 26.0): (1888, 2861, 2669),
    (100, 1.0): (1489, 1509, 1333),
    (100, 2.0): (1404, 1587, 1395),
    (100, 5.0): (1239, 1145, 1094),
    (100, 10.0): (1213, 1195, 1245),
    (100, 13.0): (1218, 1292, 1227),
    (100, 20.0): (1350, 1456, 1342),
    (100, 26.0): (1448, 1747, 1568),
    (1000, 1.0): (1323, 1218, 1177),
    (1000, 2.0): (1069, 1212, 864),
    (1000, 5.0): (699, 778, 681),
    (1000, 10.0): (697, 601, 632),
    (1000, 13.0): (741, 759, 744),
    (1000, 20.0): (859, 962, 991),
    (1000, 26.0): (966, 1029, 1057),
    (10000, 1.0): (1348, 948, 1134),
    (10000, 2.0): (911, 877, 763),
    (10000, 5.0): (516, 582, 538),
    (10000, 10.0): (490, 485, 480),
    (10000, 13.0): (511, 465, 470),
    (10000, 20.0): (572, 505, 505),
    (10000, 26.0): (631, 575, 570),
}
"""mbb/h by (simulations, UCT constant), in the order of `POLICIES`; means over five policies."""

BEST = 465
"""The least of them, mbb/h."""


def paper(simulations: int, uct_c: float, policy: str) -> int | None:
    """Returns the paper's figure in mbb/h, None where it has none."""
    line = PAPER.get((simulations, uct_c))
    return None if line is None else line[POLICIES.index(policy)]
