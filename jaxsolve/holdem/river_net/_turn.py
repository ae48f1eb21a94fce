"""A turn solved with a river network at the end of its betting."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.holdem._betting_tree import BettingTree, Kind
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._lock import lock
from jaxsolve.holdem._operators import choose_operator
from jaxsolve.holdem._spot import Spot
from jaxsolve.holdem._spot_tree import SpotTree, spot_tree
from jaxsolve.holdem._tree import PlayerRows, public_tree
from jaxsolve.holdem.river_net._leaves import RiverLeaves, river_leaves
from jaxsolve.nets import Net
from jaxsolve.solvers import Solver, SolveState, average_policy, dcfr, init_state, iterate
from jaxsolve.tree import Policy, PublicTree, join_blocks, to_device
from jaxsolve.types import Array


@dataclasses.dataclass(frozen=True, repr=False)
class TurnTree:
    """A turn whose rivers are a network's.

    Attributes:
        spot: the whole game below it, betting and boards.
        betting: of the turn alone.
        tree: its tensors; hands are those of `spot`.
        rows: per player, where its decisions are.
        rivers: nodes of `betting` that end the turn with chips behind.
    """

    spot: SpotTree
    betting: BettingTree
    tree: PublicTree
    rows: tuple[PlayerRows, PlayerRows]
    rivers: np.ndarray

    def strategy(self, policy: Policy) -> dict[str, dict[str, np.ndarray]]:
        """Returns {line: {action: float [1326]}}, the probabilities at all decisions of the turn.

        Hands that are not possible have 0 everywhere.
        """
        out: dict[int, dict[str, np.ndarray]] = {}
        for i, rows in enumerate(self.rows):
            vector = np.asarray(join_blocks(self.tree.players[i], policy.players[i]))
            for row, node in enumerate(rows.node):
                at = rows.place.sequence[rows.rows.offset[row] : rows.rows.offset[row + 1]]
                shares = np.zeros((len(at), NUM_HANDS))
                found = np.maximum(vector[at].astype(float), 0)
                shares[:, self.spot.hands] = found / found.sum(0)
                words = [str(self.betting.label[c]) for c in self.betting.children(int(node))]
                out[int(node)] = dict(zip(words, shares, strict=True))
        return {self.betting.line(n): out[n] for n in sorted(out)}


@dataclasses.dataclass(frozen=True, repr=False)
class TurnResult:
    """A solved turn.

    Attributes:
        turn: the tree.
        policy: average policies of both players.
        iterations: done.
        seconds: of iterations by the clock, without compiling.
        processor_seconds: the same on all processors together.
    """

    turn: TurnTree
    policy: Policy
    iterations: int
    seconds: float
    processor_seconds: float

    @functools.cached_property
    def strategy(self) -> dict[str, dict[str, np.ndarray]]:
        """See `TurnTree.strategy`."""
        return self.turn.strategy(self.policy)

    def locked(self, player: int) -> SpotTree:
        """Returns the whole spot in which one player's turn is fixed to this result's."""
        spot, betting = self.turn.spot, self.turn.betting
        for line, shares in self.strategy.items():
            if betting.actor[betting.find(line)] == player:
                spot = lock(spot, line, shares)
        return spot


def turn_tree(spot: Spot, net: Net) -> TurnTree:
    """Returns a turn that ends where the river card comes.

    Args:
        spot: with a board of four cards. What may be bet on its river is for the network to know;
            the menu of the spot counts only for `TurnTree.spot`.
        net: of river values.

    Raises:
        ValueError: the board has not four cards, or there is a rake.
        MemoryError: the whole spot does not fit; says how much it needs.
    """
    if len(spot.board) != 4:
        raise ValueError(f"the board has {len(spot.board)} cards; a turn has 4")
    if spot.rake:
        raise ValueError("a river network knows no rake; take a spot without it")
    whole = spot_tree(spot, symmetric=False)
    betting, rivers = _turn_only(whole.betting)
    hands = whole.hands
    form = choose_operator()
    tensors, rows = public_tree(
        betting, whole.streets, hands, whole.ranges[:, hands], operator=form
    )
    sizes = [r.place.size for r in rows]
    leaves = tensors.leaves
    if len(rivers):
        spent = betting.spent[rivers]
        added = river_leaves(
            net,
            spot.board,
            hands,
            sequence=[r.place.sequence[[r.last[n][0] for n in rivers]] for r in rows],
            sizes=sizes,
            pot=spent.sum(1).astype(float),
            stack=(spot.effective_stack + spot.pot / 2 - spent.max(1)).astype(float),
            pairs=spot.pairs,
        )
        leaves = (*leaves, added)
    name = f"{whole.name}, rivers by a network"
    tree = to_device(PublicTree(tensors.players, leaves), name)
    return TurnTree(whole, betting, tree, rows, rivers)


def solve_turn(
    turn: TurnTree, solver: Solver | None = None, *, iterations: int = 100
) -> TurnResult:
    """Returns the turn after so many iterations of a solver, dcfr by default.

    The network is asked once in each iteration, about both players: its values do not change
    between the update of one player and that of the other, all else does.

    Raises:
        ValueError: `iterations` is not positive.
    """
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}, but must be positive")
    chosen = dcfr() if solver is None else solver
    tree = turn.tree.replace(names=None)
    horizon = jnp.float32(iterations)
    state = init_state(tree, chosen)
    for _ in range(2):  # compiles, for the first state and for those that the program returns
        state = _run(tree, chosen, state, jnp.int32(0), horizon)
    jax.block_until_ready(average_policy(tree, state))
    begin, processor = time.perf_counter(), time.process_time()
    state = _run(tree, chosen, state, jnp.int32(iterations), horizon)
    policy = jax.block_until_ready(average_policy(tree, state))
    seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    return TurnResult(turn, policy, iterations, seconds, processor)


@functools.partial(jax.jit, donate_argnames="state")
def _run(
    tree: PublicTree, solver: Solver, state: SolveState, iterations: Array, horizon: Array
) -> SolveState:
    """Returns the state after further iterations, in each of which the network is asked once."""

    def one(_: Any, state: SolveState) -> SolveState:
        leaves = tuple(
            x.held(state.reach) if isinstance(x, RiverLeaves) else x for x in tree.leaves
        )
        return iterate(tree.replace(leaves=leaves), solver, state, horizon)

    return jax.lax.fori_loop(0, iterations, one, state)


def _turn_only(betting: BettingTree) -> tuple[BettingTree, np.ndarray]:
    """Returns the first street with the nodes after it as ends, and which have chips behind."""
    above = betting.street[np.maximum(betting.parent, 0)]
    kept = (betting.street == 0) | (above == 0)
    rivers = kept & (betting.street > 0) & (betting.kind == Kind.DECISION)
    number = np.cumsum(kept) - 1
    fields: dict[str, Any] = {
        "parent": np.where(betting.parent >= 0, number[np.maximum(betting.parent, 0)], -1),
        "kind": np.where(rivers, Kind.ALL_IN, betting.kind),
        "street": np.zeros_like(betting.street),
    }
    every = {
        f.name: fields.get(f.name, getattr(betting, f.name)) for f in dataclasses.fields(betting)
    }
    cut = BettingTree(**{k: np.asarray(v)[kept].astype(getattr(betting, k).dtype)
                         for k, v in every.items()})  # fmt: skip
    return cut, number[rivers]
