"""Trees that grow, as an engine of continual re-solving.

Source: Schmid et al. 2023 (Student of Games), "Modified continual re-solving". The public state at
which a player has to act need not be in the tree of their last search. The next search then starts
from the closest one that is, under the gadget; its tree opens the single branch that leads to where
they are, and grows below that only. What the opponent was promised is the mean of their
counterfactual values over the iterations of the last search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.public import PublicModel, PublicState, PublicTable, RulesModel, listed_model
from jaxsolve.search.growing._solve import Grown, begin, finish, growing_search, gt_cfr
from jaxsolve.search.growing._state import GrowingSearch, PriorFunction
from jaxsolve.search.resolving import BeliefSubgame, Below, Resolver, check_alpha
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, PRNGKey, pytree
from jaxsolve.values import ValueFunction


class Branches(NamedTuple):
    """What the next search needs of a tree; other fields are as in `Growth` and `Grown`.

    Where nothing is hidden it needs no public states: it makes the next one of the current one.
    What a model keeps of them takes most of a tree, in chess 140 MB for ten simulations.

    Attributes:
        reach: `action_reach`; where nothing is hidden, float [I, C, 2, 1], own reaches of children.
        row: None where nothing is hidden.
        store: likewise.
    """

    opened: Array
    inside: Array
    child_values: Array
    reach: Array
    row: Array | None
    store: Any


@pytree
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
        return self.options.model.depth

    @property
    def random(self) -> bool:
        """Simulations are drawn."""
        return True

    @property
    def grows_at_focus(self) -> bool:
        """Trees grow below the focus only."""
        return True

    @property
    def step(self) -> Callable[[Any, Array], Any] | None:
        """Where nothing is hidden."""
        return self._child if self.hands == 1 else None

    def _child(self, root: Any, child: Array) -> Any:
        model, zero = self.options.model, jnp.zeros((), jnp.int32)
        store, public = model.start(root, 1, jnp.zeros(()).dtype)
        store, row = model.open(store, public, zero, jnp.bool_(True))
        return model.root_of(store, model.transitions(store).child[row, child])

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
        growth, reach = found.growth, found.action_reach
        each = growth.opened, growth.inside, found.child_values
        if self.step is None:
            return Branches(*each, reach, growth.row, growth.store)
        source = self.options.model.transitions(growth.store).parents_of[growth.row]
        return Branches(*each, jax.vmap(_summed, (0, 0))(reach, source), None, None)

    def blank(self, root: Any) -> Branches:
        """See `SearchEngine`."""

        def nothing() -> Branches:
            state, problem = self._begun(root)
            return self.tree(finish(self.options, problem, state))

        return jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(nothing))

    def search_bytes(self, root: Any) -> int:
        """Returns the bytes that one search keeps, without what a value function prepares."""
        state = jax.eval_shape(lambda: self._begun(root)[0])
        return sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(state))

    def _begun(self, root: Any) -> tuple[Any, Any]:
        even = jnp.ones((2, self.hands))
        return begin(self.options, _no_value, root, even, None, None, None)

    def below(self, tree: Branches, at: Array, child: Array) -> Below:
        """See `SearchEngine`."""
        if tree.row is None:
            ranges, root = tree.reach[at, child], None
        else:
            model = self.options.model
            transitions, row = model.transitions(tree.store), tree.row[at]
            ranges = _summed(tree.reach[at], transitions.parents_of[row, child])
            root = model.root_of(tree.store, transitions.child[row, child])
        return Below(
            inside=tree.inside[at, child],
            at=tree.opened[at, child],
            root=root,
            ranges=ranges,
            values=tree.child_values[at, :, child],
        )

    def policy(self, found: Grown, at: Array) -> Array:
        """See `SearchEngine`."""
        growth = found.growth
        legal = self.options.model.transitions(growth.store).legal[growth.row[at]]
        order = jnp.argsort(~legal, axis=0, stable=True)
        return jnp.take_along_axis(found.average[at], order, 0)

    def status(self, found: Grown) -> Array:
        """See `SearchEngine`."""
        return found.status


def growing_resolver(
    model: PublicTable | PublicModel,
    solver: Solver,
    *,
    simulations: int,
    root: Any = None,
    table: PublicTable | None = None,
    alpha: float | None = 0.5,
    batch: int = 16,
    wait: int | None = None,
    **options: Any,
) -> Resolver[GrowingEngine]:
    """Returns the re-solving of a game by growing trees.

    Args:
        model: the public states: a table of them, or what trees grow into
            (`public.rules_model`).
        solver: variant of CFR.
        simulations: s, of each search.
        root: the first public state of a model; that of a table is known.
        table: of a model's public states, for `resolve_game`, where they can be listed; private
            states must have the same numbers in both.
        alpha: share of the gadget in the opponent's range, 0.5 in the paper; None for searches
            without a gadget.
        batch: searches side by side when a whole game is searched; 1 where the value function
            solves subgames.
        wait: public states at most from a player's decision to their next, or before their first;
            the model's by default. Matches that begin with random moves may need more.
        **options: further options of `growing_search`.

    Raises:
        ValueError: alpha is not in 0..1, a model without its root, a table of another game, or
            `growing_search` refuses an option.
    """
    check_alpha(alpha)
    if batch < 1:
        raise ValueError(f"batch must be positive, not {batch}")
    if wait is not None and wait < 1:
        raise ValueError(f"wait must be positive, not {wait}")
    if isinstance(model, PublicTable):
        table, root, model = model, jnp.int32(model.subgame_class[0]), listed_model(model)
    game = model.format.game
    if root is None:
        raise ValueError(f"give the first public state of {game} as root=; rules_model returns it")
    if table is not None and table.game.name != game:
        raise ValueError(f"the table lists public states of {table.game.name}, not of {game}")
    if table is not None and isinstance(model, RulesModel):
        model = model.numbered_as(table)
    longest = min(model.wait if wait is None else wait, model.depth - 1)
    search = growing_search(model, solver, simulations=simulations, longest_path=longest, **options)
    engine = GrowingEngine(search, max(model.hands), max(longest, 1))
    classes = 0 if table is None else table.num_classes
    every = np.zeros(classes, int)
    return Resolver(game, table, model, (engine,), every, root, alpha, (batch,))


def _summed(action_reach: Array, source: Array) -> Array:
    """Returns float [..., 2, H], own reaches at children, of those of actions [2, A + 1, H].

    Args:
        action_reach: of a public state.
        source: int32 [..., 2, H, M], codes of the pairs that lead to each private state.
    """
    flat = action_reach.reshape(2, -1)
    return flat[jnp.arange(2)[:, None, None], source].sum(-1)


def _no_value(public: PublicState, beliefs: Array) -> Array:
    """Stands for a value function that is never asked."""
    return jnp.zeros_like(beliefs)
