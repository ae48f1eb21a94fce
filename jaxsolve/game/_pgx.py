"""Board games of pgx, by their string: "pgx:connect_four".

They come as rules: perfect information, two players, nothing drawn by chance. pgx shuffles which
player moves first; here player 0 always does. Everybody sees the action that was just played.

Source: Koyamada et al. 2023 (Pgx: Hardware-accelerated parallel game simulators for reinforcement
learning).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game._optional import Seen
from jaxsolve.game._strings import pointing, read, unknown
from jaxsolve.types import NOTHING, TERMINAL, Array

PGX_PREFIX = "pgx:"
"""What the string of a game of pgx starts with."""

GAMES = (
    "animal_shogi",
    "chess",
    "connect_four",
    "gardner_chess",
    "go",
    "go_19x19",
    "go_9x9",
    "hex",
    "othello",
    "shogi",
    "tic_tac_toe",
)
"""What can be loaded; `go` has the parameters of `pgx.go.Go`, the others have none."""

PGX_LISTED = ("tic_tac_toe",)
"""Those without parameters whose states can be listed."""

_BOARDS = {"pgx:tic_tac_toe": (3, 3), "pgx:connect_four": (6, 7)}
"""Rows and columns of the boards that can be drawn from the moves."""

HIDDEN = ("bridge_bidding", "kuhn_poker", "leduc_holdem", "mahjong", "sparrow_mahjong")
"""Games of pgx in which players do not see everything."""

CHANCE = (
    "2048",
    "backgammon",
    "minatar-asterix",
    "minatar-breakout",
    "minatar-freeway",
    "minatar-seaquest",
    "minatar-space_invaders",
)
"""Games of pgx that draw from a key inside a step."""


class PgxState(NamedTuple):
    """One world state.

    Attributes:
        inner: pgx's own state, without its observation.
        last: int32 [], the action just played, NOTHING at the start.
    """

    inner: Any
    last: Array


@dataclasses.dataclass(frozen=True)
class PgxGame:
    """A game of pgx as rules (`Game`).

    Attributes:
        name: the string that loads it again, e.g. "pgx:go(size=5)".
        num_actions: A.
        env: the `pgx.Env`.
        start: its initial state, on the host.
        first: pgx's number of the player who moves first.
    """

    name: str
    num_actions: int
    env: Any = dataclasses.field(repr=False, compare=False)
    start: Any = dataclasses.field(repr=False, compare=False)
    first: int = dataclasses.field(repr=False, compare=False)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    def init(self) -> PgxState:
        """Returns the initial state."""
        return PgxState(jax.tree.map(jnp.asarray, self.start), jnp.int32(NOTHING))

    def actor(self, state: PgxState) -> Array:
        """Returns who moves, int32 []."""
        seat = (state.inner.current_player - self.first) % 2
        return jnp.where(_over(state), TERMINAL, seat).astype(jnp.int32)

    def legal(self, state: PgxState) -> Array:
        """Returns bool [A]."""
        return state.inner.legal_action_mask & ~_over(state)

    def chance(self, state: PgxState) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: PgxState, action: Array) -> PgxState:
        """Returns the state after a move."""
        # pgx mixes Python numbers with arrays of 32 bits and fails where the former have 64.
        with jax.enable_x64(False):
            action = jnp.asarray(action, jnp.int32)
            return PgxState(_bare(self.env.step(state.inner, action)), action)

    def observe(self, state: PgxState) -> tuple[Array, Array]:
        """Returns public [1]: the action just played; private [2, 0]."""
        return state.last[None], jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: PgxState) -> Array:
        """Returns float [2]: what pgx rewards the last move with, 1 for a win."""
        return jnp.roll(state.inner.rewards, -self.first).astype(float)

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns the board of tic-tac-toe or connect four; the moves so far of other games."""
        moves = [int(public[0]) for _, public, _ in seen if public[0] != NOTHING]
        rows, columns = _BOARDS.get(self.name, (0, 0))
        if not rows:
            return f"you are player {player}; moves so far: {' '.join(map(str, moves)) or 'none'}"
        drops = self.name == "pgx:connect_four"
        board = [
            ["." if drops else str(r * columns + c) for c in range(columns)] for r in range(rows)
        ]
        for k, move in enumerate(moves):
            row, column = divmod(move, columns)
            if drops:  # onto the stones that lie there
                row = rows - 1 - sum(move == other for other in moves[:k])
            board[row][column] = "xo"[k % 2]
        head = [" ".join(map(str, range(columns)))] if drops else []
        lines = [f"you are {'xo'[player]}", *head, *(" ".join(row) for row in board)]
        return "\n".join(lines)

    def public_features(self, state: PgxState) -> Array:
        """Returns float [F]: pgx's observation of whoever is to move, flat; for networks."""
        with jax.enable_x64(False):
            seen = self.env.observe(state.inner)
        return jnp.ravel(seen).astype(float)


