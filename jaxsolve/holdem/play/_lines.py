"""Lines of text over a connection: bounded in length and in time."""

from __future__ import annotations

import contextlib
import socket
import time

from jaxsolve.holdem._acpc import is_comment

LONGEST = 1 << 13
"""Bytes of the longest line that is read; the betting of a hand with 200 raises takes 1,200."""

MOST_COMMENTS = 100
"""Comments in a row that are read."""


class LineError(ConnectionError):
    """A connection that cannot go on; says why."""


class HungUpError(LineError):
    """The other side has closed the connection."""


class Lines:
    """A connection that is read and written line by line."""

    def __init__(self, connection: socket.socket, *, patience: float = 60.0) -> None:
        """Takes a connected socket, and the seconds that a line may take in either direction."""
        self.connection, self.patience = connection, patience
        # Several lines may go out before one comes in: none of them waits for the others.
        with contextlib.suppress(OSError):  # the other side has hung up, which reading tells
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()

    def send(self, line: str) -> None:
        """Sends a line.

        Raises:
            LineError: the other side has hung up, or does not read.
        """
        self.connection.settimeout(self.patience)
        text = " ".join(line.split("\n"))  # what is said of an error may have more lines
        try:
            self.connection.sendall(text.encode("ascii", "replace") + b"\r\n")
        except TimeoutError:
            raise LineError(f"nothing was read for {self.patience:g} s") from None
        except OSError as error:
            raise HungUpError(f"hung up: {error.strerror or error}") from None

    def receive(self, until: float | None = None) -> str:
        """Returns the next line that is no comment, without its line break.

        Args:
            until: when to give up, of `time.monotonic`; by default the patience from now on.

        Raises:
            LineError: there is none in time, it is too long or not text, or the other side has
                hung up.
        """
        until = time.monotonic() + self.patience if until is None else until
        for _ in range(MOST_COMMENTS):
            line = self._line(until)
            if not is_comment(line):
                return line
        raise LineError(f"{MOST_COMMENTS} comments in a row")

    def hang_up(self) -> None:
        """Ends the connection for whoever waits for a line, in any thread."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hangs up and frees the socket."""
        self.hang_up()
        self.connection.close()

    def _line(self, until: float) -> str:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST:
                raise LineError(f"a line of more than {LONGEST:,} bytes")
            left = until - time.monotonic()
            try:
                self.connection.settimeout(max(left, 1e-3))
                part = self.connection.recv(1 << 12)
            except TimeoutError:
                raise LineError(f"no line for {self.patience:g} s") from None
            except OSError as error:
                raise HungUpError(f"hung up: {error.strerror or error}") from None
            if not part:
                raise HungUpError("hung up")
            self._buffer += part
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if len(line) > LONGEST:
            raise LineError(f"a line of more than {LONGEST:,} bytes")
        text = line.decode("ascii", "replace").rstrip("\r")
        if not text.isascii() or not text.isprintable():  # nor may it steer a terminal or a log
            raise LineError("a line that is not plain ASCII")
        return text
