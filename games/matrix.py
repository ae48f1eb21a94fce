"""A matrix game: both players choose at once, and a table says what each of them gets.

Player 0 chooses a row, then player 1 a column without seeing the row. The payoffs are given as a
matrix to player 0 in a zero-sum game, or as one matrix for each player:

    matrix(payoffs=[[1,-1],[-1,1]])
    matrix(payoffs=[[-1,-3],[0,-2]],column_payoffs=[[-1,0],[-3,-2]])

Source: OpenSpiel's matrix games, played in turns (`turn_based_simultaneous_game`).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, checked
from jaxsolve.types import NOTHING, TERMINAL, Array

from ._params import Points, name_of

Row = Annotated[tuple[Points, ...], Range(1)]
Table = Annotated[tuple[Row, ...], Range(1)]


class State(NamedTuple):
    """One world state.

    Attributes:
        choices: int32 [2], (row, column), -1 before the choice.
    """

    choices: Array


@checked
@dataclasses.dataclass(frozen=True)
class Matrix:
    """Rules. Lists are accepted for the matrices and kept as tuples.

    Attributes:
        payoffs: payoffs to player 0, one tuple per row.
        column_payoffs: payoffs to player 1 in the same shape; None for the negative of `payoffs`.
    """

    payoffs: Table = ((1, -1), (-1, 1))
    column_payoffs: Table | None = None

    def __post_init__(self) -> None:
        tables = {"payoffs": self.payoffs, "column_payoffs": self.column_payoffs or self.payoffs}
        for name, table in tables.items():
            if len({len(row) for row in table}) != 1:
                raise ValueError(f"{name} needs rows of equal length, as in [[1,-1],[-1,1]].")
        shapes = [(len(table), len(table[0])) for table in tables.values()]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"payoffs has shape {shapes[0]} and column_payoffs {shapes[1]}; both need one row "
                "per action of player 0 and one column per action of player 1."
            )

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("matrix", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_actions(self) -> int:
        """The larger of the numbers of rows and columns."""
        return max(np.shape(self.payoffs))

    def init(self) -> State:
        """Returns the state before any choice."""
        return State(choices=jnp.full(2, -1, jnp.int32))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        return jnp.array([0, 1, TERMINAL], jnp.int32)[jnp.sum(state.choices >= 0)]

    def legal(self, state: State) -> Array:
        """Returns bool [A]."""
        limits = jnp.array([*np.shape(self.payoffs), 0])
        return jnp.arange(self.num_actions) < limits[jnp.sum(state.choices >= 0)]

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a choice."""
        mine = jnp.arange(2) == self.actor(state)
        return State(choices=jnp.where(mine, action, state.choices).astype(jnp.int32))

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1]: how many have chosen; private [2, 0]."""
        chosen = jnp.sum(state.choices >= 0)
        public = jnp.where(chosen > 0, chosen, NOTHING).astype(jnp.int32)
        return public[None], jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]: the entries of both matrices."""
        first = np.array(self.payoffs, float)
        second = -first if self.column_payoffs is None else np.array(self.column_payoffs, float)
        both = jnp.asarray(np.stack([first, second], axis=-1))  # [rows, columns, 2]
        return both[state.choices[0], state.choices[1]]

    def public_features(self, state: State) -> Array:
        """Returns float [2]: whose turn it is."""
        return (jnp.arange(2) == self.actor(state)).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns "row i" or "column j"."""
        return f"{('row', 'column')[actor]} {action}"

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns "": that a choice was made is not worth a word."""
        return ""


ENTRY = Entry(
    make=Matrix,
    summary="any two-player game in a table, zero-sum or not",
    references=(
        Reference("", 7, (1, 1), 0.0, "matching pennies", "matrix_mp", public_states=3),
        Reference(
            "payoffs=[[0,-1,1],[1,0,-1],[-1,1,0]]",
            13,
            (1, 1),
            0.0,
            "symmetric",
            "matrix_rps",
            public_states=3,
        ),
        Reference(
            "payoffs=[[5,0],[10,1]],column_payoffs=[[5,10],[0,1]]",
            7,
            (1, 1),
            None,
            "general sum, so no value",
            "matrix_pd",
            public_states=3,
        ),
        Reference(
            "payoffs=[[3,0,2],[1,4,2]]",
            9,
            (1, 1),
            2.0,
            "rows half and half; third column",
            public_states=3,
        ),
    ),
)
