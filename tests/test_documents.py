"""What README and the documentation say to type: every command and every block of Python runs.

A block that stands under the comment `<!-- not run: REASON -->` is left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from jaxsolve.cli import main

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
EXTRAS = ("flax", "optax", "orbax", "matplotlib", "pandas", "pyspiel", "open_spiel", "pgx")

NOT_RUN = {
    "make": "makes the environment that runs the tests, and runs them",
    "python": "installs, or records results",
    "jaxsolve bench": "minutes; tests/bench has its parts",
    "jaxsolve devices": "needs 4 GB of plug-ins; tests/devices has its parts",
    "jaxsolve reproduce": "hours, but for --quick; tests/experiments runs every study in small",
    "jaxsolve holdem serve": "plays until it is stopped; tests/cli has it",
    "jaxsolve holdem join": "needs a dealer; tests/cli has it",
    "jaxsolve holdem match random acpc:": "needs a server; tests/cli has it",
    "jaxsolve view": "serves pages until it is stopped, but for --export",
}
"""Commands that are only parsed, and why."""

LONG = ("modicum_hunl", "flop_search", "pluribus_six", "pluribus_parts", "dark_chess_match")
"""Studies whose quick form takes minutes: only parsed, tests/experiments runs them in small."""


class Block(NamedTuple):
    line: int
    language: str
    code: str


def blocks(page: str, language: str) -> list[Block]:
    """The blocks of a page in one language that are to be run."""
    text = (ROOT / page).read_text()
    fence = re.compile(r"(<!-- not run: [^\n]+ -->\n+)?^```(python|sh)\n(.*?)^```", re.S | re.M)
    return [
        Block(text[: m.start(3)].count("\n"), m[2], m[3])
        for m in fence.finditer(text)
        if m[2] == language and not m[1]
    ]


def commands(page: str) -> list[list[str]]:
    lines = [line for block in blocks(page, "sh") for line in block.code.splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def to_run(words: Sequence[str]) -> bool:
    if words[:2] == ["jaxsolve", "reproduce"] and (len(words) == 2 or "--quick" in words):
        return words[2:3] not in ([study] for study in LONG)
    if words[:2] == ["jaxsolve", "view"]:
        return "--export" in words
    return not any(" ".join(words).startswith(start) for start in NOT_RUN)


def shorter(words: Sequence[str]) -> list[str]:
    """The same command with six seconds of training, two sampled boards and sixty hands."""
    out = list(words)
    for option, value in (("--minutes", "0.1"), ("--boards", "2"), ("--hands", "60")):
        if option in out and out[out.index(option) + 1].isdecimal():
            out[out.index(option) + 1] = value
    return out


def script(page: str) -> str:
    """The Python of a page, each line where it is on the page."""
    out: list[str] = []
    for block in blocks(page, "python"):
        out += [""] * (block.line - len(out)) + block.code.splitlines()
    return "\n".join(out) + "\n"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to run in that has what a clone has, and what was run before left in it."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.fixture(scope="module")
def done() -> set[str]:
    """Commands that were run, so that each is run once however many pages have it."""
    return set()


WITH_COMMANDS = [page for page in PAGES if commands(page)]
WITH_PYTHON = [page for page in PAGES if blocks(page, "python")]


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_exist_with_their_options(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in commands(page):
        assert words[0] in ("jaxsolve", "make", "python"), words
        if words[0] != "jaxsolve":
            continue
        monkeypatch.setattr(sys, "argv", [*words, "--help"])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, (words, capsys.readouterr().err)


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_snippets_import_what_they_use(page: str) -> None:
    ruff = [
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F821,E9",
        "--stdin-filename",
        page + ".py",
        "-",
    ]
    found = subprocess.run(
        [sys.executable, "-m", *ruff],
        input=script(page),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


LONG_SNIPPETS = ("docs/dark_chess.md", "docs/growing_tree.md")
LONG_COMMANDS = ("docs/blueprints.md",)


def marked(pages: Sequence[str], long: Sequence[str]) -> list[Any]:
    """The pages as parameters, of which some are long."""
    return [pytest.param(page, marks=[pytest.mark.long] * (page in long)) for page in pages]


@pytest.mark.slow
@pytest.mark.parametrize("page", marked(WITH_PYTHON, LONG_SNIPPETS))
def test_snippets_run(page: str, clone: Path) -> None:
    (clone / "page.py").write_text(script(page))
    _run([sys.executable, "page.py"], clone)


RUN = [page for page in WITH_COMMANDS if any(map(to_run, commands(page)))]


@pytest.mark.slow
@pytest.mark.parametrize("page", marked(RUN, LONG_COMMANDS))
def test_commands_run(page: str, clone: Path, done: set[str]) -> None:
    for words in filter(to_run, commands(page)):
        if " ".join(words) not in done:
            _run([sys.executable, "-m", "jaxsolve", *shorter(words[1:])], clone)
            done.add(" ".join(words))


@pytest.mark.parametrize(
    "words",
    [
        ("reproduce",),
        pytest.param(
            ["solve", "kuhn", "--iterations", "50", "--out", "runs/kuhn"], marks=pytest.mark.slow
        ),
        pytest.param(
            ["compare", "kuhn", "--iterations", "9", "--out", "runs/compare"],
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["holdem", "solve", "examples/river.toml", "--out", "runs/river"],
            marks=pytest.mark.slow,
        ),
        pytest.param(["play", "kuhn"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_commands_run_without_extras(words: Sequence[str], clone: Path) -> None:
    """As on a base install: what is missing is said in a line, and everything else is there."""
    gone = "".join(f"sys.modules[{name!r}] = None; " for name in EXTRAS)
    code = f"import sys; {gone}from jaxsolve.cli import main; main()"
    _run([sys.executable, "-c", code, *words], clone)


def _run(words: Sequence[str], folder: Path) -> None:
    environment = {
        **os.environ,
        "MPLBACKEND": "Agg",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }
    ran = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, (" ".join(words[1:]), ran.stdout[-2000:], ran.stderr[-4000:])
    assert "Traceback" not in ran.stderr
