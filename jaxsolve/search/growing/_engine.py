"""Trees that grow, as an engine of continual re-solving.

Source: Schmid et al. 2023 (Student of Games), "Modified continual re-solving". The public state at
which a player has to act need not be in the tree of their last search. The next search then starts
from the closest one that is, under the gadget; its tree opens the single branch that leads to where
they are, and grows below that only. What the opponent was promised is the mean of their
counterfactual values over the iterations of the last search.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.public import PublicState, PublicTable
from jaxsolve.search.growing._solve import Grown, begin, finish, growing_search, gt_cfr
from jaxsolve.search.growing._state import GrowingSearch, PriorFunction
from jaxsolve.search.resolving import BeliefSubgame, Below, Resolver, check_alpha
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import ValueFunction


class Branches(NamedTuple):
    """What the next search needs of a tree; fields as in `Growth` and `Grown`."""

    row: Array
    opened: Array
    inside: Array
    action_reach: Array
    child_values: Array
    store: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class GrowingEngine:
    """Searches by growing trees; see `search.resolving.SearchEngine`.

    Attributes:
        options: of each search.
        hands: H.
        longest_path: W.
    """

    options: GrowingSearch
    hands: int = dataclasses.field(metadata={"static": True})
    longest_path: int = dataclasses.field(metadata={"static": True})

    @property
    def tree_depth(self) -> int:
        """Decisions on the longest path of a game."""
        return int(self.options.model.depth)

    @property
    def random(self) -> bool:
        """Simulations are drawn."""
        return True

    @property
    def grows_at_focus(self) -> bool:
        """Trees grow below the focus only."""
        return True

    def key_of(self, level: PRNGKey, number: Array) -> PRNGKey:
        """See `SearchEngine`."""
        return jax.random.fold_in(level, number)

    def search(
        self,
        value: ValueFunction,
        prior: PriorFunction | None,
        subgame: BeliefSubgame,
        key: PRNGKey | None,
    ) -> Grown:
        """See `SearchEngine`."""
        if key is None:
            raise ValueError("growing searches draw where they go: give a key")
        return gt_cfr(
            self.options,
            value,
            subgame.root,
            subgame.ranges,
            key,
            gadget=subgame.gadget,
            path_to_focus=subgame.path_to_focus,
            prior=prior,
        )

    def tree(self, found: Grown) -> Branches:
        """See `SearchEngine`."""
        growth = found.growth
        return Branches(
            growth.row,
            growth.opened,
            growth.inside,
            found.action_reach,
            found.child_values,
            growth.store,
        )

    def blank(self, root: Any) -> Branches:
        """See `SearchEngine`."""

        def nothing() -> Branches:
            even = jnp.ones((2, self.hands))
            state, problem = begin(self.options, _no_value, root, even, None, None, None)
            return self.tree(finish(self.options, problem, state))

        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(nothing))

    def below(self, tree: Branches, at: Array, child: Array) -> Below:
        """See `SearchEngine`."""
        model = self.options.model
        transitions, row = model.transitions(tree.store), tree.row[at]
        source = transitions.parents_of[row, child]
        flat = tree.action_reach[at].reshape(2, 1, -1)
        return Below(
            inside=tree.inside[at, child],
            at=tree.opened[at, child],
            root=model.root_of(tree.store, transitions.child[row, child]),
            ranges=jnp.take_along_axis(flat, source, 2, mode="promise_in_bounds").sum(-1),
            values=tree.child_values[at, :, child],
        )

    def policy(self, found: Grown, at: Array) -> Array:
        """See `SearchEngine`."""
        return found.average[at]

    def status(self, found: Grown) -> Array:
        """See `SearchEngine`."""
        return found.status


def growing_resolver(
    table: PublicTable,
    solver: Solver,
    *,
    simulations: int,
    alpha: float | None = 0.5,
    batch: int = 16,
    **options: Any,
) -> Resolver[GrowingEngine]:
    """Returns the re-solving of a game by growing trees.

    Args:
        table: the public states.
        solver: variant of CFR.
        simulations: s, of each search.
        alpha: share of the gadget in the opponent's range, 0.5 in the paper; None for searches
            without a gadget.
        batch: searches side by side when a whole game is searched; 1 where the value function
            solves subgames.
        **options: further options of `growing_search`.

    Raises:
        ValueError: alpha is not in 0..1, or `growing_search` refuses an option.
    """
    check_alpha(alpha)
    if batch < 1:
        raise ValueError(f"batch must be positive, not {batch}")
    longest = max(table.depth - 1, 1)
    search = growing_search(
        table, solver, simulations=simulations, longest_path=table.depth - 1, **options
    )
    engine = GrowingEngine(search, table.num_hands, longest)
    return Resolver(
        game=table.game.name,
        table=table,
        engines=(engine,),
        engine_of=np.zeros(table.num_classes, int),
        root=jnp.int32(table.subgame_class[0]),
        alpha=alpha,
        batches=(batch,),
    )


def _no_value(public: PublicState, beliefs: Array) -> Array:
    """Stands for a value function that is never asked."""
    return jnp.zeros_like(beliefs)