def load_pgx(text: str) -> PgxGame:
    """Returns the game of a string, "pgx:" in front or not, such as "pgx:go(size=5,komi=0.5)".

    Raises:
        ImportError: pgx is not installed.
        ValueError: there is no such game or parameter, or the game has hidden information or
            chance inside its steps.
    """
    text = text.strip().removeprefix(PGX_PREFIX).strip()
    name, parameters = read(text, kind="pgx game", example="connect_four", name=r"[\w-]+")
    if name in HIDDEN:
        raise ValueError(
            f"pgx:{name} has hidden information, and pgx does not say what each player sees of a "
            "move. Games of perfect information can be imported; `jaxsolve games` lists others."
        )
    if name in CHANCE:
        raise ValueError(
            f"pgx:{name} draws chance inside its steps, so the odds of its outcomes cannot be "
            "listed. Games without chance can be imported."
        )
    if name not in GAMES:
        raise ValueError(unknown("pgx game", name, GAMES))
    for p in parameters:
        if not p.key:
            raise ValueError(pointing("pgx game", text, p.position, "expected key=value"))
    return _make(name, tuple((p.key, p.value) for p in parameters))


def import_pgx() -> ModuleType:
    """Returns the module `pgx`.

    Raises:
        ImportError: pgx is not installed; says how to install it.
    """
    try:
        import pgx
    except ImportError as error:
        raise ImportError(f'this needs pgx ({error}): pip install "jaxsolve[pgx]"') from None
    return pgx


@functools.lru_cache(maxsize=64)
def _make(name: str, parameters: tuple[tuple[str, Any], ...]) -> PgxGame:
    # Modules of pgx make tables when they are imported, some of them with keys of the old kind.
    with jax.enable_x64(False), jax.legacy_prng_key("allow"):
        pgx = import_pgx()
        if name == "go":
            env = _with_parameters(importlib.import_module("pgx.go").Go, parameters)
        elif parameters:
            raise ValueError(f"pgx:{name} has no parameters; `go` is the only game that has some")
        else:
            env = pgx.make(name)
        # A number of Python's own in pgx's state becomes an array, and stays of 32 bits.
        start = _bare(env.init(jax.random.key(0)))
        start = jax.tree.map(lambda x: np.asarray(jnp.asarray(x)), start)
    given = ",".join(f"{key}={value}" for key, value in parameters)
    return PgxGame(
        name=f"{PGX_PREFIX}{name}({given})" if given else f"{PGX_PREFIX}{name}",
        num_actions=int(start.legal_action_mask.shape[0]),
        env=env,
        start=start,
        first=int(start.current_player),
    )


def _with_parameters(make: Any, parameters: tuple[tuple[str, Any], ...]) -> Any:
    known = inspect.signature(make).parameters
    for key, value in parameters:
        if key not in known:
            listed = ", ".join(f"{k}={p.default}" for k, p in known.items())
            raise ValueError(f"pgx:go has no parameter {key!r}. Its parameters: {listed}.")
        if not isinstance(value, (int, float)) or value < 0:
            raise ValueError(f"{key}={value} of pgx:go must be a number that is not negative")
    size = dict(parameters).get("size", 19)
    if not isinstance(size, int) or not 2 <= size <= 19:
        raise ValueError(f"size={size} of pgx:go must be a whole number from 2 to 19")
    return make(**dict(parameters))


def _bare(state: Any) -> Any:
    """Returns a state of pgx without its observation, which follows from the rest."""
    return state.replace(observation=jnp.zeros(0, bool))


def _over(state: PgxState) -> Array:
    return state.inner.terminated | state.inner.truncated
