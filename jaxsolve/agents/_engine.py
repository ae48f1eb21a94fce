"""Programs outside that play board games over UCI (chess) and GTP (Go): lines with time limits."""

from __future__ import annotations

import contextlib
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence

GRACE = 2.0
"""Seconds beyond its own limit that a program may take for a move."""


class EngineError(Exception):
    """A program died, was silent for too long, or said what cannot be understood."""


class Program:
    """A program that answers lines, on its own process; `close` ends it.

    Args:
        command: words of the command, or one string of them.

    Raises:
        ValueError: the command cannot be started; says why.
    """

    def __init__(self, command: str | Sequence[str]):
        words = shlex.split(command) if isinstance(command, str) else list(command)
        try:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                start_new_session=True,
            )
        except (OSError, IndexError) as error:
            raise ValueError(f"the engine {command!r} cannot be started: {error}") from None
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        with contextlib.suppress(ValueError, OSError):
            for line in out:
                self.lines.put(line.rstrip("\r\n"))
        self.lines.put(None)

    def send(self, line: str) -> None:
        """Sends a line.

        Raises:
            EngineError: the program has died.
        """
        stdin = self.process.stdin
        assert stdin is not None
        try:
            stdin.write(line + "\n")
            stdin.flush()
        except (OSError, ValueError):
            raise EngineError("died") from None

    def until(self, seconds: float) -> Iterator[str]:
        """Yields lines as they come.

        Raises:
            EngineError: nothing came in time, or the program has died.
        """
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise EngineError(f"no answer in {seconds:g} s") from None
            if line is None:
                self.lines.put(None)
                raise EngineError("died")
            yield line

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


MATE = 100.0
"""Pawns that a mate is worth."""


class UciEngine:
    """A chess program over UCI; moves are words such as "e2e4" and "e7e8q".

    Args:
        command: how it is started.
        options: "setoption" names and values, such as {"Skill Level": 3}.
        limit: of a move, in words of "go": "nodes 200", "depth 4", "movetime 50".
        seconds: until a move must be there.

    Raises:
        ValueError: the command cannot be started, or what it starts does not speak UCI.
    """

    def __init__(
        self, command: str, *, options: dict[str, object], limit: str, seconds: float
    ) -> None:
        self.limit, self.seconds = limit, seconds
        self.program = Program(command)
        try:
            self.name = self._greet(options)
        except EngineError as error:
            self.close()
            raise ValueError(f"the engine {command!r} does not speak UCI: {error}") from None

    def _greet(self, options: dict[str, object]) -> str:
        name = "engine"
        self.program.send("uci")
        for line in self.program.until(10):
            if line.startswith("id name "):
                name = line[8:].strip()
            if line.strip() == "uciok":
                break
        for key, value in options.items():
            self.program.send(f"setoption name {key} value {value}")
        self._ready()
        return name

    def _ready(self) -> None:
        self.program.send("isready")
        for line in self.program.until(10):
            if line.strip() == "readyok":
                return

    def new_game(self) -> None:
        """Forgets the game before."""
        self.program.send("ucinewgame")
        self._ready()

    def move(self, moves: Sequence[str]) -> str:
        """Returns the program's move after those that were played.

        Raises:
            EngineError: it died, or no move came in time.
        """
        self.program.send("position startpos" + (f" moves {' '.join(moves)}" if moves else ""))
        self.program.send(f"go {self.limit}")
        for line in self.program.until(self.seconds + GRACE):
            words = line.split()
            if words[:1] == ["bestmove"]:
                if len(words) < 2:
                    raise EngineError(f"said {line!r} for a move")
                return words[1]
        raise EngineError("no move")  # not reached: `until` ends with an error

    def pawns(self, fen: str) -> float:
        """Returns what a position is worth to the side to move, in pawns; `MATE` for a mate.

        Raises:
            EngineError: the program died, was silent, or said no score.
        """
        self.program.send(f"position fen {fen}")
        self.program.send(f"go {self.limit}")
        found: float | None = None
        for line in self.program.until(self.seconds + GRACE):
            words = line.split()
            if words[:1] == ["bestmove"]:
                break
            if words[:1] == ["info"] and "score" in words[:-2]:
                kind, number = words[words.index("score") + 1 :][:2]
                if kind == "mate":
                    found = MATE if int(number) > 0 else -MATE
                elif kind == "cp":
                    found = int(number) / 100
        if found is None:
            raise EngineError(f"said no score of {fen!r}")
        return found

    def close(self) -> None:
        """Ends the program."""
        self.program.close()


class GtpEngine:
    """A Go program over GTP; moves are words such as "D4", "pass" and "resign".

    Args:
        command: how it is started.
        size: of the board.
        komi: points for White.
        seconds: until a move must be there.

    Raises:
        ValueError: the command cannot be started, or what it starts does not speak GTP or play
            that size.
    """

    def __init__(self, command: str, *, size: int, komi: float, seconds: float) -> None:
        self.size, self.komi, self.seconds = size, komi, seconds
        self.program = Program(command)
        self.sent: list[str] = []
        try:
            self.name = self._ask("name", 10)
            self._ask(f"boardsize {size}", 10)
        except EngineError as error:
            self.close()
            raise ValueError(
                f"the engine {command!r} does not speak GTP for boards of {size}: {error}"
            ) from None

    def _ask(self, line: str, seconds: float) -> str:
        self.program.send(line)
        found: list[str] = []
        for answer in self.program.until(seconds):
            if answer.strip():
                found.append(answer.strip())
            elif found:
                break
        text = " ".join(found)
        if not text.startswith("="):
            raise EngineError(f"said {text!r} to {line!r}")
        return text[1:].strip()

    def new_game(self) -> None:
        """Forgets the game before."""
        self.sent = []
        for line in ("clear_board", f"komi {self.komi:g}"):
            self._ask(line, 10)

    def move(self, moves: Sequence[str]) -> str:
        """Returns the program's move after those that were played, Black first.

        Raises:
            EngineError: it died, refused a move, or none came in time.
        """
        for k in range(len(self.sent), len(moves)):
            self._ask(f"play {'bw'[k % 2]} {moves[k]}", 10)
        answer = self._ask(f"genmove {'bw'[len(moves) % 2]}", self.seconds + GRACE)
        self.sent = [*moves, answer]
        return answer

    def close(self) -> None:
        """Ends the program."""
        self.program.close()
