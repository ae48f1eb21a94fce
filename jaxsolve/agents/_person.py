"""A person as an agent: shown what their player knows, asked for an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from jaxsolve.game import Agent, Decision, Game, Observation, action_name, transition_name
from jaxsolve.types import Array, PRNGKey


class Known(NamedTuple):
    """What a person has been told in a match.

    Attributes:
        words: for each transition that told them something.
        shown: the text that was shown last.
    """

    words: tuple[str, ...] = ()
    shown: str = ""


def person(
    game: Game,
    ask: Callable[[str], str],
    show: Callable[[str], None],
    *,
    label: Callable[[int, int], str] | None = None,
    name: str = "person",
) -> Agent:
    """Returns an agent on the host that asks somebody for every action.

    Args:
        game: the rules, whose words are shown (`action_name`, `observation_name`).
        ask: gets a line of text after a prompt, such as `input`.
        show: shows a line, such as `print`.
        label: (player, infoset) -> words, such as `TreeInfo.label`, for games whose words come
            with their list of infosets; otherwise they are put together from observations.
        name: for tables of results.
    """

    def init(seat: Array, key: PRNGKey) -> Known:
        if label is not None:
            return Known()
        public, private = jax.device_get(game.observe(game.init()))
        private = np.reshape(private, (game.num_players, -1))[int(seat)]
        word = transition_name(game, int(seat), -1, np.ravel(public), private)
        return Known((word,) if word else ())

    def act(known: Known, seen: Observation, key: PRNGKey) -> tuple[Decision, Known]:
        player, words = int(seen.player), known.words
        for k in range(int(seen.length)):
            own = int(seen.action) if k == 0 else -1
            told = np.asarray(seen.public[k]), np.asarray(seen.private[k])
            word = transition_name(game, player, own, *told)
            words = (*words, word) if word else words
        text = "|".join(words) or "start"
        if label is not None and seen.infoset is not None:
            text = label(player, int(seen.infoset))
        if text != known.shown:
            show(f"you know: {text}")
        legal = np.flatnonzero(seen.legal)
        chosen = legal[_choice([action_name(game, player, a) for a in legal], ask, show)]
        policy = np.eye(len(seen.legal))[chosen]
        return Decision(chosen, policy), Known(words, text)

    return Agent(init, act, name, game.name, host=True)


def _choice(names: list[str], ask: Callable[[str], str], show: Callable[[str], None]) -> int:
    """Returns the place of the name that was typed: in full, by its number or its beginning."""
    words = ", ".join(f"{k} {name}" for k, name in enumerate(names))
    while True:
        text = ask(f"[{words}] ").strip()
        if text in names:
            return names.index(text)
        if text.isdigit() and int(text) < len(names):
            return int(text)
        starts = [k for k, name in enumerate(names) if text and name.startswith(text)]
        if len(starts) == 1:
            return starts[0]
        show(f"{text!r} is none of: {words}")
