"""What a policy does and is worth at one public state of a spot, hand by hand."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.evaluate import action_values
from jaxsolve.holdem._betting_tree import Kind
from jaxsolve.holdem._boards import compatible, live_hands
from jaxsolve.holdem._cards import NUM_HANDS, cards_name, hand_name, parse_cards
from jaxsolve.holdem._range_figure import range_strategy
from jaxsolve.holdem._sizes import PLAYERS
from jaxsolve.holdem._spot_tree import SpotTree
from jaxsolve.tree import Policy, join_blocks, reach_of


@dataclasses.dataclass(frozen=True)
class NodeReport:
    """One decision, for the H hands of the player who acts (A actions).

    Attributes:
        spot: the tree it is in.
        line: what led here, see `BettingTree.line`.
        board: cards on the table.
        player: 0 out of position, 1 in position.
        actions: names: f, x, c, b50 (a bet to 50 on this street), r150, a (all-in).
        hands: int32 [H], rows of `HANDS`; those that meet the board are left out.
        reach: float [H], the player's own range here.
        strategy: float [H, A], probabilities.
        value: float [H, A], expected chips from here on after each action, the pot included, if
            both go on with the policy; NaN where the opponent cannot have come here.
        best: float [H, A], the same if the player's own later play is a best response.
        weight: float [H], probability that the opponent and chance let the hand come here.
    """

    spot: SpotTree
    line: str
    board: tuple[int, ...]
    player: int
    actions: tuple[str, ...]
    hands: np.ndarray
    reach: np.ndarray
    strategy: np.ndarray
    value: np.ndarray
    best: np.ndarray
    weight: np.ndarray

    @property
    def frequency(self) -> np.ndarray:
        """float [A], how often each action is taken over the whole range."""
        weight = self.reach * self.weight
        return weight @ self.strategy / max(weight.sum(), 1e-30)

    def table(self) -> Any:
        """Returns a `pandas.DataFrame`, a row per hand in the range."""
        import pandas as pd

        used = np.flatnonzero(self.reach > 0)
        columns: dict[str, Any] = {
            "hand": [hand_name(int(h)) for h in self.hands[used]],
            "reach": self.reach[used],
        }
        for k, action in enumerate(self.actions):
            columns[action] = self.strategy[used, k]
        for k, action in enumerate(self.actions):
            columns[f"EV {action}"] = self.value[used, k]
            columns[f"best EV {action}"] = self.best[used, k]
        return pd.DataFrame(columns)

    def summary(self) -> Any:
        """Returns a `pandas.DataFrame`, a row per action.

        Frequency, expected chips of the hands that take it, and what the player could gain at
        most by best responses there.
        """
        import pandas as pd

        rows = []
        for k, action in enumerate(self.actions):
            weight = self.reach * self.weight * self.strategy[:, k]
            total = max(weight.sum(), 1e-30)
            some = weight > 0
            rows.append(
                {
                    "action": action,
                    "frequency": self.frequency[k],
                    "EV": float((weight * self.value[:, k])[some].sum() / total),
                    "best-response EV": float((weight * self.best[:, k])[some].sum() / total),
                }
            )
        return pd.DataFrame(rows)

    def probabilities(self) -> dict[str, np.ndarray]:
        """Returns {action: float [1326]}, 0 for hands that are not here."""
        return {a: self._spread(self.strategy[:, k]) for k, a in enumerate(self.actions)}

    def weights(self) -> np.ndarray:
        """Returns float [1326], the player's range here, at most 1."""
        return self._spread(self.reach)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        out = np.zeros(NUM_HANDS)
        out[self.hands] = values
        return out

    @property
    def title(self) -> str:
        """Board, line and who acts."""
        line = self.line or "start"
        return f"{cards_name(self.board)}, {line}: {PLAYERS[self.player]} acts"

    def plot(self) -> Any:
        """Returns a matplotlib figure of the strategy over the 13 x 13 classes of hands."""
        return range_strategy(self.probabilities(), self.weights(), title=self.title)

    def _repr_html_(self) -> str:
        from jaxsolve.holdem._display import strategy_html

        grid = strategy_html(self.probabilities(), self.weights())
        table = self.summary().to_html(index=False, float_format=lambda x: f"{x:.4g}")
        return f"<div><b>{self.title}</b>{grid}{table}</div>"


