"""Local best response: a quick lower bound on how exploitable a policy is, for card games.

Lisy & Bowling 2017, "Equilibrium approximation quality of current no-limit poker bots". The
responder knows the policy and keeps the other player's range by Bayes' rule. At each decision it
estimates each action's value as if the other player then folded as the policy says, and otherwise
both checked or called to the end; it takes the best. What it really wins against the policy is
computed exactly here, by a walk over the public nodes, and is at most what a best response wins.
"""

from __future__ import annotations

import numpy as np

from jaxsolve.public import PublicGame
from jaxsolve.types import CHANCE, TERMINAL


def local_best_response(
    game: PublicGame, table: np.ndarray, player: int, *, call: int = 1, fold: int = 0
) -> float:
    """Returns what the local best response of a player wins against a policy, in the game's units.

    Args:
        game: the public nodes of a poker-like game.
        table: float [P, A, H], the policy (`PublicGame.table_of`); the own part is not read.
        player: the responder.
        call: the game's action that checks or calls.
        fold: the game's action that folds.

    Raises:
        ValueError: the table is of another game, or a player cannot check or call.
    """
    if table.shape[0] != len(game.parent) or table.shape[2] != game.num_hands:
        raise ValueError(
            f"a policy of shape {table.shape} is not one of {game.game.name}, which has "
            f"{len(game.parent)} public nodes and {game.num_hands} hands"
        )
    acts = [k for k in range(len(game.parent)) if game.actor[k] >= 0]
    if any(call not in game.action[game.children[k]] for k in acts):
        raise ValueError(f"{game.game.name}: action {call} is not always legal, so it is no call")
    their_range = game.possible[game.root, 1 - player].astype(float)
    return float(_responder_values(game, table, player, call, fold, 0, their_range).sum())


def _responder_values(
    game: PublicGame,
    table: np.ndarray,
    player: int,
    call: int,
    fold: int,
    node: int,
    theirs: np.ndarray,
) -> np.ndarray:
    """Returns float64 [H], what the responder's hands really win below a node (counterfactual)."""
    actor, below = game.actor[node], game.children[node]
    if actor == TERMINAL:
        return _paid(game, player, node, theirs)
    reach = [theirs * (table[node, a] if actor == 1 - player else 1) for a in range(len(below))]
    parts = np.array(
        [
            _responder_values(game, table, player, call, fold, int(c), r)
            for c, r in zip(below, reach, strict=True)
        ]
    )
    if actor != player:
        return parts.sum(0)
    local = [_estimated_values(game, table, player, call, fold, int(c), theirs) for c in below]
    best = np.argmax(local, 0)
    return parts[best, np.arange(len(best))]


def _estimated_values(
    game: PublicGame,
    table: np.ndarray,
    player: int,
    call: int,
    fold: int,
    node: int,
    theirs: np.ndarray,
) -> np.ndarray:
    """Returns float64 [H], estimates: the other folds by the policy, else both call to the end."""
    if game.actor[node] != 1 - player:
        return _called_down(game, player, call, node, theirs)
    below = game.children[node]
    total = np.zeros(game.num_hands)
    stays = theirs
    for a, c in enumerate(below):
        if game.action[c] == fold:
            total += _paid(game, player, int(c), theirs * table[node, a])
            stays = theirs * (1 - table[node, a])
    return total + _called_down(game, player, call, node, stays)


def _called_down(
    game: PublicGame, player: int, call: int, node: int, theirs: np.ndarray
) -> np.ndarray:
    """Returns float64 [H], values if both check or call to the end."""
    actor, below = game.actor[node], game.children[node]
    if actor == TERMINAL:
        return _paid(game, player, node, theirs)
    if actor != CHANCE:
        below = below[game.action[below] == call]
    return np.sum([_called_down(game, player, call, int(c), theirs) for c in below], 0)


def _paid(game: PublicGame, player: int, node: int, theirs: np.ndarray) -> np.ndarray:
    paid = game.payoff[node, player] * game.weight[node]
    return paid @ theirs if player == 0 else theirs @ paid
