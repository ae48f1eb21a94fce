"""Settings of training, and what follows from them."""

from __future__ import annotations

import dataclasses
import math

import optax


@dataclasses.dataclass(frozen=True)
class Plan:
    """Settings of a run.

    Attributes:
        steps: batches of data.
        updates: of the network, after each batch.
        minibatch: examples of an update, drawn from the buffer.
        buffer: examples kept; the oldest go first.
        learning_rate: at the start; it falls to 0 along a cosine, or as `decay` says.
        huber: where the loss of values turns from quadratic to linear, in units of the network; no
            gradient of a value is larger, so that a small one wants a large `value_weight` beside
            a policy.
        policy_weight: weight of the policy's loss; 0 for none.
        seed: of all random numbers.
        value_weight: weight of the values' loss.
        optimiser: "adam" or "sgd".
        decay: factor of the learning rate in every `decay_updates` updates, smoothly; a cosine
            over the whole run if None.
        decay_updates: of the network.
        reuse: an example is part of so many updates at most, in the mean; any number if None.
        largest: a target beyond this, in units of the network, stops the run: there, the largest
            payoff is 1.
    """

    steps: int = 1000
    updates: int = 16
    minibatch: int = 512
    buffer: int = 1 << 17
    learning_rate: float = 1e-3
    huber: float = 0.1
    policy_weight: float = 0.0
    seed: int = 0
    value_weight: float = 1.0
    optimiser: str = "adam"
    decay: float | None = None
    decay_updates: float = 1.0
    reuse: float | None = None
    largest: float = 100.0


def optimiser(plan: Plan) -> optax.GradientTransformation:
    """Returns the optimiser with its schedule."""
    if plan.decay is None:
        schedule = optax.cosine_decay_schedule(plan.learning_rate, plan.steps * plan.updates)
    else:
        schedule = optax.exponential_decay(
            plan.learning_rate,
            transition_steps=1,
            decay_rate=plan.decay ** (1 / plan.decay_updates),
        )
    return {"adam": optax.adam, "sgd": optax.sgd}[plan.optimiser](schedule)


def room_of(plan: Plan, batch: int) -> int:
    """Returns the buffer's size, a whole number of batches."""
    return max(1, plan.buffer // batch) * batch


def check_plan(plan: Plan, batch: int) -> None:
    """Raises ValueError where settings make no sense for batches of that size."""
    for name in ("steps", "updates", "minibatch", "buffer"):
        number = getattr(plan, name)
        if number < 1 or number != int(number):
            raise ValueError(f"{name} must be a positive whole number, not {number}")
    if plan.buffer < batch:
        raise ValueError(f"a buffer of {plan.buffer} does not hold a batch of {batch}")
    if not plan.learning_rate > 0:
        raise ValueError(f"learning_rate must be positive, not {plan.learning_rate}")
    if plan.optimiser not in ("adam", "sgd"):
        raise ValueError(f'unknown optimiser {plan.optimiser!r}; choose "adam" or "sgd"')
    if plan.decay is not None and not (0 < plan.decay <= 1 and plan.decay_updates > 0):
        raise ValueError(
            f"decay={plan.decay} must be above 0 and at most 1, and decay_updates="
            f"{plan.decay_updates} positive"
        )
    used = plan.updates * plan.minibatch / batch
    if plan.reuse is not None and used > plan.reuse:
        raise ValueError(
            f"{plan.updates} updates with {plan.minibatch} examples after a batch of "
            f"{batch} use each {used:.3g} times, more than reuse={plan.reuse}; make "
            f"{math.ceil(plan.updates * plan.minibatch / plan.reuse)} examples in a batch, or "
            "fewer updates"
        )
