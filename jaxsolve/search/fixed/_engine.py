"""Search to a fixed depth as an engine of continual re-solving, and as a value function."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.public import Limit, PublicGame, PublicTable, no_limit
from jaxsolve.search.fixed._outlines import size_of
from jaxsolve.search.fixed._solve import Solution, policy_at, solve_belief
from jaxsolve.search.fixed._subgames import Subgames, subgames
from jaxsolve.search.resolving import BeliefSubgame, Below, Resolver, check_alpha
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, PRNGKey, pytree
from jaxsolve.values import Oracle, ValueFunction

BATCHES = (4, 16, 64, 256)
"""Numbers of searches side by side when a whole game is searched."""


@pytree
@dataclasses.dataclass(frozen=True)
class FixedEngine:
    """Searches to a depth limit; see `search.resolving.SearchEngine`.

    Attributes:
        games: the subgames.
        solver: variant of CFR.
        iterations: of each search.
        mean_values: the opponent is promised the mean of their values over the iterations, which
            the regrets of the search bound; otherwise what the average policies are worth, where
            values at the limit of hands that the opponent does not bring there are arbitrary.
        sampled: play and beliefs come from one random iteration, as in ReBeL; an iteration t is
            drawn with a chance in proportion to t.
        longest_path: W.
    """

    games: Subgames
    solver: Solver
    iterations: int = dataclasses.field(metadata={"static": True})
    mean_values: bool = dataclasses.field(metadata={"static": True})
    sampled: bool = dataclasses.field(metadata={"static": True})
    longest_path: int = dataclasses.field(metadata={"static": True})

    @property
    def hands(self) -> int:
        """H."""
        return int(self.games.content.possible.shape[-1])

    @property
    def tree_depth(self) -> int:
        """Public nodes on the longest path through a subgame."""
        return self.games.depth

    @property
    def random(self) -> bool:
        """Random iterations are drawn."""
        return self.sampled

    @property
    def grows_at_focus(self) -> bool:
        """Trees are those of their roots."""
        return False

    @property
    def step(self) -> None:
        """Searches go on where the last tree ended."""
        return None

    def key_of(self, level: PRNGKey, number: Array) -> PRNGKey:
        """See `SearchEngine`."""
        return jax.random.fold_in(jax.random.fold_in(level, 0), number)

    def search(
        self, value: ValueFunction | None, prior: Any, subgame: BeliefSubgame, key: PRNGKey | None
    ) -> Solution:
        """See `SearchEngine`; with a key the solver starts from random policies."""
        stop = None
        if self.sampled:
            if key is None:
                raise ValueError("sampled=True draws an iteration of each search: give a key")
            share = jnp.sqrt(jax.random.uniform(jax.random.fold_in(key, 1 << 31)))
            stop = jnp.ceil(share * self.iterations).astype(jnp.int32).clip(1)
        return solve_belief(
            self.games,
            value,
            self.solver,
            subgame.root,
            subgame.ranges,
            subgame.gadget,
            iterations=self.iterations,
            key=key,
            stop=stop,
            mean_values=self.mean_values,
        )

    def tree(self, found: Solution) -> Solution:
        """See `SearchEngine`."""
        return found._replace(reach=found.sampled) if self.sampled else found

    def blank(self, root: Array) -> Solution:
        """See `SearchEngine`."""
        game = self.games.at(root)
        each = tuple(
            jnp.zeros((p.num_sequences, self.hands), p.root_reach.dtype) for p in game.tree.players
        )
        both = (each[0], each[1])
        return Solution(both, both, both, game.nodes)

    def below(self, tree: Solution, at: Array, child: Array) -> Below:
        """See `SearchEngine`."""
        nodes = tree.nodes
        here = nodes.decision[at, child]
        local = jnp.maximum(here, 0)
        return Below(
            inside=here >= 0,
            at=jnp.where(nodes.frontier[local], -1, here),
            root=nodes.subgame_class[local],
            ranges=jnp.stack([tree.range_at(i, local) for i in range(2)]),
            values=jnp.stack([tree.value_at(i, local) for i in range(2)]),
        )

    def policy(self, found: Solution, at: Array) -> Array:
        """See `SearchEngine`."""
        return policy_at(found.nodes, self.tree(found).reach, at)

    def status(self, found: Solution) -> Array:
        """There is always room."""
        return jnp.zeros((), jnp.int32)


def fixed_resolver(
    table: PublicTable,
    limit: Limit,
    solver: Solver,
    *,
    iterations: int,
    alpha: float | None = 0.5,
    mean_values: bool = True,
    sampled: bool = False,
    grouped: bool = True,
) -> Resolver[FixedEngine]:
    """Returns the re-solving of a card game by searches to a depth limit.

    Args:
        table: the public states of a card game.
        limit: where searches end, counted from where they start.
        solver: variant of CFR.
        iterations: of each search.
        alpha: share of the gadget in the opponent's range, 0.5 in the papers; None for searches
            without a gadget.
        mean_values: see `FixedEngine`; of searches under a gadget.
        sampled: see `FixedEngine`; of searches without a gadget.
        grouped: subgames of similar size share a program; otherwise all share one, as agents need
            it.

    Raises:
        ValueError: the table is not that of a card game, alpha is not a share, or searches under a
            gadget are to play random iterations.
    """
    check_alpha(alpha)
    game = table.source
    if game is None:
        raise ValueError(
            f"{table.game.name} has other private information than the first deal; search it with "
            "trees that grow, search.growing_resolver"
        )
    if iterations < 1:
        raise ValueError(f"iterations must be positive, not {iterations}")
    if alpha is not None and sampled:
        raise ValueError("a gadget constrains the average policy: use sampled=True with alpha=None")
    # Each group is a program to compile, so sizes within one differ by up to a factor of four.
    size = np.array([size_of(game, int(r), limit).bit_length() // 2 for r in game.representative])
    sizes, engine_of = np.unique(size if grouped else 0 * size, return_inverse=True)
    engines = tuple(
        FixedEngine(
            subgames(game, limit, classes=np.flatnonzero(engine_of == k)),
            solver,
            iterations,
            mean_values and alpha is not None,
            sampled,
            table.depth,
        )
        for k in range(len(sizes))
    )
    root = jnp.int32(table.subgame_class[0])
    return Resolver(game.game.name, table, None, engines, engine_of, root, alpha, BATCHES)


def oracle(
    game: PublicGame,
    solver: Solver,
    *,
    iterations: int,
    classes: Any = None,
    limit: Limit = no_limit,
    value: ValueFunction | None = None,
) -> Oracle:
    """Returns the value function that solves each subgame to the end.

    Args:
        game: the public nodes.
        solver: variant of CFR.
        iterations: of each subgame, from scratch at every call.
        classes: those that occur at leaves; all by default.
        limit: of the inner search, with `value` below it.
        value: worth of the inner search's leaves.
    """
    inner = subgames(game, limit, classes=classes)
    solve = functools.partial(_root_values, iterations=iterations)
    return Oracle(
        jax.tree_util.Partial(solve, inner, value, solver), game.game.name, game.num_classes
    )


def _root_values(
    games: Subgames,
    value: ValueFunction | None,
    solver: Solver,
    subgame_class: Array,
    beliefs: Array,
    *,
    iterations: int,
) -> Array:
    """Returns float [2, H], counterfactual values at the root of a subgame."""
    found = solve_belief(games, value, solver, subgame_class, beliefs, iterations=iterations)
    return jnp.stack([found.value_at(i, jnp.int32(0)) for i in range(2)])
