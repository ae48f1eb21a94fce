"""The report of one decision of a spot: strategy, values, equity and reach of each hand."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from jaxsolve.holdem._cards import NUM_HANDS, cards_name, hand_name
from jaxsolve.holdem._display import strategy_html
from jaxsolve.holdem._equity import equity
from jaxsolve.holdem._range import parse_range
from jaxsolve.holdem._range_figure import range_strategy
from jaxsolve.holdem._sizes import PLAYERS
from jaxsolve.holdem._spot_tree import SpotTree


@dataclasses.dataclass(frozen=True, repr=False)
class NodeReport:
    """One decision, for the H hands that the player who acts began with (A actions).

    Attributes:
        spot: the tree it is in.
        line: what led here, see `BettingTree.line`.
        board: cards on the table.
        player: 0 out of position, 1 in position.
        actions: names: f, x, c, b50 (a bet to 50 on this street), r150, a (all-in).
        hands: int32 [H], rows of `HANDS`; those that meet the board are left out.
        reach: float [H], the player's own range here.
        opponent_reach: float [1326], the opponent's range here.
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
    opponent_reach: np.ndarray
    strategy: np.ndarray
    value: np.ndarray
    best: np.ndarray
    weight: np.ndarray

    @property
    def frequency_by_range(self) -> np.ndarray:
        """float [A], share of the player's range that takes each action; hands count by `reach`."""
        return self.reach @ self.strategy / max(self.reach.sum(), 1e-30)

    @property
    def frequency_by_matchup(self) -> np.ndarray:
        """float [A], how often each action is seen at the table.

        Hands count by `reach` times `weight`: a hand that shares cards with many hands of the
        opponent is dealt less often together with one of them.
        """
        weight = self.reach * self.weight
        return weight @ self.strategy / max(weight.sum(), 1e-30)

    @property
    def ev(self) -> np.ndarray:
        """float [H], expected chips of each hand under the policy, the pot included."""
        return np.asarray((self.strategy * self.value).sum(1))

    @functools.cached_property
    def equity(self) -> np.ndarray:
        """float [H], share of the pot that the hand wins if nobody bets any more; in [0, 1].

        NaN where the opponent cannot have come here, and before the flop, where it is not counted.
        """
        if len(self.board) < 3:
            return np.full(len(self.hands), np.nan)
        return equity(self.ranges[1 - self.player], self.board)[self.hands]

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """float [1326] each, the ranges of (oop, ip) here."""
        both = self._spread(self.reach), self.opponent_reach
        return both if self.player == 0 else both[::-1]

    def rows(self, hands: str | None = None) -> list[dict[str, Any]]:
        """Returns a dict for each hand of the player's range.

        Keys: hand, reach, equity, EV, one of each action (its probability), and "EV" and "best EV"
        of each action.

        Args:
            hands: only these, a range such as "AhKd" or "KK+,AKs".

        Raises:
            ValueError: `hands` is no range, or none of them is here.
        """
        used = self.reach > 0
        if hands is not None:
            used &= parse_range(hands)[self.hands] > 0
            if not used.any():
                raise ValueError(
                    f"{hands!r}: {PLAYERS[self.player]} has none of these hands at {self.title}"
                )
        ev, share = self.ev, self.equity
        out = []
        for h in np.flatnonzero(used):
            row: dict[str, Any] = {
                "hand": hand_name(int(self.hands[h])),
                "reach": float(self.reach[h]),
                "equity": float(share[h]),
                "EV": float(ev[h]),
            }
            for k, action in enumerate(self.actions):
                row[action] = float(self.strategy[h, k])
            for k, action in enumerate(self.actions):
                row[f"EV {action}"] = float(self.value[h, k])
                row[f"best EV {action}"] = float(self.best[h, k])
            out.append(row)
        return out

    def summary_rows(self) -> list[dict[str, Any]]:
        """Returns a dict for each action.

        Keys: action; frequency by range and by matchup; EV and equity of the hands that take it,
        and what the player could gain at most by best responses there ("best-response EV").
        """
        rows = []
        by_range, by_matchup = self.frequency_by_range, self.frequency_by_matchup
        for k, action in enumerate(self.actions):
            weight = self.reach * self.weight * self.strategy[:, k]
            some = weight > 0

            def mean(values: np.ndarray, some: Any = some, weight: Any = weight) -> float:
                total = weight[some].sum()
                return float((weight * values)[some].sum() / total) if total > 0 else float("nan")

            rows.append(
                {
                    "action": action,
                    "frequency by range": float(by_range[k]),
                    "frequency by matchup": float(by_matchup[k]),
                    "equity": mean(self.equity),
                    "EV": mean(self.value[:, k]),
                    "best-response EV": mean(self.best[:, k]),
                }
            )
        return rows

    def table(self, hands: str | None = None) -> Any:
        """Returns `rows` as a `pandas.DataFrame`."""
        import pandas as pd

        return pd.DataFrame(self.rows(hands))

    def summary(self) -> Any:
        """Returns `summary_rows` as a `pandas.DataFrame`."""
        import pandas as pd

        return pd.DataFrame(self.summary_rows())

    def probabilities(self) -> dict[str, np.ndarray]:
        """Returns {action: float [1326]}, 0 for hands that are not here."""
        return {a: self._spread(self.strategy[:, k]) for k, a in enumerate(self.actions)}

    def weights(self) -> np.ndarray:
        """Returns float [1326], the player's range here, at most 1."""
        return self._spread(self.reach)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        out = np.zeros(NUM_HANDS)
        out[self.hands] = np.clip(values, 0, 1)  # float32 can round a product of shares above 1
        return out

    @property
    def title(self) -> str:
        """Board, line and who acts."""
        line = self.line or "start"
        return f"{cards_name(self.board)}, {line}: {PLAYERS[self.player]} acts"

    def plot(self) -> Any:
        """Returns a matplotlib figure of the strategy over the 13 x 13 classes of hands."""
        return range_strategy(self.probabilities(), self.weights(), title=self.title)

    def __repr__(self) -> str:
        shares = zip(self.actions, self.frequency_by_matchup, strict=True)
        words = ", ".join(f"{action} {100 * share:.1f}%" for action, share in shares)
        return f"NodeReport({self.title}; {words}; {int((self.reach > 0).sum())} hands)"

    def _repr_html_(self) -> str:
        grid = strategy_html(self.probabilities(), self.weights())
        rows = self.summary_rows()
        head = "".join(f"<th>{key}</th>" for key in rows[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
            for row in rows
        )
        return f"<div><b>{self.title}</b>{grid}<table><tr>{head}</tr>{body}</table></div>"


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
