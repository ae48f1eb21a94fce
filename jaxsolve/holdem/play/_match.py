"""Matches hand by hand between any agents: duplicate, with AIVAT, and resumable.

Every deal is played in every rotation of the agents around the table, and a seat draws the same
numbers in each, so an agent wins exactly nothing from a copy of itself. Where there is a value
function, AIVAT (see `holdem.hand_match`) corrects cards, all-ins and the moves of agents that tell
their probabilities; moves of others are left as they were.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from jaxsolve.files import claim, uninterrupted
from jaxsolve.holdem._betting import no_limit
from jaxsolve.holdem._blueprint_game import deal_cards
from jaxsolve.holdem._hand_match import HandMatch
from jaxsolve.holdem._hand_values import DealtHands, HandValues
from jaxsolve.holdem._menu_view import MenuView, Table
from jaxsolve.holdem._translated_hands import play_corrected
from jaxsolve.holdem.play._agent import HandAgent
from jaxsolve.holdem.play._kept import KeptMatch, identity, write_rows
from jaxsolve.holdem.play._log import HandLog
from jaxsolve.holdem.play._play import PlayedHand, play_hand
from jaxsolve.holdem.play._public_hand import new_hand

CARDS, _KEYS, VALUES = 0x3A7C4, 0x5EA7, 0xA1A7
"""Keep the numbers of cards, of agents and of AIVAT apart."""


@dataclasses.dataclass(frozen=True)
class AgentMatch:
    """What agents win from each other (D deals, n seats).

    Attributes:
        names: of the agents.
        plain: float64 [D, n], won at the table, the mean over rotations of a deal.
        chips: float64 [D, n], estimates with AIVAT; None without a value function.
        seconds: of play.
        seed: of cards and agents.
        finished: whether all hands were played.
    """

    names: tuple[str, ...]
    plain: np.ndarray
    chips: np.ndarray | None
    seconds: float
    seed: int = 0
    finished: bool = True

    @property
    def best(self) -> HandMatch:
        """Mean and interval of the first agent: with AIVAT if there is one."""
        return HandMatch(self.plain if self.chips is None else self.chips, self.plain)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each estimator, "aivat" first; [] before the second deal."""
        if len(self.plain) < 2:
            return []
        found = {} if self.chips is None else {"aivat": HandMatch(self.chips, self.plain)}
        found["duplicate"] = HandMatch(self.plain, self.plain)
        return [
            {
                "agent": self.names[0],
                "opponent": ", ".join(dict.fromkeys(self.names[1:])),
                "hands": one.hands,
                "mbb": one.mbb,
                "low": one.low,
                "high": one.high,
                "estimator": estimator,
                "seconds_per_hand": self.seconds / one.hands,
                "seed": self.seed,
                "p_value": one.p_value,
            }
            for estimator, one in found.items()
        ]

    def __repr__(self) -> str:
        words = [
            f"{r['estimator']} {r['mbb']:+.1f} [{r['low']:.1f}, {r['high']:.1f}]"
            for r in self.rows()
        ]
        return f"{self.plain.size:,} hands, mbb/h: {'; '.join(words) or 'none yet'}"


