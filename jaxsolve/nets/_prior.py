"""A network's policy as the prior of a search."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxsolve.nets._net import Net
from jaxsolve.public import Described, PublicState
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class PolicyPrior:
    """A `PriorFunction`: what a network would play, flattened by a temperature.

    Attributes:
        net: with a policy head.
        temperature: of the softmax; 1 leaves the policy as it is.
    """

    net: Net
    temperature: Any

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        """Returns float [F, A, H] for public states [F] and beliefs [F, 2, H]."""
        logits = self.net.output(state, beliefs).policy_logits
        return jax.nn.softmax(logits / self.temperature, 1)

    def check(self, game: Described) -> None:
        """Refuses public states that the network was not made for; see `Net.check`."""
        self.net.check(game)


def policy_prior(net: Net, *, temperature: float = 1.0) -> PolicyPrior:
    """Returns a network's policy as the prior of `search.gt_cfr`.

    Args:
        net: with a policy head.
        temperature: of the softmax; Student of Games has 1.5 in chess and Go, 1 elsewhere.

    Raises:
        ValueError: no policy head, or a temperature that is not positive.
    """
    if not net.module.actions:
        raise ValueError("this network has no policy: make it with ValueNetwork(actions=A)")
    if not temperature > 0:
        raise ValueError(f"temperature must be positive, not {temperature}")
    return PolicyPrior(net, temperature)
