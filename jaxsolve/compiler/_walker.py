"""Enumerating the world states of a game, breadth first, a whole frontier per step.

The rules are vmapped and jitted; ids of infostates and public states are assigned on the host.
Nothing here knows about solving: the outcome is a plain table of states.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.compiler._components import public_components, with_public
from jaxsolve.compiler._ids import IdTable, same
from jaxsolve.compiler._watch import (
    CERTAIN,
    MAX_SECONDS,
    TooManyStatesError,
    Watch,
    far_too_many,
)
from jaxsolve.game import Game
from jaxsolve.tree import StateTable, describe_path
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

_CHUNKS = (256, 8192, 131072)
"""Frontier chunk sizes: each is compiled at most once per game."""

_CHUNK_BYTES = 2**28
"""Most memory for what the rules say of the actions of a chunk."""

_PROBE_AT = 2_000
"""States that are listed before the size is estimated, by as many paths as a small chunk has."""

_PROBE_STEPS = 1_000
"""Longest path of an estimate."""

MAX_STATES = 50_000_000
"""Default limit: goofspiel with seven cards is below it."""


def enumerate_states(
    game: Game, *, max_states: int = MAX_STATES, max_seconds: float = MAX_SECONDS
) -> StateTable:
    """Returns every world state of a game.

    Args:
        game: the rules.
        max_states: refuse a larger game.
        max_seconds: stop after that time.

    Raises:
        MemoryError: the states take more memory than there is.
        TimeoutError: it takes too long.
        ValueError: the game is too large, chance does not sum to 1, a player cannot tell that it
            is their turn, or two states of one infostate have different legal actions. The
            message names the state by the actions that lead to it.
    """
    walker = Walker(game, max_states, max_seconds)
    while len(walker.frontier):
        walker.expand()
    table = walker.table()
    if table.public_states.observation.shape[1]:
        return table
    return with_public(table, public_components(table.parent, table.infostate))


@dataclasses.dataclass
class Visited:
    """What the rules say of a batch of states; leading axis F throughout."""

    states: Any
    actor: np.ndarray
    legal: np.ndarray
    chance: np.ndarray
    utility: np.ndarray
    public: np.ndarray
    private: np.ndarray

    @staticmethod
    def concatenate(parts: list[Visited]) -> Visited:
        trees = [tuple(vars(p).values()) for p in parts]
        return Visited(*jax.tree.map(lambda *x: np.concatenate(x), *trees))


def visit(game: Game, states: Any, action: np.ndarray) -> Visited:
    """Returns what the rules say after one action in each state (leading axis F)."""
    parts = []
    for lo, hi, size in _chunks(len(action), game.num_actions):
        take = np.pad(np.arange(lo, hi), (0, size - (hi - lo)), mode="edge")
        with jax.enable_x64(True):
            out = _step_and_look(game)(jax.tree.map(lambda x, t=take: x[t], states), action[take])
            parts.append(Visited(*jax.tree.map(lambda x, k=hi - lo: np.asarray(x)[:k], out)))
    return Visited.concatenate(parts)


class Walker:
    """The growing columns of the table, and the frontier (non-terminal states of one depth)."""

    def __init__(
        self,
        game: Game,
        max_states: int,
        max_seconds: float = MAX_SECONDS,
        *,
        whole: bool = True,
    ):
        """Starts at the initial state.

        Args:
            game: the rules.
            max_states: refuse more states.
            max_seconds: stop after that time.
            whole: the game is to be walked to its ends, so one that is far too large is refused
                early.
        """
        self.game, self.max_states, n = game, max_states, game.num_players
        self.watch, self.probed = Watch(game.name, max_seconds), not whole
        self.parent: list[np.ndarray] = []
        self.action: list[np.ndarray] = []
        self.actor: list[np.ndarray] = []
        self.public: list[np.ndarray] = []
        self.infostate: list[np.ndarray] = []
        self.chance: list[np.ndarray] = []
        self.terminal: list[np.ndarray] = []
        self.utility: list[np.ndarray] = []
        self.depth_start = [0]
        self.public_ids = IdTable()
        self.ids = [IdTable() for _ in range(n)]
        self.infosets = [_Infosets() for _ in range(n)]
        self.frontier = np.zeros(0, np.int64)  # global state indices
        with jax.enable_x64(True):
            state = game.init()
            out = jax.jit(functools.partial(_look, game))(state)
            first = Visited(*jax.tree.map(lambda x: np.asarray(x)[None], (state, *out)))
        self.visited = first  # what the rules say of the frontier states
        self.append(first, parent=np.full(1, -1), action=np.full(1, -1), chance=np.ones(1))

    def table(self) -> StateTable:
        """Returns all states so far."""
        return StateTable(
            game=self.game,
            parent=np.concatenate(self.parent),
            action=np.concatenate(self.action),
            actor=np.concatenate(self.actor),
            public=np.concatenate(self.public),
            infostate=np.concatenate(self.infostate),
            chance=np.concatenate(self.chance),
            terminal=np.concatenate(self.terminal),
            utility=np.concatenate(self.utility),
            depth_start=np.array(self.depth_start),
            infostates=tuple(ids.infostates() for ids in self.ids),
            public_states=self.public_ids.infostates(),
        )

    def expand(self) -> None:
        """Steps every frontier state by every legal action."""
        here = self.visited
        local, action = np.nonzero(here.legal)
        total = self.depth_start[-1] + len(local)
        if total > self.max_states:
            deepest = f" (depth {len(self.depth_start) - 1} alone has {len(local):,})"
            bytes_each = 40 + 8 * self.game.num_players + _state_bytes(here.states)
            raise too_many_states(self.game, total, self.max_states, bytes_each, deepest)
        if total > _PROBE_AT and not self.probed:
            self.probed = True
            if self._far_too_large():
                raise far_too_many(self.game.name, self.max_states)
        row = sum(x.nbytes // len(x) for x in jax.tree.leaves(tuple(vars(here).values())))
        self.watch.check(self.depth_start[-1], coming=2 * row * len(local))
        seen = visit(
            self.game, jax.tree.map(lambda x: x[local], here.states), action.astype(np.int32)
        )
        chance = self.chance[-1][self.frontier - self.depth_start[-2]][local]
        at_chance = here.actor[local] == CHANCE
        chance = np.where(at_chance, chance * here.chance[local, action], chance)
        self.append(seen, self.frontier[local], action, chance)

    def append(
        self, seen: Visited, parent: np.ndarray, action: np.ndarray, chance: np.ndarray
    ) -> None:
        """Adds one depth: ids, checks, columns, and the next frontier."""
        first = self.depth_start[-1]
        n = self.game.num_players
        self.parent.append(parent.astype(np.int32))
        self.action.append(action.astype(np.int16 if self.game.num_actions < 2**15 else np.int32))
        self.actor.append(seen.actor.astype(np.int8))
        self.chance.append(chance)
        self.depth_start.append(first + len(parent))

        root = parent[0] < 0
        above = None if root else parent - self.depth_start[-3]
        before = np.full(len(parent), -1) if root else self.public[-1][above]
        blank = (seen.public == NOTHING).all(1)
        public = self.public_ids.assign(before, action * 0 - 1, seen.public, blank)
        mover = np.full(len(parent), TERMINAL) if root else self.actor[-2][above]
        infostate = np.empty((len(parent), n), np.int32)
        for i in range(n):
            before = np.full(len(parent), -1) if root else self.infostate[-1][above, i]
            own = np.where(mover == i, action, -1)
            saw = np.concatenate([seen.public, seen.private[:, i]], 1)
            silent = (saw == NOTHING).all(1) & (own < 0)
            infostate[:, i] = self.ids[i].assign(before, own, saw, silent, extra=public)
        self.public.append(public)
        self.infostate.append(infostate)

        self._check(seen, first)
        over = np.flatnonzero(seen.actor == TERMINAL)
        self.terminal.append((first + over).astype(np.int32))
        self.utility.append(np.asarray(seen.utility, np.float64)[over])
        alive = np.flatnonzero(seen.actor != TERMINAL)
        self.frontier = first + alive
        everything = tuple(vars(seen).values())
        self.visited = Visited(*jax.tree.map(lambda x: x[alive], everything))

    def _far_too_large(self) -> bool:
        """Returns whether there are more states than the limit, beyond reasonable doubt.

        Knuth's estimate (`_openspiel_size`), along paths of random choices from the frontier on.
        """
        choose = np.random.default_rng(0)
        pick = choose.integers(len(self.frontier), size=_CHUNKS[0])
        here = jax.tree.map(lambda x: x[pick], tuple(vars(self.visited).values()))
        now, weight = Visited(*here), np.full(len(pick), float(len(self.frontier)))
        total = 0.0
        for _ in range(_PROBE_STEPS):
            weight = weight * now.legal.sum(1)
            total += weight.sum() / len(pick)
            if total > CERTAIN * self.max_states:
                return True
            action = np.where(now.legal, choose.random(now.legal.shape), -1).argmax(1)
            seen = visit(self.game, now.states, action.astype(np.int32))
            weight = np.where(seen.actor == TERMINAL, 0, weight)
            if not weight.any():
                break
            now = seen
            self.watch.check(self.depth_start[-1])
        return False

    def _check(self, seen: Visited, first: int) -> None:
        bad = (seen.actor < TERMINAL) | (seen.actor >= self.game.num_players)
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(self._at(first + k, seen, k, f"actor() returned {seen.actor[k]}"))
        stuck = (seen.actor != TERMINAL) & ~seen.legal.any(1)
        if stuck.any():
            k = int(np.argmax(stuck))
            raise ValueError(
                self._at(first + k, seen, k, "no action is legal, but the state is not terminal")
            )
        at_chance = seen.actor == CHANCE
        total = np.where(seen.legal, seen.chance, 0).sum(1)
        # Written so that NaN is bad.
        bad = at_chance & ~((np.abs(total - 1) <= 1e-6) & (~seen.legal | (seen.chance > 0)).all(1))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                self._at(
                    first + k,
                    seen,
                    k,
                    f"chance probabilities of the legal outcomes sum to {total[k]:.6g}, not 1 "
                    "(legal() at a chance state must be True where chance() is positive)",
                )
            )
        not_finite = (seen.actor == TERMINAL) & ~np.isfinite(seen.utility).all(1)
        if not_finite.any():
            k = int(np.argmax(not_finite))
            raise ValueError(self._at(first + k, seen, k, f"utility() returned {seen.utility[k]}"))
        for i, infosets in enumerate(self.infosets):
            ids = self.infostate[-1][:, i]
            k, what = infosets.add(ids, seen.actor == i, seen.actor == TERMINAL, seen.legal)
            if what == "turn":
                raise ValueError(
                    self._at(
                        first + k,
                        seen,
                        k,
                        f"player {i} cannot tell whether it is their turn: another state with the "
                        "same observations differs in that. Let observe() show them something in "
                        "the transition that makes it their turn",
                    )
                )
            if what == "legal":
                raise ValueError(
                    self._at(
                        first + k,
                        seen,
                        k,
                        f"player {i} has other legal actions in a state with the same "
                        "observations, so the rules break perfect recall or hide what the player "
                        "needs. Let observe() show the difference, or make legal() equal",
                    )
                )

    def _at(self, index: int, seen: Visited, k: int, message: str) -> str:
        """The message, with the state's path and content."""
        state = jax.tree.map(lambda x: np.asarray(x[k]).tolist(), seen.states)
        path = describe_path(self.game, _Columns(self), index)
        return (
            f"{self.game.name}: {message}.\n  path: {path or '(initial state)'}\n  state: {state}"
        )


