"""Continual re-solving as one state machine: `init`, `search`, `advance`.

Source: Moravcik et al. 2017 (DeepStack); Schmid et al. 2023 (Student of Games), "Modified continual
re-solving". A player keeps the tree of their last search. While the game goes on inside it, the
next search starts at the current public state, with the ranges and the promised values of that
tree. Once the game has left the tree, the next search starts at the last public state inside, and
the path from there to the current one grows. Where nothing is hidden, trees that grow always start
at the current public state.

The same three functions are stepped by agents (one match), by self-play (many episodes) and by
`resolve_game` (every public state of a listed game), over any `SearchEngine`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve.search.resolving._beliefs import BeliefSubgame, Gadget
from jaxsolve.types import Array, PRNGKey, PyTree

T = TypeVar("T")


class ResolvingState(NamedTuple):
    """What the next search starts from (H private states, W children on the longest path).

    Attributes:
        root: the public state at which the next search starts; see `BeliefSubgame`.
        ranges: float [2, H], own reaches of both players there.
        promised: float [2, H], counterfactual values there.
        bound: bool [], whether `promised` comes from a search; False before the first one.
        path_to_focus: int32 [W], children from the root to the current public state, then -1.
        length: int32 [], of that path.
        at: int32 [], number of the current public state in the tree of the last search; -1 if
            nobody's policy is known there.
    """

    root: PyTree
    ranges: Array
    promised: Array
    bound: Array
    path_to_focus: Array
    length: Array
    at: Array


class Below(NamedTuple):
    """A child of a public state, as the tree of a search knows it.

    Attributes:
        inside: bool [], whether ranges and values are known there.
        at: int32 [], its number in the tree; -1 if the tree has no policy there.
        root: the public state, for a search that starts there; None where `step` makes it.
        ranges: float [2, H], own reaches under the policies that were found.
        values: float [2, H], counterfactual values, chance moves since the root divided out.
    """

    inside: Array
    at: Array
    root: PyTree
    ranges: Array
    values: Array


class SearchEngine(Protocol):
    """How one subgame is searched; a pytree. Public state 0 of a tree is its root."""

    @property
    def hands(self) -> int:
        """H, private states of the player with more of them."""

    @property
    def longest_path(self) -> int:
        """W, children on the longest path from a root to a focus, at least 1."""

    @property
    def tree_depth(self) -> int:
        """Decisions on the longest path through a tree, or more."""

    @property
    def grows_at_focus(self) -> bool:
        """Whether trees depend on the focus; otherwise one search serves all public states."""

    @property
    def random(self) -> bool:
        """Whether a search needs a key."""

    @property
    def step(self) -> Callable[[PyTree, Array], PyTree] | None:
        """What gives a child of a public state, where searches start and trees need not keep it.

        None where searches may have to start above, as where something is hidden.
        """

    def key_of(self, level: PRNGKey, number: Array) -> PRNGKey:
        """Returns what draws all that is random in one of many searches that share a key."""

    def search(self, value: Any, prior: Any, subgame: BeliefSubgame, key: PRNGKey | None) -> Any:
        """Returns the outcome of one search, a pytree; `vmap` it for a batch."""

    def tree(self, found: Any) -> Any:
        """Returns the part of an outcome that `below` needs."""

    def blank(self, root: PyTree) -> Any:
        """Returns a tree of zeros: what is kept before the first search."""

    def below(self, tree: Any, at: Array, child: Array) -> Below:
        """Returns a child (int32 []) of public state `at` (int32 []) of a tree."""

    def policy(self, found: Any, at: Array) -> Array:
        """Returns float [A, H], what whoever acts at public state `at` plays.

        Actions are numbered by their place among the legal ones of each private state.
        """

    def status(self, found: Any) -> Array:
        """Returns int32 [], bits of `types.Status`; 0 if the search had room for all it needed."""


def init(engine: SearchEngine, root: PyTree) -> ResolvingState:
    """Returns the state before anybody has moved.

    Args:
        engine: how subgames are searched.
        root: the first public state; see `BeliefSubgame`.
    """
    zero = jnp.zeros((), jnp.int32)
    return ResolvingState(
        root=root,
        ranges=jnp.ones((2, engine.hands)),
        promised=jnp.zeros((2, engine.hands)),
        bound=jnp.zeros((), bool),
        path_to_focus=jnp.full(engine.longest_path, -1, jnp.int32),
        length=zero,
        at=zero - 1,
    )


def subgame_of(state: ResolvingState, seat: Array, alpha: Any) -> BeliefSubgame:
    """Returns what a player searches.

    Args:
        state: where they are.
        seat: int32 [], who re-solves; their opponent may terminate for what was promised.
        alpha: share of the gadget in the opponent's range; None for a search without a gadget.
    """
    other = jnp.arange(2) == 1 - seat
    on = other & state.bound & (alpha is not None)
    share = jnp.asarray(1 if alpha is None else alpha, state.ranges.dtype)
    gadget = Gadget(on, jnp.where(on[:, None], state.promised, 0), share)
    return BeliefSubgame(state.root, state.ranges, gadget, state.path_to_focus)


def search(
    engine: SearchEngine,
    state: ResolvingState,
    seat: Array,
    value: Any,
    prior: Any,
    key: PRNGKey | None,
    *,
    alpha: Any,
) -> tuple[ResolvingState, Any]:
    """Returns (state, outcome) after a search for the current public state.

    A tree to a depth limit may end before the current public state. Then the next search starts
    where it ends, until there is a policy at the current public state.

    Args:
        engine: how subgames are searched.
        state: where the player is.
        seat: int32 [], who re-solves.
        value: worth of leaves, a `ValueFunction`; None where the engine needs none.
        prior: of actions, a `PriorFunction`; None for uniform.
        key: draws what is random in searches; None where nothing is.
        alpha: see `subgame_of`.
    """

    def once(state: ResolvingState, number: Any) -> tuple[ResolvingState, Any]:
        mine = None if key is None else engine.key_of(key, number)
        found = engine.search(value, prior, subgame_of(state, seat, alpha), mine)
        return at_focus(engine, state, engine.tree(found)), found

    if engine.grows_at_focus:
        return once(state, 0)
    blank = jax.tree.map(
        lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(lambda: once(state, 0)[1])
    )

    def again(carry: Any) -> Any:
        state, _, number = carry
        return *once(state, number), number + 1

    begin = (state._replace(at=jnp.full_like(state.at, -1)), blank, jnp.zeros((), jnp.int32))
    state, found, _ = jax.lax.while_loop(lambda carry: carry[0].at < 0, again, begin)
    return state, found


def at_root(state: ResolvingState) -> ResolvingState:
    """Returns the state with the root of its search as the current public state."""
    zero = jnp.zeros_like(state.length)
    blank = jnp.full_like(state.path_to_focus, -1)
    return state._replace(path_to_focus=blank, length=zero, at=zero)


def at_focus(engine: SearchEngine, state: ResolvingState, tree: Any) -> ResolvingState:
    """Returns the state at the current public state in the tree of the search that began in it."""
    start = at_root(state)
    if engine.step is not None:  # the search began at the current public state
        return start
    return follow(engine, start, tree, state.path_to_focus)


def advance(
    engine: SearchEngine, state: ResolvingState, tree: Any, child: Array, after: PyTree = None
) -> ResolvingState:
    """Returns the state after the game has moved on, whoever moved.

    Args:
        engine: how subgames are searched.
        state: before.
        tree: of the player's last search, `engine.tree(found)`.
        child: int32 [], which child of the current public state follows.
        after: the public state that it is, where that is known; `engine.step` is not asked then.
    """
    below = engine.below(tree, jnp.maximum(state.at, 0), child)
    inside = (state.at >= 0) & below.inside
    longer = state.path_to_focus.at[state.length].set(child, mode="drop")
    root = below.root
    if engine.step is not None:
        root = engine.step(state.root, child) if after is None else after
    known = ResolvingState(
        root=choose(inside, root, state.root),
        ranges=jnp.where(inside, below.ranges, state.ranges),
        promised=jnp.where(inside, below.values, state.promised),
        bound=state.bound | inside,
        path_to_focus=jnp.where(inside, -1, longer),
        length=jnp.where(inside, 0, state.length + 1),
        at=jnp.where(inside, below.at, -1),
    )
    if engine.step is None:
        return known
    # From above, a child that the opponent soon leaves alone has averages of the first iterations.
    return choose(inside, known, init(engine, root))


def follow(engine: SearchEngine, state: ResolvingState, tree: Any, path: Array) -> ResolvingState:
    """Returns the state after the game has moved on along a path, int32 [W], padded with -1."""

    def one(step: Array, state: ResolvingState) -> ResolvingState:
        return choose(path[step] >= 0, advance(engine, state, tree, path[step]), state)

    return jax.lax.fori_loop(0, path.shape[0], one, state)


def choose(where: Array, yes: T, no: T) -> T:
    """Returns one of two equal pytrees, by a bool []."""
    return jax.tree.map(lambda x, y: jnp.where(where, x, y), yes, no)
