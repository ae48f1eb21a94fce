"""How a game is re-solved, but for the value function: engines, and the rules of re-solving."""

from __future__ import annotations

import dataclasses
from typing import Generic, TypeVar

import numpy as np

from jaxsolve.public import Described, PublicModel, PublicTable
from jaxsolve.search.resolving._machine import SearchEngine
from jaxsolve.types import PyTree

E = TypeVar("E", bound=SearchEngine)


@dataclasses.dataclass(frozen=True, eq=False)
class Resolver(Generic[E]):
    """How a game is re-solved, but for the value function.

    Attributes:
        game: its string.
        table: its public states; None where the rules are all there is.
        model: what trees grow into; None where searches have subgames of their own.
        engines: each searches subgames of similar size, in a program of its own.
        engine_of: int [K], which engine searches each subgame class; all 0 if there is one.
        root: the first public state; see `BeliefSubgame`.
        alpha: share of the gadget in the opponent's range; None for searches without a gadget,
            whose ranges are both those of the search before (Brown et al. 2020, ReBeL).
        batches: numbers of searches side by side when a whole game is searched, ascending.
    """

    game: str
    table: PublicTable | None
    model: PublicModel | None
    engines: tuple[E, ...]
    engine_of: np.ndarray
    root: PyTree
    alpha: float | None
    batches: tuple[int, ...]

    @property
    def states(self) -> Described:
        """What value functions are checked against."""
        states = self.table if self.model is None else self.model
        assert states is not None
        return states

    @property
    def engine(self) -> E:
        """The only engine.

        Raises:
            ValueError: there are several, so that no single program searches every subgame.
        """
        if len(self.engines) > 1:
            raise ValueError(
                f"the subgames of {self.game} are searched by {len(self.engines)} programs, and an "
                "agent needs one: make the resolver with grouped=False"
            )
        return self.engines[0]


def check_alpha(alpha: float | None) -> None:
    """Raises ValueError where a share of the gadget is not one."""
    if alpha is not None and not 0 <= alpha <= 1:
        raise ValueError(f"alpha is a share between 0 and 1, not {alpha}")
