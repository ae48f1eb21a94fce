"""Training data at the beliefs that searches ask a network about.

Random beliefs are far from most of those that a search meets: there, one player has few hands left
and the other is indifferent between two or three. Student of Games (Schmid et al. 2023, "Query
collection") trains on logged queries for that reason. Here a source runs searches with the network
as it is, takes the beliefs of one iteration of each at some of its leaves, and solves those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxsolve import devices
from jaxsolve.learn._data import Examples, Source, draw_beliefs, examples_of
from jaxsolve.nets import Net
from jaxsolve.public import PublicGame
from jaxsolve.search.fixed import Solution, Subgames, solve_belief
from jaxsolve.solvers import Solver
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey
from jaxsolve.values import normalised


def search_queries(
    game: PublicGame,
    searched: Subgames,
    solved: Subgames,
    solver: Solver,
    *,
    roots: Sequence[int],
    search_iterations: int,
    iterations: int,
    searches: int,
    leaves: int,
    explore: float = 0.25,
) -> Source:
    """Returns examples at the leaves of searches.

    Searches begin with random policies. The iteration is drawn evenly, and so are the leaves.

    Args:
        game: the public nodes.
        searched: subgames with a depth limit; their leaves are worth what the network says.
        solved: subgames from the leaves on; likewise, if they have leaves.
        solver: variant of CFR, for both.
        roots: classes of subgames to search; the first is that of the start of the game.
        search_iterations: of a search.
        iterations: of the solver below.
        searches: searches of a batch.
        leaves: examples from each.
        explore: share of the searches that start from random ranges at any of the roots; the others
            start from even ranges at the first.

    Raises:
        ValueError: no search, leaf or root.
    """
    if min(searches, leaves, len(roots)) < 1:
        raise ValueError(
            f"searches={searches}, leaves={leaves} and {len(roots)} roots must be positive"
        )
    states = game.states
    possible = states.possible
    classes = jnp.asarray(list(roots), jnp.int32)

    def queries(net: Net, key: PRNGKey) -> tuple[Array, Array]:
        names = ("explores", "root", "beliefs", "policy", "stop", "leaves")
        keys = dict(zip(names, jax.random.split(key, len(names)), strict=True))
        explores = jax.random.bernoulli(keys["explores"], explore)
        subgame_class = jnp.where(explores, jax.random.choice(keys["root"], classes), classes[0])
        even = normalised(jnp.ones(possible.shape[1:]), possible[subgame_class])[0]
        drawn = draw_beliefs(possible[subgame_class][None], keys["beliefs"])[0]
        beliefs = jnp.where(explores, drawn, even)
        found = solve_belief(
            searched,
            net,
            solver,
            subgame_class,
            beliefs,
            iterations=search_iterations,
            key=keys["policy"],
            stop=jax.random.randint(keys["stop"], (), 1, search_iterations + 1),
        )
        return _at_leaves(found, possible, keys["leaves"], leaves)

    def sample(net: Net, state: Array, key: PRNGKey) -> tuple[Examples, Array]:
        asked = devices.vmap(lambda k: queries(net, k))(jax.random.split(key, searches))
        subgame_class, beliefs = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), asked)
        return examples_of(net, states, solved, solver, subgame_class, beliefs, iterations), state

    return Source(lambda _: jnp.zeros((), jnp.int32), sample, searches * leaves, states.at)


def mixed(*sources: Source) -> Source:
    """Returns a source whose batches are those of several, one after the other.

    Args:
        *sources: of the same list of public states, or of the same game's rules.
    """

    def init(key: PRNGKey) -> Any:
        return tuple(s.init(jax.random.fold_in(key, k)) for k, s in enumerate(sources))

    def sample(net: Net, state: Any, key: PRNGKey) -> tuple[Examples, Any]:
        made = [s.sample(net, state[k], jax.random.fold_in(key, k)) for k, s in enumerate(sources)]
        parts = [m[0] for m in made]
        if any(p.value_weight is not None for p in parts):
            parts = [p.weighted() for p in parts]
        width = max(p.policy.shape[1] for p in parts)
        parts = [p._replace(policy=_widened(p.policy, width)) for p in parts]
        examples = jax.tree.map(lambda *x: jnp.concatenate(x), *parts)
        return examples, tuple(m[1] for m in made)

    def counts(state: Any) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for s, own in zip(sources, state, strict=True):
            found |= s.counts(own) if s.counts else {}
        return found

    settings = ", ".join(s.settings for s in sources if s.settings)
    return Source(
        init, sample, sum(s.batch for s in sources), sources[0].public_state, counts, settings
    )


def _widened(policy: Array, width: int) -> Array:
    """Returns policies [B, A, H] with so many actions, the further ones never played."""
    return jnp.pad(policy, ((0, 0), (0, width - policy.shape[1]), (0, 0)))


def _at_leaves(found: Solution, possible: Array, key: PRNGKey, count: int) -> tuple[Array, Array]:
    """Returns classes [count] and beliefs [count, 2, H] at leaves of the depth limit."""
    nodes = found.nodes
    node = jax.vmap(pick, (None, 0))(
        nodes.frontier.astype(float), jax.random.uniform(key, (count,))
    )
    ranges = jnp.stack([found.sampled[i][nodes.at[i, node]] for i in range(2)], 1)
    subgame_class = nodes.subgame_class[node].clip(0)
    return subgame_class, normalised(ranges, possible[subgame_class])[0]
