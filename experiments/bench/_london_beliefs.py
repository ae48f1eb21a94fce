"""Beliefs over Mr X's station in random games: the model's against exact tracking in NumPy."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from games.scotland_yard import ScotlandYard
from jaxsolve.public import HiddenPieceModel, HiddenRoot
from jaxsolve.tree import pick


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


def compared(
    game: ScotlandYard, model: HiddenPieceModel, root: HiddenRoot, count: int, seed: int
) -> int:
    """Returns how many beliefs were compared in some random games.

    Raises:
        AssertionError: an observation was lost, or a belief is not that of exact tracking, does not
            sum to 1 or rules out where Mr X is.
    """
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
            assert abs(beliefs[g, k].sum() - 1) < 1e-5
            assert beliefs[g, k][after.stations[g, k, 0]] > 0
            checked += 1
    return checked
