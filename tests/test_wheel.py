"""What pip installs: one top-level name, typed, with the games inside."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jaxsolve.native._libraries import levels

ROOT = Path(__file__).parent.parent


def test_a_wheel_installs_one_name_that_loads_games(tmp_path: Path) -> None:
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    wheel = _python(build, str(tmp_path), cwd=ROOT, JAXSOLVE_LEVELS="").split()[-1]
    assert wheel.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(tmp_path / wheel) as file:
        names = file.namelist()
        file.extractall(tmp_path / "site")
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"jaxsolve"}
    assert {"jaxsolve/py.typed", "jaxsolve/games/py.typed", "jaxsolve/games/kuhn.py"} <= set(names)
    about = next((tmp_path / "site").glob("*.dist-info/METADATA")).read_text()
    assert "# jaxsolve" in about
    assert not re.search(r"\]\((?!https?://)", about)  # no link that only a clone has
    assert any(name.startswith("jaxsolve/native/") and name.endswith(".cc") for name in names)
    code = (
        "import sys, jaxsolve as js; from jaxsolve import games; "
        "print(games.__name__, js.compile(games.load('kuhn')).num_players, 'games' in sys.modules)"
    )
    found = _python(code, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert found.split() == ["jaxsolve.games", "2", "False"]


@pytest.mark.slow  # builds the C++ code
@pytest.mark.skipif(not levels() or shutil.which("g++") is None, reason="no g++ or no known CPU")
def test_a_wheel_for_linux_solves_spots_without_a_compiler(tmp_path: Path) -> None:
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    wheel = _python(build, str(tmp_path), cwd=ROOT, JAXSOLVE_LEVELS=levels()[0]).split()[-1]
    assert "-py3-none-linux_" in wheel
    with zipfile.ZipFile(tmp_path / wheel) as file:
        file.extractall(tmp_path / "site")
    code = (
        "import sys; from jaxsolve import holdem, native; "
        "result = holdem.solve(sys.argv[1], target='1%', progress=False); "
        "print(type(result.solution).__name__, native.build('spots').parent.name)"
    )
    nothing = str(tmp_path / "nothing")
    site = str(tmp_path / "site")
    river = str(ROOT / "examples" / "river.toml")
    variables = {"PYTHONPATH": site, "CXX": nothing, "JAXSOLVE_CACHE": str(tmp_path / "cache")}
    found = _python(code, river, cwd=tmp_path, **variables)
    assert found.split() == ["Averages", "built"]


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
