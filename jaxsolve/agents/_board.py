"""Chess and Go of pgx by the words of their moves, and who plays them in a tournament."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._engine import EngineError
from jaxsolve.agents._notation import ChessNotation, GoNotation
from jaxsolve.game import Agent, Observation, PgxGame
from jaxsolve.types import NOTHING, TERMINAL


def notation_of(game: PgxGame) -> ChessNotation | GoNotation:
    """Returns the words of a game's moves.

    Raises:
        ValueError: there are none for this game.
    """
    if game.name == "pgx:chess":
        return ChessNotation()
    if game.name.startswith("pgx:go"):
        inner = game.env._game
        return GoNotation(int(inner.size), float(inner.komi))
    raise ValueError(f"{game.name} has no words of UCI or GTP; use pgx:chess or pgx:go_9x9")


@functools.cache
def _programs(game: PgxGame) -> tuple[Any, Any, Any]:
    """Returns (step, legal moves, first state) of a game, compiled once for all boards."""
    return jax.jit(game.step), jax.jit(game.legal), jax.jit(game.init)()


class Board:
    """A game in progress, by the words of its moves."""

    def __init__(self, game: PgxGame):
        self.game, self.notation = game, notation_of(game)
        self._step, self._legal, self._start = _programs(game)
        self.reset()

    def reset(self) -> None:
        """Goes back to the start."""
        self.state, self.moves = self._start, list[str]()
        self.legal = np.asarray(self._legal(self.state))

    def words(self) -> dict[str, int]:
        """Returns {word: action} of the legal moves."""
        return self.notation.words(self.state, self.legal)

    def play(self, word: str) -> None:
        """Plays a legal move."""
        self.state = self._step(self.state, jnp.int32(self.words()[word]))
        self.moves.append(word)
        self.legal = np.asarray(self._legal(self.state))

    @property
    def result(self) -> float | None:
        """Points of the first player, None while the game goes on."""
        if int(self.game.actor(self.state)) != TERMINAL:
            return None
        return float(self.game.utility(self.state)[0]) / 2 + 0.5


class Player(Protocol):
    """Who plays: an engine, or an agent of this package."""

    def new_game(self) -> None:
        """Forgets the game before."""
        ...

    def move(self, moves: Sequence[str]) -> str:
        """Returns the word of a move after those that were played."""
        ...

    def close(self) -> None:
        """Ends what was started."""
        ...


class AgentPlayer:
    """An agent of this package as a `Player`; it follows the game by the words of the moves.

    Args:
        game: the rules.
        agent: in either seat.
        seed: of its draws.
    """

    def __init__(self, game: PgxGame, agent: Agent, *, seed: int = 0):
        self.board, self.agent, self.seed, self.number = Board(game), agent, seed, 0
        self.act = agent.act if agent.host else jax.jit(agent.act)
        self.new_game()
        if not agent.host:  # compiles now, not on the clock of the first move
            first, second = jax.random.split(jax.random.key(seed))
            self.act(agent.init(jnp.int32(0), first), self._seen(0), second)

    def new_game(self) -> None:
        """See `Player`."""
        self.board.reset()
        self.number += 1
        self.memory: Any = None
        self.shown: list[int] = []
        self.own = -1

    def move(self, moves: Sequence[str]) -> str:
        """See `Player`."""
        for word in moves[len(self.board.moves) :]:
            action = self.board.words()[word]
            self.board.play(word)
            self.shown.append(action)
        seat = len(moves) % 2
        key = jax.random.fold_in(jax.random.key(self.seed), 1000 * self.number + len(moves))
        first, second = jax.random.split(key)
        if self.memory is None:
            self.memory = self.agent.init(jnp.int32(seat), first)
        decision, self.memory = self.act(self.memory, self._seen(seat), second)
        self.own = int(decision.action)
        self.shown = [self.own]
        mine = [w for w, a in self.board.words().items() if a == self.own]
        if not mine:
            raise EngineError(f"chose action {self.own}, which is not legal")
        self.board.play(mine[0])
        return mine[0]

    def _seen(self, seat: int) -> Observation:
        """Returns what was shown since the agent's last move."""
        rows = np.full((64, 1), NOTHING, np.int32)
        shown = self.shown[-64:]
        rows[: len(shown), 0] = shown
        return Observation(
            player=jnp.int32(seat),
            public=jnp.asarray(rows),
            private=jnp.zeros((64, 0), jnp.int32),
            length=jnp.int32(len(shown)),
            action=jnp.int32(self.own),
            legal=jnp.asarray(self.board.legal),
            infoset=None,
        )

    def close(self) -> None:
        """See `Player`."""
