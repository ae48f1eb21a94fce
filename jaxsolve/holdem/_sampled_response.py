"""The best response to a strategy of heads-up hold'em in the game of some sampled boards.

Chance deals one of F sampled flops, one of the T turns that were sampled for it, and any river: all
combinations of a board of this set and two hands that fit are equally likely. In this game the
responder plays each of its 1,326 hands apart, by the menu of the strategy, and its best response
is exact. Ends before the river pay on all runouts of the set, as a hand that meets many of them is
dealt less often.

The walk goes down to each flop in NumPy and below it in C++ (`jaxsolve/native/response.cc`).
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from tqdm import tqdm

from jaxsolve import native
from jaxsolve.holdem._bet_menu import BIG_BLIND, BOARD_CARDS
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._boards import (
    compatible_reach,
    hands_fit,
    live_hands,
    showdown_signs,
    strength_order,
)
from jaxsolve.holdem._cards import NUM_CARDS, NUM_HANDS
from jaxsolve.holdem._native import hand_places
from jaxsolve.holdem._strength import strengths
from jaxsolve.mccfr import NativeGame, as_float, matched

_ALL = np.arange(NUM_HANDS)
_RIVERS = NUM_CARDS - 4
_PAIRS = math.comb(NUM_CARDS - 5, 2) * math.comb(NUM_CARDS - 7, 2)
"""Ordered pairs of hands that fit a complete board and each other."""


@dataclasses.dataclass(frozen=True)
class SampledResponse:
    """What a best response wins in the game of some boards (F flops, T turns each).

    Attributes:
        flops: uint8 [F, 3].
        turns: uint8 [F, T].
        chips: float64 [2], a hand, with the responder in each seat.
    """

    flops: np.ndarray
    turns: np.ndarray
    chips: np.ndarray

    @property
    def mbb(self) -> float:
        """Milli-big-blinds a hand, the mean of both seats."""
        return float(1000 * self.chips.mean() / BIG_BLIND)

    @property
    def boards(self) -> int:
        """Complete boards of the game."""
        return self.turns.size * _RIVERS

    def __repr__(self) -> str:
        flops, turns = self.turns.shape
        return f"{self.mbb:.1f} mbb/h in the game of {flops} flops x {turns} turns x all rivers"


def sampled_best_response(
    strategy: tuple[HoldemGame, np.ndarray],
    *,
    flops: int = 2,
    turns: int = 2,
    seed: int = 0,
    threads: int = 1,
    progress: bool = False,
) -> SampledResponse:
    """Returns what the best response wins from a strategy in the game of some sampled boards.

    The responder knows which boards there are, so the value overfits them: with few flops it is far
    above the exploitability in the whole game, and it falls as flops and turns grow. Compare
    strategies with equal `flops`, `turns` and `seed`.

    Args:
        strategy: a heads-up game and sums of its policy, as `range_match` takes it.
        flops: how many are sampled.
        turns: how many are sampled for each flop, 49 at most; all rivers follow.
        seed: of the boards.
        threads: seats and flops are independent.
        progress: show a bar.

    Raises:
        ValueError: more than two players, a table of another size, or no boards.
    """
    game, sums = strategy[0], np.ascontiguousarray(as_float(np.asarray(strategy[1])))
    if game.menu.players != 2:
        raise ValueError("a best response is to one opponent; this game has more players")
    if len(sums) != int(game.tree.rows(game.num_buckets)[-1]):
        raise ValueError(f"a table of {len(sums):,} entries is not of {game!r}")
    most = math.comb(NUM_CARDS, 3)
    if not 1 <= flops <= most or not 1 <= turns <= NUM_CARDS - 3:
        raise ValueError(
            f"flops is 1 to {most:,} and turns 1 to {NUM_CARDS - 3}, not {flops} and {turns}"
        )
    chosen, following = _sample(flops, turns, np.random.default_rng(seed))
    return response_on(game, sums, chosen, following, threads=threads, progress=progress)


def response_on(
    game: HoldemGame,
    sums: np.ndarray,
    flops: np.ndarray,
    turns: np.ndarray,
    *,
    threads: int = 1,
    progress: bool = False,
) -> SampledResponse:
    """Returns the best response in the game of given boards.

    Args:
        game: heads-up.
        sums: float32 [E], of the policy.
        flops: uint8 [F, 3], different ones.
        turns: uint8 [F, T], different ones of each flop.
        threads: see `sampled_best_response`.
        progress: show a bar.
    """
    below = below_plain if native.host_library("mccfr") is None else below_native
    ways = [preflop_reach(game, sums, seat) for seat in range(2)]

    def work(task: tuple[int, int]) -> np.ndarray:
        k, seat = task
        nodes, reach = ways[seat]
        reach = np.where(_live(flops[k]), reach, np.float32(0))
        return below(game, sums, seat, flops[k], turns[k], nodes, reach)

    tasks = [(k, seat) for k in range(len(flops)) for seat in range(2)]
    total = [np.zeros((len(nodes), NUM_HANDS)) for nodes, _ in ways]
    with ThreadPoolExecutor(threads) as pool:
        bar = tqdm(pool.map(work, tasks), total=len(tasks), disable=not progress, unit="walk")
        for (_, seat), won in zip(tasks, bar, strict=True):
            total[seat] += won
    pairs = turns.size * _RIVERS * _PAIRS
    chips = []
    for seat, (nodes, _) in enumerate(ways):
        found = dict(zip(nodes.tolist(), total[seat], strict=True))
        chips.append(_best(game, seat, 0, found).sum() / pairs)
    return SampledResponse(flops, turns, np.array(chips))


def _sample(flops: int, turns: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Returns uint8 [F, 3] and [F, T]: different flops, and different turns of each."""
    found: dict[tuple[int, ...], np.ndarray] = {}
    while len(found) < flops:
        deck = rng.permutation(NUM_CARDS)
        found.setdefault(tuple(sorted(deck[:3].tolist())), deck[3 : 3 + turns])
    return np.array(list(found), np.uint8), np.array(list(found.values()), np.uint8)


