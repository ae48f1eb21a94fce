"""What follows each public state, in arrays, from a walk through a game.

A search has a node for each public state at which a player acts. The moves of chance in between and
the ends of the game are part of the transition: a pair (action, private state) leads to private
states of the children and to payoffs. Own reach flows down along `parents_of`; counterfactual
values flow up along `child_of_action` and `child_of_waiting`. Where several pairs lead to one
private state of a child, its reach is their sum and each of them has its value.

Example: Kuhn poker has four public states, two actions (0 pass, 1 bet) and three private states,
the cards, so the pair (action a, card h) has the code 3 a + h and the pair (child k, card h) the
code 3 k + h:

    row  history   actor  child     payoffs[row, action], a win of player 0, over 6
    0    -         0      [1, 2]    nothing ends here
    1    pass      1      [3, -]    pass: +-1 for the better card; bet goes on to row 3
    2    bet       1      [-, -]    pass: +1; bet: +-2
    3    pass bet  0      [-, -]    pass: -1; bet: +-2

After a bet (child 1 of row 0) player 0 holds card h if they bet with it, and player 1 holds what
they held before: `parents_of[0, 1]` is [[3, 4, 5], [0, 1, 2]]. Going up, a bet of card h in row 0
is worth what card h is worth in child 1: `child_of_action[0, 1]` is [3, 4, 5]. Player 1 waits in
row 0, and card h is worth the sum over both children, codes h and 3 + h: `child_of_waiting[0]` is
[[0, 3], [1, 4], [2, 5]]. Where nothing follows, the lists hold the padding 6.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxsolve.public._pairs import DensePayoffs, DenseWeights, PairPayoffs, PairWeights
from jaxsolve.public._walk import PLACES, Walk
from jaxsolve.types import TERMINAL


class Transitions(NamedTuple):
    """What follows public states (K rows, A actions, C children, H private states, Hi of player i).

    Actions are slots, in the order of the game's numbers. Those of a private state that are legal
    are its first ones in tables and in `RulesModel`; a game's own model may leave gaps. A pair
    (action a, private state h) has the code a * H + h; of a player who waits, a is 0. A pair
    (child k, private state h) has the code k * H + h. Lists are padded with the codes A * H and
    C * H.

    Attributes:
        actor: int32 [K].
        legal: bool [K, A, H], of the actor.
        child: int32 [K, C], the number of each child; -1 where there is none.
        factor: [K, C], probability of the chance moves between a public state and its child.
        parents_of: int32 [K, C, 2, H, M], codes of the pairs (action, private state) that lead to
            each private state of each child, per player.
        child_of_action: int32 [K, A, H, R], codes of the pairs (child, private state) that each
            action of each private state of the actor leads to.
        child_of_waiting: int32 [K, H, S], those that each private state of the player who waits
            leads to.
        payoffs: to player 0 where the actor's action ends the game, times chance, by row K.
        weights: probability of each pair of private states by chance, by number K.
        possible: bool [K, 2, H].
        scale: [K], the largest payoff below.
        size: int32 [K], public states below, this one included.
        renumbers: bool [K], False wherever the player with fewer private states acts, and promises
            that one action of each leads to a private state of a child, and that those of the
            player who waits have the same numbers in every child. None promises nothing.
    """

    actor: Any
    legal: Any
    child: Any
    factor: Any
    parents_of: Any
    child_of_action: Any
    child_of_waiting: Any
    payoffs: PairPayoffs
    weights: PairWeights
    possible: Any
    scale: Any
    size: Any
    renumbers: Any = None

    @property
    def num_children(self) -> int:
        """C."""
        return int(self.child.shape[-1])

    @property
    def num_actions(self) -> int:
        """A."""
        return int(self.legal.shape[-2])

    @property
    def num_hands(self) -> int:
        """H."""
        return int(self.legal.shape[-1])


class Opened(NamedTuple):
    """What one public state shows, before padding.

    Attributes:
        legal: int [H], number of actions of the actor in each private state.
        children: the public states that follow.
        pairs: per child and player, int [E, 3]: (private state, action, private state before).
        payoff: float64 [A, H0, H1], times chance.
        largest: the largest payoff here.
    """

    legal: np.ndarray
    children: list[int]
    pairs: list[list[np.ndarray]]
    payoff: np.ndarray
    largest: float


def decisions(walk: Walk, below: list[list[int]]) -> np.ndarray:
    """Returns the public states at or below the root at which a player acts, parents first."""
    out, at = [walk.root], 0
    while at < len(out):
        out += following(walk, below, out[at])
        at += 1
    return np.array(out)


def following(walk: Walk, below: list[list[int]], q: int) -> list[int]:
    """Returns the next public states at which a player acts."""
    out: list[int] = []
    todo = list(below[q])[::-1]
    while todo:
        c = todo.pop()
        if walk.actor[c] >= 0:
            out.append(c)
        elif walk.actor[c] != TERMINAL:
            todo += below[c][::-1]
    return out


def open_state(walk: Walk, below: list[list[int]], q: int) -> Opened:
    """Returns what follows a public state, through chance, to the next decisions and ends."""
    actor = int(walk.actor[q])
    hands = walk.weight(q).shape
    legal = np.zeros(max(hands), int)
    children: list[int] = []
    pairs: list[list[np.ndarray]] = []
    ends: list[tuple[int, list[np.ndarray]]] = []
    todo: list[tuple[int, list[np.ndarray] | None]] = [(c, None) for c in below[q][::-1]]
    while todo:
        c, above = todo.pop()
        ways = [walk.origin(c, i) for i in range(2)]
        if above is None:
            here = [np.stack([w[:, 0], np.maximum(w[:, 2], 0), w[:, 1]], 1) for w in ways]
            np.maximum.at(legal, here[actor][:, 2], here[actor][:, 1] + 1)
        else:
            here = [_joined(ways[i], above[i]) for i in range(2)]
        if walk.actor[c] >= 0:
            children.append(c)
            pairs.append(here)
        elif walk.actor[c] == TERMINAL:
            ends.append((c, here))
        else:
            todo += [(d, here) for d in below[c][::-1]]
    payoff, largest = np.zeros((int(legal.max()), *hands)), 0.0
    for c, here in ends:
        largest = max(largest, np.abs(walk.payoff(c)).max())
        worth = walk.weight(c) * walk.payoff(c)
        (g0, a0, h0), (g1, a1, h1) = (x.T for x in here)
        action = a0[:, None] + a1[None]  # one of the two waits, and has 0
        where = (action, np.broadcast_to(h0[:, None], action.shape), h1[None])
        np.add.at(payoff, where, worth[np.ix_(g0, g1)])
    return Opened(legal, children, pairs, payoff, largest)


def _joined(ways: np.ndarray, above: np.ndarray) -> np.ndarray:
    """Returns the ways [E, 3] through a chance move, from those that lead to it."""
    first, second = np.nonzero(ways[:, 1][:, None] == above[:, 0])
    return np.stack([ways[first, 0], above[second, 1], above[second, 2]], 1)


def classes_of(
    walk: Walk, node: np.ndarray, at: np.ndarray, opened: list[Opened]
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (class of each public state, a public state of each), from the ends up.

    Public states are of one class if their subgames and the game's description of them are equal.
    """
    known: dict[Any, int] = {}
    subgame = np.zeros(len(node), int)
    mass = [walk.weight(int(q)).sum() for q in node]
    for p in reversed(range(len(node))):
        here = opened[p]
        after = at[np.array(here.children, int)]
        key = (
            int(walk.actor[node[p]]),
            np.round(walk.weight(int(node[p])) / mass[p], PLACES).tobytes(),
            np.round(here.payoff / mass[p], PLACES).tobytes(),
            here.payoff.shape,
            here.legal.tobytes(),
            walk.features[node[p]].tobytes(),
            tuple(subgame[after].tolist()),
            tuple(round(mass[c] / mass[p], PLACES) for c in after),
            tuple(x.tobytes() for two in here.pairs for x in two),
        )
        subgame[p] = known.setdefault(key, len(known))
    _, first, inverse = np.unique(subgame, return_index=True, return_inverse=True)
    order = np.argsort(first)  # classes by their first public state: the root's is 0
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order))
    return rank[inverse.reshape(-1)], first[order]


