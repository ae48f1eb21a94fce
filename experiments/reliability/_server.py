"""Clients that mean the server of hold'em no good: lines that were damaged, and who hangs up.

A client plays by the protocol until it changes some bytes of a line, hangs up or falls silent. A
client that means well plays three hands after each round, and in the end the log has to replay.
"""

from __future__ import annotations

import contextlib
import logging
import random
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from jaxsolve import holdem
from jaxsolve.holdem import play

STACK = 2_000
LETTERS = b"MATCHSTATE:0123456789frc/|AdKhQs2c\r\n#;VERSION:.\x00\xff{}()[]'\"%-"
TOGETHER = 6
"""Clients at once."""


def server(minutes: float, *, count: int = 100_000, seed: int = 0) -> dict[str, Any]:
    """Returns how many clients came, and after how many the server was not what it should be.

    Args:
        minutes: stop beyond this.
        count: clients at most.
        seed: of what they do.
    """
    end, faults, came = time.monotonic() + 60 * minutes, [], 0
    heard = _Errors()
    logger = logging.getLogger("jaxsolve")
    logger.addHandler(heard)
    with tempfile.TemporaryDirectory() as folder, tqdm(desc="server", unit="client") as bar:
        log = Path(folder) / "hands.log"
        how: dict[str, Any] = {"log": log, "seed": seed, "clients": TOGETHER + 1, "patience": 1.0}
        with play.HoldemServer(play.RandomAgent(), STACK, **how) as found:
            thread = threading.Thread(target=found.serve_forever, args=(0.05,))
            thread.start()
            while came < count and time.monotonic() < end:
                numbers = range(came, came + TOGETHER)
                _together([lambda k=k: _bad(found.address, seed, k) for k in numbers])
                came += TOGETHER
                bar.update(TOGETHER)
                if (played := _good(found.address)) < 3:
                    faults.append(f"after {came} clients {played} hands of 3 were played")
            found.shutdown()
            thread.join()
        faults += heard.words
        try:
            hands = play.check_log(log).hands
        except ValueError as error:
            hands = 0
            faults.append(str(error))
    logger.removeHandler(heard)
    return {
        "part": "clients of the server of hold'em",
        "count": came,
        "faults": len(faults),
        "detail": "; ".join(faults[:5]) or f"{hands:,} hands were played and replay",
    }


class _Errors(logging.Handler):
    """Keeps what the server says of faults of its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a message."""
        self.words.append(record.getMessage())


def _together(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _bad(address: str, seed: int, number: int) -> None:
    """Plays, and does something wrong sooner or later."""
    rng = random.Random(seed << 32 | number)
    host, port = address.split(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 5) as connection:
        file = connection.makefile("rwb")
        first = rng.choice(
            [*[b"VERSION:2.0.0\r\n"] * 3, b"MATCHSTATE:1:7:r300c/c:|AdKh/2c3c4c\r\n"]
        )
        _say(file, _damaged(rng, first) if rng.random() < 0.3 else first)
        for _ in range(rng.randrange(40)):
            line = file.readline()
            if not line or line.startswith(b"#"):
                return
            word = rng.choice([b":c", b":c", b":f", b":r%d" % rng.randint(0, 2_500)])
            answer = line.rstrip() + word + b"\r\n"
            _say(file, _damaged(rng, answer) if rng.random() < 0.05 else answer)


def _good(address: str) -> int:
    """Returns how many hands were played until the third begins; it calls."""
    lines, hand = play.dial(address, patience=20), 0
    with contextlib.closing(lines), contextlib.suppress(OSError, ValueError):
        lines.send(holdem.VERSION)
        while hand < 3:
            match = holdem.parse_matchstate(lines.receive())
            hand = match.hand
            if play.public_hand(holdem.HUNL, STACK, match).actor == match.position:
                lines.send(holdem.answer(match, "c"))
    return hand


def _say(file: Any, content: bytes) -> None:
    file.write(content)
    file.flush()


def _damaged(rng: random.Random, content: bytes) -> bytes:
    """Returns a line with one to four changes: bytes gone, new, other or repeated, or cut off."""
    out = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(out) + 1), rng.randrange(5)
        if kind == 0:
            del out[at : at + 1]
        elif kind == 1:
            out.insert(at, rng.choice(LETTERS))
        elif kind == 2:
            out[at : at + 1] = bytes([rng.choice(LETTERS)])
        elif kind == 3:
            out[at:at] = out[: rng.randrange(len(out) + 1)]
        else:
            del out[at:]
    return bytes(out)
