"""The solvers that we are measured against, each as a function that runs iterations of CFR+."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

Iterations = Callable[[int], None]
"""Runs a number of further iterations; one iteration updates both players."""


class Peer(NamedTuple):
    """Another solver.

    Attributes:
        start: OpenSpiel's string of a game -> its solver at iteration 0.
        package: what has to be importable.
        install: how to get it.
        note: what differs from our iteration.
    """

    start: Callable[[str], Iterations]
    package: str
    install: str
    note: str

    @property
    def installed(self) -> bool:
        """Whether it can be measured here."""
        return importlib.util.find_spec(self.package) is not None


def _openspiel(game: str) -> Iterations:
    import pyspiel

    solver = pyspiel.CFRPlusSolver(pyspiel.load_game_as_turn_based(game))

    def run(count: int) -> None:
        for _ in range(count):
            solver.evaluate_and_update_policy()

    return run


def _liteefg(game: str) -> Iterations:
    import LiteEFG
    import pyspiel
    from LiteEFG.baselines import CFRplus

    # It writes the game to ~/game_instances, reads it back from there, and prints on the way.
    with _temporary_home(), contextlib.redirect_stdout(io.StringIO()):
        loaded = pyspiel.load_game_as_turn_based(game)
        environment = LiteEFG.OpenSpielEnv(loaded, traverse_type="Enumerate", regenerate=True)
        graph = CFRplus.graph()
    environment.set_graph(graph)

    def run(count: int) -> None:
        for _ in range(count):
            graph.update_graph(environment)

    return run


@contextlib.contextmanager
def _temporary_home() -> Iterator[None]:
    before = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = str(Path(folder))
        try:
            yield
        finally:
            if before is None:
                del os.environ["HOME"]
            else:
                os.environ["HOME"] = before


PEERS: dict[str, Peer] = {
    "openspiel": Peer(
        _openspiel,
        "pyspiel",
        "pip install 'jaxsolve[openspiel]'",
        "C++ CFRPlusSolver.evaluate_and_update_policy(), float64, one thread",
    ),
    "liteefg": Peer(
        _liteefg,
        "LiteEFG",
        "pip install 'jaxsolve[bench]' (built from source: needs a C++17 compiler)",
        'C++ CFRplus, traverse_type="Enumerate", float64, one thread, without averaging',
    ),
}
"""Every peer by its name on the command line."""


def choose(names: str) -> dict[str, Peer]:
    """Returns the peers that a comma-separated list names; an empty list names none.

    Raises:
        ValueError: there is no such peer; the known ones are listed.
    """
    wanted = [n.strip() for n in names.split(",") if n.strip() and n.strip() != "none"]
    for name in wanted:
        if name not in PEERS:
            raise ValueError(f"unknown peer {name!r}. Known peers: {', '.join(PEERS)}.")
    return {name: PEERS[name] for name in dict.fromkeys(wanted)}
