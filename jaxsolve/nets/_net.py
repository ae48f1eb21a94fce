"""A network with its parameters, as a value function; and a new one for a game."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve.nets._network import BODIES, Output, ValueNetwork, board_of
from jaxsolve.public import Described, PublicState, StateFormat, unit_of
from jaxsolve.types import Array, PRNGKey, PyTree, pytree


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
        return self.answer(None, state, beliefs)

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
    if shared or format.hands[0] != format.hands[1]:
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
