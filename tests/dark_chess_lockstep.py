"""Random games of dark chess, walked in lockstep with another implementation.

`python tests/dark_chess_lockstep.py 8 10000` plays so many games on a board of that size beside
OpenSpiel, which has sizes 4 and 8. `--oracle reference` plays beside `dark_chess_reference.py`, on
any size. Compared in each state: the board, who moves, legal actions, what each player sees, the
end and the returns. Prints a line of JSON, or stops at the first difference.

Our games are moved on many at a time, by one jitted call a ply; a finished one makes room for the
next. OpenSpiel numbers actions in its own way: an action of theirs is matched once with the one of
ours that leads to the same board, and from then on the numbers have to agree.

One difference is expected: the side that does not move sees in OpenSpiel its own pawn's double step
as if it could take it en passant: where another own pawn attacks the square that the pawn stepped
over, that square and the one that the pawn came from.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import time

import dark_chess_reference
import jax
import jax.numpy as jnp
import numpy as np

import games
from games._chess_fen import STARTS

LETTERS = ".PNBRQKpnbrqk"
EXPAND = {ord(str(k)): "." * k for k in range(1, 9)} | {ord("/"): None}
ABREAST = 512
MOST_MOVES = 256


class OpenSpiel:
    """OpenSpiel's game with the methods of `Reference`; a move is its number."""

    def __init__(self, size: int) -> None:
        self.state = _openspiel(size).new_initial_state()

    @property
    def turn(self) -> int:
        return 1 - self.state.current_player()

    @property
    def over(self) -> bool:
        return self.state.is_terminal()

    @property
    def returns(self) -> list[float]:
        return self.state.returns()[::-1]

    def board(self) -> str:
        return str(self.state).split(" ", 1)[0].translate(EXPAND)

    def view(self, player: int) -> str:
        return self.state.observation_string(1 - player).split(" ", 1)[0].translate(EXPAND)

    def moves(self) -> list[int]:
        return self.state.legal_actions()

    def play(self, move: int) -> None:
        self.state.apply_action(move)

    def after(self, move: int) -> str:
        """The board that a move leads to."""
        return str(self.state.child(move)).split(" ", 1)[0].translate(EXPAND)

    def shown(self, ours: str, player: int) -> str:
        """What they show, from what our rules show: the one difference of the docstring."""
        fen, board = str(self.state).split(), self.board()
        if fen[3] == "-" or player == "wb".index(fen[1]):
            return ours
        size = round(len(board) ** 0.5)
        file, rank = "abcdefgh".index(fen[3][0]), int(fen[3][1]) - 1
        row = size - 1 - rank
        behind = row + 1 if player == 0 else row - 1
        beside = [f for f in (file - 1, file + 1) if 0 <= f < size]
        if not any(board[size * behind + f] == "Pp"[player] for f in beside):
            return ours
        for at in (size * row + file, size * behind + file):
            ours = ours[:at] + board[at] + ours[at + 1 :]
        return ours


@functools.cache
def _openspiel(size: int):
    import pyspiel

    return pyspiel.load_game(f"dark_chess(board_size={size},fen={STARTS[size]})")


@functools.cache
def rules(size: int) -> tuple:
    """(game, one ply of many games and what they show, boards that actions of one lead to)."""
    game = games.DarkChess(size=size)
    letters = jnp.asarray(np.frombuffer(LETTERS.encode(), np.uint8))

    def board(state):
        bits = (state.pieces[..., None] >> jnp.arange(32, dtype=jnp.uint32)) & 1
        codes = (bits.reshape(12, 64) * (1 + jnp.arange(12, dtype=jnp.uint32))[:, None]).sum(0)
        return letters[codes.reshape(8, 8)[:size, :size][::-1].reshape(-1)]

    def look(state):
        seen = game.visible(state)[:, ::-1].reshape(2, -1)
        letters = board(state)
        views = jnp.where(seen, letters, ord("?"))
        return game.legal(state), game.actor(state), letters, views, game.utility(state)

    def ply(state, action, fresh):
        after = game.step(state, action)
        state = jax.tree.map(lambda x, y: jnp.where(fresh, x, y), game.init(), after)
        return state, look(state)

    def children(states, k, actions):
        state = jax.tree.map(lambda x: x[k], states)
        return jax.vmap(lambda a: board(game.step(state, a)))(actions)

    return game, jax.jit(jax.vmap(ply)), jax.jit(children)


