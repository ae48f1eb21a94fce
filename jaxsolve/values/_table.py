"""A game without what lies below a depth limit: choices of continuations instead, then values.

Works on the table of world states, so that everything that takes a compiled game takes the
outcome: solvers, the linear program, best responses, samplers, and the gadgets of subgame solving.
Public states and infostates keep the numbers that they have in the whole game.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxsolve.game import Game, action_name, observation_name
from jaxsolve.tree import Infostates, StateTable
from jaxsolve.types import NOTHING, TERMINAL, Array
from jaxsolve.values._limit import DepthLimit


@dataclasses.dataclass(frozen=True)
class LimitedGame:
    """The names of a game with a depth limit; its rules are those of the game above the limit.

    Attributes:
        game: the rules.
        limit: the limit in words.
        choices: continuations that a player chooses among at the limit.
    """

    game: Game
    limit: str
    choices: int

    @property
    def name(self) -> str:
        """The string of the game, and the limit."""
        return f"{self.game.name}, {self.limit}, {self.choices} values"

    @property
    def num_players(self) -> int:
        """n."""
        return self.game.num_players

    @property
    def num_actions(self) -> int:
        """Actions of the game, then the continuations."""
        return int(self.game.num_actions) + self.choices

    def action_name(self, actor: int, action: int) -> str:
        """Returns the game's word for an action, or "continuation 2"."""
        if action >= self.game.num_actions:
            return f"continuation {action - self.game.num_actions}"
        return action_name(self.game, actor, action)

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns the game's words for what one player saw."""
        return observation_name(self.game, public, private)

    def init(self) -> Any:
        """See `Game`."""
        return self.game.init()

    def actor(self, state: Any) -> Array:
        """See `Game`."""
        return self.game.actor(state)

    def legal(self, state: Any) -> Array:
        """See `Game`."""
        return self.game.legal(state)

    def chance(self, state: Any) -> Array:
        """See `Game`."""
        return self.game.chance(state)

    def step(self, state: Any, action: Array) -> Any:
        """See `Game`."""
        return self.game.step(state, action)

    def observe(self, state: Any) -> tuple[Array, Array]:
        """See `Game`."""
        return self.game.observe(state)

    def utility(self, state: Any) -> Array:
        """See `Game`."""
        return self.game.utility(state)


class Limited(NamedTuple):
    """A table with a limit (L leaves, Z terminals).

    Attributes:
        table: the states above the limit, and the choices.
        value: int64 [Z], which of the values [L, k_0, ..., k_{n-1}] (flattened) each terminal
            pays, -1 where the game itself ends.
    """

    table: StateTable
    value: np.ndarray


def limit_table(
    table: StateTable,
    limit: DepthLimit,
    choices: Sequence[int],
    choosers: Sequence[int],
    keep: np.ndarray | None = None,
) -> Limited:
    """Returns the table of a game that ends at a limit, with values of 0 there.

    Args:
        table: the whole game.
        limit: where it is cut.
        choices: per player, how many continuations; 1 for those who do not choose.
        choosers: who chooses, in order; none sees what the others choose.
        keep: bool [N], public states that remain; the others can no longer be reached. All of them
            by default.
    """
    actions, total = int(table.game.num_actions), int(np.prod(choices))
    number = np.full(table.num_states, -1)  # of a leaf
    number[limit.leaf] = np.arange(limit.num_leaves)
    inside = limit.below[table.public]
    stays = ~inside | (number >= 0)
    # Terminals with which play comes to the limit stay, too.
    entered = inside & ~np.concatenate([[False], inside[table.parent[1:]]])
    stays |= entered
    if keep is not None:
        stays &= keep[table.public]
    offered = tuple(_Choice.of(table, i, limit, width) for i, width in enumerate(choices))
    columns: dict[str, list[np.ndarray]] = {
        k: [] for k in ("parent", "action", "actor", "public", "infostate", "chance", "value")
    }
    renumbered = np.full(table.num_states, -1)
    count, starts = 0, [0]
    open_choices = _Open.none()
    depth = 0
    while depth < len(table.depth_start) - 1 or len(open_choices.parent):
        lo, hi = (
            table.depth_start[depth : depth + 2] if depth < len(table.depth_start) - 1 else (0, 0)
        )
        old = np.arange(lo, hi)[stays[lo:hi]]
        if keep is not None and depth:
            old = old[renumbered[table.parent[old]] >= 0]
        part = _Rows(
            parent=np.where(table.parent[old] >= 0, renumbered[table.parent[old]], -1),
            action=table.action[old].astype(np.int64),
            leaf=number[old],
            combination=np.zeros(len(old), np.int64),
            left=np.where(number[old] >= 0, len(choosers), 0),
            public=table.public[old],
            infostate=table.infostate[old].astype(np.int64),
            chance=table.chance[old],
            actor=table.actor[old].astype(np.int64),
            old=old,
        )
        rows = _Rows.join(part, open_choices.expand(offered, choosers, actions))
        order = np.lexsort((rows.action, rows.parent))
        rows = rows.take(order)
        new = count + np.arange(len(order))
        renumbered[rows.old[rows.old >= 0]] = new[rows.old >= 0]
        chooses = rows.left > 0
        turn = np.array([*choosers, TERMINAL], np.int64)[len(choosers) - rows.left]
        ends = (rows.leaf >= 0) & ~chooses
        actor = np.where(chooses, turn, np.where(ends, TERMINAL, rows.actor))
        value = np.where(ends, rows.leaf * total + rows.combination, -1)
        for key, column in zip(
            columns,
            (rows.parent, rows.action, actor, rows.public, rows.infostate, rows.chance, value),
            strict=True,
        ):
            columns[key].append(column)
        open_choices = _Open(new[chooses], rows.take(np.flatnonzero(chooses)))
        count += len(order)
        starts.append(count)
        depth += 1
    while len(starts) > 2 and starts[-1] == starts[-2]:
        starts.pop()
    whole = {k: np.concatenate(v) for k, v in columns.items()}
    terminal = np.flatnonzero(whole["actor"] == TERMINAL)
    utility = np.zeros((len(terminal), len(choices)))
    before = np.full(count, -1)
    before[renumbered[renumbered >= 0]] = np.flatnonzero(renumbered >= 0)
    value = whole["value"][terminal]
    real = value < 0
    position = np.searchsorted(table.terminal, before[terminal[real]])
    utility[real] = table.utility[position]
    return Limited(
        StateTable(
            game=LimitedGame(table.game, limit.name, max(choices)),
            parent=whole["parent"].astype(np.int32),
            action=whole["action"].astype(np.int16),
            actor=whole["actor"].astype(np.int8),
            public=whole["public"].astype(np.int32),
            infostate=whole["infostate"].astype(np.int32),
            chance=whole["chance"],
            terminal=terminal.astype(np.int32),
            utility=utility,
            depth_start=np.array(starts),
            infostates=tuple(o.states for o in offered),
            public_states=table.public_states,
        ),
        value,
    )


