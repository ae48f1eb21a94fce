"""Counterfactual value (and policy) networks.

f(features of a public state, beliefs of both players) -> values [2, H] per unit of the opponent's
reach and, if asked for, a policy [A, H] of whoever is to act. The beliefs weigh the values to zero:
half of r0.v0 + r1.v1 is taken from every value (Moravcik et al. 2017, DeepStack, outer network).
Impossible hands get 0 and no gradient.

Source: Schmid et al. 2023 (Student of Games), CVPN; Brown et al. 2020 (ReBeL), GeLU with layer
norms. Targets are in units of the largest payoff below the public state, so that small and large
pots count alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import Array, PRNGKey, PyTree

BODIES = ("mlp", "resnet")


class Output(NamedTuple):
    """What a network says of a belief.

    Attributes:
        values: float [..., 2, H], in units of the largest payoff below.
        logits: float [..., A, H] of the policy, or None.
    """

    values: Array
    logits: Array | None


class ValueNetwork(nn.Module):
    """A value(-and-policy) network.

    Attributes:
        width: units of a layer.
        depth: layers, or residual blocks of two.
        body: "mlp" or "resnet".
        activation: "relu" or "gelu".
        layer_norm: normalise before each activation of the MLP; the ResNet always does.
        actions: A, actions of the policy head; 0 for none.
    """

    width: int = 192
    depth: int = 3
    body: str = "mlp"
    activation: str = "relu"
    layer_norm: bool = False
    actions: int = 0

    @nn.compact
    def __call__(
        self, features: Array, beliefs: Array, possible: Array, uniform: Array | None = None
    ) -> Output:
        """Returns the output for features [..., F], beliefs and possible hands [..., 2, H].

        Args:
            features: of the public state.
            beliefs: each sums to 1.
            possible: hands.
            uniform: values [..., 2, H] under uniform play, to which the network adds.
        """
        hands = beliefs.shape[-1]
        act = {"relu": nn.relu, "gelu": nn.gelu}[self.activation]
        flat = beliefs.reshape(*beliefs.shape[:-2], 2 * hands)
        # Beliefs sum to 1: times H they are of the order of 1 whatever the number of hands.
        known = [features, flat * hands]
        if uniform is not None:
            known.append(uniform.reshape(flat.shape))
        x = jnp.concatenate(known, -1)
        if self.body == "resnet":
            x = nn.Dense(self.width)(x)
            for _ in range(self.depth):
                y = nn.Dense(self.width)(act(nn.LayerNorm()(x)))
                x = x + nn.Dense(self.width)(act(nn.LayerNorm()(y)))
            x = act(nn.LayerNorm()(x))
        else:
            for _ in range(self.depth):
                x = nn.Dense(self.width)(x)
                x = act(nn.LayerNorm()(x) if self.layer_norm else x)
        values = nn.Dense(2 * hands)(x).reshape(beliefs.shape)
        if uniform is not None:
            values = values + uniform
        logits = None
        if self.actions:
            raw = nn.Dense(self.actions * hands)(x)
            logits = raw.reshape(*beliefs.shape[:-2], self.actions, hands)
        return Output(zero_sum(values, beliefs, possible), logits)


def zero_sum(values: Array, beliefs: Array, possible: Array) -> Array:
    """Returns values [..., 2, H] that the beliefs weigh to zero, 0 for impossible hands."""
    values = jnp.where(possible, values, 0)
    excess = (beliefs * values).sum((-2, -1), keepdims=True)
    return jnp.where(possible, values - excess / 2, 0)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Net:
    """A network, its parameters, and what it is told of each class of public state (K classes).

    A `ValueFunction`: `values.ValueLeaf` takes it as it is.

    Attributes:
        params: parameters.
        features: float [K, F].
        possible: bool [K, 2, H].
        scale: float [K], largest payoff below.
        uniform: float [K, 2, H, H], what pairs of hands get under uniform play, in units of the
            output; None if the network is not told.
        module: the architecture.
        game: the string of the game.
    """

    params: PyTree
    features: Array
    possible: Array
    scale: Array
    uniform: Array | None
    module: ValueNetwork = dataclasses.field(metadata={"static": True})
    game: str = dataclasses.field(metadata={"static": True})

    def output(self, subgame_class: Array, beliefs: Array) -> Output:
        """Returns the network's own output for classes [B] and beliefs [B, 2, H]."""
        apply: Callable[..., Any] = self.module.apply
        uniform = None if self.uniform is None else _met(self.uniform[subgame_class], beliefs)
        found: Output = apply(
            self.params,
            self.features[subgame_class],
            beliefs,
            self.possible[subgame_class],
            uniform,
        )
        return found

    def __call__(self, subgame_class: Array, beliefs: Array) -> Array:
        """Returns values per unit of the opponent's reach [B, 2, H]; see `ValueFunction`."""
        return (
            self.output(subgame_class, beliefs).values * self.unit(subgame_class)[..., None, None]
        )

    def unit(self, subgame_class: Array) -> Array:
        """Returns what an output of 1 stands for.

        Where beliefs sum to 1, a value holds the chance 1 / H of meeting each hand twice over:
        once in the pair of hands, once in the opponent's belief.
        """
        return self.scale[subgame_class] / self.possible.shape[-1] ** 2

    def replace(self, params: PyTree) -> Net:
        """Returns the network with other parameters."""
        return dataclasses.replace(self, params=params)

    def check(self, game: Any) -> None:
        """Refuses a game that the network was not made for.

        Args:
            game: a `public.PublicGame`.

        Raises:
            ValueError: says which game or shape differs.
        """
        want = (game.num_classes, 2, game.num_hands)
        if self.game != game.game.name or self.possible.shape != want:
            raise ValueError(
                f"this network is of {self.game} with {self.possible.shape[0]} classes of public "
                f"states and {self.possible.shape[2]} hands; {game.game.name} has {want[0]} and "
                f"{want[2]}. Train one with learn.train, or load that of {game.game.name}."
            )


