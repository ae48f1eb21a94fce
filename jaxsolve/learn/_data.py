"""Where training data comes from: beliefs, solved in batches.

Two sources behind one interface. `random_beliefs` draws beliefs and works its way up the game, the
last stage first (Moravcik et al. 2017, DeepStack). `self_play` follows its own searches: the next
belief is that of a random iteration at a random leaf, with exploration (Brown et al. 2020, ReBeL,
algorithm 1). Differs from ReBeL in the loop around it: searches and updates alternate in one
program, and the value at a belief is that of the average policies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import devices
from jaxsolve.nets import Net
from jaxsolve.public import PublicGame, PublicState
from jaxsolve.search.fixed import Solution, Subgames, policy_at, solve_belief
from jaxsolve.solvers import Solver
from jaxsolve.tree import pick
from jaxsolve.types import CHANCE, TERMINAL, Array, PRNGKey
from jaxsolve.values import normalised


class Examples(NamedTuple):
    """A batch of training data (B examples), in the units of the network.

    Attributes:
        public: the public states, in the form that `Source.public_state` takes: numbers of their
            classes, int32 [B], where the source has a list; else a `PublicState` with leading axis
            B.
        beliefs: float [B, 2, H], each sums to 1.
        values: float [B, 2, H], targets.
        policy: float [B, A, H], of whoever acts, by place among the legal actions.
        value_weight: float [B, 2, H], of each value in the loss; 1 if None.
        policy_weight: float [B], likewise of each policy.
    """

    public: Any
    beliefs: Array
    values: Array
    policy: Array
    value_weight: Array | None = None
    policy_weight: Array | None = None

    def weighted(self) -> Examples:
        """Returns the same with weights."""
        ones = jnp.ones_like(self.values)
        values = ones if self.value_weight is None else self.value_weight
        policies = ones[:, 0, 0] if self.policy_weight is None else self.policy_weight
        return self._replace(value_weight=values, policy_weight=policies)


class Source(NamedTuple):
    """A source of training data.

    Attributes:
        init: key -> state, a pytree of arrays.
        sample: (network, state, key) -> (Examples, state).
        batch: B.
        public_state: `Examples.public` -> what the network is given of those public states.
        counts: state -> numbers that are measured, or None. Of "searches" there is a rate, too.
        settings: a run goes on with equal settings only.
    """

    init: Callable[[PRNGKey], Any]
    sample: Callable[[Net, Any, PRNGKey], tuple[Examples, Any]]
    batch: int
    public_state: Callable[[Any], PublicState]
    counts: Callable[[Any], dict[str, Array]] | None = None
    settings: str = ""


class SelfPlay(NamedTuple):
    """State of `self_play`: where each of B games is.

    Attributes:
        subgame_class: int32 [B].
        beliefs: float [B, 2, H].
    """

    subgame_class: Array
    beliefs: Array


def random_beliefs(
    game: PublicGame,
    games: Subgames,
    solver: Solver,
    *,
    stages: Sequence[Sequence[int]],
    steps: int,
    iterations: int,
    batch: int,
) -> Source:
    """Returns examples at random beliefs, bottom up.

    Args:
        game: the public nodes.
        games: the subgames that are solved; their leaves are worth what the network says.
        solver: variant of CFR.
        stages: classes of subgames, last stage first; each begins when `steps` batches of the one
            before are made, and half of its beliefs are of earlier stages.
        steps: batches of each stage but the last.
        iterations: of the solver.
        batch: B.
    """
    weight = np.zeros((len(stages), game.num_classes))
    for k, classes in enumerate(stages):
        weight[k, list(classes)] = 0.5 / len(classes) if k else 1 / len(classes)
        earlier = [subgame_class for stage in stages[:k] for subgame_class in stage]
        weight[k, earlier] += 0.5 / max(len(earlier), 1)
    odds = jnp.asarray(weight, float)
    states = game.states

    def sample(net: Net, state: Array, key: PRNGKey) -> tuple[Examples, Array]:
        which, how = jax.random.split(key)
        stage = jnp.minimum(state // steps, len(stages) - 1)
        u = jax.random.uniform(which, (batch,))
        subgame_class = jax.vmap(pick, (None, 0))(odds[stage], u)
        beliefs = draw_beliefs(states.possible[subgame_class], how)
        made = examples_of(net, states, games, solver, subgame_class, beliefs, iterations)
        return made, state + 1

    return Source(lambda _: jnp.zeros((), jnp.int32), sample, batch, states.at)


def self_play(
    game: PublicGame,
    games: Subgames,
    solver: Solver,
    *,
    iterations: int,
    batch: int,
    epsilon: float = 0.25,
) -> Source:
    """Returns examples at the beliefs that searches come to.

    Args:
        game: the public nodes.
        games: the subgames that are solved.
        solver: variant of CFR.
        iterations: of the solver.
        batch: B games, side by side.
        epsilon: how often a random one of the players moves at random on the way to a leaf.
    """
    states = game.states
    possible = states.possible
    first = jnp.asarray(game.subgame_class[game.root], jnp.int32)
    fresh = normalised(jnp.ones(possible.shape[1:]), possible[first])[0]

    def init(_: PRNGKey) -> SelfPlay:
        beliefs = jnp.broadcast_to(fresh, (batch, *fresh.shape))
        return SelfPlay(jnp.full(batch, first), jnp.array(beliefs))

    def sample(net: Net, state: SelfPlay, key: PRNGKey) -> tuple[Examples, SelfPlay]:
        def one(subgame_class: Array, beliefs: Array, key: PRNGKey) -> tuple[Examples, SelfPlay]:
            when, walk = jax.random.split(key)
            # The averages of these solvers weigh iteration t by t or more, so does the draw.
            stop = jnp.ceil(jnp.sqrt(jax.random.uniform(when)) * iterations).astype(jnp.int32)
            found = solve_belief(
                games, net, solver, subgame_class, beliefs, iterations=iterations, stop=stop.clip(1)
            )
            node = _random_leaf(found, beliefs, walk, games.depth, epsilon)
            ranges = jnp.stack([found.sampled[i][found.nodes.at[i, node]] for i in range(2)])
            below = found.nodes.subgame_class[node].clip(0)
            after, _ = normalised(ranges, possible[below])
            over = found.nodes.actor[node] == TERMINAL
            following = SelfPlay(jnp.where(over, first, below), jnp.where(over, fresh, after))
            return _example(net, states, found, subgame_class, beliefs), following

        keys = jax.random.split(key, batch)
        return devices.vmap(one)(state.subgame_class, state.beliefs, keys)

    return Source(init, sample, batch, states.at)


@jax.jit
def draw_beliefs(possible: Array, key: PRNGKey) -> Array:
    """Returns random beliefs [B, 2, H] over the possible hands.

    From even to concentrated on a hand, some hands left out: powers 0 to 4 of exponential numbers.
    """
    shape, power, drop = jax.random.split(key, 3)
    weight = jax.random.exponential(shape, possible.shape)
    weight = weight ** jax.random.uniform(power, (*possible.shape[:2], 1), maxval=4.0)
    rate, each = jax.random.split(drop)
    share = jax.random.uniform(rate, (*possible.shape[:2], 1), maxval=0.5)
    keep = jax.random.uniform(each, possible.shape) >= share
    return normalised(weight * keep, possible)[0]


def solved(
    net: Net | None,
    games: Subgames,
    solver: Solver,
    subgame_class: Array,
    beliefs: Array,
    iterations: int,
) -> Array:
    """Returns values [B, 2, H] per unit of the opponent's reach, by solving each subgame."""

    def one(subgame_class: Array, beliefs: Array) -> Array:
        return _values(
            solve_belief(games, net, solver, subgame_class, beliefs, iterations=iterations)
        )

    return devices.vmap(one)(subgame_class, beliefs)


