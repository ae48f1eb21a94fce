"""Agents that search on the host: when it is their turn, and only on the way to their decision.

Each plays what the search makes of the whole game (`search.depth_limited`, `search.pluribus`,
`search.nested`). Searches are built on the host, so matches are played one by one; for many matches
play the composed policy (`fixed`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.agents._track import Tracker, follow, tracker
from jaxsolve.game import Agent, Decision, Observation
from jaxsolve.search.depth import DepthSearch, ModicumSearch, PluribusSearch
from jaxsolve.search.nested import NestedSearch
from jaxsolve.solvers import Solver
from jaxsolve.tree import Lifted, ListedInfo, Policy, PublicTree
from jaxsolve.types import Array, PRNGKey


class PathSearch(Protocol):
    """A search that is made as far as the way to a decision needs it."""

    @property
    def info(self) -> ListedInfo:
        """Names of the game."""
        ...

    def start(self, player: int) -> Any:
        """Returns what a player knows before anything is searched."""
        ...

    def decide(self, state: Any, infoset: int) -> tuple[np.ndarray, Any]:
        """Returns (float64 [a] probabilities of an infoset's actions, what is known then)."""
        ...


class SearchMemory(NamedTuple):
    """What a searching player remembers in a match.

    Attributes:
        found: what was searched; see `PathSearch`.
        infostate: int32 [], where the player is, if the arena does not number infosets.
    """

    found: Any
    infostate: Array


def depth_limited(tree: PublicTree, search: DepthSearch, *, name: str = "depth-limited") -> Agent:
    """Returns an agent that plays what `search.depth_limited` composes.

    Args:
        tree: a compiled two-player constant-sum game, actions off the menu included.
        search: how searches are made.
        name: for tables of results.

    Raises:
        ValueError: an option makes no sense, or the game is not of two players and constant sum.
    """
    return searching(ModicumSearch(tree, search), name=name)


def pluribus(
    tree: PublicTree,
    search: DepthSearch,
    *,
    every_decision: bool = False,
    frozen: bool = True,
    final: bool = True,
    name: str = "pluribus",
) -> Agent:
    """Returns an agent that plays what `search.pluribus` composes, in any seat.

    Args:
        tree: a compiled game of any number of players, actions off the menu included.
        search: how searches are made.
        every_decision: search again at each decision.
        frozen: keep own actions of the round in a later search, for the hand that is held.
        final: play the last iterate of a search; else the average.
        name: for tables of results.

    Raises:
        ValueError: an option makes no sense.
    """
    return searching(PluribusSearch(tree, search, every_decision, frozen, final), name=name)


def nested(
    tree: PublicTree,
    blueprint: Policy | Lifted,
    *,
    gadget: str = "maxmargin",
    knowledge: int | str = 1,
    solver: str | Solver = "lp",
    name: str = "nested",
    **settings: Any,
) -> Agent:
    """Returns an agent that plays what `search.nested` composes with safety="everywhere".

    Args:
        tree: a compiled two-player constant-sum game.
        blueprint: policies of both players.
        gadget: "unsafe", "resolve" or "maxmargin".
        knowledge: "common", at every public state; or an odd k, k-KLSS at every infoset.
        solver: "lp", or a variant of CFR or its name.
        name: for tables of results.
        settings: `target`, `iterations` and `measure_every` of CFR.

    Raises:
        ValueError: an option makes no sense, or the game is not of two players and constant sum.
    """
    made = NestedSearch(tree, blueprint, gadget, knowledge, solver, settings)
    return searching(made, name=name)


def searching(search: PathSearch, *, name: str) -> Agent:
    """Returns an agent on the host that makes the searches on the way to each decision."""
    info = search.info

    @functools.cache
    def where() -> Tracker:
        return tracker(info)

    def init(seat: Array, key: PRNGKey) -> SearchMemory:
        return SearchMemory(search.start(int(seat)), jnp.asarray(seat, jnp.int32))

    def act(memory: SearchMemory, seen: Observation, key: PRNGKey) -> tuple[Decision, SearchMemory]:
        player, infostate = int(seen.player), memory.infostate
        if seen.infoset is not None:
            infoset = int(seen.infoset)
        else:
            infostate = follow(where(), infostate, seen)
            infoset = int(where().infoset[int(infostate)]) if infostate >= 0 else -1
        p = info.players[player]
        if not 0 <= infoset < p.num_infosets:
            raise ValueError(
                f"player {player} has infosets 0 to {p.num_infosets - 1} in {info.name}, and was "
                f"shown what leads to none of them ({infoset})"
            )
        odds, found = search.decide(memory.found, infoset)
        actions = p.action[p.offset[infoset] : p.offset[infoset + 1]]
        policy = np.zeros(int(info.game.num_actions))
        policy[actions] = odds
        chosen = actions[int(jax.random.choice(key, len(odds), p=jnp.asarray(odds)))]
        return Decision(chosen, jnp.asarray(policy)), SearchMemory(found, infostate)

    return Agent(init, act, name, info.name, host=True)
