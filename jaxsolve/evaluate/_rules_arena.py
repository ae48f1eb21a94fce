"""Matches on the rules of a game, stepped and vmapped: any number of players, nothing is listed."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxsolve.evaluate._arena import Turn
from jaxsolve.game import Game, Observation, OpenSpielGame, State
from jaxsolve.types import NOTHING, TERMINAL, Array, Status, pytree


class Position(NamedTuple):
    """A world state, and what each of the n players learned since their own last decision.

    Attributes:
        state: of the rules.
        public: int32 [n, L, p], rows of `Observation.public`.
        private: int32 [n, L, m], rows of `Observation.private`.
        length: int32 [n], rows that there were; those after the first L are lost.
        action: int32 [n], the last action of each player, -1 before the first.
    """

    state: State
    public: Array
    private: Array
    length: Array
    action: Array


@pytree
@dataclasses.dataclass(frozen=True)
class RulesArena:
    """The rules of a game: an `Arena`.

    Attributes:
        first: the initial position.
        game: the rules.
        max_moves: moves of a match, at most.
        max_rows: L, what a player can be shown between two decisions.
    """

    first: Position
    game: Game = dataclasses.field(metadata={"static": True})
    max_moves: int = dataclasses.field(metadata={"static": True})
    max_rows: int = dataclasses.field(metadata={"static": True})

    @property
    def name(self) -> str:
        """The game's string."""
        return self.game.name

    @property
    def num_players(self) -> int:
        """n."""
        return self.game.num_players

    @property
    def num_actions(self) -> int:
        """A."""
        return self.game.num_actions

    def start(self) -> Position:
        """Returns the initial state; it has shown nobody anything yet."""
        return self.first

    def turn(self, position: Position) -> Turn:
        """Returns who moves."""
        legal = self.game.legal(position.state)
        chance = jnp.where(legal, self.game.chance(position.state), 0)
        return Turn(jnp.asarray(self.game.actor(position.state), jnp.int32), legal, chance)

    def observation(self, position: Position, player: Array | int) -> Observation:
        """Returns what a player has been shown; infosets have no numbers."""
        return Observation(
            player=jnp.asarray(player, jnp.int32),
            public=position.public[player],
            private=position.private[player],
            length=position.length[player],
            action=position.action[player],
            legal=self.game.legal(position.state),
            infoset=None,
        )

    def step(self, position: Position, action: Array) -> Position:
        """Returns the position after an action; one that is over stays."""
        actor = jnp.asarray(self.game.actor(position.state), jnp.int32)
        after = self.game.step(position.state, action)
        public, private = _observed(self.game, after)
        mine = jnp.arange(self.num_players) == actor
        blank = (public == NOTHING).all() & (private == NOTHING).all(1)
        told = mine | ~blank
        length = jnp.where(mine, 0, position.length)
        here = (jnp.arange(self.max_rows) == length[:, None]) & told[:, None]

        def written(rows: Array, row: Array) -> Array:
            kept = jnp.where(mine[:, None, None], NOTHING, rows)
            return jnp.where(here[..., None], row, kept)

        following = Position(
            after,
            written(position.public, public),
            written(position.private, private[:, None]),
            length + told,
            jnp.where(mine, jnp.asarray(action, jnp.int32), position.action),
        )
        over = actor == TERMINAL
        return jax.tree.map(
            lambda old, new: jnp.where(over, old, new).astype(old.dtype), position, following
        )

    def utility(self, position: Position) -> Array:
        """Returns float [n]."""
        return jnp.asarray(self.game.utility(position.state), float)

    def status(self, position: Position) -> Array:
        """Returns `Status.ROWS` if whoever acts has been shown more than there is room for."""
        actor = self.game.actor(position.state)
        lost = (jnp.arange(self.num_players) == actor) & (position.length > self.max_rows)
        return jnp.where(lost.any(), Status.ROWS.value, 0).astype(jnp.int32)


def rules_arena(game: Game, *, max_moves: int = 256, max_rows: int = 16) -> RulesArena:
    """Returns the rules of a game, ready to be played.

    Args:
        game: the rules.
        max_moves: moves of a match, chance moves included; a longer match is an error.
        max_rows: transitions that show a player something between two decisions of theirs; more
            are an error.

    Raises:
        ValueError: the game is a tree without rules, cannot be hashed, or a limit is not positive.
    """
    if isinstance(game, OpenSpielGame):
        raise ValueError(
            f"{game.name} comes from OpenSpiel as a tree, not as JAX rules; matches on it are "
            "played on its states: evaluate.arena(js.compile(game))"
        )
    if not isinstance(game, Hashable):
        raise ValueError(
            f"{game.name}: rules are part of a compiled program and need a hash; make the class a "
            "@dataclasses.dataclass(frozen=True)"
        )
    if max_moves < 1 or max_rows < 1:
        raise ValueError(f"max_moves={max_moves} and max_rows={max_rows} must be positive")
    state = jax.tree.map(jnp.asarray, game.init())
    public, private = _observed(game, state)
    n = game.num_players
    first = Position(
        state,
        jnp.full((n, max_rows, public.shape[0]), NOTHING, jnp.int32),
        jnp.full((n, max_rows, private.shape[1]), NOTHING, jnp.int32),
        jnp.zeros(n, jnp.int32),
        jnp.full(n, -1, jnp.int32),
    )
    return RulesArena(first, game, max_moves, max_rows)


def _observed(game: Game, state: State) -> tuple[Array, Array]:
    """Returns what the transition into a state showed: public [p] and private [n, m]."""
    public, private = game.observe(state)
    rows = jnp.asarray(private, jnp.int32).reshape(game.num_players, -1)
    return jnp.ravel(jnp.asarray(public, jnp.int32)), rows
