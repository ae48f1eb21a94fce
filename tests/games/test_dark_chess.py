"""Dark chess: counts of moves, OpenSpiel in lockstep, exact values of small boards, bad input."""

from __future__ import annotations

import io
import pathlib
import xml.etree.ElementTree as ElementTree

import chess
import chess.pgn
import dark_chess_lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from games._chess_fen import STARTS, write_fen
from jaxsolve.game import State
from jaxsolve.types import TERMINAL

COUNTS = {
    STARTS[8]: (20, 400, 8_902, 197_742),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (
        *(48, 2_049, 98_903, 4_206_146),
    ),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (16, 278, 4_840, 88_813),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1_552, 71_104, 2_590_828),
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -": (26, 613, 15_950, 401_191),
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - -": (25, 609, 13_287, 294_179),
    "r1kr/pppp/PPPP/R1KR w": (8, 63, 680, 6_303),
}
"""Sequences of 1 to 4 moves; an independent reference, OpenSpiel and Fairy-Stockfish agree."""

BATCH = 4_096


def count_sequences(game: games.DarkChess, depth: int) -> list[int]:
    """How many sequences of 1 to `depth` moves there are."""
    count = jax.jit(jax.vmap(lambda s: jax.lax.population_count(game.move_words(s)).sum()))
    legal, step = jax.jit(jax.vmap(game.legal)), jax.jit(jax.vmap(game.step))
    states = [jax.tree.map(lambda x: np.asarray(x)[None], game.init())]
    totals = []
    for ply in range(depth):
        total, following = 0, []
        for some in states:
            size = len(some.turn)
            room = BATCH if size > 64 else 64
            padded = jax.tree.map(lambda x, n=room: np.resize(x, (n, *x.shape[1:])), some)
            total += int(np.asarray(count(padded))[:size].sum())
            if ply + 1 == depth:
                continue
            row, action = np.nonzero(np.asarray(legal(padded))[:size])
            for k in range(0, len(row), BATCH):
                rows, actions = row[k : k + BATCH], action[k : k + BATCH]
                parents = jax.tree.map(
                    lambda x, r=rows: np.resize(x[r], (BATCH, *x.shape[1:])), some
                )
                after = step(parents, np.resize(actions, BATCH))
                size_now = len(rows)
                following.append(jax.tree.map(lambda x, n=size_now: np.asarray(x)[:n], after))
        totals.append(total)
        states = following
    return totals


def play(game: games.DarkChess, moves: str) -> State:
    """The state after moves by name."""
    names = {game.action_name(0, a): a for a in range(game.num_actions)}
    state, step = game.init(), jax.jit(game.step)
    for move in moves.split():
        state = step(state, jnp.int32(names[move]))
    return state


@pytest.mark.parametrize("fen", [STARTS[8], "r1kr/pppp/PPPP/R1KR w"])
def test_sequences_of_moves(fen: str) -> None:
    assert count_sequences(games.DarkChess(fen=fen).positions, 3) == list(COUNTS[fen][:3])


@pytest.mark.slow
@pytest.mark.parametrize("fen", COUNTS)
def test_sequences_of_four_moves(fen: str) -> None:
    assert count_sequences(games.DarkChess(fen=fen).positions, 4) == list(COUNTS[fen])


def test_lockstep_with_openspiel() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    found = dark_chess_lockstep.lockstep(4, 20)
    assert found["plies"] > 100
    assert found["own double step"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count"), [(4, 1_000), (8, 60)])
def test_more_lockstep_with_openspiel(size: int, count: int) -> None:
    """The named difference is met on the large board, and there is none on the small one."""
    pytest.importorskip("pyspiel", reason="OpenSpiel (extra `openspiel`) is the oracle")
    found = dark_chess_lockstep.lockstep(size, count, seed=20_000)
    assert found["white"] + found["black"] + found["draw"] == count
    assert (found["own double step"] > 0) == (size == 8)


@pytest.mark.parametrize(
    ("size", "count"),
    [(5, 20), *(pytest.param(size, 100, marks=pytest.mark.slow) for size in (4, 5, 6, 7, 8))],
)
def test_lockstep_with_a_slow_reference(size: int, count: int) -> None:
    """On all sizes, of which OpenSpiel has two."""
    found = dark_chess_lockstep.lockstep(size, count, "reference")
    assert found["white"] + found["black"] + found["draw"] == count


def test_one_ply_of_many_games_is_compiled_once() -> None:
    dark_chess_lockstep.lockstep(4, 3, "reference")
    _, ply, _ = dark_chess_lockstep.rules(4)
    before = ply._cache_size()
    dark_chess_lockstep.lockstep(4, 3, "reference", seed=1)
    assert ply._cache_size() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "states", "value"),
    [
        ("fen=k3/4/2K1/4_w,plies=6", 26_622, 1 / 2),
        ("fen=3k/2pp/PP2/K3_w,plies=6,at_cap=material", 40_445, 1 / 3),
        pytest.param(*("fen=3k1/5/5/5/1K2R_w,plies=5", 49_771, 6 / 11), marks=pytest.mark.long),
    ],
)
def test_small_boards_have_their_values(params: str, states: int, value: float) -> None:
    tree = js.compile(games.load(f"dark_chess({params})"))
    assert tree.info.num_states == states
    assert js.solve_lp(tree).value == pytest.approx(value, abs=1e-6)


