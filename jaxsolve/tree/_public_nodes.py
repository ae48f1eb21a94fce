"""Public states of a listed tree by name: what everybody saw, in words.

A name is the words of the public transitions in order: the action where everybody could tell what a
player did, otherwise the game's words for the public observation. " / " stands before what chance
showed. Leduc poker has "start", "raise call", "raise call / Kh", "raise call / Kh raise". A
move that nobody else could tell is "p0" or "p1". A private deal has no words, so the public states
before and after it share a name; `public_node` finds the last of them. Children of one public state
that would have the same words get the number of the public state behind them, "#17".
"""

from __future__ import annotations

import collections
import dataclasses
import difflib
from typing import TYPE_CHECKING

import numpy as np

from jaxsolve.game import action_name, observation_name
from jaxsolve.plot import Svg, tree_svg
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

if TYPE_CHECKING:
    from jaxsolve.tree._info import ListedInfo

START = "start"
"""The name of the public state in which nothing has been seen."""


@dataclasses.dataclass(frozen=True)
class PublicNode:
    """One public state of a listed tree.

    Attributes:
        name: words of what everybody saw, "start" of nothing.
        number: in the table of states (`StateTable.public`).
        parent: number of the public state before, -1 for the first.
        children: numbers of those that follow.
        actors: who acts in its world states: players, or CHANCE; (TERMINAL,) where all is over.
        actions: words of the actions that are legal in one of its infosets.
        infosets: for each player, the numbers of their infosets, in canonical order.
        num_states: its world states.
    """

    name: str
    number: int
    parent: int
    children: tuple[int, ...]
    actors: tuple[int, ...]
    actions: tuple[str, ...]
    infosets: tuple[tuple[int, ...], ...]
    num_states: int


