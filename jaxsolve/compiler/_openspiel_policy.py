"""Policies to and from OpenSpiel.

A tree imported from OpenSpiel knows the information state string of every infoset. A tree compiled
from rules learns them from a walk over both games in lockstep, by equal action ids, in which who
acts, what is legal, chance and payoffs must agree at every state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from jaxsolve.compiler._compile import compile
from jaxsolve.game import (
    OpenSpielGame,
    import_pyspiel,
    is_pyspiel_game,
    load_openspiel,
    registered,
    wrap_openspiel,
)
from jaxsolve.game import load as load_game
from jaxsolve.tree import (
    ListedInfo,
    Policy,
    PublicTree,
    StateTable,
    TreeInfo,
    listed,
    policy_from_probabilities,
)
from jaxsolve.types import CHANCE, TERMINAL

_TOLERANCE = 1e-5
"""How far payoffs and probabilities of two definitions of one game may lie apart: rules may
compute them in float32."""


def to_openspiel(tree: PublicTree, policy: Policy, game: Any = None) -> Any:
    """Returns a policy as an `open_spiel.python.policy.TabularPolicy`.

    Its `game` is the one to evaluate it on (the turn-based form of a simultaneous game). Rows are
    in the order of `TabularPolicy(game)`, probabilities exactly those of the policy.

    Args:
        tree: the game.
        policy: of every player.
        game: for a tree compiled from rules, the same game of OpenSpiel: its string or a
            `pyspiel.Game`. Known for the settings that the registry lists one for.

    Raises:
        ImportError: OpenSpiel is not installed.
        ValueError: the games differ (the state is named), or OpenSpiel's information states
            cannot hold the policy.
    """
    match = _match(tree, game)
    table: dict[str, tuple[int, int, np.ndarray]] = {}  # string -> player, infoset, probabilities
    for i, player in enumerate(match.info.players):
        probabilities = np.asarray(policy.probabilities(i), np.float64)
        for k, key in enumerate(match.keys[i]):
            row = np.zeros(match.spiel.num_distinct_actions())
            at = slice(player.offset[k], player.offset[k + 1])
            row[player.action[at]] = probabilities[at]
            who, other, same = table.setdefault(key, (i, k, row))
            if who != i:
                raise ValueError(
                    f"{match.spiel} gives players {who} and {i} the same information state "
                    f"{key!r}, and OpenSpiel's TabularPolicy has one row for both."
                )
            if (same != row).any():
                names = match.info.labels[i]
                raise ValueError(
                    f"{match.info.name} tells {names[other]!r} and {names[k]!r} apart and the "
                    f"policy differs there, but OpenSpiel has one information state for both: "
                    f"{key!r}."
                )
    from open_spiel.python.policy import TabularPolicy

    states = dict(match.states().values())
    out = TabularPolicy(match.spiel, states=states)
    for key, at in out.state_lookup.items():
        out.action_probability_array[at] = table[key][2]
    return out


def from_openspiel(tree: PublicTree, policy: Any, game: Any = None) -> Policy:
    """Returns a policy of OpenSpiel in the layout of a tree.

    Args:
        tree: the game.
        policy: anything with `action_probabilities(state)` (`TabularPolicy`, every other policy
            of OpenSpiel in Python or C++), or a mapping from information state strings to
            {action: probability}, to (action, probability) pairs, or to an array over actions.
        game: as in `to_openspiel`.

    Raises:
        ValueError: an infoset is missing, or its probabilities are not a distribution over its
            legal actions.
    """
    match = _match(tree, game)
    keyed = isinstance(policy, Mapping)
    samples = {} if keyed else match.states()
    players = []
    for i, player in enumerate(match.info.players):
        values = np.zeros(len(player.action))
        for k, key in enumerate(match.keys[i]):
            at = slice(player.offset[k], player.offset[k + 1])
            try:
                given = policy[key] if keyed else policy.action_probabilities(samples[i, key][1])
                values[at] = _in_order(given, player.action[at], key)
            except (KeyError, RuntimeError):
                pass
            if not values[at].any():
                raise ValueError(
                    f"the policy has nothing for player {i} at information state {key!r} of "
                    f"{match.spiel}"
                )
        players.append(values)
    return policy_from_probabilities(tree, players)


@dataclasses.dataclass
class _Match:
    """A tree beside its game in OpenSpiel.

    Attributes:
        info: the tree's names.
        spiel: the `pyspiel.Game`, turn-based.
        keys: per player, the information state string of each infoset.
        found: (player, string) -> (history, state), the state of the infoset with the first
            history in alphabetical order; None before `states` was called.
    """

    info: TreeInfo
    spiel: Any
    keys: list[list[str]]
    found: dict[tuple[int, str], tuple[str, Any]] | None = None

    def states(self) -> dict[tuple[int, str], tuple[str, Any]]:
        """Returns `found`, walking OpenSpiel's game if that was not done yet."""
        if self.found is None:
            self.found = _walk(self.spiel, None)[0]
        return self.found


