"""Expansions of a growing tree: a simulation, and the leaf that it opens."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxsolve.regret import Step, normalise
from jaxsolve.search.growing._leaves import ask_once
from jaxsolve.search.growing._prepared import with_children
from jaxsolve.search.growing._reach import flow_of, reach_at, root_reach
from jaxsolve.search.growing._simulate import Guide, count_visits, simulate
from jaxsolve.search.growing._state import GrowingSearch, SearchProblem, SearchState
from jaxsolve.search.growing._tree import add, add_children, follows, settle
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import normalised


def expand(
    search: GrowingSearch, problem: SearchProblem, state: SearchState, key: PRNGKey
) -> SearchState:
    """Returns the search after one simulation, with what it has added to the tree."""
    state = ask_once(search, problem, state)
    growth = state.growth
    transitions = search.model.transitions(growth.store)
    scale = transitions.scale[growth.public[0]]
    focus, start = problem.focus, state.start
    if search.skip_solved:
        through = growth.done[focus]
        focus, start = jnp.where(through, 0, focus), jnp.where(through, state.root_reach, start)
    guide = Guide(state.total, state.values, state.action_reach, start, scale)
    visit = simulate(
        transitions,
        growth,
        guide,
        key,
        focus=focus,
        depth=search.model.depth,
        exploration=search.exploration,
        skip_solved=search.skip_solved,
    )
    size, width = len(growth.row), growth.num_children
    here, child = jnp.minimum(visit.node, size - 1), jnp.minimum(visit.child, width - 1)
    ends = visit.node == size
    present = growth.inside[here, child]
    growth = count_visits(growth, visit, search.several)
    if search.top is not None:
        chosen = jnp.arange(transitions.num_actions) == visit.action
        more = follows(transitions, growth.row[here], chosen)
        growth = add_children(transitions, growth, here, more, ~ends & ~present)
    opens = ~ends & present & (growth.opened[here, child] < 0)
    if state.known is not None and state.total.shape[-1] == 1:
        # All leaves have been asked about, which `opens` says for the compiler: if what is opened
        # did not depend on it, XLA would copy the tree for whoever asks.
        opens &= growth.fresh == growth.num_leaves
    expanded = growth.expanded + (~ends & (opens | ~present))
    state = state._replace(growth=growth._replace(expanded=expanded))
    state = open_leaf(search, problem, state, here, child, visit.pair, opens, every=False)
    return state


def open_leaf(
    search: GrowingSearch,
    problem: SearchProblem,
    state: SearchState,
    up: Array,
    child: Array,
    hand: Array,
    go: Array,
    *,
    every: bool,
) -> SearchState:
    """Returns the search with one leaf opened, at which every action is played alike.

    With `warm` it is played by the prior instead.

    Args:
        search: options.
        problem: what the search is about.
        state: the search.
        up: int32 [], the parent.
        child: int32 [], which child of it; C for the root.
        hand: int32 [2], private states; the best actions of the actor's are added.
        go: bool [], False leaves all as it is.
        every: add all actions.
    """
    growth, model = state.growth, search.model
    transitions = model.transitions(growth.store)
    width, size, new = growth.num_children, len(growth.row), growth.num_opened
    above = growth.row[up]
    below = transitions.child[above, jnp.minimum(child, width - 1)]
    public = jnp.where(child == width, growth.public[0], below)
    reach = reach_at(transitions, state.action_reach, up, above, child)
    reach = jnp.where(child == width, root_reach(problem, state), reach)
    store, row = model.open(growth.store, public, new, go)
    transitions = model.transitions(store)
    legal, actor = transitions.legal[row], transitions.actor[row]
    prior = normalise(jnp.zeros(legal.shape, reach.dtype), legal)
    if problem.prior is not None:
        # A simulation asks about all leaves before it goes anywhere, a path to the focus does not.
        known = None if every or state.known is None else state.known.prior
        if known is None:
            beliefs, _ = normalised(reach, transitions.possible[public])
            given = problem.prior(model.public_state(store, public[None]), beliefs[None])[0]
        else:
            given = known[up, :, child][:, None]
        prior = normalise(jnp.where(legal, given[: len(legal)], 0), legal)
    wanted = jnp.ones(len(legal), bool)
    if search.top is not None and not every:
        score = jnp.where(legal[:, hand[actor]], prior[:, hand[actor]], -1.0)
        wanted = jnp.argsort(jnp.argsort(-score, stable=True), stable=True) < search.top
    growth = growth._replace(store=store)
    growth = add(transitions, growth, up, child, public, row, prior, wanted, go)
    if search.skip_solved:
        growth = settle(transitions, growth, new, go)
    allowed = growth.allowed[new]
    policy = normalise(jnp.zeros(legal.shape, reach.dtype), allowed)
    regrets = search.solver.minimizer.init(policy)
    if search.warm is not None:
        comes = jnp.broadcast_to(problem.reach.max(1, keepdims=True), reach.shape)
        unit = transitions.weights.against(public, comes)[actor]
        unit = unit * transitions.scale[growth.public[0]]
        step = Step(jnp.ones((), reach.dtype), problem.horizon.astype(reach.dtype))
        gains, nobody = search.warm * unit * prior, jnp.zeros_like(policy)
        regrets, _ = search.solver.minimizer.update(regrets, step, gains, nobody, legal)
        policy = normalise(jnp.where(allowed, prior, 0), allowed)
    at = jnp.where(go, new, size)

    def put(array: Array, value: Array) -> Array:
        return array.at[at].set(value, mode="drop")

    # Loops run on to the largest tree of a batch, so that what was here need not be empty.
    state = state._replace(
        growth=growth,
        minimizer=jax.tree.map(put, state.minimizer, regrets),
        policy=put(state.policy, policy),
        total=put(state.total, jnp.zeros_like(policy)),
        values=put(state.values, jnp.zeros_like(policy)),
        action_reach=put(state.action_reach, flow_of(actor, reach, policy)),
    )
    return with_children(search, problem, state, row, go)
