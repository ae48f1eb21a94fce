"""How exploitable the flop of a search is, in percent of the pot.

A flop is searched to its end with the continuations of a blueprint there. The flop's part of either
player is then held fixed in the spot that goes on to the river, all else is solved, and what the
player gets less than in the solved spot is what the search lost: what an opponent who answers the
flop best could win, if the player's turn and river were perfect.

The spot has the menu of the blueprint, so that nothing is lost by sizes. A study that was stopped
goes on after its last row.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments._blueprints import MENUS, abstraction_of, trained_agent
from experiments._report import Report
from jaxsolve import holdem, mccfr
from jaxsolve.holdem import leaf_net, limited, play
from jaxsolve.mccfr import Continuations, Role, bias

COLUMNS = ("flop", "search", "passes", "seconds", "exploitability_pot_percent")
MENU = MENUS / "hu20.toml"
RESULTS = Path(__file__).parent / "results"
RANGES = (
    "22+,A2s+,K7s+,Q8s+,J8s+,T8s+,97s+,86s+,76s,65s,A7o+,K9o+,Q9o+,J9o+,T9o",
    "22+,A2s+,K5s+,Q7s+,J7s+,T7s+,97s+,87s,76s,A5o+,K8o+,Q9o+,J9o+,T8o+,98o",
)
"""Of the player out of position and in position."""
NET_ITERATIONS = (50, 200)
"""Of searches with a network, in place of passes; its examples take as long as the blueprint."""

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
    report.extra = {"plan": str(chosen), "complete": False}
    earlier, spent = report.earlier(out, same=("plan",))
    begin -= spent
    known = {(r["flop"], r["search"], r["passes"]): r for r in earlier}
    buckets = abstraction_of(chosen.buckets, chosen.folder, out)
    base = trained_agent(MENU, buckets, out, minutes=chosen.minutes)

    def add(flop: str, name: str, passes: int | None, find: Callable[[], Found]) -> None:
        """Adds a row: one that is known, or what `find` says (exploitability, seconds)."""
        row = known.get((flop, name, passes))
        if row is None:
            lost, seconds = find()
            row = {"flop": flop, "search": name, "passes": passes, "seconds": seconds}
            row["exploitability_pot_percent"] = lost
        rows.append(row)
        say(f"{flop}, {name}, {passes}: {row['exploitability_pot_percent']:.2f} % of the pot")
        report.seconds = time.perf_counter() - begin
        report.save(out)

    for flop in chosen.flops:
        problem = _Flop(base, flop, chosen)
        add(flop, "to the end", chosen.iterations[0], problem.to_the_end)
        add(flop, "blueprint", None, problem.of_blueprint)
        for count in chosen.continuations:
            name = "one value" if count == 1 else f"{count} values, the opponent chooses"
            for passes in chosen.passes:
                add(flop, name, passes, functools.partial(problem.searched, count, passes))
        for iterations in NET_ITERATIONS:
            name = "4 values by a network"
            find = functools.partial(problem.by_network, iterations, out / "leaf_net")
            add(flop, name, iterations, find)
    report.extra["complete"] = True
    report.seconds = time.perf_counter() - begin
    report.save(out, figure=_figure(rows))
    if record:
        report.record(RESULTS)
    return report


Found = tuple[float, float | None]
"""(Exploitability in percent of the pot, seconds of a search)."""

Policies = list[dict[str, dict[str, np.ndarray]]]
"""Per player: {line: {action: float [1326]}} on the flop."""


class _Flop:
    """A flop, and what each way to search it loses."""

    def __init__(self, base: play.BlueprintAgent, flop: str, plan: Plan) -> None:
        self.base, self.plan, self.hand = base, plan, _limped(base, flop)
        weights = np.stack([holdem.parse_range(text) for text in plan.ranges])
        self.weights = np.where(holdem.possible(self.hand.board), weights, 0.0)
        self.spot = _spot(self.hand, self.weights)

    @functools.cached_property
    def exact(self) -> tuple[holdem.SpotResult, float]:
        """The spot solved to the end, and the seconds that it took."""
        clock = time.perf_counter()
        found = _solve(self.spot, self.plan.iterations[0])
        return found, time.perf_counter() - clock

    def to_the_end(self) -> Found:
        """What the solution loses."""
        found, seconds = self.exact
        return 100 * found.exploitability_pot, seconds

    def of_blueprint(self) -> Found:
        """What the blueprint loses."""
        return self._lost(_of_blueprint(self.base, self.hand)), None

    def searched(self, count: int, passes: int) -> Found:
        """What searches with continuations lose that are played out."""
        after, begin = self._after(count)
        found = [limited.search(self._game(i, after, begin), passes=passes) for i in range(2)]
        return self._lost(_of_searches(found)), found[0].seconds

    def by_network(self, iterations: int, out: Path) -> Found:
        """What searches with a network of four continuations lose."""
        after, begin = self._after(4)
        net = leaf_net.train(after, minutes=self.plan.minutes, out=out)
        found = [
            leaf_net.search_street(
                self._game(i, after, begin), begin, after, net, iterations=iterations
            )
            for i in range(2)
        ]
        return self._lost(_of_searches(found)), found[1].seconds  # the flop's showdowns are known

    def _after(self, count: int) -> tuple[limited.Beyond, limited.SearchBegin]:
        after = limited.beyond(self.base.view, Continuations(self.base.sums, bias(10, count)))
        node = _limp_node(self.base.view.tree)
        return after, limited.SearchBegin(self.hand.state, self.hand.board, self.weights, node)

    def _game(
        self, player: int, after: limited.Beyond, begin: limited.SearchBegin
    ) -> limited.LimitedHoldem:
        """Returns the search of one player; the opponent chooses."""
        return limited.limited_game(begin, self.base.game.menu, after, (1 - player,))

    def _lost(self, policies: Policies) -> float:
        return _lost(self.spot, self.exact[0], policies, self.plan)


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
    root = _limp_node(tree)
    policies: Policies = [{}, {}]
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
        axes.set_xlabel("passes of a search, a board each; iterations with a network")
        axes.set_ylabel("exploitability of the flop, % of the pot")
        axes.legend(fontsize=8)
    return figure