def _met(payoff: Array, beliefs: Array) -> Array:
    """Returns values [B, 2, H] of hands against beliefs [B, 2, H], by payoffs [B, 2, H, H]."""
    first = jnp.einsum("...ab,...b->...a", payoff[..., 0, :, :], beliefs[..., 1, :])
    second = jnp.einsum("...ab,...a->...b", payoff[..., 1, :, :], beliefs[..., 0, :])
    return jnp.stack([first, second], -2)


def make_net(game: Any, module: ValueNetwork, key: PRNGKey, *, uniform_play: bool = True) -> Net:
    """Returns an untrained network for a game.

    Args:
        game: a `public.PublicGame`, which has features, possible hands and scales.
        module: the architecture.
        key: draws the parameters.
        uniform_play: the network is told what the beliefs are worth under uniform play, and learns
            what is to be added. Takes 2 H^2 numbers for each class of public state.

    Raises:
        ValueError: an unknown body or activation.
    """
    if module.body not in BODIES:
        raise ValueError(f"unknown body {module.body!r}; choose one of {', '.join(BODIES)}")
    if module.activation not in ("relu", "gelu"):
        raise ValueError(f'unknown activation {module.activation!r}; choose "relu" or "gelu"')
    possible = game.possible[game.representative]
    features = np.asarray(game.features)
    zeros = jnp.zeros(possible.shape[1:])
    uniform = None
    if uniform_play:
        unit = np.asarray(game.scale)[:, None, None, None] / possible.shape[-1] ** 2
        uniform = jnp.asarray(game.uniform_payoffs() / unit, float)
    params = jax.jit(module.init)(
        key,
        jnp.zeros(features.shape[1]),
        zeros,
        jnp.asarray(possible[0]),
        zeros if uniform_play else None,
    )
    return Net(
        uniform=uniform,
        params=params,
        features=jnp.asarray(features, float),
        possible=jnp.asarray(possible),
        scale=jnp.asarray(game.scale, float),
        module=module,
        game=game.game.name,
    )
