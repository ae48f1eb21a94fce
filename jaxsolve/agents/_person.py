"""A person as an agent: told what their player knows, asked for an action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxsolve.game import (
    Agent,
    Decision,
    DescribesSituations,
    Game,
    Observation,
    Seen,
    action_name,
    transition_name,
)
from jaxsolve.types import Array, PRNGKey


class Known(NamedTuple):
    """What a person has been told in a match.

    Attributes:
        seen: the transitions that told them something.
        shown: the text that was shown last.
    """

    seen: tuple[Seen, ...] = ()
    shown: str = ""


def person(
    game: Game,
    ask: Callable[[str], str],
    show: Callable[[str], None],
    *,
    label: Callable[[int, int], str] | None = None,
    rules: str = "",
    name: str = "person",
) -> Agent:
    """Returns an agent on the host that asks somebody for every action.

    Before each question it shows where the player stands (`DescribesSituations`), or else all that
    they have done and seen. `?` is answered with the rules, the history and how to answer.

    Args:
        game: the rules, whose words are shown (`action_name`, `observation_name`, `situation`).
        ask: gets a line of text after a prompt, such as `input`.
        show: shows a line, such as `print`.
        label: (player, infoset) -> words, such as `TreeInfo.label`, for games whose words come
            with their list of infosets; otherwise they are put together from observations.
        rules: what the game is, for whoever asks for help.
        name: for tables of results.
    """

    def init(seat: Array, key: PRNGKey) -> Known:
        if label is not None:
            return Known()
        public, private = jax.device_get(game.observe(game.init()))
        private = np.reshape(private, (game.num_players, -1))[int(seat)]
        return Known((Seen(-1, np.ravel(public), private),))

    def act(known: Known, observed: Observation, key: PRNGKey) -> tuple[Decision, Known]:
        player, seen = int(observed.player), known.seen
        for k in range(int(observed.length)):
            own = int(observed.action) if k == 0 else -1
            public, private = np.asarray(observed.public[k]), np.asarray(observed.private[k])
            seen = (*seen, Seen(own, public, private))
        words = (transition_name(game, player, *each) for each in seen)
        history = "|".join(word for word in words if word) or "start"
        if label is not None and observed.infoset is not None:
            history = label(player, int(observed.infoset))
        text = f"you know: {history}"
        if isinstance(game, DescribesSituations) and label is None:
            text = game.situation(player, seen)
        if text != known.shown:
            show(text)
        legal = np.flatnonzero(observed.legal)
        names = [action_name(game, player, a) for a in legal]
        more = "\n".join(filter(None, (rules, f"you are player {player}; so far: {history}")))
        chosen = legal[_choice(names, more, ask, show)]
        policy = np.eye(len(observed.legal))[chosen]
        return Decision(chosen, policy), Known(seen, text)

    return Agent(init, act, name, game.name, host=True)


def _choice(
    names: Sequence[str], more: str, ask: Callable[[str], str], show: Callable[[str], None]
) -> int:
    """Returns the place of the name that was typed: in full, by its beginning or by its number.

    Actions have numbers, from 1, unless a name begins with a digit: what is typed cannot mean two
    things.

    Args:
        names: of the legal actions.
        more: what help tells of the game.
        ask: gets a line of text after a prompt.
        show: shows a line.
    """
    numbered = not any(name[:1].isdigit() for name in names)
    words = ", ".join(f"{k} {name}" if numbered else name for k, name in enumerate(names, 1))
    how = "its name or how that begins" + (", or its number" if numbered else "")
    while True:
        text = ask(f"[{words}; ?] ").strip()
        if text == "?":
            show(f"{more}\nplay one of: {words}\ntype {how}; Ctrl-D ends")
            continue
        if text in names:
            return names.index(text)
        if numbered and text.isdecimal() and 1 <= int(text) <= len(names):
            return int(text) - 1
        starts = [k for k, name in enumerate(names) if text and name.startswith(text)]
        if len(starts) == 1 and not text.isdecimal():
            return starts[0]
        if len(starts) > 1:
            show(f"{text!r} may be any of: {', '.join(names[k] for k in starts)}")
        else:
            show(f"{text!r} is none of: {words}; ? for help")
