"""Scotland Yard: an independent walk, the known value, and tickets and double moves."""

from __future__ import annotations

import functools
from xml.etree import ElementTree

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

import games
import jaxsolve as js
from games._scotland_yard_drawing import layout
from games._scotland_yard_maps import GLASSES, named_map
from games.scotland_yard import BLOCKED, CAUGHT
from jaxsolve.game import State
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

SQUARE = "edges=[[1,2],[2,3],[3,4],[4,1]]"


def play(game: games.ScotlandYard, *names: str) -> State:
    """The state after some actions by name, each of which must be legal."""
    state = game.init()
    for name in names:
        actor, legal = int(game.actor(state)), np.flatnonzero(game.legal(state))
        known = {game.action_name(actor, int(a)): int(a) for a in legal}
        state = game.step(state, jnp.int32(known[name]))
    return state


def choices(game: games.ScotlandYard, state: State) -> set[str]:
    actor = int(game.actor(state))
    return {game.action_name(actor, int(a)) for a in np.flatnonzero(game.legal(state))}


def slow_glasses(rounds: int) -> tuple[int, tuple[int, int]]:
    """World states and infosets of the glasses map, in plain Python from the rules."""
    near: dict[int, set[int]] = {}
    for a, b in GLASSES:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    seen: tuple[set, set] = (set(), set())
    states = 0

    def visit(hidden: tuple, shown: tuple, pieces: list[int], turn: int, moves: int) -> None:
        nonlocal states
        states += 1
        if turn > 0 and len(shown) and shown[-1] == "caught":
            return
        there = pieces[turn]
        free = sorted(near[there] - set(pieces[1:]))
        if turn == 0:
            if moves == rounds or not free:
                return
            seen[0].add((hidden, shown))
            for to in free:
                visit((*hidden, to), shown, [to, *pieces[1:]], 1, moves + 1)
            return
        seen[1].add((moves, shown))
        for to in free or [0]:
            after = pieces.copy()
            after[turn] = to or there
            if after[turn] == pieces[0]:
                states += 1
                continue
            visit(hidden, (*shown, to), after, (turn + 1) % 3, moves)

    visit((), (), [6, 1, 11], 0, 0)
    return states, (len(seen[0]), len(seen[1]))


@pytest.mark.parametrize(("params", "rounds"), [("", 5), ("rounds=3", 3)])
def test_sizes_of_glasses_against_a_slow_walk(params: str, rounds: int):
    """The other half is `test_references`, or the slow test below: the compiler finds the same."""
    row = next(r for r in games.GAMES["scotland_yard"].references if r.params == params)
    assert (row.states, row.infosets) == slow_glasses(rounds)


@functools.cache
def glasses() -> js.PublicTree:
    return js.compile(games.load("scotland_yard"))


def test_glasses_is_worth_minus_seven_ninths():
    """By the linear program on the compiled tree, whose sizes are those that are listed."""
    tree, row = glasses(), games.GAMES["scotland_yard"].references[0]
    assert (tree.info.num_states, tree.info.num_infosets) == (row.states, row.infosets)
    assert tree.info.num_public_states == row.public_states
    assert js.solve_lp(tree).value == pytest.approx(-7 / 9, abs=1e-9)


@pytest.mark.slow
def test_cfr_finds_the_value_of_glasses():
    """Inside the published bracket."""
    tree = glasses()
    result = js.solve(tree, "pcfr+", iterations=1000, measure_every=1000, progress=False)
    gap = float(js.nash_conv(tree, result.average))
    value = float(js.expected_values(tree, result.average)[0])
    assert gap < 1e-5
    assert value - gap > -0.77805
    assert value + gap < -0.77613
    assert value == pytest.approx(-7 / 9, abs=1e-5)


def test_a_detective_who_comes_to_mr_x_has_caught_him():
    game = games.ScotlandYard(evader=(3,), detectives=(4, 11))
    state = play(game, "taxi 5")
    public, private = game.observe(state)
    assert public.tolist() == [0, NOTHING, NOTHING]  # the ticket, and no station
    assert private.tolist() == [[NOTHING], [NOTHING]]
    missed, caught = play(game, "taxi 5", "taxi 2"), play(game, "taxi 5", "taxi 5")
    assert game.observe(missed)[0].tolist() == [0, 1, 0]
    assert game.observe(caught)[0].tolist() == [0, 4, CAUGHT]
    assert game.actor(missed) == 1
    assert game.actor(caught) == TERMINAL
    assert game.utility(caught).tolist() == [-1, 1]


def test_mr_x_who_cannot_move_has_lost():
    """At the end of a line, with a detective on the only way out."""
    game = games.ScotlandYard(edges=((1, 2), (2, 3), (3, 4)), evader=(2,), detectives=(4,))
    state = play(game, "taxi 1", "taxi 3", "taxi 2", "taxi 4", "taxi 1", "taxi 3", "taxi 2")
    assert choices(game, state) == {"taxi 2", "taxi 4"}
    line = games.ScotlandYard(edges=((1, 2), (2, 3)), evader=(1,), detectives=(3,), rounds=2)
    assert choices(line, line.init()) == {"taxi 2"}
    corner = games.ScotlandYard(edges=((1, 2), (2, 3), (3, 4)), evader=(2,), detectives=(3,))
    blocked = play(corner, "taxi 1", "taxi 2")
    assert blocked.result == BLOCKED
    assert corner.utility(blocked).tolist() == [-1, 1]
    assert corner.observe(blocked)[0].tolist() == [0, 1, BLOCKED]


