"""Training data of a river network, made inside the training program."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import devices
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem.river_net._betting import RiverMenu, river_template
from jaxsolve.holdem.river_net._boards import LIVE, RiverBoard, river_board
from jaxsolve.holdem.river_net._native import native_rivers
from jaxsolve.holdem.river_net._network import (
    added_by_betting,
    buckets_of,
    decode,
    encode,
    public_states,
    stack_range,
)
from jaxsolve.holdem.river_net._situations import RiverSituation, random_situation
from jaxsolve.holdem.river_net._solve import solve_river
from jaxsolve.learn import Examples, Source
from jaxsolve.nets import Net
from jaxsolve.public import PublicState
from jaxsolve.solvers import Solver, dcfr
from jaxsolve.types import Array, PRNGKey

Engine = Literal["native", "jax"]


@dataclasses.dataclass(frozen=True)
class RiverData:
    """How rivers are drawn and solved.

    Attributes:
        menu: what may be bet.
        least, most: stack in pots; its logarithm is even between the two.
        iterations: of the solver.
        engine: "native" solves in C++, called from the program; "jax" inside it.
    """

    menu: RiverMenu = RiverMenu()  # noqa: RUF009
    least: float = 0.1
    most: float = 20.0
    iterations: int = 100
    engine: Engine = "native"

    def check(self) -> None:
        """Raises ValueError where the settings make no sense."""
        stack_range(self.least, self.most)
        if self.most > self.menu.deepest:
            raise ValueError(
                f"stacks of up to {self.most:g} pots need a tree that is as deep, and this one is "
                f"right up to {self.menu.deepest:g}"
            )
        if self.iterations < 1:
            raise ValueError(f"iterations is {self.iterations}, but must be positive")
        if self.engine not in ("native", "jax"):
            raise ValueError(f'unknown engine {self.engine!r}; choose "native" or "jax"')


class Rivers(NamedTuple):
    """Solved rivers (N of them).

    Attributes:
        situation: the rivers.
        values: float32 [N, 2, H], see `solve_river`.
        exploitability: float32 [N], in pots.
    """

    situation: RiverSituation
    values: Array
    exploitability: Array


def river_solver(data: RiverData, solver: Solver | None = None) -> Any:
    """Returns a function (boards, ranges, stack) -> (values, exploitability) of B rivers.

    The boards are a `RiverBoard` with leading axis B; the rest is as in `Rivers`. It can be called
    inside a compiled program.
    """
    data.check()
    chosen = dcfr() if solver is None else solver
    template = river_template(data.menu, "native" if data.engine == "native" else None)
    if data.engine == "native":
        in_cpp = native_rivers(template, chosen, data.iterations)

        def call(boards: RiverBoard, ranges: Array, stack: Array) -> tuple[Array, Array]:
            count = len(stack)
            shapes = (
                jax.ShapeDtypeStruct((count, 2, LIVE), jnp.float32),
                jax.ShapeDtypeStruct((count,), jnp.float32),
            )
            found: tuple[Array, Array] = jax.pure_callback(
                in_cpp, shapes, boards.pair, boards.high, ranges, stack
            )
            return found

        return devices.split(call)

    def one(river: tuple[RiverBoard, Array, Array]) -> tuple[Array, Array]:
        found = solve_river(template, chosen, *river, iterations=data.iterations)
        return found.values, found.exploitability

    def solve(boards: RiverBoard, ranges: Array, stack: Array) -> tuple[Array, Array]:
        rivers = (boards, ranges, stack)
        if jax.default_backend() == "cpu":
            found: tuple[Array, Array] = jax.lax.map(one, rivers)
            return found
        return jax.vmap(one)(rivers)

    return devices.split(solve)


def river_source(net: Net, data: RiverData, *, batch: int = 32) -> Source:
    """Returns random rivers as a source of `learn.train`.

    Args:
        net: the network, for the number of its buckets.
        data: how rivers are drawn and solved.
        batch: rivers of a step.

    Raises:
        ValueError: settings make no sense, or there is no C++ compiler for "native".
    """
    solve = river_solver(data)
    buckets = buckets_of(net)
    form = "native" if data.engine == "native" else "dense"

    def sample(_: Net, state: Array, key: PRNGKey) -> tuple[Examples, Array]:
        draw = functools.partial(random_situation, least=data.least, most=data.most)
        some = jax.vmap(draw)(jax.random.split(key, batch))
        boards = jax.vmap(river_board)(some.board)
        values, _ = solve(boards, some.ranges, some.stack)

        def bucketed(river: Any) -> tuple[Array, ...]:
            board, ranges, values = river
            seen = encode(board, ranges, buckets, form)  # type: ignore[arg-type]
            return seen.shares, seen.tied, *added_by_betting(values, seen)

        rivers = (boards, some.ranges, values)
        each = devices.split(functools.partial(jax.lax.map, bucketed))
        shares, tied, added, weight = each(rivers)
        states = public_states(shares, tied, some.stack)
        policy = jnp.zeros((batch, 1, 1))  # there is none, and checkpoints take no empty arrays
        return Examples(states.features, shares, added, policy, weight), state + 1

    def public_state(features: Array) -> PublicState:
        count = len(features)
        return PublicState(
            features,
            jnp.ones((count, 2, buckets), bool),
            jnp.ones(count),
            jnp.full(count, -1, jnp.int32),
        )

    settings = repr(data)
    return Source(
        lambda _: jnp.zeros((), jnp.int32), sample, batch, public_state, settings=settings
    )


def solved_rivers(key: PRNGKey, data: RiverData, count: int) -> Rivers:
    """Returns random rivers, solved: for measuring networks on."""
    solve = river_solver(data)

    @jax.jit
    def make(key: PRNGKey) -> Rivers:
        draw = functools.partial(random_situation, least=data.least, most=data.most)
        some = jax.vmap(draw)(jax.random.split(key, count))
        return Rivers(some, *solve(jax.vmap(river_board)(some.board), some.ranges, some.stack))

    return jax.tree.map(np.asarray, make(key))


def river_errors(net: Net, rivers: Rivers) -> dict[str, float]:
    """Returns how far a network is off, over all hands of both players.

    Returns:
        "mae", mean absolute error, and "huber", mean Huber loss with delta 1, of values per unit
        of the reach that a hand meets, in pots; "mae_range", the first with hands weighed by their
        ranges; "mae_check_down", the first of a network that says that betting adds nothing.
    """
    form = "native" if choose_operator() == "native" else "dense"
    found = _errors(net, rivers, form)
    return {name: float(value) for name, value in found.items()}


@functools.partial(jax.jit, static_argnames="form")
def _errors(net: Net, rivers: Rivers, form: Any) -> dict[str, Array]:
    def one(river: tuple[RiverSituation, Array]) -> dict[str, Array]:
        situation, values = river
        seen = encode(river_board(situation.board), situation.ranges, buckets_of(net), form)
        off = jnp.abs(decode(net, seen, situation.stack) - values) / seen.meets
        plain = jnp.abs(seen.shown - values) / seen.meets
        huber = jnp.where(off <= 1, off**2 / 2, off - 0.5)
        return {
            "mae": off.mean(),
            "huber": huber.mean(),
            "mae_range": (situation.ranges * off).sum(-1).mean(),
            "mae_check_down": plain.mean(),
        }

    parts = jax.lax.map(one, (rivers.situation, rivers.values))
    return jax.tree.map(jnp.mean, parts)
