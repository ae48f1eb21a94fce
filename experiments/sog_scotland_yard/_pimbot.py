"""PimBot: Monte-Carlo tree search for Scotland Yard, as an agent, in JAX over games side by side.

One tree for each decision. Each iteration puts Mr X on a station drawn from where he may be (when
detectives search; Mr X knows), selects by UCT with progressive history, adds one node and plays to
the end by epsilon-greedy moves. Nodes of detectives are shared by all stations; at Mr X's first
decision the node has the moves of all of them, and those legal for the station drawn are
considered. The most visited move is played. See `_pimbot_parts` for the source.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._pimbot_parts import (
    Moves,
    board_of,
    filtered,
    moves_of,
    possible_after,
    rewards,
    start_possible,
    station_odds,
)
from games.scotland_yard import PLAYING, ScotlandYard
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey

EXPLORATION, HISTORY = 0.5, 5.0
"""C and W of UCT with progressive history."""

EPSILON = (0.1, 0.2)
"""Share of random moves in playouts, of Mr X's searches and of the detectives'."""


class Statistics(NamedTuple):
    """A tree and what playouts have seen (N nodes, M moves by number, P = 1 + D pieces).

    Attributes:
        child: int16 [N, M], 0 where there is none.
        visits: float [N].
        score: float [N], sum of the rewards of whoever moved into the node.
        tried: float [P, M], playouts with each move of each piece.
        won: float [P, M], sum of that piece's rewards in them.
        nodes: int32 [], in use.
    """

    child: Array
    visits: Array
    score: Array
    tried: Array
    won: Array
    nodes: Array


class Walk(NamedTuple):
    """An iteration under way (L plies at most).

    Attributes:
        world: of the rules.
        meant: bool [S], where Mr X may be, by what is public.
        made: int32 [L], piece M + action of each ply, P M where there is none.
        ply: int32 [], how many there are.
        stuck: bool [], the last mover had no move.
    """

    world: Any
    meant: Array
    made: Array
    ply: Array
    stuck: Array


@dataclasses.dataclass(frozen=True)
class PimBot:
    """Settings.

    Attributes:
        iterations: of a search.
        by_station: how stations are drawn; see `station_odds`.
    """

    iterations: int = 100
    by_station: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.iterations < 1 << 15:
            raise ValueError(f"iterations={self.iterations} must be 1 to {(1 << 15) - 1}")


def search(
    game: ScotlandYard, bot: PimBot, state: Any, possible: Array, seat: Array, key: PRNGKey
) -> Array:
    """Returns float [M], visits of each move at the root.

    Args:
        game: the rules.
        bot: settings.
        state: where the search starts; Mr X's station counts in his own search only.
        possible: bool [S], where he may be, by what is public.
        seat: int32 [], who searches: 0 Mr X, 1 the detectives.
        key: draws stations and playouts.
    """
    board, moves = board_of(game), game.num_actions
    pieces, longest = 1 + len(game.map.detectives), (2 + len(game.map.detectives)) * game.map.rounds
    nodes = bot.iterations + 2
    start = Statistics(
        child=jnp.zeros((nodes, moves), jnp.int16),
        visits=jnp.zeros(nodes),
        score=jnp.zeros(nodes),
        tried=jnp.zeros((pieces, moves)),
        won=jnp.zeros((pieces, moves)),
        nodes=jnp.int32(1),
    )
    odds = station_odds(board, possible, state.stations[1:], by_station=bot.by_station)

    def goes_on(walk: Walk) -> Array:
        return (walk.world.result == PLAYING) & (walk.ply < longest) & ~walk.stuck

    def options(walk: Walk) -> tuple[Moves, Array]:
        here = moves_of(game, board, walk.world)
        return here, filtered(game, board, walk.world, here, walk.meant)

    def moved(walk: Walk, action: Array, stuck: Array) -> Walk:
        world = game.step(walk.world, action)
        shown = game.observe(world)[0]
        return Walk(
            world=world,
            meant=possible_after(board, walk.meant, walk.world, shown),
            made=walk.made.at[walk.ply].set(_piece(walk.world) * moves + action),
            ply=walk.ply + 1,
            stuck=stuck,
        )

    def iteration(number: Array, tree: Statistics) -> Statistics:
        draws = jax.random.fold_in(key, number)
        first, rest = jax.random.split(draws)
        drawn = jnp.where(seat == 0, state.stations[0], pick(odds, jax.random.uniform(first)))
        world = game.place(state, drawn)._replace(result=jnp.zeros_like(state.result))
        noise = jax.random.uniform(rest, (longest, 3))
        new = tree.nodes

        def descend(carry: tuple[Walk, Array, Array]) -> tuple[Walk, Array, Array]:
            # What has not been visited comes first, at random; then the best.
            walk, path, node = carry
            here, allowed = options(walk)
            below = tree.child[node, here.action].astype(jnp.int32)
            fresh = allowed & (below == 0)
            value = _uct(tree, below, tree.visits[node], _piece(walk.world), here.action)
            best = jnp.argmax(jnp.where(allowed, value, -jnp.inf))
            slot = jnp.where(fresh.any(), pick(fresh.astype(float), noise[walk.ply, 2]), best)
            node = jnp.where(fresh.any(), new, below[slot])
            path = path.at[walk.ply].set(node)
            return moved(walk, here.action[slot], ~allowed.any()), path, node

        def roll(walk: Walk) -> Walk:
            here, allowed = options(walk)
            u = noise[walk.ply]
            best = greedy(board, walk.world, here, allowed, walk.meant, seat, u[1])
            strays = u[0] < jnp.asarray(EPSILON)[seat]
            slot = jnp.where(strays, pick(allowed.astype(float), u[2]), best)
            return moved(walk, here.action[slot], ~allowed.any())

        # The loops read the tree, which is written once they are over: as part of what they carry
        # it would be copied with every ply, wherever games side by side do not end together.
        nothing = jnp.full(longest, pieces * moves, jnp.int32)
        walk = Walk(world, possible, nothing, jnp.int32(0), jnp.bool_(False))
        path = jnp.full(longest, nodes, jnp.int32)
        walk, path, node = jax.lax.while_loop(
            lambda x: goes_on(x[0]) & (x[2] < new), descend, (walk, path, jnp.int32(0))
        )
        last = jnp.maximum(walk.ply - 1, 0)
        parent = jnp.where(last > 0, path[last - 1], 0)
        at = jnp.where(node == new, parent, nodes), walk.made[last] % moves
        child = tree.child.at[at].set(new.astype(jnp.int16), mode="drop")
        walk = jax.lax.while_loop(goes_on, roll, walk)
        # A station without any way out is lost for Mr X, whose turn it is.
        lost = (jnp.arange(pieces) > 0).astype(float)
        got = jnp.where(walk.stuck, lost, rewards(game, walk.world))
        mine = got[jnp.minimum(walk.made // moves, pieces - 1)]
        where = walk.made // moves, walk.made % moves
        return Statistics(
            child=child,
            visits=tree.visits.at[0].add(1).at[path].add(1, mode="drop"),
            score=tree.score.at[path].add(mine, mode="drop"),
            tried=tree.tried.at[where].add(1, mode="drop"),
            won=tree.won.at[where].add(mine, mode="drop"),
            nodes=new + (node == new),
        )

    tree = jax.lax.fori_loop(0, bot.iterations, iteration, start)
    below = tree.child[0].astype(jnp.int32)
    return jnp.where(below > 0, tree.visits[below], 0)


def _piece(world: Any) -> Array:
    """Returns int32 [], who is to move: 0 Mr X, then the detectives."""
    return jnp.maximum(world.turn, 0).astype(jnp.int32)


def _uct(tree: Statistics, below: Array, visits: Array, piece: Array, action: Array) -> Array:
    """Returns float [A], UCT with progressive history of the moves whose nodes are `below`."""
    n = jnp.maximum(tree.visits[below], 1)
    s = tree.score[below]
    tried, won = tree.tried[piece, action], tree.won[piece, action]
    history = jnp.where(tried > 0, won / jnp.maximum(tried, 1), 0)
    bonus = EXPLORATION * jnp.sqrt(jnp.log(jnp.maximum(visits, 1)) / n)
    return s / n + bonus + HISTORY * history / (n - s + 1)


def greedy(
    board: Any, world: Any, here: Any, allowed: Array, meant: Array, seat: Array, draw: Array
) -> Array:
    """Returns int32 [], a slot: Mr X away from the closest detective, detectives towards him."""
    detectives = world.stations[1:].astype(jnp.int32)
    away = board.distance[detectives[:, None], here.place].min(0)
    hidden = jnp.maximum(world.stations[0], 0).astype(jnp.int32)
    known = board.distance[here.place, hidden]
    summed = (board.distance.astype(float)[here.place] @ meant.astype(float)).astype(jnp.int32)
    near = -jnp.where(seat == 0, summed, known)
    good = jnp.where(allowed, jnp.where(world.turn == 0, away, near), jnp.iinfo(jnp.int32).min)
    return pick((good == good.max()).astype(float) * allowed, draw)


class Memory(NamedTuple):
    """What PimBot knows in a match.

    Attributes:
        seat: int32 [].
        state: of the rules; to detectives Mr X's station is not known.
        possible: bool [S], where he may be, by what is public.
    """

    seat: Array
    state: Any
    possible: Array


def memory_of(game: ScotlandYard, seat: Array) -> Memory:
    """Returns what a player knows before anything is shown."""
    state = game.init()
    drawn = len(game.map.evader) > 1
    state = state._replace(
        turn=jnp.zeros_like(state.turn), mover=jnp.full_like(state.mover, -1 if drawn else -2)
    )
    return Memory(jnp.asarray(seat, jnp.int32), state, start_possible(game))


def take_in(game: ScotlandYard, memory: Memory, seen: Observation) -> Memory:
    """Returns what a player knows who has been shown an observation."""
    board = board_of(game)
    kinds, size = board.joined.shape[:2]

    def one(row: Array, memory: Memory) -> Memory:
        state, shown = memory.state, seen.public[row]
        used, place = shown[0], shown[1]
        mine = (row == 0) & (seen.action >= 0)
        start = (used < 0) & (seen.private[row, 0] >= 0)
        rest = kinds * size + (used - kinds)
        guess = used * size + jnp.where(place >= 0, place, state.stations[0])
        action = jnp.where(mine, seen.action, jnp.where(used >= kinds, rest, guess))
        after = game.step(state, action)._replace(result=jnp.zeros_like(state.result))
        possible = possible_after(board, memory.possible, state, shown)
        drawn = game.place(state, seen.private[row, 0])
        after = jax.tree.map(lambda x, y: jnp.where(start, x, y), drawn, after)
        possible = jnp.where(start, memory.possible, possible)
        go = row < seen.length
        pair = (after, possible), (state, memory.possible)
        state, possible = jax.tree.map(lambda x, y: jnp.where(go, x, y).astype(y.dtype), *pair)
        return Memory(memory.seat, state, possible)

    return jax.lax.fori_loop(0, seen.public.shape[0], one, memory)


def pimbot(game: ScotlandYard, bot: PimBot, *, name: str | None = None) -> Agent:
    """Returns PimBot as an agent of either seat.

    Args:
        game: the rules.
        bot: settings.
        name: for tables of results.
    """

    def init(seat: Array, key: PRNGKey) -> Memory:
        return memory_of(game, seat)

    def act(memory: Memory, seen: Observation, key: PRNGKey) -> tuple[Decision, Memory]:
        memory = take_in(game, memory, seen)
        visits = search(game, bot, memory.state, memory.possible, memory.seat, key)
        visits = jnp.where(seen.legal, visits, 0)
        forced = (jnp.argmax(seen.legal) == jnp.arange(game.num_actions)) & ~(visits > 0).any()
        action = jnp.argmax(visits + forced).astype(jnp.int32)
        return Decision(action, (jnp.arange(game.num_actions) == action).astype(float)), memory

    return Agent(init, act, name or f"PimBot({bot.iterations})", game.name)