def test_king_is_taken_and_nothing_follows() -> None:
    game = games.load("dark_chess(fen=k3/R3/4/3K_w)")
    state = play(game, "a3a4")
    assert int(game.actor(state)) == TERMINAL
    assert game.utility(state).tolist() == [1, -1]
    assert not game.legal(state).any()


def test_the_taker_en_passant_sees_the_pawn_and_the_other_side_does_not_see_more() -> None:
    game = games.load("dark_chess(fen=4k3/8/8/8/5p2/8/4P1P1/4K3_w)")
    state = play(game, "e2e4")
    visible = np.asarray(game.visible(state))
    assert visible[1, 2, 4]
    assert visible[1, 3, 4]
    assert not visible[0, 3, 5]
    assert "f4e3" in {game.action_name(1, int(a)) for a in np.flatnonzero(game.legal(state))}
    taken = play(game, "e2e4 f4e3")
    assert game.fen_of(taken).startswith("4k3/8/8/8/8/4p3/6P1/4K3 w")


def test_repetition_clock_and_cap_draw() -> None:
    shuffle = "a1a2 d4d3 a2a1 d3d4 "
    game = games.load("dark_chess(fen=3k/4/4/K3_w)")
    assert int(game.actor(play(game, shuffle))) == 0
    drawn = play(game, 2 * shuffle)
    assert int(game.actor(drawn)) == TERMINAL
    assert game.utility(drawn).tolist() == [0, 0]
    clock = games.load("dark_chess(fen=3k/4/4/K3_w,fifty=2)")
    assert int(clock.actor(play(clock, shuffle))) == TERMINAL
    cap = games.load("dark_chess(fen=3k/4/4/K2R_w,plies=1,at_cap=material)")
    assert cap.utility(play(cap, "a1a2"))[0] == pytest.approx(np.tanh(5 / 6))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fen=hello", "sizes are 4 to 8"),
        ("fen=k3/4/4/4_w", "White has no king"),
        ("fen=k3/4/4/KK2_w", "White has 2 kings"),
        ("fen=k3/5/4/K3_w", "rank 3 .* has 5 squares, not 4"),
        ("fen=kx2/4/4/K3_w", "'x' in rank 4 is no piece"),
        ("fen=k3/4/4/K3_x", "the second word is w or b"),
        ("fen=k3/4/4/K2P_w", "pawn stands on the first"),
        ("fen=k3/4/4/K3_w_K", "only boards of 8 x 8 have castling"),
        ("fen=4k3/8/8/8/8/8/8/4K3_w_K", "needs king and rook"),
        ("fen=4k3/8/8/8/8/8/8/4K3_w_-_e6", "no double step led over e6"),
        ("size=9", "from 4 to 8"),
        ("size=5,fen=k3/4/4/K3_w", "not that of fen"),
        ("fifty=0", "repetition needs fifty= or plies="),
        ("repetition=1", "2 or more"),
        ("fen=k3/4/4/K3_w_-_-_100_60", "has drawn by fifty"),
    ],
)
def test_bad_input(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        games.load(f"dark_chess({text})")


@pytest.mark.parametrize("fen", [*STARTS.values(), *COUNTS])
def test_fen_there_and_back(fen: str) -> None:
    game = games.DarkChess(fen=fen)
    words = fen.split()
    words += ("-", "-", "0", "1")[len(words) - 2 :]
    assert write_fen(game.setup) == " ".join(words)
    assert games.load(game.name) == game


def test_games_are_written_as_programs_read_them() -> None:
    """Chess as python-chess plays it: it understands every move as the one that was made."""
    game = games.load("dark_chess")
    words = {game.action_name(0, a): a for a in range(game.num_actions)}
    rng, kinds = np.random.default_rng(0), set()
    for _ in range(3):
        board, actions = chess.Board(), []
        while len(actions) < 60 and not board.is_game_over():
            moves = sorted(board.legal_moves, key=str)
            strong = [m for m in moves if m.promotion or board.is_castling(m)]
            move = rng.choice(strong or moves)  # type: ignore[arg-type]
            name = str(move).removesuffix("q")
            actions.append(words[name])
            board.push(move)
        kept = chess.pgn.read_game(io.StringIO(game.pgn(actions, ("one", "two"))))
        assert kept is not None
        assert not kept.errors
        assert kept.headers["White"] == "one"
        assert kept.headers["Result"] == "*"
        assert list(kept.mainline_moves()) == board.move_stack
        kinds |= {c for m in game.pgn(actions).split() for c in m}
    assert set("xOQNRB") <= kinds
    with pytest.raises(ValueError, match="move 1: action 0 is not legal"):
        game.pgn([0])


def test_guessed_positions_look_as_what_was_seen() -> None:
    game = games.load("dark_chess")
    state = game.init()
    for word in ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3"):
        legal = np.flatnonzero(game.legal(state))
        action = next(a for a in legal if game.action_name(0, a) == word)
        state = game.step(state, jnp.int32(action))
    private = np.asarray(game.observe(state)[1][1])
    made = game.guessed(1, private, 32, 0)
    boards = set()
    for k in range(32):
        one = jax.tree.map(lambda x, k=k: x[k], made)
        boards.add(tuple(game.board_of(one).reshape(-1).tolist()))
    assert len(boards) > 16
    seen = game.board_of(state, 1).reshape(-1)
    for board in boards:
        np.testing.assert_array_equal(np.array(board)[seen >= 0], seen[seen >= 0])
        assert board.count(6) == 1
        assert board.count(1) <= 8
    assert (np.asarray(jax.vmap(game.positions.actor)(made)) == 1).all()


def test_positions_are_valued_by_material_mobility_and_kings() -> None:
    def value(fen: str) -> float:
        game = games.load(f"dark_chess(fen={fen.replace(' ', '_')})")
        return float(game.evaluate(game.init()))

    assert value("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w") == pytest.approx(0, abs=1e-6)
    assert value("k7/8/8/8/8/8/8/KQ6 b") > 0.9
    assert value("kq6/8/8/8/8/8/8/K7 b") < -0.9
    assert value("k7/8/8/8/8/8/8/QK6 w") > value("k7/8/8/8/8/8/8/QK6 b") > 0.9  # takes the king
    flipped = value("4k3/pppp4/8/8/2B5/8/4PPPP/4K3 w"), value("4k3/4pppp/8/2b5/8/8/PPPP4/4K3 b")
    assert flipped[0] == pytest.approx(-flipped[1], abs=0.05)


def test_boards_draw_themselves_with_fog() -> None:
    game = games.load("dark_chess(size=4)")
    state = game.init()
    assert game.text(state).splitlines() == [
        *("4 r . k r", "3 p p p p", "2 P P P P", "1 R . K R", "  a b c d")
    ]
    # b1 is seen from a1; pawns see what they can take only.
    assert game.text(state, 0).splitlines()[0] == "4 ? ? ? ?"
    assert ElementTree.fromstring(game.svg(state)).findall("{*}text")
    fog = ElementTree.fromstring(game.svg(state, 1)).findall("{*}text")
    assert len(fog) < len(ElementTree.fromstring(game.svg(state)).findall("{*}text"))


@pytest.mark.parametrize("player", [0, 1])
def test_pictures_of_the_documentation(player: int) -> None:
    state = play(games.DarkChess(), "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6")
    name = f"dark_chess_{('white', 'black')[player]}.svg"
    file = pathlib.Path(__file__).parents[2] / "docs" / "assets" / name
    assert file.read_text() == games.DarkChess().svg(state, player) + "\n"