def _match(tree: PublicTree, game: Any) -> _Match:
    """Returns the tree beside its game in OpenSpiel."""
    info = tree.info
    if info.game is None:
        raise ValueError(
            f"{info.name} does not know its game; use the tree that js.compile returned"
        )
    if any((p.infostate < 0).any() for p in info.players):
        raise ValueError(
            f"{info.name} has infosets that a gadget added, which OpenSpiel's game has not; "
            "convert a policy of the whole game"
        )
    if isinstance(info.game, OpenSpielGame):
        if info.game.by_history:
            raise ValueError(
                f"{info.name} has no information states in OpenSpiel, which would key its policies "
                "by observations that forget the past"
            )
        keys = []
        for p in info.players:
            if p.states is None or p.states.key is None:
                raise ValueError(f"{info.name} does not hold the strings of its infostates")
            keys.append([p.states.key[k] for k in p.infostate])
        return _Match(info, info.game.spiel, keys)
    spiel = _same_game(info, game).spiel
    whole = info if isinstance(info, ListedInfo) else listed(compile(info.game))
    found, strings = _walk(spiel, whole.states, whole.name)
    keys = [
        [string[k] for k in p.infostate.tolist()]
        for p, string in zip(whole.players, strings, strict=True)
    ]
    if whole is not info:  # another layout, or the states were not kept: the names tell
        for i, own in enumerate(info.labels):
            by_name = dict(zip(whole.labels[i], keys[i], strict=True))
            if len(by_name) < len(keys[i]) or set(by_name) != set(own):
                raise ValueError(
                    f"the infosets of player {i} in {info.name} cannot be told apart by name; "
                    'compile it with layout="rows" and keep_states=True'
                )
            keys[i] = [by_name[name] for name in own]
    return _Match(info, spiel, keys, found)


def _same_game(info: TreeInfo, game: Any) -> OpenSpielGame:
    """Returns the OpenSpiel game of a tree compiled from rules."""
    import_pyspiel()
    if isinstance(game, OpenSpielGame):
        return game
    if is_pyspiel_game(game):
        return wrap_openspiel(game)
    if isinstance(game, str):
        return load_openspiel(game)
    if game is not None:
        raise ValueError(f"game is {game!r}; give a string of OpenSpiel or a pyspiel.Game")
    name = info.name.partition("(")[0]
    entry = registered().get(name)
    for row in entry.references if entry is not None else ():
        if row.openspiel and load_game(f"{name}({row.params})").name == info.name:
            return load_openspiel(row.openspiel)
    raise ValueError(
        f"nothing says which game of OpenSpiel {info.name} is. Name it: "
        'js.to_openspiel(tree, policy, game="leduc_poker")'
    )


