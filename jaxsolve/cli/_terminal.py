"""A person at a terminal."""

from __future__ import annotations

import contextlib

from jaxsolve.waiting import waiting


class Terminal:
    """A person at a terminal, who is told what goes on between a question and the next."""

    def __init__(self) -> None:
        self._going_on = contextlib.ExitStack()

    def wait(self, what: str) -> None:
        """Something begins that may take long."""
        self.stop()
        self._going_on.enter_context(waiting(what))

    def stop(self) -> None:
        """It is over."""
        self._going_on.close()

    def ask(self, prompt: str) -> str:
        """Returns a line that is typed; afterwards the agent thinks."""
        self.stop()
        answer = input(prompt)
        self.wait("thinking")
        return answer

    def tell(self, text: str) -> None:
        """Prints a line."""
        self.stop()
        print(text, flush=True)
