"""Local best response to a known strategy of hold'em: a lower bound of its exploitability.

Lisy & Bowling 2017, "Equilibrium approximation quality of current no-limit poker bots". The
responder knows the strategy, so it knows the range of hands that the opponent holds at every public
state. At each decision it compares folding, calling and raising by what they would win if both then
checked and called to the showdown, where a raise also wins the pot as often as the opponent folds.
That is a strategy like any other, and what it wins bounds exploitability from below.

Differs from the paper: only boards are sampled. On each of them the responder plays all its hands
at once against all actions and hands of the opponent, so that twenty boards say what took many
thousands of hands. It decides by the cards that are out: strength at the showdown is a mean over
runouts that are drawn apart from the board.

The luck of the board is taken out as in AIVAT (Burch et al. 2018): what each street that is dealt
adds to the value of checking to the showdown is 0 on average, and is subtracted; a hand that is
all-in gets the mean over runouts. These means are of other runouts than those that the responder
decides by, so that its choices do not favour their errors.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from tqdm import tqdm

from jaxsolve.holdem._bet_menu import BOARD_CARDS
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._boards import compatible_reach, hands_fit
from jaxsolve.holdem._cards import HANDS, NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._range_match import RangeMatch
from jaxsolve.holdem._range_strategy import RangeStrategy, TableStrategy
from jaxsolve.holdem._strength import strengths

_ALL = np.arange(NUM_HANDS)


def local_best_response(
    strategy: RangeStrategy | tuple[HoldemGame, np.ndarray],
    *,
    boards: int = 20,
    raises: bool = True,
    runouts: int = 64,
    seed: int = 0,
    threads: int = 1,
    progress: bool = False,
) -> RangeMatch:
    """Returns what a local best response wins from a strategy, the mean of both seats.

    Args:
        strategy: anything that says what it plays with every hand, such as a `Blueprint`; or a
            heads-up game and sums of its policy, as `range_match` takes it.
        boards: how many are sampled.
        raises: whether the responder also tries the raises of the menu; else it calls or folds.
        runouts: by which it judges hands on the flop; before it, four times as many.
        seed: of boards and runouts.
        threads: boards are independent.
        progress: show a bar.

    Raises:
        ValueError: more than two players, a table of another size, or a policy of another shape.
    """
    who = TableStrategy(*strategy) if isinstance(strategy, tuple) else strategy
    if who.game.menu.players != 2:
        raise ValueError("a local best response is to one opponent; this game has more players")
    if boards < 1 or runouts < 1:
        raise ValueError(f"boards and runouts are 1 or more, not {boards} and {runouts}")
    before, *keys = np.random.SeedSequence(seed).spawn(boards + 1)
    first = first_signs(runouts, np.random.default_rng(before))

    def play(key: np.random.SeedSequence) -> tuple[np.ndarray, float]:
        rng = np.random.default_rng(key)
        board = rng.permutation(NUM_CARDS)[:5]
        signs = street_signs(first, board, runouts, rng)
        walks = [_Walk(who, board, seat, *signs, raises) for seat in range(2)]
        return board, float(np.mean([w.value() for w in walks]))

    with ThreadPoolExecutor(threads) as pool:
        found = list(tqdm(pool.map(play, keys), total=boards, disable=not progress, unit="board"))
    return RangeMatch(
        np.stack([b for b, _ in found]).astype(np.uint8), np.array([won for _, won in found])
    )


class _Walk:
    """One seat of the responder on one board."""

    def __init__(
        self,
        strategy: RangeStrategy,
        board: np.ndarray,
        seat: int,
        signs: list[np.ndarray],
        means: list[np.ndarray],
        raises: bool,
    ) -> None:
        self.strategy, self.game, self.tree = strategy, strategy.game, strategy.game.tree
        self.seat, self.raises, self.signs, self.means = seat, raises, signs, means
        self.shown = [tuple(board[:k].tolist()) for k in BOARD_CARDS]
        self.live = [_live(board[:k]) for k in BOARD_CARDS]
        self.stack = self.game.menu.stack

    def value(self) -> float:
        """Returns the chips that the responder wins, a hand."""
        every = self.live[-1].astype(np.float32)
        pairs = float(every @ compatible_reach(every))
        first = np.ones(NUM_HANDS, np.float32)
        blinds = np.asarray(self.game.menu.rules.blinds)
        return self._walk(0, every, first, blinds.copy()) / pairs

    def _walk(
        self,
        node: int,
        own: np.ndarray,
        other: np.ndarray,
        spent: np.ndarray,
        policy: np.ndarray | None = None,
    ) -> float:
        """Returns the sum over pairs of hands; `own` is 1 for those that the responder plays.

        `policy` is that of the node, where it is known already.
        """
        tree = self.tree
        if not own.any() or not other.any():
            return 0.0
        if not tree.count[node]:
            return self._end(node, own, other)
        return self._decision(node, own, other, spent, policy) - self._luck(node, own, other, spent)

    def _luck(self, node: int, own: np.ndarray, other: np.ndarray, spent: np.ndarray) -> float:
        """Returns what the cards dealt before a node add if both then check; 0 on average."""
        above = int(self.tree.parent[node])
        if above < 0 or (street := int(self.tree.stage[node])) == self.tree.stage[above]:
            return 0.0
        shown = np.where(self.live[-1], other, np.float32(0))
        gained = self.means[street] @ shown - self.means[street - 1] @ shown
        return float(spent.min() * (own @ gained))

    def _decision(
        self,
        node: int,
        own: np.ndarray,
        other: np.ndarray,
        spent: np.ndarray,
        policy: np.ndarray | None,
    ) -> float:
        tree, actor = self.tree, int(self.tree.actor[node])
        first, count = int(tree.child[node]), int(tree.count[node])
        after = [self._spent(child, actor, spent) for child in range(first, first + count)]
        if actor == self.seat:
            worth, policies = self._worth(node, other, spent, after)
            best = worth.argmax(0)
            return sum(
                self._walk(
                    first + a,
                    np.where(best == a, own, np.float32(0)),
                    other,
                    after[a],
                    policies.get(a),
                )
                for a in range(count)
            )
        policy = self._policy(node) if policy is None else policy
        return sum(self._walk(first + a, own, other * policy[:, a], after[a]) for a in range(count))

    def _spent(self, child: int, actor: int, spent: np.ndarray) -> np.ndarray:
        """Returns what both have put in after an action."""
        out = spent.copy()
        if (to := int(self.tree.action[child])) >= 0:
            out[actor] = to
        return out

    def _worth(
        self, node: int, other: np.ndarray, spent: np.ndarray, after: list[np.ndarray]
    ) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Returns (worth, policies that it met).

        The worth is float [actions, 1326], of each action if both then check and call; the policies
        are those of the other player after raises, by action.
        """
        tree, first = self.tree, int(self.tree.child[node])
        signs = self.signs[int(tree.stage[node])]
        seen = np.where(self.live[int(tree.stage[node])], other, np.float32(0))
        policies: dict[int, np.ndarray] = {}
        out = np.full((len(after), NUM_HANDS), -np.inf, np.float32)
        for a, put in enumerate(after):
            child = first + a
            if tree.action[child] < 0:
                out[a] = -spent[self.seat] * compatible_reach(seen)
            elif put[self.seat] <= spent.max():
                out[a] = put[self.seat] * (signs @ seen)
            elif self.raises:
                policies[a] = policy = self._policy(child)
                folds = [
                    k for k in range(policy.shape[1]) if tree.action[tree.child[child] + k] < 0
                ]
                gone = seen * policy[:, folds].sum(1)
                at_stake = min(put[self.seat], self.stack)
                out[a] = spent[1 - self.seat] * compatible_reach(gone) + at_stake * (
                    signs @ (seen - gone)
                )
        return out, policies

    def _policy(self, node: int) -> np.ndarray:
        """Returns float32 [1326, actions], what the other player plays."""
        policy = self.strategy.policy_at(node, self.shown[int(self.tree.stage[node])])
        if policy.shape != (want := (NUM_HANDS, int(self.tree.count[node]))):
            raise ValueError(
                f"the policy after {self.tree.line(node)!r} has shape {policy.shape}, not {want}"
            )
        return policy.astype(np.float32, copy=False)

    def _end(self, node: int, own: np.ndarray, other: np.ndarray) -> float:
        end, street = int(self.tree.end_number[node]), int(self.tree.stage[self.tree.parent[node]])
        pays, seat = self.game.payoffs, self.seat
        shown = np.where(self.live[-1], other, np.float32(0))
        spent, folded = pays.spent[end], pays.folded[end]
        if folded.any():
            won = -spent[seat] if folded[seat] else spent[1 - seat]
            return float(won * (own @ compatible_reach(shown)))
        return float(spent.min() * (own @ (self.means[street] @ shown)))


