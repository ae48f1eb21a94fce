"""Enumerating the states of an OpenSpiel game: the same table as from rules.

One depth-first walk in Python over OpenSpiel's states, which visits each depth in the order of a
breadth-first one and holds few states at a time; everything else is done on whole columns. A
decision infostate is OpenSpiel's information state string; while a player waits, their infostate
is the sequence of strings they would be given. Public states are the sequences of OpenSpiel's
public observations where a game has them and they split no infoset, else the connected
components of `_components`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, NoReturn

import numpy as np

from jaxsolve.compiler._components import by_appearance, public_components, with_public
from jaxsolve.compiler._openspiel_ids import infostate_ids, with_observed
from jaxsolve.compiler._openspiel_size import far_too_large
from jaxsolve.compiler._walker import too_many_states
from jaxsolve.compiler._watch import MAX_SECONDS, Watch, far_too_many
from jaxsolve.game import OpenSpielGame
from jaxsolve.tree import Infostates, StateTable
from jaxsolve.types import CHANCE, TERMINAL

_TERMINAL, _CHANCE = -4, -1
"""OpenSpiel's numbers for who is to move."""

MAX_STATES = 2_000_000
"""Default limit; a minute or two of walking."""

_PROBE_AT = 1_000
"""States that are walked before the size is estimated: other faults show early, and say more."""

_WATCH_EVERY = 256
"""States between looks at memory and time."""

_BYTES = 700
"""Memory of a state while compiling, measured on liar's dice (its strings included)."""


def enumerate_openspiel(
    game: OpenSpielGame, *, max_states: int = MAX_STATES, max_seconds: float = MAX_SECONDS
) -> StateTable:
    """Returns every state of an OpenSpiel game.

    Args:
        game: the game.
        max_states: refuse a larger game.
        max_seconds: stop after that time.

    Raises:
        MemoryError: the states take more memory than there is.
        TimeoutError: it takes too long.
        ValueError: imperfect recall, other legal actions within one infostate, or too many states.
            The message names the infostate or the states that show it. An error of OpenSpiel's own
            is passed on.
    """
    walk = _Walk(game, max_states, Watch(game.name, max_seconds))
    try:
        walk.run()
    except RuntimeError as error:
        raise ValueError(
            f"{game.name}: OpenSpiel failed at state {len(walk.parent):,} of the walk. It says: "
            f"{error}"
        ) from error
    return walk.table()


