"""Games that end badly, refused before anything else starts.

Some parameters make OpenSpiel end the whole process, or fill the memory, inside its C++: its games
are loaded and played once in a child process first.
"""

from __future__ import annotations

import subprocess
import sys

from jaxsolve.waiting import waiting

SECONDS = 60
"""Longest time that loading and one play may take."""

_TRY = """
import random, resource, sys
import pyspiel
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
text = sys.argv[1]
if text.startswith("python_"):
    import open_spiel.python.games
try:
    state = pyspiel.load_game(text).new_initial_state()
    for _ in range(1_000):
        if state.is_terminal() or state.current_player() < -1:
            break
        outcomes = [a for a, _ in state.chance_outcomes()] if state.is_chance_node() else []
        state.apply_action(random.choice(outcomes or state.legal_actions()))
except MemoryError:
    sys.exit("out of memory: 4 GiB")
except Exception:
    pass  # an ordinary error, which is said better where it comes up again
"""


def check_game(text: str, *, listed: bool = True) -> None:
    """Refuses a game string that names too large a game, or one that OpenSpiel cannot survive.

    Args:
        text: the game string.
        listed: the game's states are going to be listed.

    Raises:
        ValueError: says which, and what to use instead.
    """
    from jaxsolve.game import OPENSPIEL_PREFIX, PGX_LISTED, PGX_PREFIX, load, registered

    text = text.strip()
    entry = registered().get(text.removesuffix("()"))
    if listed and entry is not None and entry.instead:
        small = f"{text.removesuffix('()')}({entry.references[0].params})"
        raise ValueError(
            f"{text} has too many states to be listed. Use {entry.instead}, or smaller parameters, "
            f"such as {small!r}; jaxsolve play {text} plays it from its rules."
        )
    board = text.removeprefix(PGX_PREFIX)
    if listed and board != text and "(" not in board and board not in PGX_LISTED:
        load(text)  # says what there is, if this is not
        raise ValueError(
            f"{text} has too many states to be listed. Use {PGX_PREFIX}{PGX_LISTED[0]} or a "
            f'smaller board, such as "{PGX_PREFIX}go(size=2)"; jaxsolve train and jaxsolve play '
            f"{text} go by its rules."
        )
    if text.startswith(OPENSPIEL_PREFIX):
        _try(text.removeprefix(OPENSPIEL_PREFIX).strip())


def _try(text: str) -> None:
    """Loads a game of OpenSpiel and plays it once, in a process of its own."""
    words = [sys.executable, "-c", _TRY, text]
    try:
        with waiting(f"trying {text} of OpenSpiel in a process of its own"):
            child = subprocess.run(
                words, capture_output=True, text=True, timeout=SECONDS, check=False
            )
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"OpenSpiel needs more than {SECONDS} seconds to load {text} and play it once; choose "
            "other parameters"
        ) from None
    said = (child.stderr or child.stdout).strip().splitlines()[-1:]
    if child.returncode and "ModuleNotFoundError" not in "".join(said):
        raise ValueError(
            f"OpenSpiel ends the process over {text} ({', '.join(said) or child.returncode}); "
            "choose other parameters"
        )
