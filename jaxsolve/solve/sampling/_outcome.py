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

from jaxsolve.solve.sampling._shared import action_values, batch_keys, bound, check_rules, pick
from jaxsolve.tree._gather import take
from jaxsolve.tree._history import HistoryTree, history_tree
from jaxsolve.tree._public_tree import Blocks, PublicTree
from jaxsolve.types import Array, PRNGKey


@jax.tree_util.register_dataclass
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
        joint = history.joint(policy)
        start = history.start(policy, player)
        keys = batch_keys(self.seed, iteration, player, self.batch)
        seen = jax.vmap(lambda key: outcome(history, joint, player, self.epsilon, key))(keys)
        index = jnp.where(seen.position < 0, -1, seen.position - start)
        values = action_values(tree.players[player], index, seen.value / self.batch)
        return values, seen.nodes.sum().astype(jnp.uint32)


class Trajectory(NamedTuple):
    """One trajectory (D - 1 steps).

    Attributes:
        position: int32 [D - 1], of the own action in the joint vector, -1 where another
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
    history: HistoryTree, joint: Array, player: int, epsilon: Any, key: PRNGKey
) -> Trajectory:
    """Returns one sampled trajectory and what its own actions are worth.

    Args:
        history: states.
        joint: probabilities of all children (`HistoryTree.joint`).
        player: who updates and explores.
        epsilon: exploration.
        key: of this trajectory.
    """
    steps = history.num_depths - 1
    lanes = jnp.arange(max((max(w) for w in history.widths), default=1) or 1)

    def step(state: Array, uniform: Array) -> tuple[Array, tuple[Array, Array, Array, Array]]:
        node = history.node(state)
        legal = lanes < node.children
        odds = jnp.where(legal, take(joint, node.base + node.stride * legal * lanes), 0)
        own = node.actor == player
        even = legal / jnp.maximum(node.children, 1).astype(odds.dtype)
        explored = jnp.where(own, (1 - epsilon) * odds + epsilon * even, odds)
        k = pick(explored, uniform)
        alive = node.children > 0
        position = jnp.where(own, node.base + k * node.stride, -1)
        played, drawn = jnp.where(own, jnp.stack([odds[k], explored[k]]), 1)
        below = jnp.where(alive, node.first + k, state)
        return below, (position, played, drawn, alive)

    uniform = jax.random.uniform(key, (steps,), joint.dtype)
    end, (position, played, drawn, alive) = jax.lax.scan(step, jnp.int32(0), uniform)
    utility = history.utility[history.node(end).first, player]
    # tail[t]: own probability of everything after step t.
    after = jnp.cumprod(played[::-1])[::-1]
    tail = jnp.concatenate([after[1:], jnp.ones_like(after[:1])])
    value = utility * tail / drawn.prod()
    return Trajectory(position, value, alive.sum() + 1, end)