class _Walk:
    """The columns of the table in the order of the walk, as Python lists."""

    def __init__(self, game: OpenSpielGame, max_states: int, watch: Watch):
        n = game.num_players
        self.game, self.max_states, self.watch = game, max_states, watch
        self.parent: list[int] = []
        self.action: list[int] = []
        self.actor: list[int] = []
        self.depth: list[int] = []
        self.chance: list[float] = []
        self.terminal: list[int] = []
        self.utility: list[list[float]] = []
        self.text: list[list[int]] = [[] for _ in range(n)]  # per player, per state
        self.texts: list[dict[str, int]] = [{} for _ in range(n)]
        self.shown: list[int] = []  # public observation of each state
        self.shows: dict[str, int] = {}
        self.infosets: list[dict[int, tuple[list[int], int, int]]] = [{} for _ in range(n)]
        self.names: dict[tuple[int, int], str] = {}

    def run(self) -> None:
        """Visits every state once, children in the order of their actions."""
        game, n = self.game, self.game.num_players
        look = _public_observer(game.spiel)
        read = [(i, self.text[i], self.texts[i]) for i in range(n)]
        base = game.num_actions + 1
        # An entry: state, parent, action, chance, and per player the last own sequence, a number
        # made of infostate and action.
        stack: list[tuple[Any, int, int, float, tuple[int, ...]]] = [
            (game.spiel.new_initial_state(), -1, -1, 1.0, (0,) * n)
        ]
        while stack:
            state, up, action, chance, own = stack.pop()
            here, player = len(self.parent), state.current_player()
            if here + len(stack) >= self.max_states:
                total = here + len(stack) + 1
                raise too_many_states(game, total, self.max_states, _BYTES)
            if here == _PROBE_AT and far_too_large(game.spiel, self.max_states):
                raise far_too_many(game.name, self.max_states)
            if here % _WATCH_EVERY == 0:
                self.watch.check(here)
            self.parent.append(up)
            self.action.append(action)
            self.actor.append(player)
            self.chance.append(chance)
            self.depth.append(self.depth[up] + 1 if up >= 0 else 0)
            if game.by_history:
                history = state.history_str()
                for _, column, texts in read:
                    column.append(texts.setdefault(history, len(texts)))
            else:
                for i, column, texts in read:
                    text = state.information_state_string(i)
                    column.append(texts.setdefault(text, len(texts)))
            if look is not None:
                self.shown.append(self.shows.setdefault(look(state, 0), len(self.shows)))
            if player >= 0:
                legal = state.legal_actions()
                at = self.text[player][-1]
                known = self.infosets[player].get(at)
                if known is None:
                    self.infosets[player][at] = (legal, own[player], here)
                    self._name_actions(state, player, legal)
                elif known[0] != legal or known[1] != own[player]:
                    self._inconsistent(player, at, legal)
                first = at * base + 1
                before, after = own[:player], own[player + 1 :]
                for a in legal[:0:-1]:
                    entry = (*before, first + a, *after)
                    stack.append((state.child(a), here, a, chance, entry))
                a = legal[0]
                state.apply_action(a)
                stack.append((state, here, a, chance, (*before, first + a, *after)))
            elif player == _CHANCE:
                outcomes = sorted(o for o in state.chance_outcomes() if o[1] > 0)
                self._name_actions(state, _CHANCE, [a for a, _ in outcomes])
                for a, p in reversed(outcomes):
                    stack.append((state.child(a), here, a, chance * p, own))
            elif player == _TERMINAL:
                self.terminal.append(here)
                self.utility.append(state.returns())
            else:
                raise ValueError(
                    f"{game.name}: OpenSpiel gives player {player} to move after "
                    f"[{state.history_str()}], which is neither a player nor chance."
                )

    def table(self) -> StateTable:
        """Returns the columns in breadth-first order, with infostates and public states."""
        depth = np.array(self.depth, np.int32)
        order = np.argsort(depth, kind="stable")
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        depth = depth[order]
        parent = np.array(self.parent, np.int32)[order]
        parent[1:] = place[parent[1:]]
        action = np.array(self.action, np.int32)[order]
        actor = np.array(self.actor)[order]
        actor = np.where(actor == _TERMINAL, TERMINAL, np.where(actor == _CHANCE, CHANCE, actor))
        texts = [np.array(column, np.int32)[order] for column in self.text]
        depth_start = np.concatenate([[0], np.cumsum(np.bincount(depth))])
        ids = [
            infostate_ids(parent, action, actor, depth_start, text, player)
            for player, text in enumerate(texts)
        ]
        terminal = place[np.array(self.terminal)]
        by_place = np.argsort(terminal)
        empty = Infostates(*(np.zeros(0, np.int32),) * 2, np.zeros((1, 0), np.int32))
        plain = StateTable(
            game=dataclasses.replace(self.game, action_names=_distinct(self.names)),
            parent=parent,
            action=action.astype(np.int16) if action.max() < 2**15 else action,
            actor=actor.astype(np.int8),
            public=np.zeros(len(order), np.int32),
            infostate=np.stack(ids, 1),
            chance=np.array(self.chance)[order],
            terminal=terminal[by_place],
            utility=np.array(self.utility, np.float64)[by_place],
            depth_start=depth_start,
            infostates=tuple(
                dataclasses.replace(empty, observation=np.zeros((x.max() + 1, 0), np.int32))
                for x in ids
            ),
            public_states=empty,
        )
        shown = np.array(self.shown, np.int32)[order] if self.shown else None
        table = with_observed(plain, shown)
        if table is None:
            table = with_public(plain, public_components(plain.parent, plain.infostate))
        return self._named(table, texts)

    def _named(self, table: StateTable, texts: list[np.ndarray]) -> StateTable:
        """The table with the strings of its infostates."""
        out = []
        for i, states in enumerate(table.infostates):
            _, first = by_appearance(table.infostate[:, i])
            strings = list(self.texts[i])
            decisions = [strings[at] for at in self.infosets[i]]
            clean = _readable if len(set(map(_readable, decisions))) == len(decisions) else _escaped
            words = [clean(s) for s in strings]
            at = texts[i][first].tolist()
            key, name = tuple(strings[k] for k in at), tuple(words[k] for k in at)
            out.append(dataclasses.replace(states, key=key, name=name))
        return dataclasses.replace(table, infostates=tuple(out))

    def _name_actions(self, state: Any, actor: int, actions: list[int]) -> None:
        """Keeps OpenSpiel's words; an id with several meanings goes by its number."""
        for a in actions:
            if actor == _CHANCE and (actor, a) in self.names:
                continue
            word = _readable(state.action_to_string(actor, a))
            if self.names.setdefault((actor, a), word) != word:
                self.names[actor, a] = str(a)

    def _path(self, at: int) -> str:
        """The actions that lead to a state of the walk."""
        words: list[str] = []
        while self.parent[at] >= 0:
            up, action = self.parent[at], self.action[at]
            who = "chance" if self.actor[up] == _CHANCE else f"p{self.actor[up]}"
            words.append(f"{who}:{self.names[self.actor[up], action]}")
            at = up
        return ", ".join(reversed(words)) or "(initial state)"

    def _string(self, player: int, text: int) -> str:
        return next(s for s, k in self.texts[player].items() if k == text)

    def _inconsistent(self, player: int, at: int, legal: list[int]) -> NoReturn:
        """Raises what two states of one infostate differ in."""
        known, _, other = self.infosets[player][at]
        if known != legal:
            what = f"has other legal actions in another state of it: {known} and {legal}"
        else:
            what = (
                "has imperfect recall: the player does not remember what they knew or did. "
                "jaxsolve solves games of perfect recall only"
            )
        raise ValueError(
            f"{self.game.name}: player {player} {what}.\n"
            f"  information state: {_escaped(self._string(player, at))}\n"
            f"  one path: {self._path(other)}\n"
            f"  another:  {self._path(len(self.parent) - 1)}"
        )


def _public_observer(game: Any) -> Any:
    """Returns OpenSpiel's (state, player) -> public observation, None where it has none."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    kind = pyspiel.IIGObservationType(
        public_info=True, perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE
    )
    try:
        look = make_observation(game, kind).string_from
        return None if look(game.new_initial_state(), 0) is None else look
    except Exception:  # games say in many ways that they have none
        return None


def _distinct(names: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The names, with its number behind every one that an actor has for several actions."""
    count = Counter((actor, word) for (actor, _), word in names.items())
    return {
        (actor, action): word if count[actor, word] == 1 else f"{word} #{action}"
        for (actor, action), word in names.items()
    }


def _readable(text: str) -> str:
    """A string on one line: inner spaces single, lines divided by slashes."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return " / ".join(line for line in lines if line) or "start"


def _escaped(text: str) -> str:
    """A string on one line, nothing left out."""
    return text.replace("\\", "\\\\").replace("\n", "\\n") or "(empty)"
