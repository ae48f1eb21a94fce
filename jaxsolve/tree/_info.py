"""Names and counts of a tree, for people; kept on the host beside the tensors."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from jaxsolve.game import Game, NamesObservations, action_name, transition_name
from jaxsolve.tree._form import SequenceForm
from jaxsolve.tree._infostates import Infostates
from jaxsolve.tree._states import StateTable

if TYPE_CHECKING:
    from jaxsolve.tree._public_nodes import PublicNode


@dataclasses.dataclass(frozen=True)
class PlayerInfo:
    """The infosets of one player in canonical order, and where they lie in the tensors.

    Attributes:
        offset: int32 [I + 1], infoset i owns entries offset[i]..offset[i + 1] - 1.
        action: int16 [C], the game's action id of each entry.
        position: int64 [C], entry -> position in the flattened sequence vector [S, ...].
        infostate: int32 [I], -1 for infosets that a gadget added.
        public: int32 [I], public state of each infoset, -1 likewise.
        states: observations of every infostate, None where the tree has no such table.
        roots: number of empty sequences, which come first in the sequence vector.
        hands: H.
    """

    offset: np.ndarray
    action: np.ndarray
    position: np.ndarray
    infostate: np.ndarray
    public: np.ndarray
    states: Infostates | None
    roots: int = 1
    hands: int = 1

    @property
    def num_infosets(self) -> int:
        """I."""
        return len(self.offset) - 1


@dataclasses.dataclass(frozen=True)
class TreeInfo:
    """Names and counts of a tree.

    Attributes:
        game: the rules, or None for a tree that did not come from rules.
        name: the game's string.
        players: per player.
        num_states: world states, None where they were never enumerated.
        num_public_states: public states, terminal ones included.
        utility_sum: the sum of payoffs if it is the same at every terminal, else None.
        build_seconds: time to enumerate and assemble.
    """

    game: Game | None
    name: str
    players: tuple[PlayerInfo, ...]
    num_states: int | None
    num_public_states: int
    utility_sum: float | None
    build_seconds: float

    @property
    def num_infosets(self) -> tuple[int, ...]:
        """Decision infosets per player."""
        return tuple(p.num_infosets for p in self.players)

    def action_name(self, player: int, action: int) -> str:
        """Returns the game's word for an action, or its number."""
        return action_name(self.game, player, action)

    @functools.cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """Per player, a readable name of each infoset: what was seen and done, in order."""
        return tuple(
            tuple(self.label(i, k) for k in range(p.num_infosets))
            for i, p in enumerate(self.players)
        )

    def label(self, player: int, infoset: int) -> str:
        """Returns the readable name of one infoset."""
        p = self.players[player]
        at = int(p.infostate[infoset])
        if p.states is None or at < 0:
            return f"p{player}:{infoset}"
        return self.infostate_label(player, at)

    def infostate_label(self, player: int, infostate: int) -> str:
        """Returns the readable name of one infostate, whether or not the player acts there.

        Raises:
            ValueError: the tree has no table of infostates.
        """
        p, at = self.players[player], infostate
        if p.states is None:
            raise ValueError(f"{self.name} has no table of infostates")
        if p.states.name is not None:
            return p.states.name[at]
        split = self._public_entries() if isinstance(self.game, NamesObservations) else 0
        words: list[str] = []
        while at >= 0:
            seen, own = p.states.observation[at], int(p.states.action[at])
            word = transition_name(self.game, player, own, seen[:split], seen[split:])
            if word:
                words.append(word)
            at = int(p.states.parent[at])
        return "|".join(reversed(words)) or "start"

    def _public_entries(self) -> int:
        """Returns how many entries of an observation are public."""
        return _public_size(cast(Hashable, self.game))


@dataclasses.dataclass(frozen=True)
class CompiledInfo(TreeInfo):
    """Names and counts of a tree, and its sequence form on the host.

    Attributes:
        game: the rules.
        form: the sequence form; linear programs and gadgets work on it.
    """

    game: Game
    form: SequenceForm


@dataclasses.dataclass(frozen=True)
class ListedInfo(CompiledInfo):
    """Names and counts of a tree, its sequence form and the table of all its world states.

    Attributes:
        states: the table of world states; samplers, subgames and depth limits work on it.
    """

    states: StateTable

    @functools.cached_property
    def public_nodes(self) -> tuple[PublicNode, ...]:
        """Every public state by name, in the order of `StateTable.public`."""
        from jaxsolve.tree._public_nodes import public_nodes

        return public_nodes(self)

    def _public_entries(self) -> int:
        return self.states.public_states.observation.shape[1]


class Named(Protocol):
    """A tree or a policy: its names are None once it came out of jit or vmap."""

    @property
    def names(self) -> TreeInfo | None:
        """Names and counts, or None."""
        ...


def info_of(named: Named) -> TreeInfo:
    """Returns the names of a tree or a policy.

    Raises:
        ValueError: it has none.
    """
    if named.names is None:
        kind = type(named).__name__
        raise ValueError(
            f"this {kind} has no names: it came out of jit or vmap. Attach those of the tree it "
            "belongs to, dataclasses.replace(policy, names=tree.info)."
        )
    return named.names


def compiled(named: Named) -> CompiledInfo:
    """Returns the names and the sequence form of a compiled tree, or of a policy of one.

    Raises:
        ValueError: there is no sequence form.
    """
    info = info_of(named)
    if not isinstance(info, CompiledInfo):
        raise ValueError(
            f"{info.name} has no sequence form on the host; compile the game with "
            "jaxsolve.compile(game)"
        )
    return info


def listed(named: Named) -> ListedInfo:
    """Returns the names, the sequence form and the world states of a compiled tree or its policy.

    Raises:
        ValueError: there is no table of world states.
    """
    info = info_of(named)
    if not isinstance(info, ListedInfo):
        raise ValueError(
            f"{info.name} has no table of world states. Compile the game with "
            'jaxsolve.compile(game, layout="rows", keep_states=True), the defaults.'
        )
    return info


@functools.lru_cache(maxsize=64)
def _public_size(game: Hashable) -> int:
    rules = cast(Game, game)
    public, _ = rules.observe(rules.init())
    return int(np.size(public))
