"""Settings of sound self-play, and what is wrong with them."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class SelfPlaySettings:
    """Settings of sound self-play; the names of table S2 of the paper.

    Attributes:
        episodes: E, side by side.
        solvers: S, queries solved in a step; by default as many as come in, in the mean.
        q_search: queries of an actor's search that are kept, in the mean.
        q_recursive: queries of a solver's search.
        epsilon: share of uniform play.
        p_td1: probability that the outcome becomes a target.
        p_root: probability that, where the outcome does not, what the actor's own search says of
            their private state does. Not in the paper.
        greedy_after: decisions after which the likeliest action is played; never if None.
        temperature: of the prior, where the network has a policy head.
        queue: queries that can wait; the oldest go first when there are more.
        resign_below: a player gives up where a search says that their private state is worth less,
            in units of the largest payoff; nobody does if None.
        no_resign: share of episodes in which nobody does; None for none of them.
        max_moves: decisions after which an episode is a draw; none if None.
        opening: an episode begins with random decisions, of each number from 0 to this one as
            often; outcomes are no targets there. Not in the paper.
        fill: solvers without a query solve random beliefs of a random public state. Not in the
            paper.
        abreast: searches side by side on a device, the others after these; all if None. On a CPU
            few large ones stay in its cache, and where players have very different numbers of
            private states, as in London, one at a time is fastest.
    """

    episodes: int = 32
    solvers: int | None = None
    q_search: float = 0.3
    q_recursive: float = 0.1
    epsilon: float = 0.0
    p_td1: float = 0.0
    p_root: float = 0.0
    greedy_after: int | None = None
    temperature: float = 1.0
    resign_below: float | None = None
    no_resign: float | None = None
    max_moves: int | None = None
    opening: int = 0
    queue: int = 4096
    fill: bool = False
    abreast: int | None = None

    @property
    def num_solvers(self) -> int:
        """S."""
        if self.solvers is not None:
            return self.solvers
        return math.ceil(self.episodes * self.q_search / (1 - self.q_recursive))


def check(settings: SelfPlaySettings) -> None:
    """Raises ValueError where a number makes no sense; says which."""
    if settings.episodes < 1 or settings.queue < 1:
        raise ValueError(
            f"episodes={settings.episodes} and queue={settings.queue} must be positive"
        )
    if min(settings.q_search, settings.q_recursive) < 0:
        raise ValueError(
            f"q_search={settings.q_search} and q_recursive={settings.q_recursive} are numbers of "
            "queries, 0 or more"
        )
    if settings.solvers is None and settings.q_recursive >= 1:
        raise ValueError(
            f"with q_recursive={settings.q_recursive} every solved query makes as many new ones, "
            "and the queue never ends; use less than 1, or say how many solvers there are"
        )
    if settings.num_solvers < 0:
        raise ValueError(f"solvers={settings.solvers} must not be negative")
    for name in ("epsilon", "p_td1", "p_root"):
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name} is a share between 0 and 1, not {getattr(settings, name)}")
    if settings.resign_below is not None and not -1 <= settings.resign_below < 0:
        raise ValueError(
            f"resign_below={settings.resign_below} is a share of the largest payoff that is lost: "
            "-1 to 0, such as -0.9"
        )
    if not 0 <= (settings.no_resign or 0) <= 1:
        raise ValueError(f"no_resign is a share between 0 and 1, not {settings.no_resign}")
    if settings.max_moves is not None and settings.max_moves < 1:
        raise ValueError(f"max_moves={settings.max_moves} must be positive, or None")
    if settings.abreast is not None and settings.abreast < 1:
        raise ValueError(f"abreast={settings.abreast} must be positive, or None")
    if settings.opening < 0:
        raise ValueError(f"opening={settings.opening} is a number of decisions, 0 or more")
    if not settings.temperature > 0:
        raise ValueError(f"temperature must be positive, not {settings.temperature}")
    sent = settings.episodes * max(1, math.ceil(settings.q_search))
    sent += settings.num_solvers * max(1, math.ceil(settings.q_recursive))
    if settings.queue < sent:
        raise ValueError(f"a queue of {settings.queue} does not hold the {sent} queries of a step")
