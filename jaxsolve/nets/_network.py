"""Counterfactual value (and policy) networks.

f(features of a public state, beliefs of both players) -> values [2, H] per unit of the opponent's
reach and, if asked for, a policy [A, H] of the actor. The beliefs weigh the values to zero:
half of r0.v0 + r1.v1 is taken from every value (Moravcik et al. 2017, DeepStack, outer network).
Impossible hands get 0 and no gradient.

Source: Schmid et al. 2023 (Student of Games), CVPN; Brown et al. 2020 (ReBeL), GeLU with layer
norms. Targets are in units of the largest payoff below the public state, so that small and large
pots count alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import flax.linen as nn
import jax.numpy as jnp

from jaxsolve.nets._conv import Conv
from jaxsolve.nets._dense import Dense
from jaxsolve.types import Array, PyTree

BODIES = ("mlp", "resnet", "shared", "conv RxCxP")
"""Bodies of a `ValueNetwork`; the last for a board of R rows, C columns and P planes."""


class Output(NamedTuple):
    """What a network says of a belief.

    Attributes:
        values: float [..., 2, H], in units of the largest payoff below.
        logits: float [..., A, H] of the policy, or None.
    """

    values: Array
    logits: Array | None

    @property
    def policy_logits(self) -> Array:
        """`logits`.

        Raises:
            ValueError: the network has no policy head.
        """
        if self.logits is None:
            raise ValueError("this network has no policy: make it with ValueNetwork(actions=A)")
        return self.logits


class ValueNetwork(nn.Module):
    """A value(-and-policy) network.

    Attributes:
        width: units of a layer.
        depth: layers, or residual blocks of two.
        body: "mlp" or "resnet", of flat features; "shared", one MLP for all private states, which
            a game describes by `private_features` (not in the paper); or residual blocks of
            convolutions on a board, as in AlphaZero with layer norms for batch norms, such as
            "conv 6x7x3" where features are 3 planes of 6 rows and 7 columns, planes last.
        activation: "relu" or "gelu".
        layer_norm: normalise before each activation of the MLP; the ResNet always does.
        actions: A, actions of the policy head; 0 for none.
        skip: of the public features the first so many, which "shared" passes over: what private
            features say better, such as where pieces are.
        hands: private states of each player; `make_net` says so where there are fewer than H, and
            numbers beyond are not looked at.
    """

    width: int = 192
    depth: int = 3
    body: str = "mlp"
    activation: str = "relu"
    layer_norm: bool = False
    actions: int = 0
    skip: int = 0
    hands: tuple[int, int] | None = None

    @nn.compact
    def __call__(
        self,
        features: Array,
        beliefs: Array,
        possible: Array,
        uniform: Array | None = None,
        private: Array | None = None,
        prepared: PyTree = None,
        prepare: bool = False,
    ) -> Output | PyTree:
        """Returns the output for features [..., F], beliefs and possible hands [..., 2, H].

        Args:
            features: of the public state.
            beliefs: each sums to 1.
            possible: hands.
            uniform: values [..., 2, H] under uniform play, to which the network adds.
            private: features [..., 2, H, G] of each private state, for the body "shared".
            prepared: what is known already of these public states; features are not looked at.
            prepare: return that, and look at nothing but features.
        """
        hands = beliefs.shape[-1]
        act = {"relu": nn.relu, "gelu": nn.gelu}[self.activation]
        if self.body == "shared":
            assert private is not None
            each = self._first(features, beliefs, private, prepared, prepare)
            if prepare:
                return each
            values, logits = self._shared([act(x) for x in each], beliefs, act)
            return Output(zero_sum(values, beliefs, possible), logits)
        sizes = self._sizes(beliefs)
        # Beliefs sum to 1: times H they are of the order of 1 whatever the number of hands.
        board = board_of(self.body)
        seen = features if board is None else self._on_board(features, board, act)
        varies = _joined(beliefs, sizes) * hands
        if uniform is not None:
            varies = jnp.concatenate([varies, _joined(uniform, sizes)], -1)
        first = Dense(self.width if board is None else 2 * self.width)
        x = first(seen, varies, prepared, prepare=prepare)
        if prepare:
            return x
        if self.body == "resnet":
            for _ in range(self.depth):
                y = nn.Dense(self.width)(act(nn.LayerNorm()(x)))
                x = x + nn.Dense(self.width)(act(nn.LayerNorm()(y)))
            x = act(nn.LayerNorm()(x))
        elif board is not None:
            x = act(nn.LayerNorm()(x))
        else:
            for layer in range(self.depth):
                x = nn.Dense(self.width)(x) if layer else x
                x = act(nn.LayerNorm()(x) if self.layer_norm else x)
        values = _parted(nn.Dense(sum(sizes))(x), sizes, hands)
        if uniform is not None:
            values = values + uniform
        logits = None
        if self.actions:
            raw = nn.Dense(self.actions * hands)(x)
            logits = raw.reshape(*beliefs.shape[:-2], self.actions, hands)
        return Output(zero_sum(values, beliefs, possible), logits)

    def _first(
        self,
        features: Array,
        beliefs: Array,
        private: Array,
        prepared: PyTree,
        prepare: bool,
    ) -> list[Array]:
        """Returns, of each player, the first layer [..., n, width] of "shared", not yet activated.

        See `__call__`; with `prepare` it is what beliefs are still to be added to.
        """
        width = self.width
        sizes = self._sizes(beliefs)
        player = self.param("player", nn.initializers.zeros_init(), (2, width))
        most = max(self.hands or beliefs.shape[-1:])
        first, public = Dense(width), nn.Dense(width)
        alike = None if prepared is not None else public(features[..., self.skip :])[..., None, :]
        each = []
        for p, n in enumerate(sizes):
            known = None if prepared is None else prepared[p]
            likely = jnp.log1p(beliefs[..., p, :n, None] * most)
            x = first(private[..., p, :n, :], likely, known, prepare=prepare)
            each.append(x if alike is None else x + player[p] + alike)
        return each

    def _sizes(self, beliefs: Array) -> list[int]:
        """Returns how many private states of each player there are; maybe possible ones alone."""
        hands = beliefs.shape[-1]
        return [min(n, hands) for n in self.hands or (hands, hands)]

    def _shared(
        self, each: list[Array], beliefs: Array, act: Callable[[Array], Array]
    ) -> tuple[Array, Array | None]:
        """Returns values [..., 2, H], and logits [..., A, H] or None, after the first layer.

        In each layer a private state learns what the others are like, in the mean by the beliefs.
        """
        hands, width, sizes = beliefs.shape[-1], self.width, self._sizes(beliefs)
        for _ in range(self.depth - 1):
            means = [
                jnp.einsum("...h,...hw->...w", beliefs[..., p, : sizes[p]], x)
                for p, x in enumerate(each)
            ]
            around = nn.Dense(width)(jnp.concatenate(means, -1))[..., None, :]
            layer = nn.Dense(width)
            each = [act(layer(x) + around) for x in each]

        def padded(x: Array) -> Array:
            return jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, hands - x.shape[-2]), (0, 0)])

        last = nn.Dense(1)
        values = jnp.stack([padded(last(x))[..., 0] for x in each], -2)
        if not self.actions:
            return values, None
        logits = sum(padded(nn.Dense(self.actions)(x)) for x in each)
        return values, jnp.swapaxes(logits, -1, -2)

    def _on_board(
        self, features: Array, board: tuple[int, ...], act: Callable[[Array], Array]
    ) -> Array:
        """Returns features [..., rows * columns * width] after the blocks of convolutions."""
        x = features.reshape(*features.shape[:-1], *board)
        x = Conv(self.width)(x)
        for _ in range(self.depth):
            y = Conv(self.width)(act(nn.LayerNorm()(x)))
            x = x + Conv(self.width)(act(nn.LayerNorm()(y)))
        x = act(nn.LayerNorm()(x))
        return x.reshape(*features.shape[:-1], -1)


def board_of(body: str) -> tuple[int, ...] | None:
    """Returns (rows, columns, planes) of a body such as "conv 6x7x3"; None of another one."""
    found = re.fullmatch(r"conv (\d+)x(\d+)x(\d+)", body)
    return None if found is None else tuple(int(x) for x in found.groups())


def _joined(numbers: Array, sizes: list[int]) -> Array:
    """Returns [..., H0 + H1], numbers [..., 2, H] of the private states there are."""
    return jnp.concatenate([numbers[..., p, :n] for p, n in enumerate(sizes)], -1)


def _parted(numbers: Array, sizes: list[int], hands: int) -> Array:
    """Returns [..., 2, H], numbers [..., H0 + H1] of the private states there are, the others 0."""
    each = jnp.split(numbers, [sizes[0]], -1)
    rows = [jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, hands - x.shape[-1])]) for x in each]
    return jnp.stack(rows, -2)


def zero_sum(values: Array, beliefs: Array, possible: Array) -> Array:
    """Returns values [..., 2, H] that the beliefs weigh to zero, 0 for impossible hands."""
    values = jnp.where(possible, values, 0)
    excess = (beliefs * values).sum((-2, -1), keepdims=True)
    return jnp.where(possible, values - excess / 2, 0)
