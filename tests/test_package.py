"""The package as it is installed: version, entry points, layers, and what the README promises."""

from __future__ import annotations

import ast
import graphlib
import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import games
import jaxsolve as js

ROOT = Path(__file__).parent.parent
LAYERS = (
    *(
        "types",
        "files",
        "devices",
        "hosts",
        "waiting",
        "caches",
        "native",
        "game",
        "plot",
        "view",
        "tree",
        "compiler",
    ),
    *("regret", "public", "values", "evaluate", "solvers", "abstraction", "mccfr", "subgame"),
    *("search", "nets", "learn", "agents", "holdem"),
    *("testing", "cli"),
)
"""Folders (and files) of jaxsolve; each imports only what comes before it."""

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


def test_games_are_an_attribute_and_registered() -> None:
    from jaxsolve import games as found
    from jaxsolve.game import registered

    assert found is games is js.games
    assert games.GAMES.items() <= registered().items()


def test_command_line_is_found_through_its_entry_point() -> None:
    (point,) = importlib.metadata.entry_points(group="console_scripts", name="jaxsolve")
    assert callable(point.load())


def test_importing_jaxsolve_needs_no_game_and_no_extra() -> None:
    code = (
        "import sys, jaxsolve, jaxsolve.testing; print(*{m.partition('.')[0] for m in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {"games", *EXTRAS}


def test_folders_are_imported_when_asked_for() -> None:
    code = (
        "import sys, jaxsolve as js; assert 'jaxsolve.agents' not in sys.modules; "
        "assert 'jaxsolve.holdem' not in sys.modules; "
        "print('agents' in dir(js), callable(js.agents.uniform))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "True"]
    assert {"agents", "learn", "nets", "plot", "search", "testing"} <= {*dir(js)}
    with pytest.raises(AttributeError, match="No jaxsolve attribute agent"):
        js.__getattr__("agent")


@pytest.mark.parametrize("face", ["", ".evaluate", ".solvers", ".mccfr", ".holdem"])
def test_every_name_of_a_lazy_face_is_there(face: str) -> None:
    package = importlib.import_module(f"jaxsolve{face}")
    assert len(package.__all__) > 5
    for name in package.__all__:
        getattr(package, name)


def test_a_spot_is_solved_without_what_it_does_not_need() -> None:
    """What a first answer waits for: not networks, searches, samplers or pictures."""
    code = (
        "import sys, jaxsolve.cli; "
        "sys.argv = ['jaxsolve', 'holdem', 'solve', 'examples/river.toml', '--dry-run']\n"
        "try: jaxsolve.cli.main()\n"
        "finally: print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(run.stdout.split())
    assert "jaxsolve.holdem._spot_tree" in loaded
    unneeded = {"search", "subgame", "nets", "learn", "agents", "holdem.play"}
    assert not loaded & {"matplotlib", "pandas", *(f"jaxsolve.{name}" for name in unneeded)}


def test_folders_import_only_what_lies_below() -> None:
    """Imports inside functions included, so that no cycle hides in one."""
    wrong = [
        f"{at}: {own} imports {other}, which lies above it"
        for own, other, at, _ in _imports("jaxsolve")
        if own and other and LAYERS.index(own) < LAYERS.index(other)
    ]
    wrong += [
        f"{at}: {own} imports {name}, which only cli may do"
        for own, other, at, name in _imports("jaxsolve")
        if own not in ("", "cli") and not other and name.partition(".")[0] == "jaxsolve"
    ]
    assert not wrong, "\n".join(["lower layers import higher ones:", *wrong])


def test_names_cross_folders_through_faces() -> None:
    """Faces are `__init__`, .py or .pyi; within search, each subfolder has one of its own."""
    wrong = [
        f"{at}: {name} is private; import it from the face of its folder"
        for own, other, at, name in _imports("jaxsolve", depth=2)
        if own != other and any(part.startswith("_") for part in name.split(".")[1:])
    ]
    assert not wrong, "\n".join(["private names are imported across folders:", *wrong])


def test_folders_of_search_import_each_other_without_cycles() -> None:
    below: dict[str, set[str]] = {}
    for own, other, _, _ in _imports("jaxsolve/search", depth=2):
        if own != other and other.startswith("search"):
            below.setdefault(own, set()).add(other)
    graphlib.TopologicalSorter(below).prepare()  # raises CycleError, which names the cycle


def test_faces_show_no_private_name() -> None:
    wrong = [
        f"{at}: {name}"
        for _, _, at, name in _imports("jaxsolve")
        if "__init__" in at and name.rpartition(".")[2].startswith("_")
    ]
    assert not wrong, "\n".join(["faces show private names:", *wrong])


def test_every_folder_has_a_layer() -> None:
    folders = {file.parent.name for file in (ROOT / "jaxsolve").glob("*/__init__.py")}
    files = {file.stem for file in (ROOT / "jaxsolve").glob("*.py")} - {"__init__", "__main__"}
    assert folders | files == set(LAYERS)


def test_documents_list_the_layers_in_order() -> None:
    picture = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    at = [re.search(rf"^ +{name} ", picture, re.MULTILINE) for name in LAYERS[6:]]
    starts = [match.start() for match in at if match is not None]
    assert len(starts) == len(LAYERS) - 6
    assert sorted(starts, reverse=True) == starts
    text = (ROOT / "CONTRIBUTING.md").read_text()
    told = re.findall(r"`(\w+)`", text[text.index("in this order") : text.index("Names cross")])
    assert tuple(told) == LAYERS


@pytest.mark.parametrize(
    "file", ["README.md", "CHANGELOG.md", *(f"docs/{f.name}" for f in (ROOT / "docs").glob("*.md"))]
)
def test_documents_name_what_exists(file: str) -> None:
    """`search.gt_cfr` and the like are names of the folder's face; paths are files."""
    faces = [
        name
        for name in LAYERS
        if name not in ("types", "files", "waiting", "caches", "game", "cli")
    ]
    wrong = []
    for number, line in enumerate((ROOT / file).read_text().splitlines(), 1):
        for code in re.findall(r"`([^`]+)`", line):
            for face, name in re.findall(rf"(?<![\w.])({'|'.join(faces)})\.([A-Za-z]\w*)", code):
                if name in ("py", "json", "md"):  # a file
                    continue
                if not hasattr(importlib.import_module(f"jaxsolve.{face}"), name):
                    wrong.append(f"{file}:{number}: {face}.{name}")
            for name in re.findall(r"(?<![\w.])js\.(\w+)", code):
                if not hasattr(js, name):
                    wrong.append(f"{file}:{number}: js.{name}")
            for path in re.findall(r"^(?:jaxsolve|tests|games|docs|experiments)/[\w./]+$", code):
                if "NAME" not in path and not (ROOT / path).exists():
                    wrong.append(f"{file}:{number}: {path}")
    assert not wrong, "\n".join(["no longer there:", *wrong])


def test_games_and_jaxsolve_meet_in_the_rules_only() -> None:
    wrong = [
        f"{at}: imports {name}"
        for _, other, at, name in _imports("games")
        if name.startswith("jaxsolve") and other not in ("game", "types")
        if not (at.startswith("games/holdem.py") and other == "holdem")  # betting and hands
    ]
    wrong += [
        f"{at}: imports {name}"
        for _, _, at, name in _imports("jaxsolve")
        if name.partition(".")[0] == "games"
    ]
    assert not wrong, "\n".join(["games know the rules of `jaxsolve.game` only:", *wrong])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from jaxsolve.tree._form import Rows", "jaxsolve.tree._form.Rows"),
        ("def f():\n    import jaxsolve.tree._form as form", "jaxsolve.tree._form"),
        ("if TYPE_CHECKING:\n    from jaxsolve.cli import main", "jaxsolve.cli.main"),
        ("from jaxsolve import cli", "jaxsolve.cli"),
    ],
)
def test_imports_are_found(tmp_path: Path, line: str, found: str) -> None:
    folder = tmp_path / "jaxsolve" / "regret"
    folder.mkdir(parents=True)
    (folder / "_new.py").write_text(line)
    ((own, other, _, name),) = _imports("jaxsolve", root=tmp_path)
    assert (own, name) == ("regret", found)
    assert other == found.split(".")[1]


def test_tables_of_solvers_are_reached_by_every_path() -> None:
    import jaxsolve.solvers.variants as variants

    assert js.solvers.SOLVERS is variants.SOLVERS is js.SOLVERS


def test_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text()
    (block,) = re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    line = text[: block.start(1)].count("\n")  # so that an error names the line of the README
    names: dict[str, Any] = {}
    exec(compile("\n" * line + block[1], ROOT / "README.md", "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) >= block[1].count("print(")
    assert 0 <= js.exploitability(names["tree"], names["result"].average) < 1e-3


def _imports(folder: str, depth: int = 1, root: Path = ROOT) -> Iterator[tuple[str, str, str, str]]:
    """Yields (own folder, folder of jaxsolve that is imported, file:line, name) of every import.

    Folders are "" for what lies in no folder: the package itself, and what is not of jaxsolve. With
    a depth of 2, subfolders of search count as folders.
    """
    for file in sorted([*(root / folder).rglob("*.py"), *(root / folder).rglob("*.pyi")]):
        inside = file.relative_to(root)
        own = _folder(inside.with_suffix("").parts, depth)
        for node in ast.walk(ast.parse(file.read_text())):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom):
                # Games are `games` in a clone and `jaxsolve.games` in a wheel. Faces that import
                # when asked are stubs, which lazy_loader wants relative.
                inner = folder == "games" or file.suffix == ".pyi"
                assert inner or not node.level, f"{file}:{node.lineno} has a relative import"
                parts = [node.module] if node.module else []
                if file.suffix == ".pyi" and node.level:
                    parts = [*inside.parent.parts, *parts]
                names = [".".join([*parts, alias.name]) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                at = f"{inside}:{getattr(node, 'lineno', 0)}"
                yield own, _folder(name.split("."), depth), at, name


def _folder(parts: Sequence[str], depth: int) -> str:
    """Returns the folder of jaxsolve that a dotted name lies in, "" for a name of the package."""
    if parts[0] != "jaxsolve" or len(parts) < 2 or parts[1] not in LAYERS:
        return ""
    inner = ROOT / "jaxsolve" / "search"
    if depth == 2 and parts[1] == "search" and len(parts) > 2 and (inner / parts[2]).is_dir():
        return f"search.{parts[2]}"
    return parts[1]
