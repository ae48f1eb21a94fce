"""Agents that search trees of positions: `klss` and `obscuro`.

Sources: Zhang & Sandholm 2021, section 7 and appendix D; 2025 (arXiv 2506.01242).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxsolve.agents._beliefs import Mind, positions_of, with_beliefs
from jaxsolve.game import Agent, EvaluatesPositions, Game
from jaxsolve.search.knowledge import (
    GADGETS,
    TRUNKS,
    Effort,
    Searched,
    ValueFunction,
    begin_turn,
    search_turn,
)

SUPPORT = 3
"""Actions that Obscuro mixes at most."""

KEPT = 0.5
"""Share of the root's positions that KLSS takes from its last tree at most: more of them leave no
time to look deep, and all of them would be where the last search thought that the opponent is."""

LEAST = 0.3
"""Share of the time of a move that is left to the search, however long the belief took."""

POSITIONS, PER_SECOND = (16, 256), 80
"""Positions at the root of a tree at least and at most, and for each second of a move: one core has
to open every reply to every move of each, some 900 nodes in dark chess, before it looks deeper."""

Log = Callable[[Mind, Searched], None]
"""Gets what an agent knew and what its search found, at every decision."""


def obscuro(
    game: Game,
    *,
    seconds: float = 1.0,
    effort: Effort | None = None,
    value_fn: ValueFunction | None = None,
    capacity: int = 1 << 18,
    positions: int | None = None,
    max_states: int = 50_000,
    mixed: int = SUPPORT,
    gadget: str = "both",
    opening: int = 0,
    log: Log | None = None,
    name: str = "obscuro",
) -> Agent:
    """Returns an agent that re-solves KLUSS subgames which grow where one side explores.

    It plays its last strategy: the best action, or at most `mixed` of them where no infostate of
    the opponent gains by the search.

    Args:
        game: the rules, of two players and without a chance start.
        seconds: of a move.
        effort: how long instead, with all its options.
        value_fn: what leaves are worth; the game's own (`EvaluatesPositions`) by default, or 0.
        capacity: nodes of a tree.
        positions: at its root, 80 for each second, 16 to 256, by default.
        max_states: of the infoset that is followed exactly.
        mixed: actions, 1 or more.
        gadget: "unsafe", "resolve", "maxmargin" or "both" (`search.knowledge.Roots`).
        opening: first moves that are random.
        log: of its searches.
        name: for tables of results.

    Raises:
        ValueError: no such game, or an argument out of range.
    """
    _check_mixed(mixed)
    if gadget not in GADGETS:
        raise ValueError(f"gadget must be one of {', '.join(GADGETS)}, not {gadget!r}")
    effort = effort or Effort(seconds=seconds)
    search = _searching(
        game, effort, value_fn, capacity, positions, log, gadget=gadget, frozen=False
    )

    def choose(mind: Mind, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = search(mind, rng)
        steady = np.where(found.support > 0, found.policy, 0)
        played = purified(found.policy, steady if found.safe else None, mixed)
        return _placed(mind, found, legal, played)

    return with_beliefs(
        game, choose, name=name, max_states=max_states, opening=opening, clock=effort.clock
    )


def klss(
    game: Game,
    *,
    seconds: float = 1.0,
    effort: Effort | None = None,
    value_fn: ValueFunction | None = None,
    capacity: int = 1 << 18,
    positions: int | None = None,
    max_states: int = 50_000,
    discovery: float | None = None,
    trunk: str = "cfr",
    mixed: int | None = None,
    opening: int = 0,
    log: Log | None = None,
    name: str = "klss",
) -> Agent:
    """Returns an agent that re-solves 1-KLSS subgames, one ply deeper whenever there is time.

    It plays its average strategy, as the paper does, or what is left of it with `mixed`. With
    `positions=200, discovery=1e7, trunk="lp"` it has the paper's particles, its cost of actions
    that find little out, and its linear programs. One of these is solved to its end, so that a move
    may take longer; `capacity` bounds it.

    Args:
        game: the rules, of two players and without a chance start.
        seconds: of a move.
        effort: how long instead, with all its options.
        value_fn: what leaves are worth; the game's own (`EvaluatesPositions`) by default, or 0.
        capacity: nodes of a tree.
        positions: at its root, 80 for each second, 16 to 256, by default; half of them may be of
            the last tree, and its likeliest infostate of the opponent always is.
        max_states: of the infoset that is followed exactly.
        discovery: a first action whose next observation has an entropy of H bits costs 2^-H times
            the positions of the infoset, divided by this; None for no cost.
        trunk: "cfr" for PCFR+, or "lp" for a linear program whenever the tree has grown, which is
            solved to its end.
        mixed: actions at most, as of `obscuro`; None for the whole average strategy.
        opening: first moves that are random.
        log: of its searches.
        name: for tables of results.

    Raises:
        ValueError: no such game, or an argument out of range.
    """
    if discovery is not None and not discovery > 0:
        raise ValueError(f"discovery={discovery} divides positions; give a number above 0, or None")
    if trunk not in TRUNKS:
        raise ValueError(f"trunk must be one of {', '.join(TRUNKS)}, not {trunk!r}")
    _check_mixed(mixed)
    effort = effort or Effort(seconds=seconds)
    search = _searching(
        game,
        effort,
        value_fn,
        capacity,
        positions,
        log,
        frozen=True,
        discovery=discovery,
        trunk=trunk,
    )

    def choose(mind: Mind, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = search(mind, rng)
        played = found.average
        if mixed is not None:
            played = purified(played, played if found.safe else None, mixed)
        return _placed(mind, found, legal, played)

    return with_beliefs(
        game, choose, name=name, max_states=max_states, opening=opening, clock=effort.clock
    )


def purified(policy: np.ndarray, steady: np.ndarray | None, mixed: int) -> np.ndarray:
    """Returns the best action of a policy, or a few of its actions; float64 [A].

    Args:
        policy: float [A]; what the rest leaves goes to its best action.
        steady: float [A], of which at most `mixed` actions stay; None for none.
        mixed: 1 or more.
    """
    out = np.zeros(len(policy))
    if steady is not None:
        kept = np.argsort(-steady, kind="stable")[:mixed]
        out[kept] = steady[kept]
    out[int(policy.argmax())] += 1 - out.sum()
    return np.maximum(out, 0)


def _check_mixed(mixed: int | None) -> None:
    if mixed is not None and mixed < 1:
        raise ValueError(f"mixed={mixed}: an agent plays at least 1 action")


def _searching(
    game: Game,
    effort: Effort,
    value_fn: ValueFunction | None,
    capacity: int,
    positions: int | None,
    log: Log | None,
    *,
    gadget: str = "both",
    frozen: bool,
    discovery: float | None = None,
    trunk: str = "cfr",
) -> Callable[[Mind, np.random.Generator], Searched]:
    """Returns a function that searches for a mind, and keeps the search there."""
    if positions is None:
        least, most = POSITIONS
        positions = most if effort.seconds is None else round(PER_SECOND * effort.seconds)
        positions = min(max(positions, least), most, max(capacity - game.num_actions, 1))
    if positions < 1:
        raise ValueError(f"positions={positions}: a search needs at least 1")
    rules = positions_of(game)
    if capacity < positions + rules.num_actions:
        raise ValueError(
            f"capacity={capacity}: {positions} positions and the moves of one need "
            f"{positions + rules.num_actions} nodes"
        )
    if value_fn is None and isinstance(game, EvaluatesPositions):
        value_fn = rules.evaluate if isinstance(rules, EvaluatesPositions) else game.evaluate
    leaf = value_fn or _nothing
    worth = jax.jit(jax.vmap(leaf))

    def search(mind: Mind, rng: np.random.Generator) -> Searched:
        states = mind.drawn(2 * positions, rng)
        size = len(jax.tree.leaves(states)[0])
        padded = jax.tree.map(lambda x: np.resize(x, (2 * positions, *x.shape[1:])), states)
        values = np.asarray(worth(padded))[:size]
        turn = begin_turn(
            mind.seat,
            mind.memory,
            states,
            values,
            mind.search,
            capacity=capacity,
            wanted=positions,
            most=max(int(KEPT * positions), 1) if frozen else None,
            gadget=gadget,
            frozen=frozen,
            seed=int(rng.integers(2**31)),
        )
        left = effort
        if effort.seconds is not None:  # following the positions has taken some of it
            spent = effort.clock() - mind.began
            left = dataclasses.replace(
                effort, seconds=max(effort.seconds - spent, LEAST * effort.seconds)
            )
        charge = 0.0 if discovery is None else mind.infoset.num_states / discovery
        seed = int(rng.integers(2**20))
        found = search_turn(
            rules,
            turn,
            leaf,
            effort=left,
            growth="deepening" if frozen else "one_sided",
            charge=charge,
            trunk=trunk,
            seed=seed,
        )
        mind.search = found.before
        if log is not None:
            log(mind, found)
        return found

    return search


def _nothing(state: object) -> jax.Array:
    return jax.numpy.zeros(())


def _placed(mind: Mind, found: Searched, legal: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """Returns a policy over the legal actions, from one over the actions that were searched.

    They are the same, unless positions had to be made up: these know nothing of castling.
    """
    if not mind.guessed and not np.array_equal(found.actions, legal):
        raise RuntimeError("positions of one infoset differ in what is legal")
    out = np.where(np.isin(legal, found.actions), 0.0, -1.0)
    out[out == 0] = policy[np.isin(found.actions, legal)]
    out = np.maximum(out, 0)
    return out / out.sum() if out.sum() > 0 else np.full(len(legal), 1 / len(legal))