def test_tickets_are_spent_and_handed_over():
    game = games.load("scotland_yard(board=london,evader=[46],detectives=[74,1],tickets=[1,0,1,0])")
    state = play(game, "underground 79", "taxi 73", "underground 46")
    assert state.tickets.tolist() == [[5, 3, 3, 5], [0, 0, 1, 0], [1, 0, 0, 0]]
    state = play(game, "underground 79", "taxi 73", "underground 46", "taxi 78")
    assert choices(game, state) == {"pass"}  # 73 has taxis only
    # Policies go by place among the legal actions: a pass alone is in the first slot.
    slots = game.hidden_moves(state)
    assert np.flatnonzero(slots.legal[:, 0]).tolist() == [0]
    assert int(slots.action[0, 0]) == np.flatnonzero(game.legal(state))[0]
    after = game.step(state, jnp.int32(np.flatnonzero(game.legal(state))[0]))
    assert game.observe(after)[0].tolist() == [4, 72, 0]
    assert after.turn == 2


def test_black_tickets_go_everywhere_and_ferries_need_one():
    game = games.load("scotland_yard(board=london,evader=[115])")
    ferry = choices(game, game.init()) & {f"{k} 108" for k in game.map.kinds}
    assert ferry == {"black 108"}
    assert {"taxi 114", "black 114"} <= choices(game, game.init())


def test_a_double_move_is_two_moves_before_the_detectives():
    game = games.load(f"scotland_yard({SQUARE},evader=[1],detectives=[3],doubles=1,reveals=[2])")
    state = play(game, "double", "taxi 2")
    assert game.actor(state) == 0
    assert "double" not in choices(game, state)
    assert game.observe(state)[0].tolist() == [0, NOTHING, NOTHING]
    state = play(game, "double", "taxi 2", "taxi 1")
    assert game.actor(state) == 1
    assert game.observe(state)[0].tolist() == [0, 0, NOTHING]  # revealed after the second move
    assert state.moves == 2
    later = play(game, "double", "taxi 2", "taxi 1", "taxi 4", "taxi 2")
    assert "double" not in choices(game, later)


def test_chance_draws_the_start_and_shows_it_to_mr_x():
    game = games.load(f"scotland_yard({SQUARE},evader=[1,2],detectives=[3])")
    start = game.init()
    assert game.actor(start) == CHANCE
    np.testing.assert_allclose(game.chance(start)[:4], [0.5, 0.5, 0, 0])
    public, private = game.observe(play(game, "start 2"))
    assert public.tolist() == [NOTHING] * 3
    assert private.tolist() == [[1], [NOTHING]]


def test_london():
    london = named_map("london")
    assert [len(pairs) for pairs in london.edges[:3]] == [346, 99, 20]
    joined = london.joined()
    assert joined.shape == (4, 199, 199)
    assert (joined[3] >= joined[:3].any(0)).all()
    assert joined[3].any(1).all()
    game = games.load("scotland_yard(board=london)")
    assert game.num_actions == 4 * 199 + 2
    assert len(choices(game, game.init())) == 13


