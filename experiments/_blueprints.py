"""Trainings of blueprints that several studies share: kept at some minutes, and resumed."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve import holdem
from jaxsolve.files import differences, load_arrays, save_arrays
from jaxsolve.holdem import play

KIND = "strategy of blueprint_scaling"
MENUS = Path(__file__).parents[1] / "examples" / "menus"


@dataclasses.dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        sampler: its name.
        buckets: of flop, turn and river each.
        seed: of deals and choices.
        minutes: at which its strategy is kept, ascending; of processor time, of all threads
            together.
        threads: they share the tables.
    """

    sampler: str
    buckets: int
    seed: int
    minutes: tuple[float, ...]
    threads: int = 1

    @property
    def name(self) -> str:
        """Names its files."""
        threads = "" if self.threads == 1 else f"-{self.threads}threads"
        return f"{self.sampler}-{self.buckets}-{self.seed}{threads}"

    def file(self, out: Path, minutes: float) -> Path:
        """Returns where its strategy after some minutes is kept."""
        return out / "strategies" / f"{self.name}-{minutes:g}.npz"


def abstraction_of(buckets: int, given: Path | None, out: Path) -> holdem.Abstraction:
    """Returns buckets that are given, or those that the command line also builds and keeps.

    Args:
        buckets: of flop, turn and river each.
        given: folder of an abstraction.
        out: keeps one where there is no cache folder.
    """
    if given is not None:
        return holdem.Abstraction.load(given, verify=False)
    return holdem.kept_abstraction((buckets,) * 3, instead=out)


def trained_agent(
    menu: Path, buckets: holdem.Abstraction, out: Path, *, minutes: float, **options: Any
) -> play.BlueprintAgent:
    """Returns an agent that plays a blueprint, see `trained_blueprint`."""
    made = trained_blueprint(menu, buckets, out, minutes=minutes, **options)
    return play.BlueprintAgent(*made.strategy, name=menu.name)


def trained_blueprint(
    menu: Path, buckets: holdem.Abstraction, out: Path, *, minutes: float, **options: Any
) -> holdem.Blueprint:
    """Returns a blueprint, trained by one thread; goes on where it was.

    Args:
        menu: a file of bets.
        buckets: of cards.
        out: the tables are in a folder of it that the menu names.
        minutes: of training, by the clock.
        options: more of `holdem.train_blueprint`.

    Raises:
        KeyboardInterrupt: after Ctrl-C, which the training itself ends without one.
    """
    made = holdem.train_blueprint(
        holdem.BetMenu.load(menu),
        buckets,
        out=out / menu.stem,
        minutes=minutes,
        threads=1,
        resume=True,
        boards=0,
        **options,
    )
    if made.seconds < 60 * minutes:
        raise KeyboardInterrupt
    return made


def one_bet_sizes(menu: holdem.BetMenu) -> dict[str, dict[str, list[str]]]:
    """Returns the sizes of a menu with one bet a street, for searches to the end of the hand."""
    streets = {"turn": menu.streets[2], "river": menu.streets[3]}
    return {
        name: {"bet": [str(size) for size in street.at(0)], "raise": []}
        for name, street in streets.items()
    }


def train_run(
    run: Run, game: holdem.HoldemGame, out: Path, *, checkpoint_seconds: float = 60
) -> None:
    """Trains a run and keeps its strategy at each of its minutes, unless it is there already.

    Args:
        run: sampler, buckets, seed, minutes and threads.
        game: menu and buckets.
        out: gets `runs/NAME` with the tables, and `strategies`.
        checkpoint_seconds: what a kill loses at most.

    Raises:
        KeyboardInterrupt: after Ctrl-C, which the training itself ends without one.
        ValueError: the run in the folder is further on already.
    """
    for minutes in run.minutes:
        path = run.file(out, minutes)
        if path.exists():
            continue
        folder = out / "runs" / run.name
        made = holdem.train_blueprint(
            game.menu,
            game.abstraction,
            out=folder,
            minutes=minutes,
            sampler=run.sampler,
            seed=run.seed,
            threads=run.threads,
            resume=True,
            boards=0,
            checkpoint_seconds=checkpoint_seconds,
            clock=time.process_time,
        )
        if made.seconds < 60 * minutes:
            raise KeyboardInterrupt
        if made.seconds > 60 * minutes + 10:
            raise ValueError(f"{folder} was trained for longer than {minutes:g} minutes: remove it")
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {
            "kind": KIND,
            "game": game.name,
            "passes": made.tables.passes,
            "seconds": made.seconds,
            "nodes": made.nodes,
        }
        save_arrays(path, header, {"average": made.tables.average})


def load_run(
    run: Run, minutes: float, game: holdem.HoldemGame, out: Path
) -> tuple[dict[str, Any], np.ndarray]:
    """Returns (what is known of the training, the average strategy after some minutes).

    Raises:
        ValueError: the file is damaged, or of another game.
    """
    path = run.file(out, minutes)
    header, arrays = load_arrays(path, KIND)
    if wrong := differences(header, {"game": game.name}):
        raise ValueError(f"{path} belongs to another study: {wrong}. Choose another folder")
    return header, arrays["average"]
