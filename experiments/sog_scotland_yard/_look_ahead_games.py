"""Games of players who look one move ahead with the network, as examples for it.

Beliefs over the hidden number are exact: Mr X's policy is known for every station, not only for his
own. Each player plays any legal move instead with some probability, which beliefs count, too.

A public state is worth what the policy makes of its children, for every station: what the network
says of them, corrected by what the game that followed says of the one that it came to. That is a
control variate, cut off where the policy would hardly have gone there (Munos et al. 2016, Retrace;
Schmid et al. 2019, VR-MCCFR). A game gives some of its public states, those in which a number is
being shown included.

So values are of a policy that is better than the one before, learned as it changes (policy
iteration); GT-CFR does the same with a tree. Not in the paper.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from experiments.sog_scotland_yard._look_ahead import asker, look_ahead, opened, sized
from experiments.sog_scotland_yard._outcomes import Seen, positions_source
from jaxsolve import devices, learn
from jaxsolve.nets import Net
from jaxsolve.public import HiddenPieceModel, HiddenRoot
from jaxsolve.tree import pick
from jaxsolve.types import Array, PRNGKey


class Ply(NamedTuple):
    """A game under way.

    Attributes:
        root: its public state.
        belief: float [H], over the hidden number.
        number: int32 [], the hidden one.
        on: bool [], it is not over.
    """

    root: HiddenRoot
    belief: Array
    number: Array
    on: Array


class Backup(NamedTuple):
    """What a public state of a game is worth, by its children.

    Attributes:
        values: float [H], by what the network says of them.
        asked: float [H], what it says of the one that the game came to.
        share: float [A, H], how much of what is found there beyond that is to be added.
        after: int16 [A, H], the number there.
    """

    values: Array
    asked: Array
    share: Array
    after: Array


def play(
    model: HiddenPieceModel,
    players: tuple[Net, Net],
    root: HiddenRoot,
    key: PRNGKey,
    *,
    temperature: Array,
    noise: Array,
) -> tuple[Array, Ply, Backup]:
    """Returns the outcome of one game to player 0, and of all of its public states [depth, ...].

    Args:
        model: of the game.
        players: what each of them asks, the same one or two.
        root: where the game begins.
        key: draws the number, and moves.
        temperature: float [2].
        noise: float [2], probability of any legal move.
    """
    hands = model.hands[0]

    def turn(ply: Ply, draw: Array) -> tuple[Ply, Array, Backup]:
        """Returns what follows a decision, what it pays, and what it was worth."""
        belief, number = ply.belief, ply.number
        here = opened(model, ply.root)
        stray = noise[here.actor]

        def strayed(policy: Array) -> Array:
            return (1 - stray) * policy + stray * here.even

        def moved(
            net: Net, children: int, numbers: int
        ) -> tuple[Array, Array, tuple[Array, Array, Array]]:
            ask = asker(model, net, here, children, numbers)
            best = look_ahead(ask, here, belief, temperature)
            flow = here.below(belief * strayed(best))
            return best, flow, ask(flow)

        ways = [
            functools.partial(sized, model, net, here, functools.partial(moved, net))
            for net in (players[:1] if players[0] is players[1] else players)
        ]
        best, flow, (mass, first, _) = jax.lax.switch(here.actor, ways)
        at = pick(strayed(best)[:, number], draw), number
        child = jnp.minimum(here.code[at] // hands, model.num_children - 1)
        there = (here.code // hands == child) & ~here.ends[at]
        share = 1 / jnp.where(mass[child] > 0, mass[child], 1)
        backup = Backup(
            (best * here.worth(first)).sum(0),
            first[child],
            jnp.where(there, best * share, 0),
            (here.code % hands).astype(jnp.int16),
        )
        root = jax.tree.map(lambda x: x[1 + child], here.store.roots)
        after = Ply(root, flow[child] * share, here.code[at] % hands, ~here.ends[at])
        return after, here.payoff[at], backup

    def step(carry: tuple[Ply, Array], draw: Array) -> tuple[Any, tuple[Ply, Backup]]:
        ply, outcome = carry
        kinds = jax.eval_shape(turn, ply, draw)[2]
        blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), kinds)
        after, outcome, backup = jax.lax.cond(
            ply.on, turn, lambda ply, _: (ply, outcome, blank), ply, draw
        )
        return (after, outcome), (ply, backup)

    keys = jax.random.split(key)
    number = pick(root.weight, jax.random.uniform(keys[0]))
    belief = root.weight / root.weight.sum()
    start = Ply(root, belief, number, jnp.bool_(True)), jnp.zeros((), belief.dtype)
    (_, outcome), (plies, backups) = jax.lax.scan(
        step, start, jax.random.uniform(keys[1], (model.depth,))
    )
    return outcome, plies, backups


def values_along(on: Array, backups: Backup, trace: float, most: float) -> Array:
    """Returns float [depth, H], what each public state of a game was worth to player 0.

    Args:
        on: bool [depth], the game was not over.
        backups: of the game, leading axis depth.
        trace: of what a child turned out to be worth, how much counts.
        most: how much the child that was met counts at most, in place of the inverse probability.
    """

    def back(later: Array, ply: tuple[Array, Backup]) -> tuple[Array, Array]:
        goes, here = ply
        beyond = (later - here.asked)[here.after.astype(jnp.int32)]
        added = (jnp.minimum(here.share, most) * beyond).sum(0)
        values = jnp.where(goes, here.values + trace * added, later)
        return values, values

    return jax.lax.scan(back, jnp.zeros_like(backups.values[0]), (on, backups), reverse=True)[1]


def look_ahead_games(
    model: HiddenPieceModel,
    root: HiddenRoot,
    *,
    games: int = 64,
    positions: int = 16,
    temperature: tuple[float, float] = (0.2, 0.05),
    noise: tuple[float, float] = (0.05, 0.05),
    trace: float = 0.95,
    most: float = 2.0,
    abreast: int | None = 1,
) -> learn.Source:
    """Returns examples of values from games that are played for them, games x positions in a batch.

    Args:
        model: of the game.
        root: where a game begins.
        games: in a batch.
        positions: of a game, drawn with replacement.
        temperature: of each player.
        noise: probability of any legal move, of each player.
        trace: see `values_along`.
        most: likewise.
        abreast: games at a time.
    """
    sharp, stray = jnp.asarray(temperature), jnp.asarray(noise)

    def played(net: Net, key: PRNGKey) -> Seen:
        def one(number: Array) -> Seen:
            first, second = jax.random.split(jax.random.fold_in(key, number))
            _, plies, backups = play(model, (net, net), root, first, temperature=sharp, noise=stray)
            values = values_along(plies.on, backups, trace, most)
            some = jax.random.uniform(second, (positions,)) * plies.on.sum()
            some = some.astype(jnp.int32)
            here: Ply = jax.tree.map(lambda x: x[some], plies)
            values, possible = values[some], here.root.weight > 0
            # Half by the belief, half alike for all that are possible.
            weight = (here.belief + possible / possible.sum(1, keepdims=True)) / 2
            theirs = -(here.belief * values).sum(1)
            return Seen(here.root, here.belief, values, theirs, weight)

        return devices.vmap(one, abreast)(jnp.arange(games))

    how = f"temperatures {temperature}, noise {noise}, trace {trace} up to {most}"
    return positions_source(
        model, played, games=games, positions=positions, settings=f"one move ahead, {how}"
    )
