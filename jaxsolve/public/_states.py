"""What value functions are given of public states, and the format it has in a game."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array


class PublicState(NamedTuple):
    """What a value function is given of public states (F and G features, H private states).

    Attributes:
        features: float [..., F], the game's own description, `public_features`; F is 0 for a game
            that has none.
        possible: bool [..., 2, H], private states that each player can have there.
        scale: float [...], the largest payoff below, in the game's units.
        subgame_class: int32 [...], number of the subgame in a list of all, equal where subgames are
            equal; -1 where nothing is listed.
        uniform_payoffs: float [..., 2, H, H], what each pair of private states gets when both play
            uniformly from there on, in the unit of `StateFormat`; None where the game was not
            walked.
        private: float [..., 2, H, G], the game's own description of each private state,
            `private_features`; None where there is none.
    """

    features: Array
    possible: Array
    scale: Array
    subgame_class: Array
    uniform_payoffs: Array | None = None
    private: Array | None = None

    def at(self, index: Array) -> PublicState:
        """Returns some of the public states along the leading axis; int32 [...]."""
        found: PublicState = jax.tree.map(lambda x: x[index], self)
        return found


class StateFormat(NamedTuple):
    """What the arrays of a model's `PublicState` mean; a network has the format it was made for.

    Attributes:
        game: string of the game.
        num_features: F; 0 for a game without `public_features`.
        hands: (H0, H1), private states of each player; arrays have room for the larger number.
        num_classes: K, classes of subgames that are listed; 0 where none are.
        scale: `PublicState.scale` where it is the same in all public states; None where it differs.
        uniform_play: whether there are `uniform_payoffs`.
        unit: values are in units of `scale` / N, with N = H * H pairs of private states, or N the
            number of possible pairs in that public state.
        num_private: G, features of each private state; 0 for none.
    """

    game: str
    num_features: int
    hands: tuple[int, int]
    num_classes: int
    scale: float | None
    uniform_play: bool
    unit: Literal["pairs", "possible pairs"]
    num_private: int = 0


@runtime_checkable
class Described(Protocol):
    """What a value function can be checked against: a model, or a list of public states."""

    @property
    def format(self) -> StateFormat:
        """What the public states of this game look like to a value function."""
        ...


def unit_of(format: StateFormat, scale: Any, possible: Any) -> Any:
    """Returns what a value of 1 stands for, float [...]; see `StateFormat.unit`.

    Where beliefs sum to 1, a counterfactual value holds the chance of meeting each private state
    twice over: once in the pair's probability, once in the opponent's belief. With N pairs that is
    about 1 / N, so that values in this unit are of the order of 1.

    Args:
        format: of the public states.
        scale: float [...], the largest payoff below.
        possible: bool [..., 2, H], or fewer than H, the possible ones among them.
    """
    square = max(format.hands) ** 2
    if format.unit == "possible pairs":
        scale = scale * (square / possible.sum(-1).prod(-1))
    return scale / square


def listed_states(
    format: StateFormat,
    features: np.ndarray,
    possible: np.ndarray,
    scale: np.ndarray,
    uniform_payoffs: np.ndarray | None,
) -> PublicState:
    """Returns listed public states as arrays of JAX, in order of their classes.

    Args:
        format: of the public states.
        features: float64 [K, F].
        possible: bool [K, 2, H].
        scale: float64 [K].
        uniform_payoffs: float64 [K, 2, H, H], in the game's units.
    """
    if uniform_payoffs is not None:
        unit = unit_of(format, scale, possible)
        uniform_payoffs = uniform_payoffs / unit[:, None, None, None]
    return PublicState(
        features=jnp.asarray(features, float),
        possible=jnp.asarray(possible),
        scale=jnp.asarray(scale, float),
        subgame_class=jnp.arange(len(scale), dtype=jnp.int32),
        uniform_payoffs=None if uniform_payoffs is None else jnp.asarray(uniform_payoffs, float),
    )


def one_scale(scale: np.ndarray) -> float | None:
    """Returns the only number in an array, or None where there are several."""
    return float(scale[0]) if (scale == scale[0]).all() else None