def examples_of(
    net: Net,
    states: PublicState,
    games: Subgames,
    solver: Solver,
    subgame_class: Array,
    beliefs: Array,
    iterations: int,
) -> Examples:
    def one(subgame_class: Array, beliefs: Array) -> Examples:
        found = solve_belief(games, net, solver, subgame_class, beliefs, iterations=iterations)
        return _example(net, states, found, subgame_class, beliefs)

    return devices.vmap(one)(subgame_class, beliefs)


def _example(
    net: Net, states: PublicState, found: Solution, subgame_class: Array, beliefs: Array
) -> Examples:
    policy = policy_at(found.nodes, found.reach, jnp.int32(0))
    return Examples(
        subgame_class, beliefs, _values(found) / net.unit(states.at(subgame_class)), policy
    )


def _values(found: Solution) -> Array:
    """Returns values [2, H] at the root of a solved subgame."""
    return jnp.stack([found.value_at(i, jnp.int32(0)) for i in range(2)])


def _random_leaf(
    found: Solution, beliefs: Array, key: PRNGKey, depth: int, epsilon: float
) -> Array:
    """Returns int32 [], the node at which a random play of one iteration's policy leaves the tree.

    Each move is drawn for a hand drawn from the range of whoever moves.
    """
    nodes = found.nodes
    who, walk = jax.random.split(key)
    explorer = jax.random.randint(who, (), 0, 2)

    def step(node: Array, depth: Array) -> tuple[Array, None]:
        key = jax.random.fold_in(walk, depth)
        move, stray = jax.random.fold_in(key, 0), jax.random.fold_in(key, 1)
        actor = nodes.actor[node]
        reach = jnp.where(
            actor == 1,
            found.sampled[1][nodes.own[node]],
            found.sampled[0][nodes.own[node]],
        )  # [A, H]
        there = nodes.child[node] >= 0
        chance = nodes.factor[nodes.child[node].clip(0)] * there
        odds = jnp.where(actor == CHANCE, chance, jnp.where(nodes.own[node] > 0, reach.sum(-1), 0))
        odds = jnp.where(odds.sum() > 0, odds, there)
        explores = (actor == explorer) & (jax.random.uniform(stray) < epsilon)
        odds = jnp.where(explores, there, odds).astype(beliefs.dtype)
        chosen = nodes.child[node, pick(odds, jax.random.uniform(move))]
        inner = there.any()
        return jnp.where(inner, chosen, node), None

    return jax.lax.scan(step, jnp.int32(0), jnp.arange(depth))[0]
