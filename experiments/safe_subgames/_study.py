"""Coarse strategies before and after re-solving, each method once, exploitability exact.

Two tables. In the first a coarse strategy sees the board card only up to its bucket, and each
method re-solves the second betting round with the cards as they are. In the second a strategy has
never seen one size of bet: it takes it for a near one (action translation), or each method
re-solves from the bet on. Both players' strategies are re-solved; exploitability is NashConv / 2,
in thousandths of a chip.

Source: Brown & Sandholm 2017, "Safe and nested subgame solving for imperfect-information games",
section 8. The figures are those of CFR, as in the paper. Any strategy that leaves no margin
negative solves a `resolve` subgame, and a linear program finds an arbitrary vertex of these: its
figures stand in a column of their own, `exploitability_lp`. Differs from the paper in the games and
in the abstraction: in games of Leduc's kind the board card is coarse, in hold'em the flop, of which
players learn how strong it makes their hand and no more; the first round is not abstracted.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxsolve as js
from experiments._report import Report
from experiments.safe_subgames._abstraction import (
    Blueprint,
    board_blueprint,
    hand_blueprint,
    translated_blueprint,
)
from jaxsolve import subgame
from jaxsolve.tree import listed

METHODS: dict[str, dict[str, Any]] = {
    "unsafe": {"gadget": "unsafe"},
    "resolve": {"gadget": "resolve"},
    "maxmargin": {"gadget": "maxmargin"},
    "reach-maxmargin": {"gadget": "maxmargin", "reach": "exact"},
    "estimate": {"gadget": "maxmargin", "alternative": "estimate"},
    "reach-estimate": {"gadget": "maxmargin", "alternative": "estimate", "reach": "estimate"},
    "estimate, distributional": {"gadget": "resolve", "alternative": "estimate", "noise": True},
    "reach-estimate, distributional": {
        "gadget": "resolve",
        "alternative": "estimate",
        "reach": "estimate",
        "noise": True,
    },
}

OFF_TREE = ("resolve", "maxmargin", "reach-maxmargin", "estimate", "reach-estimate")
"""Methods of the second table; the blueprint has no range for O after a bet off its tree."""

TARGET = 1e-3
"""Gap at which CFR leaves a subgame, in chips."""

SUBGAME_ITERATIONS = 2000
"""Of CFR, at most."""

OUTCOMES = 5
"""Of distributional alternative values."""

EXTRA = 0.75
"""The bet off the tree, as a fraction of the pot."""

BOARD, HANDS = "of the board's ranks", "of hands on the flop"

NLFH = "holdem(stack=8,blinds=[1,2],streets=2,sizes=[1],raises=[2,1],ranks=4,suits=2)"
"""No-limit flop hold'em with a deck of eight cards and stacks of four big blinds."""

STUDIES = (
    # game, buckets, of what, part of the quick run
    ("leduc", 1, BOARD, False),
    ("leduc", 2, BOARD, True),
    ("nolimit_leduc(stack=9)", 1, BOARD, False),
    ("nolimit_leduc(stack=9)", 2, BOARD, False),
    (NLFH, 2, HANDS, False),
    (NLFH, 3, HANDS, False),
)

OFF_TREE_STUDIES = (
    # game, sizes of the coarse game, part of the quick run
    ("nolimit_leduc(suits=1,stack=9)", [0.5, 1.0], True),
    ("nolimit_leduc(stack=9)", [0.5, 1.0], False),
)


def main(quick: bool, out: Path) -> Report:
    """Returns both tables, after saving rows, table and picture in `out`.

    Args:
        quick: the small games only.
        out: folder.
    """
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    report = Report("safe_subgames", quick, 0.0, rows)
    with jax.enable_x64(True):
        for game, buckets, of, small in STUDIES:
            if small or not quick:
                make = board_blueprint if of == BOARD else hand_blueprint
                rows += boards(game, f"{buckets} {of}", make(game, buckets))
                report.seconds = time.perf_counter() - begin
                report.save(out)
        for game, sizes, small in OFF_TREE_STUDIES:
            if small or not quick:
                blueprint = translated_blueprint(game, sizes, EXTRA)
                rows += off_tree(game, f"no bet of {EXTRA:g} pot", blueprint)
                report.seconds = time.perf_counter() - begin
                report.save(out)
    report.save(out, figure=_figure(rows))
    return report


def boards(game: str, abstraction: str, blueprint: Blueprint) -> list[dict[str, Any]]:
    """Returns the rows of one coarse strategy: the trunk, and each method in the second round."""
    info = listed(blueprint.tree)
    shown = info.states.public_states.observation
    begins = np.flatnonzero(shown[:, 1] >= 0)  # the board has just been dealt
    alive = np.unique(info.states.public[info.states.actor >= 0])
    at = np.intersect1d(begins, alive)
    return _rows(game, abstraction, "trunk", blueprint, (at, at), tuple(METHODS))


