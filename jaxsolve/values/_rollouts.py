"""Rollouts: values at a depth limit from sampled play.

From each state of the limit the rest of the game is played several times under every combination of
continuations; the mean payoff is an unbiased value. Modicum takes three a leaf (Brown, Sandholm and
Amos 2018, appendix A). `search.with_sampled_values` draws them anew at each iteration of a solve.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from jaxsolve.compiler import in_rows
from jaxsolve.tree import HistoryTree, Odds, Policy, PublicTree, history_tree, relaid
from jaxsolve.types import Array, PRNGKey, pytree
from jaxsolve.values._limit import DepthLimit


@pytree
@dataclasses.dataclass(frozen=True)
class Rollouts:
    """Draws values at a limit: a pytree that is a function of a key.

    Attributes:
        history: world states of the whole game.
        odds: of all children, for each combination of continuations [k_0 * ... * k_{n-1}, ...].
        leaf: int32 [L], world states at the limit.
        choices: (k_0, ..., k_{n-1}).
        count: rollouts of each value.
        steps: most moves from the limit to the end of the game.
    """

    history: HistoryTree
    odds: Odds
    leaf: Array
    choices: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    count: int = dataclasses.field(metadata={"static": True})
    steps: int = dataclasses.field(metadata={"static": True})

    def __call__(self, key: PRNGKey, index: Array | None = None) -> Array:
        """Returns float [L, k_0, ..., k_{n-1}, n], mean payoffs.

        Args:
            key: PRNG key.
            index: int32 [B], only these states of the limit, in this order; all by default.
        """
        start = self.leaf if index is None else self.leaf[index]
        keys = jax.random.split(key, math.prod(self.choices))
        means = jax.vmap(lambda odds, k: self._play(odds, start, k).mean(1))(self.odds, keys)
        return means.swapaxes(0, 1).reshape(len(start), *self.choices, -1)

    def _play(self, odds: Odds, start: Array, key: PRNGKey) -> Array:
        """Returns float [L, count, n], payoffs of plays from some states."""
        width = max(max(w) for w in self.history.widths)
        states = jnp.broadcast_to(start[:, None], (len(start), self.count))

        def move(step: Array, at: Array) -> Array:
            node = self.history.node(at)
            uniform = jax.random.uniform(
                jax.random.fold_in(key, step), at.shape, self.history.utility.dtype
            )
            child = node.first + odds.draw(node, width, uniform)
            return jnp.where(node.children > 0, child, at)

        states = jax.lax.fori_loop(0, self.steps, move, states)
        return self.history.utility[self.history.node(states).first]


def rollouts(
    tree: PublicTree,
    limit: DepthLimit,
    policies: Sequence[Policy],
    *,
    count: int = 3,
    player: int = 0,
    choosers: str = "opponent",
) -> Rollouts:
    """Returns what draws the values that `continuations` computes exactly.

    Args:
        tree: a compiled game.
        limit: of it.
        policies: continuations; the first is the blueprint.
        count: rollouts of each value.
        player: the searcher.
        choosers: "opponent" or "all".

    Raises:
        ValueError: `count` is not positive.
    """
    if count < 1:
        raise ValueError(f"a value needs at least 1 rollout, not {count}")
    tree = in_rows(tree)
    policies = [relaid(policy, tree) for policy in policies]
    history = history_tree(tree)
    n = tree.num_players
    who = [i for i in range(n) if choosers != "opponent" or i != player]
    given = [list(policies) if i in who else [policies[0]] for i in range(n)]
    combinations = [
        tuple(one.players[i] for i, one in enumerate(chosen))
        for chosen in itertools.product(*given)
    ]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *combinations)
    return Rollouts(
        history=history,
        odds=jax.vmap(history.odds)(stacked),
        leaf=jnp.asarray(limit.leaf, jnp.int32),
        choices=tuple(len(g) for g in given),
        count=count,
        steps=history.num_depths,
    )
