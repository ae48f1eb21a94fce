"""How the opponent comes to the roots of a tree of positions, and what a solver finds.

P re-solves, O is the opponent. Roots belong to classes J, O's infostates. Inside a class they are
as likely as chance and P made them. How likely a class is depends on the gadget:

    unsafe      share(J)
    resolve     share(J) enter(J): O enters, or stays out for the alternative value
    maxmargin   pick(J): O chooses the class where the value is largest above the alternative one
    both        m share(J) enter(J) + (1 - m) pick(J) with m the largest enter(J)

`enter` and `pick` are found by predictive regret matching+ along with the strategies. The last
gadget is that of Zhang and Sandholm 2025 (arXiv 2506.01242): where no class is worth entering it
maximises the smallest margin, and its reach need not sum to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

GADGETS = ("unsafe", "resolve", "maxmargin", "both")
"""In the order of the numbers that native code takes."""


class Roots(NamedTuple):
    """The roots of a tree (R of them, in J classes).

    Attributes:
        player: P, 0 or 1.
        gadget: one of `GADGETS`.
        node: int64 [R], their numbers.
        klass: int32 [R], the class of each.
        weight: float64 [R], reach by chance and P; sums to 1 in each class.
        alternative: float64 [J], what staying out pays O.
        share: float64 [J], how likely each class is; sums to 1.
    """

    player: int
    gadget: str
    node: np.ndarray
    klass: np.ndarray
    weight: np.ndarray
    alternative: np.ndarray
    share: np.ndarray


class Read(NamedTuple):
    """Strategies on N nodes and J classes.

    Attributes:
        current: float64 [N], probability of the edge above each node by the last strategies.
        average: float64 [N], the same by the averages of iterations since the tree last grew,
            weighted by their squares; by the last strategies where there is none.
        regret: float64 [N], of the action above each node; 0 where no player chose it.
        infoset: int32 [N], equal where an acting player cannot tell nodes apart, -1 elsewhere.
        enter: float64 [J], how likely O is to enter each class (`Roots`).
        pick: float64 [J], how likely O is to choose it for its margin.
        gain: float64 [J], what each class was worth to O above its alternative value.
    """

    current: np.ndarray
    average: np.ndarray
    regret: np.ndarray
    infoset: np.ndarray
    enter: np.ndarray
    pick: np.ndarray
    gain: np.ndarray


def single_root() -> Roots:
    """Returns the roots of a tree that begins with the initial state of a game."""
    one = np.ones(1)
    return Roots(0, "unsafe", np.zeros(1, np.int64), np.zeros(1, np.int32), one, 0 * one, one)
