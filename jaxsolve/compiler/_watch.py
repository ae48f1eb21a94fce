"""What keeps an enumeration within memory and time, so that a game too large ends in a sentence."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

MEMORY_SHARE = 0.7
"""Part of the memory that is free at the start which an enumeration may take."""

MAX_SECONDS = 3_600.0
"""Default limit; 50 million states of the rules take minutes."""

CERTAIN = 1e6
"""How many times the limit an estimate of a game's size has to be for the game to be refused."""


class TooManyStatesError(ValueError):
    """A game has more world states than the caller allows."""


class Watch:
    """Compares what an enumeration takes with what it may take.

    Attributes:
        name: of the game, its beginning where it is long.
        seconds: longest time.
        room: bytes that the process may grow by, None where the system does not say.
    """

    def __init__(self, name: str, seconds: float = MAX_SECONDS):
        self.name = name if len(name) < 80 else f"{name[:80]}..."
        self.seconds = seconds
        self.begin, self.held = time.monotonic(), resident_bytes()
        free = free_host_bytes()
        self.room = None if free is None else MEMORY_SHARE * free

    def check(self, states: int, coming: int = 0) -> None:
        """Refuses to go on.

        Args:
            states: world states so far, for the message.
            coming: bytes that the next step is known to take.

        Raises:
            MemoryError: the process would have grown by more than its share.
            TimeoutError: it took too long.
        """
        grown = max(resident_bytes() - self.held, 0)
        if self.room is not None and grown + coming > self.room:
            more = f", and the next step takes {coming / 2**30:.1f} GiB" if coming > 0 else ""
            raise MemoryError(
                f"{self.name}: listing {states:,} world states took {grown / 2**30:.1f} GiB{more}; "
                f"the limit is {self.room / 2**30:.1f} GiB, {MEMORY_SHARE:.0%} of the memory that "
                "was free. Choose smaller parameters or a smaller game."
            )
        taken = time.monotonic() - self.begin
        if taken > self.seconds:
            raise TimeoutError(
                f"{self.name}: listing {states:,} world states took {taken:,.0f} seconds, longer "
                f"than max_seconds={self.seconds:g}. Choose smaller parameters or a smaller game, "
                "or allow more: js.compile(..., max_seconds=...), --max-seconds."
            )


def far_too_many(name: str, max_states: int) -> TooManyStatesError:
    """Returns the error of a game whose estimated size is `CERTAIN` times the limit."""
    return TooManyStatesError(
        f"{name} has far more world states than the limit of max_states={max_states:,}, by an "
        "estimate from random play that is wrong once in a million times at most. Choose smaller "
        "parameters or a smaller game, or what needs no list of states: "
        f"jaxsolve play '{name}' --agent uniform, and searches from the rules "
        "(public.rules_model)."
    )


def resident_bytes() -> int:
    """Returns the memory of this process; its peak where the system has no /proc."""
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def free_host_bytes() -> int | None:
    """Returns what the machine, or the control group of this process, has left."""
    found = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable:")]
    with contextlib.suppress(OSError, ValueError):  # "max" is no number
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return min(found, default=None)
