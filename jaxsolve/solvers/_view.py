"""A solved game for the viewer: its public states by named actions, and the infostates of each.

Public states at which nobody decides and that one public state follows (a hidden deal) are passed
over, so that Kuhn poker starts at the first player's decision.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxsolve.compiler import compile
from jaxsolve.game import action_name, observation_name
from jaxsolve.solvers._curve import Curve
from jaxsolve.solvers._names import load_solver
from jaxsolve.solvers._solve import solve
from jaxsolve.solvers._solver import Solver
from jaxsolve.solvers._view_numbers import Numbers
from jaxsolve.tree import (
    Policy,
    PublicTree,
    listed,
    load_policy,
    lock_sequences,
    locked_sequences,
)
from jaxsolve.types import CHANCE, NOTHING
from jaxsolve.view import About, Lock, Move, Position, Privates, unknown_step

if TYPE_CHECKING:
    from jaxsolve.solvers._result import Result

COLOURS = (
    *("#4f8fc0", "#e08a3c", "#55a868", "#c44e52", "#8172b3"),
    *("#937860", "#d98cb3", "#8c8c8c", "#b5a642", "#4bb3c4"),
)
"""Of actions, in order; they repeat."""

UNSEEN = "deal"
"""What chance does without a word for everybody."""


@dataclasses.dataclass(frozen=True)
class GameView:
    """A solved game whose world states were kept (X world states).

    Attributes:
        tree: the game, with locks if there are any.
        policy: the solution.
        curve: of the run.
        solver: of the run, for the next one.
        base: the game before locks were set in the viewer.
    """

    tree: PublicTree
    policy: Policy
    curve: Curve
    solver: Solver
    base: PublicTree

    def about(self) -> About:
        """See `Viewable`."""
        info = listed(self.tree)
        values = self.position(()).values
        infosets = " + ".join(f"{k:,}" for k in info.num_infosets)
        facts = {
            "solver": self.solver.name,
            "iterations": f"{int(self.curve.iteration[-1]):,}",
            "exploitability": f"{self.curve.exploitability[-1]:.4g}",
            "values": ", ".join(f"{v:.5g}" for v in values),
            "infosets": infosets,
        }
        return About(info.name, False, facts, "", self.curve.rows(), int(self.curve.iteration[-1]))

    def position(self, path: Sequence[str]) -> Position:
        """See `Viewable`."""
        public = self._follow(path)
        mine = self._numbers.states[public]
        moves = self._moves(public, mine)
        labels = list(dict.fromkeys(self._actions(mine)))
        players = range(self.tree.num_players)
        actors = sorted({int(a) for a in self._numbers.actor[mine] if a >= 0})
        chance = bool((self._numbers.actor[mine] == CHANCE).any())
        kind = "decision" if actors else "chance" if chance else "end"
        words = {
            "decision": " and ".join(f"player {i}" for i in actors) + " to act",
            "chance": "chance moves",
            "end": "the end",
        }
        return Position(
            path=tuple(path),
            kind=kind,
            title=words[kind],
            facts={"world states": f"{len(mine):,}"},
            probability=float(self._numbers.reach[mine].sum()),
            values=self._mean_values(mine),
            actions=tuple(labels),
            colours=tuple(COLOURS[k % len(COLOURS)] for k in range(len(labels))),
            moves=moves,
            privates=tuple(self._privates(i, mine, labels) for i in players),
        )

    def solve_again(
        self, locks: Sequence[Lock], iterations: int, report: Callable[[int, float, float], None]
    ) -> GameView:
        """See `Viewable`."""
        tree = self.base
        for i in range(tree.num_players):
            flat = locked_sequences(tree.players[i]).reshape(-1)
            for lock in locks:
                if lock.player == i:
                    self._lock(flat, lock)
            shape = (-1, *tree.players[i].root_reach.shape[1:])
            tree = lock_sequences(tree, i, flat.reshape(shape))
        result = solve(tree, self.solver, iterations=iterations, progress=False, callback=report)
        return GameView(tree, result.policy, result.curve, self.solver, self.base)

    def _lock(self, flat: np.ndarray, lock: Lock) -> None:
        """Writes the probabilities of a lock into a sequence vector."""
        info = listed(self.tree)
        mine = self._numbers.states[self._follow(lock.path)]
        rows = self._numbers.row[lock.player][mine]
        p = info.players[lock.player]
        for row in np.unique(rows[rows >= 0]):
            if info.label(lock.player, int(row)) in lock.hands:
                entries = slice(p.offset[row], p.offset[row + 1])
                names = [info.action_name(lock.player, int(a)) for a in p.action[entries]]
                if not set(lock.strategy) <= set(names):
                    label = info.label(lock.player, int(row))
                    raise ValueError(f"at {label!r} there are only {', '.join(names)}")
                flat[p.position[entries]] = [lock.strategy.get(name, 0.0) for name in names]

    def _follow(self, path: Sequence[str]) -> int:
        """Returns the public state that a path leads to."""
        at = self._skip(0)
        for k, step in enumerate(path):
            ways = self._ways(at)
            if step not in ways:
                raise unknown_step(path, k, ways)
            at = self._skip(ways[step])
        return at

    def _skip(self, public: int) -> int:
        """Returns the first public state from one on that has something to show."""
        numbers = self._numbers
        while True:
            children = numbers.children(public)
            if len(children) != 1 or (numbers.actor[numbers.states[public]] >= 0).any():
                return public
            public = int(children[0])

    def _ways(self, public: int) -> dict[str, int]:
        """Returns the public states that follow one, by the name of the way there."""
        out: dict[str, int] = {}
        for child in self._numbers.children(public):
            name = word = self._word(int(child))
            count = 1
            while name in out:  # two outcomes that the game calls alike
                count += 1
                name = f"{word} ({count})"
            out[name] = int(child)
        return out

    def _word(self, public: int) -> str:
        """Returns what everybody sees happen on the way to a public state."""
        table = listed(self.tree).states
        states = self._numbers.states[public]
        moves = np.stack([table.actor[table.parent[states]], table.action[states]], 1)
        if len(np.unique(moves, axis=0)) == 1:
            return action_name(table.game, *moves[0]) or UNSEEN
        seen = table.public_states.observation[public]
        size = table.infostates[0].observation.shape[1] - len(seen)
        words = observation_name(table.game, seen, np.full(size, NOTHING, np.int32))
        return words or (UNSEEN if (moves[:, 0] == CHANCE).any() else f"p{moves[0, 0]}")

    def _moves(self, public: int, mine: np.ndarray) -> tuple[Move, ...]:
        here = float(self._numbers.reach[mine].sum())
        out = []
        for name, child in self._ways(public).items():
            states = self._numbers.states[child]
            share = float(self._numbers.reach[states].sum()) / here if here > 0 else np.nan
            after = self._numbers.states[self._skip(child)]
            hidden = name in [f"p{i}" for i in range(self.tree.num_players)]
            label = f"player {name[1:]}, unseen" if hidden else name
            out.append(Move(name, label, share, self._mean_values(states), self._taken(after)))
        return tuple(out)

    def _taken(self, states: np.ndarray) -> dict[str, float]:
        """Returns how often each action is taken in world states, by its name."""
        numbers = self._numbers
        total = float(numbers.reach[states][numbers.actor[states] >= 0].sum())
        if not total > 0:
            return {}
        after = numbers.after(states)
        after = after[numbers.actor[listed(self.tree).states.parent[after]] >= 0]
        names, which = np.unique(self._names_of(after), return_inverse=True)
        share = np.bincount(which, numbers.reach[after], len(names)) / total
        return {str(name): float(x) for name, x in zip(names, share, strict=True)}

    def _actions(self, states: np.ndarray) -> list[str]:
        """Returns the names of the actions that players have in world states, in their order."""
        table = listed(self.tree).states
        after = self._numbers.after(states)
        after = after[table.actor[table.parent[after]] >= 0]
        order = np.unique(np.stack([table.action[after], table.actor[table.parent[after]]]), axis=1)
        return [action_name(table.game, actor, action) for action, actor in order.T]

    def _names_of(self, states: np.ndarray) -> np.ndarray:
        """Returns the name of the action that led to each world state."""
        table = listed(self.tree).states
        pairs = np.stack([table.actor[table.parent[states]], table.action[states]])
        kinds, which = np.unique(pairs, axis=1, return_inverse=True)
        words = np.array([action_name(table.game, *kind) for kind in kinds.T], object)
        return words[which.reshape(-1)]

    def _mean_values(self, states: np.ndarray) -> tuple[float, ...]:
        weight = self._numbers.reach[states]
        if not weight.sum() > 0:
            return tuple([np.nan] * self.tree.num_players)
        return tuple(float(v[states] @ weight / weight.sum()) for v in self._numbers.values)

    def _privates(self, i: int, states: np.ndarray, labels: Sequence[str]) -> Privates:
        """Returns the infostates of a player in the world states of one public state."""
        numbers, info = self._numbers, listed(self.tree)
        seen, which = np.unique(info.states.infostate[states, i], return_inverse=True)
        size = len(seen)
        others = np.bincount(which, numbers.others[i][states], size)
        value = np.bincount(which, numbers.others[i][states] * numbers.values[i][states], size)
        reach = np.bincount(which, numbers.reach[states], size)
        own = np.zeros(size)
        own[which] = numbers.own[i][states]
        rows = np.full(size, -1)
        rows[which] = numbers.row[i][states]
        strategy = after = None
        if acts := bool((rows >= 0).any()):
            strategy, after = np.full((2, size, len(labels)), np.nan)
            p = info.players[i]
            for h, row in enumerate(rows):
                for entry in range(p.offset[row], p.offset[row + 1]) if row >= 0 else ():
                    k = labels.index(info.action_name(i, int(p.action[entry])))
                    strategy[h, k] = numbers.probability[i][entry]
                    after[h, k] = numbers.action_value[i][entry]
        locked = numbers.locked[i]
        with np.errstate(invalid="ignore"):
            return Privates(
                player=f"player {i}",
                acts=acts,
                names=tuple(info.infostate_label(i, int(s)) for s in seen),
                reach=own,
                weight=reach / reach.sum() if reach.sum() > 0 else np.zeros(size),
                value=value / np.where(others > 0, others, np.nan),
                equity=None,
                strategy=strategy,
                action_value=after,
                locked=np.array([row >= 0 and bool(locked[row]) for row in rows], bool),
            )

    @functools.cached_property
    def _numbers(self) -> Numbers:
        return Numbers.of(self.tree, self.policy)


def view_result(result: Result) -> GameView:
    """Returns a result for the viewer.

    Raises:
        ValueError: the tree's world states were not kept.
    """
    listed(result.tree)
    return GameView(result.tree, result.policy, result.curve, result.solver, result.tree)


def view_run(directory: Path) -> GameView:
    """Returns a solved game for the viewer, from the files that `jaxsolve solve --out` wrote.

    Raises:
        ValueError: a file is missing, damaged or of another version.
        OSError: a file cannot be read.
    """
    for name in ("config.json", "policy.npz", "curve.csv"):
        if not (directory / name).is_file():
            raise ValueError(
                f"{directory} is not a solved game: it has no {name}. Write one with `jaxsolve "
                f"solve GAME --out {directory}`; --resume goes on with a run that was cut short"
            )
    config = _config(directory / "config.json")
    tree = compile(config["game"], max_states=config.get("max_states"))
    policy = load_policy(tree, directory / "policy.npz")
    solver = load_solver(config["solver"], simultaneous=bool(config.get("simultaneous", False)))
    return GameView(tree, policy, Curve.load(directory / "curve.csv"), solver, tree)


def _config(path: Path) -> Mapping[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8"))["config"]
        if isinstance(config["game"], str) and isinstance(config["solver"], str):
            return dict(config)
    except (KeyError, TypeError, ValueError):
        pass
    raise ValueError(f"{path} does not name a game and a solver; solve the game again with --out")
