"""Dark chess (fog of war): chess in which a player sees only where their own pieces can go.

Player 0 is White, player 1 Black. There is no check: kings may be left, moved and castled into,
out of and through attack, and whoever takes the king wins 1. A side without a move draws, and so do
the third repetition, 50 moves of both without a capture or a pawn's move, and a cap on plies; each
is an option. Positions repeat where board, side to move, castling rights and the right to take en
passant are the same. Pawns step two squares, and kings castle, on boards of 8 x 8 only.

After every ply, their own ones too, a player sees their own squares and the targets of their own
moves: a pawn sees a square ahead only if it is empty and a diagonal one only if it can take there.
Whoever may take en passant sees the pawn, too. They do not see what took, unless they see its
square, nor promotions, the other's castling rights, and clocks.

Source: the rules of fog of war as Zhang and Sandholm 2025 (arXiv 2506.01242) play them. OpenSpiel's
`dark_chess` differs in what it shows: its strings tell both clocks, and the side that is not to
move sees where its own pawn came from and what it stepped over, if another of its pawns attacks
that.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.game import Entry, Range, Reference, Seen, checked
from jaxsolve.types import TERMINAL, Array

from . import _chess_boards as boards
from ._chess_drawing import as_svg, as_text
from ._chess_fen import STARTS, Setup, read_fen, square_name, write_fen
from ._chess_guess import guessed_boards
from ._chess_moves import moved, possible_sources
from ._chess_pgn import record, short_move
from ._chess_state import CAPPED, DRAW, OVER, PLAYING, State, material, position_key, sides
from ._chess_value import evaluation, features, king_in_reach
from ._chess_views import coloured, packed, view, view_codes
from ._params import name_of


@checked
@dataclasses.dataclass(frozen=True)
class DarkChess:
    """Rules.

    Attributes:
        size: ranks and files, 4 to 8; that of `fen` where it is given.
        fen: the position to start from; "_" may stand for a space.
        repetition: how often a position has to occur for a draw, 0 for no such rule. Positions are
            compared by a key of 64 bits.
        fifty: moves of each side without capture and pawn's move that draw, 0 for no such rule.
        plies: the game ends after this many, None for no cap.
        at_cap: what it then pays: "draw", or "material", tanh((White's - Black's pawns) / 6).
    """

    size: Annotated[int | None, Range(4, 8)] = None
    fen: str | None = None
    repetition: Annotated[int, Range(0, 10)] = 3
    fifty: Annotated[int, Range(0, 500)] = 50
    plies: Annotated[int | None, Range(1, 10_000)] = None
    at_cap: Literal["draw", "material"] = "draw"

    def __post_init__(self) -> None:
        if self.fen is not None:
            object.__setattr__(self, "fen", self.fen.replace("_", " "))
        setup = self.setup
        if self.fen is not None and self.size not in (None, len(setup.board)):
            raise ValueError(f"size={self.size} is not that of fen={self.fen!r}; leave out one.")
        if self.repetition == 1:
            raise ValueError("repetition counts occurrences: 2 or more, or 0 for no such rule.")
        if self.repetition and not self.fifty and self.plies is None:
            raise ValueError(
                "repetition needs fifty= or plies= beside it, which bound how many positions are "
                "remembered; or write repetition=0."
            )
        if self.fifty and setup.clock >= 2 * self.fifty:
            raise ValueError(f"the clock of {setup.clock} plies in fen has drawn by fifty already.")

    @functools.cached_property
    def setup(self) -> Setup:
        """The position at the start."""
        text = STARTS[self.size or 8] if self.fen is None else self.fen
        return read_fen(text)

    @property
    def name(self) -> str:
        """The string that loads this game again."""
        text = name_of("dark_chess", self)  # which drops spaces
        return text if self.fen is None else text.replace(*_joints(self.fen))

    @property
    def board_size(self) -> int:
        """Ranks and files."""
        return len(self.setup.board)

    @property
    def num_players(self) -> int:
        """Two: White and Black."""
        return 2

    @property
    def num_actions(self) -> int:
        """Planes of moves times squares: 4,672 on a board of 8 x 8."""
        return boards.num_planes(self.board_size) * self.board_size**2

    @functools.cached_property
    def positions(self) -> DarkChess:
        """The same rules without draws by repetition, clock and cap: a state is a position."""
        return dataclasses.replace(self, repetition=0, fifty=0, plies=None, at_cap="draw")

    @functools.cached_property
    def _table(self) -> np.ndarray:
        return boards.action_table(self.board_size)

    @property
    def _remembered(self) -> int:
        """Positions that a draw by repetition has to remember."""
        if not self.repetition:
            return 0
        bounds = [2 * self.fifty] if self.fifty else []
        bounds += [self.plies + self.setup.clock + 1] if self.plies is not None else []
        return min(bounds)

    def init(self) -> State:
        """Returns the start."""
        return self.state_of(self.setup)

    def state_of(self, setup: Setup) -> State:
        """Returns a position as a state, nothing of what came before remembered."""
        board = np.zeros((8, 8), int)
        board[: self.board_size, : self.board_size] = setup.board
        flat = board.reshape(2, 32)
        codes = 1 + np.arange(12).reshape(2, 6, 1, 1)
        weights = np.uint64(1) << np.arange(32, dtype=np.uint64)
        pieces = ((flat == codes) * weights).sum(-1).astype(np.uint32)
        state = State(
            pieces=jnp.asarray(pieces),
            turn=jnp.int8(setup.turn),
            castling=jnp.uint8(setup.castling),
            en_passant=jnp.int8(setup.en_passant),
            clock=jnp.int16(setup.clock if self.fifty or self.repetition else 0),
            plies=jnp.int16(0),
            result=jnp.int8(PLAYING),
            history=jnp.zeros((self._remembered, 2), jnp.uint32),
        )
        return self._ended(state, jnp.asarray(False), jnp.int8(0))

    def actor(self, state: State) -> Array:
        """Returns who moves, int32 []."""
        return jnp.where(state.result == PLAYING, state.turn, TERMINAL).astype(jnp.int32)

    def move_words(self, state: State) -> Array:
        """Returns uint32 [planes * 2]: `legal` as bits, those of action `move_actions`."""
        own, other = sides(state)
        enemy = boards.occupied(other)
        planes = boards.move_planes(
            own, enemy, state.turn, state.castling, state.en_passant, self.board_size
        )
        return jnp.where(state.result == PLAYING, planes, 0).reshape(-1)

    @functools.cached_property
    def move_actions(self) -> np.ndarray:
        """int32 [planes * 64]: the action of each bit of `move_words`, -1 off the board."""
        size = self.board_size
        found = np.full((boards.num_planes(size), 8, 8), -1, np.int32)
        found[:, :size, :size] = np.arange(self.num_actions).reshape(-1, size, size)
        return found.reshape(-1)

    def possible_words(self, state: State, player: int, private: Array) -> Array:
        """Returns `move_words` without moves of the opponent that contradict what a player saw.

        A filter before moves are made: what it leaves is still to be compared with `observe`.

        Args:
            state: before the move.
            player: who saw.
            private: int32 [m], what the move showed to that player.
        """
        words = self.move_words(state)
        mask = possible_sources(state, player, private, self.board_size)
        return jnp.where(state.turn == player, words, words & mask.reshape(-1))

    def legal(self, state: State) -> Array:
        """Returns bool [A], action plane x size^2 + size x rank + file of the start."""
        # Barriers keep the compiler from making the words anew for each of their bits.
        words = jax.lax.optimization_barrier(self.move_words(state))
        # A product spreads four bits over the low bits of four bytes.
        four = (words[:, None] >> jnp.arange(0, 32, 4, dtype=jnp.uint32)) & 15
        spread = (four * jnp.uint32(0x00204081)) & jnp.uint32(0x01010101)
        bits = jax.lax.bitcast_convert_type(spread, jnp.uint8).astype(bool)
        size = self.board_size
        return bits.reshape(-1, 8, 8)[:, :size, :size].reshape(-1)

    def chance(self, state: State) -> Array:
        """Returns float [A], zeros: there is no chance."""
        return jnp.zeros(self.num_actions, float)

    def step(self, state: State, action: Array) -> State:
        """Returns the state after a move."""
        turn = state.turn.astype(jnp.int32)
        after, irreversible, won = moved(state, jnp.asarray(self._table)[action], self.board_size)
        if self.fifty or self.repetition:
            clock = jnp.where(irreversible, 0, state.clock + 1)
            after = after._replace(clock=clock.astype(jnp.int16))
        if self.plies is not None:
            after = after._replace(plies=state.plies + jnp.int16(1))
        return self._ended(after, won, turn)

    def observe(self, state: State) -> tuple[Array, Array]:
        """Returns public [1] and private [2, m].

        public: who is to move, or OVER + result.
        private: to each player five sets of squares, as words of two ranks: what they see, their
            own pieces, and bits 0 to 2 of 1 + kind of what stands there; then 1 + the square on
            which they may take en passant, 0 for none.
        """
        public = jnp.where(state.result == PLAYING, state.turn, OVER + state.result)
        rows = []
        for player in (0, 1):
            sets = view(state, player, self.board_size)
            may_take = (state.turn == player) & (state.en_passant >= 0)
            square = jnp.where(may_take, state.en_passant + 1, 0).astype(jnp.int32)
            rows.append(jnp.stack([*packed(sets, self.board_size), square]))
        return public.astype(jnp.int32)[None], jnp.stack(rows)

    def visible(self, state: State) -> Array:
        """Returns bool [2, size, size]: the squares that each player sees, rank 1 first."""
        seen = jnp.stack([view(state, player, self.board_size)[0].stack() for player in (0, 1)])
        bits = (seen[:, :, None] >> jnp.arange(32, dtype=jnp.uint32)) & 1
        return bits.astype(bool).reshape(2, 8, 8)[:, : self.board_size, : self.board_size]

    def utility(self, state: State) -> Array:
        """Returns float [2]: 1 and -1 for the taken king, zeros for a draw, else by `at_cap`."""
        won = jnp.where(state.result <= 1, 1.0 - 2.0 * state.result, 0.0)
        if self.at_cap == "material":
            won = jnp.where(state.result == CAPPED, self.material(state), won)
        return jnp.stack([won, -won])

    def material(self, state: State) -> Array:
        """Returns float []: tanh of the pawns that White's pieces are worth more, by 6."""
        return jnp.tanh(material(state) / 6)

    def evaluate(self, state: State) -> Array:
        """Returns float []: what a position is worth to White, a guess in (-1, 1).

        tanh of pawns by 6: material, the best capture of the side to move, squares that pieces
        attack, those beside the other's king, and a king that the side to move can take.
        """
        return evaluation(state, self.board_size)

    def position_features(self, state: State) -> Array:
        """Returns float [12 size^2], squares of each kind of piece, from the side to move.

        Own pieces come first, and Black's board is turned so that pawns move upwards.
        """
        return features(state, self.board_size)

    def can_take_king(self, state: State) -> Array:
        """Returns bool [], whether the side to move can take the other's king."""
        return king_in_reach(state, self.board_size)

    def public_features(self, state: State) -> Array:
        """Returns float [3]: who is to move, and the share of the cap on plies that is gone."""
        turn = jnp.arange(2) == self.actor(state)
        share = state.plies / self.plies if self.plies else jnp.zeros(())
        return jnp.append(turn, share).astype(float)

    def action_name(self, actor: int, action: int) -> str:
        """Returns squares from and to, e.g. "e2e4"; an underpromotion ends with its letter."""
        source, to, under = (int(x) for x in self._table[action])
        if to < 0:
            return "-"
        return square_name(source) + square_name(to) + (boards.LETTERS[under] if under else "")

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns how many squares a player saw, or how the game ended."""
        if public[0] >= OVER:
            return ("White wins", "Black wins", "draw", "over")[public[0] - OVER]
        return f"{('White', 'Black')[public[0]]} to move: {as_text(self.view_of(private), ' ')}"

    def view_of(self, private: np.ndarray) -> np.ndarray:
        """Returns what a private observation shows, int [size, size], rank 1 first.

        -1 hidden, 0 empty, 1 + kind for one's own pieces, 7 + kind for the other's.
        """
        return view_codes(private, self.board_size)

    def situation(self, player: int, seen: Sequence[Seen]) -> str:
        """Returns the board as the player sees it."""
        side = ("White", "Black")[player]
        board = as_text(coloured(self.view_of(seen[-1].private), player))
        return f"you are {side}; squares that you do not see are ?\n{board}"

    def guessed(self, player: int, private: np.ndarray, count: int, seed: int) -> State:
        """Returns leaves [count, ...], positions made up that look as a player sees them.

        The player is to move; the other's pieces that are not seen stand on hidden squares, each
        but the king with probability 1/2, and nobody may castle or take en passant.
        """
        seen = coloured(self.view_of(private), player)
        boards = guessed_boards(seen, self.setup.board, player, count, seed)
        wide = np.zeros((count, 8, 8), int)
        wide[:, : self.board_size, : self.board_size] = boards
        codes = 1 + np.arange(12).reshape(2, 6, 1, 1)
        bits = wide.reshape(count, 1, 1, 2, 32) == codes
        words = (bits << np.arange(32, dtype=np.uint64)).sum(-1).astype(np.uint32)
        like = self.positions.init()
        many = jax.tree.map(lambda x: jnp.broadcast_to(x, (count, *jnp.shape(x))), like)
        return many._replace(
            pieces=jnp.asarray(words),
            turn=jnp.full(count, player, jnp.int8),
            castling=jnp.zeros(count, jnp.uint8),
            en_passant=jnp.full(count, -1, jnp.int8),
        )

    def board_of(self, state: State, player: int | None = None) -> np.ndarray:
        """Returns int [size, size]: 0 empty, 1 to 6 White's, 7 to 12 Black's, -1 unseen.

        Args:
            state: one state.
            player: through whose eyes; None shows everything.
        """
        words = np.asarray(state.pieces)[..., None] >> np.arange(32, dtype=np.uint32) & 1
        codes = 1 + np.arange(12).reshape(2, 6, 1)
        board = (words.reshape(2, 6, 64) * codes).sum((0, 1)).reshape(8, 8)
        board = board[: self.board_size, : self.board_size]
        return board if player is None else np.where(self.visible(state)[player], board, -1)

    def fen_of(self, state: State) -> str:
        """Returns the FEN of a state; the number of the move counts from the start."""
        start = self.setup
        move = start.move + (start.turn + int(state.plies)) // 2
        board, numbers = self.board_of(state), (int(state.castling), int(state.en_passant))
        return write_fen(Setup(board, int(state.turn), *numbers, int(state.clock), move))

    def pgn(self, actions: Sequence[int], names: tuple[str, str] = ("White", "Black")) -> str:
        """Returns a game as PGN, with all that happened in it.

        Args:
            actions: of both players from the start; the game need not be over.
            names: of White and Black.

        Raises:
            ValueError: an action is not legal.
        """
        state, moves = self.init(), list[str]()
        step, legal_of = jax.jit(self.step), jax.jit(self.legal)
        for k, action in enumerate(actions):
            legal = np.flatnonzero(legal_of(state))
            if int(action) not in legal:
                raise ValueError(f"move {k + 1}: action {int(action)} is not legal")
            words = [self.action_name(0, int(a)) for a in legal]
            moves.append(short_move(self.board_of(state), self.action_name(0, int(action)), words))
            state = step(state, jnp.int32(action))
        result = {-1: "*", 0: "1-0", 1: "0-1"}.get(int(state.result), "1/2-1/2")
        return record(moves, names, result, fen=self.fen, turn=self.setup.turn)

    def text(self, state: State, player: int | None = None) -> str:
        """Returns the board in lines, what `player` does not see as "?"; None shows everything."""
        return as_text(self.board_of(state, player))

    def svg(self, state: State, player: int | None = None) -> str:
        """Returns the board as SVG, what `player` does not see in fog; None shows everything."""
        return as_svg(self.board_of(state, player), flipped=player == 1)

    def _ended(self, state: State, king_taken: Array, mover: Array) -> State:
        """Returns a state with its result, and its position remembered."""
        own, other = sides(state)
        size = self.board_size
        moves = boards.can_move(own, boards.occupied(other), state.turn, state.en_passant, size)
        drawn = ~moves
        if self.fifty:
            drawn |= state.clock >= 2 * self.fifty
        history = state.history
        if self.repetition:
            key = position_key(state)
            at = jnp.arange(len(history))
            same = jnp.all(history == key, axis=-1) & (at < state.clock)
            drawn |= jnp.sum(same) + 1 >= self.repetition
            history = jnp.where((at == state.clock)[:, None], key, history)
        result = jnp.where(drawn, DRAW, PLAYING)
        if self.plies is not None:
            result = jnp.where(~drawn & (state.plies >= self.plies), CAPPED, result)
        result = jnp.where(king_taken, mover, result)
        return state._replace(result=result.astype(jnp.int8), history=history)


def _joints(fen: str) -> tuple[str, str]:
    """Returns FEN without spaces, and with "_" in their places."""
    return fen.replace(" ", ""), fen.replace(" ", "_")


ENTRY = Entry(
    make=DarkChess,
    summary="chess in the fog of war, on boards of 4 x 4 to 8 x 8",
    references=(
        Reference(
            "fen=k3/4/2K1/4_w,plies=4", 912, (14, 44), 0.5, "sequence-form LP", public_states=8
        ),
        Reference(
            "fen=k3/4/2K1/4_w,plies=6",
            26622,
            (329, 1080),
            0.5,
            "sequence-form LP",
            public_states=12,
        ),
    ),
    instead="a smaller board and a cap, e.g. dark_chess(fen=k3/4/2K1/4_w,plies=4)",
)
