"""Matches over ranges: what two known strategies win on sampled boards, exact over all hands.

Both players' strategies are known at every public state, so nothing but the board is sampled: the
expectation over all pairs of hands and all actions is a walk down the public actions with the reach
of every hand. Each board is played in both seats. A hundred boards tell two blueprints apart that
would need millions of hands at the table.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from tqdm import tqdm

from jaxsolve import native
from jaxsolve.holdem._bet_menu import BIG_BLIND, BOARD_CARDS
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._boards import hands_of, strength_order
from jaxsolve.holdem._cards import HANDS, NUM_CARDS
from jaxsolve.holdem._strength import strengths
from jaxsolve.mccfr import as_float, matched


@dataclasses.dataclass(frozen=True)
class RangeMatch:
    """What the first strategy wins (N boards).

    Attributes:
        boards: uint8 [N, 5].
        chips: float64 [N], a hand, the mean of both seats.
        mbb: milli-big-blinds a hand, the mean over boards.
        low, high: 95 % interval of `mbb`.
    """

    boards: np.ndarray
    chips: np.ndarray

    @property
    def mbb(self) -> float:
        return float(1000 * self.chips.mean() / BIG_BLIND)

    @property
    def margin(self) -> float:
        """Half of the 95 % interval, milli-big-blinds a hand; infinite of one board."""
        count = len(self.chips)
        if count < 2:
            return float("inf")
        return float(1000 / BIG_BLIND * 1.96 * self.chips.std(ddof=1) / np.sqrt(count))

    @property
    def low(self) -> float:
        return self.mbb - self.margin

    @property
    def high(self) -> float:
        return self.mbb + self.margin

    def __repr__(self) -> str:
        return f"{self.mbb:+.1f} +- {self.margin:.1f} mbb/h on {len(self.chips)} boards"


def range_match(
    first: tuple[HoldemGame, np.ndarray],
    second: tuple[HoldemGame, np.ndarray],
    *,
    boards: int = 100,
    skip: int = 0,
    seed: int = 0,
    threads: int = 1,
    progress: bool = False,
) -> RangeMatch:
    """Returns what the first strategy wins from the second, heads-up.

    A strategy is a game and sums of its policy, [sequence, bucket]: `Tables.average`, or
    `Tables.regret` for the current policy. The menus must be equal; buckets need not be.

    Args:
        first: a strategy.
        second: the other.
        boards: how many are sampled; equal seeds, equal boards.
        skip: leave out so many of the first ones, of a match that is played in parts.
        seed: of the boards.
        threads: boards are independent.
        progress: show a bar.

    Raises:
        ValueError: more than two players, other menus, or tables of another size.
    """
    game = first[0]
    if game.menu.players != 2 or second[0].menu.players != 2:
        raise ValueError("a match over ranges is for two players")
    if game.menu != second[0].menu:
        raise ValueError(
            "a match over ranges needs one menu of bets; these differ: "
            f"{game.menu.digest} and {second[0].menu.digest}"
        )
    if boards < 1:
        raise ValueError(f"boards is 1 or more, not {boards}")
    if not 0 <= skip < boards:
        raise ValueError(f"skip is 0 or more, and fewer than the {boards} boards, not {skip}")
    strategies = [(g, as_float(np.asarray(sums))) for g, sums in (first, second)]
    for g, sums in strategies:
        if len(sums) != int(g.tree.rows(g.num_buckets)[-1]):
            raise ValueError(f"a table of {len(sums):,} entries is not of {g!r}")
    pairs = [(strategies[0], strategies[1]), (strategies[1], strategies[0])]
    packed = [g.tree.packed(g.num_buckets) for g, _ in strategies]
    rng = np.random.default_rng(seed)
    cards = np.stack([np.sort(rng.choice(NUM_CARDS, 5, replace=False)) for _ in range(boards)])
    cards = cards[skip:]

    def play(board: np.ndarray) -> float:
        """The first strategy in seat 0, then in seat 1."""
        won = [_on_board(pair, [packed[k], packed[1 - k]], board) for k, pair in enumerate(pairs)]
        return (won[0] - won[1]) / 2

    with ThreadPoolExecutor(threads) as pool:
        chips = list(
            tqdm(pool.map(play, cards), total=len(cards), disable=not progress, unit="board")
        )
    return RangeMatch(cards.astype(np.uint8), np.array(chips))


def _on_board(
    seats: Sequence[tuple[HoldemGame, np.ndarray]], nodes: Sequence[np.ndarray], board: np.ndarray
) -> float:
    """Returns the chips that seat 0 wins on one board, a hand."""
    game = seats[0][0]
    hands, strength, bucket = hands_by_strength([g for g, _ in seats], board)
    library = native.host_library("mccfr")
    if library is None:
        return match_plain(seats, board)
    high = strength_order(strength[None]).high[0].astype(np.int32)
    pair = HANDS[hands].astype(np.uint8)
    spent = np.ascontiguousarray(game.payoffs.spent, np.int32)
    folded = np.ascontiguousarray(game.payoffs.folded, np.uint8)
    buckets = np.array([g.num_buckets for g, _ in seats], np.int32)
    library.JaxsolveMatch.restype = ctypes.c_double
    arrays = (nodes[0], nodes[1], spent, folded, seats[0][1], seats[1][1])
    return float(
        library.JaxsolveMatch(
            *(ctypes.c_void_p(x.ctypes.data) for x in arrays),
            ctypes.c_int32(game.tree.num_stages),
            ctypes.c_void_p(buckets.ctypes.data),
            ctypes.c_int32(len(hands)),
            *(ctypes.c_void_p(x.ctypes.data) for x in (pair, high, bucket)),
        )
    )


def hands_by_strength(
    games: Sequence[HoldemGame], board: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the hands on a complete board, the weakest first.

    Returns:
        int32 [H], numbers of hands; int32 [H], strengths; uint16 [players, stages, H], buckets.
    """
    hands = hands_of(board.tolist())
    strength = strengths(hands, [board.tolist()])[0]
    order = np.argsort(strength, kind="stable")
    hands, strength = hands[order], strength[order]
    stages = games[0].tree.num_stages
    bucket = np.empty((len(games), stages, len(hands)), np.uint16)
    for i, game in enumerate(games):
        for stage, cards in enumerate(BOARD_CARDS[:stages]):
            bucket[i, stage] = game.abstraction.bucket(board[:cards].tolist())[hands]
    return hands, strength, bucket


