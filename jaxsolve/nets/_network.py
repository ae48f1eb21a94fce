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

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp

from jaxsolve.nets._conv import Conv
from jaxsolve.nets._dense import Dense
from jaxsolve.public import Described, PublicState, StateFormat, unit_of
from jaxsolve.types import Array, PRNGKey, PyTree, pytree

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
        hands: private states of each player, of which "shared" looks at no more; `make_net` knows.
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
        flat = beliefs.reshape(*beliefs.shape[:-2], 2 * hands)
        # Beliefs sum to 1: times H they are of the order of 1 whatever the number of hands.
        board = board_of(self.body)
        seen = features if board is None else self._on_board(features, board, act)
        varies = flat * hands
        if uniform is not None:
            varies = jnp.concatenate([varies, uniform.reshape(flat.shape)], -1)
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
        values = nn.Dense(2 * hands)(x).reshape(beliefs.shape)
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
        each = []
        for p, n in enumerate(sizes):
            known = None if prepared is None else prepared[p]
            likely = jnp.log1p(beliefs[..., p, :n, None] * most)
            x = first(private[..., p, :n, :], likely, known, prepare=prepare)
            if prepared is None:
                x = x + player[p] + public(features[..., self.skip :])[..., None, :]
            each.append(x)
        return each

    def _sizes(self, beliefs: Array) -> list[int]:
        """Returns how many private states of each player "shared" looks at."""
        hands = beliefs.shape[-1]
        return [min(n, hands) for n in self.hands or (hands, hands)]  # possible ones alone, maybe

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


def zero_sum(values: Array, beliefs: Array, possible: Array) -> Array:
    """Returns values [..., 2, H] that the beliefs weigh to zero, 0 for impossible hands."""
    values = jnp.where(possible, values, 0)
    excess = (beliefs * values).sum((-2, -1), keepdims=True)
    return jnp.where(possible, values - excess / 2, 0)


@pytree
@dataclasses.dataclass(frozen=True)
class Net:
    """A network and its parameters, with the format of the public states it was made for.

    A `ValueFunction`: a list of public states, a tree grown from the rules and an agent ask it
    alike, by features and beliefs.

    Attributes:
        params: parameters.
        module: the architecture.
        format: of the public states; with `uniform_play` the network is given what uniform play is
            worth, and learns what is to be added.
    """

    params: PyTree
    module: ValueNetwork = dataclasses.field(metadata={"static": True})
    format: StateFormat = dataclasses.field(metadata={"static": True})

    def output(self, state: PublicState, beliefs: Array, prepared: PyTree = None) -> Output:
        """Returns the network's own output for public states [B] and beliefs [B, 2, H].

        Args:
            state: the public states.
            beliefs: each sums to 1.
            prepared: of them, if it is at hand; see `prepare`.
        """
        uniform = None
        if self.format.uniform_play:
            uniform = _against(state.uniform_payoffs, beliefs)
        found: Output = self._apply(state, beliefs, uniform, prepared=prepared)
        return found

    def _apply(
        self, state: PublicState, beliefs: Array, uniform: Array | None, **options: Any
    ) -> Any:
        apply: Callable[..., Any] = self.module.apply
        return apply(
            self.params,
            *(state.features, beliefs, state.possible, uniform, state.private),
            **options,
        )

    def __call__(self, state: PublicState, beliefs: Array) -> Array:
        """Returns values per unit of the opponent's reach [B, 2, H]; see `ValueFunction`."""
        return self.output(state, beliefs).values * self.unit(state)[..., None, None]

    def prepare(self, state: PublicState) -> PyTree:
        """Returns the first layer's share that beliefs do not change; see `values.Prepares`."""
        nobody = jnp.zeros(state.possible.shape, state.features.dtype)
        return self._apply(
            state, nobody, nobody if self.format.uniform_play else None, prepare=True
        )

    def answer(self, prepared: PyTree, state: PublicState, beliefs: Array) -> Array:
        """Returns values [B, 2, H]; see `values.Prepares`."""
        values = self.output(state, beliefs, prepared).values
        return values * self.unit(state)[..., None, None]

    @property
    def takes_few(self) -> bool:
        """See `values.TakesFew`."""
        return self.module.body == "shared"

    def unit(self, state: PublicState) -> Array:
        """Returns what an output of 1 stands for, float [B]; see `StateFormat.unit`."""
        unit: Array = unit_of(self.format, state.scale, state.possible)
        return unit

    def replace(self, params: PyTree) -> Net:
        """Returns the network with other parameters."""
        return dataclasses.replace(self, params=params)

    def check(self, game: Described) -> None:
        """Refuses public states that the network was not made for.

        Args:
            game: a list or a model of public states.

        Raises:
            ValueError: says what differs: the game, the features, the numbers of private states,
                the scale, or that nothing says what uniform play is worth.
        """
        mine, other = self.format, game.format
        for name in ("game", "num_features", "hands"):
            if getattr(mine, name) != getattr(other, name):
                raise ValueError(
                    f"this network is of {mine.game} with {mine.num_features} features and "
                    f"{mine.hands} private states; {other.game} has {other.num_features} and "
                    f"{other.hands}. Train one with learn.train, or load that of {other.game}."
                )
        if mine.num_private not in (0, other.num_private):
            raise ValueError(
                f"this network of {mine.game} is given {mine.num_private} features of each private "
                f"state, and these public states have {other.num_private}: train one with "
                "learn.train"
            )
        if mine.scale != other.scale:
            raise ValueError(
                f"this network of {mine.game} has values in units of {_scale(mine)}, and these "
                f"public states are in units of {_scale(other)}: make the model with the same "
                "scale=, or give the rules a method largest_payoff(state) -> float []"
            )
        if mine.uniform_play and not other.uniform_play:
            raise ValueError(
                f"this network of {mine.game} is given what uniform play is worth, which takes a "
                "walk of the whole game; and trees from the rules have none: make the "
                "network with make_net(..., uniform_play=False)"
            )


