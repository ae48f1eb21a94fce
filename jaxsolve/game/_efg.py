"""Games in Gambit's extensive form, by their file: "poker.efg".

A file lists every node of a game. The rules are tables with a row for each node; a player who is to
act is shown the number of their information set, and remembers those before and what they did
there. Payoffs on the way are added to those at the end.

Source: Savani and Turocy 2025 (Gambit: the package for computation in game theory), its file format
".efg", version 2.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxsolve.types import CHANCE, NOTHING, TERMINAL, Array

SUFFIX = ".efg"
"""How the names of such files end."""

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([{}])|([^\s{}",]+)|,)')


@dataclasses.dataclass(frozen=True)
class EfgGame:
    """A game in extensive form as rules (`Game`): N nodes, A actions, n players.

    Attributes:
        name: the file.
        num_players: n.
        num_actions: A, the most labels of actions of one player, or of chance.
        digest: of the file's text.
        child: int32 [N, A], the node after an action, -1 where it is not legal.
        actors: int32 [N].
        odds: float64 [N, A], probabilities at chance nodes.
        infosets: int32 [N], number of the information set over all players, -1 elsewhere.
        payoffs: float64 [N, n], those of the way to each node included.
        labels: words of actions: a tuple for each player, then that of chance.
        infoset_labels: words of the information sets.
    """

    name: str
    num_players: int
    num_actions: int
    digest: str
    child: np.ndarray = dataclasses.field(repr=False, compare=False)
    actors: np.ndarray = dataclasses.field(repr=False, compare=False)
    odds: np.ndarray = dataclasses.field(repr=False, compare=False)
    infosets: np.ndarray = dataclasses.field(repr=False, compare=False)
    payoffs: np.ndarray = dataclasses.field(repr=False, compare=False)
    labels: tuple[tuple[str, ...], ...] = dataclasses.field(repr=False, compare=False)
    infoset_labels: tuple[str, ...] = dataclasses.field(repr=False, compare=False)

    def init(self) -> Array:
        """Returns the first node, int32 []."""
        return jnp.int32(0)

    def actor(self, state: Array) -> Array:
        """Returns who acts, int32 []."""
        return jnp.asarray(self.actors)[state]

    def legal(self, state: Array) -> Array:
        """Returns bool [A]."""
        return jnp.asarray(self.child)[state] >= 0

    def chance(self, state: Array) -> Array:
        """Returns float [A]."""
        return jnp.asarray(self.odds, float)[state]

    def step(self, state: Array, action: Array) -> Array:
        """Returns the node after an action."""
        return jnp.asarray(self.child)[state, action]

    def observe(self, state: Array) -> tuple[Array, Array]:
        """Returns public [0], and private [n, 1]: their information set to whoever acts."""
        mine = jnp.arange(self.num_players) == self.actor(state)
        seen = jnp.where(mine, jnp.asarray(self.infosets)[state], NOTHING)
        return jnp.zeros(0, jnp.int32), seen[:, None].astype(jnp.int32)

    def utility(self, state: Array) -> Array:
        """Returns float [n]."""
        return jnp.asarray(self.payoffs, float)[state]

    def action_name(self, actor: int, action: int) -> str:
        """Returns the label of an action."""
        return self.labels[actor][action]  # chance, -1, has the last

    def observation_name(self, public: np.ndarray, private: np.ndarray) -> str:
        """Returns the label of the information set."""
        return self.infoset_labels[private[0]] if private[0] >= 0 else ""


def load_efg(path: str | Path) -> EfgGame:
    """Returns the game of a file in Gambit's extensive form.

    Args:
        path: the file.

    Raises:
        ValueError: there is no such file, it is not in this form, odds do not sum to 1, or a player
            forgets what they knew or did (imperfect recall).
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    text = file.read_text(encoding="utf-8")
    return _Reader(str(path), text).game()


class _Infoset(NamedTuple):
    """An information set: its number over all, labels, and the player's last (infoset, action)."""

    number: int
    actions: tuple[str, ...]
    odds: tuple[Fraction, ...]
    before: tuple[int, str]


