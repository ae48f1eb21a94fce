"""Words for a person who waits: what is going on, and for how long, on standard error."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from tqdm import tqdm

SILENCE = 2
"""Seconds before the first word."""


@contextlib.contextmanager
def waiting(what: str, *, show: bool = True) -> Iterator[None]:
    """Shows what is going on while the block runs, if it runs for `SILENCE` seconds.

    A terminal shows the seconds, and forgets them afterwards; a file gets one line.

    Args:
        what: in a few words, such as "compiling".
        show: False to stay silent, so that callers can hand on their own option.
    """
    if not show:
        yield
        return
    over = threading.Event()
    teller = threading.Thread(target=_tell, args=(what, over), daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def _tell(what: str, over: threading.Event) -> None:
    if over.wait(SILENCE):
        return
    if not sys.stderr.isatty():
        print(f"{what} ...", file=sys.stderr, flush=True)  # noqa: T201
        return
    seconds = SILENCE
    with tqdm(bar_format="{desc}", leave=False) as line:
        while True:
            line.set_description_str(f"{what} ... {seconds} s")
            if over.wait(1):
                return
            seconds += 1
