"""Alternative values of hands for a safe root, from the solution of a spot that came before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS, parse_cards
from jaxsolve.holdem._report import Reports, find, find_decision
from jaxsolve.holdem._runouts import permuted_hands
from jaxsolve.holdem._spot_tree import SpotTree


def alternative_values(
    reports: Reports, player: int, line: str = "", board: str = ""
) -> np.ndarray:
    """Returns float64 [1326], what hands win from a decision on if they play their best there.

    Chips against the hands that they can meet, the pot included; NaN where a hand cannot be there,
    or meets nothing.

    Args:
        reports: of a solution.
        player: whose hands, 0 (oop) or 1 (ip). If the other one acts there, it plays the solution.
        line: actions that lead to the decision.
        board: cards on the table there; needed after new cards.

    Raises:
        ValueError: there is no such line or board, or nobody acts there.
    """
    spot = reports.spot
    node, at, image = _place(spot, line, board)
    actor = int(spot.betting.actor[node])
    below = [node] if actor == player else spot.betting.children(node)
    # After the first action of a street the other player always has a decision.
    chips = sum(reports.decision(child, at)[2].max(0) for child in below)
    weight = reports.weight(player, node, at)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(weight > 0, chips * reports.scale / weight, np.nan)
    out = np.full(NUM_HANDS, np.nan)
    out[spot.hands] = value + float(spot.betting.spent[node, player])
    return np.asarray(out[image])


def gifts(reports: Reports, player: int, path: Sequence[tuple[str, str]]) -> np.ndarray:
    """Returns float64 [1326], chips that each hand gave up by a player's actions on the way.

    Args:
        reports: of a solution.
        player: whose actions.
        path: (line of a decision of the player, the action that it took there).

    Raises:
        ValueError: there is no such line or action.
    """
    lost = np.zeros(NUM_HANDS)
    for line, action in path:
        report = reports.node(line)
        best = report.best.max(1) - report.best[:, report.actions.index(action)]
        lost[report.hands] += np.nan_to_num(best)
    return lost


def _place(spot: SpotTree, line: str, board: str) -> tuple[int, int, np.ndarray]:
    """Returns (node, number of the board, int [1326] hands there that stand for those here).

    A board that is equal to another by symmetry of suits is found there.
    """
    if not board:
        return *find(spot, line, None), np.arange(NUM_HANDS)
    node, cards = find_decision(spot, line), parse_cards(board)
    street = int(spot.betting.street[node])
    root = spot.streets[0]
    for suits in root.group[0]:
        moved = [4 * (card // 4) + suits[card % 4] for card in cards[len(root.boards[0]) :]]
        image = (*root.boards[0], *moved)
        if image in spot.streets[street].boards:
            return node, spot.streets[street].boards.index(image), permuted_hands(suits)
    return *find(spot, line, board), np.arange(NUM_HANDS)
