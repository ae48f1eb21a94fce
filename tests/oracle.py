"""An independent, slow reference: the same games and formulas in plain Python, in float64.

The rules are walked once, state by state, into linked Python objects; CFR, best responses and
values are then recursions over worlds, with no tensor, no sequence form and no code of
`jaxsolve.tree`, `regret`, `solve` or `evaluate`. The variants are written from their table in the
documentation, in the order of its formulas: regrets are kept per infoset, and averages are plain
weighted sums.

Infosets of a player are numbered by their first appearance in a breadth-first walk, which is the
order that policies are written in (`PlayerInfo.offset`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import CHANCE, NOTHING, TERMINAL

Strategy = list[list[list[float]]]
"""[player][infoset][action slot] -> probability."""

Seen = tuple[tuple[int, tuple[int, ...]], ...]
"""What a player did (-1 for nothing) and was shown, entry by entry; silent entries left out."""


@dataclasses.dataclass
class Infoset:
    """One decision of one player."""

    player: int
    index: int
    seen: Seen
    actions: tuple[int, ...]


@dataclasses.dataclass
class World:
    """One world state; children in the order of their actions."""

    actor: int
    children: list[World]
    chance: list[float]
    infoset: Infoset | None
    payoff: list[float]
    public: Seen


class OracleGame(NamedTuple):
    """A game as linked worlds.

    Attributes:
        root: the initial state.
        infosets: per player, in canonical order.
        num_states: worlds, terminal ones included.
        public_states: distinct sequences of public observations.
    """

    root: World
    infosets: list[list[Infoset]]
    num_states: int
    public_states: set[Seen]

    @property
    def num_players(self) -> int:
        return len(self.infosets)


def walk(game: Any) -> OracleGame:
    """Returns every world of a game, breadth first."""
    n = game.num_players
    infosets: list[list[Infoset]] = [[] for _ in range(n)]
    known: list[dict[Seen, Infoset]] = [{} for _ in range(n)]
    publics: set[Seen] = set()
    count = 0

    def visit(
        facts: Any, mover: int, action: int, public: Seen, seen: tuple[Seen, ...]
    ) -> tuple[World, tuple[Seen, ...]]:
        nonlocal count
        count += 1
        actor, legal, chance, payoff, shown, private = facts
        actor = int(actor)
        shown = tuple(shown.ravel().tolist())
        public = _extended(public, -1, shown)
        publics.add(public)
        seen = tuple(
            _extended(
                seen[i], action if mover == i else -1, shown + tuple(private[i].ravel().tolist())
            )
            for i in range(n)
        )
        actions = tuple(np.flatnonzero(legal).tolist()) if actor != TERMINAL else ()
        infoset = None
        if actor >= 0:
            infoset = known[actor].get(seen[actor])
            if infoset is None:
                infoset = Infoset(actor, len(infosets[actor]), seen[actor], actions)
                known[actor][seen[actor]] = infoset
                infosets[actor].append(infoset)
            assert infoset.actions == actions
        world = World(
            actor=actor,
            children=[],
            chance=[float(chance[a]) for a in actions] if actor == CHANCE else [],
            infoset=infoset,
            payoff=payoff.tolist() if actor == TERMINAL else [],
            public=public,
        )
        return world, seen

    with jax.enable_x64(True):
        step, look = _compiled(game)
        state = game.init()
        facts = jax.tree.map(np.asarray, look(state))
        root, seen = visit(facts, TERMINAL, -1, (), ((),) * n)
        queue = deque([(state, facts[1], root, seen)])
        while queue:
            state, legal, world, seen = queue.popleft()
            if world.actor == TERMINAL:
                continue
            for action in np.flatnonzero(legal).tolist():
                after, *rest = step(state, np.int32(action))
                facts = [np.asarray(x) for x in rest]
                child, saw = visit(facts, world.actor, action, world.public, seen)
                world.children.append(child)
                queue.append((after, facts[1], child, saw))
    return OracleGame(root, infosets, count, publics)


def uniform(game: OracleGame) -> Strategy:
    """Returns the uniform strategy."""
    return [[[1 / len(i.actions)] * len(i.actions) for i in sets] for sets in game.infosets]


def from_flat(game: OracleGame, flat: Sequence[np.ndarray]) -> Strategy:
    """Returns the strategy with given probabilities, per player one entry per action."""
    out: Strategy = []
    for sets, values in zip(game.infosets, flat, strict=True):
        sizes = [len(i.actions) for i in sets]
        assert sum(sizes) == len(values)
        parts = np.split(np.asarray(values, float), np.cumsum(sizes)[:-1]) if sizes else []
        out.append([p.tolist() for p in parts])
    return out


def flat(strategy: Strategy) -> list[np.ndarray]:
    """Returns one array of probabilities per player."""
    return [np.array([p for row in rows for p in row]) for rows in strategy]


def values(game: OracleGame, strategy: Strategy) -> list[float]:
    """Returns each player's expected payoff."""

    def expected(world: World, i: int) -> float:
        if world.actor == TERMINAL:
            return world.payoff[i]
        odds = _odds(world, strategy)
        return sum(p * expected(c, i) for p, c in zip(odds, world.children, strict=True))

    return [expected(game.root, i) for i in range(game.num_players)]