def _live(board: np.ndarray) -> np.ndarray:
    return np.asarray(~np.isin(HANDS, board).any(1))


def first_signs(runouts: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Returns what `street_signs` has before the flop, for all boards."""
    nothing = np.array([], int)
    return mean_signs(nothing, 4 * runouts, rng), mean_signs(nothing, 64 * runouts, rng)


def street_signs(
    first: tuple[np.ndarray, np.ndarray], board: np.ndarray, runouts: int, rng: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Returns two matrices [1326, 1326] a street: for what the responder decides, and for luck.

    Args:
        first: of `first_signs`.
        board: int [5].
        runouts: drawn on the flop, for either.
        rng: draws them.
    """
    flop, turn, river = (mean_signs(board[:k], runouts, rng) for k in BOARD_CARDS[1:])
    again = mean_signs(board[: BOARD_CARDS[1]], runouts, rng)
    return [first[0], flop, turn, river], [first[1], again, turn, river]


def mean_signs(board: np.ndarray, runouts: int, rng: np.random.Generator) -> np.ndarray:
    """Returns float32 [1326, 1326], mean signs at the showdown over runouts of a board.

    Exact on the river. 0 for pairs that meet each other; a runout that meets a pair does not count.
    """
    rest = np.setdiff1d(np.arange(NUM_CARDS), board)
    missing = 5 - len(board)
    if missing == 0:
        drawn = [board]
    elif missing == 1:
        drawn = [np.append(board, c) for c in rest]
    else:
        drawn = [np.append(board, rng.permutation(rest)[:missing]) for _ in range(runouts)]
    total, count = sums_of_signs(np.stack(drawn))
    return total / np.maximum(count, 1)


def sums_of_signs(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns float32 [1326, 1326] twice: sums of signs at the showdown, and boards with both.

    Args:
        boards: int [N, 5]; a hand that meets one counts 0 there.
    """
    rank = _ranks(boards)
    live = (rank >= 0).astype(np.float32)
    wins = np.zeros((NUM_HANDS, NUM_HANDS), np.uint32)
    for row in rank:  # a hand that meets the runout wins against none, and none against it
        wins += row[:, None] > np.where(row < 0, np.iinfo(np.int16).max, row)[None]
    total = (wins.astype(np.float32) - wins.T) * hands_fit()
    return total, live.T @ live


def _ranks(boards: np.ndarray) -> np.ndarray:
    """Returns int16 [N, 1326], the order of strength on each board, -1 where a hand meets it."""
    out = np.empty((len(boards), NUM_HANDS), np.int16)
    for n, strength in enumerate(strengths(_ALL, boards.tolist())):
        rank = np.unique(strength, return_inverse=True)[1]
        out[n] = np.where(strength < 0, -1, rank)
    return out
