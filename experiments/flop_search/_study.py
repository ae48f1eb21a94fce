"""How exploitable the flop of a search is, in percent of the pot.

A flop is searched to its end with the continuations of a blueprint there. The flop's part of either
player is then held fixed in the spot that goes on to the river, all else is solved, and what the
player gets less than in the solved spot is what the search lost: what an opponent who answers the
flop best could win, if the player's turn and river were perfect.

The spot has the menu of the blueprint, so that nothing is lost by sizes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, abstraction_of, trained_agent
from experiments._report import Report
from jaxsolve import holdem, mccfr
from jaxsolve.holdem import limited, play
from jaxsolve.mccfr import Continuations, Role, bias

COLUMNS = ("flop", "search", "passes", "seconds", "exploitability_pot_percent")
MENU = MENUS / "hu20.toml"
RESULTS = Path(__file__).parent / "results"
RANGES = (
    "22+,A2s+,K7s+,Q8s+,J8s+,T8s+,97s+,86s+,76s,65s,A7o+,K9o+,Q9o+,J9o+,T9o",
    "22+,A2s+,K5s+,Q7s+,J7s+,T7s+,97s+,87s,76s,A5o+,K8o+,Q9o+,J9o+,T8o+,98o",
)
"""Of the player out of position and in position."""
SIZES = {"bet": ["100%", "a"], "raise": ["100%", "a"]}


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        flops: boards; the pot is that of a limped hand.
        buckets: of the blueprint, on each street.
        minutes: of its training by one thread.
        passes: boards of a search.
        continuations: how many, 1 to 4.
        iterations: of the spot that is solved, and of those with a fixed flop.
        ranges: of both players.
        folder: of an abstraction; others are built in the cache.
    """

    flops: tuple[str, ...] = ("Td9d6h", "Kh7c2s")
    buckets: int = 200
    minutes: float = 2.0
    passes: tuple[int, ...] = (50, 200, 800)
    continuations: tuple[int, ...] = (1, 4)
    iterations: tuple[int, int] = (300, 150)
    ranges: tuple[str, str] = RANGES
    folder: Path | None = dataclasses.field(default=None, repr=False)


QUICK = Plan(
    flops=("Td9d6h",),
    buckets=50,
    minutes=0.2,
    passes=(50,),
    iterations=(60, 40),
    ranges=("99+,AJs+,KQs,AQo+", "77+,ATs+,KJs+,QJs,JTs,AQo+"),
)


def main(
    quick: bool,
    out: Path,
    *,
    plan: Plan | None = None,
    record: bool | None = None,
    say: Callable[[str], None] = print,
) -> Report:
    """Returns a row per flop and way to search it.

    Args:
        quick: narrow ranges, one flop, few passes.
        out: folder; the blueprint is kept there, and rows as they come.
        plan: instead of that of the full or the quick study.
        record: also write the result of this device to the study's folder; by default for the
            full study.
        say: receives progress, a line at a time.
    """
    begin = time.perf_counter()
    record = (not quick and plan is None) if record is None else record
    chosen = plan or (QUICK if quick else Plan())
    rows: list[dict[str, Any]] = []
    report = Report("flop_search", quick, 0.0, rows, columns=COLUMNS)
    report.extra = {"plan": str(chosen)}
    buckets = abstraction_of(chosen.buckets, chosen.folder, out)
    base = trained_agent(MENU, buckets, out, minutes=chosen.minutes)

    def add(flop: str, name: str, passes: int | None, seconds: float | None, lost: float) -> None:
        row = {"flop": flop, "search": name, "passes": passes, "seconds": seconds}
        rows.append(row | {"exploitability_pot_percent": lost})
        say(f"{flop}, {name}, {passes}: {lost:.2f} % of the pot")
        report.save(out)

    for flop in chosen.flops:
        hand = _limped(base, flop)
        weights = np.stack([holdem.parse_range(text) for text in chosen.ranges])
        weights = np.where(holdem.possible(hand.board), weights, 0.0)
        spot = _spot(hand, weights)
        clock = time.perf_counter()
        exact = _solve(spot, chosen.iterations[0])
        seconds = time.perf_counter() - clock
        gap = 100 * exact.exploitability_pot

        add(flop, "to the end", chosen.iterations[0], seconds, gap)
        lost = _lost(spot, exact, _of_blueprint(base, hand), chosen)
        add(flop, "blueprint", None, None, lost)
        for count in chosen.continuations:
            after = limited.beyond(base.view, Continuations(base.sums, bias(10, count)))
            start = limited.SearchBegin(hand.state, hand.board, weights, _limp_node(base.view.tree))
            for passes in chosen.passes:
                found: list[limited.LimitedResult] = []
                for player in range(2):  # the opponent chooses
                    game = limited.limited_game(start, base.game.menu, after, (1 - player,))
                    found.append(limited.search(game, passes=passes))
                lost = _lost(spot, exact, _of_searches(found), chosen)
                name = "one value" if count == 1 else f"{count} values, the opponent chooses"
                add(flop, name, passes, found[0].seconds, lost)
    report.seconds = time.perf_counter() - begin
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


