"""What people type: every parameter of every game and solver with words that do not belong there.

Each command line runs in a process of its own, forked from one that has imported everything. It has
to end with exit status 0 or 2, without a traceback and in time.
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

from jaxsolve.game import registered
from jaxsolve.solvers.variants import SAMPLERS, SOLVERS

WORDS = (
    *("abc", "", "-1", "0", "1.5", "nan", "inf", "1e400", "9" * 25, "true", "none", "maybe"),
    *("[]", "[-1]", "[1", "[[1,'a'],[1,2]]", "'", "(", "1,2", "x=1", "2**31", "\u00bd"),
)
SECONDS = 120
"""Longest time of one command line."""


def command_lines() -> list[list[str]]:
    """Returns every parameter with every word, as arguments of `jaxsolve`."""
    ends = ["--iterations", "1", "--max-states", "60"]
    found = []
    for name, entry in registered().items():
        for parameter in entry.parameters:
            found += [["solve", f"{name}({parameter}={word})", *ends] for word in WORDS]
    for name, variant in (SOLVERS | SAMPLERS).items():
        for parameter in inspect.signature(variant.build).parameters:
            texts = [f"{name}({parameter}={word})" for word in WORDS]
            found += [["solve", "kuhn", "--solver", text, *ends] for text in texts]
    for option in (
        "--iterations",
        "--target",
        "--time-limit",
        "--measure-every",
        "--max-states",
        "--max-seconds",
    ):
        found += [["solve", "kuhn", option, word] for word in WORDS]
    return found


def inputs(minutes: float, *, count: int = 10_000, seed: int = 0) -> dict[str, Any]:
    """Returns how many command lines were tried, in random order, and which ended badly."""
    lines = command_lines()
    random.Random(seed).shuffle(lines)
    end = time.monotonic() + 60 * minutes
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jaxsolve.cli", "jaxsolve", "games"])
    tried, accepted, faults = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        for line in tqdm(lines[:count], desc="inputs", unit="line"):
            if time.monotonic() > end:
                break
            child = context.Process(target=_type, args=(line, str(text)))
            child.start()
            child.join(SECONDS)
            late = child.is_alive()
            if late:
                child.kill()
                child.join()
            tried += 1
            accepted += child.exitcode == 0
            if late or child.exitcode not in (0, 2) or "Traceback" in text.read_text():
                ending = "too long" if late else f"exit status {child.exitcode}"
                faults.append(f"`{' '.join(line[:4])}`: {ending}")
    return {
        "part": "malformed inputs",
        "count": tried,
        "faults": len(faults),
        "detail": "; ".join(faults)
        or f"{tried - accepted} refused in a sentence, the others accepted",
    }


def _type(line: list[str], text: str) -> None:
    """Runs a command line in this process, its output in a file."""
    file = os.open(text, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    from jaxsolve.cli import main

    sys.argv = ["jaxsolve", *line]
    main()
