"""What pip installs: one top-level name, typed, with the games inside."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_a_wheel_installs_one_name_that_loads_games(tmp_path: Path) -> None:
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    wheel = _python(build, str(tmp_path), cwd=ROOT).split()[-1]
    with zipfile.ZipFile(tmp_path / wheel) as file:
        names = file.namelist()
        file.extractall(tmp_path / "site")
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"jaxsolve"}
    assert {"jaxsolve/py.typed", "jaxsolve/games/py.typed", "jaxsolve/games/kuhn.py"} <= set(names)
    assert any(name.startswith("jaxsolve/native/") and name.endswith(".cc") for name in names)
    code = (
        "import sys, jaxsolve as js; from jaxsolve import games; "
        "print(games.__name__, js.compile(games.load('kuhn')).num_players, 'games' in sys.modules)"
    )
    found = _python(code, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert found.split() == ["jaxsolve.games", "2", "False"]


def _python(code: str, *args: str, cwd: Path, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=cwd,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
