"""What the page shows: a solved game, one position of it, and strategies locked there.

`Viewable` is what a kind of game implements. `Position` and `About` travel to the page as JSON:
a field is a key, NaN becomes null. Kuhn poker after a check, for example, is

    Position(path=("pass",), kind="decision", actions=("pass", "bet"), ...)

with two `Privates` of three cards each, of which the second acts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

Path = tuple[str, ...]
"""Names of the actions and public outcomes of chance from the first position on."""

Report = Callable[[int, float, float], None]
"""Called with (iteration, seconds, exploitability) while a game is solved."""


@dataclasses.dataclass(frozen=True)
class Move:
    """One way on from a position, by an action or by chance (n players).

    Attributes:
        name: as in a path.
        label: in words.
        probability: given that play came here.
        values: expected payoff of each player after it; NaN where play does not come.
        next: how often each action is taken at the position that follows, {label: share}.
    """

    name: str
    label: str
    probability: float
    values: tuple[float, ...]
    next: Mapping[str, float]


@dataclasses.dataclass(frozen=True)
class Privates:
    """What one player can hold at a position (H private states, A actions of the position).

    Attributes:
        player: the name of the player.
        acts: whether the player acts here.
        names: of the private states.
        reach: float [H], the player's own reach: how much of the first range is still here.
        weight: float [H], share of each private state in all pairs that come here; sums to 1.
        value: float [H], expected payoff from here on; NaN where the others do not let it come.
        equity: float [H], share of the pot if all cards were turned up now; None where the game
            has no showdown.
        strategy: float [H, A], NaN where an action is not legal; None for who does not act.
        action_value: float [H, A], expected payoff after each action; None likewise.
        locked: bool [H], the strategy is part of the game.
    """

    player: str
    acts: bool
    names: tuple[str, ...]
    reach: np.ndarray
    weight: np.ndarray
    value: np.ndarray
    equity: np.ndarray | None
    strategy: np.ndarray | None
    action_value: np.ndarray | None
    locked: np.ndarray


@dataclasses.dataclass(frozen=True)
class Position:
    """One public state (A actions, n players).

    Attributes:
        path: what led here.
        kind: "decision", "chance" or "end".
        title: in words.
        facts: what to write beside it, such as the pot.
        probability: that play comes here.
        values: expected payoff of each player.
        actions: labels of the actions.
        colours: of the actions, "#rrggbb".
        moves: the ways on.
        privates: per player.
    """

    path: Path
    kind: str
    title: str
    facts: Mapping[str, str]
    probability: float
    values: tuple[float, ...]
    actions: tuple[str, ...]
    colours: tuple[str, ...]
    moves: tuple[Move, ...]
    privates: tuple[Privates, ...]


@dataclasses.dataclass(frozen=True)
class About:
    """A solved game as a whole.

    Attributes:
        name: of the game or the spot.
        grid: whether private states are two cards and shown as 13 x 13 classes.
        facts: what to write about the solution.
        unit: of payoffs, such as "chips".
        curve: (iteration, seconds, exploitability) of each measurement.
        iterations: of the run, the default for the next one.
    """

    name: str
    grid: bool
    facts: Mapping[str, str]
    unit: str
    curve: Sequence[tuple[int, float, float]]
    iterations: int


@dataclasses.dataclass(frozen=True)
class Lock:
    """A strategy to become part of the game.

    Attributes:
        path: of the position.
        player: who, from 0.
        hands: names of private states.
        strategy: {label of an action: probability}; actions that are left out are not taken.
    """

    path: Path
    player: int
    hands: tuple[str, ...]
    strategy: Mapping[str, float]

    @classmethod
    def of(cls, data: Any) -> Lock:
        """Returns the lock that a JSON object describes.

        Raises:
            ValueError: a key is missing or of another type, or the probabilities do not sum to 1.
        """
        if not isinstance(data, dict):
            raise ValueError("a lock is an object with path, player, hands and strategy")
        player, strategy = data.get("player"), data.get("strategy")
        if isinstance(player, bool) or not isinstance(player, int) or player < 0:
            raise ValueError(f"player is the number of a player, not {player!r}")
        hands = path_of(data.get("hands"), "hands")
        if not hands:
            raise ValueError("hands is empty; name those whose strategy is locked")
        if not isinstance(strategy, dict) or not all(
            isinstance(p, int | float) and p >= 0 for p in strategy.values()
        ):
            raise ValueError("strategy gives each action a probability of 0 or more")
        total = float(sum(strategy.values()))
        if not abs(total - 1) < 1e-3:
            raise ValueError(f"the probabilities of a lock must sum to 1, not {total:g}")
        shares = {action: p / total for action, p in strategy.items()}
        return cls(path_of(data.get("path"), "path"), player, hands, shares)


class Viewable(Protocol):
    """A solved game."""

    def about(self) -> About:
        """Returns facts about the whole."""
        ...

    def position(self, path: Sequence[str]) -> Position:
        """Returns the position that a path leads to.

        Raises:
            ValueError: there is no such path; says what can follow where it leaves the game.
        """
        ...

    def solve_again(self, locks: Sequence[Lock], iterations: int, report: Report) -> Viewable:
        """Returns the solution of the game with other locks.

        Raises:
            ValueError: a lock does not fit the game.
        """
        ...


def unknown_step(path: Sequence[str], at: int, known: Iterable[str]) -> ValueError:
    """Returns the error for a path whose step `at` is not one of those known."""
    before = " ".join(path[:at]) or "the start"
    words = ", ".join(known) or "nothing, the game is over"
    return ValueError(f"{path[at]!r} cannot follow {before!r}: {words}")


def path_of(value: Any, what: str = "path") -> Path:
    """Returns a list of strings from JSON as a tuple.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(step, str) for step in value):
        raise ValueError(f'{what} is a list of names, such as ["check", "bet"], not {value!r}')
    return tuple(value)


def plain(value: Any) -> Any:
    """Returns dataclasses and arrays as what JSON can hold; numbers have five digits."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value