def match_plain(seats: Sequence[tuple[HoldemGame, np.ndarray]], board: np.ndarray) -> float:
    """Returns what seat 0 wins on one board, with matrices of pairs of hands: slow and plain."""
    games = [g for g, _ in seats]
    tree, pays = games[0].tree, games[0].payoffs
    hands, strength, bucket = hands_by_strength(games, board)
    cards = HANDS[hands]
    meets = (cards[:, None, :, None] == cards[None, :, None, :]).any((2, 3))
    fits = (~meets).astype(float)
    signs = np.sign(strength[:, None] - strength[None]) * fits
    rows = [g.tree.rows(g.num_buckets) for g in games]

    def walk(node: int, reach: list[np.ndarray]) -> float:
        if not (count := int(tree.count[node])):
            spent, folded = pays.spent[tree.end_number[node]], pays.folded[tree.end_number[node]]
            if folded.any():
                won = -spent[0] if folded[0] else spent[1]
                return float(won * (reach[0] @ fits @ reach[1]))
            return float(spent.min() * (reach[0] @ signs @ reach[1]))
        i = int(tree.actor[node])
        sums = seats[i][1][rows[i][node] : rows[i][node + 1]].reshape(-1, count)
        policy = matched(sums)[bucket[i, int(tree.stage[node])]]
        value = 0.0
        for a in range(count):
            after = list(reach)
            after[i] = reach[i] * policy[:, a]
            if after[i].any():
                value += walk(int(tree.child[node]) + a, after)
        return value

    return walk(0, [np.ones(len(hands))] * 2) / fits.sum()


def uniform_sums(game: HoldemGame) -> np.ndarray:
    """Returns sums of the uniform policy, an opponent for matches."""
    return np.zeros(int(game.tree.rows(game.num_buckets)[-1]), np.float32)


def always(game: HoldemGame, letter: str) -> np.ndarray:
    """Returns sums of a policy that takes one action wherever it can: "c" calls and checks.

    Where there is no such action, it plays uniformly.
    """
    wanted = ("c", "x") if letter == "c" else (letter,)
    tree = game.tree
    chosen = np.array([tree.label[p] in wanted for p in range(tree.num_nodes)])
    rows = tree.rows(game.num_buckets)
    sums = np.zeros(int(rows[-1]), np.float32)
    for p in np.flatnonzero(tree.count):
        first = int(tree.child[p])
        part = sums[rows[p] : rows[p + 1]].reshape(-1, int(tree.count[p]))
        part[:] = chosen[first : first + int(tree.count[p])]
    return sums
