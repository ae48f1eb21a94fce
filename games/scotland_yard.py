"""Scotland Yard: detectives, who see each other, hunt for Mr X, who sees everything.

Player 0 is Mr X, player 1 all detectives together. In a round Mr X moves along one connection and
then each detective does. A move costs a ticket of its kind, and the tickets that detectives use
become those of Mr X. Nobody may stay where they are or enter a detective's station; a detective
without a legal move passes. The detectives see which ticket Mr X uses, and where he is after some
of his moves only. Mr X loses 1 when a detective comes to his station or when he cannot move, and
wins 1 if he is free after the last round. With a double move he moves twice before they do.

Source: Schmid et al. 2023 (Student of Games), supplement, for the map "glasses": public start, five
rounds, no reveals. The board game for the map "london". Differs from the board game in that a
double move is announced before its first move, not after.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, HiddenMoves, MoveTables, Range, Reference, Seen, checked
from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

from ._params import name_of
from ._scotland_yard_drawing import as_svg
from ._scotland_yard_features import public_features, station_features
from ._scotland_yard_maps import Map, named_map, taxi_map
from ._scotland_yard_moves import detective_moves, evader_moves, tables_of, ways_of
from ._scotland_yard_words import beliefs_in_words, situation

PLAYING, CAUGHT, BLOCKED, FREE = 0, 1, 2, 3
"""Results, as they are announced after a detective's move."""

SINGLE, FIRST, SECOND = 0, 1, 2
"""Which move of Mr X is next: an ordinary one, or one of a double move."""

Station = Annotated[int, Range(1, 1_000)]
Tickets = Annotated[int, Range(0, 100)]


class State(NamedTuple):
    """A state (D detectives, K kinds of tickets).

    Attributes:
        stations: int16 [1 + D], where Mr X and the detectives are, from 0; -1 before chance.
        tickets: int16 [1 + D, K], tickets left.
        doubles: int8 [], double moves left.
        phase: int8 [], SINGLE, FIRST or SECOND.
        moves: int8 [], moves of Mr X so far.
        turn: int8 [], 0 for Mr X, 1..D for detectives, -1 for chance.
        mover: int8 [], whose turn it was before; -2 at the start.
        used: int8 [], the ticket used in it, K for a pass, K + 1 for an announced double move.
        result: int8 [], PLAYING, CAUGHT, BLOCKED or FREE.
    """

    stations: Array
    tickets: Array
    doubles: Array
    phase: Array
    moves: Array
    turn: Array
    mover: Array
    used: Array
    result: Array