def public_node(info: ListedInfo, name: str) -> PublicNode:
    """Returns the public state of a name, the last one of several.

    Raises:
        ValueError: there is none; says which there are after the words that are right.
    """
    wanted = " ".join(name.split()) or START
    named = {node.name: node for node in info.public_nodes}
    if wanted in named:
        return named[wanted]
    known = START
    for size in range(len(wanted.split()), 0, -1):
        if (prefix := " ".join(wanted.split()[:size])) in named:
            known = prefix
            break
    after = {n for n in named if _before(n, known)}
    near = difflib.get_close_matches(wanted, named, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    nodes = [node.name for node in info.public_nodes if node.name in after]
    follow = ", ".join(dict.fromkeys(nodes)) or "nothing"
    raise ValueError(f"{info.name} has no public state {name!r}.{hint} After {known!r}: {follow}.")


def public_nodes(info: ListedInfo) -> tuple[PublicNode, ...]:
    """Returns every public state of a tree, in order of the table of states."""
    table = info.states
    parent = table.public_states.parent
    children: list[list[int]] = [[] for _ in parent]
    for number, up in enumerate(parent.tolist()):
        if up >= 0:
            children[up].append(number)
    names = _names(info, children)
    inside: list[list[list[int]]] = [[[] for _ in info.players] for _ in parent]
    for i, player in enumerate(info.players):
        for k, number in enumerate(player.public.tolist()):
            inside[number][i].append(k)
    pairs = np.unique(np.stack([table.public, table.actor], 1), axis=0)
    actors: list[list[int]] = [[] for _ in parent]
    for number, actor in pairs.tolist():
        actors[number].append(actor)
    counts = np.bincount(table.public, minlength=len(parent)).tolist()
    return tuple(
        PublicNode(
            names[number],
            number,
            int(up),
            tuple(children[number]),
            tuple(a for a in actors[number] if a >= CHANCE) or tuple(actors[number]),
            _actions(info, inside[number]),
            tuple(map(tuple, inside[number])),
            counts[number],
        )
        for number, up in enumerate(parent.tolist())
    )


def _before(name: str, known: str) -> bool:
    """Returns whether a name is one step further than another."""
    if known == START:
        rest = name
    elif name.startswith(known + " "):
        rest = name[len(known) + 1 :].removeprefix("/ ")
    else:
        return False
    return name != known and " / " not in rest and len(rest.split()) <= 2


def _names(info: ListedInfo, children: list[list[int]]) -> list[str]:
    words = _words(info)
    names = [""] * len(children)
    for number, below in enumerate(children):
        shared = collections.Counter(words[k][1] for k in below)
        for k in below:
            drawn, word = words[k]
            if shared[word] > 1 or (not word and len(below) > 1):
                word = f"{word} #{k}".strip()
            between = " / " if drawn and word and names[number] else " "
            names[k] = f"{names[number]}{between}{word}".strip()
    return [name or START for name in names]


def _words(info: ListedInfo) -> list[tuple[bool, str]]:
    """Returns (whether chance made it, the words) of the transition into each public state."""
    table = info.states
    shown = table.public_states.observation
    states = info.players[0].states
    width = 0 if states is None else states.observation.shape[1] - shown.shape[1]
    nothing = np.full(width, NOTHING)
    up = table.parent
    enters = np.flatnonzero((up >= 0) & (table.public != table.public[np.maximum(up, 0)]))
    moves = np.stack([table.public[enters], table.actor[up[enters]], table.action[enters]], 1)
    led: list[set[tuple[int, int]]] = [set() for _ in shown]
    for number, actor, action in np.unique(moves, axis=0).tolist():
        led[number].add((actor, action))
    words = []
    for number, seen in enumerate(shown):
        drawn = any(actor == CHANCE for actor, _ in led[number])
        if len(led[number]) == 1 and (not drawn or not len(seen)):
            ((actor, action),) = led[number]
            word = action_name(info.game, actor, action)
        else:
            word = observation_name(info.game, seen, nothing) if len(seen) and led[number] else ""
            if not word and not drawn:
                word = "".join(f"p{actor}" for actor in sorted({a for a, _ in led[number]}))
        words.append((drawn, " ".join(word.split())))
    return words


def _actions(info: ListedInfo, infosets: list[list[int]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for i, (player, inside) in enumerate(zip(info.players, infosets, strict=True)):
        for k in inside:
            for action in player.action[player.offset[k] : player.offset[k + 1]]:
                found[info.action_name(i, int(action))] = None
    return tuple(found)


def draw_public(info: ListedInfo, name: str, depth: int | None, limit: int) -> Svg:
    """Returns a picture of the public states below one; see `PublicTree.draw`."""
    nodes = info.public_nodes
    # Of public states that share a name only the last is drawn.
    last = {node.name: node for node in nodes}
    top = public_node(info, name)
    parent, words, kinds, notes = [-1], [top.name], [_kind(top)], [_note(top)]
    rows = {top.number: 0}
    waiting = [(top, 0)]
    while waiting:
        node, level = waiting.pop(0)
        for child in (nodes[k] for k in node.children):
            if depth is not None and level == depth:
                words[rows[node.number]] += " ..."
                break
            shown = last[child.name]
            rows[shown.number] = len(parent)
            parent.append(rows[node.number])
            skip = 0 if node.name == START else len(node.name)
            words.append(shown.name[skip:].strip())
            kinds.append(_kind(shown))
            notes.append(_note(shown))
            waiting.append((shown, level + 1))
        if len(parent) > limit:
            raise ValueError(
                f"more than {limit} public states below {top.name!r}; draw those of a public state "
                "further down (name=), fewer levels (depth=), or pass a larger limit="
            )
    return tree_svg(parent, words, kinds, notes)


def _kind(node: PublicNode) -> str:
    player = node.actors[0]
    return {CHANCE: "chance", TERMINAL: "end"}.get(player, f"player {player}")


def _note(node: PublicNode) -> str:
    infosets = " + ".join(str(len(inside)) for inside in node.infosets)
    return f"{node.name}: {_kind(node)}, {infosets} infosets, {node.num_states} world states"
