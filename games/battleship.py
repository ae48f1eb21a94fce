"""Battleship: both players hide ships on their own board, then shoot at the other's in turn.

Ships are placed one at a time, in the order of `ship_sizes`, player 0 first; every placement must
leave room for the ships to come. Then the players shoot in turn, player 0 first, `num_shots` each,
or until one of them has lost every ship. Both learn what a shot did: water, a hit, or a ship sunk.
A player gets the values of the ships they sank, less `loss_multiplier` times the values of their
own sunk ships.

Actions, on a board of C cells numbered row by row: c shoots at cell c; C + c places a ship
horizontally with its left end at c; 2C + c vertically with its upper end at c (ships of one cell
are placed horizontally only).

Source: Farina, Ling, Fang and Sandholm 2019, "Correlation in extensive-form games: saddle-point
formulation and benchmarks"; OpenSpiel `battleship`, whose actions and infostates these are. Differs
in the defaults (a 2x2 board, one ship of one cell, two shots each, no shot repeated), because all
joint placements are listed here, and OpenSpiel's 10x10 board with five ships has far too many.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import NOTHING, TERMINAL, Array

from ._params import Points, name_of
from ._words import drawing
from .tic_tac_toe import cell_name

PLACED, WATER, HIT, SUNK = 0, 1, 2, 3
MAX_FLEETS = 100_000


class State(NamedTuple):
    """One world state, for S ships and C cells.

    Attributes:
        fleet: int16 [2, S], the action that placed each ship, -1 before.
        shots: bool [2, C], the cells at which each player has shot.
        sunk: bool [2, S], the ships each player has lost.
        moves: int16 [], how many placements and shots were made.
        cell: int16 [], the cell of the last shot, -1 before.
        event: int8 [], PLACED, WATER, HIT or SUNK: what the last move did; -1 at the start.
    """

    fleet: Array
    shots: Array
    sunk: Array
    moves: Array
    cell: Array
    event: Array


@checked
@dataclasses.dataclass(frozen=True)
class Battleship:
    """Rules. Lists are accepted for sizes and values and kept as tuples.

    Attributes:
        board_width: columns of each board.
        board_height: rows of each board.
        ship_sizes: cells of each ship.
        ship_values: what each ship is worth, in points.
        num_shots: shots of each player.
        allow_repeated_shots: whether a player may shoot at a cell again.
        loss_multiplier: weight of one's own losses; the game is zero-sum where it is 1.
    """

    board_width: Annotated[int, Range(1, 30)] = 2
    board_height: Annotated[int, Range(1, 30)] = 2
    ship_sizes: Annotated[tuple[Annotated[int, Range(1, 30)], ...], Range(1, 10)] = (1,)
    ship_values: tuple[Points, ...] = (1,)
    num_shots: Annotated[int, Range(1, 10_000)] = 2
    allow_repeated_shots: bool = False
    loss_multiplier: Points = 1.0

    def __post_init__(self) -> None:
        if len(self.ship_sizes) != len(self.ship_values):
            raise ValueError(
                "ship_sizes and ship_values need one entry per ship, as in "
                f"ship_sizes=[1,2],ship_values=[1,1]; got {self.ship_sizes}, {self.ship_values}."
            )
        if not self.allow_repeated_shots and self.num_shots > self.num_cells:
            raise ValueError(
                f"num_shots={self.num_shots} exceeds the {self.num_cells} cells of the board; "
                "take fewer shots or allow_repeated_shots=true."
            )
        if not len(self._fleets):
            raise ValueError(f"ships of {self.ship_sizes} cells do not fit on the board.")

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        return name_of("battleship", self)

    @property
    def num_players(self) -> int:
        """Two."""
        return 2

    @property
    def num_cells(self) -> int:
        """C: cells of one board."""
        return self.board_width * self.board_height

    @property
    def num_actions(self) -> int:
        """One more than the largest placement that some ship can have."""
        return int(self._fleets.max()) + 1

    def init(self) -> State:
        """Returns the empty boards."""
        ships = len(self.ship_sizes)
        return State(
            fleet=jnp.full((2, ships), -1, jnp.int16),
            shots=jnp.zeros((2, self.num_cells), bool),
            sunk=jnp.zeros((2, ships), bool),
            moves=jnp.int16(0),
            cell=jnp.int16(-1),
            event=jnp.int8(-1),
        )

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        last = 2 * (len(self.ship_sizes) + self.num_shots)
        over = (state.moves == last) | jnp.any(jnp.all(state.sunk, axis=-1))
        return jnp.where(over, TERMINAL, state.moves % 2).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        """Returns bool [A]."""
        player = state.moves % 2
        ship = state.moves // 2
        placed = jnp.arange(len(self.ship_sizes)) < ship
        fleets = jnp.asarray(self._fleets, jnp.int32)
        fits = jnp.all((fleets == state.fleet[player]) | ~placed, axis=-1)  # [F]
        place = jnp.take(fleets, ship, axis=1, mode="clip")  # [F]
        actions = jnp.arange(self.num_actions)
        placements = jnp.any(fits[:, None] & (place[:, None] == actions), axis=0)
        fresh = ~state.shots[player] | self.allow_repeated_shots
        shots = jnp.zeros(self.num_actions, bool).at[: self.num_cells].set(fresh)
        legal = jnp.where(ship < len(self.ship_sizes), placements, shots)
        return legal & (self.actor(state) != TERMINAL)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a placement or a shot."""
        ships = len(self.ship_sizes)
        mover = jnp.arange(2)[:, None] == state.moves % 2  # [2, 1]
        placing = state.moves < 2 * ships
        next_ship = jnp.arange(ships) == state.moves // 2
        fleet = jnp.where(mover & placing & next_ship, action, state.fleet)
        struck = jnp.arange(self.num_cells) == action
        shots = state.shots | (mover & ~placing & struck)

        victim = 1 - state.moves % 2
        covers = jnp.asarray(self._covers)[jnp.arange(ships), fleet[victim]]  # [S, C]
        down = jnp.all(~covers | shots[1 - victim], axis=-1)
        hit = jnp.any(covers & struck, axis=-1)
        event = jnp.where(jnp.any(hit & down), SUNK, jnp.where(jnp.any(hit), HIT, WATER))
        return State(
            fleet=fleet.astype(jnp.int16),
            shots=shots,
            sunk=jnp.where(~mover & ~placing, down, state.sunk),
            moves=state.moves + jnp.int16(1),
            cell=jnp.where(placing, -1, action).astype(jnp.int16),
            event=jnp.where(placing, PLACED, event).astype(jnp.int8),
        )

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [2]: the cell shot at and what the move did; private [2, 0].

        The victim can tell from their own board what a shot did, so it is public.
        """
        public = jnp.stack([state.cell.astype(jnp.int32), state.event.astype(jnp.int32)])
        return public, jnp.zeros((2, 0), jnp.int32)

    def utility(self, state: State) -> Array:
        """Returns float [2]: points."""
        lost = jnp.sum(jnp.where(state.sunk, jnp.array(self.ship_values, float), 0.0), axis=-1)
        return lost[::-1] - self.loss_multiplier * lost

    def public_features(self, state: State) -> Array:
        """Returns float [2 cells + 5]: shots, ships that each player lost, moves, whose turn."""
        turn = jnp.arange(2) == self.actor(state)
        most = 2 * (len(self.ship_sizes) + self.num_shots)
        lost = state.sunk.sum(1) / len(self.ship_sizes)
        numbers = jnp.append(lost, state.moves / most)
        return jnp.concatenate([state.shots.ravel(), numbers, turn]).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns the kind of move and its cell, e.g. "shoot (0,1)"."""
        kind = ("shoot", "horizontal", "vertical")[action // self.num_cells]
        return f"{kind} {cell_name(action % self.num_cells, self.board_width)}"

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns what the last shot did."""
        if public[0] == NOTHING:
            return "placed" if public[1] == PLACED else ""
        event = {WATER: "water", HIT: "hit", SUNK: "sunk"}[int(public[1])]
        return f"{cell_name(public[0], self.board_width)} {event}"

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns both boards as far as the player knows them, ships sunk and shots left."""
        empty, ship, missed, hit = range(4)
        own, other = np.full((2, self.num_cells), empty)
        shots, sunk, placed = [0, 0], [0, 0], 0
        for action, public, _ in seen:
            if public[0] == NOTHING:
                if action >= 0:
                    own[self._covers[placed, action]] = ship
                    placed += 1
                continue
            board, shooter = (other, player) if action >= 0 else (own, 1 - player)
            fresh = board[public[0]] in (empty, ship)
            board[public[0]] = missed if public[1] == WATER else hit
            shots[shooter] += 1
            sunk[1 - shooter] += int(fresh and public[1] == SUNK)
        ships, rival = len(self.ship_sizes), 1 - player
        left = [self.num_shots - count for count in shots]
        shape = self.board_height, self.board_width
        return (
            f"your board: # ship, x hit, o water; sunk {sunk[player]} of {ships}\n"
            f"{drawing(own.reshape(shape), '.#ox')}\n"
            f"the board of player {rival}: sunk {sunk[rival]} of {ships}; cells that you do not "
            f"know are ?\n{drawing(other.reshape(shape), '?#ox')}\n"
            f"shots left: you {left[player]}, player {rival} {left[rival]}"
        )

    @functools.cached_property
    def _covers(self) -> np.ndarray:
        """Bool [S, 3C, C]: the cells that ship s covers when placed by action a; False if off."""
        height, width, cells = self.board_height, self.board_width, self.num_cells
        covers = np.zeros((len(self.ship_sizes), 3 * cells, cells), bool)
        for ship, size in enumerate(self.ship_sizes):
            for row, column in np.ndindex(height, width):
                corner = row * width + column
                if column + size <= width:
                    covers[ship, cells + corner, corner : corner + size] = True
                if row + size <= height and size > 1:
                    covers[ship, 2 * cells + corner, corner : corner + size * width : width] = True
        return covers

    @functools.cached_property
    def _fleets(self) -> np.ndarray:
        """Int [F, S]: every way to place all ships without overlap, as actions."""
        fleets: list[tuple[int, ...]] = [()]
        for ship, places in enumerate(np.any(self._covers, axis=-1)):
            taken = [sum((self._covers[s, a] for s, a in enumerate(f)), 0) for f in fleets]
            more = (
                (*fleet, int(action))
                for fleet, cells in zip(fleets, taken, strict=True)
                for action in np.flatnonzero(places)
                if not np.any(cells & self._covers[ship, action])
            )
            fleets = list(itertools.islice(more, MAX_FLEETS + 1))
            if len(fleets) > MAX_FLEETS:
                raise ValueError(
                    f"more than {MAX_FLEETS} ways to place {ship + 1} ships on a board of "
                    f"{self.board_height}x{self.board_width}; take a smaller board or fewer ships."
                )
        return np.array(fleets).reshape(len(fleets), len(self.ship_sizes))


ENTRY = Entry(
    make=Battleship,
    summary="hide ships and shoot at the other's, on small boards",
    references=(
        Reference(
            "board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
            "allow_repeated_shots=False",
            1573,
            (53, 109),
            0.125,
            "sequence-form LP",
            "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,"
            "allow_repeated_shots=False)",
            public_states=427,
        ),
        Reference(
            "ship_sizes=[1,2],ship_values=[1,2]",
            13685,
            (397, 1189),
            0.0,
            "sequence-form LP",
            "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=2,"
            "allow_repeated_shots=False)",
            public_states=5025,
        ),
    ),
)
