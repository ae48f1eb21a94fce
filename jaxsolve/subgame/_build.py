"""From places, a blueprint and options to a forest of subgames under a gadget."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from jaxsolve.evaluate import realization
from jaxsolve.subgame._alternative import Base, class_values, gifts
from jaxsolve.subgame._core import Core, core
from jaxsolve.subgame._gadgets import GADGETS, SAFE_GADGETS, GadgetForm, unsafe
from jaxsolve.subgame._index import GameIndex
from jaxsolve.subgame._roots import SubgameRoots
from jaxsolve.subgame._transpositions import merged
from jaxsolve.types import Array

ALTERNATIVES = ("exact", "estimate")


class Noise(NamedTuple):
    """Uncertain alternative values, of which O sees the outcome and P does not.

    Each value is normal around what it was, cut into equally likely outcomes.

    Attributes:
        deviation: standard deviation, in the game's units.
        outcomes: how many.
        key: PRNG key, of how outcomes of different classes go together.
    """

    deviation: float
    outcomes: int
    key: Array


@dataclasses.dataclass(frozen=True)
class GadgetOptions:
    """How subgames are made safe.

    Attributes:
        gadget: "unsafe", "resolve" or "maxmargin".
        alternative: "exact", the value of O's best response to the blueprint; "estimate", the value
            of the blueprint's own O; or float [M], O's value of each class in the game's units.
        reach: "exact" or "estimate": raise alternative values by what O gave up above the class;
            None does not raise them.
        noise: distributional alternative values; None for certain ones.
        merge_transpositions: keep one of several classes whose futures look alike (k = 1).
        key: PRNG key, of which one is kept; the first by default.
    """

    gadget: str = "maxmargin"
    alternative: str | np.ndarray = "exact"
    reach: str | None = None
    noise: Noise | None = None
    merge_transpositions: bool = False
    key: Array | None = None

    def check(self) -> None:
        """Raises a ValueError where an option is not one of the choices."""
        if self.gadget not in GADGETS:
            raise ValueError(f"gadget must be one of {', '.join(GADGETS)}; got {self.gadget!r}")
        if isinstance(self.alternative, str) and self.alternative not in ALTERNATIVES:
            raise ValueError(
                f"alternative must be an array or one of {', '.join(ALTERNATIVES)}; got "
                f"{self.alternative!r}"
            )
        if self.reach is not None and self.reach not in ALTERNATIVES:
            raise ValueError(
                f"reach must be None or one of {', '.join(ALTERNATIVES)}; got {self.reach!r}"
            )
        if self.noise is not None and (self.noise.deviation < 0 or self.noise.outcomes < 1):
            raise ValueError(
                f"noise needs deviation >= 0 and outcomes >= 1, not {self.noise.deviation} and "
                f"{self.noise.outcomes}"
            )

    @property
    def needs_opponent(self) -> bool:
        """Whether O's part of the blueprint is used."""
        estimated = isinstance(self.alternative, str) and self.alternative == "estimate"
        return self.gadget == "unsafe" or estimated or self.reach == "estimate"


class Built(NamedTuple):
    """Subgames under a gadget.

    Attributes:
        core: without the gadget.
        gadget: with it.
        alternative: float64 [M], alternative values to P in the units of the core; 0 in unsafe
            subgames, which have none.
    """

    core: Core
    gadget: GadgetForm
    alternative: np.ndarray

    @property
    def unit(self) -> np.ndarray:
        """float64 [B], how much larger payoffs of each subgame are than those of the game.

        Where P's part of a class is small, what stays fixed beside it is large in its units, and a
        tolerance must be, too. 1 with common knowledge.
        """
        out = np.zeros(self.core.where.count)
        scale = self.gadget.scale * self.core.copies
        np.maximum.at(out, self.core.class_of, scale * self.core.whole)
        return np.maximum(out, 1)


def build(index: GameIndex, where: SubgameRoots, base: Base, options: GadgetOptions) -> Built:
    """Returns the forest of some subgames, all of them reached.

    Raises:
        ValueError: an option makes no sense, or alternative values have the wrong shape.
    """
    options.check()
    if options.merge_transpositions:
        where = merged(index, where, options.key)
    copies = options.noise.outcomes if options.noise is not None else 1
    made = core(index, where, base.plan, copies=copies)
    if options.gadget == "unsafe":
        theirs = index.seats[1 - where.player]
        arrival = realization(theirs.rows, base.answer)[theirs.before[where.classes]]
        gadget = unsafe(made, np.repeat(arrival, copies))
        return Built(made, gadget, np.zeros(len(made.weight)))
    alternative = _alternative(index, made, base, options)
    share = np.full(len(made.weight), 1 / copies)
    gadget = SAFE_GADGETS[options.gadget](made, alternative, share)
    return Built(made, gadget, alternative)


def _alternative(index: GameIndex, made: Core, base: Base, options: GadgetOptions) -> np.ndarray:
    given = options.alternative
    if isinstance(given, str):
        value = class_values(made, base, given)
    else:
        array = np.asarray(given, np.float64)
        need = (len(made.weight) // made.copies,)
        if array.shape != need:
            raise ValueError(
                f"alternative values have shape {array.shape}; the subgames at "
                f"{', '.join(made.where.name[:3])} have {need[0]} classes of the opponent and need "
                f"{need}"
            )
        value = -np.repeat(array, made.copies) * made.weight
    if options.reach is not None:
        value = value - gifts(index, made, base, options.reach)
    if options.noise is not None:
        value = value - _noise(made, options.noise) * made.weight
    return value


def _noise(made: Core, noise: Noise) -> np.ndarray:
    """Returns float64 [M], what is added to O's values; the copies of a class are its outcomes."""
    from scipy.special import ndtri  # here: importing it takes a quarter of a second

    n = noise.outcomes
    points = noise.deviation * ndtri((np.arange(n) + 0.5) / n)
    order = jax.vmap(lambda c: jax.random.permutation(jax.random.fold_in(noise.key, c), n))
    return points[np.asarray(order(made.where.classes))].reshape(-1)