def play_match(
    agents: Sequence[HandAgent],
    stack: int,
    *,
    hands: int = 1_000,
    seed: int = 0,
    values: HandValues | None = None,
    seconds: float | None = None,
    every: int = 50,
    out: Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> AgentMatch:
    """Returns what agents win from each other, one in each seat, in all rotations.

    Ctrl-C ends the match after the hand that is played; what came since the last checkpoint is
    played again when it is resumed. Cards and decisions are drawn by the number of a deal, so a
    match that was resumed equals one that was not, if the agents' answers depend on nothing else.

    Args:
        agents: as many as seats.
        stack: chips before each hand; blinds are 50 and 100.
        hands: how many are played, rounded up to whole rotations.
        seed: of the cards, and of all that agents draw.
        values: of AIVAT, of this stack; None for duplicate alone.
        seconds: that a decision may take.
        every: hands between two checkpoints, rounded up to whole rotations.
        out: directory for result.json, whose rows of other matches are kept, a checkpoint and a
            log of the hands. One directory may have many matches.
        resume: go on in `out`, if there is a checkpoint of this match.
        progress: show a bar.

    Raises:
        ValueError: fewer than two deals, an agent that cannot play with this stack, other stacks
            of the values, or `out` has this match and `resume` is not set.
        AgentError: an agent made an illegal move.
        ConnectionError: a program outside does not answer.
    """
    n = len(agents)
    rules = no_limit(n)
    if hands <= n:
        raise ValueError(f"hands is {n + 1} or more, not {hands}: two deals")
    if values is not None and (values.game.menu.players, values.game.menu.stack) != (n, stack):
        raise ValueError(f"the values are of {values.game!r}, and the match of {n} x {stack}")
    first = new_hand(rules, stack)
    for seat, agent in enumerate(agents):
        agent.begin(first, seat, number=0, key=0)
    deals, step = -(-hands // n), max(1, -(-every // n))
    names = tuple(agent.name for agent in agents)
    settings = {"agents": identity(agents), "stack": stack, "seed": seed, "form": "hands"}
    settings["aivat"] = values is not None
    view = None if values is None else MenuView(values.game)
    with claim(out), uninterrupted() as stopped:
        shapes = {"plain": (n,)} if values is None else {"plain": (n,), "chips": (n,)}
        kept = KeptMatch(out, settings, resume=resume, units=deals, step=step, shapes=shapes)
        log = HandLog(kept.log, rules, (stack,) * n)
        bar = tqdm(total=deals * n, initial=kept.done * n, disable=not progress, unit="hand")
        with contextlib.closing(log), bar:
            while kept.next and not stopped():
                now, began = kept.next, time.perf_counter()
                cards = deal_cards(seed ^ CARDS, now.start, len(now), 2 * n + 5)
                rotations: list[list[PlayedHand]] = [[] for _ in range(n)]
                for (k, deal), turn in itertools.product(enumerate(now), range(n)):
                    order = [(s + turn) % n for s in range(n)]  # the agent in each seat
                    played = play_hand(
                        [agents[i] for i in order],
                        rules,
                        stack,
                        cards[k].tolist(),
                        number=deal * n + turn,
                        keys=hand_keys(seed, deal, n),
                        seconds=seconds,
                    )
                    rotations[turn].append(played)
                    log.add(played, deal * n + turn, [names[i] for i in order])
                    bar.update(1)
                    if stopped():
                        break
                if len(rotations[-1]) < len(now):
                    break
                results = estimates(rotations, cards, values, view, [seed, VALUES, now.start])
                kept.add(results, time.perf_counter() - began, log_size=log.size())
                if out is not None:
                    write_rows(out, _match(names, kept).rows())
        found = _match(names, kept)
        if out is not None:
            write_rows(out, found.rows())
    return found


class _Recorded:
    """Players whose moves were made already; see `Players`."""

    def __init__(self, played: Sequence[PlayedHand]) -> None:
        self.played, self.at = played, np.zeros(len(played), int)

    def choose(self, hands: np.ndarray, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `Players`; a move without probabilities has one."""
        moves = [self.played[k].moves[self.at[k]] for k in hands]
        known = [
            (np.array([m.to]), np.ones(1))
            if m.totals is None or m.probabilities is None
            else (m.totals, m.probabilities)
            for m in moves
        ]
        width = max(len(totals) for totals, _ in known)
        ways, totals = np.zeros((len(hands), width)), np.zeros((len(hands), width), np.int64)
        for row, (each, chances) in enumerate(known):
            ways[row, : len(each)], totals[row, : len(each)] = chances, each
            totals[row, len(each) :] = each[0]
        chosen = [int(np.flatnonzero(t == m.to)[0]) for (t, _), m in zip(known, moves, strict=True)]
        return ways, totals, np.array(chosen)

    def moved(self, hands: np.ndarray, table: Table, chosen: np.ndarray, to: np.ndarray) -> None:
        """See `Players`."""
        self.at[hands] += 1


def estimates(
    rotations: Sequence[Sequence[PlayedHand]],
    cards: np.ndarray,
    values: HandValues | None,
    view: MenuView | None,
    key: Sequence[int],
) -> dict[str, np.ndarray]:
    """Returns float64 [C, n] each: what the agents won, and with values AIVAT's estimate."""
    n = len(rotations)
    plain, chips = np.zeros((2, len(cards), n))
    for turn, played in enumerate(rotations):
        order = [(s + turn) % n for s in range(n)]
        plain[:, order] += np.stack([one.chips for one in played])
        if values is not None and view is not None:
            # The same draws in each rotation, as for the agents.
            rng = np.random.default_rng([*key])
            chips[:, order] += corrected_chips(played, cards, values, view, rng)
    return {"plain": plain / n} if values is None else {"plain": plain / n, "chips": chips / n}


def _match(names: tuple[str, ...], kept: KeptMatch) -> AgentMatch:
    return AgentMatch(
        names,
        kept.arrays["plain"],
        kept.arrays.get("chips"),
        kept.seconds,
        seed=int(kept.settings["seed"]),
        finished=kept.done == kept.units,
    )


def corrected_chips(
    played: Sequence[PlayedHand],
    cards: np.ndarray,
    values: HandValues,
    view: MenuView,
    rng: np.random.Generator,
) -> np.ndarray:
    """Returns float64 [H, n], what the seats of H hands with cards uint8 [H, 2n + 5] win by AIVAT.

    Args:
        played: the hands.
        cards: of each.
        values: of AIVAT.
        view: the menu of the values.
        rng: draws translations and runouts.
    """
    dealt = DealtHands(values, values.game.deals_of(cards), cards, rng)
    return np.asarray(play_corrected(_Recorded(played), dealt, view, rng)[0])


def hand_keys(seed: int, deal: int, seats: int) -> list[int]:
    """Returns the key of each seat in a deal."""
    words = [np.random.SeedSequence([seed, _KEYS, deal, seat]) for seat in range(seats)]
    return [int(x.generate_state(1, np.uint64)[0]) for x in words]