def best_response(game: OracleGame, strategy: Strategy, player: int) -> tuple[float, list[int]]:
    """Returns (value, best action slot of each infoset, -1 where the player cannot come)."""
    members: list[list[tuple[float, World]]] = [[] for _ in game.infosets[player]]

    def collect(world: World, others: float) -> None:
        if world.actor == TERMINAL:
            return
        if world.actor == player:
            assert world.infoset is not None
            members[world.infoset.index].append((others, world))
            odds = [1.0] * len(world.children)
        else:
            odds = _odds(world, strategy)
        for p, child in zip(odds, world.children, strict=True):
            collect(child, others * p)

    best: dict[int, int] = {}

    def value(world: World) -> float:
        if world.actor == TERMINAL:
            return world.payoff[player]
        if world.actor != player:
            odds = _odds(world, strategy)
            return sum(p * value(c) for p, c in zip(odds, world.children, strict=True))
        assert world.infoset is not None
        return value(world.children[choice(world.infoset.index)])

    def choice(index: int) -> int:
        if index not in best:
            worth = [
                sum(others * value(w.children[slot]) for others, w in members[index])
                for slot in range(len(game.infosets[player][index].actions))
            ]
            best[index] = worth.index(max(worth))
        return best[index]

    collect(game.root, 1.0)
    total = value(game.root)
    return total, [best.get(k, -1) for k in range(len(members))]


def nash_conv(game: OracleGame, strategy: Strategy) -> float:
    """Returns the sum over players of what a best response gains."""
    now = values(game, strategy)
    return sum(best_response(game, strategy, i)[0] - now[i] for i in range(game.num_players))


# --- Solvers: one class per update rule, one object per infoset -------------------------------


class Learner:
    """Regret matching at one infoset; subclasses change what the table of variants says.

    `update` is given counterfactual values u, from which r = u - <policy, u>, the number t of the
    iteration and the planned number n.
    """

    def __init__(self, width: int, **hyper: float):
        self.hyper = hyper
        self.regret = [0.0] * width
        self.policy = [1 / width] * width

    def update(self, u: list[float], t: int, n: int) -> None:
        mean = sum(p * x for p, x in zip(self.policy, u, strict=True))
        self.learn([x - mean for x in u], t, n)

    def learn(self, r: list[float], t: int, n: int) -> None:
        self.regret = [a + b for a, b in zip(self.regret, r, strict=True)]
        self.policy = _matched(self.regret)


class Plus(Learner):
    """R = [R + r]+."""

    def learn(self, r, t, n):
        self.regret = [max(a + b, 0.0) for a, b in zip(self.regret, r, strict=True)]
        self.policy = _matched(self.regret)


class Discounted(Learner):
    """R^t = R^{t-1} d(t-1) + r^t."""

    def exponents(self, t: int, n: int) -> tuple[float, float]:
        return self.hyper["alpha"], self.hyper["beta"]

    def learn(self, r, t, n):
        alpha, beta = self.exponents(t, n)
        for k, x in enumerate(r):
            before = self.regret[k]
            d = _d(t - 1, alpha if before > 0 else beta) if before else 0.0
            self.regret[k] = before * d + x
        self.policy = _matched(self.regret)


class ScheduledDiscounted(Discounted):
    """alpha = 1 + 3t/n, beta = -1 - 2t/n, t at most n."""

    def exponents(self, t, n):
        x = min(t, n) / n
        return 1 + 3 * x, -1 - 2 * x


class DiscountedPlus(Learner):
    """R = [R d(t-1) + r]+."""

    def learn(self, r, t, n):
        d = _d(t - 1, self.hyper["alpha"]) if t > 1 else 0.0
        self.regret = [max(a * d + b, 0.0) for a, b in zip(self.regret, r, strict=True)]
        self.policy = _matched(self.regret)


class Predictive(Learner):
    """R^{t+1} = [R^t + r^t]+, then play [R^{t+1} + m r^t]+."""

    def trust(self) -> float:
        return self.hyper.get("trust", 1.0)

    def learn(self, r, t, n):
        self.regret = [max(a + b, 0.0) for a, b in zip(self.regret, r, strict=True)]
        m = self.trust()
        self.policy = _matched([a + m * b for a, b in zip(self.regret, r, strict=True)])