def node_report(
    spot: SpotTree, policy: Policy, line: str = "", board: str | None = None
) -> NodeReport:
    """Returns the report of the decision that a line of play leads to.

    Args:
        spot: the tree.
        policy: of both players.
        line: actions from the root, as in "x b50" or "x b50 c / x"; "" is the root.
        board: cards on the table there, as "Td9d6hQc2s"; needed after new cards.

    Raises:
        ValueError: there is no such line or board, or nobody acts there.
    """
    node, at = find(spot, line, board)
    player = int(spot.betting.actor[node])
    row = int(np.flatnonzero((spot.rows[player].node == node) & (spot.rows[player].board == at))[0])
    street = spot.streets[spot.betting.street[node]]
    cards = street.boards[at]
    picked = [sequences(spot, player, row), own_sequence(spot, player, node, at)]
    other = own_sequence(spot, 1 - player, node, at)
    policies, now, best, reaches = jax.tree.map(
        np.asarray,
        _values(
            spot.tree.replace(names=None),
            policy.players,
            player,
            jnp.asarray(picked[0]),
            jnp.asarray(picked[1]),
            jnp.asarray(other),
        ),
    )
    live = live_hands(spot.hands, [cards])[0]
    pairs = compatible(spot.hands)
    weight = (pairs[:, live] @ reaches[1][live]) * float(street.weight[at])
    total = spot.spot.ranges
    scale = float(total[0][spot.hands] @ pairs @ total[1][spot.hands])
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(weight > 0, scale / weight, np.nan)
    before = float(spot.betting.spent[node, player])
    children = spot.betting.children[node]
    keep = np.flatnonzero(live)
    return NodeReport(
        spot=spot,
        line=spot.betting.line(node),
        board=cards,
        player=player,
        actions=tuple(spot.betting.label[c] for c in children),
        hands=spot.hands[keep],
        reach=reaches[0][keep],
        strategy=policies[:, keep].T,
        value=(now * share + before)[:, keep].T,
        best=(best * share + before)[:, keep].T,
        weight=weight[keep] / scale,
    )


def find(spot: SpotTree, line: str, board: str | None) -> tuple[int, int]:
    """Returns (betting node, number of the board on its street) of a decision.

    Raises:
        ValueError: see `node_report`.
    """
    node = spot.betting.find(line)
    if spot.betting.kind[node] != Kind.DECISION:
        raise ValueError(f"{line!r}: the betting is over there, nobody acts")
    boards = spot.streets[spot.betting.street[node]].boards
    if board is None:
        if len(boards) > 1:
            raise ValueError(
                f"{line!r} is after new cards: name the board, such as "
                f"{cards_name(boards[0])!r} ({len(boards)} boards)"
            )
        return node, 0
    cards = parse_cards(board)
    if cards not in boards:
        raise ValueError(
            f"{board!r} is not a board of that street; such as {cards_name(boards[0])!r}. Cards "
            "that are equal by symmetry of suits are told apart with symmetric=False."
        )
    return node, boards.index(cards)


def sequences(spot: SpotTree, player: int, row: int) -> np.ndarray:
    """Returns int [A], the places of a public row's actions in the sequence vector."""
    rows = spot.rows[player]
    return rows.place.sequence[rows.rows.offset[row] : rows.rows.offset[row + 1]]


def own_sequence(spot: SpotTree, player: int, node: int, board: int) -> int:
    """Returns the place of the player's last sequence before a node."""
    rows = spot.rows[player]
    return int(rows.place.sequence[rows.last[node][board]])


@functools.partial(jax.jit, static_argnames="player")
def _values(tree: Any, policy: Any, player: int, at: Any, own: Any, other: Any) -> Any:
    me = tree.players[player]
    now, best = action_values(tree, policy, player)
    reach = [reach_of(p, b) for p, b in zip(tree.players, policy, strict=True)]
    blocks = [join_blocks(me, b)[at] for b in (policy[player], now, best)]
    return (*blocks, (reach[player][own], reach[1 - player][other]))