def _scale(format: StateFormat) -> str:
    below = "the largest payoff below each public state"
    return below if format.scale is None else f"{format.scale:g}"


def _against(payoffs: Array | None, beliefs: Array) -> Array:
    """Returns values [B, 2, H] of hands against beliefs [B, 2, H], by payoffs [B, 2, H, H]."""
    if payoffs is None:
        raise ValueError("these public states come without payoffs of uniform play; see Net.check")
    first = jnp.einsum("...ab,...b->...a", payoffs[..., 0, :, :], beliefs[..., 1, :])
    second = jnp.einsum("...ab,...a->...b", payoffs[..., 1, :, :], beliefs[..., 0, :])
    return jnp.stack([first, second], -2)


def make_net(
    game: Described, module: ValueNetwork, key: PRNGKey, *, uniform_play: bool | None = None
) -> Net:
    """Returns an untrained network for a game.

    Args:
        game: a list of public states (`public.PublicGame`, `public.PublicTable`), or a model of
            them (`public.RulesModel`).
        module: the architecture.
        key: draws the parameters.
        uniform_play: the network is given what the beliefs are worth under uniform play, and learns
            what is to be added; by default where the public states are listed.

    Raises:
        ValueError: an unknown body or activation, a skip that leaves nothing, a game without
            `public_features` or, for the body "shared", `private_features`, or `uniform_play=True`
            where nothing is listed or the body is "shared".
    """
    board = board_of(module.body)
    if module.body not in BODIES[:-1] and board is None:
        raise ValueError(f"unknown body {module.body!r}; choose one of {', '.join(BODIES)}")
    if module.activation not in ("relu", "gelu"):
        raise ValueError(f'unknown activation {module.activation!r}; choose "relu" or "gelu"')
    format = game.format
    if board is not None and math.prod(board) != format.num_features:
        raise ValueError(
            f"a body {module.body!r} (rows, columns, planes) takes {math.prod(board)} features; "
            f"{format.game} has {format.num_features}"
        )
    if not format.num_features:
        raise ValueError(
            f"{format.game} does not describe its public states, so a network cannot tell them "
            "apart: give its rules a method public_features(state) -> float [F], the same for all "
            "states of a public state"
        )
    shared = module.body == "shared"
    if shared:
        if not format.num_private:
            raise ValueError(
                f'the body "shared" needs numbers for each private state, and {format.game} has '
                "none: give its rules a method private_features(state) -> float [2, H, G], and "
                'make the model with public.hidden_piece_model; or use the body "mlp"'
            )
        if uniform_play:
            raise ValueError('the body "shared" is not told what uniform play is worth')
        module = module.clone(hands=format.hands)
    if not 0 <= module.skip < format.num_features or (module.skip and not shared):
        raise ValueError(
            f'skip={module.skip} is for the body "shared", and less than the '
            f"{format.num_features} features of {format.game}"
        )
    given = format.uniform_play and not shared if uniform_play is None else uniform_play
    if given and not format.uniform_play:
        raise ValueError(
            f"what uniform play is worth in {format.game} takes a walk of the whole game, and "
            "these public states are not listed: use uniform_play=False"
        )
    zeros = jnp.zeros((2, max(format.hands)))
    params = jax.jit(module.init)(
        key,
        jnp.zeros(format.num_features),
        zeros,
        jnp.ones(zeros.shape, bool),
        zeros if given else None,
        jnp.zeros((*zeros.shape, format.num_private)) if shared else None,
    )
    private = format.num_private if shared else 0
    return Net(params, module, format._replace(uniform_play=given, num_private=private))