class Adaptive(Predictive):
    """m = 1 / (1 + a), a from the history of regrets."""

    def __init__(self, width, **hyper):
        super().__init__(width, **hyper)
        self.history = [[0.0] * width]  # r^0, r^1, ...
        self.totals = [[0.0] * width]  # R^1, R^2, ...

    def learn(self, r, t, n):
        self.history.append(list(r))
        self.totals.append(
            [max(a + b, 0.0) for a, b in zip(self.regret, r, strict=True)]
        )  # what `super` is about to store
        super().learn(r, t, n)

    def trust(self):
        moved = sum(_distance2(a, b) for a, b in zip(self.totals, self.totals[1:], strict=False))
        missed = sum(_distance2(a, b) for a, b in zip(self.history, self.history[1:], strict=False))
        longest = self.hyper.get("longest", 5.0)
        return 1 / (1 + (min(math.sqrt(missed / moved), longest) if moved else longest))


class PredictiveDiscounted(Learner):
    """R = [R d + r]+; the prediction is made of [R d + r]+ once more."""

    def learn(self, r, t, n):
        alpha = self.hyper["alpha"]
        d = _d(t - 1, alpha) if t > 1 else 0.0
        self.regret = [max(a * d + b, 0.0) for a, b in zip(self.regret, r, strict=True)]
        d = _d(t, alpha)
        self.policy = _matched([a * d + b for a, b in zip(self.regret, r, strict=True)])


class Modicum(Plus):
    """CFR+, regrets multiplied by sqrt(t) / (sqrt(t) + 1) after each of the first iterations."""

    def learn(self, r, t, n):
        super().learn(r, t, n)
        if t <= self.hyper.get("warmup", 30):
            self.regret = [a * math.sqrt(t) / (math.sqrt(t) + 1) for a in self.regret]


class Mirror(Learner):
    """pi proportional to [pi rho^(eta alpha) exp(eta q)]^(1 / (1 + eta alpha)), rho uniform."""

    def update(self, u, t, n):
        eta, alpha = self.hyper["eta"], self.hyper["alpha"]
        rho = 1 / len(u)
        power = 1 / (1 + eta * alpha)
        weights = [
            (p * rho ** (eta * alpha) * math.exp(eta * q)) ** power
            for p, q in zip(self.policy, u, strict=True)
        ]
        self.policy = [w / sum(weights) for w in weights]


class Row(NamedTuple):
    """A row of the table of variants.

    Attributes:
        learner: (actions of the infoset, **hyper-parameters) -> Learner.
        weights: (T, n, hyper-parameters) -> the weight of each iteration 1..T in the average.
        hyper: defaults.
    """

    learner: Callable[..., Learner]
    weights: Callable[[int, int, dict[str, float]], list[float]]
    hyper: dict[str, float]


def by_power(total: int, n: int, hyper: dict[str, float]) -> list[float]:
    """Iteration t weighs t^gamma."""
    return [t ** hyper["gamma"] for t in range(1, total + 1)]


def by_schedule(total: int, n: int, hyper: dict[str, float]) -> list[float]:
    """S^t = S^{t-1} ((t-1)/t)^gamma + ..., gamma = start - 5 t/n: later factors multiply."""
    weights: list[float] = []
    for t in range(1, total + 1):
        gamma = hyper["start"] - 5 * min(t, n) / n
        weights = [w * ((t - 1) / t) ** gamma for w in weights] + [1.0]
    return weights


def second_half(total: int, n: int, hyper: dict[str, float]) -> list[float]:
    """The first half of the planned iterations is left out, the rest weighs the same."""
    return [float(t > n / 2) for t in range(1, total + 1)]


ROWS: dict[str, Row] = {
    "cfr": Row(Learner, by_power, {"gamma": 0}),
    "cfr+": Row(Plus, by_power, {"gamma": 1}),
    "lcfr": Row(Discounted, by_power, {"alpha": 1, "beta": 1, "gamma": 1}),
    "dcfr": Row(Discounted, by_power, {"alpha": 1.5, "beta": 0, "gamma": 2}),
    "dcfr+": Row(DiscountedPlus, by_power, {"alpha": 1.5, "gamma": 4}),
    "pcfr+": Row(Predictive, by_power, {"gamma": 2}),
    "sapcfr+": Row(functools.partial(Predictive, trust=1 / 3), by_power, {"gamma": 2}),
    "apcfr+": Row(Adaptive, by_power, {"gamma": 2}),
    "pdcfr+": Row(PredictiveDiscounted, by_power, {"alpha": 2.3, "gamma": 5}),
    "hs-dcfr": Row(ScheduledDiscounted, by_schedule, {"start": 30}),
    "hs-pcfr+": Row(Predictive, by_schedule, {"start": 30}),
    "modicum-cfr+": Row(Modicum, second_half, {}),
    "mmd": Row(Mirror, by_power, {"eta": 1.0, "alpha": 3e-3, "gamma": 0}),
}
"""Every variant by the name it has in SOLVERS."""


