"""A small network that corrects a game's own guess of what a position is worth.

    value = sign tanh(scale atanh(guess) + MLP(features))

Guess and features are those of the side to move, and `sign` makes the value player 0's. A network
without training is the guess.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.game import State
from jaxsolve.types import Array, PRNGKey

LARGEST = 0.999
"""Guesses are clamped to this, so that they have a logit."""


@runtime_checkable
class DescribesPositions(Protocol):
    """Rules that guess values of positions and describe these by numbers."""

    @property
    def name(self) -> str:
        """The string that loads this game."""
        ...

    def init(self) -> State:
        """Returns the start."""
        ...

    def actor(self, state: State) -> Array:
        """Returns int32 [], who moves."""
        ...

    def evaluate(self, state: State) -> Array:
        """Returns float [], what a state looks worth to player 0."""
        ...

    def position_features(self, state: State) -> Array:
        """Returns float [F], as the side to move sees the board."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class PositionNet:
    """A value function of states; hand it to an agent.

    Attributes:
        game: the rules.
        params: float arrays "first" [F, H], "bias" [H], "last" [H] and "scale" [].
    """

    game: DescribesPositions
    params: dict[str, Array]

    def __call__(self, state: State) -> Array:
        """Returns float [], what a state that is not over is worth to player 0."""
        sign = 1.0 - 2.0 * self.game.actor(state)
        guess = sign * self.game.evaluate(state)
        return sign * jnp.tanh(
            position_logit(self.params, guess, self.game.position_features(state))
        )


def position_net(game: object, key: PRNGKey, *, hidden: int = 32) -> PositionNet:
    """Returns a network that is not trained.

    Args:
        game: rules with `evaluate` and `position_features`.
        key: of its first layer.
        hidden: units.

    Raises:
        ValueError: the rules do not describe positions, or there is no unit.
    """
    if not isinstance(game, DescribesPositions):
        raise ValueError(f"{game}: rules need evaluate and position_features, as dark chess has")
    if hidden < 1:
        raise ValueError(f"hidden={hidden}: a network has at least 1 unit")
    inputs = len(game.position_features(game.init()))
    first = jax.random.normal(key, (inputs, hidden)) / np.sqrt(inputs)
    params = {"first": first, "bias": jnp.zeros(hidden), "last": jnp.zeros(hidden)}
    return PositionNet(game, {**params, "scale": jnp.ones(())})


def position_logit(params: dict[str, Array], guess: Array, features: Array) -> Array:
    """Returns float [...], whose tanh is the value to the side to move.

    Args:
        params: of a `PositionNet`.
        guess: float [...], to the side to move.
        features: float [..., F].
    """
    units = jax.nn.relu(features @ params["first"] + params["bias"])
    known = jnp.arctanh(jnp.clip(guess, -LARGEST, LARGEST))
    return params["scale"] * known + units @ params["last"]


def save_position_net(net: PositionNet, path: str | Path) -> None:
    """Writes a network to a file; `load_position_net` reads it."""
    header = {"kind": "position network", "game": net.game.name}
    save_arrays(Path(path), header, {k: np.asarray(v) for k, v in net.params.items()})


def load_position_net(path: str | Path, game: DescribesPositions) -> PositionNet:
    """Returns a network that `save_position_net` has written.

    Args:
        path: of the file.
        game: the rules; other options than in training are fine where positions look alike.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or of positions with other features.
    """
    header, arrays = load_arrays(Path(path), "position network")
    net = position_net(game, jax.random.key(0), hidden=len(arrays["bias"]))
    for name, like in net.params.items():
        if name not in arrays or arrays[name].shape != like.shape:
            raise ValueError(f"{path} is a network of {header['game']}, not of {game.name}")
    return PositionNet(game, {k: jnp.asarray(v) for k, v in arrays.items()})
