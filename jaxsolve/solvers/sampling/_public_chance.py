"""Public chance sampling: one board for everybody, all hands (Johanson et al. 2012).

Chance events that everybody sees are sampled, once per public state; private chance and all
players' actions are enumerated. What remains is a full-width CFR update whose payoffs are weighted
by the inverse probability of their sampled public events, so the sweeps of the CFR loop are used as
they are, and the public events enter the payoffs like the reach of one more player.

What is computed: the whole payoff operator, once for all samples of a batch. What is counted: the
world states that a program would touch which walks only the sampled part, once for each sample.
In a game without public chance events (Kuhn poker, liar's dice) this is CFR.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.solvers.sampling._public_events import PublicChance, public_chance
from jaxsolve.solvers.sampling._shared import bound, check_rules, draws
from jaxsolve.tree import Blocks, PublicTree, values_of
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class PublicChanceSampling:
    """Estimates counterfactual values from B independent draws of the public chance events.

    Attributes:
        seed: of all keys.
        batch: B.
        events: the public chance events of the game, None until `bind`.
    """

    seed: Any
    batch: int = dataclasses.field(metadata={"static": True})
    events: PublicChance | None = None

    def bind(self, tree: PublicTree) -> PublicChanceSampling:
        """Returns the sampler of a game."""
        check_rules(tree)
        return dataclasses.replace(self, events=public_chance(tree))

    def __call__(
        self,
        tree: PublicTree,
        player: int,
        policy: Sequence[Blocks],
        reach: Sequence[Array],
        iteration: Array,
    ) -> tuple[Blocks, Array]:
        """See `Sampler`."""
        events = bound(self.events)
        shape = (self.batch, len(events.odds))
        uniform = draws(self.seed, iteration, player, shape, events.odds)
        weight = jax.vmap(events.weights)(uniform)  # [B, K]
        others = (r for j, r in enumerate(reach) if j != player)
        gain = events.lists[player](*others, weight.mean(0))
        mine = policy[player]
        values, _ = values_of(tree.players[player], gain, lambda k, q: (mine[k] * q).sum(0))
        touched = jnp.where(weight > 0, events.size, 0).sum()
        return values, touched.astype(jnp.uint32)
