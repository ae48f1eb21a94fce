"""How far a network is from exact values, on beliefs that it was not trained on."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.learn._data import draw_beliefs, solved
from jaxsolve.nets import Net
from jaxsolve.public import PublicGame, PublicState, no_limit
from jaxsolve.search.fixed import Subgames, subgames
from jaxsolve.solvers import Solver
from jaxsolve.types import Array, PRNGKey


class HeldOut(NamedTuple):
    """Beliefs with exact values (V examples).

    Attributes:
        state: public states, leading axis V.
        beliefs: float [V, 2, H].
        values: float [V, 2, H], per unit of the opponent's reach.
    """

    state: PublicState
    beliefs: Array
    values: Array


class Errors(NamedTuple):
    """Mean absolute errors in the game's units.

    Attributes:
        mean: float [], over all possible hands.
        weighted: float [], each hand weighed by its belief: those without any have a value that
            the equilibrium leaves open.
        each: float [V], `weighted` of each belief; means by class are errors by public state.
    """

    mean: Array
    weighted: Array
    each: Array


def held_out(
    game: PublicGame,
    solver: Solver,
    *,
    classes: Sequence[int],
    count: int,
    iterations: int,
    key: PRNGKey,
) -> HeldOut:
    """Returns random beliefs of some classes, each subgame solved to the end of the game.

    Args:
        game: the public nodes.
        solver: variant of CFR.
        classes: of subgames.
        count: beliefs of each class.
        iterations: of the solver.
        key: draws the beliefs.
    """
    games = subgames(game, no_limit, classes=classes)
    subgame_class = jnp.asarray(np.repeat(np.asarray(classes, np.int32), count))
    state = game.states.at(subgame_class)
    beliefs = draw_beliefs(state.possible, key)
    values = _solved(games, solver, subgame_class, beliefs, iterations=iterations)
    return HeldOut(state, beliefs, values)


@jax.jit
def errors(net: Net, held: HeldOut) -> Errors:
    """Returns the errors of a network on held-out beliefs.

    Values per unit of reach are small where there are many hands; times H squared they are of the
    order of payoffs.
    """
    off = jnp.abs(net(held.state, held.beliefs) - held.values) * held.beliefs.shape[-1] ** 2
    each = (held.beliefs * off).sum(-1).mean(-1)
    return Errors(off.sum() / held.state.possible.sum(), each.mean(), each)


@functools.partial(jax.jit, static_argnames="iterations")
def _solved(
    games: Subgames, solver: Solver, subgame_class: Array, beliefs: Array, *, iterations: int
) -> Array:
    return solved(None, games, solver, subgame_class, beliefs, iterations)
