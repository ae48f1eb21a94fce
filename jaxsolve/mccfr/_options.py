"""How passes of sampled CFR count, and what they skip."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Options:
    """How passes count and what they skip.

    Attributes:
        power: pass k counts (1 + min(k, until) / unit) ** power; 1 is linear CFR, with 0 all
            count alike.
        unit: passes.
        until: passes.
        prune: actions are skipped whose regret is below minus so many of the largest payoffs, at
            the weight of the pass; infinity never prunes.
        floor: the least regret, in the same unit; above `prune`, so that actions can come back.
        prune_share: share of passes that prune.
        warm_up: passes before the first that prunes.
        average_stages: stages whose average policy is summed in passes; later ones by snapshots.
            None is all of them.
        seed: of deals and choices.
    """

    power: float = 1.0
    unit: float = 10_000.0
    until: float = math.inf
    prune: float = math.inf
    floor: float = math.inf
    prune_share: float = 0.95
    warm_up: int = 0
    average_stages: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("power", 0), ("unit", 1), ("until", 0), ("prune", 0), ("warm_up", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} is at least {least}, not {getattr(self, name)}")
        if not 0 <= self.prune_share < 1:
            raise ValueError(f"prune_share is from 0 to below 1, not {self.prune_share}")
        if not self.floor >= self.prune:
            raise ValueError(f"floor is at least prune, {self.prune}, not {self.floor}")

    def weight(self, number: int) -> float:
        """Returns what pass `number` counts."""
        return float((1 + min(number, self.until) / self.unit) ** self.power)