def _walk(
    spiel: Any, table: StateTable | None, name: str = ""
) -> tuple[dict[tuple[int, str], tuple[str, Any]], list[dict[int, str]]]:
    """Walks OpenSpiel's game, beside a table of states if there is one.

    Returns:
        (`_Match.found`, per player the string of each decision infostate of the table).
    """
    found: dict[tuple[int, str], tuple[str, Any]] = {}
    strings: list[dict[int, str]] = [{} for _ in range(spiel.num_players())]
    beside = None if table is None else _Beside(table, spiel, name)
    stack: list[tuple[Any, int]] = [(spiel.new_initial_state(), 0)]
    while stack:
        state, k = stack.pop()
        first = 0 if beside is None else beside.check(state, k)
        player = state.current_player()
        if player >= 0:
            key, history = state.information_state_string(), state.history_str()
            best = found.get((player, key))
            if best is None or history < best[0]:
                found[player, key] = (history, state)
            if beside is not None:
                infostate = beside.infostate[player][k]
                if strings[player].setdefault(infostate, key) != key:
                    beside.differ(state, "OpenSpiel tells apart what the rules do not")
        if not state.is_terminal():
            actions = sorted(state.legal_actions())
            stack += [(state.child(a), first + j) for j, a in enumerate(actions)]
    return found, strings


class _Beside:
    """The columns of a table, for a walk in lockstep."""

    def __init__(self, table: StateTable, spiel: Any, name: str):
        self.spiel, self.name = spiel, name
        if spiel.num_players() != table.game.num_players:
            raise ValueError(
                f"{name} and {spiel} are not the same game: {table.game.num_players} players and "
                f"{spiel.num_players()}"
            )
        first = np.zeros(table.num_states, np.int64)
        parents, at, count = np.unique(table.parent[1:], return_index=True, return_counts=True)
        first[parents] = at + 1
        children = np.zeros(table.num_states, np.int64)
        children[parents] = count
        utility = np.zeros((table.num_states, table.game.num_players))
        utility[table.terminal] = table.utility
        self.first, self.children = first.tolist(), children.tolist()
        self.action, self.actor = table.action.tolist(), table.actor.tolist()
        self.chance, self.utility = table.chance, utility
        self.infostate = [column.tolist() for column in table.infostate.T]

    def check(self, state: Any, k: int) -> int:
        """Returns the first child of state k of the table; raises where the games differ."""
        player, actor = state.current_player(), self.actor[k]
        if actor != (player if player >= 0 else {-1: CHANCE, -4: TERMINAL}.get(player)):
            self.differ(state, f"actor {actor} here is player {player} there")
        first = self.first[k]
        if actor == TERMINAL:
            if not np.allclose(self.utility[k], state.returns(), _TOLERANCE, _TOLERANCE):
                self.differ(state, f"payoffs {self.utility[k]} here are {state.returns()} there")
            return 0
        legal = self.action[first : first + self.children[k]]
        if legal != sorted(state.legal_actions()):
            self.differ(state, f"actions {legal} here are {sorted(state.legal_actions())} there")
        if actor == CHANCE:
            p = [x for _, x in sorted(state.chance_outcomes())]
            q = self.chance[first : first + len(legal)] / self.chance[k]
            if not np.allclose(q, p, _TOLERANCE, _TOLERANCE):
                self.differ(state, f"probabilities {q} here are {p} there")
        return first

    def differ(self, state: Any, what: str) -> NoReturn:
        raise ValueError(
            f"{self.name} and {self.spiel} are not the same game, action by action. After "
            f"[{state.history_str()}]: {what}."
        )


def _in_order(given: Any, actions: np.ndarray, key: str) -> list[float]:
    """Returns the probabilities of the legal actions."""
    if isinstance(given, Mapping):
        pairs = {int(a): float(p) for a, p in given.items()}
    elif len(given) and np.ndim(given[0]) == 1:
        pairs = {int(a): float(p) for a, p in given}
    else:
        pairs = dict(enumerate(map(float, given)))
    out = [pairs.pop(a, 0.0) for a in actions.tolist()]
    extra = [a for a, p in pairs.items() if p > 0]
    if extra:
        raise ValueError(
            f"the policy plays action {extra[0]} at information state {key!r}, where only "
            f"{actions.tolist()} are legal"
        )
    return out