class _Rows(NamedTuple):
    """States of one depth: columns of the new table, and what is still to be chosen.

    Attributes:
        leaf: the leaf at or above, -1 for none.
        combination: the choices so far, as a position in [k_0, ..., k_{n-1}].
        left: players who have yet to choose.
        old: the state in the whole game, -1 for a new one.
    """

    parent: np.ndarray
    action: np.ndarray
    leaf: np.ndarray
    combination: np.ndarray
    left: np.ndarray
    public: np.ndarray
    infostate: np.ndarray
    chance: np.ndarray
    actor: np.ndarray
    old: np.ndarray

    @staticmethod
    def join(a: _Rows, b: _Rows | None) -> _Rows:
        return a if b is None else _Rows(*(np.concatenate(x) for x in zip(a, b, strict=True)))

    def take(self, at: np.ndarray) -> _Rows:
        return _Rows(*(column[at] for column in self))


class _Open(NamedTuple):
    """States in which somebody chooses, whose children come at the next depth."""

    parent: np.ndarray
    rows: _Rows | None

    @staticmethod
    def none() -> _Open:
        return _Open(np.zeros(0, np.int64), None)

    def expand(
        self, offered: Sequence[_Choice], choosers: Sequence[int], actions: int
    ) -> _Rows | None:
        """Returns the states after one choice each."""
        if self.rows is None or not len(self.parent):
            return None
        parts = []
        for k, player in enumerate(choosers):
            mine = np.flatnonzero(self.rows.left == len(choosers) - k)
            if not len(mine):
                continue
            width = offered[player].width
            up = np.repeat(mine, width)
            choice = np.tile(np.arange(width), len(mine))
            rows = self.rows.take(up)
            stride = math.prod(o.width for o in offered[player + 1 :])
            infostate = rows.infostate.copy()
            infostate[:, player] = offered[player].after(infostate[:, player], choice)
            parts.append(
                rows._replace(
                    parent=self.parent[up],
                    action=actions + choice,
                    combination=rows.combination + stride * choice,
                    left=rows.left - 1,
                    infostate=infostate,
                    actor=np.full(len(up), TERMINAL),
                    old=np.full(len(up), -1),
                )
            )
        return _Rows(*(np.concatenate(x) for x in zip(*parts, strict=True)))


class _Choice(NamedTuple):
    """The choices of one player: the infostates after them lie behind those of the game.

    Attributes:
        first: number of the first one.
        leaf: int64 [J], infostates at the limit, ascending; each is followed by `width` choices.
        width: continuations.
        states: all infostates of the player.
    """

    first: int
    leaf: np.ndarray
    width: int
    states: Infostates

    @staticmethod
    def of(table: StateTable, player: int, limit: DepthLimit, width: int) -> _Choice:
        states = table.infostates[player]
        leaf = np.unique(table.infostate[limit.leaf, player]).astype(np.int64)
        parent = np.repeat(leaf, width)
        choice = np.tile(np.arange(width), len(leaf))
        blank = np.full((len(parent), states.observation.shape[1]), NOTHING, np.int32)

        def named(old: tuple[str, ...] | None) -> tuple[str, ...] | None:
            if old is None:
                return None
            pairs = zip(parent, choice, strict=True)
            return (*old, *(f"{old[p]} continuation {c}" for p, c in pairs))

        more = Infostates(
            np.concatenate([states.parent, parent]).astype(np.int32),
            np.concatenate([states.action, int(table.game.num_actions) + choice]).astype(np.int32),
            np.concatenate([states.observation, blank]),
            named(states.key),
            named(states.name),
        )
        return _Choice(len(states.parent), leaf, width, more)

    def after(self, infostate: np.ndarray, choice: np.ndarray) -> np.ndarray:
        """Returns the infostates after a choice at some infostates of the limit."""
        return self.first + self.width * np.searchsorted(self.leaf, infostate) + choice
