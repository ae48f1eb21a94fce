"""A server that plays hands of hold'em with whoever connects, by the ACPC's lines.

In the ACPC the dealer listens and agents connect. So does this server: it deals, asks the client
for the moves of one seat, another one in each hand, and plays all others by an agent of ours. A
client that is a dealer of its own, such as `holdem match` with `acpc:HOST:PORT`, sends MATCHSTATE
instead of VERSION as its first line; then the agent answers its lines, and the client deals.

What comes in is text in lines of bounded length; nothing of it is evaluated. A client that breaks
the protocol or the rules, says nothing for too long or hangs up loses its connection, and the log
says why; others go on. Heads-up its hand then does not count; at a larger table it checks, or folds
where that is not free, and the hand is played to its end.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import secrets
import socketserver
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxsolve.holdem._acpc import VERSION
from jaxsolve.holdem._betting import FOLD, Betting, no_limit
from jaxsolve.holdem.play._acpc_agent import AcpcAgent, check_version
from jaxsolve.holdem.play._agent import HandAgent, Move
from jaxsolve.holdem.play._dealer_lines import answer_dealer
from jaxsolve.holdem.play._lines import LineError, Lines
from jaxsolve.holdem.play._log import HandLog
from jaxsolve.holdem.play._play import AgentError, play_hand, shuffled
from jaxsolve.holdem.play._public_hand import PublicHand, new_hand

logger = logging.getLogger("jaxsolve")


class HoldemServer(socketserver.TCPServer):
    """Plays an agent against any number of clients after each other, some at once.

    `serve_forever` runs it, `shutdown` from another thread ends it, `address` says where it is.
    """

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        agent: HandAgent,
        stack: int,
        *,
        players: int = 2,
        host: str = "127.0.0.1",
        port: int = 0,
        log: Path | None = None,
        hands: int | None = None,
        clients: int = 16,
        patience: float = 60.0,
        seconds: float | None = None,
        seed: int | None = None,
    ) -> None:
        """Listens.

        Args:
            agent: of ours. It is asked for one decision at a time.
            stack: chips before each hand; blinds are 50 and 100.
            players: seats, 2 to 9, one of which is a client's.
            host: whose address; by default only this machine can connect.
            port: 0 for one that is free.
            log: gets a line for each hand; it is gone on with if it is there.
            hands: that each client plays; by default until it leaves.
            clients: that play at once; more are told so and refused.
            patience: seconds for a line of a client.
            seconds: that a decision of the agent may take.
            seed: of cards and decisions; by default one that nobody knows. Clients play in the
                order of their numbers, which are in the log.

        Raises:
            ValueError: the agent cannot play with these stacks, or the log is another file.
            OSError: the port is taken, or the log cannot be written.
        """
        self.rules: Betting = no_limit(players)
        self.stacks = (stack,) * self.rules.num_players
        agent.begin(new_hand(self.rules, self.stacks), 0, number=0, key=0)
        self.agent = _OneAtATime(agent)
        self.hands, self.patience, self.seconds = hands, patience, seconds
        self.seed = secrets.randbits(64) if seed is None else seed
        self.log = HandLog(log, self.rules, self.stacks)
        self._room = threading.BoundedSemaphore(clients)
        self._numbers = itertools.count(1)
        self._open: dict[Lines, threading.Thread] = {}
        self._ending = False
        super().__init__((host, port), socketserver.BaseRequestHandler)

    @property
    def address(self) -> str:
        """HOST:PORT."""
        host, port = self.server_address[:2]
        return f"{host!s}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Plays with a client in a thread of its own, if there is room."""
        number = next(self._numbers)
        if not self._room.acquire(blocking=False):
            self._note(f"client {number} refused: no room for more at once")
            request.setblocking(False)
            with contextlib.suppress(OSError):  # it is closed either way
                request.send(b"# no room for more clients at once; try again later\r\n")
            self.shutdown_request(request)
            return
        lines = Lines(request, patience=self.patience)
        thread = threading.Thread(target=self._client, args=(lines, client_address, number))
        self._open[lines] = thread
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads
            del self._open[lines]
            self._room.release()
            self._note(f"client {number} refused: {error}")
            lines.close()

    def server_close(self) -> None:
        """Stops listening, hangs up on everybody, and closes the log."""
        super().server_close()
        self._ending = True
        for lines, thread in list(self._open.items()):
            lines.hang_up()
            thread.join()
        self.log.close()

    def _note(self, text: str) -> None:
        self.log.note(text)
        logger.info(" ".join(text.split())[:500])

    def _client(self, lines: Lines, address: Any, number: int) -> None:
        self._note(f"client {number} came from {address[0]}:{address[1]}")
        try:
            why = self._talk(lines, number)
        except (LineError, ValueError) as error:
            why = str(error)
        except Exception as error:  # a fault of ours: this client is lost, the server is not
            why = f"{type(error).__name__}: {error}"
            logger.error("client %d: %s", number, why)
        if self._ending:
            why = f"the server ended; {why}"
        with contextlib.suppress(OSError):  # it has hung up, or the disk is full
            self._note(f"client {number} left: {why}")
            lines.send(f"# closed: {why}")
        lines.close()
        del self._open[lines]
        self._room.release()

    def _talk(self, lines: Lines, number: int) -> str:
        """Plays with a client and returns why that ended."""
        first = lines.receive()
        if first.startswith("MATCHSTATE:"):
            lines.send(VERSION)
            done = answer_dealer(
                lines,
                self.agent,
                self.rules,
                self.stacks,
                key=self._key(number, 0, 0),
                seconds=self.seconds,
                first=first,
            )
            more = ", in the middle of another" * done.unfinished
            return f"hung up after {done.hands} hands that it dealt{more}"
        check_version(first)
        name = f"client {number}"
        client: HandAgent = AcpcAgent(lines, name=name, greeted=True, note=self._note)
        n, absent = self.rules.num_players, None
        if n > 2:
            client = absent = _Absent(client, lambda why: self._note(f"{name} passes: {why}"))
        for hand in itertools.count() if self.hands is None else range(self.hands):
            seat = (hand + 1) % n  # the client's
            seats = [client if i == seat else self.agent for i in range(n)]
            try:
                played = play_hand(
                    seats,
                    self.rules,
                    self.stacks,
                    shuffled([self.seed, number, hand], n),
                    number=hand,
                    keys=[self._key(number, hand, 1 + i) for i in range(n)],
                    seconds=self.seconds,
                )
            except (LineError, ValueError) as error:
                return f"in hand {hand}, which does not count: {error}"
            self.log.add(played, hand, [agent.name for agent in seats])
            if absent is not None and absent.why:
                return f"in hand {hand}: {absent.why}"
        return f"all {self.hands} hands are played"

    def _key(self, *numbers: int) -> int:
        return int(np.random.SeedSequence([self.seed, *numbers]).generate_state(1, np.uint64)[0])


