"""Board games in which nobody sees the other's stones: what phantom and dark games share.

The player to move names a cell whose content they do not know. If it is empty their stone stands
there and the turn passes. If the opponent's stone is there, they learn so, and
    classical: they name another cell, and the opponent notices nothing (or, with `reveal_tries`,
               hears that a try was made);
    abrupt:    the turn passes all the same.

What is public is whose turn it is: in the classical game both notice that the turn passes, hence
that a stone was put. A failed try shows the opponent nothing, so it does not lengthen their
infostate: they cannot count tries by a clock.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Seen
from jaxsolve.types import NOTHING, TERMINAL, Array

from ._words import drawing
from .tic_tac_toe import DRAW, PLAYING, cell_name, result_utility

FAILED, STOOD = 0, 1
OVER = 2


class State(NamedTuple):
    """One world state.

    Attributes:
        board: int8 [cells], 1 + the player whose stone stands there, 0 where empty.
        known: bool [2, cells], the cells whose content each player knows (those they named).
        mover: int8 [], who named a cell last, -1 at the start.
        outcome: int8 [], FAILED or STOOD: what came of it.
        turn: int8 [], who names the next cell.
        result: int8 [], PLAYING, the winner, or DRAW.
    """

    board: Array
    known: Array
    mover: Array
    outcome: Array
    turn: Array
    result: Array


class HiddenBoard(abc.ABC):
    """Rules up to what wins; a game adds its parameters and `wins`."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The string that loads this game again."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the board; cells are numbered row by row."""

    @property
    @abc.abstractmethod
    def classical(self) -> bool:
        """Whether a failed try keeps the turn."""

    @property
    @abc.abstractmethod
    def reveal_tries(self) -> bool:
        """Whether the opponent hears of a failed try that keeps the turn."""

    @abc.abstractmethod
    def wins(self, own: Array, player: Array) -> Array:
        """Returns bool []: whether the stones `own` (bool [cells]) win for `player` (int32 [])."""

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """One per cell."""
        return self.shape[0] * self.shape[1]

    def init(self) -> State:
        """Returns the empty board."""
        return State(
            board=jnp.zeros(self.num_actions, jnp.int8),
            known=jnp.zeros((2, self.num_actions), bool),
            mover=jnp.int8(-1),
            outcome=jnp.int8(STOOD),
            turn=jnp.int8(0),
            result=jnp.int8(PLAYING),
        )

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        return jnp.where(state.result == PLAYING, state.turn, TERMINAL).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [A]: the cells whose content the mover does not know."""
        return ~state.known[state.turn] & (state.result == PLAYING)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a cell is named."""
        player = state.turn.astype(jnp.int32)
        named = jnp.arange(self.num_actions) == action
        stood = jnp.any(named & (state.board == 0))
        board = jnp.where(named & stood, player + 1, state.board)
        won = stood & self.wins(board == player + 1, player)
        result = jnp.where(won, player, jnp.where(jnp.all(board > 0), DRAW, PLAYING))
        keeps = ~stood & self.classical
        return State(
            board=board.astype(jnp.int8),
            known=state.known | (named & (jnp.arange(2)[:, None] == player)),
            mover=state.turn,
            outcome=jnp.where(stood, STOOD, FAILED).astype(jnp.int8),
            turn=jnp.where(keeps, player, 1 - player).astype(jnp.int8),
            result=result.astype(jnp.int8),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1] and private [2, 1].

        public: who is to move, or OVER + result; NOTHING after a try nobody else noticed.
        private: FAILED or STOOD, to the player who named the cell.
        """
        public = jnp.where(state.result == PLAYING, state.turn, OVER + state.result)
        unnoticed = (state.turn == state.mover) & (not self.reveal_tries)
        quiet = (state.mover < 0) | ((state.result == PLAYING) & unnoticed)
        public = jnp.where(quiet, NOTHING, public).astype(jnp.int32)
        private = jnp.where(jnp.arange(2) == state.mover, state.outcome, NOTHING)
        return public[None], private[:, None].astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]: 1 for the winner, -1 for the loser, zeros for a draw."""
        return result_utility(state.result)

    def public_features(self, state: State) -> Array:
        """Returns float [3]: whose turn it is, and the stones or tries that everybody heard of."""
        told = state.known if self.reveal_tries or not self.classical else state.board > 0
        turn = jnp.arange(2) == self.actor(state)
        return jnp.append(turn, told.sum() / (2 * self.num_actions)).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the mark and its place, e.g. "x(0,2)"."""
        return "xo"[actor] + cell_name(action, self.shape[1])

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns what one player saw in one transition."""
        if private[0] == FAILED:
            return "occupied"
        if public[0] >= OVER:
            return ("x wins", "o wins", "draw")[public[0] - OVER]
        return f"{'xo'[public[0]]} to move" if public[0] != NOTHING else ""

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns the board as far as the player knows it."""
        board = np.zeros(self.num_actions, int)
        for action, _, private in seen:
            if action >= 0:
                board[action] = 1 + (player if private[0] == STOOD else 1 - player)
        known = drawing(board.reshape(self.shape), "?xo")
        return f"you are {'xo'[player]}; cells that you do not know are ?\n{known}"