def transitions_of(
    walk: Walk,
    node: np.ndarray,
    classes: np.ndarray,
    representative: np.ndarray,
    opened: list[Opened],
    children: np.ndarray,
    below: np.ndarray,
) -> Transitions:
    count, width = len(opened), children.shape[1]
    weight = np.stack([walk.weight(int(node[p])) for p in representative])
    mass = weight.sum((1, 2))
    hands = max(weight.shape[1:])
    actions = max(x.payoff.shape[0] for x in opened)
    possible = np.zeros((count, 2, hands), bool)
    for i in range(2):
        some = (weight > 0).any(2 - i)
        possible[:, i, : some.shape[1]] = some
    payoff = np.zeros((count, actions, *weight.shape[1:]))
    factor = np.zeros((count, width))
    child = np.full((count, width), -1, np.int32)
    lists: dict[str, list[tuple[tuple[int, ...], int]]] = {"parents": [], "own": [], "other": []}
    actor = walk.actor[node[representative]]
    for x in reversed(range(count)):
        here, p = opened[x], representative[x]
        payoff[x, : len(here.payoff)] = here.payoff / mass[x]
        for k, both in enumerate(here.pairs):
            c = children[p, k]
            child[x, k] = classes[c]
            factor[x, k] = walk.weight(int(node[c])).sum() / mass[x]
            for i, pairs in enumerate(both):
                for g, a, h in pairs.tolist():
                    lists["parents"].append(((x, k, i, g), a * hands + h))
                    if i == actor[x]:
                        lists["own"].append(((x, a, h), k * hands + g))
                    else:
                        lists["other"].append(((x, h), k * hands + g))
    legal = np.stack([np.arange(actions)[:, None] < o.legal[:hands] for o in opened])
    return Transitions(
        actor=actor.astype(np.int32),
        legal=legal,
        child=child,
        factor=factor,
        parents_of=_padded(lists["parents"], (count, width, 2, hands), actions * hands),
        child_of_action=_padded(lists["own"], (count, actions, hands), width * hands),
        child_of_waiting=_padded(lists["other"], (count, hands), width * hands),
        payoffs=DensePayoffs(payoff),
        weights=DenseWeights(weight / mass[:, None, None]),
        possible=possible,
        scale=_largest(opened, classes, representative, children),
        size=below[representative].astype(np.int32),
    )


def _largest(
    opened: list[Opened], classes: np.ndarray, representative: np.ndarray, children: np.ndarray
) -> np.ndarray:
    """Returns float64 [K], the largest payoff below each class; 1 where there is none."""
    scale = np.array([x.largest for x in opened])[classes]
    for p in reversed(range(len(classes))):
        after = children[p][children[p] >= 0]
        scale[p] = max(scale[p], scale[after].max(initial=0))
    return np.where(scale > 0, scale, 1.0)[representative]


def _padded(
    entries: list[tuple[tuple[int, ...], int]], shape: tuple[int, ...], pad: int
) -> np.ndarray:
    """Returns int32 [*shape, L], the codes that belong to each position."""
    if not entries:
        return np.full((*shape, 1), pad, np.int32)
    where = np.ravel_multi_index(np.array([w for w, _ in entries]).T, shape)
    order = np.argsort(where, kind="stable")
    codes, where = np.array([c for _, c in entries])[order], where[order]
    rank = np.arange(len(where)) - np.searchsorted(where, where)
    out = np.full((int(np.prod(shape)), int(rank.max()) + 1), pad, np.int32)
    out[where, rank] = codes
    return out.reshape(*shape, -1)
