"""Infosets as lists of positions: against enumeration, known sizes, caps and bad input."""

from __future__ import annotations

import re
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
from jaxsolve.game import Game, State
from jaxsolve.public import Infoset, _infosets, advance_infoset, start_infoset
from jaxsolve.public._distinct import Distinct, added, chunk_size, no_states, sampled, with_room

SIZES = {
    "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7": (
        (1, 1, 1, 19, 1, 1, 1, 18, 18, 177),
        (20, 1, 20, 20, 15, 13, 64, 54, 659, 659),
    ),
    "d2d4 g8f6 c2c4 e7e6 b1c3 f8b4 e2e3 e8g8": (
        (1, 14, 13, 104, 104, 27, 25, 326),
        (20, 18, 198, 146, 1142, 128, 945, 945),
    ),
}
"""Positions that White and Black hold possible after each ply; an independent reference."""


class Plain:
    """Dark chess without its filter of moves, as any other game."""

    def __init__(self, game: games.DarkChess) -> None:
        self.name, self.num_players, self.num_actions = game.name, 2, game.num_actions
        self.init, self.actor, self.legal = game.init, game.actor, game.legal
        self.step, self.observe = game.step, game.observe
        self.chance, self.utility = game.chance, game.utility


SMALL = games.load("dark_chess(fen=3k/2pp/PP2/K3_w)").positions
PLAIN = Plain(SMALL)


def position(states: State, k: int | None = None) -> bytes:
    leaves = [np.asarray(x if k is None else x[k]) for x in states]
    return b"".join(leaf.tobytes() for leaf in leaves)


def positions(infoset: Infoset) -> set[bytes]:
    states = jax.device_get(infoset.states)
    return {position(states, k) for k in range(infoset.num_states)}


def enumerated(game: Game, plies: int) -> list[dict]:
    """For each ply, {(player, what they did and saw): the positions that fit}, by all sequences."""
    step, look = jax.jit(jax.vmap(game.step)), jax.jit(jax.vmap(game.observe))
    legal = jax.jit(jax.vmap(game.legal))
    states = jax.tree.map(lambda x: np.asarray(x)[None], game.init())
    histories: list[tuple] = [((), ())]
    tables = []
    for ply in range(plies):
        row, action = np.nonzero(np.asarray(legal(states)))
        after = step(jax.tree.map(lambda x, r=row: x[r], states), action)
        public, private = jax.device_get(look(after))
        states = jax.device_get(after)
        longer = []
        for k, (r, a) in enumerate(zip(row, action, strict=True)):
            seen = tuple(
                (int(a) if player == ply % 2 else -1, public[k].tobytes(), private[k, p].tobytes())
                for p, player in enumerate((0, 1))
            )
            longer.append(tuple((*histories[r][p], seen[p]) for p in (0, 1)))
        histories = longer
        table: dict = {}
        for k, pair in enumerate(histories):
            for player in (0, 1):
                table.setdefault((player, pair[player]), set()).add(position(states, k))
        tables.append(table)
    return tables


def follow(
    game: Game, moves: Sequence[int], player: int, **options: int
) -> list[tuple[Infoset, State, tuple]]:
    """The player's infoset, the true state and what the player did and saw, after each move."""
    step, look = jax.jit(game.step), jax.jit(game.observe)
    infoset, state, seen, found = start_infoset(game), game.init(), (), []
    for move in moves:
        own = int(game.actor(state)) == player
        state = step(state, jnp.int32(move))
        public, private = jax.device_get(look(state))
        action = int(move) if own else -1
        infoset = advance_infoset(game, infoset, player, action, public, private[player], **options)
        seen = (*seen, (action, public.tobytes(), private[player].tobytes()))
        found.append((infoset, state, seen))
    return found


def random_moves(game: Game, plies: int, seed: int) -> list[int]:
    rng, state, moves = np.random.default_rng(seed), game.init(), []
    step, legal = jax.jit(game.step), jax.jit(game.legal)
    for _ in range(plies):
        possible = np.flatnonzero(legal(state))
        if not len(possible):
            break
        moves.append(int(rng.choice(possible)))
        state = step(state, jnp.int32(moves[-1]))
    return moves


@pytest.mark.parametrize(
    ("game", "seeds"),
    [
        pytest.param(SMALL, range(1), id="filtered"),
        pytest.param(SMALL, range(1, 6), id="filtered, more", marks=pytest.mark.slow),
        pytest.param(PLAIN, range(6), id="plain", marks=pytest.mark.slow),
    ],
)
def test_lists_are_those_of_enumeration(game: Game, seeds: range) -> None:
    tables = enumerated(SMALL, 4)
    assert max(map(len, tables[-1].values())) > 10
    for seed in seeds:
        moves = random_moves(SMALL, 4, seed)
        for player in (0, 1):
            for ply, (infoset, _, seen) in enumerate(follow(game, moves, player)):
                assert infoset.exact
                assert infoset.num_states == len(positions(infoset))
                assert positions(infoset) == tables[ply][player, seen]


@pytest.mark.slow
def test_above_the_cap_a_sample_is_kept_and_said_to_be_one() -> None:
    games_ = [random_moves(SMALL, 4, seed) for seed in range(6)]
    lists = [(moves, [x[0] for x in follow(SMALL, moves, 1)]) for moves in games_]
    moves, whole = max(lists, key=lambda pair: max(x.num_states for x in pair[1]))
    capped = [x[0] for x in follow(SMALL, moves, 1, max_states=2)]
    sizes = [x.num_states for x in whole]
    assert max(sizes) > 2
    for ply, (all_, some) in enumerate(zip(whole, capped, strict=True)):
        assert some.num_states <= 2
        assert positions(some) <= positions(all_)
        assert some.exact == (max(sizes[: ply + 1]) <= 2)


