"""Matches hand by hand between any agents: duplicate, with AIVAT, and resumable.

Every deal is played in every rotation of the agents around the table, and a seat draws the same
numbers in each, so an agent wins exactly nothing from a copy of itself. Where there is a value
function, AIVAT (see `holdem.hand_match`) corrects cards, all-ins and the moves of agents that tell
their probabilities; moves of others are left as they were.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from jaxsolve.files import claim, load_arrays, save_arrays, uninterrupted, write_atomic
from jaxsolve.holdem._betting import no_limit
from jaxsolve.holdem._blueprint_game import deal_cards
from jaxsolve.holdem._hand_match import HandMatch
from jaxsolve.holdem._hand_values import DealtHands, HandValues
from jaxsolve.holdem._menu_view import MenuView, Table
from jaxsolve.holdem._translated_hands import play_corrected
from jaxsolve.holdem.play._agent import HandAgent
from jaxsolve.holdem.play._log import HandLog
from jaxsolve.holdem.play._play import PlayedHand, play_hand
from jaxsolve.holdem.play._public_hand import new_hand

_KIND = "match of hold'em"
_CARDS, _KEYS, _VALUES = 0x3A7C4, 0x5EA7, 0xA1A7
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
    settings = {"agents": list(names), "stack": stack, "seed": seed, "deals_each": step,
                "aivat": values is not None}  # fmt: skip
    digest = hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:8]
    view = None if values is None else MenuView(values.game)
    with claim(out), uninterrupted() as stopped:
        kept = _Kept(out, digest, settings, resume, deals, step)
        log = HandLog(kept.log, rules, (stack,) * n)
        done = len(kept.plain)
        bar = tqdm(total=deals * n, initial=done * n, disable=not progress, unit="hand")
        with contextlib.closing(log), bar:
            while done < deals:
                count, began = min(step, deals - done), time.perf_counter()
                cards = deal_cards(seed ^ _CARDS, done, count, 2 * n + 5)
                rotations: list[list[PlayedHand]] = [[] for _ in range(n)]
                for deal, turn in itertools.product(range(done, done + count), range(n)):
                    order = [(s + turn) % n for s in range(n)]  # the agent in each seat
                    played = play_hand(
                        *([agents[i] for i in order], rules, stack, cards[deal - done].tolist()),
                        number=deal * n + turn,
                        keys=[_key(seed, deal, s) for s in range(n)],
                        seconds=seconds,
                    )
                    rotations[turn].append(played)
                    log.add(played, deal * n + turn, [names[i] for i in order])
                    bar.update(1)
                    if stopped():
                        break
                if len(rotations[-1]) < count:
                    break
                plain, chips = _estimates(rotations, cards, values, view, [seed, _VALUES, done])
                done += count
                kept.add(plain, chips, time.perf_counter() - began, log.size())
                kept.write(_match(names, kept, values, done >= deals))
                if stopped():
                    break
        found = _match(names, kept, values, done >= deals)
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


def _estimates(
    rotations: Sequence[Sequence[PlayedHand]],
    cards: np.ndarray,
    values: HandValues | None,
    view: MenuView | None,
    key: Sequence[int],
) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns float64 [C, n] each: what the agents won, and AIVAT's estimate."""
    n = len(rotations)
    plain, chips = np.zeros((2, len(cards), n))
    for turn, played in enumerate(rotations):
        order = [(s + turn) % n for s in range(n)]
        plain[:, order] += np.stack([one.chips for one in played])
        if values is not None and view is not None:
            # The same draws in each rotation, as for the agents.
            rng = np.random.default_rng([*key])
            dealt = DealtHands(values, values.game.deals_of(cards), cards, rng)
            chips[:, order] += play_corrected(_Recorded(played), dealt, view, rng)[0]
    return plain / n, None if values is None else chips / n


class _Kept:
    """What is on the disk of a match, and what will be."""

    def __init__(
        self,
        out: Path | None,
        digest: str,
        settings: dict[str, Any],
        resume: bool,
        deals: int,
        step: int,
    ) -> None:
        n = len(settings["agents"])
        self.out, self.settings = out, settings
        self.plain, self.chips = np.zeros((0, n)), np.zeros((0, n))
        self.sizes: list[int] = []
        self.seconds = 0.0
        self.file = None if out is None else out / f"match-{digest}.npz"
        self.log = None if out is None else out / f"match-{digest}.log"
        if self.file is None or self.log is None:
            return
        if self.file.exists():
            if not resume:
                raise ValueError(f"{out} has this match already; --resume goes on with it")
            self._read(deals, step)
        if self.log.exists():
            with self.log.open("r+b") as file:
                file.truncate(self.sizes[-1] if self.sizes else 0)

    def add(
        self, plain: np.ndarray, chips: np.ndarray | None, seconds: float, log_size: int
    ) -> None:
        """Adds a checkpoint's deals."""
        self.plain = np.concatenate([self.plain, plain])
        self.chips = np.concatenate([self.chips, plain if chips is None else chips])
        self.sizes.append(log_size)
        self.seconds += seconds

    def write(self, match: AgentMatch) -> None:
        """Writes the checkpoint and the rows."""
        if self.out is None or self.file is None:
            return
        arrays = {"plain": self.plain, "chips": self.chips, "sizes": np.array(self.sizes)}
        header = {"kind": _KIND, "settings": self.settings, "seconds": self.seconds}
        save_arrays(self.file, header, arrays)
        write_rows(self.out, match.rows())

    def _read(self, deals: int, step: int) -> None:
        assert self.file is not None
        header, arrays = load_arrays(self.file, _KIND)
        # Whole steps only, so that a longer match equals one that was as long from the start.
        have = min(len(arrays["plain"]), deals)
        have = have if have == deals else have // step * step
        self.plain, self.chips = arrays["plain"][:have], arrays["chips"][:have]
        self.sizes = arrays["sizes"][: -(-have // step)].tolist()
        self.seconds = header["seconds"] * have / max(len(arrays["plain"]), 1)


def write_rows(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Writes rows of a match to result.json in a directory; rows of other matches stay.

    Raises:
        ValueError: there is a result.json that is none of matches.
    """
    import jax

    path = out / "result.json"
    kept: list[dict[str, Any]] = []
    if path.exists():
        try:
            found = json.loads(path.read_text())
            right = found["name"] == "holdem match"
            kept = found["rows"]
        except (ValueError, KeyError, TypeError):
            right = False
        if not right:
            raise ValueError(f"{path} is no result of matches; choose another directory")
    new = {_match_of(row) for row in rows}
    table = {
        "name": "holdem match",
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "rows": [*(row for row in kept if _match_of(row) not in new), *rows],
    }
    write_atomic(path, json.dumps(table, indent=1).encode())


def _match_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row.get("agent"), row.get("opponent"), row.get("estimator"), row.get("seed")


def _match(
    names: tuple[str, ...], kept: _Kept, values: HandValues | None, finished: bool
) -> AgentMatch:
    chips = None if values is None else kept.chips
    seed = int(kept.settings["seed"])
    return AgentMatch(names, kept.plain, chips, kept.seconds, seed, finished)


def _key(seed: int, deal: int, seat: int) -> int:
    words = np.random.SeedSequence([seed, _KEYS, deal, seat]).generate_state(1, np.uint64)
    return int(words[0])
