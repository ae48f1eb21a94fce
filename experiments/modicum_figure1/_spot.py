"""The spot: a first bet of 3/4 of the pot that the abstraction lacks.

Two games are cut from one: in `menu` bets are those of the abstraction, in `game` the first player
may open with the bet off the tree, too. Numbers of public states and infostates are the same.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.evaluate import action_values
from jaxsolve.tree import describe_path, listed
from jaxsolve.values import DepthLimit, after_round, count_along, pruned

EXTRA = 0.75
"""The bet off the tree, as a fraction of the pot."""

SIZES = (0.5, 1.0)
"""The abstraction's bets."""


class Rules(NamedTuple):
    """A game of the study.

    Attributes:
        name: in the result.
        text: the game string, to be closed by `sizes=[...])`.
        word: of an action that bets, before its size.
        letter: of such an action in the names of infosets, where that is not its name.
        unit: chips of a big blind: the blind, or the ante in Leduc.
        iterations: of CFR+, for the blueprint.
    """

    name: str
    text: str
    word: str
    unit: float
    iterations: int = 1000
    letter: str = ""


@dataclasses.dataclass(frozen=True)
class Spot:
    """The spot and what is known before the bet off the tree (P answers, O opens).

    Attributes:
        rules: of the game.
        game: with the bet.
        menu: without it.
        opener: O.
        bet: the public state after the bet.
        blueprint: of `menu`.
        value: of `game`, to O, in chips.
        gap: how far the blueprint is from an equilibrium of `menu`, in chips.
        limit: end of the first round, in `menu`.
        after_bet: the same in `game`, after the bet only.
        neighbours: int64 [2, L], for each state of `after_bet`, the states of `limit` that it is
            like, after the smaller and the larger bet.
    """

    rules: Rules
    game: js.PublicTree
    menu: js.PublicTree
    opener: int
    bet: int
    blueprint: js.Policy
    value: float
    gap: float
    limit: DepthLimit
    after_bet: DepthLimit
    neighbours: np.ndarray

    @property
    def player(self) -> int:
        """P."""
        return 1 - self.opener

    def mbb(self, policy: js.Policy) -> float:
        """Returns the exploitability of P's part, in thousandths of a big blind a game."""
        best = float(js.best_response(self.game, policy, self.opener).value)
        return (best - self.value) / self.rules.unit * 1000

    def words(self) -> dict[str, float]:
        """Returns the sizes of the bets, by name."""
        return {f"{self.rules.word} {s:g}": s for s in (*SIZES, EXTRA)}

    def shown(self) -> dict[str, str] | None:
        """Returns how bets are written in the names of infosets, by name."""
        letter = self.rules.letter
        return {name: f"{letter}{s:g}" for name, s in self.words().items()} if letter else None

    def without_bet(self) -> dict[int, float]:
        """Returns what O gets with each hand (infostate before the bet) on the menu, in chips.

        Against the blueprint, per unit of chance's reach.
        """
        info = listed(self.menu)
        table = info.states
        best = action_values(self.menu, self.blueprint.players, self.opener)[1]
        flat = np.concatenate([np.asarray(b).reshape(-1) for b in best])
        p = info.players[self.opener]
        value = flat[p.position - p.roots]
        first = table.public_states.parent[self.bet]
        here = (table.public == first) & (table.actor == self.opener)
        hands = table.infostate[:, self.opener]
        out = {}
        for row in np.flatnonzero(p.public == first):
            hand = int(p.infostate[row])
            reach = table.chance[here & (hands == hand)].sum()
            out[hand] = float(value[p.offset[row] : p.offset[row + 1]].max() / reach)
        return out


def spot(rules: Rules, *, solve_value: int = 20_000) -> Spot:
    """Returns a spot, its abstraction solved.

    Args:
        rules: the game.
        solve_value: iterations of PCFR+ for the value of the game with the bet.
    """
    whole = js.compile(games.load(f"{rules.text}sizes={sorted([*SIZES, EXTRA])})"))
    table = listed(whole).states
    extra = f"{rules.word} {EXTRA:g}"
    opener = int(table.actor[np.flatnonzero(table.actor >= 0)[0]])
    keep_menu, bet, after = _public_parts(whole, opener, extra)
    menu = pruned(whole, keep_menu)
    game = pruned(whole, keep_menu | after)
    del whole
    found = js.solve(menu, "cfr+", iterations=rules.iterations, measure_every=rules.iterations)
    close = 5e-5 * rules.unit  # a twentieth of a thousandth of a big blind
    value = js.solve(
        game, "pcfr+", iterations=solve_value, measure_every=solve_value // 20, target=close
    )
    limit, both = after_round(menu), after_round(game)
    table = listed(game).states
    here = after[table.public[both.leaf]]
    after_bet = dataclasses.replace(both, leaf=both.leaf[here], below=both.below & after)
    return Spot(
        rules=rules,
        game=game,
        menu=menu,
        opener=opener,
        bet=bet,
        blueprint=dataclasses.replace(found.average, names=menu.info),
        value=float(value.values[opener]),
        gap=found.exploitability,
        limit=limit,
        after_bet=after_bet,
        neighbours=_neighbours(game, after_bet, menu, limit, rules.word),
    )


def translated(spot: Spot, *, randomised: bool) -> js.Policy:
    """Returns the blueprint in the game with the bet, by action translation."""
    return search.translate(
        spot.blueprint, spot.game, spot.words(), shown=spot.shown(), randomised=randomised
    )


def _public_parts(
    tree: js.PublicTree, opener: int, extra: str
) -> tuple[np.ndarray, int, np.ndarray]:
    """Returns (public states of the menu, the one after the bet, those at or below it)."""
    info = listed(tree)
    table = info.states
    parent = table.public_states.parent
    up = np.maximum(table.parent, 0)
    moved = (table.parent >= 0) & (table.actor[up] >= 0)
    names = {a: info.action_name(opener, a) for a in np.unique(table.action[moved]).tolist()}
    is_extra = np.isin(table.action, [a for a, name in names.items() if name == extra]) & moved
    entered = np.zeros(len(parent), bool)
    entered[table.public[is_extra]] = True
    opening = is_extra & (count_along(table, table.actor >= 0) == 1)
    (bet,) = np.unique(table.public[opening])
    bets, after = np.zeros(len(parent), int), np.zeros(len(parent), bool)
    for s in range(len(parent)):  # parents come first
        above = parent[s]
        bets[s] = entered[s] + (bets[above] if above >= 0 else 0)
        after[s] = s == bet or (above >= 0 and after[above])
    return bets == 0, int(bet), after & (bets == 1)


def _neighbours(
    game: js.PublicTree, after_bet: DepthLimit, menu: js.PublicTree, limit: DepthLimit, word: str
) -> np.ndarray:
    """Returns int64 [2, L], see `Spot`; raises where a state has no such neighbour."""
    known = {_path(menu, int(s)): k for k, s in enumerate(limit.leaf)}
    out = np.empty((2, after_bet.num_leaves), np.int64)
    for k, state in enumerate(after_bet.leaf):
        path = _path(game, int(state))
        for j, size in enumerate(SIZES):
            out[j, k] = known[path.replace(f"{word} {EXTRA:g}", f"{word} {size:g}")]
    return out


def _path(tree: js.PublicTree, state: int) -> str:
    table = listed(tree).states
    return describe_path(table.game, table, state)
