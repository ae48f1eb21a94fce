"""A network without what makes it fast: a reference for searches that several tests share."""

from __future__ import annotations

import dataclasses

from jaxsolve import nets
from jaxsolve.public import PublicState
from jaxsolve.types import Array, pytree


@pytree
@dataclasses.dataclass(frozen=True)
class LooksAgain:
    """A network that is told of all private states, and of features again and again."""

    net: nets.Net

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        return self.net(state, beliefs)
