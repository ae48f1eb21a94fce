"""Games that hide one number: values of whole trees, moves in tables, and beliefs over stations."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from games.scotland_yard import ScotlandYard
from jaxsolve.public import HiddenPieceModel, HiddenRoot, hidden_piece_model
from jaxsolve.search import growing_search, gt_cfr
from jaxsolve.tree import pick

CHASE = (
    "scotland_yard(edges=[[1,2],[2,3],[3,1],[3,4],[4,5]],evader=[1,5],detectives=[3],rounds=3,"
    "reveals=[2],doubles=1)"
)
ZERO = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        (CHASE, 0.0),
        ("scotland_yard(rounds=3)", -1 / 3),
        ("scotland_yard(rounds=4)", None),
    ],
)
def test_whole_trees_have_the_value_of_the_game(name: str, value: float | None):
    """CFR on the opened tree finds the value of the linear program; Mr X shows himself in CHASE."""
    game: Any = games.load(name)
    if value is None:
        value = js.solve_lp(js.compile(game)).value
    model, root = hidden_piece_model(game)
    search = growing_search(model, js.cfr_plus(2.0), simulations=400, skip_solved=True)
    ranges = jnp.ones((2, max(model.hands)))
    got = jax.jit(gt_cfr)(search, ZERO, root, ranges, jax.random.key(0))
    assert got.growth.num_leaves == 0
    assert got.root_values[0].sum() == pytest.approx(value, abs=1e-2)
    assert got.root_values[1].sum() == pytest.approx(-value, abs=1e-2)


@pytest.mark.parametrize(
    "name", [CHASE, pytest.param("scotland_yard(board=london)", marks=pytest.mark.slow)]
)
def test_tables_are_the_moves_of_the_rules(name: str):
    """For every station: legal actions, ends and payoffs, by stepping the rules."""
    game: Any = games.load(name)
    tables = game.move_tables()
    moves, legal = jax.jit(game.hidden_moves), jax.jit(game.legal)
    place, step = jax.jit(game.place), jax.jit(game.step)

    @jax.jit
    def after(state: Any, number: Any, action: Any) -> Any:
        end = game.step(game.place(state, number), action)
        return game.actor(end) < 0, game.utility(end)[0], end.stations[0], game.observe(end)[0]

    rng, checked, ended = np.random.default_rng(0), 0, 0
    hidden = range(0, game.map.num_stations, 1 if name == CHASE else 37)
    for _ in range(6 if name == CHASE else 2):
        state = step(game.init(), game.map.evader[0] - 1)
        while int(game.actor(state)) >= 0:
            found = moves(state)
            taken = np.asarray(state.stations[1:])
            for h in hidden:
                if h in taken:
                    continue
                world = place(state, h)
                slots = np.flatnonzero(found.legal[:, h])
                actions = np.asarray(found.action)[slots, h]
                assert set(actions) == set(np.flatnonzero(legal(world)))
                for a, action in zip(slots[:4], actions[:4], strict=True):
                    over, pays, at, shown = after(state, h, action)
                    assert over == found.ends[a, h]
                    ended += int(over)
                    if over:
                        assert pays == found.payoff[a, h]
                    else:
                        assert at == tables.after[found.kind, a, h]
                    evader = int(game.actor(state)) == 0
                    shows = bool(found.shows[a])
                    assert shows == (evader and shown[1] >= 0)
                    checked += 1
            choice = rng.choice(np.flatnonzero(legal(state)))
            state = step(state, choice)
    assert checked > 100
    assert ended > 0


def test_bad_input():
    with pytest.raises(ValueError, match="have not the methods move_tables"):
        hidden_piece_model(games.load("kuhn"))  # type: ignore[arg-type]


class Exact:
    """Exact tracking of Mr X, who plays uniformly, in NumPy: from the map and what is announced."""

    def __init__(self, game: ScotlandYard):
        self.map, self.joined = game.map, game.map.joined()
        self.belief = np.zeros(game.map.num_stations)
        self.belief[np.array(game.map.evader) - 1] = 1 / len(game.map.evader)

    def legal(self, state: Any, tickets: np.ndarray) -> np.ndarray:
        """Moves [K, S, S] of Mr X."""
        free = np.ones(self.map.num_stations, bool)
        free[state.stations[1:]] = False
        return self.joined & (tickets > 0)[:, None, None] & free

    def see(self, before: Any, after: Any, shown: np.ndarray) -> None:
        """Takes in one move."""
        b, used, place = self.belief, shown[0], shown[1]
        if before.turn == 0:
            moves = self.legal(before, before.tickets[0])
            count = moves.sum((0, 2))
            double = (
                (before.phase == 0) & (before.doubles > 0) & (before.moves + 2 <= self.map.rounds)
            )
            b = b / np.maximum(count + double, 1)
            if used < len(self.map.kinds):
                b = b @ moves[used]
                if place >= 0:
                    b = b * (np.arange(len(b)) == place)
        else:
            b = b * (np.arange(len(b)) != after.stations[before.turn])
        if after.turn == 0:
            b = b * self.legal(after, after.tickets[0]).any((0, 2))
        self.belief = b / b.sum()


def track(model: HiddenPieceModel, root: HiddenRoot, plays: int) -> Any:
    """Returns a function (key) -> a game: states before each move, what was shown, beliefs."""
    game, hands = model.game, model.hands[0]

    def on(root: Any, reach: Any, action: Any, row: Any, used: Any, go: Any) -> Any:
        """One step of the model, and of the own reach of Mr X who plays uniformly."""
        zero = jnp.zeros((), jnp.int32)
        seen = model.follow(root, jnp.int32(1), zero, action, row, row[:, :1], used)
        store, number = model.start(root, 1, jnp.float32)
        store, at = model.open(store, number, zero, jnp.bool_(True))
        rows = model.transitions(store)
        played = rows.legal[at] / jnp.maximum(rows.legal[at].sum(0), 1)
        flow = reach * jnp.where(rows.actor[at] == 0, played, 1.0)
        flat = jnp.append(flow, jnp.zeros((1, hands))).reshape(-1)
        after = flat[rows.parents_of[at, seen.child][0]].sum(-1)
        child = model.root_of(store, rows.child[at, seen.child])
        keep = functools.partial(jnp.where, go)
        return jax.tree.map(keep, child, root), keep(after, reach), keep(seen.status, 0)

    def step(carry: Any, draw: Any) -> Any:
        state, root, reach, status = carry
        live = game.actor(state) >= 0
        action = pick(game.legal(state).astype(float), draw)
        after = game.step(state, action)
        over = game.actor(after) < 0
        row = jnp.asarray(game.observe(after)[0], jnp.int32)[None]
        go = live & ~over

        def each(number: Any, carry: Any) -> Any:
            # First the move, then up to two digits of a number that is shown.
            root, reach, status = carry
            more = go & ((number == 0) | (root.left > 0))
            root, reach, bad = on(root, reach, action, row, jnp.minimum(number, 1), more)
            return root, reach, status | bad

        root, reach, status = jax.lax.fori_loop(0, 3, each, (root, reach, status))
        belief = reach * root.weight
        after = jax.tree.map(lambda x, y: jnp.where(live, x, y).astype(y.dtype), after, state)
        out = (state, after, row[0], belief / belief.sum(), go, game.actor(root.state))
        return (after, root, reach, status), out

    def one(key: Any) -> Any:
        draws = jax.random.uniform(key, (plays + 1,))
        start = game.init()
        state = game.step(start, pick(game.chance(start), draws[0]))
        begin = (state, root, jnp.ones(hands), jnp.int32(0))
        (_, _, _, status), out = jax.lax.scan(step, begin, draws[1:])
        return status, out

    return one


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_beliefs_are_exact_tracking():
    """In random games in London: no observation is lost, beliefs sum to 1 and are the tracker's."""
    game: Any = games.load("scotland_yard(board=london)")
    model, root = hidden_piece_model(game)
    assert compared(game, model, root, 8, 0) > 250


def compared(game: Any, model: Any, root: Any, count: int, seed: int) -> int:
    """Returns beliefs compared in some random games."""
    keys = jax.random.split(jax.random.key(seed), count)
    status, out = jax.jit(jax.vmap(track(model, root, 150)))(keys)
    assert not np.asarray(status).any()
    before, after, shown, beliefs, goes, _ = jax.tree.map(np.asarray, out)
    checked = 0
    for g in range(count):
        exact = Exact(game)
        for k in np.flatnonzero(goes[g]):
            first, then = (jax.tree.map(lambda x, at=(g, k): x[at], y) for y in (before, after))
            exact.see(first, then, shown[g, k])
            np.testing.assert_allclose(beliefs[g, k], exact.belief, atol=2e-6)
            assert beliefs[g, k].sum() == pytest.approx(1, abs=1e-5)
            assert beliefs[g, k][after.stations[g, k, 0]] > 0
            checked += 1
    return checked