def test_a_picture_puts_what_is_joined_together():
    """Distances in it follow those along the lines, and the belief is area."""
    london = named_map("london")
    places = layout(london)
    apart = cdist(places, places)
    joined = london.joined()
    rides = shortest_path(joined[0], unweighted=True)
    assert apart[joined[0]].max() < apart[rides >= 7].min()
    assert apart[np.triu_indices(199, 1)].min() > 0.2  # no two on top of each other
    game = games.load("scotland_yard")
    belief = np.array([0, 0.5, 0, 0.125, 0, 0, 0, 0, 0, 0, 0.375])
    picture = ElementTree.fromstring(game.svg(game.init(), belief=belief))
    parts = [dict(x.attrib) for x in picture]
    discs = [float(x["r"]) for x in parts if x.get("class") == "belief"]
    assert (np.array(discs) / discs[0]) ** 2 == pytest.approx([1, 0.25, 0.75], rel=0.01)
    assert [x.get("class") for x in parts].count("detective") == 2
    assert "evader" in game.svg(game.init())
    assert "evader" not in game.svg(game.init(), player=1)
    assert len(layout(named_map("london")._replace(edges=(((1, 2), (4, 5)),)))) == 5  # in two parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("board=paris", "glasses, london"),
        ("edges=[[1,2]]", "edges, and stations to start from"),
        ("evader=[12]", "no connection of the map leads to station 12"),
        ("evader=[1]", "stations of their own"),
        ("rounds=0", "rounds should be a whole number from 1 to 100 or None"),
        ("tickets=[1,2]", "tickets must be 1 numbers"),
        ("doubles=-1", "doubles should be a whole number from 0 to 100 or None"),
        ("edges=[[1,1],[1,2]],evader=[1],detectives=[2]", "two different stations"),
    ],
)
def test_bad_parameters(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        games.load(f"scotland_yard({text})")


def slow_features(game: games.ScotlandYard, state: State) -> np.ndarray:
    """What stations are like for Mr X, in plain Python from the rules."""
    here, turn = game.map, int(state.turn)
    size = here.num_stations
    near: list[set[int]] = [set() for _ in range(size)]
    walks: list[set[int]] = [set() for _ in range(size)]
    for kind, pairs in zip(here.kinds, here.edges, strict=True):
        for a, b in pairs:
            for one, two in ((a - 1, b - 1), (b - 1, a - 1)):
                near[one].add(two)
                if kind != "black":
                    walks[one].add(two)

    @functools.cache
    def moves_from(start: int, most: int = 8) -> list[int]:
        found, edge, step = {start: 0}, {start}, 0
        while edge:
            step += 1
            edge = {t for s in edge for t in walks[s]} - set(found)
            found |= dict.fromkeys(edge, step)
        return [min(found.get(s, most), most) for s in range(size)]

    at = [int(x) for x in state.stations[1:]]
    apart = [moves_from(d) for d in at]
    closest = [min(x[s] for x in apart) for s in range(size)]
    # Moves of detectives before his next one do not count.
    early = [0 < turn <= k + 1 for k in range(len(at))]
    far = [moves_from(d, 99) for d in at]
    due = [min(x[s] - e for x, e in zip(far, early, strict=True)) for s in range(size)]
    rows = []
    for s in range(size):
        ranked = sorted(x[s] for x in apart)
        mover = apart[turn - 1][s] if turn > 0 else 8
        soon = min(x[s] for x in apart[max(turn - 1, 0) :])
        safe = sum(closest[t] > 1 for t in near[s])
        free = sum(t not in at for t in near[s])
        ways = (safe / 5, safe == 0, free / 5, len(near[s]) / 5)

        def paths(at: int, done: int, left: int) -> int:
            """Ways of so many moves after each of which no detective can be there."""
            if not left:
                return 1
            return sum(due[t] > done + 1 and paths(t, done + 1, left - 1) for t in near[at])

        ahead = sum(min(max(due[t] - moves_from(s, 99)[t], 0), 2) for t in range(size))
        counts = np.log1p([paths(s, 0, 2), paths(s, 0, 3), ahead]) / 4
        gone = (*(np.exp(-x) for x in ranked), np.exp(-mover), *(x / 8 for x in ranked))
        late = (*ways, *counts, ahead / 50)
        rows.append([*gone, soon == 1, soon == 2, soon == 3, *late])
    return np.array(rows, float)


def test_what_stations_are_like_for_mr_x():
    """On London along a random game: detectives' distances and ways out by breadth-first search."""
    game, rng = games.load("scotland_yard(board=london)"), np.random.default_rng(0)
    assert isinstance(game, games.ScotlandYard)
    state = game.init()
    for ply in range(13):
        if ply:
            found = np.asarray(game.private_features(state))
            np.testing.assert_allclose(found[0], slow_features(game, state), atol=1e-6)
            assert not found[1].any()
            some = rng.permutation(game.map.num_stations)[:9]
            few = np.asarray(game.private_features(state, jnp.array([some, some])))
            np.testing.assert_allclose(few, found[:, some], atol=1e-6)
        legal = np.flatnonzero(game.legal(state))
        state = game.step(state, jnp.int32(rng.choice(legal)))


def test_which_public_features_say_where_detectives_are():
    game = games.load("scotland_yard(board=london)")
    assert isinstance(game, games.ScotlandYard)
    before = game.init()
    after = before._replace(stations=before.stations.at[1:].add(1))
    first, moved = game.public_features(before), game.public_features(after)
    assert (first[: game.num_placed] != moved[: game.num_placed]).sum() == 2 * 5
    np.testing.assert_array_equal(first[game.num_placed :], moved[game.num_placed :])


def test_moves_until_and_since_mr_x_shows_himself():
    game = games.load("scotland_yard(board=london)")
    assert isinstance(game, games.ScotlandYard)
    seen = [
        game.public_features(game.init()._replace(moves=jnp.int8(moves)))[-12:].astype(int)
        for moves in (0, 2, 3, 8, 23, 24)
    ]
    until, since = np.stack(seen).reshape(6, 2, 6).swapaxes(0, 1)
    assert (until * np.arange(1, 7)).sum(1).tolist() == [3, 1, 5, 5, 1, 0]
    assert (since * np.arange(6)).sum(1).tolist() == [0, 0, 0, 0, 5, 0]
    assert since.sum(1).tolist() == [0, 0, 1, 1, 1, 1]
    assert "reveals=[]" in (never := games.load("scotland_yard(board=london,reveals=[])")).name
    assert len(never.public_features(never.init())) == len(game.public_features(game.init())) - 12
