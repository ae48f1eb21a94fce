"""Outcome sampling: one trajectory, importance-weighted (Lanctot et al. 2009, section 3.1).

Chance and the other players act by their distributions, the updating player explores: q = (1 -
epsilon) sigma + epsilon uniform. With q(z) the product of q over the player's own actions on the
way to the terminal state z, the sampled counterfactual value of an own action a in h is

    v(h, a) = u(z) sigma(h a -> z) / q(z)   if the trajectory takes it, else 0,

where sigma(h a -> z) is the product of the player's own probabilities after h. The probabilities
of chance and the others cancel, because they are sampled as they play.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.solvers.sampling._shared import action_values, bound, check_rules, draws
from jaxsolve.tree import Blocks, HistoryTree, Odds, PublicTree, history_tree, take
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class OutcomeSampling:
    """Estimates counterfactual values from B independent trajectories.

    Attributes:
        epsilon: how much the updating player explores, in (0, 1].
        seed: of all keys.
        batch: B.
        history: the states of the game, None until `bind`.
    """

    epsilon: Any
    seed: Any
    batch: int = dataclasses.field(metadata={"static": True})
    history: HistoryTree | None = None

    def bind(self, tree: PublicTree) -> OutcomeSampling:
        """Returns the sampler of a game."""
        check_rules(tree)
        return dataclasses.replace(self, history=history_tree(tree))

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        policy: Sequence[Blocks],
        reach: Sequence[Array],
        iteration: Array,
    ) -> tuple[Blocks, Array]:
        """See `Sampler`."""
        history = bound(self.history)
        odds = history.odds(policy)
        start = history.start(policy, player)
        shape = (self.batch, history.num_depths - 1)
        uniform = draws(self.seed, iteration, player, shape, odds.each)
        seen = jax.vmap(lambda u: outcome(history, odds, player, self.epsilon, u))(uniform)
        index = jnp.where(seen.position < 0, -1, seen.position - start)
        values = action_values(tree.players[player], index, seen.value / self.batch)
        return values, seen.nodes.sum().astype(jnp.uint32)


class Trajectory(NamedTuple):
    """One trajectory (D - 1 steps).

    Attributes:
        position: int32 [D - 1], of the own action in `Odds`, -1 where another
            acted or the game was over.
        value: float [D - 1], its sampled counterfactual value.
        nodes: int32 [], states on the way, the first and the last included.
        end: int32 [], the terminal state.
    """

    position: Array
    value: Array
    nodes: Array
    end: Array


def outcome(
    history: HistoryTree, odds: Odds, player: int, epsilon: Any, uniform: Array
) -> Trajectory:
    """Returns one sampled trajectory and what its own actions are worth.

    Args:
        history: states.
        odds: probabilities of all children (`HistoryTree.odds`).
        player: who updates and explores.
        epsilon: exploration.
        uniform: float [D - 1], numbers in [0, 1), one for each step.
    """
    width = max(max(w) for w in history.widths) or 1
    tiny = jnp.finfo(uniform.dtype).tiny

    def step(state: Array, draw: Array) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        node = history.node(state)
        own = node.actor == player
        alive = node.children > 0
        count = jnp.maximum(node.children, 1)
        # Exploring is playing uniformly with probability epsilon: its share of the numbers in
        # [0, 1) is the first, stretched to [0, 1), and so is the rest for the policy.
        explores = own & (draw < epsilon)
        rest = jnp.where(own, (draw - epsilon) / jnp.maximum(1 - epsilon, tiny), draw)
        on_policy = odds.draw(node, width, rest)
        even = (draw / jnp.maximum(epsilon, tiny) * count).astype(jnp.int32)
        k = jnp.minimum(jnp.where(explores, even, on_policy), count - 1)
        at = node.base + k * node.stride
        p = take(odds.each, at)
        q = (1 - epsilon) * p + epsilon / count
        played, drawn = jnp.where(own, p, 1), jnp.where(own, q, 1)
        below = jnp.where(alive, node.first + k, state)
        return below, (jnp.where(own, at, -1), played, drawn, alive)

    end, (position, played, drawn, alive) = jax.lax.scan(step, jnp.int32(0), uniform)
    utility = history.utility[history.node(end).first, player]
    # tail[t]: own probability of everything after step t.
    after = jnp.cumprod(played[::-1])[::-1]
    tail = jnp.concatenate([after[1:], jnp.ones_like(after[:1])])
    value = utility * tail / drawn.prod()
    return Trajectory(position, value, alive.sum() + 1, end)
