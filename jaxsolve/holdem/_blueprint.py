"""Blueprints: strategies of the whole game of hold'em, trained by sampled CFR."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.files import claim, write_atomic
from jaxsolve.holdem._abstraction import Abstraction
from jaxsolve.holdem._action_tree import action_tree
from jaxsolve.holdem._bet_menu import BOARD_CARDS, STREETS, BetMenu
from jaxsolve.holdem._blueprint_game import HoldemGame, holdem_game
from jaxsolve.holdem._build_abstraction import CLASSES
from jaxsolve.holdem._cards import NUM_HANDS
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._display import strategy_html
from jaxsolve.holdem._range_match import range_match
from jaxsolve.holdem._range_strategy import TableStrategy
from jaxsolve.holdem._samplers import default_sampler, make_sampler
from jaxsolve.mccfr import (
    CHECKPOINT,
    Options,
    Tables,
    check_disk,
    check_folder,
    check_tables,
    load_tables,
    table_bytes,
    train,
)

log = logging.getLogger("jaxsolve")

HEADER = "blueprint.json"
KIND = "blueprint of hold'em"


@dataclasses.dataclass(frozen=True, repr=False)
class Blueprint:
    """A strategy of the whole game.

    Attributes:
        game: menu, buckets and public actions.
        tables: regrets and averages.
        seconds: of training.
        rows: what was measured on the way.
        nodes: of the public actions that training visited, over all passes.
        sampler: that trained it, see `SAMPLERS`.
    """

    game: HoldemGame
    tables: Tables
    seconds: float
    rows: tuple[dict[str, Any], ...] = ()
    nodes: int = 0
    sampler: str = "external"

    @property
    def strategy(self) -> tuple[HoldemGame, np.ndarray]:
        """The average strategy, for `range_match`."""
        return self.game, self.tables.average

    def policy(self, line: str, board: Sequence[int] = ()) -> np.ndarray:
        """Returns float64 [1326, actions], the average policy of every hand after a line.

        Args:
            line: such as "r250 c / x", see `ActionTree.find`.
            board: the cards of its street; hands that share a card with it get zeros.

        Raises:
            ValueError: there is no such line, or the board is not of its street.
        """
        node = self.game.tree.find(line)
        if not self.game.tree.count[node]:
            raise ValueError(f"{line!r}: the hand is over there")
        street = int(self.game.tree.stage[node])
        need = BOARD_CARDS[street]
        if len(board) != need:
            raise ValueError(
                f"{line!r} is on the {STREETS[street]}, whose board has {need} cards, "
                f"not {len(board)}"
            )
        return self.policy_at(node, board)

    def reach(self, line: str, board: Sequence[int] = ()) -> np.ndarray:
        """Returns float64 [1326], how often the next to act plays each hand to the end of a line.

        Args:
            line: see `policy`.
            board: the cards of its street.
        """
        tree = self.game.tree
        end = node = tree.find(line)
        out = np.ones(NUM_HANDS)
        while (above := int(tree.parent[node])) >= 0:
            if tree.actor[above] == tree.actor[end]:
                shown = board[: BOARD_CARDS[int(tree.stage[above])]]
                out *= self.policy_at(above, shown)[:, node - int(tree.child[above])]
            node = above
        return np.where(possible(board), out, 0.0)

    def policy_at(self, node: int, board: Sequence[int]) -> np.ndarray:
        """Returns the policy of every hand at a node of the tree; see `RangeStrategy`."""
        return self._ranges.policy_at(node, board)

    @functools.cached_property
    def _ranges(self) -> TableStrategy:
        return TableStrategy(*self.strategy)

    def actions(self, line: str) -> tuple[str, ...]:
        """Returns the actions after a line in words: "f", "x", "c", "b150", "r450" or "a"."""
        tree = self.game.tree
        first = int(tree.child[node := tree.find(line)])
        return tuple(tree.label[c] for c in range(first, first + int(tree.count[node])))

    @classmethod
    def load(cls, folder: Path | str, *, abstraction: Abstraction | None = None) -> Blueprint:
        """Returns the blueprint in a directory of `train_blueprint`.

        Raises:
            FileNotFoundError: there is none, or its abstraction is gone.
            ValueError: it is damaged, or the abstraction is not the one that it was trained on.
        """
        folder = Path(folder)
        header = read_header(folder)
        menu = BetMenu.parse(header["menu"])
        if abstraction is None:
            abstraction = Abstraction.load(header["abstraction"], verify=False)
        check_abstraction(header, abstraction)
        game = holdem_game(menu, abstraction)
        tables, more = load_tables(folder / CHECKPOINT, game, header["bits"])
        sampler = header["options"]["sampler"]
        rows = tuple(more["rows"])
        return cls(game, tables, more["seconds"], rows, more["nodes"], sampler)

    def __repr__(self) -> str:
        return (
            f"Blueprint({self.tables.passes:,} passes, {self.seconds / 60:.1f} min, {self.game!r})"
        )

    def _repr_html_(self) -> str:
        policy = self.policy("")
        strategy = {word: policy[:, a] for a, word in enumerate(self.actions(""))}
        words = html.escape(repr(self))
        return f"<div>{words}</div>{strategy_html(strategy, np.ones(NUM_HANDS))}"


def read_header(folder: Path) -> dict[str, Any]:
    """Returns what `blueprint.json` in a directory says.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is something else.
    """
    path = folder / HEADER
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no blueprint: no {HEADER} in it")
    try:
        header = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise ValueError(f"{path} is no {KIND}")
    return header


def check_abstraction(header: dict[str, Any], abstraction: Abstraction) -> None:
    """Refuses another abstraction than the one that a blueprint was trained on.

    Raises:
        ValueError: their checksums differ.
    """
    if header["checksum"] != abstraction.checksum:
        raise ValueError(
            f"the blueprint was trained on buckets {header['checksum']:08x}, and "
            f"{header['abstraction']} holds {abstraction.checksum:08x}"
        )


def check_blueprint(menu: BetMenu, buckets: Sequence[int], *, out: Path, bits: int = 32) -> None:
    """Refuses a training whose tables fit neither memory nor disk, before buckets are built.

    Args:
        menu: the bets.
        buckets: of flop, turn and river.
        out: directory of the training.
        bits: of entries, 32 or 16.

    Raises:
        ValueError: wrong numbers.
        MemoryError: the tables do not fit; says how much they need.
        OSError: the disk of `out` has no room for them; likewise.
    """
    tree, _ = action_tree(menu)
    every = (CLASSES, *buckets)
    check_tables(f"hold'em of {menu.players}", tree, every, bits)
    check_disk(out, tree, every, bits)


def train_blueprint(
    menu: BetMenu,
    abstraction: Abstraction | Path | str,
    *,
    out: Path,
    minutes: float | None = None,
    passes: int | None = None,
    sampler: str | None = None,
    options: Options | None = None,
    seed: int = 0,
    threads: int = 1,
    bits: int = 32,
    resume: bool = False,
    boards: int = 20,
    measure_seconds: float = 60,
    checkpoint_seconds: float = 120,
    clock: Callable[[], float] = time.perf_counter,
    report: Callable[[dict[str, Any]], None] | None = None,
    progress: bool = True,
) -> Blueprint:
    """Trains a strategy of the whole game by sampled CFR, in a directory.

    Heads-up, the strategy plays its own snapshot of the measurement before over `boards` boards
    every `measure_seconds`: a proxy of progress, not a distance from equilibrium.

    Args:
        menu: the bets.
        abstraction: buckets, or the directory that holds them.
        out: gets blueprint.json and tables.npz.
        minutes: when to stop, see `mccfr.train`.
        passes: likewise.
        sampler: "external" or "vector", see `make_sampler`; by default `default_sampler`.
        options: weights and pruning, likewise.
        seed: of the default options.
        threads: they share the tables.
        bits: of entries, 32 or 16.
        resume: go on in `out`, if there are tables.
        boards: of a measurement; 0 for none.
        measure_seconds: of training between two measurements.
        checkpoint_seconds: between two checkpoints.
        clock: seconds that count as training, see `mccfr.train`.
        report: gets each row.
        progress: show a bar.

    Raises:
        ValueError: wrong numbers, or `out` holds another run.
        MemoryError: the tables do not fit; says how much they need.
    """
    if not isinstance(abstraction, Abstraction):
        abstraction = Abstraction.load(abstraction)
    game = holdem_game(menu, abstraction)
    sampler = default_sampler(menu.players, bits) if sampler is None else sampler
    passer = make_sampler(game, sampler, options=options, seed=seed, threads=threads)
    needs = table_bytes(game.tree, game.num_buckets, bits)
    log.info("%r: %.0f MB of tables", game, needs / 1e6)
    before: list[np.ndarray] = []

    def measure(tables: Tables) -> dict[str, Any]:
        row: dict[str, Any] = {}
        if boards and menu.players == 2:
            if before:
                found = range_match(
                    (game, tables.average), (game, before.pop()), boards=boards, threads=threads
                )
                row = {"against": "snapshot before", "mbb": found.mbb}
                row |= {"low": found.low, "high": found.high}
            before[:] = [tables.average.copy()]
        if report is not None:
            report({"passes": tables.passes, **row})
        return row

    with claim(out):
        check_folder(out, resume)
        if resume and (out / CHECKPOINT).exists():
            check_abstraction(read_header(out), abstraction)
        else:
            header = {
                "kind": KIND,
                "menu": menu_table(menu),
                "abstraction": str(abstraction_folder(abstraction)),
                "checksum": abstraction.checksum,
                "bits": bits,
                "options": {k: v for k, v in passer.settings.items() if v != np.inf},
            }
            write_atomic(out / HEADER, json.dumps(header, indent=1).encode())
        found = train(
            passer,
            passes=passes,
            minutes=minutes,
            bits=bits,
            out=out,
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            measure=measure,
            measure_seconds=measure_seconds,
            clock=clock,
            progress=progress,
        )
    return Blueprint(game, found.tables, found.seconds, found.rows, found.nodes, sampler)


def menu_table(menu: BetMenu) -> dict[str, Any]:
    """Returns a menu as the table of a TOML file, see `BetMenu.parse`."""
    return {
        "players": menu.players,
        "stack": menu.stack,
        **{
            name: {"sizes": [[str(s) for s in x] for x in street.sizes], "repeat": street.repeat}
            for name, street in zip(STREETS, menu.streets, strict=True)
        },
    }


def abstraction_folder(abstraction: Abstraction) -> Path:
    """Returns the directory whose files an abstraction reads."""
    file = getattr(abstraction.flop, "filename", None)
    if file is None:
        raise ValueError("a blueprint needs buckets that are in a directory")
    return Path(file).parent
