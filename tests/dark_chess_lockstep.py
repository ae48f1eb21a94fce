"""Random games of dark chess, ours and OpenSpiel's, walked in lockstep.

`python tests/games/dark_chess_lockstep.py 8 10000` plays so many games on a board of that size and
prints what differed. Compared in each state: the board, who moves, legal actions, the squares that
each player sees and what stands there, castling rights, the end and the returns.

OpenSpiel numbers actions in its own way. An action of theirs is matched once with the one of ours
that leads to the same board; from then on the numbers have to agree.

Differences that are expected, exactly:
- The side that does not move sees in OpenSpiel its own pawn's double step as if it could take it en
  passant: it sees the square that the pawn stepped over, where another own pawn attacks it.
"""

from __future__ import annotations

import functools
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel

import games

LETTERS = ".PNBRQKpnbrqk"


@functools.cache
def rules(size: int) -> tuple:
    """(game, jitted step, jitted (legal, actor, visible, utility), OpenSpiel's game)."""
    game = games.DarkChess(size=size)

    def look(state):
        return game.legal(state), game.actor(state), game.visible(state), game.utility(state)

    theirs = f"dark_chess(board_size={size},fen={game.fen_of(game.init())})"
    return game, jax.jit(game.step), jax.jit(look), pyspiel.load_game(theirs)


def boards_of(text: str) -> np.ndarray:
    """OpenSpiel's observation string as codes [size, size], rank 1 first, "?" as -1."""
    rows = []
    for line in text.split()[0].split("/"):
        row: list[int] = []
        for letter in line:
            if letter.isdigit():
                row += [0] * int(letter)
            else:
                row.append(-1 if letter == "?" else LETTERS.index(letter))
        rows.append(row)
    return np.array(rows[::-1])


def expected(fen: str, player: int, ours: np.ndarray) -> np.ndarray:
    """What OpenSpiel shows, from what the rules show: the one difference of the docstring."""
    words = fen.split()
    if words[3] == "-" or player == "wb".index(words[1]):
        return ours
    file, rank = "abcdefgh".index(words[3][0]), int(words[3][1]) - 1
    board, own = boards_of(fen), (1, 7)[player]
    behind = rank - 1 if player == 0 else rank + 1
    beside = [f for f in (file - 1, file + 1) if 0 <= f < len(board)]
    shown = ours.copy()
    if any(board[behind, f] == own for f in beside):
        shown[rank, file] = board[rank, file]
    return shown


def play(size: int, seed: int, numbers: dict, found: dict) -> int:
    """Plays one game; adds differences that are expected to `found`; returns the plies."""
    game, step, look, theirs = rules(size)
    rng = np.random.default_rng(seed)
    state, other = game.init(), theirs.new_initial_state()
    plies = 0
    while True:
        legal, actor, visible, utility = (np.asarray(x) for x in look(state))
        fen = str(other)
        at = f"size {size}, seed {seed}, ply {plies}: {fen}, ours {game.fen_of(state)}"
        board = game.board_of(state)
        assert (board == boards_of(fen)).all(), at
        assert (actor == -2) == other.is_terminal(), at
        for player in (0, 1):
            shown = boards_of(other.observation_string(1 - player))
            ours = np.where(visible[player], board, -1)
            theirs_now = expected(fen, player, ours)
            assert (shown == theirs_now).all(), f"{at}: player {player}\n{shown}\n{ours}"
            if (shown != ours).any():
                found["own double step"] = found.get("own double step", 0) + 1
        if actor == -2:
            np.testing.assert_array_equal(utility[::-1], other.returns(), err_msg=at)
            return plies
        assert actor == 1 - other.current_player(), at
        mine, their = np.flatnonzero(legal), other.legal_actions()
        assert len(mine) == len(their), at
        key = (size, int(actor))
        known = numbers.setdefault(key, {})
        for action in their:
            if action not in known:
                known[action] = match(game, step, state, mine, other.child(action))
        assert sorted(known[a] for a in their) == mine.tolist(), at
        action = int(rng.choice(their))
        state, plies = step(state, jnp.int32(known[action])), plies + 1
        other.apply_action(action)


def match(game, step, state, mine, child) -> int:
    """Our action that leads to the board of OpenSpiel's child."""
    wanted = boards_of(str(child))
    same = [a for a in mine if (game.board_of(step(state, jnp.int32(a))) == wanted).all()]
    assert len(same) == 1, f"{child}: {same}"
    return int(same[0])


def lockstep(size: int, count: int, start: int = 0) -> tuple[int, dict]:
    """Plays `count` games; returns the plies and how often each expected difference was seen."""
    numbers: dict = {}
    found: dict = {}
    plies = sum(play(size, seed, numbers, found) for seed in range(start, start + count))
    return plies, found


if __name__ == "__main__":
    board, count = int(sys.argv[1]), int(sys.argv[2])
    print(board, count, *lockstep(board, count))