def too_many_states(
    game: Game, total: int, max_states: int, bytes_each: int, where: str = ""
) -> TooManyStatesError:
    """Returns the error of a game over the caller's limit."""
    return TooManyStatesError(
        f"{game.name} has at least {total:,} world states{where}, over the limit of "
        f"max_states={max_states:,}. Those states would take about "
        f"{total * bytes_each / 2**30:.1f} GiB while compiling. Raise max_states if the "
        "memory is there, or choose smaller parameters."
    )


class _Columns:
    """The columns that `describe_path` needs, of an unfinished table."""

    def __init__(self, walker: Walker):
        self.parent = np.concatenate(walker.parent)
        self.action = np.concatenate(walker.action)
        self.actor = np.concatenate(walker.actor)


class _Infosets:
    """Per infostate of one player: who has been seen to act there, and with which actions."""

    def __init__(self) -> None:
        self.role = np.zeros(0, np.int8)  # 0 unseen, 1 acts, 2 waits
        self.legal = np.zeros((0, 0), bool)

    def add(
        self, ids: np.ndarray, acts: np.ndarray, over: np.ndarray, legal: np.ndarray
    ) -> tuple[int, str]:
        """Returns (position, "turn" | "legal") of the first contradiction, or (0, "")."""
        grow = int(ids.max()) + 1 - len(self.role)
        if grow > 0:
            grow += len(self.role) // 2
            self.role = np.pad(self.role, (0, grow))
            if not self.legal.size:
                self.legal = np.zeros((0, legal.shape[1]), bool)
            self.legal = np.pad(self.legal, ((0, grow), (0, 0)))
        alive = ~over
        role = np.where(acts, 1, 2).astype(np.int8)
        new = alive & (self.role[ids] == 0)
        self.role[ids[new]] = role[new]
        mine = np.flatnonzero(acts)
        fresh = mine[new[mine]]
        self.legal[ids[fresh]] = legal[fresh]
        wrong = alive & (self.role[ids] != role)
        if wrong.any():
            return int(np.argmax(wrong)), "turn"
        differs = (self.legal[ids[mine]] != legal[mine]).any(1)
        if differs.any():
            return int(mine[np.argmax(differs)]), "legal"
        return 0, ""


def _chunks(total: int, num_actions: int) -> Iterator[tuple[int, int, int]]:
    """Yields (start, stop, padded size) so that few distinct sizes are ever compiled."""
    most = max(1, _CHUNK_BYTES // (16 * num_actions))
    sizes = [c for c in _CHUNKS if c <= most] or [most]
    lo = 0
    while lo < total:
        size = next((c for c in sizes if c >= total - lo), sizes[-1])
        yield lo, min(lo + size, total), size
        lo += size


def _look(game: Game, state: Any) -> tuple[Any, ...]:
    """What the rules say of one state: actor, legal, chance, utility, public, private."""
    public, private = game.observe(state)
    return (
        game.actor(state),
        game.legal(state),
        game.chance(state),
        game.utility(state),
        jnp.ravel(public),
        jnp.reshape(private, (game.num_players, -1)),
    )


@same
def _step_and_look(game: Game) -> Callable[..., Any]:
    def one(state: Any, action: Any) -> tuple[Any, ...]:
        child = game.step(state, action)
        return (child, *_look(game, child))

    return jax.jit(jax.vmap(one))


def _state_bytes(states: Any) -> int:
    return sum(x.nbytes // max(len(x), 1) for x in jax.tree.leaves(states))