def preflop_reach(game: HoldemGame, sums: np.ndarray, seat: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (nodes that follow the preflop street, the other's reach [K, 1326] of them)."""
    tree, nodes, reaches = game.tree, [], []
    stack = [(0, np.ones(NUM_HANDS, np.float32))]
    while stack:
        node, reach = stack.pop()
        if not tree.count[node] or tree.stage[node]:
            nodes.append(node)
            reaches.append(reach)
            continue
        first, count = int(tree.child[node]), int(tree.count[node])
        if tree.actor[node] == seat:
            stack += [(first + a, reach) for a in range(count)]
        else:
            policy = _policy(game, sums, node, game.abstraction.preflop)
            stack += [(first + a, reach * policy[:, a]) for a in range(count)]
    return np.array(nodes, np.int32), np.stack(reaches)


def _best(game: HoldemGame, seat: int, node: int, found: Mapping[int, np.ndarray]) -> np.ndarray:
    """Returns float [1326], what the hands of the responder win before the flop."""
    if node in found:
        return found[node]
    first = int(game.tree.child[node])
    below = [_best(game, seat, first + a, found) for a in range(int(game.tree.count[node]))]
    return np.asarray(np.max(below, 0) if game.tree.actor[node] == seat else np.sum(below, 0))


def _policy(game: HoldemGame, sums: np.ndarray, node: int, bucket: np.ndarray) -> np.ndarray:
    """Returns float32 [1326, actions]; anything for hands that meet the board."""
    rows = game.tree.rows(game.num_buckets)[node : node + 2]
    policy = matched(sums[rows[0] : rows[1]].reshape(-1, int(game.tree.count[node])))
    held = np.where(bucket < len(policy), bucket, 0)
    return policy[held].astype(np.float32)


def _live(board: np.ndarray) -> np.ndarray:
    return np.asarray(live_hands(_ALL, [board.tolist()])[0])


def below_native(
    game: HoldemGame,
    sums: np.ndarray,
    seat: int,
    flop: np.ndarray,
    turns: np.ndarray,
    nodes: np.ndarray,
    reach: np.ndarray,
) -> np.ndarray:
    """Returns float32 [K, 1326], what the responder wins below one flop, summed over runouts."""
    library = native.host_library("mccfr")
    assert library is not None
    boards = [[*flop, t, *rest] for t in turns for rest in _rivers(flop, t)[:, None].tolist()]
    rivers = np.array(boards, np.uint8)
    ranked = strength_order(strengths(_ALL, rivers.tolist()))
    live = live_hands(_ALL, [[*flop.tolist(), int(t)] for t in turns])
    order = np.argsort(~live, axis=1, kind="stable").astype(np.int32)
    place, pair, count = hand_places(
        _ALL, np.concatenate([order, ranked.order]), np.concatenate([live, ranked.live])
    )
    high = np.concatenate([np.zeros_like(order), ranked.high]).astype(np.int32)
    cards = rivers.reshape(len(turns), _RIVERS, 5)
    cards = np.ascontiguousarray(np.concatenate([cards[:, :1], cards], 1))
    packed = NativeGame(game.payoffs, game.tree.packed(game.num_buckets), game.tree)
    buckets = np.array(game.num_buckets, np.int32)
    reach, out = np.ascontiguousarray(reach), np.zeros(reach.shape, np.float32)

    def at(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    library.JaxsolveResponse(
        ctypes.byref(packed.struct),
        game.native_buckets.pointer,
        at(sums),
        at(buckets),
        *(ctypes.c_int32(x) for x in (seat, len(turns), _RIVERS)),
        *(at(x) for x in (cards, place, pair, high, count)),
        ctypes.c_int32(len(nodes)),
        at(nodes),
        at(reach),
        at(out),
    )
    return out


def below_plain(
    game: HoldemGame,
    sums: np.ndarray,
    seat: int,
    flop: np.ndarray,
    turns: np.ndarray,
    nodes: np.ndarray,
    reach: np.ndarray,
) -> np.ndarray:
    """Returns float [K, 1326], what `below_native` does, with matrices of pairs of hands."""
    tree, pays = game.tree, game.payoffs

    def following(board: tuple[int, ...]) -> list[tuple[int, ...]]:
        cards = turns if len(board) == len(flop) else _rivers(flop, board[-1])
        return [(*board, int(c)) for c in cards]

    def runouts(board: tuple[int, ...]) -> list[tuple[int, ...]]:
        if len(board) == BOARD_CARDS[-1]:
            return [board]
        return [b for after in following(board) for b in runouts(after)]

    @functools.cache
    def signs(board: tuple[int, ...]) -> np.ndarray:
        return showdown_signs(strengths(_ALL, [board])[0]) * hands_fit()

    def pay(end: int, board: tuple[int, ...], other: np.ndarray) -> np.ndarray:
        spent, folded = pays.spent[end], pays.folded[end]
        live = _live(np.array(board))
        shown = np.where(live, other, np.float32(0))
        if folded.any():
            won = -spent[seat] if folded[seat] else spent[1 - seat]
            return np.where(live, won * compatible_reach(shown), 0)
        return np.asarray(spent.min() * (signs(board) @ shown))

    def walk(node: int, board: tuple[int, ...], other: np.ndarray) -> np.ndarray:
        if not (count := int(tree.count[node])):
            end = int(tree.end_number[node])
            return np.sum([pay(end, b, other) for b in runouts(board)], 0)
        if BOARD_CARDS[int(tree.stage[node])] > len(board):
            live = {b: _live(np.array(b)) for b in following(board)}
            each = [np.where(x, walk(node, b, np.where(x, other, 0)), 0) for b, x in live.items()]
            return np.sum(each, 0)
        first = int(tree.child[node])
        if tree.actor[node] == seat:
            return np.max([walk(first + a, board, other) for a in range(count)], 0)
        policy = _policy(game, sums, node, game.abstraction.bucket(board))
        return np.sum([walk(first + a, board, other * policy[:, a]) for a in range(count)], 0)

    start = tuple(flop.tolist())
    return np.stack([walk(int(n), start, r) for n, r in zip(nodes, reach, strict=True)])


def _rivers(flop: np.ndarray, turn: int) -> np.ndarray:
    """Returns int [48], the cards that may follow."""
    return np.setdiff1d(np.arange(NUM_CARDS), [*flop, turn])
