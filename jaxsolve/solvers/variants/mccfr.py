"""Monte Carlo CFR: the same minimizers on sampled counterfactual values.

Lanctot, Waugh, Zinkevich & Bowling 2009, "Monte Carlo sampling for regret minimization in extensive
games" (external and outcome sampling); Johanson, Bard, Lanctot, Gibson & Bowling 2012, "Efficient
Nash equilibrium approximation through Monte Carlo counterfactual regret minimization" (public
chance sampling); Brown & Sandholm 2019 (linear weights under sampling).

    R += mean over the batch of the sampled regrets; play [R]+; average weight 1, or t if linear

One iteration draws a batch of B samples for each player. Differs from the papers in two ways. A
batch shares one update, so B samples cost one pass over the tables. The average policy adds every
player's own reach exactly in that pass, where the papers add it on the sampled path: sampled
averages of more than two players would be weighted by the others' changing policies as well.

Clipping keeps the sampled regrets at or above 0 (regret matching+). Unlike CFR+ it rests on noisy
regrets: with few samples it forgets regret that was only bad luck, so it wants large batches.
"""

from __future__ import annotations

from typing import Annotated, Any

from jaxsolve.game import Range, checked
from jaxsolve.regret import Minimizer, regret_matching
from jaxsolve.solvers._solver import Sampler, Solver, power_average
from jaxsolve.solvers.sampling._external import ExternalSampling
from jaxsolve.solvers.sampling._outcome import OutcomeSampling
from jaxsolve.solvers.sampling._public_chance import PublicChanceSampling
from jaxsolve.solvers.variants.dcfr import power_discount
from jaxsolve.types import Array, Scalar

Batch = Annotated[int, Range(1, 2**24)]
Seed = Annotated[int | Array, Range(0, 2**31 - 1)]


@checked
def es_mccfr(batch: Batch = 64, linear: bool = False, clip: bool = False, seed: Seed = 0) -> Solver:
    """Returns external-sampling MCCFR.

    Args:
        batch: sampled trees of each player in an iteration.
        linear: weigh iteration t by t, in regrets and average, as linear CFR does.
        clip: regret matching+.
        seed: of all random numbers; traceable, so it can be a batch axis.
    """
    return _mccfr(ExternalSampling(seed=seed, batch=batch), linear, clip, "es-mccfr")


@checked
def os_mccfr(
    batch: Batch = 64,
    linear: bool = False,
    clip: bool = False,
    epsilon: Annotated[Scalar, Range(above=0, high=1)] = 0.6,
    seed: Seed = 0,
) -> Solver:
    """Returns outcome-sampling MCCFR.

    Args:
        batch: trajectories of each player in an iteration.
        linear: weigh iteration t by t.
        clip: regret matching+.
        epsilon: exploration of the updating player, in (0, 1]; the paper's 0.6 by default.
        seed: of all random numbers.
    """
    sampler = OutcomeSampling(epsilon=epsilon, seed=seed, batch=batch)
    return _mccfr(sampler, linear, clip, "os-mccfr")


@checked
def pcs_mccfr(batch: Batch = 1, linear: bool = False, clip: bool = False, seed: Seed = 0) -> Solver:
    """Returns public-chance-sampling MCCFR.

    Args:
        batch: draws of all public chance events in an iteration, for each player.
        linear: weigh iteration t by t.
        clip: regret matching+.
        seed: of all random numbers.
    """
    return _mccfr(PublicChanceSampling(seed=seed, batch=batch), linear, clip, "pcs-mccfr")


def _mccfr(sampler: Sampler, linear: bool, clip: bool, name: str) -> Solver:
    discount: dict[str, Any] = {"discount": power_discount} if linear else {}
    minimizer: Minimizer = regret_matching((1.0, 1.0) if linear else (), clip=clip, **discount)
    return Solver(minimizer, power_average(1.0 if linear else 0.0), name, sampler=sampler)