class _OneAtATime:
    """An agent that several threads ask."""

    def __init__(self, agent: HandAgent) -> None:
        self.name, self._agent, self._lock = agent.name, agent, threading.Lock()

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Any:
        with self._lock:
            return self._agent.begin(hand, seat, number=number, key=key)

    def act(
        self, state: Any, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Any]:
        with self._lock:
            return self._agent.act(state, hand, cards, seconds)

    def end(self, state: Any, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        with self._lock:
            self._agent.end(state, hand, hands)


class _Absent:
    """A client who passes for the rest of a hand once it says nothing, or something wrong."""

    def __init__(self, client: HandAgent, note: Callable[[str], None]) -> None:
        self.name, self.why = client.name, ""
        self._client, self._note = client, note

    def begin(self, hand: PublicHand, seat: int, *, number: int, key: int) -> Any:
        return self._client.begin(hand, seat, number=number, key=key)

    def act(
        self, state: Any, hand: PublicHand, cards: Sequence[int], seconds: float | None = None
    ) -> tuple[Move, Any]:
        if not self.why:
            try:
                return self._client.act(state, hand, cards, seconds)
            except (LineError, AgentError) as error:
                self.why = str(error)
                self._note(self.why)
        return Move(FOLD if hand.can.fold else hand.can.call), state

    def end(self, state: Any, hand: PublicHand, hands: Sequence[Sequence[int]]) -> None:
        try:
            self._client.end(state, hand, hands)
        except LineError as error:
            self.why = self.why or str(error)