class _Reader:
    """The nodes of a file, in its order: each before those below it, in order of actions."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        self.tokens = list(_tokens(text))
        self.at = 0
        self.known: dict[tuple[int, int], _Infoset] = {}
        self.infoset_labels: list[str] = []
        self.outcomes: dict[int, list[float]] = {}

    def game(self) -> EfgGame:
        """Returns the game."""
        if [self.take() for _ in range(2)] != ["EFG", "2"]:
            raise self.wrong('a file of Gambit\'s extensive form begins with EFG 2 R "title"')
        self.take(), self.take()  # kind of numbers, title
        self.players = self.block()
        n = len(self.players)
        if n < 1:
            raise self.wrong("no players")
        if self.peek().startswith('"'):
            self.take()  # comment
        actors: list[int] = []
        infosets: list[int] = []
        payoffs: list[np.ndarray] = []
        edges: list[tuple[int, str, int, Fraction]] = []  # parent, label, node, odds
        # Still to come: parent, label and odds of the edge, payoffs of the way, and the last
        # (infoset, action) of each player.
        start: Any = (-1, "", Fraction(1), np.zeros(n), ((-1, ""),) * n)
        waiting = [start]
        while waiting:
            parent, label, odds, paid, own = waiting.pop()
            node = len(actors)
            if parent >= 0:
                edges.append((parent, label, node, odds))
            actor, infoset = self.node(own)
            paid = paid + np.asarray(self.outcome(n))
            actors.append(actor)
            payoffs.append(paid)
            infosets.append(infoset.number if infoset and actor >= 0 else NOTHING)
            if infoset is None:
                continue
            below = []
            for action, each in zip(infoset.actions, infoset.odds, strict=True):
                after = own
                if actor >= 0:
                    after = (*own[:actor], (infoset.number, action), *own[actor + 1 :])
                below.append((node, action, each, paid, after))
            waiting += reversed(below)
        if self.at < len(self.tokens):
            raise self.wrong("more nodes than the game has")
        return self.tables(actors, infosets, payoffs, edges)

    def tables(
        self,
        actors: list[int],
        infosets: list[int],
        payoffs: list[np.ndarray],
        edges: list[tuple[int, str, int, Fraction]],
    ) -> EfgGame:
        """Returns the game of lists of nodes and edges."""
        n = len(self.players)
        words: list[dict[str, int]] = [{} for _ in range(n + 1)]  # chance, -1, has the last
        for parent, label, _, _ in edges:
            words[actors[parent]].setdefault(label, len(words[actors[parent]]))
        most = max(1, *map(len, words))
        child = np.full((len(actors), most), -1, np.int32)
        odds = np.zeros((len(actors), most))
        for parent, label, node, each in edges:
            action = words[actors[parent]][label]
            if actors[parent] != CHANCE or each > 0:  # what cannot happen is not legal
                child[parent, action] = node
            if actors[parent] == CHANCE:
                odds[parent, action] = float(each)
        return EfgGame(
            name=self.name,
            num_players=n,
            num_actions=most,
            digest=hashlib.sha256(self.text.encode()).hexdigest(),
            child=child,
            actors=np.array(actors, np.int32),
            odds=odds,
            infosets=np.array(infosets, np.int32),
            payoffs=np.stack(payoffs),
            labels=tuple(map(tuple, words)),
            infoset_labels=tuple(self.infoset_labels),
        )

    def node(self, own: tuple[tuple[int, str], ...]) -> tuple[int, _Infoset | None]:
        """Reads a node up to its outcome: who acts, and their information set."""
        kind = self.take()
        self.string()
        if kind == "t":
            return TERMINAL, None
        if kind not in ("c", "p"):
            raise self.wrong(f"a node begins with c, p or t, not {kind!r}")
        player = CHANCE if kind == "c" else self.integer("player") - 1
        if kind == "p" and not 0 <= player < len(self.players):
            raise self.wrong(f"player {player + 1} of {len(self.players)}")
        number = self.integer("information set")
        before = own[player] if player >= 0 else (-1, "")
        if self.peek().startswith('"'):
            label = self.string()
            found = self.actions(kind)
            if (player, number) not in self.known:
                self.add(player, number, label, found, before)
            elif self.known[player, number].actions != tuple(found):
                raise self.wrong(f"information set {number} has other actions elsewhere")
        if (player, number) not in self.known:
            raise self.wrong(f"information set {number} has no actions")
        infoset = self.known[player, number]
        if infoset.before != before:
            raise self.wrong(
                f"player {player + 1} does not remember what they knew or did before information "
                f"set {number}; jaxsolve solves games of perfect recall only"
            )
        return player, infoset

    def add(
        self,
        player: int,
        number: int,
        label: str,
        actions: dict[str, Fraction],
        before: tuple[int, str],
    ) -> None:
        """Keeps a new information set."""
        if not actions:
            raise self.wrong(f"information set {number} has no actions")
        total = float(sum(actions.values()))
        if player == CHANCE and (not abs(total - 1) < 1e-9 or min(actions.values()) < 0):
            raise self.wrong(f"odds of chance sum to {total:.9g}, not to 1")
        place = -1
        if player >= 0:
            place = len(self.infoset_labels)
            self.infoset_labels.append(label or f"{self.players[player]}:{number}")
        odds = tuple(actions.values())
        self.known[player, number] = _Infoset(place, tuple(actions), odds, before)

    def actions(self, kind: str) -> dict[str, Fraction]:
        """Reads the actions of an information set, with the odds of chance's."""
        self.expect("{")
        found: dict[str, Fraction] = {}
        while self.peek() != "}":
            label = self.string() or str(len(found) + 1)
            label = label if label not in found else f"{label} #{len(found) + 1}"
            found[label] = self.number() if kind == "c" else Fraction(0)
        self.take()
        return found

    def outcome(self, n: int) -> list[float]:
        """Reads the outcome of a node: its payoffs [n], zeros where it has none."""
        number = self.integer("outcome")
        if self.peek().startswith('"'):
            self.string()
            if self.peek() == "{":
                self.take()
                values = []
                while self.peek() != "}":
                    values.append(float(self.number()))
                self.take()
                if len(values) != n:
                    raise self.wrong(f"{len(values)} payoffs for {n} players")
                self.outcomes[number] = values
        if number and number not in self.outcomes:
            raise self.wrong(f"outcome {number} has no payoffs")
        return self.outcomes[number] if number else [0.0] * n

    def block(self) -> list[str]:
        """Reads strings in braces."""
        self.expect("{")
        found = []
        while self.peek() != "}":
            found.append(self.string())
        self.take()
        return found

    def peek(self) -> str:
        """Returns the next token; a string has its first quote, "" is the end."""
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Returns the next token and goes on."""
        token = self.peek()
        if not token:
            raise self.wrong("the file ends in the middle of the game")
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        """Goes over a token."""
        if self.take() != token:
            raise self.wrong(f"expected {token}")

    def string(self) -> str:
        """Reads a string."""
        token = self.take()
        if not token.startswith('"'):
            raise self.wrong(f"expected a name in quotes, not {token}")
        return token[1:]

    def integer(self, what: str) -> int:
        """Reads a whole number."""
        token = self.take()
        if not token.isdecimal():
            raise self.wrong(f"expected the number of the {what}, not {token}")
        return int(token)

    def number(self) -> Fraction:
        """Reads a number, such as 1/6 or 0.25."""
        token = self.take()
        try:
            return Fraction(token)
        except (ValueError, ZeroDivisionError):
            raise self.wrong(f"{token} is no number") from None

    def wrong(self, what: str) -> ValueError:
        """Returns the error, with the line that was read last."""
        where = self.tokens[max(self.at - 1, 0)][1] if self.tokens else 0
        line = self.text.count("\n", 0, where) + 1
        return ValueError(f"{self.name}, line {line}: {what}")


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yields (token, where it begins); a string has its first quote."""
    for found in _TOKEN.finditer(text):
        string, brace, word = found.groups()
        if string is not None:
            yield '"' + re.sub(r"\\(.)", r"\1", string), found.start()
        elif brace or word:
            yield brace or word, found.start()