@checked
@dataclasses.dataclass(frozen=True)
class ScotlandYard:
    """Rules. What is not given is that of the map. Stations are numbered from 1.

    An action is number of ticket x stations + station - 1; then pass, then double move.

    Attributes:
        board: "glasses" or "london".
        edges: a map of one's own: pairs of stations joined by taxi. `evader` and `detectives` then
            have to be given, too.
        evader: station at which Mr X starts; of several, chance draws one and shows it to him only.
        detectives: stations of the detectives.
        rounds: moves of Mr X, 1 to 100; 5 on a map of one's own.
        reveals: after which of them he shows where he is.
        tickets: of each detective, by kind; a map of one's own has one kind, and one a round.
        evader_tickets: of Mr X.
        doubles: double moves of Mr X.
    """

    board: Literal["glasses", "london"] = "glasses"
    edges: tuple[tuple[Station, Station], ...] | None = None
    evader: tuple[Station, ...] | None = None
    detectives: tuple[Station, ...] | None = None
    rounds: Annotated[int | None, Range(1, 100)] = None
    reveals: tuple[Annotated[int, Range(1, 100)], ...] | None = None
    tickets: tuple[Tickets, ...] | None = None
    evader_tickets: tuple[Tickets, ...] | None = None
    doubles: Annotated[int | None, Range(0, 100)] = None

    def __post_init__(self) -> None:
        if self.edges is not None and not (self.edges and self.evader and self.detectives):
            raise ValueError(
                "a map of your own needs edges, and stations to start from: "
                "edges=[[1,2],[2,3],[3,1]],evader=[1],detectives=[3]."
            )
        here = self.map
        known = {s for kind in here.edges for pair in kind for s in pair}
        for station in (*here.evader, *here.detectives):
            if station not in known:
                raise ValueError(f"no connection of the map leads to station {station}.")
        if any(a == b for kind in here.edges for a, b in kind):
            raise ValueError("edges join two different stations, numbered from 1.")
        start = (*here.detectives, *here.evader)
        if not here.detectives or not here.evader or len(set(start)) < len(start):
            raise ValueError(
                "Mr X and each detective need stations of their own to start from; got "
                f"evader={list(here.evader)}, detectives={list(here.detectives)}."
            )
        if self.reveals and max(self.reveals) > here.rounds:
            raise ValueError(
                f"reveals name moves of Mr X, 1 to rounds={here.rounds}; got {list(self.reveals)}."
            )
        for field in ("tickets", "evader_tickets"):
            count = getattr(here, field)
            if len(count) != len(here.kinds):
                raise ValueError(
                    f"{field} must be {len(here.kinds)} numbers, one for each of "
                    f"{', '.join(here.kinds)}; got {list(count)}."
                )

    @property
    def name(self) -> str:
        return name_of("scotland_yard", self)

    @functools.cached_property
    def map(self) -> Map:
        """The map, with what the parameters change."""
        if self.edges is None:
            base = named_map(self.board)
            if self.rounds is not None and self.board == "glasses":
                base = taxi_map(base.edges[0], base.evader, base.detectives, self.rounds)
        else:
            base = taxi_map(self.edges, (), (), 5 if self.rounds is None else self.rounds)
        return base.with_(
            evader=self.evader,
            detectives=self.detectives,
            rounds=self.rounds,
            reveals=self.reveals,
            tickets=self.tickets,
            evader_tickets=self.evader_tickets,
            doubles=self.doubles,
        )

    @functools.cached_property
    def _joined(self) -> np.ndarray:
        return self.map.joined()

    @property
    def num_players(self) -> int:
        return 2

    @property
    def num_actions(self) -> int:
        return self._pass + 1 + (self.map.doubles > 0)

    @property
    def _pass(self) -> int:
        return len(self.map.kinds) * self.map.num_stations

    def init(self) -> State:
        here = self.map
        drawn = len(here.evader) > 1
        stations = [0 if drawn else here.evader[0], *here.detectives]
        tickets = [here.evader_tickets] + [here.tickets] * len(here.detectives)
        start = State(
            stations=jnp.array(stations, jnp.int16) - 1,
            tickets=jnp.array(tickets, jnp.int16),
            doubles=jnp.int8(here.doubles),
            phase=jnp.int8(SINGLE),
            moves=jnp.int8(0),
            turn=jnp.int8(-1 if drawn else 0),
            mover=jnp.int8(-2),
            used=jnp.int8(-1),
            result=jnp.int8(PLAYING),
        )
        return start if drawn else self._with_blocked(start)

    def actor(self, state: State) -> Array:
        player = jnp.where(state.turn < 0, CHANCE, jnp.minimum(state.turn, 1))
        return jnp.where(state.result == PLAYING, player, TERMINAL).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        moves = self._moves(state)
        stuck = ~jnp.any(moves)
        rest = [stuck & (state.turn > 0)]
        if self.map.doubles:
            enough = (state.doubles > 0) & (state.moves + 2 <= self.map.rounds)
            rest.append((state.turn == 0) & (state.phase == SINGLE) & enough & ~stuck)
        players = jnp.concatenate([moves.reshape(-1), jnp.stack(rest)])
        legal = jnp.where(state.turn < 0, self.chance(state) > 0, players)
        return legal & (state.result == PLAYING)

    def chance(self, state: State) -> Array:
        start = np.isin(np.arange(self.num_actions), np.array(self.map.evader) - 1)
        return jnp.asarray(start / start.sum(), float)

    def step(self, state: State, action: Array) -> State:
        stations = self.map.num_stations
        last = len(self.map.detectives)
        moves = action < self._pass
        ticket, place = action // stations, action % stations
        player = state.turn >= 0
        mover = jnp.maximum(state.turn, 0)
        at = jnp.where(moves, place, state.stations[mover])
        spent = (moves & player).astype(jnp.int16)
        ticket_in = jnp.where(moves, ticket, 0)
        tickets = state.tickets.at[mover, ticket_in].add(-spent)
        tickets = tickets.at[0, ticket_in].add(jnp.where(mover > 0, spent, 0).astype(jnp.int16))
        doubles = (action == self._pass + 1).astype(jnp.int8)
        after_move = jnp.where(state.phase == FIRST, SECOND, SINGLE)
        phase = jnp.where(state.turn != 0, state.phase, jnp.where(moves, after_move, FIRST))
        following = jnp.where((state.turn == 0) & (phase != SINGLE), 0, state.turn + 1)
        turn = jnp.where(following > last, 0, following)
        after = State(
            stations=state.stations.at[mover].set(at.astype(jnp.int16)),
            tickets=tickets,
            doubles=state.doubles - doubles,
            phase=phase.astype(jnp.int8),
            moves=state.moves + ((state.turn == 0) & moves).astype(jnp.int8),
            turn=turn.astype(jnp.int8),
            mover=state.turn,
            used=jnp.where(moves, ticket, len(self.map.kinds) + doubles).astype(jnp.int8),
            result=state.result,
        )
        over = (following > last) & (after.moves >= self.map.rounds)
        result = jnp.where(over, FREE, PLAYING)
        caught = (state.turn > 0) & (after.stations[mover] == after.stations[0])
        after = after._replace(result=jnp.where(caught, CAUGHT, result).astype(jnp.int8))
        return self._with_blocked(after)

    def observe(self, state: State) -> tuple[Array, Array]:
        """public: [3], ticket used, station if it is shown, result after a detective's move.

        private: [2, 1], to Mr X the station that chance drew.
        """
        evader, detective = state.mover == 0, state.mover > 0
        named = evader & (state.used < len(self.map.kinds))
        shown = named & jnp.isin(state.moves, jnp.array((0, *self.map.reveals)))
        place = state.stations[jnp.maximum(state.mover, 0)]
        public = [
            jnp.where(evader | detective, state.used, NOTHING),
            jnp.where(shown | detective, place, NOTHING),
            jnp.where(detective | (state.result != PLAYING), state.result, NOTHING),
        ]
        private = jnp.where(state.mover == -1, state.stations[0], NOTHING)
        private = jnp.stack([private, jnp.full_like(private, NOTHING)])[:, None]
        return jnp.stack(public).astype(jnp.int32), private.astype(jnp.int32)

    def utility(self, state: State) -> Array:
        """1 for Mr X where he is free in the end, else 1 for the detectives."""
        free = jnp.where(state.result == FREE, 1.0, -1.0)
        return jnp.stack([free, -free])

    def private_states(self, state: State) -> Array:
        """int32 [2]: the station of Mr X, from 0; the detectives have nothing to hide."""
        return jnp.stack([state.stations[0], jnp.zeros_like(state.stations[0])]).astype(jnp.int32)

    def longest(self) -> tuple[int, int]:
        """Decisions in the longest game, double moves included, and reveals."""
        here = self.map
        return here.rounds * (1 + len(here.detectives)) + here.doubles, len(here.reveals)

    def longest_wait(self) -> tuple[int, int]:
        """Moves from a player's decision to their next at most, their own included, and reveals.

        Mr X waits for all detectives; they wait for a move of his, or for a double move, which is
        announced and then made.
        """
        his = 3 if self.map.doubles else 1
        return 1 + max(len(self.map.detectives), his), min(2, len(self.map.reveals))

    def move_tables(self) -> MoveTables:
        """What moves do to the station of Mr X."""
        return tables_of(self.map)

    def place(self, state: State, number: Array) -> State:
        """The state with Mr X at another station."""
        mine = jnp.asarray(number, state.stations.dtype)[None]
        return state._replace(stations=jnp.concatenate([mine, state.stations[1:]]))

    def hidden_moves(self, state: State) -> HiddenMoves:
        """What whoever is to move may do, for every station of Mr X."""
        mover = jnp.maximum(state.turn - 1, 0).astype(jnp.int32)
        stations = state.stations[1:].astype(jnp.int32)
        tickets, moves = state.tickets.astype(jnp.int32), state.moves.astype(jnp.int32)
        evader = evader_moves(self.map, stations, tickets[0], state.doubles, state.phase, moves)
        detective = detective_moves(
            self.map, stations, tickets[1 + mover], tickets[0], mover, moves
        )
        return jax.tree.map(lambda x, y: jnp.where(state.turn == 0, x, y), evader, detective)

    def public_features(self, state: State) -> Array:
        """float [D S + D + 1 + (D + 1) K + 4 + 2 G]; for networks.

        Stations of the detectives, whose turn, shares of the tickets left, of double moves left and
        of the moves done, which move of a double one is next, and moves until Mr X shows himself
        and since he last did, G of each at most (`reveal_waits`).
        """
        return public_features(self.map, state)

    @property
    def num_placed(self) -> int:
        """D S, the public features, the first ones, that say where the detectives are.

        `private_features` say it of each station. A network that is told both, one number for each
        detective on each station, learns games by heart: it may `skip` these.
        """
        return len(self.map.detectives) * self.map.num_stations

    def private_features(self, state: State, numbers: Array | None = None) -> Array:
        """float [2, N, 2 D + 12], what some or all stations are like for Mr X; not in the paper.

        The detectives' only private state has 0. See `station_features`.
        """
        stations = state.stations[1:].astype(jnp.int32)
        some = None if numbers is None else numbers[0]
        mine = station_features(self.map, stations, state.turn, some)
        return jnp.stack([mine, jnp.zeros_like(mine)])

    def action_name(self, actor: int, action: int) -> str:
        if action >= self._pass:
            return "pass" if action == self._pass else "double"
        ticket, place = divmod(action, self.map.num_stations)
        return f"start {place + 1}" if actor == CHANCE else f"{self.map.kinds[ticket]} {place + 1}"

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        used, place, result = (int(x) for x in public)
        words = [(*self.map.kinds, "pass", "double")[used]] if used != NOTHING else []
        words += [f"at {int(x) + 1}" for x in (place, *private) if x != NOTHING]
        words += [("caught", "blocked", "free")[result - 1]] if result > PLAYING else []
        return " ".join(words)

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        return situation(self.map, player, seen)

    def beliefs_in_words(self, beliefs: np.ndarray) -> str:
        """The ten likeliest stations of Mr X, and how many are possible."""
        return beliefs_in_words(beliefs[0, : self.map.num_stations])

    def svg(
        self, state: State, player: int | None = None, *, belief: np.ndarray | None = None
    ) -> str:
        """Returns the map as SVG, what `player` sees of it; None shows Mr X as well.

        Args:
            state: a state.
            player: 0 or 1.
            belief: float [S], probability of each station of Mr X, drawn as discs.
        """
        evader = None if player == 1 else int(state.stations[0])
        return as_svg(self.map, np.asarray(state.stations[1:]), belief=belief, evader=evader)

    def _moves(self, state: State) -> Array:
        """Returns bool [K, stations], where whoever is to move can go with each ticket."""
        mover = jnp.maximum(state.turn, 0)
        place = jnp.maximum(state.stations[mover], 0)
        taken = jnp.any(jnp.arange(self.map.num_stations) == state.stations[1:, None], axis=0)
        ways = jnp.asarray(self._joined)[:, place]
        return ways & (state.tickets[mover] > 0)[:, None] & ~taken

    def _with_blocked(self, state: State) -> State:
        """Returns the state with its result where Mr X cannot move."""
        free, _, _ = ways_of(self.map, state.stations, state.tickets, jnp.int32(0))
        stuck = (state.turn == 0) & (state.result == PLAYING) & ~free.any()
        return state._replace(result=jnp.where(stuck, BLOCKED, state.result).astype(jnp.int8))


ENTRY = Entry(
    make=ScotlandYard,
    summary="detectives hunt for Mr X on a map: glasses, London, or one's own",
    references=(
        Reference(
            "",
            26951,
            (2541, 748),
            -7 / 9,
            "sequence-form LP; Schmid et al. 2023 play this map",
            public_states=3020,
        ),
        Reference("rounds=3", 469, (45, 30), -1 / 3, "sequence-form LP", public_states=114),
        Reference(
            "edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
            "reveals=[2],doubles=1",
            152,
            (35, 28),
            0.0,
            "sequence-form LP",
            public_states=109,
        ),
        Reference(
            "board=london,evader=[82,100],detectives=[102],rounds=1,reveals=[],"
            "evader_tickets=[1,1,1,1],doubles=0",
            220,
            (2, 3),
            1.0,
            "sequence-form LP",
            public_states=24,
        ),
    ),
)
