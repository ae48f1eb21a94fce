"""A page that is open: the solution shown, the locks set on it, and the run that solves again."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

from jaxsolve.view._position import Lock, Position, Viewable

MOST_ITERATIONS = 10_000_000
"""Most iterations that the page may ask for."""


class _Stopped(Exception):
    """The run was told to stop."""


@dataclasses.dataclass
class _Run:
    """A run in its own thread.

    Attributes:
        planned: iterations.
        done: iterations at the last measurement.
        exploitability: then, None before the first.
        error: what ended it, "" otherwise.
        stop: set to end it at the next measurement.
    """

    planned: int
    done: int = 0
    exploitability: float | None = None
    error: str = ""
    stop: threading.Event = dataclasses.field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class Session:
    """A solved game that can be locked and solved again; methods may be called from any thread."""

    def __init__(self, shown: Viewable) -> None:
        self._shown = shown
        self._locks: tuple[Lock, ...] = ()
        self._version = 0
        self._run: _Run | None = None
        self._guard = threading.Lock()

    @property
    def shown(self) -> Viewable:
        """The latest solution."""
        return self._shown

    def position(self, path: Sequence[str]) -> Position:
        """Returns a position of the latest solution.

        Raises:
            ValueError: there is no such path.
        """
        return self._shown.position(path)

    def lock(self, lock: Lock) -> None:
        """Adds a lock; it counts from the next run on.

        Raises:
            ValueError: it names a position, player, hand or action that does not exist.
        """
        here = self.position(lock.path)
        if lock.player >= len(here.privates) or not here.privates[lock.player].acts:
            raise ValueError(f"player {lock.player} does not act at {' '.join(lock.path)!r}")
        mine = here.privates[lock.player]
        for kind, names, known in (
            ("action", lock.strategy, here.actions),
            ("hand", lock.hands, mine.names),
        ):
            if unknown := set(names) - set(known):
                raise ValueError(f"there is no {kind} {min(unknown)!r} at {' '.join(lock.path)!r}")
        with self._guard:
            self._locks = (*self._locks, lock)

    def unlock(self, index: Any) -> None:
        """Removes a lock by its place in the list.

        Raises:
            ValueError: there is no such lock.
        """
        with self._guard:
            if isinstance(index, bool) or not isinstance(index, int):
                raise ValueError(f"index is the place of a lock in the list, not {index!r}")
            if not 0 <= index < len(self._locks):
                raise ValueError(f"there is no lock {index}; there are {len(self._locks)}")
            self._locks = self._locks[:index] + self._locks[index + 1 :]

    def solve(self, iterations: Any) -> None:
        """Starts to solve the game again with the locks.

        Raises:
            ValueError: it is being solved, or the iterations make no sense.
        """
        if isinstance(iterations, bool) or not isinstance(iterations, int):
            raise ValueError(f"iterations is a whole number, not {iterations!r}")
        if not 1 <= iterations <= MOST_ITERATIONS:
            raise ValueError(f"iterations must be 1 to {MOST_ITERATIONS:,}, not {iterations}")
        with self._guard:
            if self._run is not None and self._run.running:
                raise ValueError("it is being solved already; stop that run first")
            run = self._run = _Run(iterations)
            run.thread = threading.Thread(target=self._solve, args=(run, self._locks), daemon=True)
            run.thread.start()

    def stop(self) -> None:
        """Ends a run at its next measurement; the solution before stays."""
        if self._run is not None:
            self._run.stop.set()

    def status(self) -> dict[str, Any]:
        """Returns the locks, the run, and a number that changes with the solution."""
        run = self._run
        return {
            "version": self._version,
            "locks": [dataclasses.asdict(lock) for lock in self._locks],
            "running": run is not None and run.running,
            "planned": run.planned if run else 0,
            "done": run.done if run else 0,
            "exploitability": run.exploitability if run else None,
            "error": run.error if run else "",
        }

    def wait(self) -> None:
        """Returns when no run is left."""
        if self._run is not None and self._run.thread is not None:
            self._run.thread.join()

    def _solve(self, run: _Run, locks: tuple[Lock, ...]) -> None:
        def report(iteration: int, _: float, exploitability: float) -> None:
            run.done, run.exploitability = iteration, exploitability
            if run.stop.is_set():
                raise _Stopped

        try:
            shown = self._shown.solve_again(locks, run.planned, report)
        except _Stopped:
            run.error = "stopped; the solution before is shown"
        except Exception as error:  # it goes to the page: the thread has nobody above it
            run.error = f"{type(error).__name__}: {error}"
        else:
            with self._guard:
                self._shown, self._version = shown, self._version + 1
