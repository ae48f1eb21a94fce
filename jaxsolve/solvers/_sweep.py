"""Leaf operators that also do whole iterations of both players in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from jaxsolve.regret import Coefficients
from jaxsolve.tree import Blocks, PublicTree
from jaxsolve.types import Array


class Sweep(Protocol):
    """Iterations of regret matching for one tree, both players in turn."""

    def fits(self, tree: PublicTree) -> bool:
        """Returns whether this was made for a tree of these shapes, dtypes and locks."""
        ...

    def with_scale(self, scale: Array) -> Sweep:
        """Returns the iterations of the tree with every payoff multiplied by `scale`."""
        ...

    def __call__(
        self,
        tree: PublicTree,
        coefficients: Coefficients,
        share: Array,
        regrets: Sequence[Blocks],
        policies: Sequence[Blocks],
        averages: Sequence[tuple[Array, Array]],
    ) -> tuple[list[Blocks], list[Blocks], list[tuple[Array, Array]]]:
        """Does K iterations, in each of which player 0 updates first.

        Args:
            tree: one that it fits.
            coefficients: of the regret updates, each float [K].
            share: float [K], weight of each iteration in the average policy that it ends.
            regrets: per player, cumulative regrets by block.
            policies: per player, the policy of the next iteration by block.
            averages: per player, (mean, lost) of `Mean`.

        Returns:
            (regrets, policies, averages) after the K iterations.
        """
        ...

    def payoffs(self, tree: PublicTree, means: Sequence[Array]) -> tuple[Array, Array]:
        """Measures average policies.

        Args:
            tree: one that it fits.
            means: per player, `Mean.mean` of at least one iteration.

        Returns:
            (payoffs [2], what a best response of each player adds to them [2]).
        """
        ...


@runtime_checkable
class HasSweep(Protocol):
    """A leaf operator that may do whole iterations where it is the only one of its tree."""

    @property
    def sweep(self) -> Sweep | None:
        """The iterations, None where the tree has a shape that they cannot take."""
        ...
