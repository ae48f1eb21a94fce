"""A program of the ACPC as an agent: this side deals, the program answers.

The program gets a line for every state of the hand, those of others' moves included, and answers
where it is to act. Lines about others' moves come together with the next one that asks, which is no
difference to a program that reads lines.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxsolve.holdem._acpc import VERSION, action_total, parse_answer
from jaxsolve.holdem.play._agent import Move
from jaxsolve.holdem.play._lines import LineError, Lines
from jaxsolve.holdem.play._play import AgentError
from jaxsolve.holdem.play._public_hand import PublicHand, match_state
from jaxsolve.types import CHANCE

MOST_STRAY = 100
"""Answers to other states than the one that was asked for, in a row."""


class Told(NamedTuple):
    """What a program has been sent of a hand.

    Attributes:
        seat: of the program.
        number: of the hand.
        last: up to where it has been told; None before the first line.
    """

    seat: int
    number: int
    last: PublicHand | None


class AcpcAgent:
    """A program at the other end of a connection; it does not tell its range."""

    def __init__(
        self,
        lines: Lines,
        *,
        name: str = "acpc",
        greeted: bool = False,
        note: Callable[[str], None] = lambda _: None,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        """Takes a connection.

        Args:
            lines: to the program; their patience is the time for an answer.
            name: for tables of results.
            greeted: whether the program's VERSION has been read.
            note: told what is odd and does not matter, ten times at most.
            stop: called by `close`.
        """
        self.name, self.lines, self._greeted, self._stop = name, lines, greeted, stop
        self._note, self._notes = note, 0

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Told:
        """See `HandAgent`."""
        return Told(seat, number, None)

    def act(
        self, state: Told, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Told]:
        """See `HandAgent`; the program is not told of `seconds`.

        Raises:
            LineError: the connection broke, or there was no answer in time.
            AgentError: what it said is no answer to what it was asked, or no legal move.
        """
        hands = tuple(tuple(cards) if i == state.seat else () for i in range(hand.num_players))
        asked = self._tell(state, hand, hands)
        if not self._greeted:
            check_version(self.lines.receive())
            self._greeted = True
        try:
            to = action_total(hand.rules, hand.state, self._answer(asked))
        except ValueError as error:
            raise AgentError(f"{self.name}: {error}") from None
        return Move(to), state._replace(last=hand)

    def end(self, state: Told, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        """See `HandAgent`: the last lines of the hand."""
        self._tell(state, hand, hands)

    def close(self) -> None:
        """Hangs up, and ends the program if it was started here."""
        self.lines.close()
        self._stop()

    def _answer(self, asked: str) -> str:
        """Returns the word that the program answers with; answers to other states do not count.

        The ACPC's dealer leaves those out, too: a program may answer where it was not asked.

        Raises:
            ValueError: a line is no answer, or there are too many to other states.
            LineError: the connection broke, or there was no answer in time.
        """
        until = time.monotonic() + self.lines.patience
        for _ in range(MOST_STRAY):
            said, word = parse_answer(self.lines.receive(until))
            if str(said) == asked:
                return word
            if self._notes < 10:
                self._notes += 1
                self._note(f"{self.name}: ignored an answer to {_short(str(said))}")
        raise ValueError(f"{MOST_STRAY} answers to other states than {asked}")

    def _tell(self, state: Told, hand: PublicHand, hands: Sequence[Sequence[int]]) -> str:
        """Sends what is new and returns the last line."""
        line = ""
        for after in hand.path(state.last):
            if after.actor != CHANCE:
                own = [
                    two if i == state.seat or after is hand else () for i, two in enumerate(hands)
                ]
                line = str(match_state(after, state.seat, state.number, own))
                self.lines.send(line)
        return line


def check_version(line: str) -> None:
    """Refuses what is no greeting of an agent of version 2.

    Raises:
        AgentError: it is something else.
    """
    if not re.fullmatch(r"VERSION:2\.\d{1,9}\.\d{1,9}", line):
        raise AgentError(f"expected {VERSION} as the first line, not {_short(line)}")


def connect(address: str, *, patience: float = 60.0) -> AcpcAgent:
    """Returns the agent that answers at an address, such as one of `jaxsolve holdem serve`.

    Args:
        address: HOST:PORT.
        patience: seconds for a connection and for each answer.

    Raises:
        ValueError: the address is none.
        OSError: nobody is there.
    """
    return AcpcAgent(dial(address, patience=patience), name=f"acpc:{address}")


def dial(address: str, *, patience: float = 60.0) -> Lines:
    """Returns a connection to an address.

    Args:
        address: HOST:PORT.
        patience: seconds for a connection and for each line.

    Raises:
        ValueError: the address is none.
        OSError: nobody is there.
    """
    host, port = parse_address(address)
    try:
        connection = socket.create_connection((host, port), timeout=patience)
    except OSError as error:
        raise OSError(f"{address}: {error.strerror or error}") from None
    return Lines(connection, patience=patience)


def listen(address: str, *, patience: float = 60.0) -> AcpcAgent:
    """Returns the first program that connects to an address of this machine.

    Args:
        address: HOST:PORT.
        patience: seconds to wait for it, and for each answer.

    Raises:
        ValueError: the address is none.
        OSError: the address is taken, or nobody connects in time.
    """
    with socket.create_server(parse_address(address)) as server:
        connection = _accepted(server, patience, address)
    return AcpcAgent(Lines(connection, patience=patience), name=f"listen:{address}")


def run_program(command: str, *, patience: float = 60.0) -> AcpcAgent:
    """Starts a program with a host and a port as its last arguments, and returns it as an agent.

    This is how the ACPC's dealer is followed by agents: `./startme.sh HOST PORT`.

    Args:
        command: split into words as a shell does; no shell runs it.
        patience: seconds until it connects, and for each answer.

    Raises:
        OSError: it cannot be started, or does not connect in time.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        program = subprocess.Popen([*shlex.split(command), "127.0.0.1", port])
        try:
            connection = _accepted(server, patience, command)
        except BaseException:
            _end(program)
            raise
    lines = Lines(connection, patience=patience)
    return AcpcAgent(lines, name=f"program:{command}", stop=lambda: _end(program))


def parse_address(text: str) -> tuple[str, int]:
    """Returns host and port of HOST:PORT.

    Raises:
        ValueError: it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not re.fullmatch(r"\d{1,5}", port) or int(port) > 65535:
        raise ValueError(f"an address is HOST:PORT, such as 127.0.0.1:4000, not {text!r}")
    return host, int(port)


def _accepted(server: socket.socket, patience: float, who: str) -> socket.socket:
    server.settimeout(patience)
    try:
        return server.accept()[0]
    except TimeoutError:
        raise LineError(f"{who}: nobody connected within {patience:g} s") from None


def _end(program: subprocess.Popen[bytes]) -> None:
    program.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(5)
        return
    program.kill()
    program.wait()


def _short(text: str) -> str:
    return ascii(text if len(text) < 100 else text[:100] + " ...")
