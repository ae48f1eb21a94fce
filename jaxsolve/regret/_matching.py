"""Regret matching with discounting, clipping and prediction: one builder for the CFR family.

Notation of the sources: instantaneous regret r^t, cumulative regret R^t, [x]+ = max(x, 0).
An update computes R^t = clip(R^{t-1} * d(t - 1) + r^t) and the next policy is proportional to
[R^t * e(t) + m r^t]+, uniform over legal actions where that is 0 everywhere.

Sources: Hart & Mas-Colell 2000; Zinkevich et al. 2007; Tammelin 2014; Brown & Sandholm 2019;
Farina, Kroer & Sandholm 2021. The variants themselves are in `jaxsolve.solvers.variants`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.tree_util import Partial

from jaxsolve.regret._minimizer import Coefficients, Minimizer, Step, check_shapes, static
from jaxsolve.types import Array

Discount = Callable[..., tuple[Array, Array]]
"""(hyper-parameters, step, t) -> factors of positive and of negative cumulative regret at t."""


class Regrets(NamedTuple):
    """State of `regret_matching`: cumulative regret [A, ...]."""

    cumulative: Array


class AdaptiveRegrets(NamedTuple):
    """State of `adaptive_regret_matching`.

    Attributes:
        cumulative: R, [A, ...].
        last: r of the iteration before, [A, ...].
        error: sum over t of |r^t - r^{t-1}|^2, per infoset.
        movement: sum over t of |R^{t+1} - R^t|^2, per infoset.
    """

    cumulative: Array
    last: Array
    error: Array
    movement: Array


def regret_matching(
    hyper: Any = (),
    *,
    discount: Discount | None = None,
    clip: bool = False,
    prediction: Any = None,
    discount_prediction: bool = False,
) -> Minimizer:
    """Returns a regret-matching minimizer.

    Args:
        hyper: pytree of traceable hyper-parameters, handed to `discount`.
        discount: a module-level function (hyper, step, t) -> (positive, negative factors).
        clip: keep cumulative regrets at or above 0 (regret matching+).
        prediction: m, how much of the last regret is predicted to come again; None for none.
        discount_prediction: discount the cumulative regret once more under the prediction.
    """
    options = {"discount": discount, "clip": clip, "discount_prediction": discount_prediction}
    return Minimizer(
        Partial(_init),
        Partial(static(_update, **options), hyper, prediction),
        Partial(static(_coefficients, **options), hyper, prediction),
    )


def adaptive_regret_matching(*, longest: Any = 5.0) -> Minimizer:
    """Returns predictive regret matching+ whose trust in the prediction adapts per infoset.

    Args:
        longest: largest asymmetry a_t; the prediction is r / (1 + a_t).
    """
    return Minimizer(Partial(_init_adaptive), Partial(_update_adaptive, longest))


def follows_from_regret(minimizer: Minimizer) -> bool:
    """Returns whether every policy is proportional to the positive cumulative regrets alone.

    So it is in regret matching without prediction, whatever is discounted and clipped.
    """
    numbers = minimizer.coefficients
    return isinstance(numbers, Partial) and numbers.args[1] is None


def normalise(weights: Array, legal: Array) -> Array:
    """Returns weights [A, ...] >= 0 divided by their sum; uniform over `legal` where it is 0."""
    total = weights.sum(0)
    count = jnp.maximum(legal.sum(0), 1).astype(weights.dtype)
    safe = jnp.where(total > 0, total, 1)
    return jnp.where(total > 0, weights / safe, legal / count)


def _init(policy: Array) -> Regrets:
    return Regrets(jnp.zeros_like(policy))


def _instantaneous(values: Array, policy: Array, legal: Array) -> Array:
    return jnp.where(legal, values - (policy * values).sum(0), 0)


def _update(
    hyper: Any,
    prediction: Any,
    state: Regrets,
    step: Step,
    values: Array,
    policy: Array,
    legal: Array,
    *,
    discount: Discount | None,
    clip: bool,
    discount_prediction: bool,
) -> tuple[Regrets, Array]:
    check_shapes(state.cumulative, values, policy, legal)
    regret = _instantaneous(values, policy, legal)
    cumulative = state.cumulative
    if discount is not None:
        cumulative = _scaled(cumulative, discount(hyper, step, step.t - 1))
    cumulative = cumulative + regret
    if clip:
        cumulative = jnp.maximum(cumulative, 0)
    play = cumulative
    if discount_prediction and discount is not None:
        play = _scaled(play, discount(hyper, step, step.t))
    if prediction is not None:
        play = play + prediction * regret
    return Regrets(cumulative), normalise(jnp.maximum(play, 0), legal)


def _coefficients(
    hyper: Any,
    prediction: Any,
    step: Step,
    *,
    discount: Discount | None,
    clip: bool,
    discount_prediction: bool,
) -> Coefficients:
    one = jnp.ones_like(step.t)
    kept = (one, one) if discount is None else discount(hyper, step, step.t - 1)
    ahead = discount is not None and discount_prediction
    play = discount(hyper, step, step.t) if ahead else (one, one)  # type: ignore[misc]
    least = jnp.where(clip, 0, -jnp.inf)
    return Coefficients(
        positive=kept[0],
        negative=kept[1],
        least=least,
        play_positive=play[0],
        play_negative=play[1],
        prediction=jnp.asarray(0 if prediction is None else prediction),
    )


def _scaled(regret: Array, factors: tuple[Array, Array]) -> Array:
    positive, negative = factors
    return regret * jnp.where(regret > 0, positive, negative)


def _init_adaptive(policy: Array) -> AdaptiveRegrets:
    # Four arrays, not one shared: the loop donates the state's buffers.
    rows = policy[0]
    return AdaptiveRegrets(*(jnp.zeros_like(x) for x in (policy, policy, rows, rows)))


def _update_adaptive(
    longest: Any,
    state: AdaptiveRegrets,
    step: Step,
    values: Array,
    policy: Array,
    legal: Array,
) -> tuple[AdaptiveRegrets, Array]:
    check_shapes(state.cumulative, values, policy, legal)
    regret = _instantaneous(values, policy, legal)
    cumulative = jnp.maximum(state.cumulative + regret, 0)
    error = state.error + ((regret - state.last) ** 2).sum(0)
    movement = state.movement + ((cumulative - state.cumulative) ** 2).sum(0)
    ratio = jnp.sqrt(error / jnp.where(movement > 0, movement, 1))
    asymmetry = jnp.minimum(jnp.where(movement > 0, ratio, longest), longest)
    play = jnp.maximum(cumulative + regret / (1 + asymmetry), 0)
    return AdaptiveRegrets(cumulative, regret, error, movement), normalise(play, legal)