def test_an_observation_that_fits_nothing_leaves_no_state() -> None:
    public, private = SMALL.observe(SMALL.init())
    infoset = advance_infoset(SMALL, start_infoset(SMALL), 0, -1, public, 0 * private[0])
    assert infoset.num_states == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"max_states": 0}, "max_states should be a whole number of at least 1, not 0"),
        ({"player": 2}, "player should be 0 to 1, not 2"),
        ({"action": 656}, "action should be 0 to 655, or -1 for another's, not 656"),
        ({"private": jnp.zeros(3, jnp.int32)}, r"should have shapes .*not \(\(1,\), \(3,\)\)"),
    ],
)
def test_bad_input(change: dict, says: str) -> None:
    public, private = SMALL.observe(SMALL.init())
    given = {"player": 0, "action": 0, "public": public, "private": private[0]} | change
    with pytest.raises(ValueError, match=says):
        advance_infoset(SMALL, start_infoset(SMALL), **given)


@pytest.mark.slow
@pytest.mark.parametrize("moves", SIZES)
def test_sizes_of_known_games(moves: str) -> None:
    game = games.DarkChess().positions
    names = {game.action_name(0, a): a for a in range(game.num_actions)}
    numbers = [names[move] for move in moves.split()]
    for player in (0, 1):
        sizes = [x[0].num_states for x in follow(game, numbers, player)]
        assert tuple(sizes) == SIZES[moves][player]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_true_position_is_never_lost(seed: int) -> None:
    game = games.DarkChess().positions
    for infoset, state, _ in follow(game, random_moves(game, 40, seed), seed % 2):
        assert infoset.exact
        assert position(jax.device_get(state)) in positions(infoset)


def test_a_sample_does_not_depend_on_the_order_of_states() -> None:
    """Cut in between or at the end: the states with the lowest keys, each of them once."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 900, 4 * 256).astype(np.int32)
    lists = []
    for often in (True, False):
        room, many = (256, 256) if often else (2_048, 1_024)
        found = no_states((jnp.zeros(1, jnp.int32),), room)
        for k in range(0, len(numbers), many):
            some = (jnp.resize(jnp.asarray(numbers[k : k + many]), chunk_size(room)),)
            found = added(found, some, jnp.ones(len(some[0]), bool), jnp.uint32(3))
            if found.num_states > 200:
                found = sampled(found, jnp.int32(200))
        assert int(found.num_states) == 200
        assert not found.confused
        lists.append(np.sort(np.asarray(found.states[0])[:200]))
    assert len(np.unique(lists[0])) == 200
    np.testing.assert_array_equal(*lists)


def test_room_grows_without_losing_states() -> None:
    numbers = jnp.arange(256, dtype=jnp.int32)
    found = added(no_states((numbers,), 256), (numbers,), numbers < 100, jnp.uint32(0))
    found = with_room(found, 2_048)
    more = jnp.arange(2_048, dtype=jnp.int32)
    found = added(found, (more,), more < 1_000, jnp.uint32(0))
    assert int(found.num_states) == 1_000
    assert sorted(np.asarray(found.states[0])[:1_000].tolist()) == list(range(1_000))


def test_chunks_are_written_in_place() -> None:
    """A list that is copied for each chunk costs what its room is, not what is added."""

    def filled(found: Distinct) -> Distinct:
        def chunk(k: jax.Array, found: Distinct) -> Distinct:
            numbers = 64 * k + jnp.arange(64, dtype=jnp.int32)
            return added(found, (numbers,), numbers >= 0, jnp.uint32(0))

        return jax.lax.fori_loop(0, 4, chunk, found)

    start = no_states((jnp.zeros(1, jnp.int32),), 64)._replace(
        states=(jnp.zeros(10_000, jnp.int32),), keys=jnp.zeros((10_000, 2), jnp.uint32)
    )
    program = jax.jit(filled, donate_argnums=0).lower(start).compile()
    assert "[10000]" in program.as_text()
    assert not re.search(r"\[10000[^=\n]* copy\(", program.as_text())


def test_a_game_needs_one_program_for_each_room() -> None:
    game = games.load("dark_chess(fen=3k/2pp/PP2/K3_b)").positions
    before = _infosets._follow._cache_size()
    found = follow(game, random_moves(game, 8, 0), 0)
    assert max(infoset.num_states for infoset, *_ in found) <= _infosets.SMALLEST
    assert _infosets._follow._cache_size() == before + 1


def test_a_lower_cap_loses_no_state_that_fits() -> None:
    moves = random_moves(SMALL, 5, 1)
    before, after = follow(SMALL, moves, 0)[3:]
    assert before[0].num_states == after[0].num_states == 6
    rows = np.append(np.zeros(9_000, int), np.arange(before[0].num_states))
    many = Infoset(jax.tree.map(lambda x: x[rows], before[0].states), len(rows), True)
    public, private = SMALL.observe(after[1])
    found = advance_infoset(SMALL, many, 0, moves[4], public, private[0], max_states=100)
    assert positions(found) == positions(after[0])


def test_a_second_game_compiles_nothing() -> None:
    moves = [random_moves(SMALL, 4, seed) for seed in (0, 1)]
    follow(SMALL, moves[0], 0)
    before = _infosets._follow._cache_size()
    follow(SMALL, moves[1], 0)
    assert _infosets._follow._cache_size() == before
