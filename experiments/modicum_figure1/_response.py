"""P's answer to the bet off the tree: a depth-limited search, then safe re-solving of the rest.

The first round after the bet is a subgame with a `resolve` gadget: with each hand O may instead
have what the menu gives. Values at its end are the means of those after the two bets that are near,
as in the paper. In the second round each subgame has the values of the search as alternative
values.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial

import jaxsolve as js
from experiments.modicum_figure1._spot import Spot
from jaxsolve import search, subgame
from jaxsolve.evaluate import action_values
from jaxsolve.tree import listed
from jaxsolve.values import (
    LimitedInfo,
    Rollouts,
    continuations,
    extend,
    fit,
    leaf_network,
    leaf_values,
    path_features,
    public_below,
    restrict,
)
from jaxsolve.values import rollouts as estimate_by_rollouts

LEAVES = (
    "exact",
    "exact_game_root",
    "rollout",
    "network",
    "exact_own_pot",
    "exact_with_bet",
)
"""Where values at the limit come from. "exact_game_root" is solved from the root of "rollout", for
as many iterations. The last two take no means. In "exact_own_pot" the continuations go on after the
bet as after a near one (action translation), and are evaluated for the chips that are there. In
"exact_with_bet" they are continuations of the game with the bet, which nobody has who meets it
unprepared: that is what values could do at best."""

GAME_ROOT = ("exact_game_root", "rollout")
"""Of them, those that are solved from the game's root, where O may stay on the menu."""


class Settings(NamedTuple):
    """How an answer is computed.

    Attributes:
        search: iterations of CFR+ in the first round.
        drawn: the same from the game's root; drawing values at each costs far more.
        resolve: iterations of CFR+ in the second round.
        target: gap at which a subgame of the second round is left, in chips.
        rollouts: of each value, drawn anew at each iteration.
        steps: of Adam.
    """

    search: int = 2000
    drawn: int = 300
    resolve: int = 2000
    target: float = 1e-4
    rollouts: int = 3
    steps: int = 5000


class Answer(NamedTuple):
    """What was found.

    Attributes:
        policy: P's answers are those of the search, all else is translated.
        seconds: compilation included.
    """

    policy: js.Policy
    seconds: float


def answer(
    spot: Spot,
    policies: Sequence[js.Policy],
    *,
    choosers: str = "opponent",
    values: str = "exact",
    settings: Settings | None = None,
    room: int = 1,
    learned: jax.Array | None = None,
    fallback: js.Policy,
) -> Answer:
    """Returns P's answer to the bet.

    Args:
        spot: where.
        policies: continuations, policies of the menu, or of the game for "exact_with_bet"; the
            first is the blueprint.
        choosers: "opponent" or "all".
        values: one of LEAVES.
        settings: budgets.
        room: pads the continuations to so many with the blueprint, so that answers with more and
            with fewer of them are the same compiled program.
        learned: for "network", values of as many continuations as there is room for.
        fallback: of the game with the bet, where nothing is searched.
    """
    begin = time.perf_counter()
    settings = settings or Settings()
    if values == "network":
        assert learned is not None
        used = [k if k < len(policies) else 0 for k in range(room)]
        learned = _chosen(learned, jnp.array(used))
    policies = [*policies, *policies[:1] * (room - len(policies))]
    part = _limited(spot, policies, choosers, values, learned, fallback)
    solution = _first_round(spot, part, policies, choosers, values, settings, fallback)
    whole = extend(part, solution, fallback)
    return Answer(_second_round(spot, part, solution, whole, settings), time.perf_counter() - begin)


def learn(
    spot: Spot, policies: Sequence[js.Policy], choosers: str, settings: Settings
) -> jax.Array:
    """Returns float [L, k_0, k_1], player 0's payoffs that a network has learned from rollouts.

    Differs from the paper's in the loss: payoffs are up to a stack, and Huber's loss in units of a
    pot would learn something between their median and their mean. It has wider layers, because its
    features are no more than the moves.
    """
    draw = estimate_by_rollouts(
        spot.menu,
        spot.limit,
        policies,
        count=settings.rollouts,
        player=spot.player,
        choosers=choosers,
    )
    features = jnp.asarray(path_features(spot.menu, spot.limit))
    network = leaf_network(draw.choices, hidden=(256, 256), scale=spot.rules.unit)
    table = listed(spot.menu).states
    found = fit(
        network,
        features,
        lambda key, states: draw(key, states)[..., 0],
        jax.random.key(0),
        steps=settings.steps,
        learning_rate=3e-3,
        scale=float(np.abs(table.utility).max()),
    )
    return network.apply(found.parameters, features)