def off_tree(game: str, abstraction: str, blueprint: Blueprint) -> list[dict[str, Any]]:
    """Returns the rows of one strategy without a bet: translation, and each method after it."""
    info = listed(blueprint.tree)
    table = info.states
    moves = [a for a in range(info.game.num_actions) if info.action_name(0, a) == f"bet {EXTRA:g}"]
    is_bet = np.isin(table.public_states.observation[:, 0], moves)
    before = np.zeros(len(is_bet), bool)  # such a bet lies above
    parent = table.public_states.parent
    for s in range(1, len(parent)):
        before[s] = before[parent[s]] | is_bet[parent[s]]
    first = is_bet & ~before
    places = tuple(
        np.intersect1d(np.flatnonzero(first), np.unique(table.public[table.actor == player]))
        for player in range(2)
    )
    return _rows(game, abstraction, "action translation", blueprint, places, OFF_TREE)


def _rows(
    game: str,
    abstraction: str,
    start: str,
    blueprint: Blueprint,
    places: tuple[np.ndarray, ...],
    methods: tuple[str, ...],
) -> list[dict[str, Any]]:
    tree, policy = blueprint.tree, blueprint.policy
    same = {
        "game": game,
        "abstraction": abstraction,
        "infosets": sum(tree.info.num_infosets),
        "coarse_infosets": blueprint.coarse_infosets,
    }
    rows = [{**same, "method": start, "exploitability": _mbb(tree, policy), "subgames": 0}]
    for method in methods:
        options = dict(METHODS[method])
        begin = time.perf_counter()
        parts = [_subgames(tree, policy, places[i], i, options) for i in range(2)]
        found = {}
        for solver in ("pcfr+", "lp"):
            solutions = subgame.solve_subgames(
                parts, solver, target=TARGET, iterations=SUBGAME_ITERATIONS
            )
            after = policy
            for i, (part, solution) in enumerate(zip(parts, solutions, strict=True)):
                after = subgame.write(after, part, _policy(part, i, solution.behaviour))
            found[solver] = _mbb(tree, after)
            if solver == "pcfr+":
                gap = max(float(s.gap.max()) for s in solutions)
        rows.append(
            {
                **same,
                "method": method,
                "exploitability": found["pcfr+"],
                "exploitability_lp": found["lp"],
                "gap": gap,
                "subgames": sum(len(s.gap) for s in solutions),
                "seconds": time.perf_counter() - begin,
            }
        )
    print(f"{game}, {abstraction}: " + _line(rows), flush=True)
    return rows


def _subgames(
    tree: js.PublicTree, policy: js.Policy, at: np.ndarray, player: int, options: dict[str, Any]
) -> js.PublicTree:
    """Returns the subgames of one player under one method."""
    options = dict(options)
    gadget = options.pop("gadget")
    build = getattr(subgame, gadget)
    if options.pop("noise", False):
        exact = subgame.resolve(tree, policy, at, player=player).info
        rough = subgame.resolve(tree, policy, at, player=player, alternative="estimate").info
        assert isinstance(exact, subgame.SubgameInfo)
        assert isinstance(rough, subgame.SubgameInfo)
        # The estimates' own error, by how likely each class is: what a player could know of them.
        error = exact.alternative - rough.alternative
        deviation = float(np.sqrt(np.average(error**2, weights=exact.weight)))
        options["noise"] = subgame.Noise(deviation, OUTCOMES, jax.random.key(0))
    tree_of_subgames: js.PublicTree = build(tree, policy, at, player=player, **options)
    return tree_of_subgames


def _policy(part: js.PublicTree, player: int, behaviour: np.ndarray) -> js.Policy:
    """Returns a policy of subgames whose player plays as solved; the other is uniform."""
    uniform = js.uniform_policy(part)
    parts = [uniform.probabilities(i) for i in range(2)]
    parts[player] = behaviour
    return js.tree.policy_from_probabilities(part, parts)


def _mbb(tree: js.PublicTree, policy: js.Policy) -> float:
    """Returns exploitability in thousandths of a chip."""
    return 1000 * float(js.exploitability(tree, policy))


def _line(rows: list[dict[str, Any]]) -> str:
    return ", ".join(f"{r['method']} {r['exploitability']:.2f}" for r in rows)


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns bars: exploitability by method, a panel for each coarse strategy."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    panels = list(dict.fromkeys((r["game"], r["abstraction"]) for r in rows))
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    drawing = Figure(figsize=(4.5 * across, 3.2 * down))
    grid = np.ravel(drawing.subplots(down, across, squeeze=False))
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for (game, abstraction), axes in zip(panels, grid, strict=False):
        mine = [r for r in rows if (r["game"], r["abstraction"]) == (game, abstraction)]
        colours = ["0.6", *(f"C{k}" for k in range(len(mine) - 1))]
        at = np.arange(len(mine))[::-1]
        axes.barh(at, [r["exploitability"] for r in mine], color=colours)
        axes.set_yticks(at, [r["method"] for r in mine], fontsize=7)
        axes.set_title(f"{game}\n{abstraction}", fontsize=8)
        axes.set_xlabel("exploitability (chips / 1000)", fontsize=8)
    drawing.tight_layout()
    return drawing