def lockstep(size: int, count: int, oracle: str = "openspiel", seed: int = 0) -> dict:
    """Plays `count` games; returns plies, ends and how often the expected difference was seen."""
    game, ply, children = rules(size)
    fen = game.fen_of(game.init())
    abreast = min(ABREAST, count)
    names = {game.action_name(0, a): a for a in range(game.num_actions)}
    known: tuple[dict, dict] = (names, names) if oracle == "reference" else ({}, {})
    begun, plies = 0, 0
    told = {"white": 0, "black": 0, "draw": 0, "own double step": 0}
    states = jax.tree.map(lambda x: jnp.stack([x] * abreast), game.init())
    others: list = [None] * abreast
    chance = [random.Random()] * abreast
    action = np.zeros(abreast, np.int32)

    def check(k: int, legal, actor, letters, views, utility) -> bool:
        """Whether the game in slot k goes on; chooses its next move."""
        other = others[k]
        at = f"size {size}, {other.board()}, ours {bytes(letters).decode()}"
        assert bytes(letters).decode() == other.board(), at
        assert (actor == -2) == other.over, at
        for player in (0, 1):
            ours, theirs = bytes(views[player]).decode(), other.view(player)
            if ours != theirs:
                assert oracle == "openspiel", f"{at}: player {player}, {theirs}, ours {ours}"
                assert other.shown(ours, player) == theirs, f"{at}: {player}, {theirs}, {ours}"
                told["own double step"] += 1
        if other.over:
            assert utility.tolist() == list(other.returns), at
            told["draw" if not utility[0] else "white" if utility[0] > 0 else "black"] += 1
            return False
        assert actor == other.turn, at
        mine, their, table = np.flatnonzero(legal), other.moves(), known[other.turn]
        assert len(mine) == len(their), at
        for move in their:
            if move not in table:
                padded = np.resize(mine, MOST_MOVES).astype(np.int32)
                found = np.asarray(children(states, k, padded))[: len(mine)]
                wanted = np.frombuffer(other.after(move).encode(), np.uint8)
                same = mine[(found == wanted).all(-1)]
                assert len(same) == 1, f"{at}: {move}, {same}"
                table[move] = int(same[0])
        assert sorted(table[move] for move in their) == mine.tolist(), at
        move = chance[k].choice(their)
        action[k] = table[move]
        other.play(move)
        return True

    live = np.zeros(abreast, bool)
    while True:
        fresh = ~live
        for k in np.flatnonzero(fresh):
            others[k] = None
            if begun < count:
                others[k] = OpenSpiel(size) if oracle == "openspiel" else _reference(fen)
                chance[k] = random.Random(seed + begun)
                begun += 1
        states, shown = ply(states, action, fresh)
        shown = jax.device_get(shown)
        for k, other in enumerate(others):
            live[k] = other is not None and check(k, *(x[k] for x in shown))
        if not live.any() and begun == count:
            return {"size": size, "oracle": oracle, "games": count, "plies": plies} | told
        plies += int(live.sum())


def _reference(fen: str) -> dark_chess_reference.Reference:
    return dark_chess_reference.Reference(fen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int)
    parser.add_argument("games", type=int)
    parser.add_argument("--oracle", choices=("openspiel", "reference"), default="openspiel")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    begin = time.perf_counter()
    row = lockstep(given.size, given.games, given.oracle, given.seed)
    print(json.dumps(row | {"seconds": round(time.perf_counter() - begin, 1)}))