class Snapshot(NamedTuple):
    """Strategies after an iteration; `average` is None while every weight is zero."""

    current: Strategy
    average: Strategy | None


def solve(
    game: OracleGame,
    name: str,
    *,
    iterations: int,
    horizon: int | None = None,
    simultaneous: bool = False,
    **hyper: float,
) -> list[Snapshot]:
    """Returns the strategies after 0, 1, ..., `iterations` iterations of a variant."""
    row = ROWS[name]
    settings = row.hyper | hyper
    n = iterations if horizon is None else horizon
    learners = [[row.learner(len(i.actions), **settings) for i in sets] for sets in game.infosets]
    plans: list[list[list[list[float]]]] = []  # per iteration: own reach of every action
    out = [Snapshot(_played(learners), None)]
    for t in range(1, iterations + 1):
        start = _played(learners)
        plans.append(_realization(game, start))
        for i in range(game.num_players):
            seen = start if simultaneous else _played(learners)
            for learner, u in zip(learners[i], _counterfactual(game, seen, i), strict=True):
                learner.update(u, t, n)
        weights = row.weights(t, n, settings)
        out.append(Snapshot(_played(learners), _averaged(game, plans, weights)))
    return out


def _played(learners: list[list[Learner]]) -> Strategy:
    return [[list(one.policy) for one in row] for row in learners]


def _counterfactual(game: OracleGame, strategy: Strategy, player: int) -> list[list[float]]:
    """Returns the counterfactual value of every action of a player's infosets."""
    out = [[0.0] * len(i.actions) for i in game.infosets[player]]

    def value(world: World, others: float) -> float:
        if world.actor == TERMINAL:
            return world.payoff[player]
        odds = _odds(world, strategy)
        total = 0.0
        for slot, (p, child) in enumerate(zip(odds, world.children, strict=True)):
            mine = world.actor == player
            below = value(child, others if mine else others * p)
            if mine:
                assert world.infoset is not None
                out[world.infoset.index][slot] += others * below
            total += p * below
        return total

    value(game.root, 1.0)
    return out


def _realization(game: OracleGame, strategy: Strategy) -> list[list[list[float]]]:
    """Returns a player's own probability of coming to each infoset and choosing each action."""
    out = [[[0.0] * len(i.actions) for i in sets] for sets in game.infosets]

    def descend(world: World, reach: tuple[float, ...]) -> None:
        if world.infoset is None:
            for child in world.children:
                descend(child, reach)
            return
        i, index = world.actor, world.infoset.index
        for slot, child in enumerate(world.children):
            p = reach[i] * strategy[i][index][slot]
            out[i][index][slot] = p  # the same in every world of the infoset
            descend(child, (*reach[:i], p, *reach[i + 1 :]))

    descend(game.root, (1.0,) * game.num_players)
    return out


def _averaged(
    game: OracleGame, plans: list[list[list[list[float]]]], weights: list[float]
) -> Strategy | None:
    if not any(weights):
        return None
    out = uniform(game)
    for i, sets in enumerate(game.infosets):
        for k, infoset in enumerate(sets):
            totals = [
                sum(w * plan[i][k][slot] for w, plan in zip(weights, plans, strict=True))
                for slot in range(len(infoset.actions))
            ]
            if sum(totals) > 0:
                out[i][k] = [x / sum(totals) for x in totals]
    return out


def _odds(world: World, strategy: Strategy) -> list[float]:
    if world.infoset is None:
        return world.chance
    return strategy[world.actor][world.infoset.index]


def _matched(regret: list[float]) -> list[float]:
    positive = [max(x, 0.0) for x in regret]
    total = sum(positive)
    return [x / total if total > 0 else 1 / len(regret) for x in positive]


def _d(s: float, exponent: float) -> float:
    return s**exponent / (s**exponent + 1)


def _distance2(a: list[float], b: list[float]) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


# --- Rules, one state at a time -----------------------------------------------------------------


def _extended(seen: Seen, own: int, shown: tuple[int, ...]) -> Seen:
    silent = own < 0 and all(x == NOTHING for x in shown)
    return seen if silent else (*seen, (own, shown))


def _facts(game: Any, state: Any) -> tuple[Any, ...]:
    public, private = game.observe(state)
    return (
        game.actor(state),
        game.legal(state),
        game.chance(state),
        game.utility(state),
        jnp.ravel(public),
        jnp.reshape(private, (game.num_players, -1)),
    )


@functools.lru_cache(maxsize=64)
def _compiled(game: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def step(state: Any, action: Any) -> tuple[Any, ...]:
        after = game.step(state, action)
        return (after, *_facts(game, after))

    return jax.jit(step), jax.jit(lambda state: _facts(game, state))
