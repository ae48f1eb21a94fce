"""The package as it is installed: version, entry points, layers, and what the README promises."""

from __future__ import annotations

import ast
import graphlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import games
import jaxsolve as js

ROOT = Path(__file__).parent.parent
EXTRAS = (
    "flax",
    "optax",
    "orbax",
    "matplotlib",
    "pandas",
    "pyspiel",
    "open_spiel",
    "pgx",
    "LiteEFG",
)


def test_version_is_the_installed_one() -> None:
    assert js.__version__ == importlib.metadata.version("jaxsolve")


@pytest.mark.parametrize(
    "name",
    [
        *("compile", "solve", "solve_lp", "exploitability", "nash_conv", "best_response"),
        *("cfr", "cfr_plus", "lcfr", "dcfr", "pcfr_plus"),
    ],
)
def test_public_name_is_a_documented_function(name: str) -> None:
    assert inspect.isfunction(inspect.unwrap(getattr(js, name)))
    assert inspect.getdoc(getattr(js, name))


def test_games_are_found_through_their_entry_point() -> None:
    (point,) = importlib.metadata.entry_points(group="jaxsolve.games", name="games")
    assert point.load() is games.GAMES


def test_command_line_is_found_through_its_entry_point() -> None:
    (point,) = importlib.metadata.entry_points(group="console_scripts", name="jaxsolve")
    assert callable(point.load())


def test_importing_jaxsolve_needs_no_game_and_no_extra() -> None:
    code = (
        "import sys, jaxsolve, jaxsolve.testing; print(*{m.partition('.')[0] for m in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"games", *EXTRAS}


def test_folders_import_each_other_without_cycles() -> None:
    above = {folder.name: _imports(folder) for folder in (ROOT / "jaxsolve").glob("[a-z]*/")}
    assert above["game"] <= {"types"}
    assert above["regret"] <= {"types"}
    assert above["tree"] <= {"types", "files", "game"}
    graphlib.TopologicalSorter(above).prepare()  # raises CycleError, which names the cycle


def test_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text()
    (block,) = re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    line = text[: block.start(1)].count("\n")  # so that an error names the line of the README
    names: dict[str, Any] = {}
    exec(compile("\n" * line + block[1], ROOT / "README.md", "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) >= block[1].count("print(")
    assert 0 <= js.exploitability(names["tree"], names["result"].average) < 1e-3


def _imports(folder: Path) -> set[str]:
    """Names of the other folders of jaxsolve that the files of one import at their top level."""
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                found.update(_folder(f"{node.module}.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Import):
                found.update(_folder(alias.name) for alias in node.names)
    return found - {"", folder.name}


def _folder(module: str) -> str:
    """The second name of a dotted one that begins with jaxsolve, else ""."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "jaxsolve" else ""