def _limited(
    spot: Spot,
    policies: Sequence[js.Policy],
    choosers: str,
    values: str,
    learned: jax.Array | None,
    fallback: js.Policy,
) -> js.PublicTree:
    """Returns the game with the bet, cut at the end of the first round after the bet."""
    options = {"player": spot.player, "choosers": choosers}
    if values == "exact_with_bet":
        return continuations(spot.game, spot.after_bet, policies, **options)
    if values == "exact_own_pot":
        here = [search.translate(p, spot.game, spot.words(), shown=spot.shown()) for p in policies]
        return continuations(spot.game, spot.after_bet, here, **options)
    near = learned
    if near is None:
        near = leaf_values(spot.menu, spot.limit, policies, **options)
    worth = _mean_of(jnp.asarray(spot.neighbours), near)
    same = [fallback] * len(policies)  # never played: only the number of choices matters
    return continuations(spot.game, spot.after_bet, same, values=worth, **options)


def _mean_of(neighbours: jax.Array, values: jax.Array) -> jax.Array:
    """Returns values after the bet [L', ...] of those after its neighbours [L, ...]."""
    return (values[neighbours[0]] + values[neighbours[1]]) / 2


def _drawn(neighbours: jax.Array, draw: Rollouts, key: jax.Array) -> jax.Array:
    both = draw(key, neighbours.reshape(-1))
    return both.reshape(2, neighbours.shape[1], *both.shape[1:]).mean(0)


def _chosen(values: jax.Array, used: jax.Array) -> jax.Array:
    """Returns values [L, k_0, k_1, ...] of some continuations of who has a choice."""
    for axis in (1, 2):
        if values.shape[axis] > 1:
            values = jnp.take(values, used, axis)
    return values


def _first_round(
    spot: Spot,
    part: js.PublicTree,
    policies: Sequence[js.Policy],
    choosers: str,
    values: str,
    settings: Settings,
    fallback: js.Policy,
) -> js.Policy:
    """Returns the solution of the search."""
    before = restrict(part, fallback)
    if values not in GAME_ROOT:
        probe = subgame.resolve(part, before, spot.bet, player=spot.player)
        menu = spot.without_bet()
        states = listed(part).states.infostates[spot.opener]
        hands = states.parent[_roots(probe).classes]
        worth = np.array([menu[int(h)] for h in hands])
        game = subgame.resolve(part, before, spot.bet, player=spot.player, alternative=worth)
        found = _solve(game, "cfr+", settings.search)
        return subgame.write(before, game, found)
    solver = js.cfr_plus()
    if values == "rollout":
        draw = estimate_by_rollouts(
            spot.menu,
            spot.limit,
            policies,
            count=settings.rollouts,
            player=spot.player,
            choosers=choosers,
        )
        drawn = Partial(_drawn, jnp.asarray(spot.neighbours), draw)
        solver = search.with_sampled_values(solver, drawn)
    # A gadget has its payoffs fixed, so values that are drawn inside the solve have the root of the
    # game, where O may stay on the menu; P's strategy there stays as it was.
    found = _solve(part, solver, settings.drawn)
    after = public_below(listed(part).states, np.array([spot.bet]))
    parts = []
    for i, p in enumerate(part.info.players):
        here = np.repeat(after[p.public], np.diff(p.offset))
        parts.append(np.where(here, found.probabilities(i), before.probabilities(i)))
    return js.tree.policy_from_probabilities(part, parts)


def _second_round(
    spot: Spot,
    part: js.PublicTree,
    solution: js.Policy,
    whole: js.Policy,
    settings: Settings,
) -> js.Policy:
    """Returns the whole policy with the second round after the bet re-solved.

    O's alternative values are those of the best continuation in the search.
    """
    table = listed(spot.game).states
    ends = np.unique(table.public[spot.after_bet.leaf])
    probe = subgame.resolve(spot.game, whole, ends, player=spot.player)
    assert isinstance(probe.info, subgame.SubgameInfo)
    best = action_values(part, solution.players, spot.opener)[1]
    flat = np.concatenate([np.asarray(b).reshape(-1) for b in best])
    info = part.info
    assert isinstance(info, LimitedInfo)
    p = info.players[spot.opener]
    value = flat[p.position - p.roots]
    promised = {
        int(p.infostate[row]): value[p.offset[row] : p.offset[row + 1]].max()
        for row in np.flatnonzero(info.chooses(spot.opener))
    }
    classes = _roots(probe).classes
    alternative = np.array([promised[int(c)] for c in classes]) / probe.info.weight
    game = subgame.resolve(spot.game, whole, ends, player=spot.player, alternative=alternative)
    (found,) = subgame.solve_subgames(
        game, "cfr+", target=settings.target, iterations=settings.resolve
    )
    parts = [js.uniform_policy(game).probabilities(i) for i in range(2)]
    parts[spot.player] = found.behaviour
    return subgame.write(whole, game, js.tree.policy_from_probabilities(game, parts))


def _solve(tree: js.PublicTree, solver: str | js.Solver, iterations: int) -> js.Policy:
    found = js.solve(tree, solver, iterations=iterations, measure_every=iterations, progress=False)
    return dataclasses.replace(found.average, names=tree.info)


def _roots(tree: js.PublicTree) -> subgame.SubgameRoots:
    assert isinstance(tree.info, subgame.SubgameInfo)
    return tree.info.roots
