"""Charts of a blueprint on one page that loads nothing: the first decisions and the common lines.

The probability of a line is the product over players of how often their range plays it. Cards that
players take from each other are left out of it, so that it is exact per player and near for all.
"""

from __future__ import annotations

import heapq
import html
import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from jaxsolve.holdem._blueprint import Blueprint
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import action_colours
from jaxsolve.holdem._display import cards_html, strategy_html
from jaxsolve.holdem._positions import PositionReport, opening_lines, position_names
from jaxsolve.view import document

_STYLE = """
.charts { display: grid; gap: 18px; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(392px, 100%), 1fr)); }
figure { margin: 0; min-width: 0; max-width: 392px; }
figcaption { overflow-wrap: anywhere; }
figcaption small { color: var(--soft); }
figure output { display: block; min-height: 2.8em; color: var(--soft); font-size: 12px; }
h2 { margin: 18px 0 8px; }
.positions { max-width: 640px; }
@media (max-width: 480px) { .positions :is(th, td):last-child { display: none; } }
"""

_SCRIPT = """<script>
"use strict";
for (const figure of document.querySelectorAll("figure")) {
  const show = (event) => {
    const cell = event.target.closest("td[title]");
    if (cell) figure.querySelector("output").textContent = cell.title;
  };
  figure.addEventListener("pointerover", show);
  figure.addEventListener("click", show);
}
</script>"""
"""Writes below a chart what a cell's tooltip says: a finger has no other way to read it."""


def common_lines(made: Blueprint, count: int = 24) -> dict[str, float]:
    """Returns the preflop lines after which somebody decides that are played most: {line: share}.

    Args:
        made: the blueprint.
        count: of lines.

    Returns:
        Lines with their probabilities, which fall; see the module for what they leave out.

    Raises:
        ValueError: count is below 1.
    """
    if count < 1:
        raise ValueError(f"count is 1 or more, not {count}")
    tree, order = made.game.tree, itertools.count()
    everything = (np.ones(NUM_HANDS),) * tree.num_players
    waiting = [(-1.0, next(order), 0, everything)]
    found: dict[str, float] = {}
    while waiting and len(found) < count:
        chance, _, node, reach = heapq.heappop(waiting)
        if not tree.count[node] or tree.stage[node] > 0:
            continue
        line, actor = tree.line(node), int(tree.actor[node])
        found[line] = -chance
        for a, column in enumerate(made.policy(line).T):
            after = (*reach[:actor], reach[actor] * column, *reach[actor + 1 :])
            share = float(np.prod([r.mean() for r in after]))
            if share > 0:
                step = (-share, next(order), int(tree.child[node]) + a, after)
                heapq.heappush(waiting, step)
    return found


def preflop_page(
    made: Blueprint, *, count: int = 24, positions: Sequence[PositionReport] = ()
) -> str:
    """Returns an HTML page with the first decision of each position and the commonest lines.

    Args:
        made: the blueprint.
        count: of common lines.
        positions: of `position_reports`, shown as a table.

    Raises:
        ValueError: count is below 1.
    """
    tree, menu = made.game.tree, made.game.menu
    lines = common_lines(made, count)
    first = list(opening_lines(tree).values())
    rest = [line for line in lines if line not in first]
    facts = {
        "players": f"{menu.players}",
        "stack": f"{menu.stack:,} chips",
        "buckets": " / ".join(f"{n:,}" for n in made.game.num_buckets),
        "trained": f"{made.seconds / 60:.1f} min, {made.tables.passes:,} passes",
    }
    words = "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in facts.items())
    body = f"<header><h1>Before the flop</h1><dl>{words}</dl></header>\n"
    body += _table(positions) if positions else ""
    body += "<h2>First in: everybody before has folded</h2>\n" + _charts(made, first, (), lines)
    if rest:
        body += "<h2>The lines that are played most</h2>\n" + _charts(made, rest, (), lines)
    return document("Before the flop", body + _SCRIPT, style=_STYLE)


def _table(positions: Sequence[PositionReport]) -> str:
    colours = action_colours(["fold", "call", "raise"])
    rows = []
    for p in positions:
        cells, bars = ["&ndash;"] * 3, []
        for k, (action, share) in enumerate(zip(colours, (p.fold, p.call, p.bet), strict=True)):
            if share is not None:
                cells[k] = f"{100 * share:.1f}%"
                bars.append(
                    f"<i style='width:{100 * share:.2f}%;background:{colours[action]}'></i>"
                )
        won = f"{p.mbb:+.0f} &plusmn; {p.high - p.mbb:.0f}"
        mix = f"<span class='mix'>{''.join(bars)}</span>" if bars else ""
        rows.append(f"<tr>{''.join(f'<td>{c}</td>' for c in (p.position, won, *cells, mix))}</tr>")
    head = "".join(f"<th>{x}</th>" for x in ("position", "mbb/h", *colours, ""))
    return (
        "<h2>Positions</h2>\n<p>What each wins when all play this strategy, with 95&nbsp;% "
        "intervals, and what it does when everybody before has folded.</p>\n"
        f"<table class='positions'><tr>{head}</tr>{''.join(rows)}</table>\n"
    )


def node_page(made: Blueprint, line: str, board: Sequence[int] = ()) -> str:
    """Returns an HTML page with the strategy after a line on a board.

    Args:
        made: the blueprint.
        line: see `Blueprint.policy`.
        board: the cards of its street.

    Raises:
        ValueError: there is no such line, or the board is not of its street.
    """
    body = _charts(made, [line], board, {})
    return document(line or "first decision", body + _SCRIPT, style=_STYLE)


def _charts(
    made: Blueprint, lines: Iterable[str], board: Sequence[int], share: dict[str, float]
) -> str:
    return f'<div class="charts">{"".join(_chart(made, x, board, share) for x in lines)}</div>\n'


def _chart(made: Blueprint, line: str, board: Sequence[int], share: dict[str, float]) -> str:
    tree = made.game.tree
    policy, reach = made.policy(line, board), made.reach(line, board)
    strategy = {word: policy[:, a] for a, word in enumerate(made.actions(line))}
    name = position_names(tree.num_players)[int(tree.actor[tree.find(line)])]
    words = f"<code>{html.escape(line)}</code>" if line else "first decision"
    often = f" <small>{100 * share[line]:.1f}% of hands</small>" if line in share else ""
    cards = f"<div>{cards_html(board)}</div>" if len(board) else ""
    return (
        f"<figure><figcaption><b>{name}</b> {words}{often}</figcaption>{cards}"
        f"{strategy_html(strategy, reach, board)}<output></output></figure>\n"
    )
