"""Matches between agents: thousands side by side in one program, or one by one on the host.

Duplicate play: every deal is played as often as there are seats, the agents one seat further each
time, and the mean counts once. The chance moves of these matches are equal as long as the path is:
the outcome of a chance move is found from a number that depends on the deal and on how many chance
moves came before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve import devices
from jaxsolve.evaluate._arena import Arena
from jaxsolve.evaluate._play import Match, play
from jaxsolve.evaluate._play_on_host import play_on_host
from jaxsolve.game import Agent
from jaxsolve.types import TERMINAL, PRNGKey, Status


@dataclasses.dataclass(frozen=True)
class Score:
    """What the first agent won per match, in the game's units.

    Attributes:
        mean: estimate.
        standard_error: of the mean.
        interval: 95 % confidence interval.
        matches: independent estimates behind it; duplicate matches of one deal are one.
    """

    mean: float
    standard_error: float
    interval: tuple[float, float]
    matches: int

    def __repr__(self) -> str:
        low, high = self.interval
        return f"{self.mean:.4g} ({low:.4g} to {high:.4g}, 95 %, {self.matches:,} matches)"


def play_matches(
    arena: Arena,
    agents: Sequence[Agent],
    matches: int,
    key: PRNGKey,
    *,
    mirror: bool = True,
    keep_policies: bool = True,
    in_turn: bool = False,
) -> Match:
    """Returns matches between agents.

    Agents that are pure functions play all matches side by side, in one compiled program, and the
    devices of `devices.use` share them; with an agent on the host (`Agent.host`) matches are played
    one by one.

    Args:
        arena: `arena(tree)` or `rules_arena(game)`.
        agents: one for each of the n seats.
        matches: how many. With `mirror` matches n k to n k + n - 1 have the cards of one deal, and
            in match n k + r agent j has seat (j - r) mod n.
        key: of everything random.
        mirror: duplicate play.
        keep_policies: whether `Match.policies` is kept; it is most of the memory where a game has
            many actions.
        in_turn: agents that are to move in several matches at a time are asked one after the
            other, and in the others not at all: faster on a CPU where they search long. Side by
            side, all are asked wherever anybody is to move.

    Raises:
        ValueError: there are too few or too many agents, an agent plays another game, or matches
            are not a multiple of the seats; nothing is compiled. Or a match met a limit of
            the arena, or an agent chose what is not legal; the message says which.
    """
    n = arena.num_players
    _check(arena, agents, matches, mirror)
    deals = np.arange(matches // n if mirror else matches)
    parts = []
    for turn in range(n) if mirror else (0,):
        seats = tuple(agents[(s + turn) % n] for s in range(n))
        if any(agent.host for agent in seats):
            alone = [play_on_host(arena, key, int(k), turn, seats, keep_policies) for k in deals]
            match, status = jax.tree.map(lambda *x: jnp.stack(x), *alone)
        else:
            rotation = jnp.int32(turn)
            with devices.meshed():
                played = play(
                    arena, key, jnp.asarray(deals), rotation, tuple(agents), keep_policies, in_turn
                )
            match, status = devices.fetch(played)
        _refuse_failures(arena, seats, match, np.asarray(status))
        parts.append(match._replace(utility=jnp.roll(match.utility, turn, 1)))
    if not mirror:
        return parts[0]
    return jax.tree.map(lambda *x: jnp.stack(x, 1).reshape(matches, *x[0].shape[1:]), *parts)


def score(match: Match, *, mirror: bool = True, utility: Any = None) -> Score:
    """Returns the first agent's mean with its confidence interval.

    Args:
        match: matches.
        mirror: the n matches of a deal follow each other.
        utility: float [M], estimates in place of the first agent's utility, such as AIVAT's.
    """
    won = np.asarray(match.utility[:, 0] if utility is None else utility, np.float64)
    each = won.reshape(-1, match.utility.shape[1]).mean(1) if mirror else won
    mean = float(each.mean())
    error = float(each.std(ddof=1) / math.sqrt(len(each))) if len(each) > 1 else math.inf
    return Score(mean, error, (mean - 1.96 * error, mean + 1.96 * error), len(each))


def _check(arena: Arena, agents: Sequence[Agent], matches: int, mirror: bool) -> None:
    n = arena.num_players
    if len(agents) != n:
        raise ValueError(
            f"{len(agents)} agents for {arena.name}, a game of {n} players; give one for each seat"
        )
    if matches < 1 or (mirror and matches % n):
        raise ValueError(
            f"{matches} matches; duplicate ones come {n} to a deal, so their number is a multiple "
            f"of {n}: {max(n, n * (matches // n))}, or mirror=False"
        )
    for agent in agents:
        if agent.game not in (None, arena.name):
            raise ValueError(
                f"the agent {agent.name!r} plays {agent.game} and cannot play {arena.name}; make "
                f"it from that game, or play in an arena of {agent.game}"
            )


def _refuse_failures(
    arena: Arena, seats: Sequence[Agent], match: Match, status: np.ndarray
) -> None:
    failed = np.flatnonzero(status)
    if not len(failed):
        return
    m = int(failed[0])
    found = Status(int(status[m]))
    message = f"{arena.name}: {found.message}"
    if found & Status.ILLEGAL:
        actors, actions = np.asarray(match.actors[m]), np.asarray(match.actions[m])
        last = int((actors != TERMINAL).sum()) - 1
        seat = int(actors[last])
        message += (
            f" (the agent {seats[seat].name!r} in seat {seat}, action {int(actions[last])} at move "
            f"{last}); it plays other rules than the arena, or puts weight on what is not legal"
        )
    if found & Status.ROWS:
        message += "; give more: rules_arena(game, max_rows=...)"
    if found & Status.MOVES:
        message += f", {arena.max_moves}; give more: rules_arena(game, max_moves=...)"
    raise ValueError(f"{message} ({len(failed)} of {len(status)} matches)")
