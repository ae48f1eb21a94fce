"""Words for a person who waits: what is going on, and for how long, on standard error."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

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


def say(line: str) -> None:
    """Prints a line on standard error, above what `waiting` and progress bars show."""
    tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()


@contextlib.contextmanager
def printing_above() -> Iterator[None]:
    """Lines that the block prints on standard output stand above what `waiting` shows."""
    lines = _Lines(sys.stdout)
    try:
        with contextlib.redirect_stdout(lines):
            yield
    finally:
        lines.end()


class _Lines(io.TextIOBase):
    """Hands on whole lines to a stream, between which a line of standard error is cleared."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._begun = stream, ""

    def write(self, text: str) -> int:
        whole, end, self._begun = (self._begun + text).rpartition("\n")
        if end:
            with tqdm.external_write_mode(file=sys.stderr):
                self._stream.write(whole + end)
                self._stream.flush()
        return len(text)

    def end(self) -> None:
        self._stream.write(self._begun)
        self._begun = ""


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
