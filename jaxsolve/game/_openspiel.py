"""Games of OpenSpiel, by their string: "openspiel:leduc_poker".

They come as trees, not as rules: `jaxsolve.tree` walks OpenSpiel's own states once. Simultaneous
games are played one player after the other (OpenSpiel's turn-based form, in which the second
player's information state does not hold the first one's choice).
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from jaxsolve.types import Array

OPENSPIEL_PREFIX = "openspiel:"
"""What the string of an OpenSpiel game starts with."""


@dataclasses.dataclass(frozen=True)
class OpenSpielGame:
    """A game of OpenSpiel. It has a tree, but no JAX rules: the methods of `Game` raise.

    Attributes:
        name: the string that loads it again, e.g. "openspiel:leduc_poker".
        num_players: number of players.
        num_actions: one more than the largest action id, of players and of chance.
        spiel: the `pyspiel.Game`, in turn-based form.
        by_history: whether infostates are histories: a game of perfect information for which
            OpenSpiel has no information states.
        action_names: (actor, action) -> OpenSpiel's words, filled in by the compiler.
    """

    name: str
    num_players: int
    num_actions: int
    spiel: Any = dataclasses.field(repr=False, compare=False)
    by_history: bool = False
    action_names: Mapping[tuple[int, int], str] = dataclasses.field(
        default_factory=dict, repr=False, compare=False
    )

    def action_name(self, actor: int, action: int) -> str:
        """Returns OpenSpiel's words for an action; its number where they vary with the state."""
        return self.action_names.get((int(actor), int(action)), str(int(action)))

    def init(self) -> Any:
        """Raises ValueError, like all methods of the rules."""
        self._no_rules()

    def actor(self, state: Any) -> Array:
        """Raises ValueError."""
        self._no_rules()

    def legal(self, state: Any) -> Array:
        """Raises ValueError."""
        self._no_rules()

    def chance(self, state: Any) -> Array:
        """Raises ValueError."""
        self._no_rules()

    def step(self, state: Any, action: Array) -> Any:
        """Raises ValueError."""
        self._no_rules()

    def observe(self, state: Any) -> tuple[Array, Array]:
        """Raises ValueError."""
        self._no_rules()

    def utility(self, state: Any) -> Array:
        """Raises ValueError."""
        self._no_rules()

    def _no_rules(self) -> NoReturn:
        raise ValueError(
            f"{self.name} comes from OpenSpiel as a tree, not as JAX rules. js.compile gives the "
            "tree; what plays or grows a game from its rules (self-play, sampled evaluation, tree "
            'growth, layout="hands") needs a game written for jaxsolve: `jaxsolve games` lists '
            "them."
        )


def import_pyspiel() -> ModuleType:
    """Returns the module `pyspiel`.

    Raises:
        ImportError: OpenSpiel is not installed; says how to install it.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise ImportError(
            f'this needs OpenSpiel ({error}): pip install "jaxsolve[openspiel]"'
        ) from None
    return pyspiel


def load_openspiel(text: str) -> OpenSpielGame:
    """Returns the OpenSpiel game of a string, "openspiel:" in front or not.

    Raises:
        ImportError: OpenSpiel is not installed.
        ValueError: OpenSpiel does not know the string (its own error is passed on), or the game
            is of a kind that has no tree of infostates.
    """
    pyspiel = import_pyspiel()
    text = text.strip().removeprefix(OPENSPIEL_PREFIX).strip()
    if text.startswith("python_"):
        import open_spiel.python.games  # noqa: F401 (importing it registers them)
    try:
        game = pyspiel.load_game(text)
    except Exception as error:  # pybind turns C++ errors into several types
        raise ValueError(_not_loaded(pyspiel, text, error)) from error
    return wrap_openspiel(game)


def wrap_openspiel(game: Any) -> OpenSpielGame:
    """Returns a `pyspiel.Game` as a game that `js.compile` accepts.

    Raises:
        ValueError: the game is of a kind that has no tree of infostates; says why.
    """
    pyspiel = import_pyspiel()
    kind = game.get_type()
    kinds, chances = pyspiel.GameType.Dynamics, pyspiel.GameType.ChanceMode
    name = OPENSPIEL_PREFIX + str(game).removesuffix("()")
    if kind.dynamics == kinds.MEAN_FIELD:
        raise ValueError(f"{name} is a mean-field game; jaxsolve solves games of a few players.")
    if game.num_players() < 2:
        raise ValueError(f"{name} has one player; jaxsolve needs at least two.")
    if kind.chance_mode == chances.SAMPLED_STOCHASTIC:
        raise ValueError(
            f"{name} samples its chance moves inside the game, so OpenSpiel cannot list their "
            "outcomes and there is no tree. Games of explicit chance can be imported."
        )
    turns, spiel = "", game
    if kind.dynamics == kinds.SIMULTANEOUS:
        turns = ", played one player after the other,"
        try:
            spiel = pyspiel.convert_to_turn_based(game)
        except Exception as error:
            raise ValueError(
                f"{name} is simultaneous, and OpenSpiel cannot play it one player after the "
                f"other. OpenSpiel says: {error}"
            ) from error
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    by_history = not spiel.get_type().provides_information_state_string
    if by_history and (not perfect or turns):
        raise ValueError(
            f"{name}{turns} has no information states in OpenSpiel, so it cannot be told which "
            "states a player confuses. Only games that provide information_state_string can be "
            "imported, and sequential games of perfect information."
        )
    actions = max(spiel.num_distinct_actions(), spiel.max_chance_outcomes())
    return OpenSpielGame(name, spiel.num_players(), actions, spiel, by_history)


def is_pyspiel_game(game: Any) -> bool:
    """Returns whether an object is a `pyspiel.Game`, without importing OpenSpiel."""
    return any(c.__module__ == "pyspiel" and c.__name__ == "Game" for c in type(game).__mro__)


def _not_loaded(pyspiel: ModuleType, text: str, error: Exception) -> str:
    """The message for a string that OpenSpiel refuses."""
    says, _, more = str(error).strip().partition("\n")
    message = f"OpenSpiel cannot load {text!r}. OpenSpiel says: {says or type(error).__name__}"
    name = text.partition("(")[0]
    if name in pyspiel.registered_names():
        return f"{message} {' '.join(more.split())}".rstrip()
    near = difflib.get_close_matches(name, pyspiel.registered_names(), 3)
    if near:
        return f"{message} {', '.join(near)}, and others. Did you mean {near[0]!r}?"
    return f"{message} {', '.join(more.split())}."
