"""`playthrough`: one random game as text, to be kept beside the rules and compared."""

from __future__ import annotations

import random

import numpy as np

from jaxsolve.game import Game, NamesObservations, action_name
from jaxsolve.testing._sample import Explorer, Sample, actor_name, show_state
from jaxsolve.types import CHANCE, TERMINAL


def playthrough(game: Game, seed: int = 0, *, max_steps: int = 1000) -> str:
    """Returns one random game as text: every state, who moves, what is legal, what is seen.

    The text depends on the rules and the seed only, not on the version of NumPy or JAX, so it can
    be stored and compared ("golden"). Actions are drawn uniformly, chance's by probability.

    Raises:
        ValueError: the game is not over after `max_steps` actions.
    """
    rng = random.Random(seed)
    explorer = Explorer(game)
    explorer.start()
    lines = [f"{game.name}: {game.num_players} players, {game.num_actions} actions"]
    for step in range(max_steps + 1):
        at = explorer.levels[-1]
        actor = int(at.actor[0])
        lines += ["", f"# {step}", *show_state(at, 0), *_observations(game, at)]
        lines += [f"actor: {actor_name(actor)}"]
        if actor == TERMINAL:
            payoffs = ", ".join(f"{u:.6g}" for u in at.utility[0])
            return "\n".join([*lines, f"returns: {payoffs}", ""])
        legal = np.flatnonzero(at.legal[0])
        weight = at.chance[0, legal] if actor == CHANCE else np.ones(len(legal))
        names = [f"{a}={action_name(game, actor, a)}" for a in legal]
        if actor == CHANCE:
            names = [f"{name} ({p:.4g})" for name, p in zip(names, weight, strict=True)]
        lines.append(f"legal: {', '.join(names)}")
        chosen = int(np.searchsorted(np.cumsum(weight), rng.random() * weight.sum(), "right"))
        action = legal[min(chosen, len(legal) - 1)]
        lines.append(f"plays: {action}={action_name(game, actor, action)}")
        explorer.expand(np.zeros(1, np.int64), np.array([action]))
    raise ValueError(f"{game.name}: not over after max_steps={max_steps} actions.")


def _observations(game: Game, at: Sample) -> list[str]:
    """One line for the public observation, and one for each player's with its name in words."""
    lines = [f"public: {at.public[0].tolist()}"]
    for i, private in enumerate(at.private[0]):
        words = ""
        if isinstance(game, NamesObservations):
            words = game.observation_name(at.public[0], private)
        lines.append(f"player {i} sees: {private.tolist()} {words}".rstrip())
    return lines
