"""What a regret minimizer is: two pure functions over arrays whose first axis is actions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import chex

from jaxsolve.types import Array


class Step(NamedTuple):
    """Where the run is.

    Attributes:
        t: float [], iterations counted from 1.
        horizon: float [], planned number of iterations; only scheduled variants read it.
    """

    t: Array
    horizon: Array


class Coefficients(NamedTuple):
    """One update of regret matching in numbers, each a float [].

    With instantaneous regret r, cumulative regret R becomes
    max(least, R (positive where R > 0, else negative) + r), and the next policy is proportional to
    the positive part of R (play_positive where R > 0, else play_negative) + prediction r.
    """

    positive: Array
    negative: Array
    least: Array
    play_positive: Array
    play_negative: Array
    prediction: Array


class Minimizer(NamedTuple):
    """A pytree of functions; hyper-parameters are its leaves, so they trace and vmap.

    Attributes:
        init: policy [A, ...] -> state, a pytree of arrays.
        update: (state, step, values [A, ...], policy [A, ...], legal bool [A, ...])
            -> (state, policy of the next iteration). `values` are counterfactual values of the
            actions; illegal entries are 0 in every policy.
        coefficients: step -> the same update in numbers, for fused operators; None where it is
            not of that form. The state is then a tuple of one array, the cumulative regret.
    """

    init: Callable[[Array], Any]
    update: Callable[[Any, Step, Array, Array, Array], tuple[Any, Array]]
    coefficients: Callable[[Step], Coefficients] | None = None


def check_shapes(state: Array, values: Array, policy: Array, legal: Array) -> None:
    """Raises AssertionError if what an update gets does not belong together.

    Args:
        state: [A, ...], of the minimizer, made from a policy of this shape.
        values: [A, ...], counterfactual action values.
        policy: [A, ...].
        legal: bool [A, ...], of this shape or one that broadcasts to it.
    """
    chex.assert_equal_shape(
        [state, values, policy],
        custom_message="the minimizer's state, action values and policy are [A, ...] alike",
    )
    chex.assert_is_broadcastable(legal.shape, policy.shape)


@dataclasses.dataclass(frozen=True)
class Static:
    """A function with fixed options that compares equal to itself when built again.

    `jax.tree_util.Partial(Static(f, ...), x)` keeps `x` traceable while two builds of the same
    variant share one compiled program; `functools.partial` objects compare by identity.
    """

    function: Callable[..., Any]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, *args: Any) -> Any:
        return self.function(*args, **dict(self.options))


def static(function: Callable[..., Any], **options: Any) -> Static:
    """Returns `function` with options fixed; they must be hashable."""
    return Static(function, tuple(sorted(options.items())))