Policies = list[dict[str, dict[str, np.ndarray]]]
"""Per player: {line: {action: float [1326]}} on the flop."""


def _limped(base: play.BlueprintAgent, flop: str) -> play.PublicHand:
    hand = play.new_hand(holdem.no_limit(), base.game.menu.stack)
    hand = hand.act(hand.can.call)
    return hand.act(hand.can.call).deal(holdem.parse_cards(flop))


def _limp_node(tree: mccfr.ActionTree) -> int:
    return int(tree.find("c x"))


def _spot(hand: play.PublicHand, weights: np.ndarray) -> holdem.SpotTree:
    spent, stack = int(hand.state.spent[0]), int(hand.stacks[0])
    return holdem.spot_tree(
        holdem.Spot(
            board=hand.board,
            pot=2 * spent,
            stack=(stack - spent, stack - spent),
            ranges=(weights[0], weights[1]),
            sizes=holdem.parse_sizes(SIZES, streets=("flop", "turn", "river")),
            raise_cap=1,
        )
    )


def _solve(spot: holdem.SpotTree, iterations: int) -> holdem.SpotResult:
    return holdem.solve(
        spot, iterations=iterations, measure_every=iterations, target=None, progress=False
    )


def _lost(spot: holdem.SpotTree, exact: holdem.SpotResult, policies: Policies, plan: Plan) -> float:
    """Returns what the players lose on the mean by their flops, in percent of the pot."""
    lost = []
    for player, lines in enumerate(policies):
        fixed = spot
        for line, shares in lines.items():
            fixed = holdem.lock(fixed, line, shares)
        played = _solve(fixed, plan.iterations[1])
        lost.append(exact.values[player] - played.values[player])
    return float(100 * np.mean(lost) / exact.pot)


def _of_searches(found: list[limited.LimitedResult]) -> Policies:
    """Returns the flop of each player's own search."""
    policies: Policies = []
    for player, result in enumerate(found):
        tree = result.game.tree
        own = (tree.count > 0) & (tree.role == Role.PLAY) & (tree.actor == player)
        lines = {}
        for node in np.flatnonzero(own).tolist():
            policy, first = result.policy(node), int(tree.child[node])
            words = [tree.label[first + a] for a in range(policy.shape[1])]
            lines[tree.line(node)] = {w: policy[:, a] for a, w in enumerate(words)}
        policies.append(lines)
    return policies


def _of_blueprint(base: play.BlueprintAgent, hand: play.PublicHand) -> Policies:
    """Returns the flop of a blueprint."""
    tree, game = base.view.tree, base.game
    table = mccfr.SeatTable(tree.rows(game.num_buckets), base.sums)
    bucket = np.zeros((1326, 2, tree.num_stages), np.uint16)
    bucket[:, :, 1] = np.minimum(game.abstraction.bucket(hand.board), game.num_buckets[1] - 1)[
        :, None
    ]
    root, policies = _limp_node(tree), [{}, {}]
    begin = len(tree.line(root))
    below = [root]
    while below:
        node = below.pop()
        first, count = int(tree.child[node]), int(tree.count[node])
        if not count or tree.stage[node] != 1:
            continue
        policy = mccfr.policies_at(tree, [table] * 2, np.full(1326, node), bucket)[:, :count]
        line = tree.line(node)[begin:].lstrip(" /")
        words = [tree.label[first + a] for a in range(count)]
        policies[int(tree.actor[node])][line] = {w: policy[:, a] for a, w in enumerate(words)}
        below += range(first, first + count)
    return policies


def _figure(rows: list[dict[str, Any]]) -> Any:
    """Returns a figure: what is lost against the passes of a search, by flop."""
    from matplotlib.figure import Figure

    flops = list(dict.fromkeys(r["flop"] for r in rows))
    figure = Figure(figsize=(4.8 * len(flops), 3.8), layout="constrained")
    for axes, flop in zip(figure.subplots(1, len(flops), squeeze=False)[0], flops, strict=True):
        here = [r for r in rows if r["flop"] == flop]
        for k, name in enumerate(dict.fromkeys(r["search"] for r in here)):
            line = [r for r in here if r["search"] == name]
            values = [r["exploitability_pot_percent"] for r in line]
            if name in ("to the end", "blueprint"):
                style = "--" if name == "blueprint" else ":"
                axes.axhline(values[0], color=f"C{k}", linestyle=style, label=name)
            else:
                axes.plot([r["passes"] for r in line], values, "o-", color=f"C{k}", label=name)
        axes.set_xscale("log")
        axes.minorticks_off()
        passes = sorted(
            {r["passes"] for r in here if r["search"] not in ("to the end", "blueprint")}
        )
        axes.set_xticks(passes, [f"{p:,}" for p in passes])
        axes.set_ylim(bottom=0)
        axes.set_title(flop)
        axes.set_xlabel("passes of a search, a board each")
        axes.set_ylabel("exploitability of the flop, % of the pot")
        axes.legend(fontsize=8)
    return figure
