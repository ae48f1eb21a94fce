"""Matches between strategies that are known, in steps that are kept: on boards, or by tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from jaxsolve.files import claim, uninterrupted
from jaxsolve.holdem._blueprint_game import HoldemGame
from jaxsolve.holdem._hand_match import STEP, HandMatch, hand_match
from jaxsolve.holdem._hand_values import hand_values
from jaxsolve.holdem._range_match import RangeMatch, range_match
from jaxsolve.holdem.play._agent import RangeAgent
from jaxsolve.holdem.play._blueprint_agent import BlueprintAgent
from jaxsolve.holdem.play._kept import KeptMatch, identity, write_rows
from jaxsolve.holdem.play._range_play import agents_range_match
from jaxsolve.holdem.play._search_agent import SearchAgent


class KnownMatch(NamedTuple):
    """A match and what is written of it.

    Attributes:
        found: mean and interval of the first agent.
        rows: for result.json, one for each estimator.
        finished: whether all of it was played.
    """

    found: RangeMatch | HandMatch | None
    rows: list[dict[str, Any]]
    finished: bool


def play_on_boards(
    first: RangeAgent,
    second: RangeAgent,
    stack: int,
    *,
    boards: int = 100,
    seed: int = 0,
    seconds: float | None = None,
    threads: int = 1,
    out: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> KnownMatch:
    """Returns a match over ranges: `range_match` of tables of one menu, else of any agents.

    Where an agent searches, it goes on from one end of each street, drawn by chance.

    Args:
        first: an agent.
        second: the other.
        stack: chips before the hand.
        boards: how many are sampled.
        seed: of boards and keys.
        seconds: that a decision may take, where agents are asked.
        threads: of tables.
        out: directory for result.json and a checkpoint: every ten boards of tables, else each.
        resume: go on in `out`, if there is a checkpoint of this match.
        progress: show a bar.

    Raises:
        ValueError: as `range_match` and `agents_range_match`, or `out` has this match and `resume`
            is not set.
    """
    tables = _strategies(first, second)
    quick = next((x.after for x in (first, second) if isinstance(x, SearchAgent)), None)
    step = 1 if tables is None else 10

    def play(now: range) -> dict[str, np.ndarray]:
        how: Any = {"boards": now.stop, "skip": now.start, "seed": seed}
        if tables is not None:
            found = range_match(*tables, threads=threads, **how)
        else:
            how |= {"drawn": quick is not None, "quick": quick}
            found = agents_range_match(first, second, stack, seconds=seconds, **how)
        return {"boards": found.boards, "chips": found.chips}

    def match(kept: KeptMatch) -> RangeMatch:
        return RangeMatch(kept.arrays["boards"].astype(np.uint8), kept.arrays["chips"])

    def rows(kept: KeptMatch) -> list[dict[str, Any]]:
        found = match(kept)
        if kept.done < 2:
            return []
        hands = 2 * kept.done  # a board in both seats, each of which stands for all pairs of hands
        estimator = "range" if quick is None else "range, drawn ends"
        more = {"estimator": estimator, "hands": hands, "boards": kept.done}
        return [_row([first, second], found, seed, kept.seconds / hands, more)]

    settings = {"agents": identity([first, second]), "stack": stack, "seed": seed, "form": "range"}
    shapes: dict[str, tuple[int, ...]] = {"boards": (5,), "chips": ()}
    how = {"units": boards, "step": step, "shapes": shapes}
    kept = _in_steps(play, rows, settings, how, out, resume, progress, "board")
    return KnownMatch(match(kept) if kept.done else None, rows(kept), kept.done == boards)


def play_by_tables(
    first: BlueprintAgent,
    second: BlueprintAgent,
    *,
    hands: int = 100_000,
    seed: int = 0,
    out: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> KnownMatch:
    """Returns `hand_match` of two tables, the second in all seats but one.

    Args:
        first: a table.
        second: another; menus and buckets may differ, stacks may not.
        hands: how many are played, rounded up to whole rotations.
        seed: of deals and actions.
        out: directory for result.json and a checkpoint.
        resume: go on in `out`, if there is a checkpoint of this match.
        progress: show a bar.

    Raises:
        ValueError: as `hand_match`, or `out` has this match and `resume` is not set.
    """
    n = first.game.menu.players
    seats = [(first.game, first.sums), *[(second.game, second.sums)] * (n - 1)]
    values = None

    def play(now: range) -> dict[str, np.ndarray]:
        nonlocal values
        values = hand_values(seats[0], seed=seed) if values is None else values
        found = hand_match(seats, hands=now.stop * n, skip=now.start, seed=seed, values=values)
        return {"chips": found.chips, "plain": found.plain}

    def match(kept: KeptMatch) -> HandMatch:
        return HandMatch(kept.arrays["chips"], kept.arrays["plain"])

    def rows(kept: KeptMatch) -> list[dict[str, Any]]:
        found, agents = match(kept), [first, second]
        if kept.done < 2:
            return []
        each = kept.seconds / found.hands
        more: dict[str, Any] = {"estimator": "aivat", "hands": found.hands}
        plain: dict[str, Any] = {"estimator": "duplicate", "hands": found.hands}
        table = HandMatch(found.plain, found.plain)
        return [
            _row(agents, found, seed, each, {**more, "p_value": found.p_value}),
            _row(agents, table, seed, each, {**plain, "p_value": table.p_value}),
        ]

    if hands <= n:
        raise ValueError(f"hands is {n + 1} or more, not {hands}: two deals")
    settings = {"agents": identity([first, second]), "seed": seed, "form": "tables"}
    deals = -(-hands // n)
    shapes: dict[str, tuple[int, ...]] = {"chips": (n,), "plain": (n,)}
    how = {"units": deals, "step": STEP, "shapes": shapes}
    kept = _in_steps(play, rows, settings, how, out, resume, progress, "deal")
    return KnownMatch(match(kept) if kept.done > 1 else None, rows(kept), kept.done == deals)


def _in_steps(
    play: Callable[[range], dict[str, np.ndarray]],
    rows: Callable[[KeptMatch], list[dict[str, Any]]],
    settings: dict[str, Any],
    how: dict[str, Any],
    out: Path | None,
    resume: bool,
    progress: bool,
    unit: str,
) -> KeptMatch:
    """Plays what is missing of a match, step by step, until Ctrl-C."""
    with claim(out), uninterrupted() as stopped:
        kept = KeptMatch(out, settings, resume=resume, **how)
        bar = tqdm(total=kept.units, initial=kept.done, disable=not progress, unit=unit)
        with bar:
            while kept.next and not stopped():
                now, began = kept.next, time.perf_counter()
                results = play(now)
                kept.add(results, time.perf_counter() - began)
                bar.update(len(now))
                if out is not None:
                    write_rows(out, rows(kept))
        if out is not None:
            write_rows(out, rows(kept))
    return kept


def _strategies(
    first: RangeAgent, second: RangeAgent
) -> tuple[tuple[HoldemGame, np.ndarray], tuple[HoldemGame, np.ndarray]] | None:
    """Returns both as tables of one menu, if they are."""
    if not isinstance(first, BlueprintAgent) or not isinstance(second, BlueprintAgent):
        return None
    if first.game.menu != second.game.menu:
        return None
    return (first.game, first.sums), (second.game, second.sums)


def _row(
    agents: Sequence[RangeAgent],
    found: RangeMatch | HandMatch,
    seed: int,
    seconds: float,
    more: dict[str, Any],
) -> dict[str, Any]:
    names = {"agent": agents[0].name, "opponent": agents[1].name}
    interval = {"mbb": found.mbb, "low": found.low, "high": found.high}
    return {**names, **more, **interval, "seconds_per_hand": seconds, "seed": seed}
